"""`insert-casts`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from guard_cases import Case, parsed, text
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.errors import UserError
from qdialect.quantizer.placement.placement import Placement
from qdialect.targets import target
from qdialect.transforms import insert_casts
from qdialect.transforms.insert_casts import InsertCastsPass, activation_type


@pytest.mark.parametrize(
    ("bounds", "scale"),
    [
        ((0.0, 0.0), 1 / 255),
        ((-1e-33, 1e-33), 1 / 255),
        ((0.0, 2.55), 0.01),
        ((-2.55, 0.0), 0.01),
        ((-2.55, 1e-40), 0.01),
    ],
)
def test_bounds_that_are_almost_0_stand_for_any(bounds: tuple[float, float], scale: float):
    """By either end: one that is far from 0 is enough."""
    type = activation_type(bounds, target("onnxruntime"))
    assert type.scale == pytest.approx(np.float32(scale), rel=1e-6)


@pytest.mark.parametrize(
    ("range", "known"), [("minmax", True), ("99.9", True), ("100", True), ("9x9", False), ("", False)]
)
def test_a_range_is_a_method_or_a_percentile(range: str, known: bool):
    with pytest.raises((UserError, OSError)) as raised:
        InsertCastsPass(range=range, profile="/none").annotate(ModuleOp([]), target("onnxruntime"))
    assert ("there is no range" in str(raised.value)) is not known


@pytest.mark.parametrize(
    ("form", "dynamic", "kept"),
    [("qoperator", True, True), ("qdq", True, False), ("qoperator", False, False), ("integer", True, True)],
)
def test_products_are_quantized_at_run_time_where_there_are_kernels(
    form: str, dynamic: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
):
    _, module = parsed(text(Case("", "", "x: 2x3xf32\ny = Relu(x) : 2x3xf32")))
    op = next(o for o in module.walk() if isinstance(o, OnnxOp))

    def place(*_: Any, **__: Any) -> Placement:
        return Placement(dynamic=[op])

    monkeypatch.setattr(insert_casts, "place", place)
    placed = InsertCastsPass(form=form, dynamic=dynamic).placed(module)
    assert placed.dynamic == ([op] if kept else [])


def test_bounds_of_next_to_nothing():
    least = float(np.finfo(np.float32).tiny) * 1e6
    target: Any = SimpleNamespace(activations="", symmetric_activations=False)
    assert activation_type((0.0, least), target).scale == np.float32(least / 255)
    assert activation_type((0.0, np.nextafter(least, 0)), target).scale == np.float32(1 / 255)
