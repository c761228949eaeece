"""
Write a convolution of activations that are quantized at run time as a matrix product, channels last (im2col).

    q, s, z = quantize_at_run_time(x)
    Cast(ConvInteger(q, w, z, wz)) * (s * c) [+ b]
        ->  transpose(MatMulIntegerToFloat(gathered(transpose(q)), w' : i8, s, c, z, wz', b))

    quantize_at_run_time(e(transpose(x)))  ->  transpose(quantize_at_run_time(e(x)))      e: elementwise ops

The second line applies where such a product reads the result: its transpose then moves bytes, or cancels.

Close: the same sums of integers; scale and bias are applied to them in one kernel instead of three ops. Only if this
takes less time, by the measured costs, than the sum, also with a second quantize to its fastest type.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import known_element, tensor_type, with_element
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import constant_array, is_constant, is_float32, rank_of
from qdialect.kernel_selection.convolution.columns import gathered
from qdialect.kernel_selection.convolution.step import ImageNodes
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.patterns.sums import SCALING_OPS
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.arithmetic import Converts, QuantizesAtRunTime, Scales, along, shift, single_user
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.layout import order_of
from qdialect.promises.linear import IntegerProduct
from qdialect.promises.window import UNRESOLVED_PADS, Geometry, Window
from qdialect.reasons import COMPUTED_WEIGHT, UNKNOWN_RANK, Blocked, required, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets.pricing import (
    MAX_TIME_RATIO,
    PRODUCT,
    QUANTIZE,
    SIGNED,
    SUM,
    cost,
    priced,
    signed_sum_cost,
)

REST = "RunTimeProduct"
"""Key of what the costs of kernels leave out: packing the weight for each image, and leaving the cache."""
FLOAT_BYTES = 4
OTHER_PARAMETERS = Blocked(
    "invalid-parameters", "the zero point or the scale differs from that of the quantize"
)
NO_RESCALE = Blocked(
    "run-time-scale", "no Cast to float32 and product with the scale of the quantize follow the sum"
)


class _Scaling(NamedTuple):
    """The ops behind a sum that apply its scales and its bias."""

    last: OnnxOp
    scale: Array
    """The factor beside the scale of the activation: float32, shape () or (channels,)."""
    bias: Array | None
    """float32 (channels,)."""


class LowerToProduct(OnTrait[IntegerProduct], ForTarget):
    """A convolution that sums products of integers."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        window, x = op.get_trait(Window), op.operands[0]
        source = x.op if isinstance(x, OpResult) else None
        if window is None or not isinstance(source, OnnxOp) or source.get_trait(QuantizesAtRunTime) is None:
            return None
        weight = unblocked(self._weight(op))
        if op.input(2) is not source.results[2]:
            return OTHER_PARAMETERS
        if rank_of(x) is None or rank_of(op.results[0]) is None:
            return UNKNOWN_RANK
        geometry = unblocked(window.geometry(op))
        scaling = unblocked(_scaling(op, promise.channel_axis, source.results[1], len(weight[0])))
        if geometry.pads is None:
            return UNRESOLVED_PADS
        if not self.pays(geometry, biased=scaling.bias is not None):
            return Blocked("does-not-pay", "an integer sum with separate scaling ops takes as long")
        nodes = _product(op, geometry, weight, scaling, source)
        nodes.ops[-1].location = location(node_name(scaling.last), [wish(scaling.last.results[0])])
        rewriter.replace(scaling.last, nodes.ops)
        return None

    def _weight(self, op: OnnxOp) -> tuple[Array, Array] | Blocked:
        """The weight and its zero point as i8."""
        weight, zero = required(constant_array(op.operands[1]), COMPUTED_WEIGHT), op.input(3)
        zeros = np.zeros((), weight.dtype) if zero is None else constant_array(zero)
        if zeros is None or zeros.size != 1:
            return Blocked("zero-point", "the zero point of the weight is computed, or there are several")
        if weight.dtype == np.uint8:
            weight, zeros = numerics.flip_signedness(weight), numerics.flip_signedness(zeros)
        return weight, zeros.reshape(())

    def pays(self, geometry: Geometry, *, biased: bool) -> bool:
        """True if the product takes less time than the faster of two sums, with the ops behind it."""
        costs = self._target.costs
        if geometry.groups > 1 or not {REST, PRODUCT, SUM, SIGNED, QUANTIZE} <= costs.keys():
            return False
        shape, rest = priced(geometry), costs[REST]
        if shape.outputs < rest["least_outputs"]:
            return False
        pixels, taps = shape.images * shape.pixels, shape.inputs * prod(shape.kernel)
        behind = (SCALING_OPS - (not biased)) * pixels * shape.outputs * costs["Elementwise"]["Mul"]
        packed = rest["packed"] * shape.images * taps * shape.outputs
        held = pixels * (taps + FLOAT_BYTES * shape.outputs)
        beyond = rest["beyond"] * max(0, held - rest["cache"])
        now = min(cost(costs, SUM, shape), signed_sum_cost(costs, shape)) + packed + behind
        return cost(costs, PRODUCT, shape) + beyond < MAX_TIME_RATIO * now


