"""A linear op as an integer sum with its scales written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    BY_NUMPY,
    DYNAMIC,
    element_of,
    quantized_of,
    shape_of,
    tensor_type,
    with_element,
)
from qdialect.dialects.quant import QuantizeOp, UniformType
from qdialect.forms.casts import Parameters, stored, wish
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, rank_of, real_constant
from qdialect.ops.generated import op_named
from qdialect.promises.integer import IntegerSum
from qdialect.promises.linear import Linear, bias_matches
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.targets import target

FLOAT = Float32Type()


INT32 = BY_NUMPY["int32"].attribute


class LowerToSum(Pattern):
    """A linear op whose operands are quantized."""

    def __init__(self, target_name: str):
        self._target = target(target_name)
        self._parameters = Parameters()

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(IntegerSum) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        if x is None or w is None:
            return None
        form = op.get_trait(IntegerSum)
        assert form is not None
        if (blocked := form.guard(op) or self._guard(op, form, x, w)) is not None:
            return blocked
        self._build(op, form, x, w, rewriter)
        return None

    def _guard(self, op: OnnxOp, form: IntegerSum, x: UniformType, w: UniformType) -> Blocked | None:
        linear = op.get_trait(Linear)
        assert linear is not None
        if not isinstance(x.expressed, Float32Type):
            return Blocked("expressed-type", f"the scales are in {x.expressed}, not in f32")
        if not x.is_per_tensor or w.blocks or (w.axis is not None and w.axis != linear.weight_axis(op)):
            return Blocked("per-axis", "the activation has more than one scale")
        if _wants_one_zero_point(op, form) and np.unique(w.zero_points).size > 1:
            return Blocked("weight-zero-points", "the channels of the weight have different zero points")
        bias = op.input(2)
        if bias is not None:
            b = quantized_of(bias.type)
            if b is not None and not bias_matches(x, w, b):
                return Blocked(
                    "float-bias", "the bias is not int32 in steps of x_scale * w_scale", "run rescale-bias"
                )
        if rank_of(op.results[0]) is None:
            return Blocked("unknown-rank", "the result's rank is not known")
        if not self._target.has_kernel(form.op_type, [x.storage.name, w.storage.name], "i32"):
            names = f"{x.storage.name}, {w.storage.name}"
            return Blocked("no-kernel", f"{self._target.name} has no {form.op_type} for {names}")
        return None

    def _build(
        self, op: OnnxOp, form: IntegerSum, x: UniformType, w: UniformType, rewriter: Rewriter
    ) -> None:
        ops: list[Operation] = []

        def add(new: OnnxOp, name: str = "") -> SSAValue:
            new.location = location(f"{node_name(op)}_{name}" if name else node_name(op))
            ops.append(new)
            return new.results[0]

        integers: list[SSAValue] = []
        for operand in op.operands[:2]:
            plain, reads = stored(operand)
            ops.extend(reads)
            integers.append(plain)
        if form.turned(op):
            integers[1] = _turned(integers[1], ops)
        zero_x = self._parameters.of(x, op, wish(op.operands[0]))[1]
        single = w if w.is_per_tensor or not _wants_one_zero_point(op, form) else _one_zero_point(w)
        zero_w = self._parameters.of(single, op, wish(op.operands[1]))[1]
        shape = op.results[0].type
        inputs = [*integers, zero_x, zero_w]
        value = add(
            op_named("", form.op_type).build(inputs, [with_element(shape, INT32)], form.attributes(op))
        )
        bias = op.input(2)
        if bias is not None and quantized_of(bias.type) is not None:
            plain, reads = stored(bias)
            ops.extend(reads)
            shaped = self._per_channel(op, plain, form, ops, add)
            value = add(op_named("", "Add").build([value, shaped], [with_element(shape, INT32)]), "bias")
        cast = op_named("", "Cast").build([value], [with_element(shape, FLOAT)], {"to": int_attr(1)})
        value = add(cast, "cast")
        scale = numerics.bias_scale(x.scales, w.scales)
        factor = ConstantOp.of(from_array(_beside_channels(op, scale, form)))
        factor.location = location("", [f"{wish(op.operands[1]) or 'weight'}_product_scale"])
        ops.append(factor)
        value = add(
            op_named("", "Mul").build([value, factor.results[0]], [with_element(shape, FLOAT)]), "scale"
        )
        if bias is not None and quantized_of(bias.type) is None:
            shaped = self._per_channel(op, bias, form, ops, add)
            value = add(op_named("", "Add").build([value, shaped], [with_element(shape, FLOAT)]), "bias")
        result = quantized_of(shape)
        if result is not None:
            ops.append(QuantizeOp(value, result))
        rewriter.replace(op, ops)

    def _per_channel(
        self, op: OnnxOp, bias: SSAValue, form: IntegerSum, ops: list[Operation], add: Any
    ) -> SSAValue:
        """A bias of one value per channel, shaped to broadcast along the channels."""
        if form.channel_axis == -1:
            return bias
        rank, sizes = rank_of(op.results[0]), shape_of(bias.type)
        assert rank is not None
        if (known := real_constant(bias)) is not None:
            return _instead(bias, known.reshape(1, -1, *[1] * (rank - 2)), ops)
        shape = add(ConstantOp.of(from_array(np.array([1, -1, *[1] * (rank - 2)], np.int64))), "bias_shape")
        type = tensor_type(
            element_of(bias.type) or INT32, (1, sizes[-1] if sizes else DYNAMIC, *[1] * (rank - 2))
        )
        return add(op_named("", "Reshape").build([bias, shape], [type]), "bias_reshape")


def _turned(weight: SSAValue, ops: list[Operation]) -> SSAValue:
    """A constant matrix, transposed."""
    tensor = constant(weight)
    assert tensor is not None
    return _instead(weight, np.ascontiguousarray(tensor.array().T), ops)


def _instead(old: SSAValue, array: npt.NDArray[Any], ops: list[Operation]) -> SSAValue:
    """A constant of the same name; the old one goes if it is one of `ops`."""
    new = ConstantOp.of(from_array(array))
    new.location = location("", [wish(old)])
    if old.owner in ops:
        ops.remove(old.owner)  # pyright: ignore[reportArgumentType]
        old.owner.erase()
    ops.append(new)
    return new.results[0]


def _wants_one_zero_point(op: OnnxOp, form: IntegerSum) -> bool:
    """Whether the weight may not have a zero point for each channel: nor may several matrices."""
    return form.one_zero_point or rank_of(op.operands[1]) != 2


def _one_zero_point(w: UniformType) -> UniformType:
    return UniformType.per_tensor(
        w.storage, float(w.scales.reshape(-1)[0]), int(w.zero_points.reshape(-1)[0])
    )


def _beside_channels(op: OnnxOp, scale: np.ndarray[Any, Any], form: IntegerSum) -> np.ndarray[Any, Any]:
    rank = rank_of(op.results[0])
    if scale.ndim == 0 or form.channel_axis == -1 or rank is None:
        return scale
    return scale.reshape(1, -1, *[1] * (rank - 2))
