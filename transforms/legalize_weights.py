"""
Give constant weights zero point 0 for targets that require it, where a change of signedness does not suffice.

    w : zero point z   ->  w - z : i8               1. 8 bits hold every difference
    w : i4, u4         ->  w - z : i8               2. where products of integers take no i4; those of
                                                       floats keep it, and lose zero points and types that the
                                                       target does not read
    dcast(w)           ->  constant of floats       3. of products of floats: with a scale for each input, for
                                                       a target without such scales
    product(x, w : z)  ->  product(concat(x, x[I]), concat(v, (w - z - v)[I]))
                                                    4. v = w - z saturated to i8; I: the inputs where it saturates,
                                                       at most one in four, or one; one Gather if x has few elements
    product(x, w : i8) ->  product(x, w xor 0x80 : u8) 5. where the target does not load it otherwise

The copies of integers that are read as another type are made before they are read so, as `sink-dequantize` has them.

A u8 weight whose zero point is not 128 exceeds i8 by a few steps, often in one element. Rewrite 4 multiplies a second
copy of the input by the excess.

1 to 3 and 5 are exact: the same real numbers. 4 is close: integer sums are equal, float sums are added in another
order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, known_shape, quantized_of, shape_of, tensor_type
from qdialect.dialects.quant import DequantizeOp, Storage, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import copied
from qdialect.ir.names import wish
from qdialect.ir.values import known_array, under_dequantize
from qdialect.numerics import Array
from qdialect.patterns.reading import SinkReading, real_copy
from qdialect.patterns.signedness import FlippedConstants, typed_constant, unsigned
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear
from qdialect.reasons import ACTIVATION_PER_AXIS, UNKNOWN_RANK, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.targets import Target, target
from qdialect.targets.legality import is_refused

KERNEL_BITS, INT8_MAX = 8, 127
INT4 = Storage.make(4, True)
ZERO_POINT = "zero-point"
"""The reason with which a target that takes no zero points refuses a model."""
COPIED_INPUTS_DIVISOR = 4
"""Divisor: at most one input in so many may be copied; a single one always."""
MAX_SINGLE_OP_ELEMENTS = 1 << 14
"""Elements up to which one op on all of them takes less time than two, of which the second may keep its layout."""
Int8, Excess = npt.NDArray[np.int8], npt.NDArray[np.int16]


class CopiedInputs(NamedTuple):
    """Inputs of a product that are duplicated."""

    inputs: list[int]
    total: int
    """Number of all inputs."""
    axis: int
    """The activation's axis of inputs."""
    weight_axis: int


