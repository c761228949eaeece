"""
Guards against onnxruntime's fusions that fail, are wrong or are slower: a Sum of one operand blocks them.

A session of onnxruntime fuses an op between casts of one integer type into the op's integer kernel. A Sum of one
operand is the identity and hides a cast from the op. It is inserted in these cases (onnxruntime 1.31, 1.32: measured):

- the fusion ignores scales, but kernels take one scale only, except for the weight of a convolution or product, and
  the model is rejected. An 8-bit product is fused regardless of its users; it does not run if the left operand has
  several scales, or the right one scales along another axis than the columns of one matrix;
- a kernel is wrong at some scales or windows, or costs more than the float kernel with its casts;
- a second quantize, behind the first and a dequantize, is merged with the first, in steps of the common range;
- a scale that is zero, negative or not finite is taken for a positive one: clamps are dropped, kernels wrong or fail;
- a Clip is dropped if a quantize implies it but for `CLIP_ERROR`, in steps of small scales a large error;
- in front of a quantize to 2 or 4 bits a Relu is dropped, and a Clip refused; so are MaxPool, ReduceMax and ReduceMin
  behind such casts;
- the float weight of an op between casts, written or moved there, is quantized, in each run if no kernel takes both;
- a float bias that int32 does not hold in steps of x_scale * w_scale is clipped, and rounded where they are coarse;
  in a float16 model, one that float16 does not hold in these steps, whose largest number is 65504;
- a product with a weight of bytes, whose activation is dequantized in front of moves past which no cast is moved,
  becomes a MatMulNBits that rounds the activation again; not with a transposed weight, nor in front of a quantize.

Before it fuses, a session makes signed bytes unsigned and drops clamps that the quantize implies, so neither signedness
nor a clamp separates an op from its quantize. The target's file lists pairs of float ops that a session fuses, and
unfused equivalents of the first.
"""
# Around the driver: the casts are written and no op changes its type: a Sum of one operand is inserted between.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_types import onnx_element, shape_of
from qdialect.dialects.quant import BYTE_BITS, UniformType
from qdialect.forms.identical import Spelled
from qdialect.forms.table import form_of
from qdialect.ir.names import location, wish
from qdialect.ir.place import insert_before, remove
from qdialect.ir.values import constant, is_constant, rank_of
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.patterns.float_kernels import is_faster_in_float
from qdialect.patterns.fused_biases import are_of_one_type, biased, is_bytes, loses_bias
from qdialect.promises.base import Commutes
from qdialect.promises.casts import (
    DequantizeForm,
    QuantizeForm,
    dequantize_type,
    quantize_type,
    written_dequantize,
)
from qdialect.promises.clamping import Clamp, are_alike
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.promises.weight_only import WeightOnly
from qdialect.reasons import SCALE_VALUE, Blocked
from qdialect.targets import Target, target

SESSION = "onnxruntime"
"""The target whose sessions these are: models for other targets may be loaded by onnxruntime, too."""
CLIP_ERROR = 2.0**-23
"""How far, in reals, a Clip may reach into the range of a quantize for which a session drops it."""


def brought_dequantize(value: SSAValue) -> OnnxOp | None:
    """The DequantizeLinear that stands in front of the users of `value`, or that a session moves there."""
    while isinstance(op := value.owner, OnnxOp) and op.op_type in target(SESSION).moved_past:
        value = op.operands[0]
    return written_dequantize(value)


def keep_unfused(module: ModuleOp, target: Target) -> None:
    """
    Insert a Sum between an op and a cast if its integer kernel does not take all of the scales or is slower; and
    replace ops that, by the file of `target`, are fused with the op below, or are slower than an equivalent.
    """
    for op in operations(module):
        if not isinstance(op, OnnxOp):
            continue
        if op.get_trait(QuantizeForm) is not None:
            _part_behind(op, target)
        elif spelled := target.unfused.get(op.op_type):
            _spell(op, spelled)
        elif op.op_type in target.spelled:
            _spell_out(op)
        elif (place := _refused_product(op)) is not None:
            part(op, place)
        elif _is_rounded(op):
            part(op, 1)
        elif _selects_among_narrow(op):
            part(op, 0)


def summed(value: SSAValue, name: str = "") -> OnnxOp:
    """A Sum with the single operand `value`, named `name`, which blocks a session's fusions; not inserted yet."""
    name = name or wish(value)
    copy = op_named("", "Sum").build([value], [value.type])
    copy.location = location(f"{name}_Sum", [f"{name}_sum"])
    return copy


