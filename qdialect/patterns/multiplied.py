"""What products multiply in quantization written as arithmetic: weights, and integers that are read as floats."""

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.promises.arithmetic import Bounds, Converts, Rounds, Scales, Shifts, shift, step_of
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.qoperator import storage_of
from qdialect.promises.work import SumsProducts

WIDTHS = (8, 16)
"""Bits of storage types; wider integers are indices or accumulators."""


class Constants:
    """
    Tells constants, and what casts, moves and arithmetic compute from constants alone, from other values.

    Remembers its answers, so that asking of every value of a deep graph takes time linear in the graph.
    """

    def __init__(self):
        self._known: dict[SSAValue, bool] = {}

    def __contains__(self, value: SSAValue) -> bool:
        waiting, seen = [value], {value}
        while waiting:
            read = waiting.pop()
            if self._known.get(read) or isinstance(op := read.owner, ConstantOp):
                continue
            is_computed = (
                isinstance(op, OnnxOp | QuantizeOp | StorageCastOp) and op.operands and not op.regions
            )
            if read in self._known or not isinstance(op, Operation) or not is_computed:
                self._known[value] = False
                return False
            waiting += [operand for operand in op.operands if operand not in seen]
            seen.update(op.operands)
        self._known.update(dict.fromkeys(seen, True))
        return True


def is_weight(value: SSAValue, of: SSAValue, constants: Constants) -> bool:
    """True if `of` is constant and a product reads `value`, computed of it: as it is, scaled, shifted or moved."""
    return of in constants and any(True for _ in _products(value, (Commutes, Scales, Shifts, Bounds)))


def multiplies_integers(value: SSAValue) -> bool:
    """True if a product multiplies `value`, as it is or moved, by integers that are read as floats."""
    integers = Integers()
    for op, factor in _products(value, (Commutes,)):
        promise = op.get_trait(SumsProducts)
        factors = [op.input(k) for k in promise.factors] if promise is not None else []
        if factor in factors and all(
            other is factor or (other is not None and other in integers) for other in factors
        ):
            return True
    return False


def _products(
    value: SSAValue, kinds: tuple[type[Commutes | Scales | Shifts | Bounds], ...]
) -> list[tuple[OnnxOp, SSAValue]]:
    """The products that read `value` behind ops of `kinds`, each with the operand that it reads."""
    found: list[tuple[OnnxOp, SSAValue]] = []
    waiting, seen = [value], {value}
    while waiting:
        read = waiting.pop()
        for use in read.uses:
            op = use.operation
            if not isinstance(op, OnnxOp):
                continue
            if op.get_trait(SumsProducts) is not None:
                found.append((op, read))
            elif any(op.get_trait(kind) for kind in kinds):
                waiting += [result for result in op.results if result not in seen]
                seen.update(op.results)
    return found


class Integers:
    """
    Tells integers of 8 or 16 bits as floats, moved, shifted, scaled or clamped since, perhaps, from other values.

    Remembers its answers, as `Constants` does.
    """

    def __init__(self):
        self._known: dict[SSAValue, bool] = {}

    def __contains__(self, value: SSAValue) -> bool:
        walked = [value]
        while (read := walked[-1]) not in self._known:
            source = _source(read)
            if isinstance(source, bool):
                self._known[read] = source
            else:
                walked.append(source)
        self._known.update(dict.fromkeys(walked, self._known[read]))
        return self._known[value]


def _source(value: SSAValue) -> SSAValue | bool:
    """Whether `value` is integers as floats, or the value that it is if that one is."""
    op = value.owner
    if not isinstance(op, OnnxOp):
        return isinstance(op, DequantizeOp)
    if op.get_trait(Rounds) is not None or op.get_trait(DequantizeForm) is not None:
        return True
    if op.get_trait(Converts) is not None:
        storage = storage_of(element_of(op.operands[0].type))
        return storage is not None and storage.width in WIDTHS
    return _above(op) or False


def _above(op: OnnxOp) -> SSAValue | None:
    """The only operand that an op moves, shifts, scales or clamps."""
    moves, scales, bounds = op.get_trait(Commutes), op.get_trait(Scales), op.get_trait(Bounds)
    if moves is not None:
        places = moves.operands(op)
        return op.operands[places[0]] if len(places) == 1 else None
    if bounds is not None:
        limits = bounds.step(op)
        return None if limits is None else limits[0]
    step = shift(op) if scales is None else step_of(op, ordered=scales.inverse)
    return None if step is None else step.value
