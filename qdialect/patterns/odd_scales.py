"""
Constant scales of 0 and below, written as positive ones: of casts, and of nodes with scales among their inputs.

A number of scale 0 is 0 whatever integer is stored, and a negative scale turns the order of the integers. No type
expresses either, and sessions that derive the steps of a bias from such scales lose it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i64

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import element_of, onnx_element, shape_of, tensor_type
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import discard
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.numerics.signs import beside_zeros, has_odd, with_positive_scales
from qdialect.ops.generated import op_named
from qdialect.promises.casts import DequantizeForm, QuantizeForm, described_type, quantize_type
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import QOperator, Reading, read_attributes, reading, storage_of
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

MAX_BITS_WITH_ZERO_POINT = 16
"""Widest storage that runtimes dequantize with a zero point other than 0."""


class PositiveScales(OnTrait[DequantizeForm]):
    """DequantizeLinear of a constant under scales of 0, as pruning leaves them, or below, as NNCF writes them."""

    def match(self, op: OnnxOp, promise: DequantizeForm, rewriter: Rewriter, /) -> None:
        stored, scales = constant_array(op.operands[0]), constant_array(op.operands[1])
        if stored is None or scales is None or op.SCHEMA is None or not has_odd(scales):
            return
        scale = constant_op(beside_zeros(scales), wish(op.operands[1]))
        draft = op.build(
            [op.operands[0], scale.results[0], *op.inputs[2:]], op.result_types, op.onnx_attributes
        )
        of = described_type(draft)
        discard([draft])
        if isinstance(of, Blocked):
            return
        under = scales.reshape(of.scales.shape)
        new = with_positive_scales(
            stored, under, of.zero_points, of.storage.low, of.storage.high, of.axis, of.blocks
        )
        inputs, constants = [*op.inputs], [constant_op(new.stored, wish(op.operands[0])), scale]
        if new.zero_points is not None:
            if of.storage.width > MAX_BITS_WITH_ZERO_POINT:
                return
            constants.append(_zero_points(op, new.zero_points.reshape(scales.shape), stored.dtype))
        inputs[: len(constants)] = [one.results[0] for one in constants]
        rewriter.replace(op, [*constants, op.build(inputs, op.result_types, op.onnx_attributes)])


def _zero_points(op: OnnxOp, zeros: Array, dtype: npt.DTypeLike) -> ConstantOp:
    return constant_op(zeros.astype(dtype), f"{wish(op.operands[1]) or 'scale'}_zero_point")


class ZeroOfAnyIntegers(OnTrait[DequantizeForm]):
    """DequantizeLinear of computed integers whose every scale is 0: zeros."""

    def match(self, op: OnnxOp, promise: DequantizeForm, rewriter: Rewriter, /) -> None:
        q, scales = op.operands[0], constant_array(op.operands[1])
        element = onnx_element(op.results[0].type)
        rank = shape_of(q.type)
        if scales is None or element is None or rank is None or constant_array(q) is not None:
            return
        if not scales.size or scales.any():
            return
        nodes = Nodes(op)
        above = q.owner
        of = (
            above.operands[0]
            if isinstance(above, OnnxOp) and above.get_trait(QuantizeForm) is not None
            else q
        )
        shape = nodes.add("Shape", [of], tensor_type(i64, (len(rank),)))
        zero = nodes.constant(np.zeros((), element.dtype))
        nodes.add("Expand", [zero, shape], op.results[0].type)
        rewriter.replace(op, nodes.ops)


class TurnedPair(OnTrait[QuantizeForm]):
    """
    QuantizeLinear under negative scales whose integers are dequantized under the same ones, and nothing else reads.

    Rounding to the nearest is symmetric, so x / -s + z rounds and saturates to low + high - q where x / s rounds to q
    at zero point low + high - z, of the same real number.
    """

    def match(self, op: OnnxOp, promise: QuantizeForm, rewriter: Rewriter, /) -> None:
        scales = constant_array(op.operands[1])
        readers = [use.operation for use in op.results[0].uses]
        if scales is None or op.SCHEMA is None or not (np.isfinite(scales) & (scales < 0)).any():
            return
        casts = [r for r in readers if isinstance(r, OnnxOp) and r.get_trait(DequantizeForm) is not None]
        if len(casts) < len(readers) or not all(_are_alike(op, cast) for cast in casts):
            return
        scale = constant_op(np.abs(scales), wish(op.operands[1]))
        draft = op.build(
            [op.operands[0], scale.results[0], *op.inputs[2:]], op.result_types, op.onnx_attributes
        )
        of = quantize_type(draft)
        discard([draft])
        if isinstance(of, Blocked) or of.blocks or of.storage.width > MAX_BITS_WITH_ZERO_POINT:
            return
        negative = scales.reshape(of.scales.shape) < 0
        turned = np.where(negative, of.storage.low + of.storage.high - of.zero_points, of.zero_points)
        stored = onnx_element(op.results[0].type)
        zero = _zero_points(op, turned.reshape(scales.shape), (stored or of.storage).dtype)
        parameters = [scale.results[0], zero.results[0]]
        new = op.build([op.operands[0], *parameters], op.result_types, op.onnx_attributes)
        rewriter.replace(op, [scale, zero, new], is_same=False)
        for cast in casts:
            again = cast.build([new.results[0], *parameters], cast.result_types, cast.onnx_attributes)
            rewriter.replace(cast, [again])


def _are_alike(one: OnnxOp, other: OnnxOp) -> bool:
    """True if two casts have equal constant parameters, along one axis."""
    if one.int_attr("axis", 1) != other.int_attr("axis", 1) or other.int_attr("block_size", 0):
        return False
    pairs = [(constant_array(one.input(k)), constant_array(other.input(k))) for k in (1, 2)]
    return all(
        (a is None and b is None)
        or (a is not None and b is not None and a.shape == b.shape and (a == b).all())
        for a, b in pairs
    ) and (one.input(2) is None) == (other.input(2) is None)


class PositiveScalesOfNode(OnTrait[QOperator]):
    """A node with scales among its inputs, of a constant operand; its bias counts steps of the weight's scales."""

    def match(self, op: OnnxOp, promise: QOperator, rewriter: Rewriter, /) -> None:
        meaning = reading(op)
        if isinstance(meaning, Blocked):
            return
        new: dict[tuple[int | None, str], Array] = {}
        for place, part in meaning.cells:
            scales = constant_array(meaning.cells[place, part]) if part == "s" and place is not None else None
            if place is not None and scales is not None and has_odd(scales):
                new |= _positive(op, meaning, place, scales)
        if not new:
            return
        inputs, constants = [*op.inputs], list[ConstantOp]()
        for role, array in new.items():
            old = meaning.cells[role]
            constants.append(constant_op(array, None if old is None else wish(old)))
            inputs[meaning.indices[role]] = constants[-1].results[0]
        rewriter.replace(op, [*constants, op.build(inputs, op.result_types, op.onnx_attributes)])


