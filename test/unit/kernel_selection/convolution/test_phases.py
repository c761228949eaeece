"""`kernel_selection.convolution.phases`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from geometries import FREE, SPACE
from guard_cases import last_op

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.kernel_selection.convolution import phases
from qdialect.kernel_selection.convolution.phases import SpreadPhases, spread_phases
from qdialect.kernel_selection.convolution.step import BYTE_SLICES_OPSET, ConvolutionStep, ImageNodes, Spec
from qdialect.reasons import Blocked
from qdialect.targets.pricing import (
    SPREADING,
)


def reason(blocked: ConvolutionStep | Blocked | None) -> str | None:
    return blocked.id if isinstance(blocked, Blocked) else None


PLANE = replace(SPACE, **{
    name: getattr(SPACE, name)[1:] for name in ("kernel", "strides", "dilations", "pads", "sizes", "results")
})  # fmt: skip


SPREAD = replace(
    PLANE, inputs=4, outputs=2, kernel=(2, 2), strides=(2, 2), dilations=(1, 1), pads=((0, 0), (0, 0)),
    sizes=(3, 5), results=(6, 10),
)  # fmt: skip


MOVED = {SPREADING: FREE | {"move_byte": 1.0, "move_float": 1.0}}


@pytest.mark.parametrize(
    ("change", "opset", "most", "expected"),
    [
        ({}, BYTE_SLICES_OPSET - 1, 4, None),
        ({}, BYTE_SLICES_OPSET - 1, 3, "window-form"),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET, 6, None),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET, 5, "window-form"),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET - 1, 6, "opset"),
        ({"strides": (2, 3), "results": (6, 14)}, BYTE_SLICES_OPSET, 6, None),
        ({"strides": (2, 3), "results": (6, 14)}, BYTE_SLICES_OPSET, 5, "window-form"),
        ({"pads": ((0, 0), (0, 2)), "results": (6, 8)}, BYTE_SLICES_OPSET, 12, None),
        ({"pads": ((0, 0), (0, 2)), "results": (6, 8)}, BYTE_SLICES_OPSET, 11, "window-form"),
        ({"results": (6, 11)}, BYTE_SLICES_OPSET, 4, "invalid-op"),
        ({"results": (DYNAMIC, 10), "sizes": (DYNAMIC, 5)}, BYTE_SLICES_OPSET, 4, None),
        ({"sizes": (3, DYNAMIC)}, BYTE_SLICES_OPSET, 4, "unknown-shape"),
        ({"pads": None}, BYTE_SLICES_OPSET, 4, "unknown-shape"),
    ],
)
def test_which_transposed_convolutions_are_spread(
    change: dict[str, Any], opset: int, most: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(phases, "LARGEST_WINDOW", most)
    spec = Spec(replace(SPREAD, **change), 2, True, False, opset)
    assert reason(spread_phases(spec, MOVED, (0, 0))) == expected


@pytest.mark.parametrize(
    ("run", "is_float", "opset", "sliced"),
    [
        (128, False, BYTE_SLICES_OPSET, True),
        (129, False, BYTE_SLICES_OPSET, False),
        (128, False, BYTE_SLICES_OPSET - 1, False),
        (32, True, BYTE_SLICES_OPSET, True),
        (33, True, BYTE_SLICES_OPSET, False),
    ],
)
def test_short_runs_are_moved_by_slices(run: int, is_float: bool, opset: int, sliced: bool):
    spec = Spec(SPREAD, 2, True, is_float, opset)
    op = last_op(f"x: 2x3x5x{2 * run}xf32\ny = Relu(x) : 2x3x5x{2 * run}xf32")
    nodes = ImageNodes()
    last = SpreadPhases(spec).rows_of_runs(nodes, op.operands[0], 2, run)
    names = [one.op_type for one in nodes.ops if isinstance(one, OnnxOp) and one.op_type != "Constant"]
    assert names == (["Slice", "Slice", "Concat"] if sliced else ["Reshape", "Transpose"])
    assert shape_of(last.type) == ((2, 3, 10, run) if sliced else (2, 3, 2, 5, run))
