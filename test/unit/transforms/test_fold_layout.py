"""`fold-layout`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.transforms import fold_layout


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_so_many_ops_are_turned(most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fold_layout, "MAX_FOLLOWED_OPS", most)
    turned = fold_layout.turned_source(last_op("""
        x: 2x3x4xf32
        t = Transpose(x) {perm = array<i64: 2, 0, 1>} : 4x2x3xf32
        a = Relu(t) : 4x2x3xf32
        b = Tanh(t) : 4x2x3xf32
        c = Mul(a, b) : 4x2x3xf32
        y = ReduceMax(c) {axes = array<i64: 0>, keepdims = 0 : i64} : 2x3xf32""", 17))  # fmt: skip
    assert (turned is not None) is (most >= 3)
    if turned is not None:
        assert turned.order == (2, 0, 1)
        assert [op.op_type for op in turned.ops][-1] == "Mul"
