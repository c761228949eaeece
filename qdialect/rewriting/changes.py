"""`Changes`: the methods by which rewrites change the IR; they carry names and symbolic sizes and can be undone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter
from xdsl.traits import IsTerminator, Pure

from qdialect.dialects.onnx_base import OnnxOp, YieldOp
from qdialect.dialects.onnx_types import element_of, shape_of, with_element
from qdialect.dialects.quant import QuantizeOp
from qdialect.ir.insertion import first_of, next_of
from qdialect.ir.insertion import insert_before as place_before
from qdialect.ir.names import inherited_name, location, node_name
from qdialect.ir.symbols import DIMS
from qdialect.promises.base import is_read_by_cast
from qdialect.reasons import Blocked
from qdialect.rewriting.journal import KEEP_FLOAT, Journal, is_kept


@cache
def _is_pure(op_class: type[Operation]) -> bool:
    """True if operations of a class without users may be erased: pure ones that are no terminators."""
    ends = op_class.has_trait(IsTerminator, value_if_unregistered=False)
    return not ends and op_class.has_trait(Pure, value_if_unregistered=False)


def is_dead(op: Operation) -> bool:
    for result in op.results:
        if result.first_use is not None:
            return False
    return bool(op.results) and _is_pure(type(op))


def _carry_dims(op: Operation, old: SSAValue, new: SSAValue) -> None:
    """Copy the names of symbolic sizes of `old`, a result of `op`, to `new`, which replaces it."""
    rows = op.attributes.get(DIMS)
    if not isinstance(rows, ArrayAttr) or not isinstance(old, OpResult) or not isinstance(new, OpResult):
        return
    heir = new.op
    single = len(heir.results) == 1 and isinstance(heir, OnnxOp) and DIMS not in heir.attributes
    if single and old.index < len(rows.data) and shape_of(old.type) == shape_of(new.type):
        heir.attributes[DIMS] = ArrayAttr([rows.data[old.index]])


Values = Sequence[SSAValue]


def _fitted(olds: Values, news: Values, ops: Sequence[Operation]) -> Values:
    """
    `news`, those computed by `ops` retyped to the shapes of `olds` where a cast reads the old value.

    The result type of a cast states its operand's shape, which a replacement must not change.
    """
    return [
        PlainRewriter.replace_value_with_new_type(new, with_element(old.type, element))
        if shape_of(new.type) != shape_of(old.type)
        and isinstance(new.owner, OnnxOp)
        and new.owner in ops
        and (element := element_of(new.type)) is not None
        and is_read_by_cast(old)
        else new
        for old, new in zip(olds, news, strict=True)
    ]


class Changes(ABC):
    """
    Changes of the IR. They carry names and symbolic sizes to replacements, count rewrites, erase dead operations, and
    leave operations that are kept in float (`--keep-float`) unchanged.
    """

    def __init__(self) -> None:
        self._queued: set[Operation] = set()
        self._journal: Journal | None = None
        self._replaced: list[tuple[SSAValue, SSAValue]] = []
        self._in_steps: list[tuple[SSAValue, SSAValue]] = []
        self._heirs: list[tuple[Operation, Operation]] = []
        self.rewrites = 0
        self.blocked: dict[Operation, dict[str, Blocked]] = {}
        """By operation, the first reason of each pass."""

    @abstractmethod
    def push(self, op: Operation) -> None:
        """Put `op` on the worklist."""

    def _push_around(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            self.push(value.op)
        for use in value.uses:
            self.push(use.operation)
            if isinstance(use.operation, YieldOp) and (around := use.operation.parent_op()) is not None:
                self.push(around)

    def _push_last_user(self, value: SSAValue) -> None:
        """Put the only remaining user of a value on the worklist: with several users a pattern may not have matched."""
        if (use := value.first_use) is not None and value.has_one_use():
            self.push(use.operation)

    def touch(self, op: Operation) -> None:
        """
        Record that `op` will compute with other numbers, although its operands are the same values.

        Raises Kept if --keep-float excludes it.
        """
        if self._journal is not None:
            self._journal.touch(op)

    def insert_before(self, anchor: Operation, ops: Sequence[Operation]) -> None:
        """Insert new operations in front of `anchor`; one without a name is named after the anchor's node."""
        for op in ops:
            if op.location is UNKNOWN_LOC:
                # A quantize leaves the node's name to the op, or their order would decide which has it.
                op.location = location("" if isinstance(op, QuantizeOp) else node_name(anchor))
        place_before(anchor, *ops)
        if self._journal is not None:
            self._journal.inserted(ops)
        for op in ops:
            self.push(op)

    def insert_at_start(self, block: Block, ops: Sequence[Operation]) -> None:
        """Insert new operations in front of all others of a block, which has some."""
        self.insert_before(first_of(block), ops)

    def insert_after(self, anchor: Operation, ops: Sequence[Operation]) -> None:
        """Insert new operations after `anchor`, which is no terminator; those without a name take the next node's."""
        self.insert_before(next_of(anchor), ops)

    def replace(
        self, op: Operation, ops: Sequence[Operation], results: Values | None = None, *, is_same: bool = True
    ) -> None:
        """
        Replace `op` by new operations; `results` (by default those of the last) replace its results.

        The operation that defines the first result takes over the names, those of tensors only if they hold the same
        numbers (`is_same`); the remarks go to the new operation of the same kind, if any. Raises Kept if --keep-float
        excludes `op`, or an operation that only it needs.
        """
        self.rewrites += 1
        results = _fitted(op.results, ops[-1].results if results is None else results, ops)
        heir = results[0].owner if results else None
        if isinstance(heir, Operation) and heir.location is UNKNOWN_LOC:
            self._locate(heir, op.location if is_same else location(node_name(op)))
        self.insert_before(op, ops)
        self.touch(op)  # after the insertion, which can be undone
        self._heirs += [(op, one) for one in ops if one.name == op.name][-1:]
        if is_kept(op) and isinstance(heir, Operation):  # by a pass that only writes the op in another form
            heir.attributes[KEEP_FLOAT] = op.attributes[KEEP_FLOAT]
        for old, new in zip(op.results, results, strict=True):
            _carry_dims(op, old, new)
            if is_same:
                self.pass_name_on(old, new)
                self._replaced.append((old, new))
            self._redirect(old, new)
        self.erase(op)

    def pass_name_on(self, old: SSAValue, new: SSAValue) -> None:
        """Give `new` the name of `old`, which is to be erased, unless `new` has a name."""
        if (inherited := inherited_name(old, new)) is not None:
            self._locate(*inherited)

    def _locate(self, op: Operation, place: LocationAttr) -> None:
        """Set the location of an operation."""
        if self._journal is not None:
            former = op.location
            self._journal.on_undo(lambda: setattr(op, "location", former))
        op.location = place

    def _redirect(self, old: SSAValue, new: SSAValue, but: Operation | None = None) -> None:
        """Replace the uses of `old` by `new`, except in operation `but`."""
        if self._journal is not None:
            self._journal.watch(old)
            self._journal.uses(old)
        old.replace_uses_with_if(new, lambda use: use.operation is not but)
        self._push_around(new)

    def rescaled(self, op: Operation) -> None:
        """
        Record that `op` now computes other numbers than the tensor whose name its result has. Raises Kept as `touch`.
        """
        self.touch(op)
        self._locate(op, location(node_name(op)))
        self.retype(op.results[0], op.results[0].type, is_same=False)

    def same_steps(self, old: SSAValue, new: SSAValue) -> None:
        """Record that `new` holds the same number of steps as `old`, at another scale."""
        self._in_steps.append((old, new))

    def replace_uses(self, old: SSAValue, new: SSAValue, but: Operation | None = None) -> None:
        """
        Replace the uses of `old` by `new`, the same numbers, except in `but`, which computes `new` from `old`.

        Raises Kept if that leaves an operation that --keep-float excludes without a user.
        """
        self.rewrites += 1
        self._redirect(old, new, but)
        self._replaced.append((old, new))
        if isinstance(old, OpResult):
            if is_dead(old.op):
                self.touch(old.op)
            self.push(old.op)

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """
        Set operand `index` of `op` to `value`; the former producer is erased if it has no other users.

        Raises Kept if --keep-float excludes `op` or the producer.
        """
        self.touch(op)
        self.rewrites += 1
        if self._journal is not None:
            self._journal.operand(op, index)
        old = op.operands[index]
        op.operands[index] = value
        self.push(op)
        if isinstance(old, OpResult) and is_dead(old.op):
            self.erase(old.op)
        else:
            self._push_last_user(old)

    def retype(self, value: SSAValue, type: Attribute, *, is_same: bool = True) -> SSAValue:
        """
        Give a result or a block argument another type; returns the value that replaces it.

        is_same: True if it represents the same numbers.
        """
        self.rewrites += 1
        if self._journal is not None:
            self._journal.watch(value)
            self._journal.retyped(value)
        new = PlainRewriter.replace_value_with_new_type(value, type)
        self._push_around(new)
        if is_same:
            self._replaced.append((value, new))
        return new

    def erase(self, op: Operation) -> None:
        """Erase an operation without users, and producers that become unused. Raises Kept as `touch` does."""
        stack = [op]
        while stack:
            dead = stack.pop()
            taken = list(dict.fromkeys(dead.operands))
            producers = {o.op: None for o in taken if isinstance(o, OpResult)}
            self._erase(dead)
            for producer in producers:
                if is_dead(producer):
                    stack.append(producer)
                else:
                    self.push(producer)
            for value in taken:
                self._push_last_user(value)

    def _erase(self, op: Operation) -> None:
        if self._journal is None:
            self._queued.discard(op)
            self.blocked.pop(op, None)
            op.detach()
            op.drop_all_references()
            return
        self._journal.touch(op)
        if op in self._queued:
            self._queued.discard(op)
            self._journal.on_undo(lambda: self._queued.add(op))
        if (reasons := self.blocked.pop(op, None)) is not None:
            self._journal.on_undo(lambda: self.blocked.__setitem__(op, reasons))
        self._journal.erase(op)
