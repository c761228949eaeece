"""
Change the signedness of integer sums to that of the target's fastest kernels.

    sum(move(quantize(x, s, z)) : i8, w, z)  ->  sum(move(quantize(x, s, z + 128)) : u8, w, z + 128)
    sum(q : i8, w, z)                        ->  sum(quantize(dequantize(q, 1, 0), 1, 128) : u8, w, z + 128)
                                                                                      where that pays
    q, s, z = quantize_at_run_time(x)
    sum(q : u8, w, z, wz)  ->  sum(quantize(x, s, z - 128) : i8, w, z - 128, wz)     where that pays
    sum(q, w, z, wz)       ->  sum(q, w xor 0x80, z, wz xor 0x80)                    constant w

Exact: differences to the zero point are unchanged. A weight is changed at compile time, and so is a quantize that such
sums alone read, behind ops that move its elements. Where others read the same integers, or where they come from is not
known, the activation takes more casts in each run, so it is changed only if the kernel saves more, by the measured
costs. The first two lines are for products of matrices.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue, Use

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    element_of,
    known_element,
    shape_of,
    with_element,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.insertion import behind, onnx_op
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, static_shape
from qdialect.patterns.signedness import SIGN_OFFSET, signed, unsigned
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.arithmetic import QuantizesAtRunTime
from qdialect.promises.base import Commutes
from qdialect.promises.casts import QuantizeForm
from qdialect.promises.linear import IntegerProduct
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets import Target
from qdialect.targets.pricing import (
    MAX_TIME_RATIO,
    QUANTIZE,
    SIGNED,
    SIGNED_PRODUCT,
    SUM,
    cost,
    priced,
    signed_sum_cost,
)

NUMPY = {"i8": "int8", "u8": "uint8"}


I8, U8, I32 = (BY_NUMPY[name] for name in ("int8", "uint8", "int32"))
OTHER: dict[Attribute, Attribute] = {I8.attribute: U8.attribute, U8.attribute: I8.attribute}
AS_IS = {
    I8.attribute: UniformType.per_tensor(Storage.of("i8"), 1.0, 0),
    U8.attribute: UniformType.per_tensor(Storage.of("u8"), 1.0, 0),
}
"""The types of integers that stand for themselves."""
MOVED = {
    I8.attribute: UniformType.per_tensor(Storage.of("u8"), 1.0, SIGN_OFFSET),
    U8.attribute: UniformType.per_tensor(Storage.of("i8"), 1.0, -SIGN_OFFSET),
}
"""The types of the same numbers in the other signedness."""


class ChainLink(NamedTuple):
    """An op that gives the same integers again."""

    op: Operation
    """A quantize, a storage cast, or an op that moves or takes elements of its first operand."""
    element: Attribute
    """Its result's element in the other signedness."""
    promise: Commutes | None = None


class Source(NamedTuple):
    """The quantize that gives some integers, and what only moves them behind it."""

    steps: Sequence[ChainLink]

    def read_by(self, agrees: Callable[[Use], bool]) -> bool:
        """True if all that read the integers, moved or not, agree to read the other signedness."""
        ours = [step.op for step in self.steps]
        return all(use.operation in ours or agrees(use) for op in ours for use in op.results[0].uses)


def source_of(value: SSAValue) -> Source | None:
    """The quantize that gives `value`, if nothing but moves lies between; None if there is none."""
    steps: list[ChainLink] = []
    while isinstance(op := value.owner, Operation):
        element, promise = _other(known_element(value.type)), op.get_trait(Commutes)
        if element is None:
            return None
        if isinstance(op, QuantizeOp) or op.get_trait(QuantizeForm) is not None:
            return Source([ChainLink(op, element), *reversed(steps)]) if _has_zero_point(op) else None
        if isinstance(op, StorageCastOp):
            promise = None
        elif promise is None or not _moves(op, promise):
            return None
        steps.append(ChainLink(op, element, promise))
        value = op.operands[0]
    return None


def _has_zero_point(quantize: Operation) -> bool:
    """True unless a zero point is left out, and how many there are is not known."""
    return (
        not isinstance(quantize, OnnxOp)
        or quantize.input(2) is not None
        or static_shape(quantize.operands[1]) is not None
    )


def _moves(op: Operation, promise: Commutes) -> bool:
    """True if an op moves or takes elements of its first operand, whatever they stand for."""
    if not isinstance(op, OnnxOp) or op.regions or len(op.results) != 1:
        return False
    if promise.selects or not promise.moves_storage:
        return False
    alone = list(promise.operands(op)) == list(promise.results(op)) == [0]
    return alone and not isinstance(promise.forward(op, [AS_IS[I8.attribute]]), Blocked)


def _other(element: Attribute) -> Attribute | None:
    """The element of the other signedness, stored or quantized; None for one that is not of 8 bits."""
    if isinstance(element, UniformType):
        return unsigned(element) or signed(element)
    return OTHER.get(element)


