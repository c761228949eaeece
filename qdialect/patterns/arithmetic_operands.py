"""
What products multiply in quantization written as arithmetic: weights, and integers that are read as floats; and the
pattern that reads a product of integers of 8 bits in 32 as the integer sum that it is.
"""

import numpy as np
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_NUMPY, element_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import constant, constant_array, is_float32, rank_of
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.promises.arithmetic import Bounds, Converts, Rounds, Scales, Shifts, shift, step_of, unwidened
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.linear import IntegerSum, Linear
from qdialect.promises.qoperator import storage_of
from qdialect.promises.work import SumsProducts
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

STORAGE_BITS = (8, 16)
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


def is_stored_weight(value: SSAValue, of: SSAValue) -> bool:
    """True if `of` is a constant of 8-bit integers and a product takes `value`, computed of it, as its weight."""
    element = element_of(of.type)
    if constant(of) is None or element not in BYTE_STORAGE or not is_float32(value):
        return False
    products = _products(value, (Commutes, Scales, Shifts))
    return any(op.get_trait(Linear) is not None and factor is op.operands[1] for op, factor in products)


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
        return storage is not None and storage.width in STORAGE_BITS
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


I32 = BY_NUMPY["int32"].attribute
BYTE_STORAGE = {BY_NUMPY[name].attribute: name for name in ("int8", "uint8")}
FIRST_OPSET = 10
"""The first opset that has sums of 8-bit integers."""


class SumOfBytes(OnTrait[IntegerSum]):
    """A product of int32 whose operands are 8-bit integers, less a zero point perhaps, or constants of that size."""

    def match(self, op: OnnxOp, promise: IntegerSum, rewriter: Rewriter, /) -> None:
        if element_of(op.results[0].type) != I32 or onnx_opset(op) < FIRST_OPSET:
            return
        if promise.guard(op) is not None or promise.turned(op) or op.input(2) is not None:
            return
        nodes = Nodes(op)
        x, w = (_bytes(value, nodes) for value in op.operands[:2])
        if x is None or w is None or 1 in (rank_of(value) for value in op.operands[:2]):
            return
        zeros = [x[1], w[1]] if x[1].any() or w[1].any() else []
        inputs = [
            x[0],
            w[0],
            *(
                nodes.constant(zero, name=f"{wish(op.operands[k])}_zero_point")
                for k, zero in enumerate(zeros)
            ),
        ]
        new = op_named("", promise.op_type).build(inputs, op.result_types, promise.attributes(op))
        new.location = location(node_name(op))
        nodes.append(new)
        rewriter.replace(op, nodes.ops)


def _bytes(value: SSAValue, nodes: Nodes) -> tuple[SSAValue, Array] | None:
    """The 8-bit integers that a value of int32 is, and the zero point that it lacks; None if there are none."""
    array = constant_array(value)
    if array is not None:
        for name in BYTE_STORAGE.values():
            if array.size and np.array_equal(array.astype(name), array):
                return nodes.constant(array.astype(name), name=wish(value)), np.zeros((), name)
        return None
    integers, zero = unwidened(value)
    element = element_of(integers.type)
    name = None if element is None else BYTE_STORAGE.get(element)
    if name is None or zero.size != 1 or not np.array_equal(zero.astype(name), zero):
        return None
    return integers, zero.astype(name).reshape(())
