"""`lower-to-qdq`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import Case, parsed, text
from xdsl.ir import BlockArgument

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.transforms import get_all_passes


@pytest.mark.parametrize("cast", ["qcast", "scast"])
def test_sizes_are_those_of_what_is_quantized(cast: str):
    kind, result = ("f32", "!s") if cast == "qcast" else ("i8", "!s")
    context, module = parsed(text(Case("", "", f"""
        x: 2x3x{kind}
        q = {cast} x : 2x3x{result}
        y = Shape(q) : 2xi64""")))  # fmt: skip
    get_all_passes()["lower-to-qdq"]()().apply(context, module)
    (shape,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Shape")
    assert isinstance(shape.operands[0], BlockArgument)