def _positive(op: OnnxOp, meaning: Reading, place: int, scales: Array) -> dict[tuple[int | None, str], Array]:
    """The inputs, by role, that give a constant operand positive scales; none if it is computed, or has no such."""
    cells = meaning.cells
    value, zero = cells.get((place, "v")), cells.get((place, "z"))
    stored, zeros = constant_array(value), constant_array(zero)
    storage = None if value is None else storage_of(element_of(value.type))
    if stored is None or storage is None or (zero is not None and zeros is None):
        return {}
    zeros = np.zeros((), stored.dtype) if zeros is None else zeros
    count, axis = max(scales.size, zeros.size), None
    if count > 1:
        axis = _weight_axis(op, meaning) if place == 1 else None
        if axis is None or max(scales.ndim, zeros.ndim) > 1 or stored.shape[axis] != count:
            return {}
    shape = () if axis is None else (count,)
    under, points = (np.broadcast_to(a.reshape(-1), (count,)).reshape(shape) for a in (scales, zeros))
    repaired = with_positive_scales(stored, under, points.astype(np.int64), storage.low, storage.high, axis)
    new: dict[tuple[int | None, str], Array] = {(place, "v"): repaired.stored}
    new[place, "s"] = repaired.scales.reshape(-1)[: scales.size].reshape(scales.shape)
    if repaired.zero_points is not None:
        if zero is None or zeros.size < count:
            return {}
        new[place, "z"] = repaired.zero_points.astype(zeros.dtype).reshape(zeros.shape)
    if place == 1 and cells.get((2, "v")) is not None and (2, "s") not in cells:
        bias = constant_array(cells[2, "v"])
        if bias is None:
            return {}
        new[2, "v"] = (bias * np.sign(under)).astype(bias.dtype)  # in steps of x_scale * w_scale
    return new


def _weight_axis(op: OnnxOp, meaning: Reading) -> int | None:
    """The axis of output channels of a node's weight."""
    attributes = read_attributes(op, meaning, onnx_opset(op))
    if isinstance(attributes, Blocked):
        return None
    draft = op_named("", meaning.name).build(meaning.operands, op.result_types, attributes)
    linear = draft.get_trait(Linear)
    axis = None if linear is None else linear.weight_axis(draft)
    discard([draft])
    return axis
