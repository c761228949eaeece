"""
The greedy pattern driver of all passes: a worklist of operations, patterns selected by operation class, names carried,
dead producers erased, blocked rewrites recorded as remarks, kept operations unchanged, and a cap on the number of
rewrites that names the pattern which does not terminate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter

from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.names import called
from qdialect.ir.symbols import DIMS, names_attr, size_names, symbol_names
from qdialect.ir.walking import operations
from qdialect.reasons import Blocked, Refused
from qdialect.rewriting.changes import Changes, is_dead
from qdialect.rewriting.journal import KEEP_FLOAT, Journal, Kept, kept_because
from qdialect.rewriting.records import Laid, around, record
from qdialect.rewriting.remarks import given, remarks_of

CAST_OPS = (QuantizeOp, DequantizeOp, StorageCastOp)
REWRITES_PER_OP = 64
"""Cap on rewrites per operation of the module: beyond it, a pattern undoes another's work."""


class Pattern(ABC):
    """One rewrite. Guards come first, each with its reason; then it builds; then it replaces."""

    @abstractmethod
    def accepts(self, op_class: type[Operation]) -> bool:
        """True if operations of this class can match: called once per class, so it tests traits, not names."""

    @abstractmethod
    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        """Rewrite around `op` and return None, or return the reason why not; None if `op` does not match."""


OpT = TypeVar("OpT", bound=Operation)


class EndlessRewriting(Exception):
    """Raised if patterns do not terminate: a bug in a pass, never in the model."""


class Rewriter(Changes):
    """
    `Changes` driven by a worklist: applies to each operation the patterns that accept its class. Remarks follow an
    operation's replacement, and a blocked rewrite is recorded.
    """

    def __init__(self, module: ModuleOp, pass_name: str = "", sets: Mapping[str, Sequence[Pattern]] = {}):
        """pass_name: of rewrites without a pattern; sets: patterns by the name of their pass."""
        super().__init__()
        known: dict[str, tuple[str, Pattern]] = {}
        for name, patterns in sets.items():
            for one in patterns:  # a cleanup that several sets take along is applied once
                known.setdefault(type(one).__name__, (name, one))
        self._patterns = list(known.values())
        self._by_class: dict[type[Operation], list[tuple[str, Pattern]]] = {}
        self._worklist: list[Operation] = []
        self._pass_name = pass_name or next(iter(sets), "")
        self._remarks = remarks_of(module)
        self._ops = operations(module)
        self._keeps = any(KEEP_FLOAT in op.attributes for op in self._ops)
        self._rolled_back = False
        self._lowered: list[tuple[SSAValue, Laid]] = []
        self._notes: list[tuple[str, Operation, Blocked]] = []

    def _patterns_for(self, op_class: type[Operation]) -> list[tuple[str, Pattern]]:
        """The patterns that accept a class of operations, each with the name of its pass."""
        patterns = self._by_class.get(op_class)
        if patterns is None:
            patterns = self._by_class[op_class] = [row for row in self._patterns if row[1].accepts(op_class)]
        return patterns

    def push(self, op: Operation) -> None:
        """Look at `op` (again)."""
        if self._patterns_for(type(op)) and op not in self._queued:
            self._queued.add(op)
            self._worklist.append(op)

    def run(self) -> None:
        """Rewrite until nothing matches. Raises EndlessRewriting past the cap."""
        ops = self._ops
        limit = REWRITES_PER_OP * (len(ops) + 16)
        candidates = {op_class for op_class in set(map(type, ops)) if self._patterns_for(op_class)}
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
            if is_dead(op):
                self.attempt(op, "", _erase)
            else:
                self._apply(op, limit)

    def _apply(self, op: Operation, limit: int) -> None:
        if KEEP_FLOAT in op.attributes:
            self.blocked[op] = {self._patterns_for(type(op))[0][0]: kept_because(op)}
            return
        for pass_name, pattern in self._patterns_for(type(op)):
            self._pass_name, name = pass_name, type(pattern).__name__
            if self.attempt(op, name, pattern.rewrite):
                if self.rewrites > limit:
                    raise EndlessRewriting(f"{name} does not come to an end at '{called(op)}'")
                if op.parent is not None:
                    self.push(op)
                return

    def attempt(self, op: OpT, name: str, rewrite: Callable[[OpT, Rewriter], Blocked | None]) -> bool:
        """
        One rewrite around `op`, a transaction: undone if it would change an operation that is kept in float.

        Returns True if it rewrote anything. A reason is recorded unless `op` has an earlier one. name: the pattern, for
        `recording`.
        """
        before, pending = self.rewrites, len(self._worklist)
        beside = around(op)
        self._replaced, self._in_steps, self._lowered, self._heirs = [], [], [], []
        self._journal = Journal() if self._keeps else None
        try:
            try:
                blocked = rewrite(op, self)
            except Refused as refused:
                blocked = refused.blocked
            if blocked is not None:
                given(self._pass_name, blocked)
            if self._journal is not None:
                self._journal.check()
        except Kept as kept:
            if self._journal is not None:
                self._journal.rollback()
            self._queued.difference_update(self._worklist[pending:])
            del self._worklist[pending:]
            self.rewrites, self._rolled_back, blocked = before, True, kept.reason
        self._journal = None
        if blocked is not None and op.parent is not None:
            self.blocked.setdefault(op, {}).setdefault(self._pass_name, blocked)
        if self.rewrites == before:
            return False
        for former, heir in self._heirs:
            self._remarks.moved(former, heir)
        record(self._pass_name, name, beside, self._replaced, self._in_steps, self._lowered)
        return True

    def lowered(self, old: SSAValue, tensor: SSAValue, *, last: bool) -> None:
        """Record that `tensor`, of another dialect, holds the value `old`. last: with its channels last."""
        self._lowered.append((tensor, Laid(old, last)))

    def note(self, op: Operation, reason: Blocked) -> None:
        """Record a remark on a new operation, for the case that it remains."""
        given(self._pass_name, reason)
        self._notes.append((self._pass_name, op, reason))

    def finish(self, module: ModuleOp) -> None:
        """Update the functions' types to their results, and record the reasons on operations that remain."""
        if self._rolled_back:
            _drop_loose_uses(module)
        refresh_signatures(module)
        for op, reasons in self.blocked.items():
            for pass_name, blocked in reasons.items():
                self._remarks.record(pass_name, op, blocked)
        for pass_name, op, reason in self._notes:
            if op.parent is not None:
                self._remarks.record(pass_name, op, reason)


