"""
The one driver of all passes: a worklist of operations, patterns chosen by operation class, names carried, dead
producers erased, blocked rewrites noted, kept operations left alone, and a cap on rewrites that names the pattern which
does not end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, FunctionType, LocationAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter
from xdsl.traits import IsTerminator, Pure

from qdialect.dialects.onnx_base import OnnxOp, YieldOp
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.dialects.quant import QuantizeOp
from qdialect.ir.names import called, inherited_name, location, node_name
from qdialect.ir.place import first_of, next_of
from qdialect.ir.place import insert_before as place_before
from qdialect.ir.walking import operations
from qdialect.reasons import Blocked
from qdialect.rewriting.journal import KEEP_FLOAT, Journal, Kept, is_kept
from qdialect.rewriting.records import named, record
from qdialect.rewriting.remarks import remarks_of

DIMS = "onnx.dims"
"""The names of symbolic sizes, one list per result."""

KEPT = Blocked("kept-float", "it was asked to stay in float")

REWRITES_PER_OP = 64
"""More rewrites than this per operation, over a whole module, is a pattern that undoes another's work."""


class Pattern(ABC):
    """One rewrite. Guards come first, each with its reason; then it builds; then it replaces."""

    @abstractmethod
    def accepts(self, op_class: type[Operation]) -> bool:
        """Whether operations of this class can match: asked once per class, so it looks at traits, not at names."""

    @abstractmethod
    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        """Rewrite around `op` and return None, or return why not; None without a change if `op` does not match."""


OpT = TypeVar("OpT", bound=Operation)


class EndlessRewriting(Exception):
    """Two patterns undo each other's work: a bug in a pass, never in the model."""


@cache
def _is_pure(op_class: type[Operation]) -> bool:
    """Whether operations of a class may go when nobody takes their results; an end of a block has none and stays."""
    ends = op_class.has_trait(IsTerminator, value_if_unregistered=False)
    return not ends and op_class.has_trait(Pure, value_if_unregistered=False)


def _is_dead(op: Operation) -> bool:
    return bool(op.results) and not any(r.first_use for r in op.results) and _is_pure(type(op))


def _carry_dims(op: Operation, old: SSAValue, new: SSAValue) -> None:
    """Let `new`, which stands in for a result of `op`, keep the names of its symbolic sizes."""
    rows = op.attributes.get(DIMS)
    if not isinstance(rows, ArrayAttr) or not isinstance(old, OpResult) or not isinstance(new, OpResult):
        return
    heir = new.op
    single = len(heir.results) == 1 and isinstance(heir, OnnxOp) and DIMS not in heir.attributes
    if single and old.index < len(rows.data) and shape_of(old.type) == shape_of(new.type):
        heir.attributes[DIMS] = ArrayAttr([rows.data[old.index]])