class Flipped:
    """Values and zero points in the other signedness, each computed once."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, SSAValue] = {}

    def __contains__(self, value: SSAValue) -> bool:
        known = self._known.get(value)
        return known is not None and isinstance(known.owner, Operation) and known.owner.parent is not None

    def zero_point(self, zero: SSAValue, rewriter: Rewriter) -> SSAValue:
        """A zero point, constant or computed."""
        if zero not in self:
            nodes, array, element = Nodes(), constant_array(zero), OTHER[known_element(zero.type)]
            if array is None:
                moved_zero_point(zero, element, nodes)
            else:
                name = f"{wish(zero)}_{'u8' if element == U8.attribute else 'i8'}"
                nodes.constant(numerics.flip_signedness(array), name=name)
            rewriter.insert_before(behind(zero), nodes.ops)
            self._known[zero] = nodes.ops[-1].results[0]
        return self._known[zero]

    def quantized(self, source: Source, rewriter: Rewriter) -> SSAValue:
        """The integers that `source` gives, quantized and moved as they are."""
        for step in source.steps:
            old = step.op.results[0]
            if old not in self:
                new = self._quantize(step, rewriter) if step is source.steps[0] else self._move(step)
                new.location = step.op.location
                rewriter.insert_before(behind(old), [new])
                self._known[old] = new.results[0]
        return self._known[source.steps[-1].op.results[0]]

    def requantized(self, value: SSAValue, rewriter: Rewriter) -> SSAValue:
        """Integers of any origin: a pair of casts of scale 1 moves them by 128."""
        if value not in self:
            plain = known_element(value.type)
            ops: list[Operation] = [StorageCastOp(value, with_element(value.type, AS_IS[plain]))]
            ops.append(DequantizeOp(ops[-1].results[0]))
            ops.append(QuantizeOp(ops[-1].results[0], MOVED[plain]))
            ops.append(StorageCastOp(ops[-1].results[0], with_element(value.type, OTHER[plain])))
            rewriter.insert_before(behind(value), ops)
            self._known[value] = ops[-1].results[0]
        return self._known[value]

    def _quantize(self, step: ChainLink, rewriter: Rewriter) -> Operation:
        element = step.element
        if isinstance(element, UniformType):
            return QuantizeOp(step.op.operands[0], element)
        op = onnx_op(step.op)
        if (old := op.input(2)) is not None:
            zero = self.zero_point(old, rewriter)
        else:
            nodes = half(element, static_shape(op.operands[1]) or ())
            rewriter.insert_before(op, nodes.ops)
            zero = nodes.ops[0].results[0]
        attributes = {k: v for k, v in op.onnx_attributes.items() if k != "output_dtype"}
        result = with_element(op.results[0].type, element)
        return type(op).build([op.operands[0], op.operands[1], zero], [result], attributes)

    def _move(self, step: ChainLink) -> Operation:
        value = self._known[step.op.operands[0]]
        if step.promise is not None:
            return step.promise.rebuilt(onnx_op(step.op), [value], [step.element])
        return StorageCastOp(value, with_element(step.op.results[0].type, step.element))


def half(element: Attribute, shape: Sequence[int] = ()) -> Nodes:
    """A constant of zero points that are 0 in the other signedness."""
    nodes, zeros = Nodes(), np.zeros(shape, BY_ATTRIBUTE[OTHER[element]].dtype)
    nodes.constant(numerics.flip_signedness(zeros), name="half")
    return nodes


def moved_zero_point(zero: SSAValue, element: Attribute, nodes: Nodes) -> SSAValue:
    """A computed zero point in the other signedness, `element`."""
    step = nodes.constant(SIGN_OFFSET, np.int32, name="half")
    wide_type, is_unsigned = with_element(zero.type, I32.attribute), element == U8.attribute
    wide = nodes.add("Cast", [zero], wide_type, {"to": I32.number})
    moved = nodes.add("Add" if is_unsigned else "Sub", [wide, step], wide_type)
    number = U8.number if is_unsigned else I8.number
    return nodes.add("Cast", [moved], with_element(zero.type, element), {"to": number})


class LegalizeSum(OnTrait[IntegerProduct], ForTarget):
    """An op that sums products of integers minus their zero points."""

    def __init__(self, target: Target):
        super().__init__(target)
        self._flipped = Flipped()
        self._shared: set[SSAValue] = set()
        """Activations that others read too, in the signedness that they have."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        wanted = self._target.sums.get(op.op_type)
        types = [element_of(value.type) for value in op.operands[:2]]
        if wanted is None or types == [BY_NUMPY[NUMPY[name]].attribute for name in wanted]:
            return None
        if self._target.largest_weight is not None and wanted[1] == "i8":
            return Blocked("may-saturate", f"{self._target.name} adds products of u8 and i8 in 16 bits")
        self._weight(op, wanted[1], rewriter)
        return self._activation(op, wanted[0], rewriter)

    def _weight(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> None:
        weight, zero = constant_array(op.operands[1]), op.input(3)
        zeros = np.zeros((), weight.dtype) if weight is not None and zero is None else constant_array(zero)
        if weight is None or zeros is None or weight.dtype.name == NUMPY[wanted]:
            return
        nodes, name = Nodes(), f"{wish(op.operands[1])}_{wanted}"
        flipped = nodes.constant(numerics.flip_signedness(weight), name=name)
        moved = nodes.constant(numerics.flip_signedness(np.asarray(zeros)), name=f"{name}_zero_point")
        inputs = [op.operands[0], flipped, op.input(2), moved]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])

    def _activation(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> Blocked | None:
        x, above = op.operands[0], op.operands[0].owner
        if op.parent is None or element_of(x.type) != OTHER[BY_NUMPY[NUMPY[wanted]].attribute]:
            return None
        if isinstance(above, OnnxOp) and above.get_trait(QuantizesAtRunTime) is not None:
            return self._again(op, above, wanted, rewriter)
        if isinstance(above, ConstantOp) or op.get_trait(Window) is not None:
            return None
        source = source_of(x)
        is_free = x in self._flipped or self._is_free(x, source)
        if not is_free and not self.product_pays(op, 1 if source is not None else 2):
            return Blocked(
                "does-not-pay", "the casts that change the signedness take longer than the kernel saves"
            )
        zero, element = op.input(2), OTHER[known_element(x.type)]
        flipped = self._flipped
        new = flipped.requantized(x, rewriter) if source is None else flipped.quantized(source, rewriter)
        nodes = half(element) if zero is None else Nodes()
        moved = nodes.ops[0].results[0] if zero is None else flipped.zero_point(zero, rewriter)
        inputs = [new, op.operands[1], moved, op.input(3)]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])
        return None

    def _is_free(self, x: SSAValue, source: Source | None) -> bool:
        """True if all that read what `source` gives are sums that want the other signedness."""
        if source is None or x in self._shared:
            return False
        if source.read_by(self._agrees):
            return True
        self._shared.add(x)  # asked once: a value has many readers
        return False

    def _agrees(self, use: Use) -> bool:
        """True if a sum reads the value as its activation, and wants the other signedness."""
        op = use.operation
        wanted = self._target.sums.get(op.op_type) if isinstance(op, OnnxOp) else None
        if wanted is None or use.index != 0 or op.get_trait(Window) is not None:
            return False
        return element_of(op.operands[0].type) != BY_NUMPY[NUMPY[wanted[0]]].attribute

    def _again(self, op: OnnxOp, source: OnnxOp, wanted: str, rewriter: Rewriter) -> Blocked | None:
        """The activation, quantized at run time by `source`, quantized again."""
        x, zero = op.operands[0], op.input(2)
        if zero is None or zero is not source.results[2]:
            return Blocked("invalid-parameters", "the zero point differs from that of the quantize")
        if not self.pays(op):
            return None
        nodes, int8 = Nodes(op), BY_NUMPY[NUMPY[wanted]].attribute
        signed = moved_zero_point(zero, int8, nodes)
        inputs = [source.operands[0], source.results[1], signed]
        again = nodes.add("QuantizeLinear", inputs, with_element(x.type, int8))
        inputs = [again, op.operands[1], signed, op.input(3)]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])
        return None

    def pays(self, op: OnnxOp) -> bool:
        """True if the kernel saves more time than the second quantize takes."""
        window, costs = op.get_trait(Window), self._target.costs
        geometry = None if window is None else window.geometry(op)
        if not isinstance(geometry, Geometry) or geometry.groups > 1 or SIGNED not in costs:
            return False
        shape = priced(geometry)
        return signed_sum_cost(costs, shape) < cost(costs, SUM, shape)

    def product_pays(self, op: OnnxOp, casts: int) -> bool:
        """True if the kernel saves more than so many more casts of the activation; sizes that are not known are 1."""
        costs = self._target.costs
        x, y = (shape_of(value.type) for value in (op.operands[0], op.results[0]))
        if not x or not y or SIGNED_PRODUCT not in costs:
            return False
        read, columns = prod(max(size, 1) for size in x), max(y[-1], 1)
        more = casts * (read * costs[QUANTIZE]["read"] + costs[QUANTIZE]["call"])
        return more < MAX_TIME_RATIO * read * columns * costs[SIGNED_PRODUCT]["product"]


class LegalizeSumsPass(TargetPass):
    name = "legalize-sums"
    exactness = Exactness.EXACT
    role = Role.LEGALIZING
    reasons = "does-not-pay invalid-parameters may-saturate"
    rewrite = (
        "sum(q : u8, w, z, wz) -> sum(q - 128 : i8, w xor 0x80, z - 128, wz xor 0x80): the same differences"
    )
    pattern_types = (LegalizeSum,)
