"""`fold-float-weights`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import pytest
from guard_cases import Case, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.transforms.fold_float_weights import affordable


@pytest.mark.parametrize(("elements", "taken"), [(4, False), (3, True)])
def test_weights_of_more_elements_become_float_while_the_file_may_grow(elements: int, taken: bool):
    _, module = parsed(text(Case("", "", """
        x: 1x2x3x3xf32
        w = [1, 2, 3, 4] : 4x1x1x1xi8 as 4x1x1x1x!t
        d = dcast w : 4x1x1x1xf32
        y = Conv(x, d) {group = 2 : i64} : 1x4x3x3xf32""")))  # fmt: skip
    conv = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Conv")
    assert affordable(module, elements, 0, 12) == ({conv} if taken else set())
    assert affordable(module, elements, 0, 11) == set()
