"""
Quantizers of Sony's Model Compression Toolkit, whose parameters are attributes; newer ones of weights take the
thresholds, one for each channel, as an operand.

    symmetric, power of two     rint(clip(x, -t, t - s) / s) * s      s = t / 2^(bits - 1), without a sign t / 2^bits
    uniform                     rint((clip(x, a, b) - a) / s) * s + a      s = (b - a) / (2^bits - 1), 0 a multiple of s

Source: mct_quantizers, whose tables of values (LUT quantizers) have no equal steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import constant_array, normal_axis, rank_of
from qdialect.numerics import Array, folding
from qdialect.promises.casts import RUN_TIME
from qdialect.promises.fake_quantize import FakeQuantization, FakeQuantizes, stored_bits
from qdialect.promises.staircase import attribute_numbers
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked

UNSTATED = Blocked("invalid-parameters", "its number of bits or its range is not stated", "check the model")


def _range(op: OnnxOp, name: str, place: int) -> Array:
    """A bound, float32, of the shape that broadcasts to the operand: one number, or one for each channel."""
    stated = attribute_numbers(op, name)
    if stated is None:
        stated = required(constant_array(required(op.input(place), UNSTATED)), RUN_TIME)
    array = stated.astype(np.float32).reshape(-1)
    if array.size == 1:
        return array.reshape(())
    rank = required(rank_of(op.operands[0]), UNKNOWN_RANK)
    axis = normal_axis(op.int_attr("channel_axis", 0), rank)
    return array.reshape(-1, *[1] * (rank - axis - 1))


def _bits(op: OnnxOp) -> int:
    return required(op.int_attr("num_bits", 0) or None, UNSTATED)


def _symmetric(signed: bool | None) -> Callable[[OnnxOp], FakeQuantization | Blocked]:
    """signed: None if an attribute says."""

    def parameters(op: OnnxOp) -> FakeQuantization | Blocked:
        bits, threshold = _bits(op), _range(op, "threshold", 1)
        has_sign = bool(op.int_attr("signed", 1)) if signed is None else signed
        storage = unblocked(stored_bits(bits, has_sign, False))
        return FakeQuantization(folding.steps_below(threshold, bits - has_sign), 0.0, storage, exact=True)

    return parameters


def _uniform(op: OnnxOp) -> FakeQuantization | Blocked:
    bits = _bits(op)
    storage = unblocked(stored_bits(bits, False, False))
    least, most = _range(op, "min_range", 1), _range(op, "max_range", 2)
    scale, zeros = folding.steps_around_zero(least, most, 1 << bits)
    return FakeQuantization(scale, zeros, storage, exact=False)


DOMAIN = "mct_quantizers"
MODEL_COMPRESSION: dict[tuple[str, str], FakeQuantizes] = {
    **{
        (DOMAIN, f"Activation{kind}Quantizer"): FakeQuantizes(_symmetric(None))
        for kind in ("POT", "Symmetric")
    },
    **{(DOMAIN, f"Weights{kind}Quantizer"): FakeQuantizes(_symmetric(True)) for kind in ("POT", "Symmetric")},
    **{(DOMAIN, f"{of}UniformQuantizer"): FakeQuantizes(_uniform) for of in ("Activation", "Weights")},
}
