"""`kernel_selection.convolution.shuffle`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.kernel_selection.convolution.shuffle import with_channels_last
from qdialect.kernel_selection.convolution.step import ImageNodes


@pytest.mark.parametrize(("bound", "moved"), [("i8", True), ("1xi8", False)])
def test_a_clamp_of_integers_stands_behind_its_transpose(bound: str, moved: bool):
    """If its bounds are single numbers."""
    pool = last_op(f"""
        x: 1x4x2x3x!s
        a = [3] : {bound} as {bound.removesuffix("i8")}!s
        b = [9] : {bound} as {bound.removesuffix("i8")}!s
        c = Clip(x, a, b) : 1x4x2x3x!s
        y = Relu(c) : 1x4x2x3x!s""")
    clamp = pool.operands[0].owner
    assert isinstance(clamp, OnnxOp)
    nodes = ImageNodes()
    with_channels_last(clamp.results[0], nodes)
    assert [op.op_type for op in nodes.ops if isinstance(op, OnnxOp)] == (
        ["Transpose", "Clip"] if moved else ["Transpose"]
    )
