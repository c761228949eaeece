"""`kernel_selection.convolution.layout`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import first_op

from qdialect.kernel_selection.convolution.layout import goes_channels_last, is_channels_last


@pytest.mark.parametrize(("between", "is_last"), [("Transpose", True), ("Sigmoid", False)])
def test_a_value_lies_channels_last_if_a_convolution_reads_it_as_it_is(between: str, is_last: bool):
    """In front of a move of elements, not of an op that computes; of floats, which are quantized behind, both."""
    image, weight = (
        "tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5>>",
        "tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>",
    )
    op = first_op(
        f"%p = onnx.{between}(%x) : ({image}) -> {image}\n"
        f"%y = onnx.Conv(%p, %w) : ({image}, {weight}) -> {image}",
        f"%x: {image}, %w: {weight}",
    )
    assert is_channels_last(op.operands[0]) is is_last
    assert goes_channels_last(op.operands[0])
