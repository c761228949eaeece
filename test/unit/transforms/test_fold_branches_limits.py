"""`fold-branches`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from guard_cases import last_op

from qdialect.promises.window import Geometry
from qdialect.reasons import Blocked
from qdialect.transforms.fold_branches import is_convolution, window_over


def window(kernel: int, dilation: int, pads: tuple[int, int]) -> Geometry:
    return Geometry(
        images=2, inputs=3, outputs=4, groups=1, kernel=(kernel,), strides=(1,), dilations=(dilation,), pads=(pads,),
        sizes=(9,), results=(9 + sum(pads) - (kernel - 1) * dilation,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        # kernel, dilation, pads of each; those of both together and where each starts, or why not
        ((3, 2, (2, 2)), (1, 1, (0, 0)), ((3, 2, ((2, 2),)), [(0, 1)])),
        ((1, 1, (0, 0)), (3, 2, (2, 2)), ((3, 2, ((2, 2),)), [(1, 0)])),
        ((5, 2, (4, 4)), (1, 1, (0, 0)), ((5, 2, ((4, 4),)), [(0, 2)])),
        ((3, 1, (3, 0)), (2, 1, (0, 2)), ((5, 1, ((3, 2),)), [(0, 3)])),
        ((2, 1, (2, 0)), (2, 1, (0, 2)), ((4, 1, ((2, 2),)), [(0, 2)])),
        ((2, 1, (3, 0)), (2, 1, (0, 3)), "does-not-pay"),
        ((3, 2, (1, 3)), (1, 1, (0, 0)), "window-form"),
        ((3, 2, (2, 2)), (3, 1, (1, 1)), "window-form"),
    ],
)
def test_a_window_over_two(one: Any, two: Any, expected: Any):
    over = window_over(window(*one), window(*two))
    if isinstance(over, Blocked):
        assert over.id == expected
    else:
        geometry, firsts = over
        assert (
            (geometry.kernel[0], geometry.dilations[0], geometry.pads),
            [*zip(*firsts, strict=True)],
        ) == expected


@pytest.mark.parametrize(("result", "expected"), [("f32", True), ("!s", False)])
def test_only_a_float_convolution_is_folded_with_another(result: str, expected: bool):
    op = last_op(f"""
        x: 1x1x3x3xf32
        w = [1.0] : 1x1x1x1xf32
        c = Conv(x, w) : 1x1x3x3x{result}
        y = Relu(c) : 1x1x3x3x{result}""")
    assert is_convolution(op.operands[0], op) is expected
