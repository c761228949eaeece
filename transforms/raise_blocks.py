"""
Raise products of floats with weights of 4 bits in blocks, dequantized where no session sees it, to one kernel.

    MatMul(x, Mul(Sub(Cast(q), z), s))       ->  MatMulNBits(x, q', s', z') {accuracy_level = 1}     moved or not
    MatMul(x, f(DequantizeLinear(q, s, z)))  ->  MatMulNBits(x, q', s', z') {accuracy_level = 1}     f moves

Close: the weights are the same numbers, the kernel sums their products in another order. The activation stays in
float: a session that makes the kernel itself, of a DequantizeLinear next to the product, rounds it to 8 bits. It also
dequantizes a weight behind a move in each run, so that the kernel is always faster; but it computes arithmetic of
constants once, so that weight is raised only where the target's costs say that it pays: for one row, if the float
weights of the model exceed the cache. For a target without kernels `raise-qoperator` makes the node a DequantizeLinear
next to its product.
"""
# Around the driver: it erases only drafts, which stand in no block.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, known_element
from qdialect.dialects.quant import Storage, UniformType
from qdialect.errors import UserError
from qdialect.evaluation import session
from qdialect.exactness import Exactness
from qdialect.forms.contrib_ops import FIRST_WITH_BLOCKS
from qdialect.ir.build import constant_op, copied
from qdialect.ir.values import is_float32, static_shape
from qdialect.ir.walking import operations
from qdialect.numerics import Array
from qdialect.numerics.grouping import BITS, in_blocks, rows_alike
from qdialect.patterns.arithmetic_operands import Constants, Integers
from qdialect.patterns.target_pattern import TargetPass
from qdialect.patterns.weight_only import KERNEL, fits_kernel, write_kernel
from qdialect.promises.arithmetic import Converts, Scales
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import storage_of
from qdialect.promises.weight_only import WeightOnly, packed_weight
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter, apply_patterns
from qdialect.rewriting.journal import is_kept, kept_because
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets import Target

OLD_OPSET = Blocked(
    "opset", f"weights in blocks came with opset {FIRST_WITH_BLOCKS}", f"raise-opset to {FIRST_WITH_BLOCKS}"
)
BLOCK_RANGE = Blocked(
    "value-rounds", "in some block, the integers minus zero points do not fit 4 bits, or are fractions"
)
AS_FAST = Blocked(
    "does-not-pay",
    "a product with float weights is as fast, unless it has one row and the model's weights exceed the cache",
)
FLOAT_BYTES = 4


class Move(NamedTuple):
    """An op, and the operand whose elements it moves to its only result."""

    op: OnnxOp
    place: int


def float_weights(module: ModuleOp) -> int:
    """Bytes of the float weights that products in a session read, dequantized or not."""
    constants, size = Constants(), 0
    for op in operations(module):
        if op.get_trait(WeightOnly) is not None and op.operands[1] in constants:
            size += FLOAT_BYTES * prod(static_shape(op.operands[1]) or (0,))
    return size


class RaiseBlocks(OnTrait[WeightOnly]):
    """linear(x, w), w moved from DequantizeLinear in blocks, or from integers times scales, all of constants."""

    def __init__(self, target: Target, floats: int):
        """floats: bytes that `float_weights` gives."""
        self._target, self._floats = target, floats
        self._constants, self._integers = Constants(), Integers()

    def match(self, op: OnnxOp, promise: WeightOnly, rewriter: Rewriter, /) -> Blocked | None:
        weight, linear, x = op.operands[1], op.get_trait(Linear), op.operands[0]
        source, moves = _source(weight)
        if source is None or linear is None or weight not in self._constants or not static_shape(weight):
            return None
        is_node = bool(moves) and _is_blocked(source)
        if not (is_node or _is_scaled(source)) or not is_float32(x) or x in self._integers:
            return None
        outputs = linear.weight_axis(op)
        blocked = promise.guard(op) or fits_kernel(op, outputs) or self._guard(op, is_node)
        if blocked is not None or outputs is None:
            return blocked
        for unit in _units(source):
            found = _evaluated(weight, unit, moves)
            if found is None:
                continue
            reals, scales = (np.moveaxis(one, outputs, 1) for one in found)
            if 1 < (rows := rows_alike(scales)) < len(scales):
                return self._write(op, reals, scales, rows, rewriter)
        return None

    def _guard(self, op: OnnxOp, is_node: bool) -> Blocked | None:
        """`Blocked` if the op must stay. is_node: a session dequantizes the weight in each run."""
        if is_kept(op):
            return kept_because(op)
        if not self._target.kernels:
            return OLD_OPSET if onnx_opset(op) < FIRST_WITH_BLOCKS else None
        limits, shape = self._target.costs.get(KERNEL), static_shape(op.results[0])
        if is_node or (
            limits is not None
            and shape is not None
            and prod(shape[:-1]) <= limits["rows"]
            and self._floats >= limits["cache"]
        ):
            return None
        return AS_FAST

    def _write(
        self, op: OnnxOp, reals: Array, scales: Array, rows: int, rewriter: Rewriter
    ) -> Blocked | None:
        weight = in_blocks(reals, scales, rows)
        if weight is None:
            return BLOCK_RANGE
        blocks, storage = ((0, rows), (1, 1)), Storage.make(BITS, False)
        type = UniformType.sub_channel(storage, blocks, weight.scales, weight.zero_points, Float32Type())
        packed = unblocked(packed_weight(weight.stored, type, 0))
        if self._target.symmetric_weights and packed.zero_points is not None:
            return Blocked("zero-point", "the target requires zero point 0 of a weight in blocks")
        write_kernel(op, packed, len(reals), len(reals.T), rewriter)
        return None