def _drop_loose_uses(module: ModuleOp) -> None:
    """Drop the uses by operations that were built for a rewrite and never inserted."""
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
        if op.parent is not None and is_dead(op) and op.results:
            op.detach()
            op.erase()


def _as_said(type: Attribute, said: Attribute) -> Attribute:
    """A tensor type with unknown sizes filled in from type `said` of the same tensor."""
    element, shape, other = element_of(type), shape_of(type), shape_of(said)
    if element is None or other is None or (shape is not None and len(shape) != len(other)):
        return type
    sizes = [DYNAMIC] * len(other) if shape is None else shape
    return tensor_type(element, tuple(b if a == DYNAMIC else a for a, b in zip(sizes, other, strict=True)))


def _retype(value: SSAValue, said: Attribute) -> None:
    """Fill in sizes of `value`, and of all casts of it."""
    value = PlainRewriter.replace_value_with_new_type(value, _as_said(value.type, said))
    for cast in [use.operation for use in value.uses if isinstance(use.operation, CAST_OPS)]:
        _retype(cast.results[0], said)


def refresh_signatures(module: ModuleOp) -> None:
    """
    Update every function's type to its results, whose shapes a rewrite may have refined. Sizes that the function's
    type states of an output are kept if the defining operation lacks them: shape inference does not cover all. Casts
    have the shape of their operand, and no other.
    """
    for func in module.ops:
        if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp):
            for place, said in zip(range(len(end.operands)), func.function_type.outputs, strict=False):
                value = end.operands[place]  # a value that is returned twice is another by now
                while isinstance(value.owner, CAST_OPS):
                    value = value.owner.operands[0]
                if _as_said(value.type, said) != value.type and isinstance(value, OpResult):
                    _retype(value, said)
            inputs, results = [a.type for a in func.body.block.args], list(end.operand_types)
            former = func.function_type
            if inputs != list(former.inputs) or results != list(former.outputs):  # most passes change neither
                func.function_type = FunctionType.from_lists(inputs, results)
            _name_outputs(func, end)


def _name_outputs(func: FuncOp, end: ReturnOp) -> None:
    """State the names of symbolic sizes of outputs that state none of their rank."""
    stated = list(func.res_attrs or ())
    rows = list(map(_with_names, stated, end.operands))
    if rows != stated:
        func.res_attrs = ArrayAttr(rows)


def _with_names(row: DictionaryAttr, output: SSAValue) -> DictionaryAttr:
    if shape_of(output.type) is None or symbol_names(row.data.get(DIMS), output.type):
        return row
    others, names = {key: value for key, value in row.data.items() if key != DIMS}, size_names(output)
    return DictionaryAttr({**others, DIMS: names_attr(names)} if any(names) else others)


def apply_patterns(module: ModuleOp, pass_name: str, patterns: Sequence[Pattern]) -> int:
    """Apply patterns until none matches, record blocked rewrites, and return the number of rewrites."""
    return apply_sets(module, {pass_name: patterns})


def apply_sets(module: ModuleOp, sets: Mapping[str, Sequence[Pattern]]) -> int:
    """`apply_patterns` with the sets of several passes, by their names, as one."""
    rewriter = Rewriter(module, sets=sets)
    rewriter.run()
    rewriter.finish(module)
    return rewriter.rewrites


@contextmanager
def rewriting(module: ModuleOp, pass_name: str) -> Generator[Rewriter]:
    """
    A rewriter for a pass that finds its operations by itself.

    Each rewrite is an `attempt` with a function. Outside of an `attempt`, kept operations are not protected,
    and rewrites are not counted.
    """
    rewriter = Rewriter(module, pass_name)
    yield rewriter
    rewriter.finish(module)
