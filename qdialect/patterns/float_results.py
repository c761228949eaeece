"""
The pattern that writes a convolution of integers with a float result as the form that costs least.

There are three: float, between casts; ConvInteger and its scale; and a matrix product of the channels, channels last,
of all the pixels under the window side by side (`columns.py`). Which is the fastest hangs on the channels and the
kernel size, so it is looked up in what was measured (`qdialect/targets/pricing.py`).
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, Float32Type, i64
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    element_of,
    quantized_of,
    shape_of,
    storage_element,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import Storage, UniformType
from qdialect.forms.casts import Parameters, stored, wish
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import constant, rank_of, real_constant, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.im2col import SLICES, columns, is_pointwise, shape_of_conv
from qdialect.patterns.sums import LowerToSum
from qdialect.promises.integer import IntegerSum
from qdialect.promises.kernels import MICROSOFT
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.targets import Target
from qdialect.targets.pricing import FLOAT, PACKED, PRODUCT, cheapest, float_kernels

MUCH_FASTER = 0.9
"""The part of the integer form's time that float must not exceed: below that, the costs are not so exact."""


class LowerFloatResult(Pattern):
    """conv(x, w, b) on quantized types with a float result."""

    def __init__(self, target: Target):
        self._target = target
        self._sum = LowerToSum(target.name)
        self._parameters = Parameters()

    def accepts(self, op_class: type[Operation]) -> bool:
        form = op_class.get_trait(IntegerSum)
        return form is not None and form.channel_axis == 1

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        if x is None or w is None or element_of(op.results[0].type) != Float32Type():
            return None
        if not self._target.costs:
            return None
        shape, linear = static_shape(op.operands[1]), op.get_trait(Linear)
        if (
            shape is None
            or linear is None
            or constant(op.operands[1]) is None
            or op.int_attr("group", 1) != 1
        ):
            return Blocked("grouped", "no integer kernel with a float result is faster on groups of channels")
        if x.storage.name != "u8" or not x.is_per_tensor or w.storage.width != 8:
            return Blocked("storage", "an operand is not stored in 8 bits with one scale")
        chosen = self._cheapest(op, shape)
        if chosen in (FLOAT, PACKED):
            return Blocked("float-is-faster", "with these channels the convolution is as fast in float")
        if chosen == PRODUCT:
            return self._product(op, x, w, rewriter)
        _unsigned_weight(op, w, rewriter)
        return self._sum.rewrite(op, rewriter)

    def _cheapest(self, op: OnnxOp, weight: tuple[int, ...]) -> str:
        shape, costs = shape_of_conv(op, weight, symmetric=False), self._target.costs
        found = [name for name in float_kernels(weight) if name in costs]
        if self._product_guard(op) is not None:
            found.remove(PRODUCT)
        floats = [name for name in found if name in (FLOAT, PACKED)]
        integer, least = cheapest(costs, [name for name in found if name not in floats], shape)
        in_float, other = cheapest(costs, floats, shape)
        return in_float if other < MUCH_FASTER * least else integer

    def _product_guard(self, op: OnnxOp) -> Blocked | None:
        rank, bias, w = rank_of(op.operands[0]), op.input(2), quantized_of(op.operands[1].type)
        ranks = {rank, rank_of(op.operands[1]), rank_of(op.results[0])}  # a model may lie about one
        if (
            rank is None
            or len(ranks) > 1
            or op.str_attr("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER")
        ):
            return Blocked("unknown-rank", "the operand's rank is not known")
        if bias is not None and real_constant(bias) is None:
            return Blocked("computed-bias", "the bias is computed at run time")
        if (opset_of(op, "") or 13) < SLICES and not is_pointwise(op):
            return Blocked("opset", f"Slice and Pad take computed bounds from opset {SLICES} on")
        if w is None or not self._target.has_kernel(PRODUCT, ["u8", w.storage.name], "f32"):
            return Blocked("no-kernel", f"{self._target.name} has no {PRODUCT} for this weight")
        return None

    def _product(self, op: OnnxOp, x: UniformType, w: UniformType, rewriter: Rewriter) -> None:
        rank, tensor = rank_of(op.operands[0]), constant(op.operands[1])
        assert rank is not None
        assert tensor is not None
        integers, made = stored(op.operands[0])

        def turned(value: SSAValue, perm: list[int], suffix: str) -> SSAValue:
            old = shape_of(value.type) or (DYNAMIC,) * rank
            type = tensor_type(element_of(value.type) or storage_element(x), tuple(old[p] for p in perm))
            turn = {"perm": DenseArrayBase.from_list(i64, perm)}
            new = op_named("", "Transpose").build([value], [type], turn)
            new.location = location(f"{node_name(op)}_{suffix}")
            made.append(new)
            return new.results[0]

        last = turned(integers, [0, *range(2, rank), 1], "channels_last")
        xs, xz = self._parameters.of(x, op, wish(op.operands[0]))
        beside = columns(op, last, xz, made)
        array = tensor.array()
        rows = array.transpose(*range(2, rank), 1, 0).reshape(-1, array.shape[0])
        matrix = ConstantOp.of(from_array(np.ascontiguousarray(rows)))
        matrix.location = location("", [f"{wish(op.operands[1]) or 'weight'}_matrix"])
        made.append(matrix)
        by_column = w if w.is_per_tensor else w.replace(axis=1)
        ws, wz = self._parameters.of(by_column, op, wish(op.operands[1]))
        inputs: list[SSAValue | None] = [beside, matrix.results[0], xs, ws, xz, wz]
        if (bias := op.input(2)) is not None:
            real = ConstantOp.of(from_array(np.asarray(real_constant(bias), np.float32)))
            real.location = location(
                "", [tensor_name(bias.owner)] if isinstance(bias.owner, Operation) else []
            )
            made.append(real)
            inputs.append(real.results[0])
        shape = shape_of(op.results[0].type) or (DYNAMIC,) * rank
        product = op_named(MICROSOFT, PRODUCT).build(
            inputs, [tensor_type(Float32Type(), (shape[0], *shape[2:], shape[1]))]
        )
        product.location = location(node_name(op))
        made.append(product)
        turned(product.results[0], [0, rank - 1, *range(1, rank - 1)], "channels_first")
        made[-1].location = op.location
        rewriter.replace(op, made)


def _unsigned_weight(op: OnnxOp, w: UniformType, rewriter: Rewriter) -> None:
    """ConvInteger is 13 times faster on u8 weights: the same numbers, the zero point 128 higher."""
    tensor = constant(op.operands[1])
    if tensor is None or not w.storage.signed:
        return
    storage, zero_points = (
        Storage.make(8, False, w.storage.low + 128, w.storage.high + 128),
        w.zero_points + 128,
    )
    if w.axis is None:
        type = UniformType.per_tensor(storage, w.scale, zero_points.item(), w.expressed)
    else:
        type = UniformType.per_axis(storage, w.axis, w.scales, zero_points, w.expressed)
    new = ConstantOp.of(
        from_array(numerics.flip_signedness(tensor.array())), with_element(op.operands[1].type, type)
    )
    new.location = location("", [f"{wish(op.operands[1]) or 'weight'}_u8"])
    rewriter.insert_before(op, [new])
    rewriter.set_operand(op, 1, new.results[0])
