"""Tolerances of the classes of exactness, and the comparison of arrays against them."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from xdsl.ir import Operation

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp
from qdialect.exactness import Exactness
from qdialect.numerics import Array
from qdialect.promises.linear import Linear

CLOSE_FLOAT_TOLERANCE = 1e-4
"""Tolerance of floats in class `close`, relative to the largest magnitude."""
HALF_PRECISION_BYTES = 2
"""Bytes of a float of half precision, whose steps are longer than `CLOSE_FLOAT_TOLERANCE`: one of them is close too."""
ROUNDING_TOLERANCE = 2.0**-22
"""Tolerance for rounding of a real number, relative: two units in the last place of float32."""


@dataclass(frozen=True)
class Difference:
    """One value whose difference exceeds a class."""

    tensor: str
    op: str
    node: str
    """The node that computes the value after the pass."""
    detail: str


@dataclass(frozen=True)
class Finding:
    """The first pass that exceeds its class."""

    pass_name: str
    exactness: str
    pattern: str
    """The pattern that rewrote the node last; empty where no pattern did."""
    difference: Difference

    def __str__(self) -> str:
        pattern = f", pattern {self.pattern}," if self.pattern else ""
        d = self.difference
        where = f"{d.op} '{d.node}': tensor '{d.tensor}'"
        return f"pass '{self.pass_name}'{pattern} is not {self.exactness} at {where}, {d.detail}"


def step_of(op: Operation, real: Array) -> Array | None:
    """
    Absolute tolerance of an element of a float result in class `close`; None if only the relative one of the class
    applies.

    Of a dequantize: one quantization step, plus rounding of the product. Of a linear op with a bias in steps of its
    sums: half of one, since such a bias and sums of products may cancel.
    """
    if isinstance(op, DequantizeOp):
        type = op.element_type
        scales = numerics.expand_parameters(type.scales, real.shape, type.axis, type.blocks)
        step = scales.astype(np.float64)
    else:
        linear = promise_of(op, Linear)
        bias = op.input(2) if isinstance(op, OnnxOp) and linear is not None and linear.has_bias else None
        type = None if bias is None else quantized_of(bias.type)
        if type is None or quantized_of(op.results[0].type) is not None:
            return None
        step = type.scales.astype(np.float64).max() / 2
    return np.asarray(step + np.abs(real[np.isfinite(real)]).max(initial=0.0) * ROUNDING_TOLERANCE)


def beyond(wanted: Array, got: Array, exactness: Exactness, step: Array | None = None) -> str | None:
    """Message on how far `got` exceeds the class; None if it does not. step: of reals that count as integers."""
    if wanted.shape != got.shape:
        return f"the shape is {list(got.shape)}, it was {list(wanted.shape)}"
    if exactness is Exactness.LOSSY or wanted.dtype.kind not in "iufbV":
        return None if exactness is Exactness.LOSSY or np.array_equal(wanted, got) else "elements differ"
    is_float = wanted.dtype.kind in "fV"
    if np.array_equal(wanted, got, equal_nan=wanted.dtype.kind == "f"):
        return None
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    apart = np.where(np.isnan(apart), np.inf, apart)
    most, count = float(apart.max()), int(np.count_nonzero(apart))
    limit = np.zeros(()) if step is None or exactness is Exactness.EXACT else step
    if exactness is Exactness.CLOSE:
        close = CLOSE_FLOAT_TOLERANCE * float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) if is_float else 1.0
        limit = np.maximum(limit, close)
        if is_float and wanted.dtype.itemsize == HALF_PRECISION_BYTES:
            limit = np.maximum(limit, np.abs(a) * float(ml_dtypes.finfo(wanted.dtype).eps))
    if np.all(apart <= limit):
        return None
    return f"{count} of {a.size} {'floats' if is_float else 'integers'} differ, by up to {most:g}"
