"""`patterns.weight_only`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from guard_cases import Case, ops_of, parsed, text

from qdialect.patterns.weight_only import LowerWeightOnly
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of


@pytest.mark.parametrize(("limit", "written"), [(96, True), (95, False), (None, True)])
def test_a_weight_of_so_many_elements_is_packed(limit: int | None, written: bool):
    values = ", ".join(str(k % 13 - 6) for k in range(96))
    _, module = parsed(text(Case("", "", f"""
        x: 2x32xf32
        w = [{values}] : 32x3xi4 as 32x3x!quarter
        d = dcast w : 32x3xf32
        y = MatMul(x, d) : 2x3xf32""", opset=21)).replace("!quarter", "!quant.uniform<i4:f32, 0.25>"))  # fmt: skip
    target: Any = SimpleNamespace(name="any", weight_only_limit=limit, has_kernel=lambda *_: True)  # pyright: ignore
    apply_patterns(module, "any", [LowerWeightOnly(target)])
    assert ("MatMulNBits" in ops_of(module)) is written, [r.blocked for r in remarks_of(module)]
