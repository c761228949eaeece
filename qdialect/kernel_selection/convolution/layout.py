"""
The order of elements around convolutions: kernels with a quantized result run channels last, those in float in blocks
of channels, and a session moves what it needs for that past the ops between two of them.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.values import is_constant, is_float32, rank_of
from qdialect.ops.generated import op_named
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.layout import Permutes
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import Reading, reading
from qdialect.promises.window import Window
from qdialect.targets.pricing import IMAGE_RANK


def _runs_channels_last(op: object) -> bool:
    if not isinstance(op, OnnxOp) or not op.has_trait(Window):
        return False
    types = [quantized_of(value.type) for value in (op.operands[0], op.results[0])]
    return all(type is not None and type.storage.width == BYTE_BITS for type in types)


def is_channels_last(value: SSAValue) -> bool:
    """True if such a convolution makes the quantized `value`, or reads it, directly or before moves of elements."""
    while isinstance(value, OpResult) and isinstance(value.op, OnnxOp) and value.op.has_trait(Commutes):
        value = value.op.operands[0]
    return _runs_channels_last(value.owner) or _is_read(value, floats=False)


def comes_channels_last(value: SSAValue) -> bool:
    """True if all elements of `value` come from such convolutions, through casts and moves of elements."""
    pending, seen = [value], {value}
    while pending:
        source = pending.pop().owner
        if _runs_channels_last(source):
            continue
        if isinstance(source, QuantizeOp | DequantizeOp):
            sources = (source.input,)
        elif isinstance(source, OnnxOp) and (promise := source.get_trait(Commutes)) is not None:
            sources = promise.operand_values(source)
        else:
            return False
        pending += [one for one in sources if one not in seen]
        seen.update(sources)
    return True


def goes_channels_last(value: SSAValue) -> bool:
    """True if such a convolution reads the float `value`, quantized after elementwise ops and moves of elements."""
    return _is_read(value, floats=True)


def _is_read(value: SSAValue, *, floats: bool) -> bool:
    def passes(op: Operation) -> bool:
        in_float = isinstance(op, QuantizeOp) or op.has_trait(Elementwise)
        return op.has_trait(Commutes) or (floats and in_float)

    return _reaches(value, _runs_channels_last, passes, _readers)


def is_lowered_convolution(op: Operation) -> bool:
    """True for a kernel that computes a convolution with a quantized result."""
    computes = _computes(op)
    return computes is not None and computes is not type(op) and computes.has_trait(Window)


def is_float_convolution(op: Operation) -> bool:
    """True for a convolution of images in float."""
    linear = isinstance(op, OnnxOp) and op.has_trait(Window) and op.has_trait(Linear)
    return linear and rank_of(op.operands[0]) == IMAGE_RANK and is_float32(op.operands[0])


def is_between(op: Operation, kernels: Callable[[Operation], bool]) -> bool:
    """True if such kernels make the first operand of `op` and read its result, casts and elementwise ops aside."""
    ends = (op.operands[0], _makers), (op.results[0], _readers)
    return all(_reaches(value, kernels, _keeps_layout, step) for value, step in ends)


def _reaches(
    value: SSAValue,
    kernels: Callable[[Operation], bool],
    passes: Callable[[Operation], bool],
    step: Callable[[SSAValue], list[tuple[Operation, list[SSAValue]]]],
) -> bool:
    """True if `step` comes from `value` to one of `kernels`, past ops that it `passes`."""
    pending, seen = [value], {value}
    while pending:
        for op, beyond in step(pending.pop()):
            if kernels(op):
                return True
            if passes(op):
                pending += [one for one in beyond if one not in seen]
                seen.update(beyond)
    return False


def _makers(value: SSAValue) -> list[tuple[Operation, list[SSAValue]]]:
    if not isinstance(value, OpResult):
        return []
    operands = [one for one in value.op.operands if not is_constant(one)]
    return [(value.op, operands)]


def _readers(value: SSAValue) -> list[tuple[Operation, list[SSAValue]]]:
    return [(use.operation, list(use.operation.results)) for use in value.uses]


def _keeps_layout(op: Operation) -> bool:
    """True for casts, and for ops that a session moves Transposes past."""
    if isinstance(op, QuantizeOp | DequantizeOp | StorageCastOp):
        return True
    computes = _computes(op)
    if computes is None or rank_of(op.results[0]) != IMAGE_RANK:
        return False
    moves = computes.has_trait(Commutes) and not computes.has_trait(Permutes)
    return moves or computes.has_trait(Elementwise)


def _computes(op: Operation) -> type[OnnxOp] | None:
    """The class of the op, or of that which a kernel computes."""
    if not isinstance(op, OnnxOp):
        return None
    read = reading(op)
    return op_named("", read.name) if isinstance(read, Reading) else type(op)
