"""
Legality of a lowered model on its target: what its runtime cannot read, and other violations of the rules in its file.

Violations that a pass can fix exactly have been fixed before; those found here need the user: another calibration,
`--exactness lossy`, or a change to the model. What the runtime refuses keeps the whole model from being loaded; other
violations cost time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import OpTrait

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, FunctionOp, OnnxOp, YieldOp, onnx_opset
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.values import constant_array
from qdialect.numerics import Array
from qdialect.promises.base import Commutes
from qdialect.promises.casts import RUN_TIME, DequantizeForm, QuantizeForm, dequantize_type
from qdialect.promises.copies import Copies
from qdialect.promises.elementwise import Joins
from qdialect.promises.linear import LINEAR, WRONG_AXIS, Linear, bias_matches
from qdialect.promises.qoperator import QOperator, reading, storage_of
from qdialect.promises.window import Window
from qdialect.promises.work import SumsProducts
from qdialect.reasons import ACTIVATION_PER_AXIS, SCALE_VALUE, Blocked
from qdialect.targets import Target
from qdialect.targets.reading import NOT_THERE, Reader

U8_MAX, INT16_MAX = 255, 2**15 - 1
"""The largest u8, and the largest int16, a sum of two products."""
MOVED_TYPES = ("u8", "i8", "u16", "i16")
"""Storage types for which ops that move or select have integer kernels on some target."""


class Breach(NamedTuple):
    """A node of a lowered module that violates a rule of its target."""

    op: OnnxOp
    blocked: Blocked
    is_read: bool
    """False if the runtime refuses the node, and the model with it."""


def breaches(module: ModuleOp, target: Target) -> list[Breach]:
    """The nodes of a lowered module that violate a rule of `target`, each with the rule, in the order of the graph."""
    found: list[Breach] = []
    reader = Reader(module, target)
    for op in module.walk():
        if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp | FunctionOp | YieldOp):
            refused = [*reader.refusals(op)]
            rules = [] if any(one.id == NOT_THERE for one in refused) else _of_node(op, target)
            found += (Breach(op, blocked, False) for blocked in refused)
            found += (Breach(op, blocked, blocked.id not in target.refuses) for blocked in rules)
    return found


def unread_factor(op: OnnxOp, refused: Mapping[OnnxOp, Blocked]) -> Blocked | None:
    """
    The reason why the runtime does not read a product of a lowered module: the op itself, a cast of what it multiplies,
    or the cast in front of that one, behind moves or not; None if it reads all.
    """
    if op in refused:
        return refused[op]
    work = op.get_trait(SumsProducts)
    waiting = [
        v for place in (work.factors if work is not None else ()) if (v := op.input(place)) is not None
    ]
    while waiting:
        above = waiting.pop().owner
        if not isinstance(above, OnnxOp):
            continue
        if (moves := above.get_trait(Commutes)) is not None:
            waiting += moves.operand_values(above)
        elif above.get_trait(DequantizeForm) is not None or above.get_trait(QuantizeForm) is not None:
            if above in refused:
                return refused[above]
            waiting += [above.operands[0]] if above.get_trait(DequantizeForm) is not None else []
    return None


def in_float(op: OnnxOp, target: Target) -> Blocked | None:
    """Reason why the target computes a product between pairs in float; None if it does not, and for other ops."""
    linear = op.get_trait(Linear)
    types = [quantized_of(value.type) for value in op.operands[:2]]
    if linear is None or len(types) < 2 or types[0] is None or types[1] is None:
        return None
    x, w, name = types[0], types[1], target.name
    if max(x.storage.width, w.storage.width) > U8_MAX.bit_length():
        return Blocked("no-kernel", f"{name} computes pairs of 16 bits in float", "quantize in 8 bits")
    if w.blocks and target.float_blocks:
        return Blocked(
            "block-size",
            f"{name} computes products with a weight in blocks in float",
            "quantize the weight with one scale for each output channel",
        )
    if isinstance(op.operands[1].owner, ConstantOp):
        if is_refused(op, linear, x, target):
            return ACTIVATION_PER_AXIS
        if target.symmetric_weights and w.zero_points.any():
            return Blocked(
                "zero-point",
                f"{name} requires zero point 0 for weights",
                "quantize the model symmetrically",
            )
    elif target.symmetric_pairs and (x.zero_points.any() or w.zero_points.any()):
        return Blocked(
            "zero-point",
            f"{name} requires zero point 0 for a product of two activations",
            "quantize activations symmetrically",
        )
    window = op.get_trait(Window)
    if window is None:
        return None
    if target.symmetric_spreads and not window.gathers and x.zero_points.any():
        return Blocked(
            "zero-point",
            f"{name} requires zero point 0 for the input of a transposed convolution",
            "quantize its input symmetrically",
        )
    if target.per_tensor_windows and not (
        x.is_per_tensor or linear.is_depthwise(op, op.int_attr("group", 1))
    ):
        return ACTIVATION_PER_AXIS
    return None


def is_refused(op: OnnxOp, linear: Linear, x: UniformType, target: Target) -> bool:
    """True if the target does not load the product of an activation of type `x` and a constant i8 weight."""
    if not target.refuses_shared_zero_points or x.is_per_tensor or op.get_trait(Window) is not None:
        return False
    axes, shared = linear.summed_axes(op), np.unique(x.zero_points)
    return axes is not None and x.axis != axes[0] and shared.size == 1 and bool(shared.any())


def _of_node(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    if op.get_trait(QuantizeForm) is not None:
        yield from _of_quantize(op, target)
    elif op.get_trait(DequantizeForm) is not None:
        yield from _of_dequantize(op, target)
    elif (linear := op.get_trait(Linear)) is not None and target.form == "qdq":
        yield from _of_linear(op, linear, target)
    elif op.get_trait(Joins) is not None and target.own_pairs:
        yield from _of_join(op, target)
    elif target.kernels:
        yield from _of_kernel(op, target)


def _of_quantize(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    if isinstance(op.operands[0].owner, ConstantOp):
        yield Blocked("constant-quantize", "a constant is quantized at run time")
    users = [use.operation for use in op.results[0].uses]
    if target.whole_pairs and any(u.get_trait(DequantizeForm) is None for u in users):
        if any(isinstance(u, ReturnOp) for u in users):
            yield Blocked("integer-interface", "a graph output is integer", "dequantize the output")
        else:
            yield Blocked("lone-cast", "an op other than a DequantizeLinear reads its integers")
    yield from _of_parameters(op, op.results[0], target)


def _of_dequantize(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    source = op.operands[0].owner
    if isinstance(source, OnnxOp) and source.get_trait(QuantizeForm) is not None:
        if list(source.operands[1:]) != list(op.operands[1:]):
            yield from _of_parameters(op, op.operands[0], target)
        return
    constant = isinstance(source, ConstantOp)
    if target.whole_pairs and not constant:
        if isinstance(source, Block):
            yield Blocked("integer-interface", "a graph input is integer", "let the model quantize its input")
        else:
            yield Blocked("lone-cast", "an op other than a QuantizeLinear makes its integers")
    weight = constant and _is_weight_of_linear(op)
    yield from _of_parameters(op, op.operands[0], target, constant=constant, weight=weight)


def _of_parameters(
    op: OnnxOp, stored: SSAValue, target: Target, *, constant: bool = False, weight: bool = False
) -> Iterator[Blocked]:
    """The rules on scales, zero points and storage that a cast breaks, of each kind."""
    zero_points, scales = (None if v is None else constant_array(v) for v in (op.input(2), op.operands[1]))
    name = _stored_name(stored)
    other_storage = name is not None and name not in (target.storage_types or (name,))
    is_worse = other_storage and {"storage-type", "zero-point"} & {*target.refuses} == {"storage-type"}
    is_symmetric = target.symmetric_weights if weight else target.symmetric_activations
    if is_symmetric and not is_worse and _has_zero_point(zero_points):
        yield Blocked(
            "zero-point",
            f"{target.name} wants the zero point {'of a weight ' if weight else ''}to be 0",
            "quantize the model symmetrically",
        )
    elif other_storage:
        yield Blocked(
            "storage-type",
            f"{target.name} reads {', '.join(target.storage_types)}, not {name}",
            "quantize the model to what it reads",
        )
    if RUN_TIME.id in target.refuses and (
        scales is None or (op.input(2) is not None and zero_points is None)
    ):
        yield RUN_TIME
    if scales is None:
        return
    if SCALE_VALUE.id in target.refuses and not _all_positive(scales):
        yield SCALE_VALUE
    if target.weight_scales_only and not constant and (scales.size > 1 or op.int_attr("block_size", 0)):
        yield ACTIVATION_PER_AXIS


def _has_zero_point(zero_points: Array | None) -> bool:
    """True if a zero point is not 0; floats of 8 bits compare as float32."""
    return zero_points is not None and bool(zero_points.astype(np.float32).any())


def _all_positive(scales: Array) -> bool:
    """True if every scale is finite and greater than zero."""
    reals = scales.astype(np.float32)
    return bool((np.isfinite(reals) & (reals > 0)).all())


def _stored_name(value: SSAValue) -> str | None:
    """Name of a storage type, `i8`, or as ONNX spells it for floats; None if it is unknown."""
    element = element_of(value.type)
    storage = storage_of(element)
    known = None if element is None else BY_ATTRIBUTE.get(element)
    return storage.name if storage is not None else None if known is None else known.spelling


def _of_linear(op: OnnxOp, linear: Linear, target: Target) -> Iterator[Blocked]:
    x, w = (
        _dequantized(_before_moves(op.operands[0], target)),
        _dequantized(_before_copy(op.operands[1], target)),
    )
    if (x is None) != (w is None):
        which = "activation" if x is None else "weight"
        yield Blocked("float-operand", f"the {which} is float, so the op computes in float", "quantize both")
    if w is None and _behind_weight(op.operands[1]):
        yield Blocked("moved-weight", "an op stands between the weight's DequantizeLinear and its consumer")
    if isinstance(w, UniformType) and w.axis is not None and w.axis != linear.weight_axis(op):
        yield WRONG_AXIS
    narrow = _dequantized(op.operands[1])
    if isinstance(narrow, UniformType) and narrow.storage.width < U8_MAX.bit_length():
        if target.few_bits and op.op_type not in target.few_bits:
            yield Blocked(
                "storage-type",
                f"{target.name} takes weights of {narrow.storage.width} bits only in {', '.join(target.few_bits)}",
                "quantize its weight in 8 bits",
            )
    bias = op.input(2) if linear.has_bias else None
    b = None if bias is None else _dequantized(bias)
    if b is None:
        return
    if target.bias == "float":
        yield Blocked("quantized-bias", f"{target.name} adds biases in float", "quantize no bias")
    elif target.bias == "i32" and not _matches(x, w, b):
        yield Blocked("bias-scale", "the bias is not in steps of x_scale * w_scale", "leave it in float")


def _matches(*types: UniformType | Blocked | None) -> bool:
    """True if the bias, the last type, is in steps of x_scale * w_scale, or if a type is `Blocked`."""
    x, w, b = types
    if isinstance(x, Blocked) or isinstance(w, Blocked) or isinstance(b, Blocked):
        return True
    return x is not None and w is not None and b is not None and bias_matches(x, w, b)


def _of_join(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    computed = [v for v in op.operands if not _is_weight(v)]
    if len(computed) < 2:
        return
    casts = [v for v in computed if _is_made_by(v, DequantizeForm)]
    for value in casts:
        pair = value.owner.operands[0] if isinstance(value.owner, Operation) else value
        if _is_made_by(pair, QuantizeForm) and not (value.has_one_use() and pair.has_one_use()):
            yield Blocked("shared-pair", "the operand shares its casts with other consumers")
    for value in computed:
        quantized = any(use.operation.get_trait(QuantizeForm) is not None for use in value.uses)
        if casts and not _is_made_by(value, DequantizeForm) and quantized:
            yield Blocked(
                "float-operand",
                "a branch is float, but another consumer quantizes it",
                "use --exactness lossy",
            )


def _of_kernel(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    if op.op_type in target.kernels and op.get_trait(QOperator) is not None:
        yield from _of_signature(op, target)
    elif op.listed in target.storage and op.results:
        name = _name(op.results[0])
        if name in MOVED_TYPES and not target.runs_on_storage(op.listed, name, onnx_opset(op)):
            yield Blocked("no-kernel", f"{target.name} has no {op.op_type} on {name} in this opset")


def _of_signature(op: OnnxOp, target: Target) -> Iterator[Blocked]:
    read = reading(op)
    if isinstance(read, Blocked):
        return
    scaled = {place for place, part in read.cells if part == "s" and place is not None}
    operands = [v for k, v in enumerate(read.operands) if k in scaled]
    names = [None if v is None else _name(v) for v in operands]
    result = _name(op.results[0])
    if result is None or None in names:
        return  # unknown type
    types = [n for n in names if n is not None]
    if not target.has_kernel(op.op_type, types, result):
        yield Blocked("no-kernel", f"{target.name} has no {op.op_type} for {', '.join(types)} -> {result}")
    elif target.activations not in (None, types[0]):
        message = f"{op.op_type} is made for {target.activations}, not for {types[0]}"
        yield Blocked("slow-kernel", message, f"quantize activations in {target.activations}")
    elif target.largest_weight is not None and _may_saturate(op, operands, read.name):
        yield Blocked(
            "may-saturate",
            f"the sum of two products with the weight may exceed 16 bits, in which {target.name} computes it",
            f"quantize the float model again for {target.name}",
        )


def _may_saturate(op: OnnxOp, operands: Sequence[SSAValue | None], name: str) -> bool:
    """True if a linear op's 8-bit operands can overflow an int16 sum of two products."""
    linear = LINEAR.get(("", name))
    weight = constant_array(operands[1]) if linear is not None and len(operands) > 1 else None
    if linear is None or weight is None or weight.dtype != np.int8 or weight.ndim == 0:
        return False  # u8 weights are widened first
    axis = linear.output_axis(op, weight.ndim)
    return axis >= 0 and numerics.largest_pair_sum(weight, U8_MAX, axis) > INT16_MAX