def part(op: OnnxOp, place: int) -> None:
    """Insert a Sum in front of operand `place` of `op`."""
    copy = summed(op.operands[place])
    insert_before(op, copy)
    op.operands[place] = copy.results[0]


def _part_behind(quantize: OnnxOp, target: Target) -> None:
    if _is_odd(quantize) or _is_merged(quantize) or _loses_clamp(quantize):
        part(quantize, 0)
        return
    op = _fused_with(quantize)
    kernels = None if op is None else op.get_trait(Kernels)
    casts = [] if op is None else _casts(op)
    is_odd = any(dequantize_type(cast) == SCALE_VALUE for cast in casts)
    is_rounded = (target.kernels and _is_quantized_again(quantize)) or (
        op is not None and loses_bias(op, quantize)
    )
    if is_odd or is_rounded:
        _part_from(quantize)
    elif op is not None and kernels is not None and casts:
        _part_kernel(quantize, op, kernels, casts, target)


def _is_odd(quantize: OnnxOp) -> bool:
    """True if a session would take a scale of `quantize` for a positive one as it fuses it with the op in front."""
    return quantize_type(quantize) == SCALE_VALUE and isinstance(quantize.operands[0].owner, OnnxOp)


def _is_merged(quantize: OnnxOp) -> bool:
    """True if a session would merge `quantize` with one of another type above, which is dequantized for it alone."""
    cast = written_dequantize(quantize.operands[0])
    users = [use.operation for use in quantize.results[0].uses]
    first = None if cast is None else cast.operands[0].owner
    if cast is None or not isinstance(first, OnnxOp) or first.get_trait(QuantizeForm) is None:
        return False
    alone = cast.operands[0].has_one_use() and cast.results[0].has_one_use()
    if not alone or not users or any(user.get_trait(DequantizeForm) is None for user in users):
        return False
    a, b = quantize_type(first), quantize_type(quantize)
    if isinstance(a, Blocked) or isinstance(b, Blocked):
        return a == SCALE_VALUE
    return a.is_per_tensor and b.is_per_tensor and not are_alike(a, b)


def _loses_clamp(quantize: OnnxOp) -> bool:
    """
    True if a session would drop a clamp in front of a quantize that does not imply it, or refuse the model.

    It moves the quantize in front of ops that move elements. If that gives less than 8 bits, it drops a Relu, and
    refuses a Clip or an op that selects elements, for which it has no kernel on such types.
    """
    type, op = quantize_type(quantize), quantize.operands[0].owner
    if not (isinstance(type, UniformType) and type.is_per_tensor):
        return False
    is_narrow = type.storage.width < BYTE_BITS
    while isinstance(op, OnnxOp):
        clamp = op.get_trait(Clamp)
        if is_narrow and (clamp is not None or _selects(op)):
            return True
        if clamp is not None and _is_dropped(op, clamp, type) and not clamp.is_redundant(op, type):
            return True
        if clamp is None and op.op_type not in target(SESSION).moved_past:
            return False
        op = op.operands[0].owner
    return False


def _is_dropped(op: OnnxOp, clamp: Clamp, type: UniformType) -> bool:
    """True if a session would take a clamp for one that a quantize to `type` implies."""
    bounds = clamp.bounds(op)
    ends = np.array([type.storage.low, type.storage.high])
    low, high = numerics.dequantize(ends, type.scales, type.zero_points)
    return bounds is not None and max(bounds[0] - low, high - bounds[1]) <= CLIP_ERROR


def _selects(op: OnnxOp) -> bool:
    """True if `op` selects among the elements of one tensor."""
    promise = op.get_trait(Commutes)
    return promise is not None and promise.selects and len(promise.operands(op)) == 1


def _selects_among_narrow(op: OnnxOp) -> bool:
    """True if a session would run `op`, which selects elements, on integers of a type for which it has no kernel."""
    cast = moved_dequantize(op.operands[0]) if _selects(op) and op.get_trait(Clamp) is None else None
    type = None if cast is None else dequantize_type(cast)
    return isinstance(type, UniformType) and type.storage.width < BYTE_BITS


