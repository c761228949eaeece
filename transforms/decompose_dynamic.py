"""
Decompose run-time quantization and the integer sums behind it into ops on the same integers in float32 or steps of 1.

    q, s, z = DynamicQuantizeLinear(x)  ->  s  = (max(x, 0) - min(x, 0)) / 255     1 for zeros alone
                                            z' = round(-min(x, 0) / s)     in [0, 255]: s is off by 2^-23 of it
                                            q' = round(x / s) + z'             saturated to [0, 255]
    Cast(sum(q, w, z, wz))  ->  product(q' - z', w - wz)                            1. a small sum, or not as in 2
                            ->  product(qcast(q'), w : wz) - z' * sum(w - wz)       2. both types of scale 1
                            ->  product(q' - z', dcast(w - wz))                     3. of scale 1, no zero point

3, or 1 where i8 does not hold w - wz, is for targets that do not have these sums at all. 1 and 2 are for targets that
convert the operands of such sums in each run and compute in float, but compute products of types of constant scale in
integers. 2 is for products of matrices and convolutions without groups; it takes more ops, so that
small sums are faster in float. What a convolution pads with is the zero point: round(x / s) is padded with zeros.

Close: float32 holds every sum up to 2^24; above, it rounds as the cast behind the sum did, in 2 by one part in 2^24
of the largest sum without zero point. Scale and zero point are those of onnxruntime's kernel, bit for bit, but a range
whose step is no normal number, which runtimes may take for 0, is widened to one whose step is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.promises.arithmetic import Converts, QuantizesAtRunTime
from qdialect.promises.linear import LINEAR, IntegerProduct
from qdialect.promises.window import Window
from qdialect.reasons import FLOAT_SUMS, UNREAD_SUMS, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.targets import Target, target

TINY = np.finfo(np.float32).smallest_normal
Pads = tuple[tuple[int, int], ...]
AS_IS = UniformType.per_tensor(Storage.of("u8"), 1.0, 0)
"""The type of integers that stand for themselves."""
OTHER_READER = Blocked("second-consumer", "the integers have users other than sums that are cast to float")


class _Product(NamedTuple):
    """A sum of integers whose result is cast to float."""

    op: OnnxOp
    name: str
    """Name of the op on floats."""
    casts: list[OnnxOp]
    stored: Array
    """The weight."""
    zeros: Array
    """Its zero point, or one for each output channel."""
    axis: int
    """The weight's axis of output channels."""

    @property
    def weight(self) -> Array:
        """The weight minus its zero point, float32."""
        axis = self.axis if self.zeros.ndim else None
        return numerics.dequantize(self.stored, np.float32(1), self.zeros, axis=axis)

    @property
    def pads(self) -> Pads | None:
        """Elements that a convolution adds before and after each axis; empty if none; None if they are not known."""
        window = self.op.get_trait(Window)
        pads = () if window is None else window.pads(self.op)
        return pads if pads is None or any(map(any, pads)) else ()

    def is_plain(self) -> bool:
        """True if the zero point of the activation adds one number to each output channel, in int32."""
        window = self.op.get_trait(Window)
        is_one = self.stored.ndim == 2 if window is None else window.groups(self.op) == 1
        if not is_one or self.pads is None:
            return False
        sums = numerics.accumulator_bound(self.stored, 0, 255, 0, self.zeros, self.axis)
        return bool((sums <= numerics.INT32_MAX).all())

    def multiply_adds(self) -> int:
        """Of a plain sum, with sizes that are not known as 1."""
        shape = shape_of(self.op.results[0].type) or ()
        results = prod(max(size, 1) for size in shape)
        return self.stored.size * max(1, results // self.stored.shape[self.axis])


class DecomposeDynamic(OnTrait[QuantizesAtRunTime]):
    """
    Run-time quantization whose integers are used by sums alone: with weights of at most `elements` elements, or plain
    ones of at least `work` multiply-adds; or all, if the target does not have the ops.
    """

    def __init__(self, target: Target, elements: int, work: int):
        self._target, self._elements, self._work = target, elements, work

    def _reads(self, *ops: OnnxOp) -> bool:
        return all(self._target.reads(op.domain, op.op_type) for op in ops)

    def match(self, op: OnnxOp, promise: QuantizesAtRunTime, rewriter: Rewriter, /) -> None:
        if element_of(op.operands[0].type) != f32:
            return
        users = list(dict.fromkeys(use.operation for value in op.results[::2] for use in value.uses))
        whole: list[_Product] = []
        rest: list[_Product] = []
        for user in users:
            product = unblocked(self._product(user, op) if isinstance(user, OnnxOp) else OTHER_READER)
            (whole if self._is_whole(product) else rest).append(product)
        if not users:
            return
        nodes = Nodes(op)
        step, shift, rounded = _quantized(nodes, op.operands[0])
        casts = {
            pads: _cast(nodes, rounded, shift, pads) for pads in dict.fromkeys(p.pads or () for p in whole)
        }
        real = _saturated(nodes, rounded, shift) if rest else rounded
        rewriter.insert_before(op, nodes.ops)
        reads = self._reads(op, *(product.op for product in rest))
        reason = FLOAT_SUMS if reads else UNREAD_SUMS
        for part in () if reads else nodes.ops:
            rewriter.note(part, reason)
        for product in whole:
            _in_integers(product, casts[product.pads or ()], shift, rewriter)
        for product in rest:
            rewriter.note(_in_float(product, real, rewriter, stored=not reads), reason)
        if op.parent is not None:  # else erased with its last user
            rewriter.replace(op, [], [op.results[0], step, op.results[2]])

    def _product(self, user: OnnxOp, quantize: OnnxOp) -> _Product | Blocked:
        """The integer sum that `user` computes of the results of `quantize`, or `Blocked` if it cannot be in float."""
        promise = user.get_trait(IntegerProduct)
        if (
            promise is None
            or user.operands[0] is not quantize.results[0]
            or user.input(2) is not quantize.results[2]
        ):
            return OTHER_READER
        if any(value in quantize.results for value in (user.operands[1], user.input(3))):
            return OTHER_READER
        casts = [use.operation for use in user.results[0].uses]
        conversions = [c for c in casts if isinstance(c, OnnxOp) and c.get_trait(Converts) is not None]
        if len(conversions) < len(casts) or not all(is_float32(c.results[0]) for c in conversions):
            return OTHER_READER
        weight, zero = constant_array(user.operands[1]), user.input(3)
        zeros = np.zeros((), np.int8) if zero is None else constant_array(zero)
        if weight is None or zeros is None:
            return Blocked("computed-parameter", "the weight is computed, or a zero point of it")
        if zeros.ndim > 1:
            if not np.array_equal(np.broadcast_to(zeros, weight.shape), np.zeros(weight.shape)):
                return Blocked("zero-point", "the weight has a zero point for each of several axes")
            zeros = np.zeros((), zeros.dtype)
        axis = LINEAR["", promise.name].output_axis(user, weight.ndim)
        product = _Product(user, promise.name, conversions, weight, zeros, axis)
        reads = self._reads(quantize, user)
        if reads and weight.size > self._elements and not self._is_whole(product):
            return Blocked(
                "large-weight", f"the file would grow by three bytes for each of {weight.size} weights"
            )
        return product

    def _is_whole(self, product: _Product) -> bool:
        """True if a sum is faster on integers of types."""
        if self._target.symmetric_activations:  # no type has these integers
            return False
        return product.is_plain() and product.multiply_adds() >= self._work


def _quantized(nodes: Nodes, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The scale, the zero point and round(x / s), as float32."""
    scalar = tensor_type(f32, ())
    zero, one, most, tiny = (nodes.constant(np.float32(value)) for value in (0, 1, 255, TINY))

    def add(name: str, *inputs: SSAValue) -> SSAValue:
        return nodes.add(name, inputs, x.type if any(v.type == x.type for v in inputs) else scalar)

    low, high = (
        add(bound, nodes.add(reduce, [x], scalar, {"keepdims": int_attr(0)}), zero)
        for bound, reduce in (("Min", "ReduceMin"), ("Max", "ReduceMax"))
    )
    step = add("Max", add("Div", reach := add("Sub", high, low), most), tiny)
    step = add("Where", nodes.add("Equal", [reach, zero], tensor_type(IntegerType(1), ())), one, step)
    shift = add("Round", add("Neg", add("Div", low, step)))
    return step, shift, add("Round", add("Div", x, step))


def _saturated(nodes: Nodes, rounded: SSAValue, shift: SSAValue) -> SSAValue:
    """The integers minus their zero point."""
    bounds = [nodes.constant(np.float32(bound)) for bound in (0, 255)]
    stored = nodes.add("Add", [rounded, shift], rounded.type)
    return nodes.add("Sub", [nodes.add("Clip", [stored, *bounds], stored.type), shift], stored.type)


def _cast(nodes: Nodes, rounded: SSAValue, shift: SSAValue, pads: Pads) -> SSAValue:
    """The integers, with so many zero points around them, as a type."""
    if pads:
        ends = [(0, 0), (0, 0), *pads]
        sizes = shape_of(rounded.type) or (DYNAMIC,) * len(ends)
        padded = [DYNAMIC if n == DYNAMIC else n + sum(more) for n, more in zip(sizes, ends, strict=True)]
        listed = nodes.ints([end[k] for k in (0, 1) for end in ends], "pads")
        rounded = nodes.add("Pad", [rounded, listed], padded)
    return nodes.append(QuantizeOp(nodes.add("Add", [rounded, shift], rounded.type), AS_IS))


def _in_integers(product: _Product, x: SSAValue, shift: SSAValue, rewriter: Rewriter) -> None:
    """The sum on types of scale 1, less what the zero point of the activation adds to it."""
    op, axis, name, stored = product.op, product.axis, wish(product.op.operands[1]), product.stored
    nodes, scales = Nodes(op), np.ones(product.zeros.shape, np.float32)
    type = UniformType.along(
        Storage.of("i8" if stored.dtype == np.int8 else "u8"), axis, scales, product.zeros
    )
    weight = nodes.constant(stored, name=name, type=tensor_type(type, stored.shape))
    result = with_element(op.results[0].type, f32)
    kept = {k: v for k, v in op.onnx_attributes.items() if not (product.pads and k in ("pads", "auto_pad"))}
    sums = nodes.append(op_named("", product.name).build([x, weight], [result], kept))
    others = tuple(k for k in range(stored.ndim) if k != axis)
    channels = product.weight.sum(axis=others, dtype=np.float32)
    if op.get_trait(Window) is not None:
        # of the result's rank: else OpenVINO reorders the result, up to half of the time of a net
        channels = channels.reshape(1, -1, *[1] * (stored.ndim - 2))
    added = nodes.constant(channels, name=f"{name}_sums")
    extra = nodes.add("Mul", [shift, added], tensor_type(f32, channels.shape))
    last = nodes.add("Sub", [sums, extra], result)
    rewriter.insert_before(op, nodes.ops)
    for cast in product.casts:
        rewriter.replace(cast, [], [last])


def _in_float(product: _Product, integers: SSAValue, rewriter: Rewriter, *, stored: bool) -> Operation:
    """The sum as a product of floats. stored: the weight stays integer where i8 holds it, and is dequantized."""
    op, nodes, axis = product.op, Nodes(), product.axis if product.zeros.ndim else None
    less, excess = numerics.less_zero_point(product.stored, product.zeros, axis)
    if stored and not excess.any():
        type = tensor_type(UniformType.per_tensor(Storage.of("i8"), 1.0), less.shape)
        weight = nodes.append(DequantizeOp(nodes.constant(less, name=wish(op.operands[1]), type=type)))
    else:
        weight = nodes.constant(product.weight, name=f"{wish(op.operands[1])}_f32")
    type = with_element(op.results[0].type, f32)
    new = op_named("", product.name).build([integers, weight], [type], op.onnx_attributes)
    new.location = op.location
    rewriter.insert_before(op, [*nodes.ops, new])
    for cast in product.casts:
        rewriter.replace(cast, [], [new.results[0]])  # the last one erases `op`
    return new


@dataclass(frozen=True)
class DecomposeDynamicPass(RewritePass):
    name = "decompose-dynamic"
    exactness = Exactness.CLOSE
    role = Role.DECOMPOSING
    reasons = "computed-parameter float-sums large-weight run-time-scale second-consumer zero-point"
    rewrite = "Cast(sum(DynamicQuantizeLinear(x), w)) -> product(qcast(round(x / s) + z), w) - z * sum(w)"

    target: str = "openvino"
    elements: int = 1 << 20
    """Greatest number of elements of a weight that is written in float32."""
    work: int = 1 << 16
    """Least number of multiply-adds of a sum that is written on integers of types; sizes that are not known are 1."""

    def patterns(self) -> Sequence[Pattern]:
        runtime = target(self.target)
        return [DecomposeDynamic(runtime, self.elements, self.work)] if runtime.float_sums else []