def _source(value: SSAValue) -> tuple[OnnxOp | None, list[Move]]:
    """The op that computes the elements of `value`, and the ops that move them since, the last first."""
    moves: list[Move] = []
    while isinstance(op := value.owner, OnnxOp) and (promise := op.get_trait(Commutes)) is not None:
        places = promise.operands(op)
        if len(places) != 1 or len(op.results) != 1:
            break
        moves.append(Move(op, places[0]))
        value = op.operands[places[0]]
    return op if isinstance(op, OnnxOp) else None, moves


def _is_blocked(op: OnnxOp) -> bool:
    """True for a DequantizeLinear of 4 bits or less in blocks."""
    if op.get_trait(DequantizeForm) is None or not op.int_attr("block_size", 0):
        return False
    storage = storage_of(element_of(op.operands[0].type))
    return storage is not None and storage.width <= BITS


def _is_scaled(op: OnnxOp) -> bool:
    """True for integers, as floats, times scales."""
    promise, ops = op.get_trait(Scales), _computing(op.results[0])
    if promise is None or promise.inverse or not is_float32(op.results[0]):
        return False
    return any(one.get_trait(Converts) is not None for one in ops)


def _units(source: OnnxOp) -> Iterator[OnnxOp]:
    """Ops that make the scales, in the shape of the source's result: the source, of integers that are all 1."""
    for place in (0, 1) if _is_scaled(source) else (0,):
        shape, element = static_shape(source.operands[place]), known_element(source.operands[place].type)
        if shape is not None and shape == static_shape(source.results[0]):
            operands = list(source.operands[:2])  # no zero point
            operands[place] = constant_op(np.ones(shape, BY_ATTRIBUTE[element].dtype)).results[0]
            yield copied(source, operands, source.result_types)


def _evaluated(weight: SSAValue, unit: OnnxOp, moves: Sequence[Move]) -> tuple[Array, Array] | None:
    """The elements of a weight, and those of `unit` moved likewise; None if onnxruntime cannot compute them."""
    drafts = [unit]
    for op, place in reversed(moves):
        operands = list(op.operands)
        operands[place] = drafts[-1].results[0]
        drafts.append(copied(op, operands, op.result_types))
    ops, scales = _computing(weight), drafts[-1].results[0]
    parts = [op for op in ops if isinstance(op, OnnxOp)]
    try:
        if len(parts) < len(ops):
            return None
        values = session.evaluate([*parts, *drafts], [weight, scales])
        return values[weight].array(), values[scales].array()
    except UserError:
        return None
    finally:
        for draft in reversed(drafts):
            draft.erase()


def _computing(value: SSAValue) -> list[Operation]:
    """The ops that compute `value` of constants, in order."""
    ops: dict[Operation, None] = {}
    waiting = [value.owner]
    while waiting:
        op = waiting[-1]
        operands = op.operands if isinstance(op, Operation) else ()
        above = [one.owner for one in operands if not isinstance(one.owner, ConstantOp)]
        above = [one for one in above if isinstance(one, Operation) and one not in ops]
        waiting += above
        if not above:
            waiting.pop()
            if isinstance(op, Operation) and not isinstance(op, ConstantOp):
                ops[op] = None
    return [*ops]


@dataclass(frozen=True)
class RaiseBlocksPass(TargetPass):
    name = "raise-blocks"
    exactness = Exactness.CLOSE
    role = Role.RAISING
    reasons = "block-size does-not-pay opset product-form value-rounds zero-point"
    rewrite = "MatMul(x, f(dequantized w)) -> MatMulNBits(x, w', s', z'): w of constants in blocks, f moves"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_patterns(op, self.name, [RaiseBlocks(self.runtime, float_weights(op))])