class Rewriter:
    """
    What a pass changes the IR with. It carries names, symbolic sizes and remarks to what stands in for an operation,
    counts rewrites, erases what nobody reads any more, and keeps its hands off operations that were asked to stay.
    """

    def __init__(self, module: ModuleOp, pass_name: str = "", patterns: Sequence[Pattern] = ()):
        self._patterns = patterns
        self._by_class: dict[type[Operation], list[Pattern]] = {}
        self._worklist: list[Operation] = []
        self._queued: set[Operation] = set()
        self._pass_name = pass_name
        self._remarks = remarks_of(module)
        self._ops = operations(module)
        self._keeps = any(KEEP_FLOAT in op.attributes for op in self._ops)
        self._journal: Journal | None = None
        self._rolled_back = False
        self._replaced: list[tuple[SSAValue, SSAValue]] = []
        self._heirs: list[tuple[Operation, Operation]] = []
        self.rewrites = 0
        self.blocked: dict[Operation, Blocked] = {}

    def patterns_for(self, op_class: type[Operation]) -> list[Pattern]:
        """The patterns that accept a class of operations."""
        patterns = self._by_class.get(op_class)
        if patterns is None:
            patterns = self._by_class[op_class] = [p for p in self._patterns if p.accepts(op_class)]
        return patterns

    def push(self, op: Operation) -> None:
        """Look at `op` (again)."""
        if self.patterns_for(type(op)) and op not in self._queued:
            self._queued.add(op)
            self._worklist.append(op)

    def _push_around(self, value: SSAValue) -> None:
        if isinstance(value, OpResult):
            self.push(value.op)
        for use in value.uses:
            self.push(use.operation)
            if isinstance(use.operation, YieldOp) and (around := use.operation.parent_op()) is not None:
                self.push(around)

    def touch(self, op: Operation) -> None:
        """
        Say that `op` will compute with other numbers, though none of its operands is another value.

        Raises Kept if it was asked to stay in float.
        """
        if self._journal is not None:
            self._journal.touch(op)

    def insert_before(self, anchor: Operation, ops: Sequence[Operation]) -> None:
        """Insert new operations in front of `anchor`; one without a name is named after the anchor's node."""
        for op in ops:
            if op.location is UNKNOWN_LOC:
                # A quantize leaves the node's name to it, or their order would tell who has it.
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
        """Insert new operations behind `anchor`, which ends no block; those without a name take the next node's."""
        self.insert_before(next_of(anchor), ops)

    def replace(
        self, op: Operation, ops: Sequence[Operation], results: Sequence[SSAValue] | None = None
    ) -> None:
        """
        Replace `op` by new operations; `results` (by default those of the last) stand in for its results.

        The operation that makes the first result takes over the names; the remarks go to the new operation of the same
        kind, if there is one. Raises Kept if `op`, or what it alone needed, was asked to stay in float.
        """
        self.rewrites += 1
        if results is None:
            results = ops[-1].results
        heir = results[0].owner if results else None
        if isinstance(heir, Operation) and heir.location is UNKNOWN_LOC:
            self._locate(heir, op.location)
        self.insert_before(op, ops)
        self.touch(op)  # now that what is new can be taken out
        self._heirs += [(op, one) for one in ops if one.name == op.name][-1:]
        if is_kept(op) and isinstance(heir, Operation):  # by a pass that only says otherwise what an op is
            heir.attributes[KEEP_FLOAT] = op.attributes[KEEP_FLOAT]
        for old, new in zip(op.results, results, strict=True):
            _carry_dims(op, old, new)
            if (inherited := inherited_name(old, new)) is not None:
                self._locate(*inherited)
            self._redirect(old, new)
        self.erase(op)

    def _locate(self, op: Operation, place: LocationAttr) -> None:
        """Name an operation, which may be there already."""
        if self._journal is not None:
            former = op.location
            self._journal.on_undo(lambda: setattr(op, "location", former))
        op.location = place

    def _redirect(self, old: SSAValue, new: SSAValue, but: Operation | None = None) -> None:
        """Let every user of `old` but one take `new`."""
        if self._journal is not None:
            self._journal.watch(old)
            self._journal.uses(old)
        old.replace_uses_with_if(new, lambda use: use.operation is not but)
        self._push_around(new)
        self._replaced.append((old, new))

    def replace_uses(self, old: SSAValue, new: SSAValue, but: Operation | None = None) -> None:
        """
        Let every user of `old` take `new`, the same numbers; but one operation, which makes `new` from `old`.

        Raises Kept if that leaves an operation which was asked to stay in float without a user.
        """
        self.rewrites += 1
        self._redirect(old, new, but)
        if isinstance(old, OpResult):
            if _is_dead(old.op):
                self.touch(old.op)
            self.push(old.op)

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """
        Let `op` take `value` as its operand `index`; the former producer goes if nothing else needs it.

        Raises Kept if `op`, or the producer, was asked to stay in float.
        """
        self.touch(op)
        self.rewrites += 1
        if self._journal is not None:
            self._journal.operand(op, index)
        old = op.operands[index]
        op.operands[index] = value
        self.push(op)
        if isinstance(old, OpResult) and _is_dead(old.op):
            self.erase(old.op)

    def retype(self, value: SSAValue, type: Attribute, *, is_same: bool = True) -> SSAValue:
        """
        Give a result or a block's argument another type; the value that its users have now.

        `is_same`: whether it stands for the numbers that it did.
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
        """
        Erase an operation without users, and the producers that it leaves without users.

        Raises Kept if one of them was asked to stay in float.
        """
        stack = [op]
        while stack:
            dead = stack.pop()
            producers = {o.op: None for o in dead.operands if isinstance(o, OpResult)}
            self._erase(dead)
            for producer in producers:
                if _is_dead(producer):
                    stack.append(producer)
                else:
                    self.push(producer)

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
        if (reason := self.blocked.pop(op, None)) is not None:
            self._journal.on_undo(lambda: self.blocked.__setitem__(op, reason))
        self._journal.erase(op)

    def run(self) -> None:
        """Rewrite until nothing matches. Raises EndlessRewriting past the cap."""
        ops = self._ops
        limit = REWRITES_PER_OP * (len(ops) + 16)
        candidates = {op_class for op_class in set(map(type, ops)) if self.patterns_for(op_class)}
        self._worklist = [op for op in reversed(ops) if type(op) in candidates] if candidates else []
        self._queued = set(self._worklist)
        while self._worklist:
            op = self._worklist.pop()
            if op not in self._queued:
                continue
            self._queued.discard(op)
            if op.parent is None:
                continue
            self.blocked.pop(op, None)
            if _is_dead(op):
                self.attempt(op, "", _erase)
            else:
                self._apply(op, limit)

    def _apply(self, op: Operation, limit: int) -> None:
        if is_kept(op):
            self.blocked[op] = KEPT
            return
        for pattern in self.patterns_for(type(op)):
            name = type(pattern).__name__
            if self.attempt(op, name, pattern.rewrite):
                if self.rewrites > limit:
                    raise EndlessRewriting(f"{name} does not come to an end at '{called(op)}'")
                if op.parent is not None:
                    self.push(op)
                return

    def attempt(self, op: OpT, name: str, rewrite: Callable[[OpT, Rewriter], Blocked | None]) -> bool:
        """
        One rewrite around `op`: all of it or, if it would change what was asked to stay in float, nothing.

        Returns whether it rewrote anything. Its reason is noted, unless an earlier one is. `name`: the pattern, for
        `recording`.
        """
        before, pending = self.rewrites, len(self._worklist)
        names = named(op)
        self._replaced, self._heirs = [], []
        journal = Journal()
        self._journal = journal if self._keeps else None
        try:
            blocked = rewrite(op, self)
            if self._keeps:
                journal.check()
                journal.commit()
        except Kept:
            journal.rollback()
            self._queued.difference_update(self._worklist[pending:])
            del self._worklist[pending:]
            self.rewrites, self._rolled_back, blocked = before, True, KEPT
        self._journal = None
        if blocked is not None and op.parent is not None:
            self.blocked.setdefault(op, blocked)
        if self.rewrites == before:
            return False
        for former, heir in self._heirs:
            self._remarks.moved(former, heir)
        record(self._pass_name, name, names, self._replaced)
        return True

    def finish(self, module: ModuleOp) -> None:
        """Let functions' types say what they return now, and note why what is still there was left alone."""
        if self._rolled_back:
            _drop_loose_uses(module)
        refresh_signatures(module)
        for op, blocked in self.blocked.items():
            self._remarks.add(self._pass_name, op, blocked)


