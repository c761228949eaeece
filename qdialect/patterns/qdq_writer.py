"""Writer of QuantizeLinear and DequantizeLinear pairs, by the rules of a target."""
# Around the driver: casts become nodes one for one, and dead ones are erased; no float op changes.

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, uniform_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.forms.casts import Parameters, cast_op, clamped, clamped_real, clamps_integers, under_clamp
from qdialect.ir.insertion import block_of, discard, remove
from qdialect.ir.names import (
    location,
    merge_constants,
    node_name,
    result_names,
    settle_names,
    tensor_name,
    wish,
)
from qdialect.ir.walking import operations
from qdialect.promises.base import Commutes
from qdialect.promises.casts import dequantize_type, written_dequantize
from qdialect.promises.linear import Linear
from qdialect.rewriting.driver import Rewriter
from qdialect.targets import Target


@dataclass
class _Quantized:
    """A written quantize, which can be repeated for a single user."""

    real: SSAValue
    type: UniformType
    users: int
    """Number of users of its integers or real numbers."""


class PairWriter:
    """
    One sweep over casts, quantizes before their users: a node for each, and separate pairs for some users.

    It bypasses the driver's worklist: each cast is written once, in place.
    """

    def __init__(self, target: Target, rewriter: Rewriter):
        self._target = target
        self._rewriter = rewriter
        self._parameters = Parameters()
        self._quantized: dict[SSAValue, _Quantized] = {}
        self._dequantized: dict[tuple[SSAValue, Block], Operation] = {}
        self._joining: set[Operation] = set()
        self._readings: dict[Operation, list[Operation]] = {}
        """By DequantizeLinear, the nodes written for it alone: the quantize of its integers, then itself."""

    def write(self, module: ModuleOp) -> None:
        """Replace all casts of a module, in which no op is on quantized types any more."""
        ops = operations(module)
        self._joining = {op for op in ops if self._target.own_pairs and _joins(op)}
        for op in ops:
            if op.parent is None:
                continue  # its last user was erased
            if type(op) is QuantizeOp:
                self._quantize(op)
            elif type(op) is DequantizeOp:
                self._dequantize(op)
            elif type(op) is StorageCastOp:
                self._store(op)
        _erase_unused(module)
        self._place(module)

    def _store(self, op: StorageCastOp) -> None:
        source = op.operands[0]
        if isinstance(source.owner, StorageCastOp) and quantized_of(op.results[0].type) is None:
            self._rewriter.replace(op, [], [source.owner.operands[0]])

    def _quantize(self, op: QuantizeOp) -> None:
        real, type = op.operands[0], op.element_type
        readers = [use.operation for use in op.results[0].uses]
        dequantizes = [reader for reader in readers if isinstance(reader, DequantizeOp)]
        users = len(readers) - len(dequantizes) + sum(len(list(d.results[0].uses)) for d in dequantizes)
        name = wish(op.results[0])
        if users and isinstance(real, OpResult) and not tensor_name(real.op, real.index):
            names = result_names(real.op)
            names[real.index] = f"{name}_real"
            real.op.location = location(node_name(real.op), names)
        if not users:
            for unused in [*dequantizes, op]:
                if unused.parent is not None:
                    self._rewriter.erase(unused)
            return
        new = self._node(real, type, op, name, node_name(op) or f"{name}_QuantizeLinear")
        read = StorageCastOp(new[-1].results[0], op.results[0].type)
        self._rewriter.replace(op, [*new, read])
        self._quantized[read.results[0]] = _Quantized(real, type, users)

    def _node(
        self, real: SSAValue, type: UniformType, anchor: Operation, name: str, node: str
    ) -> list[Operation]:
        """A QuantizeLinear, with a clamp before or after it for narrower storage bounds."""
        of_bytes = clamps_integers(type, anchor) and not (self._target.whole_pairs and type.is_per_tensor)
        wide = self._target.clamps_wide and type.storage.width > BYTE_BITS
        clip = [] if of_bytes else clamped_real(real, type, anchor, always=wide)
        if clip and type.storage.is_full_range:
            if under_clamp(real, clip) is not None:
                discard(clip)
                clip = []
        cast = cast_op(True, clip[-1].results[0] if clip else real, type, self._parameters, anchor, name)
        cast.location = location(node, [name])
        behind = [] if clip else clamped(cast.results[0], type)
        if behind:
            cast.location = location(node, [f"{name}_unclamped"])
            behind[-1].location = location(f"{name}_Clip", [name])
        return [*clip, cast, *behind]

    def _dequantize(self, op: DequantizeOp) -> None:
        """Write a dequantize: one per block, shared by its users; residual edges get their own pairs if required."""
        source, result, block = op.operands[0], op.results[0], op.parent
        assert block is not None
        known = self._quantized.get(source)
        for use in list(result.uses):
            if known is not None and known.users > 1 and use.operation in self._joining:
                self._pair(known, source, use)
        if op.parent is None:
            return  # every user has a pair of its own: the cast was erased with the last one
        if result.first_use is None:
            if op.parent is block:  # else erased with its last user
                self._rewriter.erase(op)
            return
        key = source, block
        shared = self._dequantized.get(key)
        if shared is None:
            new = self._reading(source, op)
            self._dequantized[key] = new
            self._readings[new] = [new]
            self._rewriter.replace(op, [new])
        else:
            self._rewriter.replace(op, [], [shared.results[0]])

    def _place(self, module: ModuleOp) -> None:
        """
        Move each dequantize in front of the first op that reads it, in the order of that op's operands.

        A weight that a session dequantizes in each run stands in front of all other ops: a session runs an op's
        operands last node first, so it would dequantize all weights of a chain before the first product, and hold them
        at once.
        """
        first: dict[Block, dict[Operation, None]] = {}
        for op in operations(module):
            for operand in op.operands:
                for part in self._readings.pop(operand.owner, ()) if isinstance(operand, OpResult) else ():
                    if part.parent is not None and self._is_kept(op, part):
                        _put_first(part, first.setdefault(block_of(part), {}))
                    elif part.parent is not None:
                        _put_before(op, part)

    def _is_kept(self, op: Operation, part: Operation) -> bool:
        """True if a session computes a product, whose constant weight is dequantized, in float."""
        if not self._target.kernels or op.get_trait(Linear) is None or op.parent is not part.parent:
            return False
        constants = all(isinstance(value.owner, ConstantOp) for value in part.operands)
        cast = written_dequantize(op.operands[0])
        type = None if cast is None else dequantize_type(cast)
        return constants and not (isinstance(type, UniformType) and type.storage.width <= BYTE_BITS)

    def _pair(self, known: _Quantized, source: SSAValue, use: Use) -> None:
        name, anchor = wish(source), use.operation
        own = self._node(known.real, known.type, anchor, name, f"{name}_QuantizeLinear")
        read = StorageCastOp(own[-1].results[0], source.type)
        new = self._reading(read.results[0], anchor)
        self._readings[new] = [*own, read, new]
        self._rewriter.insert_before(anchor, [*own, read, new])
        self._rewriter.set_operand(use.operation, use.index, new.results[0])

    def _reading(self, value: SSAValue, anchor: Operation) -> OnnxOp:
        """A DequantizeLinear of the integers under storage cast `value`, by its type."""
        cast, name = value.owner, wish(value)
        assert isinstance(cast, StorageCastOp)  # whatever else gives integers is written already
        new = cast_op(False, cast.operands[0], uniform_of(value.type), self._parameters, anchor, name)
        new.location = location(f"{name}_DequantizeLinear", [f"{name}_dequantized"])
        return new


