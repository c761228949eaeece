"""
`--check-numerics`: comparison of values before and after each pass, op by op, against the pass's class of exactness.

How a pass is judged. The oracle form of the module is run before the pass, every tensor an output. A value of the
module after the pass *corresponds* to one before it if they share an ONNX tensor name or a graph output (or, without
a name or with a new one, if it is the identical value, or its replacement by a rewrite), and both hold the same kind of
element: equal stored integers, or equal real numbers in steps of one scale, so that u8 and i8 readings of one byte are
compared too.
Each such value is then cut after the pass: it is computed from the nearest corresponding values above it, which are
fed as the oracle had them before, and compared with its own former value. So errors do not accumulate over a model,
and only the ops between two such values, which the pass created, are judged:

    exact   no element differs
    close   integers differ by one step at most, floats by 1e-4 of the largest magnitude at most, those of half
            precision by a step of their own; the result of a dequantize is compared in integers, the float result
            of a linear op with an int32 bias within half a step of that

Only ops that the pass created or changed are run again: the others compute the same results from the same values.
A value whose name was dropped is judged through its users. Constants are neither cut nor compared with constants of the
same name. Unused values are not judged, nor are lossy passes. Random ops are not compared, nor, against `close`, the
results of Loop and Scan: each iteration starts from the differences of the previous one. After `lower-to-tosa` each op
is compared with its lowering, in integer-only arithmetic (`upstream/tosa_check.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from itertools import islice

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from qdialect.checking.judging import Difference, Finding, beyond, step_of
from qdialect.checking.op_fingerprints import changed_ops, rows_of
from qdialect.dialects.onnx_base import ConstantOp, promise_of
from qdialect.dialects.onnx_types import quantized_of
from qdialect.errors import UserError
from qdialect.evaluation.data import unlike_rows
from qdialect.evaluation.feeds import fitting_feeds, given_feeds, retyped_feeds
from qdialect.evaluation.observing import (
    OUTPUT,
    Seen,
    as_stored,
    computed,
    in_steps,
    input_names,
    is_random,
    names_of,
    observe,
    taken,
)
from qdialect.evaluation.oracle_form import is_visible
from qdialect.exactness import Exactness
from qdialect.ir.interface import main_of
from qdialect.ir.names import called, value_name
from qdialect.numerics import Array
from qdialect.promises.control import Carries
from qdialect.rewriting.copying import Copy
from qdialect.rewriting.manager import Applied, Hook, PassManager
from qdialect.rewriting.passes import exactness_of
from qdialect.rewriting.records import Records, Rewritten
from qdialect.text.upstream import upstream_dialect
from qdialect.upstream.tosa.site import TosaSite
from qdialect.upstream.tosa_check import compared_ops

MAX_BATCHES = 4
"""Greatest number of a file's batches that are run: each pass runs each twice."""


