"""
A promise that says too much is caught: each family's proof on numbers fails when its promise is made wrong on purpose.
"""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from promise_cases import (
    I64,
    Case,
    Feeds,
    agree,
    bits_of,
    case_of,
    check,
    floats,
    hoist_module,
    ints,
    module,
    outputs,
    single,
    sink_module,
    stored_values,
)
from wrong_on_purpose import FOLLOWS, promise
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects import quant_parameters
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.forms.table import form_of
from qdialect.promises.axes import follow, same
from qdialect.promises.base import Commutes, every_operand, first, none
from qdialect.promises.layout import LAYOUT
from qdialect.promises.padding import pad_backward, pad_forward
from qdialect.transforms.hoist_quantize import HoistQuantizePass
from qdialect.transforms.sink_dequantize import SinkDequantizePass


@pytest.fixture(autouse=True)
def _forget_forms() -> Generator[None]:
    """`form_of` remembers what it was asked; the tables are whole again behind each test."""
    yield
    form_of.cache_clear()


SQUARE = Case("Transpose", "({x}) {{perm = array<i64: 1, 2, 0>}}", [(16, 16, 16)], (16, 16, 16))
LINEAR = Case(
    "Resize",
    '({x}, _, %s) {{mode = "linear"}}',
    [(1, 1, 16, 16)],
    (1, 1, 32, 32),
    constants=floats("s", 1.0, 1.0, 2.0, 2.0),
    others="tensor<4xf32>",
)
SUMS = Case(
    "ScatterND",
    '({x}, %c, {y}) {{reduction = "add"}}',
    [(128, 2), (3, 2)],
    (128, 2),
    constants=ints("c", 3, 100, 17, shape="3x1"),
    others=I64("3x1"),
)
SIX = Case(
    "Clip",
    "({x}, %a, %b)",
    [(256,)],
    (256,),
    (),
    (),
    floats("a", 0.0, shape="") + floats("b", 6.0, shape=""),
    "tensor<f32>, tensor<f32>",
)
WRONG = [
    pytest.param(SQUARE, 0, FOLLOWS, id="transpose: the axis stays"),
    pytest.param(SQUARE, 1, FOLLOWS, id="transpose: axis 1 stays"),
    pytest.param(SQUARE, 2, FOLLOWS, id="transpose: the last axis stays"),
    pytest.param(case_of("ReverseSequence"), 0, FOLLOWS, id="reverse: rows change places"),
    pytest.param(case_of("Pad"), None, Commutes(pad_forward, pad_backward), id="pad: the integer 0 for the real one"),
    pytest.param(case_of("ArgMax"), 1, Commutes(LAYOUT["", "Shape"].forward, follow(same), results=none), id="index: along the scales"),
    pytest.param(LINEAR, None, FOLLOWS, id="resize: between elements"),
    pytest.param(SUMS, None, Commutes(lambda op, types: types[:1], lambda op, types: types, lambda op: (0, 2)), id="scatter: sums"),
    pytest.param(SIX, None, Commutes(follow(same), follow(same), moves_storage=False), id="clip: bounds between two steps"),
]  # fmt: skip


@pytest.mark.parametrize(("case", "axis", "wrong"), WRONG)
def test_a_wrong_promise_is_caught(
    case: Case, axis: int | None, wrong: Commutes, monkeypatch: pytest.MonkeyPatch
):
    """A promise that says too much, and no form on integers besides: some bit changes."""
    promise(monkeypatch, case.op, wrong)
    with pytest.raises(AssertionError, match="elements differ"):
        check(case, axis, sink_module, SinkDequantizePass)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_wrong_promise_is_caught_above(axis: int, monkeypatch: pytest.MonkeyPatch):
    promise(monkeypatch, "Transpose", FOLLOWS)
    check(SQUARE, None, hoist_module, HoistQuantizePass)
    with pytest.raises(AssertionError, match="elements differ"):
        check(SQUARE, axis, hoist_module, HoistQuantizePass)


MIXED = ("!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32, 0.25:-7>")


def pair_module(
    line: str, result: str, types: Sequence[str] = MIXED, opset: int = 18
) -> tuple[ModuleOp, Feeds]:
    """An op of two operands, `%r0` and `%r1`, each dequantized from 256 values of its own type."""
    body, arguments, feeds = "", dict[str, str](), Feeds()
    for k, type in enumerate(types):
        arguments[f"x{k}"], feeds[f"x{k}"] = "tensor<16x16xi8>", stored_values("i8", (16, 16), k)
        body += f"%q{k} = quant.scast %x{k} : tensor<16x16xi8> to tensor<16x16x{type}>\n"
        body += f"%r{k} = quant.dcast %q{k} : tensor<16x16x{type}> to tensor<16x16xf32>\n"
    return module(arguments, body + line, {"y": result}, opset), feeds


def numbers(
    before: ModuleOp, feeds: Feeds
) -> tuple[list[npt.NDArray[Any]], list[npt.NDArray[Any]], ModuleOp]:
    """What a module computes before sinking and after, the latter on stored integers."""
    after = before.clone()
    SinkDequantizePass().apply(Context(), after)
    moved = after.clone()
    return outputs(before, feeds, False), outputs(after, feeds, True), moved


