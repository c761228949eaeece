"""`lower-to-table`: tables of 256 values against onnxruntime with optimization off, on all values."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from graph_builder import Graph, compiled
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.errors import UserError
from qdialect.evaluation import session as oracle
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes

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
