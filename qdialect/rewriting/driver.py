"""
The one driver of all passes: a worklist of operations, patterns chosen by operation class, names carried, dead
producers erased, blocked rewrites noted, and a cap on rewrites that names the pattern which does not end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import OnnxOp, YieldOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.dialects.quant import QuantizeOp, StorageCastOp
from qdialect.ir.names import called, carry_name, location, node_name, tensor_names
from qdialect.ir.walking import operations
from qdialect.reasons import Blocked
from qdialect.rewriting.remarks import remarks_of

DIMS = "onnx.dims"
"""The names of symbolic sizes, one list per result."""

KEEP_FLOAT = "qdialect.keep_float"
"""An operation with this attribute is left as it is, on request."""
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


class Rewritten(NamedTuple):
    """One rewrite, for those who look for the one that went wrong."""

    pass_name: str
    pattern: str
    op: str
    """How the operation is called."""
    names: frozenset[str]
    """The names of its node and tensors, and of those around it."""


class Records(list[Rewritten]):
    """The rewrites of a `recording`."""

    def __init__(self, named: bool = True):
        super().__init__()
        self.named = named
        self.stands_for: dict[SSAValue, SSAValue] = {}
        """The value that was replaced, by the value in its place; the quantized, by the stored integers it reads."""

    def replaced(self, old: SSAValue, new: SSAValue) -> None:
        """Note that `new` came in the place of `old`."""
        self.stands_for.setdefault(new, old)
        if isinstance(new.owner, StorageCastOp):
            self.stands_for.setdefault(new.owner.operands[0], new)


_RECORDS: list[Records] = []


@contextmanager
def recording(*, named: bool = True) -> Generator[Records]:
    """A list that grows with every rewrite made inside; the names cost time, so they are left out on demand."""
    records = Records(named)
    _RECORDS.append(records)
    try:
        yield records
    finally:
        _RECORDS[:] = [one for one in _RECORDS if one is not records]


def _names_around(op: Operation) -> frozenset[str]:
    around = [op, *(o.op for o in op.operands if isinstance(o, OpResult))]
    around += [use.operation for result in op.results for use in result.uses]
    return frozenset(name for one in around for name in (node_name(one), *tensor_names(one)) if name)


class EndlessRewriting(Exception):
    """Two patterns undo each other's work: a bug in a pass, never in the model."""


@cache
def _is_pure(op_class: type[Operation]) -> bool:
    return op_class.has_trait(Pure, value_if_unregistered=False)


def _is_dead(op: Operation) -> bool:
    return not any(r.first_use for r in op.results) and _is_pure(type(op))


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
    """What a pattern changes the IR with; it keeps the worklist and carries the names."""

    def __init__(self, patterns: Sequence[Pattern], pass_name: str = ""):
        self._patterns = patterns
        self._by_class: dict[type[Operation], list[Pattern]] = {}
        self._worklist: list[Operation] = []
        self._queued: set[Operation] = set()
        self._pass_name = pass_name
        self.rewrites = 0
        self.blocked: dict[Operation, Blocked] = {}

    def patterns_for(self, op_class: type[Operation]) -> list[Pattern]:
        """The patterns that accept a class of operations."""
        found = self._by_class.get(op_class)
        if found is None:
            found = self._by_class[op_class] = [p for p in self._patterns if p.accepts(op_class)]
        return found

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

    def insert_before(self, anchor: Operation, ops: Sequence[Operation]) -> None:
        """Insert new operations in front of `anchor`; one without a name is named after the anchor's node."""
        assert isinstance(anchor.parent, Block)
        for op in ops:
            if op.location is UNKNOWN_LOC:
                # A quantize leaves the node's name to it, or their order would tell who has it.
                op.location = location("" if isinstance(op, QuantizeOp) else node_name(anchor))
        anchor.parent.insert_ops_before(ops, anchor)
        for op in ops:
            self.push(op)

    def replace(
        self, op: Operation, ops: Sequence[Operation], results: Sequence[SSAValue] | None = None
    ) -> None:
        """
        Replace `op` by new operations; `results` (by default those of the last) stand in for its results.

        The operation that makes the first result takes over the names.
        """
        self.rewrites += 1
        if results is None:
            results = ops[-1].results
        heir = results[0].owner if results else None
        if isinstance(heir, Operation) and heir.location is UNKNOWN_LOC:
            heir.location = op.location
        self.insert_before(op, ops)
        for old, new in zip(op.results, results, strict=True):
            _carry_dims(op, old, new)
            carry_name(old, new)
            old.replace_all_uses_with(new)
            self._push_around(new)
            for records in _RECORDS:
                records.replaced(old, new)
        self.erase(op)

    def replace_uses(self, old: SSAValue, new: SSAValue) -> None:
        """Let every user of `old` take `new`."""
        self.rewrites += 1
        old.replace_all_uses_with(new)
        self._push_around(new)
        if isinstance(old, OpResult):
            self.push(old.op)

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Let `op` take `value` as its operand `index`; the former producer goes if nothing else needs it."""
        self.rewrites += 1
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
        new = PlainRewriter.replace_value_with_new_type(value, type)
        self._push_around(new)
        for records in _RECORDS if is_same else ():
            records.replaced(value, new)
        return new

    def erase(self, op: Operation) -> None:
        """Erase an operation without users, and the producers that it leaves without users."""
        stack = [op]
        while stack:
            dead = stack.pop()
            producers = {o.op: None for o in dead.operands if isinstance(o, OpResult)}
            self._queued.discard(dead)
            self.blocked.pop(dead, None)
            dead.detach()
            dead.drop_all_references()
            for producer in producers:
                if _is_dead(producer):
                    stack.append(producer)
                else:
                    self.push(producer)

    def run(self, module: ModuleOp) -> None:
        """Rewrite until nothing matches. Raises EndlessRewriting past the cap."""
        ops = operations(module)
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
            if _is_dead(op):
                self.erase(op)
                continue
            self._apply(op, limit)

    def _apply(self, op: Operation, limit: int) -> None:
        self.blocked.pop(op, None)
        if KEEP_FLOAT in op.attributes:
            self.blocked[op] = KEPT
            return
        for pattern in self.patterns_for(type(op)):
            before = self.rewrites
            names = (
                (called(op), _names_around(op))
                if any(one.named for one in _RECORDS)
                else ("", frozenset[str]())
            )
            blocked = pattern.rewrite(op, self)
            if self.rewrites > limit:
                raise EndlessRewriting(f"{type(pattern).__name__} does not come to an end at '{called(op)}'")
            if self.rewrites != before:
                for records in _RECORDS:
                    records.append(Rewritten(self._pass_name, type(pattern).__name__, *names))
                if op.parent is not None:
                    self.push(op)
                return
            if blocked is not None:
                self.blocked.setdefault(op, blocked)


def refresh_signatures(module: ModuleOp) -> None:
    """Let every function's type say what it returns now: a rewrite may have learnt more of a shape."""
    for func in module.ops:
        if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp):
            inputs = [a.type for a in func.body.block.args]
            func.function_type = FunctionType.from_lists(inputs, list(end.operand_types))


def apply_patterns(module: ModuleOp, pass_name: str, patterns: Sequence[Pattern]) -> int:
    """Apply patterns until none matches, note what was blocked, and return how many rewrites were made."""
    rewriter = Rewriter(patterns, pass_name)
    rewriter.run(module)
    refresh_signatures(module)
    table = remarks_of(module)
    for op, blocked in rewriter.blocked.items():
        table.add(pass_name, op, blocked)
    return rewriter.rewrites
