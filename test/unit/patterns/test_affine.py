"""`patterns.affine`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import Case, ops_of, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.patterns.affine import FoldIntoNormalization, scaled_weight
from qdialect.rewriting.driver import apply_patterns


def test_what_normalizes_and_says_its_mean_is_folded_for_all():
    _, module = parsed(text(Case("", "", """
        x: 2x3xf32
        g = [1.0, 2.0, 4.0] : 3xf32
        b = [1.0, 3.0, 5.0] : 3xf32
        k = [2.0] : f32
        n, m, d = LayerNormalization(x, g, b) : 2x3xf32, 2x1xf32, 2x1xf32
        t = Mul(n, k) : 2x3xf32
        y = Add(t, m) : 2x3xf32""")))  # fmt: skip
    apply_patterns(module, "any", [FoldIntoNormalization()])
    module.verify()
    assert ops_of(module) == "LayerNormalization Add"
    (norm, add) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ops_of(module))
    assert list(add.operands) == [norm.results[0], norm.results[1]]
    assert [np.asarray(constant_array(v)).tolist() for v in norm.operands[1:]] == [[2, 4, 8], [2, 6, 10]]


WEIGHT = np.arange(1, 49, dtype=np.float32).reshape(4, 3, 2, 2)


@pytest.mark.parametrize(
    ("rows", "axis", "expected"),
    [
        (np.float64(3), 1, WEIGHT * 3),
        (np.array([[2, 3, 5]]), 1, WEIGHT * np.array([2, 3, 5]).reshape(1, 3, 1, 1)),
        (np.array([[2, 3, 5, 7]]), 0, WEIGHT * np.array([2, 3, 5, 7]).reshape(4, 1, 1, 1)),
        (np.array([[2, 3, 5], [7, 11, 13]]), 1, np.concatenate([
            WEIGHT[:2] * np.array([2, 3, 5]).reshape(1, 3, 1, 1),
            WEIGHT[2:] * np.array([7, 11, 13]).reshape(1, 3, 1, 1),
        ])),
        (np.array([[2, 3], [5, 7]]), 0, WEIGHT * np.array([2, 3, 5, 7]).reshape(4, 1, 1, 1)),
    ],
)  # fmt: skip
def test_a_weight_is_scaled_by_group_and_channel(rows: Array, axis: int, expected: Array):
    scaled = scaled_weight(WEIGHT, np.asarray(rows, np.float64), axis)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(scaled, expected)
