"""The types that onnx's shape inference finds in a model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto

MICROSOFT = "com.microsoft"
FIRST_CASTS = 10
"""The first opset with QuantizeLinear and DequantizeLinear."""


@contextmanager
def _own_casts(model: ModelProto) -> Generator[list[int]]:
    """
    Casts of the domain com.microsoft as ONNX's own, for as long as it lasts; gives their places.

    Shape inference knows nothing of other domains and of all that comes behind.
    """
    casts = ("QuantizeLinear", "DequantizeLinear")
    if max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0) < FIRST_CASTS:
        casts = ()
    places = [k for k, n in enumerate(model.graph.node) if n.domain == MICROSOFT and n.op_type in casts]
    for k in places:
        model.graph.node[k].domain = ""
    try:
        yield places
    finally:
        for k in places:
            model.graph.node[k].domain = MICROSOFT


def inferred(model: ModelProto) -> ModelProto:
    """The model with the types that onnx's shape inference finds; as it is if inference gives up."""
    from onnx import shape_inference

    try:
        with _own_casts(model) as places:
            found = shape_inference.infer_shapes(model, data_prop=True)
        for k in places:
            found.graph.node[k].domain = MICROSOFT
        return found
    except (
        Exception
    ):  # it raises RuntimeError, ValueError and its own; none of them makes the model unreadable
        return model
