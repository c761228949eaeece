"""`patterns.affine_kernels`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from guard_cases import last_op
from xdsl.dialects.builtin import f16

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ir.values import constant_array
from qdialect.patterns.affine_kernels import bias_row, keeps_integers
from qdialect.promises.affine import AffineMap
from qdialect.reasons import Blocked


def array(dtype: npt.DTypeLike, values: Any) -> npt.NDArray[Any]:
    return np.array(values, dtype)


def per_tensor(storage: str, scale: float, zero: int = 0, expressed: Any = None) -> UniformType:
    type = UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)
    return type if expressed is None else type.replace(expressed=expressed)


@pytest.mark.parametrize(
    ("constant", "built"),
    [
        ("b = [1.0, 2.0, 4.0] : 3xf32", False),
        ("b = [1.0, 2.0, 4.0] : 1x3xf32", True),
        ("k = [2, 4, 8] : 3xi8 as 3x!s\nb = dcast k : 3xf32", True),
    ],
)
def test_a_bias_is_one_row_of_floats(constant: str, built: bool):
    add = last_op(f"x: 2x3xf32\n{constant}\ny = Add(x, b) : 2x3xf32")
    ops = bias_row(add.operands[1], add.operands[0])
    assert not isinstance(ops, Blocked)
    assert [type(op) for op in ops] == ([ConstantOp] if built else [])
    for op in ops:
        expected = [2.5, 3.5, 5.5] if "dcast" in constant else [1.0, 2.0, 4.0]
        np.testing.assert_array_equal(constant_array(op.results[0]), array(np.float32, expected))


@pytest.mark.parametrize(
    ("factor", "shift", "type", "result", "expected"),
    [
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 7), True),
        (2.0, 3.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 4), True),
        (2.0, 3.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 5), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 0.5, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("i8", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u16", 0.5, 7), per_tensor("u16", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7, f16), per_tensor("u8", 1.0, 7), False),
        (2.0, 0.0, per_tensor("u8", 0.5, 7), per_tensor("u8", 1.0, 7, f16), False),
    ],
)
def test_a_map_that_leaves_each_integer(
    factor: float, shift: float, type: UniformType, result: UniformType, expected: bool
):
    assert keeps_integers(AffineMap(0, 1, np.array(factor), np.array(shift)), type, result) is expected