def _part_kernel(
    quantize: OnnxOp, op: OnnxOp, kernels: Kernels, casts: Sequence[OnnxOp], target: Target
) -> None:
    first, last = casts[0].operands[0], quantize.results[0]
    is_one_type = are_of_one_type(first, last)
    is_refused = is_one_type and (
        any(map(_has_scales, (quantize, *casts))) or (kernels.takes_any_scales and not _is_single(quantize))
    )
    is_slower = is_one_type and is_faster_in_float(op, kernels, target.costs)
    if is_refused or is_slower or _is_wrong(op, kernels, casts, quantize_type(quantize)):
        _part_from(quantize)


def _part_from(quantize: OnnxOp) -> None:
    """Insert a Sum in front of a quantize, and of equal ones that a session merges with it."""
    real = quantize.operands[0]
    others = [use.operation for use in real.uses if use.operation is not quantize]
    part(quantize, 0)
    for other in others:
        other.operands[0] = quantize.operands[0]


def _is_quantized_again(quantize: OnnxOp) -> bool:
    """
    True if a session would quantize a float weight although no kernel takes the activation: of an op in front of
    `quantize`, or of clamps and moves in front of which it brings that.
    """
    real = quantize.operands[0]
    alone = all(_is_alike(use.operation, quantize) for use in real.uses)
    while alone and isinstance(op := real.owner, OnnxOp):
        op = op if (added := biased(op)) is None else added[0]
        if op.get_trait(Linear) is not None:
            cast = brought_dequantize(op.operands[0])
            is_float = isinstance(op.operands[1].owner, ConstantOp)
            return is_float and cast is not None and not is_bytes(cast.operands[0])
        if op.get_trait(Clamp) is None and op.op_type not in target(SESSION).moved_past:
            return False
        real = op.operands[0]
        alone = real.has_one_use()
    return False


def _spell(op: OnnxOp, spelled: Mapping[str, str]) -> None:
    """Write the op that defines the first operand of `op`, of two computed operands of equal shape, as another op."""
    value = op.operands[0]
    above = value.op if isinstance(value, OpResult) else None
    if not isinstance(above, OnnxOp) or above.domain != "" or above.op_type not in spelled:
        return
    if len({shape_of(v.type) for v in above.operands}) > 1 or any(map(is_constant, above.operands)):
        return
    other = op_named("", spelled[above.op_type]).build(list(above.operands), [value.type])
    other.location = above.location
    insert_before(above, other)
    value.replace_all_uses_with(other.results[0])
    remove(above)


def _spell_out(op: OnnxOp) -> None:
    """Write an op as others with equal results."""
    form = form_of(type(op), Spelled)
    parts = None if form is None else form.parts(op)
    if parts is None:
        return
    parts[-1].location = op.location
    insert_before(op, *parts)
    op.results[0].replace_all_uses_with(parts[-1].results[0])
    remove(op)


def _fused_with(quantize: OnnxOp) -> OnnxOp | None:
    """
    The op that defines the operand of a quantize, through clamps, if it has no other users than equal quantizes, which
    a session merges; None otherwise. Moves, in front of which a session brings the quantize, are looked through if that
    or a dequantize of the op has several scales.
    """
    real, behind = quantize.operands[0], False
    alone = all(_is_alike(use.operation, quantize) for use in real.uses)
    while isinstance(real, OpResult) and isinstance(real.op, OnnxOp) and alone:
        if real.op.get_trait(Clamp) is None:
            if not _is_move(real.op):
                return real.op if not behind or any(map(_has_scales, (quantize, *_casts(real.op)))) else None
            behind = True
        real = real.op.operands[0]
        alone = real.has_one_use()
    return None


def _is_move(op: OnnxOp) -> bool:
    """True if `op` only moves the elements of its first operand, and no kernel computes it."""
    promise = op.get_trait(Commutes)
    return promise is not None and tuple(promise.operands(op)) == (0,) and op.get_trait(Kernels) is None


def _is_alike(user: Operation, quantize: OnnxOp) -> bool:
    """True if `user` is a quantize equal to `quantize`, in the same block."""
    return (
        user.name == quantize.name
        and user.parent is quantize.parent
        and user.operands[1:] == quantize.operands[1:]
        and user.properties == quantize.properties
    )