def _scaling(op: OnnxOp, axis: int, step: SSAValue, channels: int) -> _Scaling | Blocked:
    """What follows the sum `op`. step: the scale of its activation."""
    rank, cast = rank_of(op.results[0]), single_user(op.results[0])
    if cast is None or cast.get_trait(Converts) is None:
        return NO_RESCALE
    if not is_float32(cast.results[0]):
        return NO_RESCALE
    product = single_user(cast.results[0])
    if product is None or not _multiplies(product):
        return NO_RESCALE
    factor = next((one for one in product.operands if one is not cast.results[0]), cast.results[0])
    scale = _beside(factor, step)
    scale = required(None if scale is None else along(scale, rank, axis), NO_RESCALE)
    added = shift(user := single_user(product.results[0]))
    bias = None if added is None else along(added.constant, rank, axis)
    if user is None or bias is None or bias.dtype != np.float32:
        return _Scaling(product, scale, None)
    return _Scaling(user, scale, np.broadcast_to(bias, (channels,)))


def _multiplies(op: OnnxOp) -> bool:
    promise = op.get_trait(Scales)
    return promise is not None and not promise.inverse


def _beside(factor: SSAValue, step: SSAValue) -> Array | None:
    """The constant that `factor` is the product of with `step`; None if it is not."""
    op = factor.owner
    if not isinstance(op, OnnxOp) or not _multiplies(op) or step not in op.operands:
        return None
    return next(
        (a for a in map(constant_array, op.operands) if a is not None and a.dtype == np.float32), None
    )


def _product(
    op: OnnxOp, geometry: Geometry, weight: tuple[Array, Array], scaling: _Scaling, source: OnnxOp
) -> ImageNodes:
    """The operations, the last of which defines the scaled result."""
    array, zero = weight
    nodes, name = ImageNodes(op), wish(op.operands[1]) or "weight"
    columns = gathered(nodes, nodes.channels_last(op.operands[0]), geometry, source.results[2])
    rows = array.transpose(*range(2, array.ndim), 1, 0).reshape(-1, array.shape[0])
    zeros = zero if not scaling.scale.ndim else np.broadcast_to(zero, scaling.scale.shape)
    inputs: list[SSAValue | None] = [
        columns,
        nodes.constant(np.ascontiguousarray(rows), name=f"{name}_matrix"),
        source.results[1],
        nodes.constant(scaling.scale, name=f"{name}_scale"),
        source.results[2],
        nodes.constant(zeros.copy(), name=f"{name}_zero_point"),
    ]
    if scaling.bias is not None:
        inputs.append(nodes.constant(scaling.bias.copy(), name=f"{name}_bias"))
    type = tensor_type(Float32Type(), (geometry.images, *geometry.results, geometry.outputs))
    node = op_named(MICROSOFT, PRODUCT).build(inputs, [type])
    node.location = location(node_name(op))
    nodes.ops.append(node)
    nodes.channels_first(node.results[0])
    return nodes


class HoistAtRunTime(OnTrait[QuantizesAtRunTime]):
    """A quantize of elements that were moved, and that one of its users moves back."""

    def match(self, op: OnnxOp, promise: QuantizesAtRunTime, rewriter: Rewriter, /) -> Blocked | None:
        chain, moved = _above(op.operands[0])
        order = order_of(moved)
        back = [one for use in op.results[0].uses if (one := order_of(use.operation)) is not None]
        if moved is None or order is None or not any([order[k] for k in one] == sorted(one) for one in back):
            return None
        nodes, x = Nodes(op), moved.operands[0]
        for one in reversed(chain):
            inputs = [operand if is_constant(operand) else x for operand in one.operands]
            copy = one.__class__.build(inputs, [x.type], one.onnx_attributes)
            copy.location = one.location
            x = nodes.append(copy)
        types = [with_element(x.type, known_element(op.results[0].type)), *op.result_types[1:]]
        quantize = op.__class__.build([x], types, op.onnx_attributes)
        quantize.location = op.location
        first = nodes.append(quantize)
        rewriter.replace(op, nodes.ops, [nodes.transpose(first, order), *quantize.results[1:]])
        return None


def _above(value: SSAValue) -> tuple[list[OnnxOp], OnnxOp | None]:
    """The chain of elementwise ops that ends in `value`, last first, each with one user; and the op in front of it."""
    chain: list[OnnxOp] = []
    while isinstance(value, OpResult) and isinstance(value.op, OnnxOp) and value.has_one_use():
        if value.op.get_trait(Elementwise) is None:
            return chain, value.op
        read = [operand for operand in value.op.operands if not is_constant(operand)]
        if len(read) != 1 or read[0].type != value.type or any(_is_list(o) for o in value.op.operands):
            break
        chain.append(value.op)
        value = read[0]
    return chain, None


def _is_list(value: SSAValue) -> bool:
    """True for a constant of several elements."""
    array = constant_array(value)
    return array is not None and array.size > 1


class LowerToProductPass(TargetPass):
    name = "lower-to-product"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = "computed-parameter does-not-pay invalid-parameters run-time-scale unknown-shape zero-point"
    rewrite = (
        "Cast(ConvInteger(q, w, z, wz)) * (s * c) + b -> MatMulIntegerToFloat(gathered(q), w, s, c, z, wz, b)"
    )

    def patterns(self) -> Sequence[Pattern]:
        if not self.runtime.has_kernel(PRODUCT, ["u8", "i8"], "f32"):
            return []
        return [LowerToProduct(self.runtime), HoistAtRunTime()]
