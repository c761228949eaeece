"""Queries on the uses of a value: quantizes of it, their type, and uses of its shape alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.ir import Block, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.ir.values import static_shape
from qdialect.promises.base import Commutes
from qdialect.promises.control import Carries
from qdialect.promises.kernels import Kernels
from qdialect.promises.typed import SizesOnly
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter

IsInteger = Callable[[OnnxOp], bool]


def quantized_uses(value: SSAValue) -> UniformType | Blocked | None:
    """The type to which all users of `value` quantize it; `Blocked` if they do not agree; None if none quantizes it."""
    types: set[UniformType] = set()
    others = 0
    for use in value.uses:
        if isinstance(use.operation, QuantizeOp):
            types.add(use.operation.element_type)
        elif use.operation.get_trait(SizesOnly) is None:
            others += 1
    if not types:
        return None
    if others:
        return Blocked(
            "second-consumer", "the float result has a second consumer", "quantize it for every consumer"
        )
    if len(types) > 1:
        return Blocked(
            "other-parameters", "the result is quantized in two ways", "use one scale and zero point"
        )
    return types.pop()


def quantized_anyway(value: SSAValue) -> bool:
    """True if every execution that defines `value` quantizes it: in its block, or in each branch of an If."""
    home = value.owner if isinstance(value.owner, Block) else value.owner.parent
    pending = [use.operation.parent for use in value.uses if isinstance(use.operation, QuantizeOp)]
    blocks: set[Block] = set()
    while pending:
        block = pending.pop()
        if block is home:
            return True
        around = None if block is None else block.parent_op()
        if block is None or around is None:
            continue
        blocks.add(block)
        promise = around.get_trait(Carries)
        if promise is not None and promise.branches and all(r.block in blocks for r in around.regions):
            pending.append(around.parent)
    return False


def goes_into_quantize(value: SSAValue) -> bool:
    """True if `value` is quantized, directly or after elementwise ops."""
    for use in value.uses:
        user = use.operation
        promise = user.get_trait(Commutes)
        if isinstance(user, QuantizeOp) or (
            promise is not None and promise.in_place and any(map(goes_into_quantize, user.results))
        ):
            return True
    return False


def is_quantized_next(value: SSAValue) -> bool:
    """True if `value` is only moved, clamped and then quantized, per tensor."""
    type = quantized_uses(value)
    if isinstance(type, UniformType):
        return type.is_per_tensor
    if type is not None or not value.has_one_use():
        return False
    user = next(iter(value.uses)).operation
    promise = user.get_trait(Commutes)
    return promise is not None and len(user.results) == 1 and is_quantized_next(user.results[0])


def read_sizes_of(old: SSAValue, new: SSAValue, rewriter: Rewriter) -> None:
    """Redirect users of the shape alone from `old` to `new`."""
    for use in list(old.uses):
        if use.operation.get_trait(SizesOnly) is not None:
            rewriter.set_operand(use.operation, use.index, new)


def has_kernel(op: OnnxOp) -> bool:
    """True if the op has an integer kernel (promise `Kernels`)."""
    return op.get_trait(Kernels) is not None


def more_work(
    op: OnnxOp,
    promise: Commutes,
    is_integer: IsInteger = has_kernel,
    sources: Sequence[SSAValue | None] | None = None,
) -> Blocked | None:
    """
    `Blocked` if moving a quantize above `op` quantizes more elements, unless an op above produces integers itself.

    is_integer: True if an op can. sources: the values quantized above the op, None for those only dequantized; by
    default its operands.
    """
    if promise.keeps_order or (not promise.selects and promise.keeps_all(op)):  # also if a size is unknown
        return None
    operands = promise.operand_values(op)
    before, after = _elements(promise.result_values(op)), _elements(operands)
    if not promise.selects and before is not None and after is not None and after <= before:
        return None
    if all(o is None or _makes_integers(o, is_integer) for o in (operands if sources is None else sources)):
        return None
    if promise.selects:
        return Blocked(
            "does-not-pay", "the operands that the op selects from are float, so the op stays in float"
        )
    return Blocked("does-not-pay", "the operand has more elements to quantize than the result")


def _elements(values: Sequence[SSAValue]) -> int | None:
    shapes = [static_shape(v) for v in values]
    return None if None in shapes else sum(prod(s) for s in shapes if s is not None)


def _makes_integers(value: SSAValue, is_integer: IsInteger) -> bool:
    """True if a quantize of `value` merges into its producer: an inverse cast, a constant, an integer kernel."""
    if not isinstance(value, OpResult):
        return False
    if isinstance(value.op, DequantizeOp | ConstantOp):
        return True
    if not isinstance(value.op, OnnxOp) or not value.has_one_use():
        return False
    promise = value.op.get_trait(Commutes)
    if promise is not None:
        return all(_makes_integers(v, is_integer) for v in promise.operand_values(value.op))
    if not is_integer(value.op):
        return False
    sources = [o.owner for o in value.op.operands]
    return all(isinstance(s, DequantizeOp | ConstantOp) for s in sources)