class Reference:
    """The oracle's values before a pass, by value and by name; updated after each pass."""

    def __init__(self, module: ModuleOp, feeds: Mapping[str, Array]):
        self._feeds = feeds
        self._look(module)

    def copied(self, values: Mapping[SSAValue, SSAValue]) -> Reference:
        """The same values of a copied module, in which `values` stand for those of this one."""
        other = copy(self)
        other._seen = {values[value]: seen for value, seen in self._seen.items() if value in values}
        return other

    def _look(self, module: ModuleOp) -> None:
        self._keep(names_of(module), observe(module, self._feeds))

    def _keep(self, labels: Mapping[SSAValue, Sequence[str]], seen: dict[SSAValue, Seen]) -> None:
        self._seen, self._by_name = seen, dict[str, list[Seen]]()
        for value, names in labels.items():
            if value in seen:
                for name in names:
                    self._by_name.setdefault(name, []).append(seen[value])

    def _expected(self, names: Sequence[str], type: Attribute, computed: bool) -> Array | None:
        """The former elements of a value with these names, as stored by its present type; None if there was none."""
        for some in (names, [n for n in names if n.startswith(OUTPUT)]):
            expected = [
                array
                for name in some
                for seen in self._by_name.get(name, ())
                if (computed or seen.computed) and (array := as_stored(seen, type)) is not None
            ]
            if expected and all(_identical(expected[0], other) for other in expected[1:]):
                return expected[0]
        return None

    def _wanted(self, value: SSAValue, names: Sequence[str], records: Records) -> Array | None:
        if not is_visible(value) or value.first_use is None:
            return None
        if (former := records.in_steps.get(value)) is not None:
            return in_steps(self._seen[former], value.type) if former in self._seen else None
        array = self._expected(names, value.type, not _is_constant(value))
        if array is not None or any(n in self._by_name for n in names) or _is_constant(value):
            return array
        seen = self._former(value, records.stands_for)
        return seen.stored if seen is not None and seen.computed else None

    def _former(self, value: SSAValue, stands_for: Mapping[SSAValue, SSAValue]) -> Seen | None:
        """The former elements of a value without a name, or of a value that it replaces, as the value's type."""
        places = [value]
        while places[-1] not in self._seen and (former := stands_for.get(places[-1])) is not None:
            places.append(former)
        seen = self._seen.get(places[-1])
        for place in reversed(places):
            array = None if seen is None else as_stored(seen, place.type)
            if seen is None or array is None:
                return None
            seen = Seen(array, quantized_of(place.type), seen.computed)
        return seen

    def in_integers(self, module: ModuleOp, exactness: Exactness, records: Records) -> list[Difference]:
        """The results of a lowering to TOSA that exceed the class, in the order of the graph."""

        def known(value: SSAValue) -> Array | None:
            seen = self._former(value, records.stands_for)
            return None if seen is None else seen.stored

        feeds = [self._feeds[name] for name in input_names(module)]
        return [
            Difference(value_name(one.op.results[0]) or called(one.op), one.op.name, called(one.op), detail)
            for one in compared_ops(module, feeds, records.lowered, known)
            if (detail := beyond(one.expected, one.got, exactness)) is not None
        ]

    def _affected(
        self,
        module: ModuleOp,
        changed: Collection[Operation],
        names: Mapping[SSAValue, Sequence[str]],
        records: Records,
    ) -> tuple[list[Operation], dict[SSAValue, Array]]:
        """
        `changed` and the ops that use replaced results of these, in the order of the graph; and the expected results.
        """
        ops: list[Operation] = []
        wanted: dict[SSAValue, Array] = {}
        new: set[SSAValue] = set()
        for op in main_of(module).body.block.ops:
            if isinstance(op, ReturnOp) or not (op in changed or any(v in new for v in taken(op))):
                continue
            ops.append(op)
            for value in op.results:
                if (array := self._wanted(value, names.get(value, ()), records)) is not None:
                    wanted[value] = array
                else:
                    new.add(value)
        return ops, wanted

    def differences(
        self, module: ModuleOp, exactness: Exactness, changed: Collection[Operation], records: Records
    ) -> list[Difference]:
        """
        The values of `module` after a pass that exceed the class, in the order of the graph.

        changed: the ops of the graph that the pass created or changed. The others compute the same from the same
        values, so they are not run again. records: the rewrites of the pass.
        """
        names = names_of(module)
        ops, wanted = self._affected(module, changed, names, records)
        constants = {op.results[0]: op.value.array() for op in ops if isinstance(op, ConstantOp) and op.value}
        again = set(ops)
        seen = {
            value: self._seen[value]
            for op in main_of(module).body.block.ops
            if op not in again
            for value in op.results
            if value in self._seen
        }
        known = {v: one.stored for v, one in seen.items() if one.computed}
        known |= {v: a for v, a in wanted.items() if v not in constants}
        seen |= {v: Seen(a, quantized_of(v.type), False) for v, a in constants.items() if is_visible(v)}
        now = computed(module, self._feeds, known, ops)
        seen |= {v: Seen(a, quantized_of(v.type), True) for v, a in now.items()}
        for value, labels in names.items():  # an existing value may have become an output
            outputs = [n for n in labels if n.startswith(OUTPUT)]
            if outputs and value in seen and value not in wanted:
                if (array := self._expected(outputs, value.type, not _is_constant(value))) is not None:
                    wanted[value] = array
        added_up = _added_up(module, known) if exactness is Exactness.CLOSE else set[SSAValue]()
        return self._judged(module, wanted, seen, names, exactness, added_up)

    def _judged(
        self,
        module: ModuleOp,
        wanted: Mapping[SSAValue, Array],
        seen: dict[SSAValue, Seen],
        names: Mapping[SSAValue, Sequence[str]],
        exactness: Exactness,
        added_up: Collection[SSAValue],
    ) -> list[Difference]:
        differences: list[Difference] = []
        moved = False
        for value, array in wanted.items():
            if is_random(value):
                seen[value] = Seen(array, quantized_of(value.type), True)
                continue
            op, now = value.owner, seen[value].stored
            assert isinstance(op, Operation)
            moved |= not _identical(array, now)
            if value in added_up:
                continue
            if (detail := beyond(array, now, exactness, step_of(op, array))) is not None:
                name = _shown(value, op, names.get(value, ()))
                differences.append(Difference(name, op.name, called(op), detail))
        if moved and not differences:
            self._look(module)  # the users of a changed value have not been run with it
        else:
            self._keep(names, seen)
        return differences


def _shown(value: SSAValue, op: Operation, names: Sequence[str]) -> str:
    """Name of a value in messages: its ONNX name, else its name in text, else that of its operation."""
    own = next((name for name in names if not name.startswith(OUTPUT)), "")
    hint = f"%{value.name_hint}" if value.name_hint else ""
    return own or hint or (names[0].removeprefix(OUTPUT) if names else called(op))


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp) and value.owner.value is not None