def _drop_loose_uses(module: ModuleOp) -> None:
    """Let no operation that was built for a rewrite, and never inserted, count as a user."""
    for op in operations(module):
        for value in (*op.results, *(a for region in op.regions for b in region.blocks for a in b.args)):
            for use in tuple(value.uses):
                if use.operation.parent is None:
                    use.operation.drop_all_references()


def _erase(op: Operation, rewriter: Rewriter) -> None:
    rewriter.erase(op)


def erase_unused(module: ModuleOp) -> None:
    """Erase the operations that nothing uses, and those that only they used."""
    for op in reversed(operations(module)):
        if op.parent is not None and _is_dead(op) and op.results:
            op.detach()
            op.erase()


def _as_said(type: Attribute, said: Attribute) -> Attribute:
    """A tensor type with the sizes that another says of the same tensor, where it has none itself."""
    element, shape, other = element_of(type), shape_of(type), shape_of(said)
    if element is None or other is None or (shape is not None and len(shape) != len(other)):
        return type
    sizes = [DYNAMIC] * len(other) if shape is None else shape
    return tensor_type(element, tuple(b if a == DYNAMIC else a for a, b in zip(sizes, other, strict=True)))


def refresh_signatures(module: ModuleOp) -> None:
    """
    Let every function's type say what it returns now: a rewrite may have learnt more of a shape. What the function's
    type says of an output's shape, the operation that makes it now need not know: shape inference ends at some.
    """
    for func in module.ops:
        if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp):
            for value, said in zip(list(end.operands), func.function_type.outputs, strict=False):
                known = _as_said(value.type, said)
                if known != value.type and isinstance(value, OpResult):
                    PlainRewriter.replace_value_with_new_type(value, known)
            inputs = [a.type for a in func.body.block.args]
            func.function_type = FunctionType.from_lists(inputs, list(end.operand_types))


def apply_patterns(module: ModuleOp, pass_name: str, patterns: Sequence[Pattern]) -> int:
    """Apply patterns until none matches, note what was blocked, and return how many rewrites there were."""
    rewriter = Rewriter(module, pass_name, patterns)
    rewriter.run()
    rewriter.finish(module)
    return rewriter.rewrites


@contextmanager
def rewriting(module: ModuleOp, pass_name: str) -> Generator[Rewriter]:
    """
    A rewriter for a pass that finds its operations by itself.

    Each rewrite is an `attempt` with a function. Outside of one nothing holds an operation that was asked to stay in
    float, nor is a rewrite counted.
    """
    rewriter = Rewriter(module, pass_name)
    yield rewriter
    rewriter.finish(module)