def _is_weight_of_linear(op: OnnxOp) -> bool:
    """True if a linear op takes the result as its weight."""
    return any(u.operation.get_trait(Linear) is not None and u.index == 1 for u in op.results[0].uses)


def _is_made_by(value: SSAValue, trait: type[OpTrait]) -> bool:
    """True if an op with `trait` defines the value."""
    return isinstance(value.owner, Operation) and value.owner.get_trait(trait) is not None


def _dequantized(value: SSAValue) -> UniformType | Blocked | None:
    """The type that the value is dequantized from, or `Blocked` if no type expresses it; None if it is float."""
    if not isinstance(value.owner, OnnxOp) or value.owner.get_trait(DequantizeForm) is None:
        return None
    return dequantize_type(value.owner)


def _before_moves(value: SSAValue, target: Target) -> SSAValue:
    """
    The value before the ops that only move its elements: integers of graph inputs need no pair behind those, nor do
    values behind ops past which the target moves casts.
    """
    while isinstance(value.owner, OnnxOp) and (promise := value.owner.get_trait(Commutes)) is not None:
        alone = not promise.selects and len(promise.operands(value.owner)) == 1
        if not alone and value.owner.op_type not in target.no_pair_behind:
            break
        value = value.owner.operands[0]
    return value


def _before_copy(value: SSAValue, target: Target) -> SSAValue:
    """The operand of a copy that hides a cast from onnxruntime, if the target looks through copies; else `value`."""
    copy = value.owner
    if not target.no_pair_behind or not isinstance(copy, OnnxOp) or len(copy.operands) != 1:
        return value
    promise = copy.get_trait(Copies)
    return value if promise is None or promise.place(copy) != 0 else copy.operands[0]


def _is_weight(value: SSAValue) -> bool:
    """True if the value is a constant, or dequantized from one."""
    source = value.owner.operands[0] if _is_made_by(value, DequantizeForm) else value  # pyright: ignore
    return isinstance(source.owner, ConstantOp)


def _behind_weight(value: SSAValue) -> bool:
    """True if the value is a dequantized constant, moved by an op."""
    owner = value.owner
    if not isinstance(owner, OnnxOp) or owner.get_trait(Commutes) is None:
        return False
    source = owner.operands[0]
    return _is_made_by(source, DequantizeForm) and _is_weight(source)


def _name(value: SSAValue) -> str | None:
    """Name of the element type, `u8`, `f32` and so on; None for types without kernels and unknown ones."""
    element = element_of(value.type)
    if isinstance(element, Float32Type):
        return "f32"
    storage = storage_of(element)
    return None if storage is None else storage.name
