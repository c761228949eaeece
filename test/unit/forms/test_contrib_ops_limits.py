"""`forms.contrib_ops`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from built_ops import names
from guard_cases import last_op

from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.contrib_ops import FOREIGN

POOL = "x: 1x5x4x2xui8\ny = NhwcMaxPool(x) {kernel_shape = array<i64: 2, 3>} : 1x4x2x2xui8"


@pytest.mark.parametrize(
    ("opset", "expected"), [(11, ["opset"]), (12, ["Transpose", "MaxPool", "Transpose"])]
)
def test_a_pool_takes_integers_from_opset_12_on(opset: int, expected: list[str]):
    assert names(FOREIGN[MICROSOFT, "NhwcMaxPool"].parts(last_op(POOL, opset))) == expected