def changed(before: ModuleOp, feeds: Feeds) -> bool:
    """Whether sinking changes a bit, or makes what does not verify."""
    try:
        expected, actual, _ = numbers(before, feeds)
    except VerifyException:
        return True
    return bool((bits_of(expected[0]) != bits_of(actual[0])).any())


@pytest.mark.parametrize("op", ["Less", "Equal", "Concat", "Max"])
def test_one_type_for_two_operands_of_two_is_caught(op: str, monkeypatch: pytest.MonkeyPatch):
    element, shape = (
        ("i1", "16x16") if op in ("Less", "Equal") else ("f32", "32x16" if op == "Concat" else "16x16")
    )
    axis = "{axis = 0 : i64} " if op == "Concat" else ""
    result = f"tensor<{shape}x{element}>"
    line = f"%y = onnx.{op}(%r0, %r1) {axis}: (tensor<16x16xf32>, tensor<16x16xf32>) -> {result}\n"
    before, after, moved = numbers(*pair_module(line, result))
    assert sum(isinstance(o, DequantizeOp) for o in moved.walk()) == 2
    np.testing.assert_array_equal(before[0], after[0])
    results = none if element == "i1" else first
    wrong = Commutes(
        lambda op, types: types[: element == "f32"], lambda op, types: types, every_operand, results
    )
    promise(monkeypatch, op, wrong)
    assert changed(*pair_module(line, result))


BLOCK_SCALES = np.geomspace(1e-3, 7, 64, dtype=np.float32).reshape(16, 4)
PER_BLOCK = UniformType.sub_channel(
    Storage.of("i8"), ((0, 1), (1, 4)), BLOCK_SCALES, np.arange(64).reshape(16, 4) - 30
)
"""Rows of 16 in blocks of 4."""
BLOCKS = {
    "transpose": ("onnx.Transpose(%r0)", "tensor<16x16xf32>", ""),
    "unsqueeze": ("onnx.Unsqueeze(%r0, %c)", "tensor<1x16x1x16xf32>", ints("c", 0, 2)),
    "slice": ("onnx.Slice(%r0, %s, %e, %a)", "tensor<5x8xf32>", ints("s", 3, 4) + ints("e", 8, 12) + ints("a", 0, 1)),
    "identity": ("onnx.Identity(%r0)", "tensor<16x16xf32>", ""),
    "concat": ("onnx.Concat(%r0, %r1) {axis = 1 : i64}", "tensor<16x32xf32>", ""),
}  # fmt: skip


def block_module(name: str) -> tuple[ModuleOp, Feeds]:
    op, result, constants = BLOCKS[name]
    kinds = {
        "r0": "tensor<16x16xf32>",
        "r1": "tensor<16x16xf32>",
        "c": I64(2),
        "s": I64(2),
        "e": I64(2),
        "a": I64(2),
    }
    used = ", ".join(kinds[v.strip(" %")] for v in op[op.index("(") + 1 : op.index(")")].split(","))
    line = f"{constants}%y = {op} : ({used}) -> {result}\n"
    return pair_module(line, result, [str(PER_BLOCK)] * 2, opset=21)


@pytest.mark.parametrize("name", BLOCKS)
def test_scales_per_block_follow(name: str):
    before, after, moved = numbers(*block_module(name))
    np.testing.assert_array_equal(bits_of(before[0]), bits_of(after[0]))
    last = [o for o in moved.walk() if isinstance(o, DequantizeOp)][-1]
    assert not isinstance(last.results[0].first_use and last.results[0].first_use.operation, OnnxOp)
    assert last.element_type.blocks is not None


def test_blocks_that_stay_are_caught(monkeypatch: pytest.MonkeyPatch):
    promise(monkeypatch, "Transpose", FOLLOWS)
    line = "%y = onnx.Transpose(%r0) : (tensor<16x16xf32>) -> tensor<16x16xf32>\n"
    columns = UniformType.sub_channel(
        Storage.of("i8"), ((0, 1), (1, 1)), np.geomspace(1e-3, 7, 256, dtype=np.float32).reshape(16, 16)
    )
    assert changed(*pair_module(line, "tensor<16x16xf32>", [str(columns)] * 2, opset=21))


def test_a_negative_scale_is_caught(monkeypatch: pytest.MonkeyPatch):
    """No type takes one (C5). If one did, the greatest stored value would be the least real one."""
    pool = Case("MaxPool", "({x}) {{kernel_shape = array<i64: 2, 2>}}", [(1, 1, 16, 16)], (1, 1, 15, 15))
    agree(pool, *single(pool, "!quant.uniform<i8:f32, 0.5:-3>"), SinkDequantizePass)
    monkeypatch.setattr(quant_parameters, "_checked_scales", lambda scales, _: np.asarray(scales, np.float32))  # pyright: ignore
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        agree(pool, *single(pool, "!quant.uniform<i8:f32, -0.5:-3>"), SinkDequantizePass)
