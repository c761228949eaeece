"""`patterns.integral_weights`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import Case, parsed, text

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.patterns.integral_weights import read_weights_above
from qdialect.rewriting.driver import Rewriter

READ = [
    # weight and bias, which of them are read as integers
    ("127.0, -128.0", "2147483520.0, -2147483648.0", (True, True)),
    ("128.0, -128.0", "2147483648.0, -2147483648.0", (False, False)),
    ("127.0, -129.0", "2147483520.0, -2147483904.0", (False, False)),
    ("1.5, 2.0", "1.0, 2.5", (False, False)),
]


@pytest.mark.parametrize(("weight", "bias", "read"), READ)
def test_float_constants_that_8_and_32_bits_hold(weight: str, bias: str, read: tuple[bool, bool]):
    _, module = parsed(text(Case("", "", f"""
        x: 3x1xf32
        w = [{weight}] : 1x2xf32
        b = [{bias}] : 2xf32
        y = Gemm(x, w, b) : 3x2xf32""")))  # fmt: skip
    gemm = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    read_weights_above(gemm.results[0], Rewriter(module, "any"))
    assert tuple(not isinstance(value.owner, ConstantOp) for value in gemm.operands[1:]) == read