def _identical(a: Array, b: Array) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def check_feeds(module: ModuleOp, path: str) -> list[Mapping[str, Array]]:
    """
    Input data of `--check-numerics`: the first batches of an .npz file, or random inputs if `path` is empty.

    Raises UserError if the file does not fit, or onnxruntime cannot run the module.
    """
    feeds: list[Mapping[str, Array]] = [fitting_feeds(module)] if not path else []
    feeds += islice(given_feeds(module, path), MAX_BATCHES) if path else ()
    if not feeds:
        raise UserError(f"'{path}' holds no sample", "give at least one")
    return feeds


def _reference(module: ModuleOp, feeds: Mapping[str, Array]) -> Reference:
    """The values on the user's data. Raises UserError if onnxruntime cannot run the module on it."""
    try:
        return Reference(module, feeds)
    except UserError as error:
        raise unlike_rows(feeds) or error from None


def _added_up(module: ModuleOp, cut: Collection[SSAValue]) -> set[SSAValue]:
    """The results of Loop and Scan, and values computed from them, down to the next cut."""
    values: set[SSAValue] = set()
    for op in main_of(module).body.block.ops:
        promise = promise_of(op, Carries)
        rounds = promise is not None and any(s.argument is not None for s in promise.slots(op))  # pyright: ignore
        if rounds or any(o in values and o not in cut for inner in op.walk() for o in inner.operands):
            values.update(op.results)
    return values


def _pattern_at(difference: Difference, records: Sequence[Rewritten]) -> str:
    """The pattern that last rewrote a node, or one adjacent to it; empty if none did."""
    wanted = {difference.tensor, difference.node}
    for record in reversed(records):
        if record.op in wanted:
            return record.pattern
    return next((r.pattern for r in reversed(records) if wanted & r.names), "")


class BeyondClass(UserError):
    """A pass changed results by more than its class allows."""

    def __init__(self, finding: Finding, place: str = ""):
        super().__init__(f"{place}{finding}", "this is a bug in the pass")
        self.finding = finding


class NumericsCheck(Hook):
    """Compares values before and after each pass, and raises BeyondClass for the first that exceeds its class."""

    reads_names = True

    def __init__(self, module: ModuleOp, feeds: Sequence[Mapping[str, Array]], *, verify: bool = False):
        """
        feeds: inputs by graph input name, each judged by itself. verify: True to verify changed ops as well.

        Raises UserError if onnxruntime cannot run the module.
        """
        self._feeds, self._verify = feeds, verify
        self._judged, self._lossy = 0, 0
        self._others: list[str] = []
        self._references = [_reference(module, one) for one in feeds]
        self._rows = rows_of(module)

    def after(self, applied: Applied, module: ModuleOp) -> None:
        before, self._rows = self._rows, rows_of(module)
        changed = changed_ops(before, self._rows)
        if not changed and len(self._rows) == len(before):
            return
        exactness = exactness_of(applied.one)
        if exactness is Exactness.LOSSY:
            self._lossy += 1
            self._feeds = [retyped_feeds(module, one) for one in self._feeds]
            self._references = [Reference(module, one) for one in self._feeds]
            return
        for op in self._rows if self._verify else ():  # in their order: the first that is wrong is named
            if op in changed and op.parent_op() is not None:
                op.verify(verify_nested_ops=not isinstance(op, FuncOp))
        records = applied.records
        if (dialect := upstream_dialect(module)) and (dialect != TosaSite.DIALECT or not records.lowered):
            self._others.append(applied.one.name)
            return
        self._judged += 1
        for reference in self._references:
            if dialect:
                differences = reference.in_integers(module, exactness, records)
            else:
                differences = reference.differences(module, exactness, changed, records)
            if differences:
                pattern = _pattern_at(differences[0], records)
                raise BeyondClass(Finding(applied.one.name, exactness.value, pattern, differences[0]))

    def copied(self, of: Copy) -> NumericsCheck:
        """The check of a copy of the module, on which other passes go on from here."""
        other = copy(self)
        other._others = list(self._others)
        other._references = [one.copied(of.values) for one in self._references]
        other._rows = rows_of(of.module)
        return other

    def summary(self) -> str:
        """One line on the judged passes, after the last."""
        inputs = f"{len(self._feeds)} input{'' if len(self._feeds) == 1 else 's'}"
        lossy = f"; {self._lossy} lossy on purpose, not judged" if self._lossy else ""
        others = f"; not judged: {', '.join(self._others)}, whose ops no oracle runs" if self._others else ""
        judged = f"{self._judged} passes changed the graph, each within its class on {inputs}"
        return f"check-numerics: {judged}{lossy}{others}"


def check_passes(
    module: ModuleOp, passes: Iterable[ModulePass], feeds: Sequence[Mapping[str, Array]]
) -> Finding | None:
    """
    Run `passes` on `module` in place and judge each; the first that exceeds its class ends the run and is returned.

    Raises UserError if onnxruntime cannot run the module.
    """
    try:
        PassManager(NumericsCheck(module, feeds)).run(passes, module)
    except BeyondClass as error:
        return error.finding
    return None
