"""`lower-to-table`: tables of 256 values against onnxruntime with optimization off, on all values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from geometries import runtime
from graph_builder import Graph, compiled
from guard_cases import Case, last_op, ops_of, parsed, text
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.dialects.quant import QuantizeOp, Storage, UniformType
from qdialect.errors import UserError
from qdialect.evaluation import session as oracle
from qdialect.kernel_selection.functions import ELEMENTWISE
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes, lower_to_table
from qdialect.transforms.lower_to_table import LOOKUP, MAX_DISTANCE_STEPS, LowerToTable, is_near

Array = npt.NDArray[Any]
SCALE, Y_SCALE = 0.03, 0.017


def model(ops: list[tuple[str, list[str], str]], dtype: Any, zero: int) -> onnx.ModelProto:
    """x, integers -> cast -> ops, from `r` to `v` -> cast -> y, integers."""
    constants: dict[str, Array] = {
        "s": np.array(SCALE, np.float32),
        "z": np.array(zero, dtype),
        "t": np.array(Y_SCALE, np.float32),
        "u": np.array(100 if dtype is np.uint8 else -20, dtype),
        "half": np.array([0.5], np.float32),
        "third": np.array(1 / 3, np.float32),
        "corner": np.array([[0.25]], np.float32),
    }
    nodes = [oh.make_node("DequantizeLinear", ["x", "s", "z"], ["r"])]
    nodes += [oh.make_node(op, inputs, [result]) for op, inputs, result in ops]
    nodes += [oh.make_node("QuantizeLinear", ["v", "t", "u"], ["y"])]
    used = {name for n in nodes for name in n.input}
    element = oh.np_dtype_to_tensor_dtype(np.dtype(dtype))
    proto = onnx_model(
        nodes,
        {"x": (element, [16, 16])},
        {"y": (element, [16, 16])},
        {k: v for k, v in constants.items() if k in used},
        opset=18,
    )
    return onnx.shape_inference.infer_shapes(proto)


CHAINS = {
    "one": [("Softplus", ["r"], "v")],
    "mish": [("Softplus", ["r"], "a"), ("Tanh", ["a"], "b"), ("Mul", ["r", "b"], "v")],
    "constants": [
        ("Sinh", ["r"], "a"),
        ("Mul", ["half", "a"], "b"),
        ("Pow", ["b", "third"], "v"),
    ],  # NaN below 0
    "constant of two axes": [("Sinh", ["r"], "a"), ("Mul", ["a", "corner"], "v")],
    "twice": [("Asinh", ["r"], "a"), ("Add", ["a", "a"], "v")],
    "long": [
        *[("Sinh" if k % 2 else "Asinh", ["r" if k == 0 else f"a{k}"], f"a{k + 1}") for k in range(6)],
        ("Neg", ["a6"], "v"),
    ],
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize(("dtype", "zero"), [(np.uint8, 0), (np.uint8, 131), (np.int8, -7), (np.int8, 127)])
def test_a_table_holds_what_the_chain_computes(chain: str, dtype: Any, zero: int, tmp_path: Path):
    proto = model(CHAINS[chain], dtype, zero)
    onnx.save(proto, tmp_path / "before.onnx")
    module = qdialect.load(tmp_path / "before.onnx")
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "after.onnx")
    types = [n.op_type for n in onnx.load(tmp_path / "after.onnx").graph.node]
    assert "Gather" in types
    assert not {op for op, _, _ in CHAINS[chain]} & set(types)
    x = np.arange(256).astype(np.uint8).view(dtype).reshape(16, 16)
    before, after = (oracle.run(str(tmp_path / f"{name}.onnx"), {"x": x})[0] for name in ("before", "after"))
    assert len(np.unique(before)) > 1
    np.testing.assert_array_equal(after, before)


def test_what_onnxruntime_cannot_compute_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: Any) -> None:
        raise UserError("no kernel")

    monkeypatch.setattr("qdialect.evaluation.session.evaluate", refuse)
    onnx.save(model(CHAINS["one"], np.uint8, 3), tmp_path / "before.onnx")
    module = qdialect.load(tmp_path / "before.onnx")
    count = len(list(module.walk()))
    for name in ("raise-qdq", "lower-to-table"):
        get_all_passes()[name]()().apply(Context(), module)
    module.verify()
    assert "not-computable" in {remark.blocked.id for remark in remarks_of(module)}
    assert len(list(module.walk())) <= count


FUNCTIONS = {
    "Gelu": [
        ("Div", "x", "root", "a"),
        ("Erf", "a", "", "b"),
        ("Add", "b", "one", "c"),
        ("Mul", "half", "c", "d"),
        ("Mul", "x", "d", "y"),
    ],
    "HardSwish": [
        ("Mul", "x", "sixth", "a"),
        ("Add", "a", "half", "b"),
        ("Relu", "b", "", "c"),
        ("Min", "c", "one", "d"),
        ("Mul", "d", "x", "y"),
    ],
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_chain_of_floats_is_the_op_that_it_computes(function: str, tmp_path: Path):
    g = Graph()
    numbers = {"root": 2**0.5, "one": 1.0, "half": 0.5, "sixth": 1 / 6}
    ops = FUNCTIONS[function]
    for name in {i for _, *inputs, _ in ops for i in inputs} & numbers.keys():
        g.constant(name, np.float32(numbers[name]))
    for op, one, other, result in ops:
        g.add(op, result, *filter(None, (one, other)))
    data = np.concatenate([np.linspace(-9, 9, 4000), [-1e30, 1e30, -1e-30]]).astype(np.float32)[None]
    before, after, written = compiled(g.model((1, 4003), (1, 4003), 17), tmp_path, data)
    assert written == [function]
    assert np.abs(after - before).max(where=np.abs(data) < 10, initial=0) < 1e-6
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("most", "known"), [(4, True), (3, False)])
def test_so_many_values_are_searched_for_a_table(most: int, known: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(lower_to_table, "MAX_CONE_VALUES", most)
    _, module = parsed(text(Case("", "", """
        q: 2x3x!u
        d = dcast q : 2x3xf32
        t = Erf(d) : 2x3xf32
        y = qcast t : 2x3x!t""")))  # fmt: skip
    (last,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    assert (lower_to_table.longest_cone(last.results[0]) is not None) is known


TABLE = "q: 2x3x!u\nd = dcast q : 2x3xf32\nt = Tanh(d) : 2x3xf32\ny = qcast t : 2x3x!t"


@pytest.mark.parametrize(
    ("lookup", "shape", "cheap", "lowered", "remark"),
    [
        (12.0, "2x3", None, False, None),
        (12.0, "2x3", 1.0, False, None),
        (11.5, "2x3", None, True, None),
        (12.0, "2x?", None, False, None),
        (11.5, "2x?", None, False, "invalid-op"),
    ],
)
def test_a_table_takes_less_than_what_it_replaces(
    lookup: float, shape: str, cheap: float | None, lowered: bool, remark: str | None
):
    prices = {ELEMENTWISE: {"DequantizeLinear": 2.0, "Tanh": 7.0, "QuantizeLinear": 3.0, LOOKUP: lookup}}
    if cheap is not None:  # a function that is another one
        prices[ELEMENTWISE] |= {"Gelu": cheap}
    _, module = parsed(text(Case("", "", TABLE.replace("= Tanh(d) : 2x3", f"= Tanh(d) : {shape}"))))
    apply_patterns(module, "lower-to-table", [LowerToTable(runtime(prices, kernels=True))])
    assert ("Gather" in ops_of(module)) is lowered
    assert [r.blocked.id for r in remarks_of(module)] == ([remark] if remark else [])


@pytest.mark.parametrize(
    ("opset", "now", "expected"),
    [
        (14, 20.0, ["Gelu", "HardSwish"]),
        (13, 20.0, ["Gelu"]),
        (7, 20.0, ["Gelu"]),
        (6, 20.0, []),
        (14, 16.0, ["Gelu"]),
        (14, 10.0, []),
    ],
)
def test_functions_of_an_opset_that_take_less_time(opset: int, now: float, expected: list[str]):
    prices = {"DequantizeLinear": 2.0, "QuantizeLinear": 3.0, "Gelu": 3.5, "HardSwish": 8.6}
    op = last_op("x: 2x3xf32\ny = Tanh(x) : 2x3xf32", opset)
    assert [f.name for f in LowerToTable(runtime({})).cheaper_functions(op, prices, now)] == expected


def per_tensor(storage: str, scale: float, zero: int = 0, expressed: Any = None) -> UniformType:
    type = UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)
    return type if expressed is None else type.replace(expressed=expressed)


@pytest.mark.parametrize(
    ("moved", "off", "expected"),
    [(0.0, 0, True), (MAX_DISTANCE_STEPS, 1, True), (MAX_DISTANCE_STEPS * 1.01, 1, False), (0.0, 2, False)],
)
def test_near_is_by_steps_and_by_a_part_of_one(moved: float, off: int, expected: bool):
    type = per_tensor("u8", 0.5, 0)
    exact = np.arange(4, 68) * 0.5
    table = np.arange(4, 68, dtype=np.uint8)
    table[5] += off
    assert is_near(exact + moved * 0.5, exact, table, type) is expected
