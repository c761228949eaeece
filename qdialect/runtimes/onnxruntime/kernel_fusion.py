"""Ops between casts that a session fuses into integer kernels which refuse them, are wrong, or are slower."""

from __future__ import annotations

from collections.abc import Sequence

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import UniformType
from qdialect.patterns.float_kernels import faster_in_float
from qdialect.promises.casts import dequantize_type, quantize_type
from qdialect.promises.kernels import Kernels
from qdialect.reasons import SCALE_VALUE, Blocked
from qdialect.runtimes.onnxruntime.casts import (
    are_of_one_type,
    casts_of,
    fused_with,
    has_scales,
    is_single,
    quantizes,
)
from qdialect.targets import Target


def _kernel(quantize: OnnxOp) -> tuple[OnnxOp, Kernels, Sequence[OnnxOp]] | None:
    """The op that a session fuses with `quantize` into an integer kernel, its kernels, its operands' casts."""
    op = fused_with(quantize) if quantizes(quantize) else None
    kernels = None if op is None else op.get_trait(Kernels)
    casts = [] if op is None else casts_of(op)
    return (op, kernels, casts) if op is not None and kernels is not None and casts else None


def odd_operand(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize behind an op of which an operand has a scale that is zero, negative or not finite."""
    op = fused_with(quantize) if quantizes(quantize) else None
    return (
        0 if op is not None and any(dequantize_type(cast) == SCALE_VALUE for cast in casts_of(op)) else None
    )


def refused_scales(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize behind an op whose kernel takes one float32 scale, where a cast has several or others."""
    if (found := _kernel(quantize)) is None:
        return None
    _, kernels, casts = found
    is_refused = any(map(has_scales, (quantize, *casts))) or (
        kernels.takes_any_scales and not is_single(quantize)
    )
    return 0 if is_refused and are_of_one_type(casts[0].operands[0], quantize.results[0]) else None


def slower_kernel(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize behind an op whose float kernel, with its casts, takes less time than its integer kernel."""
    if (found := _kernel(quantize)) is None:
        return None
    op, kernels, casts = found
    is_fused = are_of_one_type(casts[0].operands[0], quantize.results[0])
    return 0 if is_fused and faster_in_float(op, kernels, session.costs) is not None else None


def wrong_kernel(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize behind an op whose kernel gives other numbers at these scales, or over this window."""
    if (found := _kernel(quantize)) is None:
        return None
    op, kernels, casts = found
    return 0 if _is_wrong(op, kernels, casts, quantize_type(quantize)) else None


def _is_wrong(op: OnnxOp, kernels: Kernels, casts: Sequence[OnnxOp], type: UniformType | Blocked) -> bool:
    """True if a kernel would give other numbers than the op at the one scale of `type`, and those of its operands."""
    types = [type, *map(dequantize_type, casts)]
    scales = [float(t.scale) for t in types if not isinstance(t, Blocked) and t.is_per_tensor]
    is_known = len(scales) == len(types)
    return is_known and any(kernel.is_wrong(op, scales[1:], scales[0]) for kernel in kernels.forms)
