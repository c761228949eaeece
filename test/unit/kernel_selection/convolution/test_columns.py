"""`kernel_selection.convolution.columns`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from geometries import SPACE, runtime
from guard_cases import last_op

from qdialect.kernel_selection.convolution.columns import product_guard
from qdialect.kernel_selection.convolution.step import BYTE_SLICES_OPSET, ConvolutionStep, Spec
from qdialect.reasons import Blocked
from qdialect.targets.pricing import (
    PRODUCT,
    SUM,
)


def reason(blocked: ConvolutionStep | Blocked | None) -> str | None:
    return blocked.id if isinstance(blocked, Blocked) else None


PLANE = replace(SPACE, **{
    name: getattr(SPACE, name)[1:] for name in ("kernel", "strides", "dilations", "pads", "sizes", "results")
})  # fmt: skip


POINT = replace(PLANE, kernel=(1, 1), strides=(1, 1), dilations=(1, 1), pads=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("geometry", "opset", "expected"),
    [
        (PLANE, BYTE_SLICES_OPSET, True),
        (PLANE, BYTE_SLICES_OPSET - 1, False),
        (POINT, BYTE_SLICES_OPSET - 1, True),
    ],
)
def test_a_product_of_gathered_elements_takes_slices(geometry: Any, opset: int, expected: bool):
    spec = Spec(geometry, 2, True, True, opset)
    assert spec.can_be_product is expected
    assert not replace(spec, kernels=(SUM,)).can_be_product
    conv = last_op("""
        x: 2x3x9x8x!u
        w = [1, 2, 3, 4, 5, 6] : 2x3x1x1xi8 as 2x3x1x1x!t
        y = Conv(x, w) : 2x2x9x8xf32""")  # fmt: skip
    for has, blocked in (
        (True, None if expected else "opset"),
        (False, "no-kernel" if expected else "opset"),
    ):

        def has_kernel(kernel: str, operands: list[str], result: str, has: bool = has) -> bool:
            return has and (kernel, operands, result) == (PRODUCT, ["u8", "i8"], "f32")

        target = runtime({}, name="any", has_kernel=has_kernel)
        assert reason(product_guard(conv, spec, target)) == blocked