def share_readings(module: ModuleOp, rewriter: Rewriter) -> None:
    """Merge equal storage casts of a block and of those around it, so that their users share casts."""
    first: dict[tuple[SSAValue, Attribute, Block | None], SSAValue] = {}
    for op in operations(module):
        if type(op) is StorageCastOp:
            result, block = op.results[0], op.parent
            while block is not None and (op.operands[0], result.type, block) not in first:
                block = block.parent_block()
            known = first.setdefault((op.operands[0], result.type, block or op.parent), result)
            if known is not result:
                rewriter.replace(op, [], [known])


def _erase_unused(module: ModuleOp) -> None:
    """Erase ops without users: no output depends on them."""
    for op in reversed(operations(module)):
        unused = (
            isinstance(op, OnnxOp | StorageCastOp) and op.results and not any(r.first_use for r in op.results)
        )
        if unused and op.has_trait(Pure) and not op.regions:
            remove(op)


def _put_first(cast: Operation, first: dict[Operation, None]) -> None:
    """Move `cast`, and the constants that it reads, behind those that stand `first` in its block, or before all."""
    block = block_of(cast)
    for op in (*(value.owner for value in cast.operands), cast):
        if not isinstance(op, Operation) or op.parent is not block or op in first:
            continue
        op.detach()
        if first:
            block.insert_ops_after([op], next(reversed(first)))
        elif block.first_op is not None:
            block.insert_ops_before([op], block.first_op)
        first[op] = None


def _put_before(reader: Operation, op: Operation) -> None:
    """Move `op` in front of its user, which may be in a subgraph of another operation of its block."""
    block = block_of(op)
    while reader.parent is not block and (around := reader.parent_op()) is not None:
        reader = around
    op.detach()
    block.insert_op_before(op, reader)


def _joins(user: Operation) -> bool:
    """True if `user` computes one value from several computed ones."""
    if not isinstance(user, OnnxOp) or user.get_trait(Commutes) is not None:
        return False
    if len(user.operands) > 1 and _is_constant(user.operands[1]):
        return False  # a weight
    return sum(not _is_constant(o) for o in user.operands) > 1


def _is_constant(value: SSAValue) -> bool:
    """True if `value` is a constant, or dequantized from one."""
    while isinstance(value.owner, DequantizeOp | StorageCastOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, ConstantOp)


def settle_written(module: ModuleOp) -> None:
    """Merge equal constants of a module of nodes, and give each tensor a name of its own."""
    merge_constants(module)
    settle_names(module)
