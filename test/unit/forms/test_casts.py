"""`forms.casts`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from built_ops import names
from guard_cases import last_op

from qdialect.dialects.onnx_types import uniform_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.forms.casts import clamped_real, clamps_integers


@pytest.mark.parametrize(
    ("storage", "opset", "takes"), [("i8", 11, False), ("i8", 12, True), ("u8", 13, True), ("i16", 21, False)]
)
def test_bytes_are_clamped_from_opset_12_on(storage: str, opset: int, takes: bool):
    type = UniformType.per_tensor(Storage.of(storage), 0.5)
    assert clamps_integers(type, last_op("x: 3xf32\ny = Neg(x) : 3xf32", opset)) is takes


NARROW = "!quant.uniform<i8<-100:90>:f32, 0.5:-3>"


WIDE = "!quant.uniform<i8:f32, 0.5:-3>"


ROWS = "!quant.uniform<i8<-100:90>:f32:0, {0.5,0.25:7,2.0}>"


@pytest.mark.parametrize(
    ("mine", "shape", "opset", "always", "expected"),
    [
        (NARROW, "3x4", 11, False, ["Clip"]),
        (NARROW, "3x4", 10, False, ["Max", "Min"]),
        (NARROW, "*", 11, False, ["Clip"]),
        (ROWS, "3x4", 13, False, ["Max", "Min"]),
        (ROWS, "*", 13, False, []),
        (ROWS, "*", 13, True, []),
        (WIDE, "3x4", 13, False, []),
        (WIDE, "3x4", 13, True, ["Clip"]),
        (WIDE, "*", 13, True, ["Clip"]),
    ],
)
def test_a_clamp_of_reals_needs_the_rank_of_what_runs_along_an_axis(
    mine: str, shape: str, opset: int, always: bool, expected: list[str]
):
    op = last_op(f"x: {shape}xf32\nw: 3x4x!mine\ny = Mul(x, w) : {shape}xf32", opset, mine)
    ops = clamped_real(op.operands[0], uniform_of(op.operands[1].type), op, always=always)
    assert names(ops) == expected
