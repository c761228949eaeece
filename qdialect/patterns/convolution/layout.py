"""Values that are channels last anyway: kernels of convolutions with a quantized result run so."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.window import Window


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
    pending, seen = [value], {value}
    while pending:
        for user in {use.operation for use in pending.pop().uses}:
            if _runs_channels_last(user):
                return True
            passes = user.has_trait(Commutes) or (
                floats and (isinstance(user, QuantizeOp) or user.has_trait(Elementwise))
            )
            if passes:
                pending += [one for one in user.results if one not in seen]
                seen.update(user.results)
    return False
