"""Promises and rewrites that are made wrong on purpose, for tests that see whether a check finds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.ir import OpTraits
from xdsl.traits import Pure

from qdialect import numerics
from qdialect.dialects import onnx_base
from qdialect.dialects.quant import UniformType
from qdialect.forms.storage import STORAGE_FORMS
from qdialect.forms.table import form_of
from qdialect.ops.generated import op_named
from qdialect.promises.axes import follow, same
from qdialect.promises.base import Commutes
from qdialect.transforms import legalize


def promise(monkeypatch: pytest.MonkeyPatch, op: str, replacement: Commutes) -> None:
    """Let an op promise something else, and nothing besides; Clip keeps its form on integers, which needs its own."""
    monkeypatch.setattr(onnx_base, "trait_of", onnx_base.trait_of.__wrapped__)
    monkeypatch.setattr(op_named("", op), "traits", OpTraits(lambda: (Pure(), replacement)))
    if op != "Clip":
        form_of.cache_clear()
        monkeypatch.delitem(STORAGE_FORMS, ("", op), raising=False)


FOLLOWS = Commutes(follow(same), follow(same))


Patch = pytest.MonkeyPatch


def wrong_rounding(patch: Patch) -> None:
    """Towards minus infinity."""
    right: Callable[..., Any] = numerics.quantize

    def wrong(x: Any, scale: Any, *others: Any) -> Any:
        return right(x - np.float32(0.49) * np.asarray(scale), scale, *others)

    patch.setattr(numerics, "quantize", wrong)


def wrong_zero_point(patch: Patch) -> None:
    right = legalize.unsigned

    def wrong(type: UniformType) -> UniformType | None:
        moved = right(type)
        return moved and moved.replace(zero_points=moved.zero_points - 1)

    patch.setattr(legalize, "unsigned", wrong)
