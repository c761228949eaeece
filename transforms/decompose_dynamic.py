"""
Decompose run-time quantization and the integer sums behind it into float32 ops on the same integers.

    q, s, z = DynamicQuantizeLinear(x)  ->  s  = (max(x, 0) - min(x, 0)) / 255     1 for zeros alone
                                            z' = round(-min(x, 0) / s)     in [0, 255]: s is off by 2^-23 of it
                                            q' = clip(round(x / s) + z', 0, 255) - z'
    Cast(sum(q, w, z, wz))              ->  product(q', w - wz)

For targets that convert the operands of such sums in each run and compute in float.

Close: float32 holds every sum up to 2^24; above, it rounds as the cast behind the sum did. Scale and zero
point are those of onnxruntime's kernel, bit for bit, but a range whose step is no normal number, which runtimes may
take for 0, is widened to one whose step is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, tensor_type, with_element
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.promises.arithmetic import Converts, QuantizesAtRunTime
from qdialect.promises.linear import LINEAR, IntegerProduct
from qdialect.reasons import FLOAT_SUMS, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import target

TINY = np.finfo(np.float32).smallest_normal
OTHER_READER = Blocked("second-consumer", "the integers have users other than sums that are cast to float")


class _Product(NamedTuple):
    """A sum of integers whose result is cast to float."""

    op: OnnxOp
    name: str
    """Name of the op on floats."""
    casts: list[OnnxOp]
    weight: Array
    """The weight minus its zero point, float32."""


class DecomposeDynamic(OnTrait[QuantizesAtRunTime]):
    """Run-time quantization whose integers are used by sums alone, with weights of at most `elements` elements."""

    def __init__(self, elements: int):
        self._elements = elements

    def match(self, op: OnnxOp, promise: QuantizesAtRunTime, rewriter: Rewriter, /) -> None:
        if element_of(op.operands[0].type) != f32:
            return
        users = list(dict.fromkeys(use.operation for value in op.results[::2] for use in value.uses))
        products: list[_Product] = []
        for user in users:
            product = unblocked(self._product(user, op) if isinstance(user, OnnxOp) else OTHER_READER)
            products.append(product)
        if not products:
            return
        nodes = Nodes(op)
        step, integers = _quantized(nodes, op.operands[0])
        rewriter.insert_before(op, nodes.ops)
        for product in products:
            rewriter.note(_in_float(product, integers, rewriter), FLOAT_SUMS)
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
        if weight is None or zeros is None or zeros.ndim > 1:
            return Blocked("computed-weight", "the weight is computed, or a zero point of it")
        if weight.size > self._elements:
            return Blocked(
                "large-weight", f"the file would grow by three bytes for each of {weight.size} weights"
            )
        axis = LINEAR["", promise.name].output_axis(user, weight.ndim) if zeros.ndim else None
        return _Product(
            user, promise.name, conversions, numerics.dequantize(weight, np.float32(1), zeros, axis=axis)
        )


def _quantized(nodes: Nodes, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The scale, and the integers minus their zero point, as float32."""
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
    stored = add("Clip", add("Add", add("Round", add("Div", x, step)), shift), zero, most)
    return step, add("Sub", stored, shift)


def _in_float(product: _Product, integers: SSAValue, rewriter: Rewriter) -> Operation:
    op, nodes = product.op, Nodes()
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
    rewrite = (
        "Cast(sum(DynamicQuantizeLinear(x), w)) -> product(clip(round(x / s) + z, 0, 255) - z, w): in float32"
    )

    target: str = "openvino"
    elements: int = 1 << 20
    """Greatest number of elements of a weight that is written in float32."""

    def patterns(self) -> Sequence[Pattern]:
        return [DecomposeDynamic(self.elements)] if target(self.target).float_sums else []
