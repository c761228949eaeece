"""`patterns.half_precision_casts`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from guard_cases import Case, last_op, ops_of, parsed, text
from xdsl.dialects.builtin import BFloat16Type, Float16Type

from qdialect.dialects.onnx_types import quantized_of, shape_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.dialects.quant_parameters import FORMATS
from qdialect.patterns.half_precision_casts import ReadInHalf, read_as_wide, with_expressed
from qdialect.rewriting.driver import apply_patterns


def test_half_precision_is_read_through_integers():
    op = last_op("x: 2x3x!half\ny = Identity(x) : 2x3x!half")
    wide = UniformType.per_tensor(Storage.of("u8"), np.float32(0.25), 7)
    new, value = read_as_wide(op.operands[0], wide)
    assert str(new[0].results[0].type) == "tensor<2x3xui8>"
    assert new[0].operands[0] is op.operands[0]
    assert new[1].operands[0] is new[0].results[0]
    assert quantized_of(value.type) == wide
    assert shape_of(value.type) == (2, 3)


@pytest.mark.parametrize(("kind", "ops"), [("f16", "scast scast dcast"), ("bf16", "scast scast dcast")])
def test_half_precision_of_what_is_given(kind: str, ops: str):
    number = 10 if kind == "f16" else 16
    _, module = parsed(text(Case("", "", f"""
        x: 2x3x!s
        d = dcast x : 2x3xf32
        y = Cast(d) {{to = {number} : i64}} : 2x3x{kind}""", opset=19)))  # fmt: skip
    apply_patterns(module, "any", [ReadInHalf()])
    module.verify()
    assert ops_of(module) == ops


def array(dtype: npt.DTypeLike, values: Any) -> npt.NDArray[Any]:
    return np.array(values, dtype)


@pytest.mark.parametrize("expressed", [Float16Type(), BFloat16Type()])
def test_scales_as_small_and_as_large_as_half_precision_has_them(expressed: Any):
    limits = FORMATS[expressed.__class__]
    ends = array(np.float32, [limits.smallest, limits.largest])
    type = UniformType.along(Storage.of("i8"), 0, ends)
    assert with_expressed(type, expressed) == type.replace(expressed=expressed)
    below, above = np.nextafter(ends, array(np.float32, [0, np.inf]))
    assert (
        with_expressed(UniformType.along(Storage.of("i8"), 0, array(np.float32, [below, ends[1]])), expressed)
        is None
    )
    assert (
        with_expressed(UniformType.along(Storage.of("i8"), 0, array(np.float32, [ends[0], above])), expressed)
        is None
    )