class DropZeroPoint(OnTrait[Linear]):
    """A product of a quantized activation with a constant 8-bit weight."""

    def __init__(self, target: Target, *, exact: bool):
        self._target, self._exact = target, exact
        self._shifted: dict[SSAValue, SSAValue] = {}
        self._flipped = FlippedConstants()

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        value, x = op.operands[1], quantized_of(op.operands[0].type)
        weight = None if x is None else typed_constant(value)
        if x is None or weight is None or weight[1].blocks or weight[1].storage.width != KERNEL_BITS:
            return None
        source, type = weight
        is_symmetric = type.storage.signed and not type.zero_points.any()
        if is_refused(op, promise, x, self._target):
            lifted = unsigned(type) if is_symmetric else None
            if lifted is None:
                return ACTIVATION_PER_AXIS
            rewriter.set_operand(op, 1, self._flipped.of(source, lifted, rewriter))
            return None
        if is_symmetric:
            return None
        if self._target.sums_skip_rounding and promise.has_bias and _goes_into_sum(op):
            return Blocked(
                "zero-point",
                f"{self._target.name} would add another branch to the result before it is rounded",
                "quantize the weights symmetrically",
            )
        stored, excess = numerics.less_zero_point(known_array(value), type.zero_points, type.axis)
        if not excess.any():
            self._shift(op, stored, type, rewriter)
            return None
        copies = unblocked(self._copies(op, promise, x, excess))
        _copy_inputs(op, copies, stored, excess, type, rewriter)
        return None

    def _shift(self, op: OnnxOp, stored: Int8, type: UniformType, rewriter: Rewriter) -> None:
        value = op.operands[1]
        if value not in self._shifted:
            nodes = Nodes()
            self._shifted[value] = _weight(nodes, stored, type, value)
            rewriter.insert_before(op, nodes.ops)
        rewriter.set_operand(op, 1, self._shifted[value])

    def _copies(self, op: OnnxOp, promise: Linear, x: UniformType, excess: Excess) -> CopiedInputs | Blocked:
        """The inputs that need a copy, or `Blocked`."""
        if self._exact:
            return Blocked(
                "beyond-i8",
                "a second copy of an input would change the order of the float sums",
                "use --exactness close",
            )
        axes = promise.summed_axes(op)
        if axes is None or shape_of(op.operands[0].type) is None:
            return UNKNOWN_RANK
        if op.int_attr("group", 1) > 1:
            return Blocked(
                "float-result",
                "the convolution has groups, and a copied input channel would belong to another group",
            )
        if not x.is_per_tensor:
            return Blocked("activation-per-axis", "the activation has a scale for each channel")
        others = tuple(axis for axis in range(excess.ndim) if axis != axes[1])
        inputs, count = np.flatnonzero(excess.any(axis=others)).tolist(), excess.shape[axes[1]]
        if len(inputs) > max(1, count // COPIED_INPUTS_DIVISOR) or excess.max() > INT8_MAX:
            return Blocked(
                "beyond-i8",
                f"i8 does not hold the weights of {len(inputs)} of {count} inputs",
                "quantize the weights symmetrically",
            )
        return CopiedInputs(inputs, count, *axes)


def _copy_inputs(
    op: OnnxOp, copies: CopiedInputs, stored: Int8, excess: Excess, type: UniformType, rewriter: Rewriter
) -> None:
    x, axis, nodes = op.operands[0], copies.axis, Nodes(op)
    some, wide = list(known_shape(x.type)), list(known_shape(x.type))
    some[axis] = len(copies.inputs)
    wide[axis] += 0 if wide[axis] == DYNAMIC else len(copies.inputs)
    if prod(max(size, 1) for size in wide) <= MAX_SINGLE_OP_ELEMENTS:
        places = nodes.ints([*range(copies.total), *copies.inputs], "inputs")
        both = nodes.add("Gather", [x, places], wide, {"axis": axis})
    else:
        again = nodes.add("Gather", [x, nodes.ints(copies.inputs, "inputs")], some, {"axis": axis})
        both = nodes.add("Concat", [x, again], wide, {"axis": axis})
    rows = np.take(excess, copies.inputs, copies.weight_axis).astype(np.int8)
    weight = _weight(nodes, np.concatenate([stored, rows], copies.weight_axis), type, op.operands[1])
    rewriter.replace(op, [*nodes.ops, copied(op, [both, weight, *op.operands[2:]], op.result_types)])


class Widen(OnOp[ConstantOp]):
    """A constant of fewer bits than products of integers take, or a weight of floats that is not read as it is."""

    def __init__(self, target: Target):
        self._target = target

    def match(self, op: ConstantOp, rewriter: Rewriter, /) -> None:
        value, type = op.results[0], quantized_of(op.results[0].type)
        if op.value is None or type is None or type.storage.width > KERNEL_BITS:
            return
        users = list(dict.fromkeys(use.operation for use in value.uses))
        bits = KERNEL_BITS
        if type.storage.width < self._target.least_bits:
            products = [user for user in users if user.get_trait(Linear) is not None]
            if not products:
                bits = self._bits_of_floats(op.value.array(), type, users)
            else:
                users = [] if type.blocks and self._target.float_blocks else products
        else:
            has_zero = not type.storage.signed or type.zero_points.any()
            if not (self._target.symmetric_weights and has_zero and all(map(_is_weight_of_floats, users))):
                return
        if not users or not bits:
            return
        stored, excess = numerics.less_zero_point(op.value.array(), type.zero_points, type.axis, type.blocks)
        if excess.any():
            return
        nodes = Nodes()
        new = _weight(nodes, stored, type, value, bits)
        if all(use.operation in users for use in value.uses):
            rewriter.replace(op, nodes.ops, is_same=False)
            return
        rewriter.insert_after(op, nodes.ops)
        for use in [use for use in value.uses if use.operation in users]:
            rewriter.set_operand(use.operation, use.index, new)

    def _bits_of_floats(self, array: Array, type: UniformType, users: Sequence[Operation]) -> int:
        """The bits in which a weight of products of floats is read without zero point; 0 if it stays as it is."""
        known, few = self._target.storage_types, self._target.few_bits
        if not known or not users or not all(map(_is_weight_of_floats, users)):
            return 0
        if type.blocks and not self._target.narrow_blocks:
            return 0
        ops = [use.operation for user in users for use in user.results[0].uses]
        reads_few = not few or all(isinstance(op, OnnxOp) and op.op_type in few for op in ops)
        zeros = ZERO_POINT in self._target.refuses and type.zero_points.any()
        if type.storage.name in known and not zeros and reads_few:
            return 0
        stored, _ = numerics.less_zero_point(array, type.zero_points, type.axis, type.blocks)
        low, high = INT4.low, INT4.high
        if INT4.name in known and reads_few and ((stored >= low) & (stored <= high)).all():
            return INT4.width
        return 0 if type.blocks else KERNEL_BITS


def _is_weight_of_floats(user: Operation) -> bool:
    """True if an op is a dequantize whose result is used as a weight only."""
    uses = list(user.results[0].uses) if isinstance(user, DequantizeOp) else []
    return bool(uses) and all(u.index == 1 and u.operation.get_trait(Linear) is not None for u in uses)


class RealWeight(OnTrait[Linear]):
    """A float product with a dequantized weight that has a scale for each input."""

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> None:
        value = under_dequantize(op.operands[1])
        source, type, axis = value.owner, quantized_of(value.type), promise.weight_axis(op)
        if value is op.operands[1] or type is None or axis is None or type.axis in (None, axis):
            return
        if isinstance(source, ConstantOp) and source.value is not None:
            real = real_copy(source, type)
            rewriter.insert_after(source, [real])
            rewriter.set_operand(op, 1, real.results[0])


def _goes_into_sum(op: OnnxOp) -> bool:
    """True if the only user of the result, quantized directly or after an activation, is a quantized addition."""
    value: SSAValue = op.results[0]
    while value.has_one_use():
        (use,) = value.uses
        user, is_quantized = use.operation, quantized_of(value.type) is not None
        if len(user.results) != 1:
            return False
        if is_quantized:
            return user.get_trait(Adds) is not None and quantized_of(user.results[0].type) is not None
        value = user.results[0]
    return False


def _weight(
    nodes: Nodes, stored: Int8, type: UniformType, old: SSAValue, bits: int = KERNEL_BITS
) -> SSAValue:
    """A signed constant of 8 or 4 bits with the scales of `type`, and zero points of 0."""
    type = type.replace(storage=Storage.make(bits, True), zero_points=np.zeros_like(type.zero_points))
    array = stored.astype(BY_NUMPY[f"int{bits}"].dtype)
    return nodes.constant(array, name=f"{wish(old)}_i{bits}", type=tensor_type(type, stored.shape))


@dataclass(frozen=True)
class LegalizeWeightsPass(RewritePass):
    name = "legalize-weights"
    exactness = Exactness.CLOSE
    role = Role.LEGALIZING
    reasons = "activation-per-axis beyond-i8 float-result unknown-shape zero-point"
    rewrite = "product(x, w : z) -> product(concat(x, x[I]), concat(v, (w - z - v)[I])), v = w - z as i8: the same sums"

    target: str = "openvino"
    exact: bool = False
    """True to apply only exact rewrites."""

    def patterns(self) -> Sequence[Pattern]:
        wanted = target(self.target)
        patterns: list[Pattern] = []
        if wanted.output_scales_only:
            patterns.append(RealWeight())
        if wanted.least_bits > 1:
            patterns.append(Widen(wanted))
        if wanted.symmetric_weights:
            patterns += [DropZeroPoint(wanted, exact=self.exact), SinkReading()]
        return patterns