def _refused_product(op: OnnxOp) -> int | None:
    """
    Index of the operand to separate from an 8-bit product without bias whose kernel rejects its scales; else None.

    It is the weight, so that the activation stays between its casts, except for a blocked weight, which has kernels.
    """
    linear = op.get_trait(Linear)
    if linear is None or linear.has_bias:
        return None
    left, right = brought_dequantize(op.operands[0]), moved_dequantize(op.operands[1])
    if left is None or right is None or not is_bytes(right.operands[0]):
        return None
    if right is not op.operands[1].owner:  # a session moves it below
        return 1 if _has_scales(left) and is_bytes(left.operands[0]) else None
    if right.int_attr("block_size", 0):
        return 0
    of_columns = rank_of(op.operands[1]) == 2 and right.int_attr("axis", 1) in (1, -1)
    is_refused = _has_scales(left) or (_has_scales(right) and not of_columns)
    return 1 if is_refused and is_bytes(left.operands[0]) else None


def _is_rounded(op: OnnxOp) -> bool:
    """
    True if a session would make a MatMulNBits of a product, which rounds the activation to 8 bits again, in blocks.

    It does so for a weight of bytes if it finds no dequantize in front of the activation: an integer kernel goes first.
    """
    promise = op.get_trait(WeightOnly)
    cast = written_dequantize(op.operands[1]) if len(op.operands) > 1 else None
    if promise is None or cast is None or promise.guard(op) is not None or op.int_attr("transB", 0):
        return False
    bias, weight = op.input(2), cast.operands[0]
    if (bias is not None and rank_of(bias) != 1) or constant(weight) is None or not is_bytes(weight):
        return False
    of_columns = not cast.int_attr("block_size", 0) and (
        not _has_scales(cast) or cast.int_attr("axis", 1) in (1, -1)
    )
    if rank_of(weight) != 2 or not of_columns or not op.operands[1].has_one_use():
        return False
    is_quantized = any(use.operation.get_trait(QuantizeForm) is not None for use in op.results[0].uses)
    return not is_quantized and _hides_casts(op.operands[0])


def _hides_casts(value: SSAValue) -> bool:
    """True if `value` is dequantized from bytes in front of moves, at least one of which stops a session's casts."""
    values, hides = [value], False
    for one in values:
        if (cast := written_dequantize(one)) is not None:
            if not is_bytes(cast.operands[0]):
                return False
            continue
        move = one.owner
        promise = promise_of(move, Commutes)
        if promise is None or not isinstance(move, OnnxOp):
            return False
        hides |= move.op_type not in target(SESSION).moved_past
        values += [v for v in promise.operand_values(move) if v not in values]
    return hides


def moved_dequantize(value: SSAValue) -> OnnxOp | None:
    """The DequantizeLinear whose elements `value` has, through ops that move elements of one operand."""
    while isinstance(op := value.owner, OnnxOp) and (promise := op.get_trait(Commutes)) is not None:
        if len(promise.operands(op)) != 1:
            return None
        value = promise.operand_values(op)[0]
    return written_dequantize(value)


def _is_wrong(op: OnnxOp, kernels: Kernels, casts: Sequence[OnnxOp], type: UniformType | Blocked) -> bool:
    """True if a kernel would give other numbers than the op at the one scale of `type`, and those of its operands."""
    types = [type, *map(dequantize_type, casts)]
    scales = [float(t.scale) for t in types if not isinstance(t, Blocked) and t.is_per_tensor]
    is_known = len(scales) == len(types)
    return is_known and any(kernel.is_wrong(op, scales[1:], scales[0]) for kernel in kernels.forms)


def _casts(op: OnnxOp) -> list[OnnxOp]:
    """The dequantizes of an op's operands, below moves too; not of its bias, nor of a weight that a kernel may take."""
    is_linear = op.get_trait(Linear) is not None
    casts: list[OnnxOp] = []
    for place, value in enumerate(op.operands):
        cast = moved_dequantize(value)
        in_blocks = cast is not None and cast.int_attr("block_size", 0) and op.get_trait(WeightOnly) is None
        is_weight = place > 0 and is_linear and not in_blocks
        if cast is not None and not (is_weight and isinstance(cast.operands[0].owner, ConstantOp)):
            casts.append(cast)
    return casts


def _is_single(cast: OnnxOp) -> bool:
    """True if a cast's scale is float32, as kernels require, though sessions do not check it for joins."""
    element = onnx_element(cast.operands[1].type)
    return element is not None and element.numpy == "float32"


def _has_scales(cast: OnnxOp) -> bool:
    """True if a cast has several scales, or an unknown number."""
    shape = shape_of(cast.operands[1].type)
    return shape is None or prod(shape) != 1
