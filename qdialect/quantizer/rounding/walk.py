"""
A graph run on samples once, in parts between which it may change: for roundings and biases that depend on those before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.observing import input_names, open_type, taken, with_sources
from qdialect.evaluation.oracle_form import oracle_form
from qdialect.evaluation.parallel import parallel_map
from qdialect.evaluation.session import session_for
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.rounding.layers import Array
from qdialect.quantizer.statistics.observer import Feeds


class Walk:
    """
    A graph run on samples part by part: a part takes what those before it computed, and keeps what later ops read. The
    ops that no part has run may change in between, and the last op of a part.
    """

    def __init__(self, module: ModuleOp, rows: Sequence[Feeds]):
        self._module, self._rows, self._names = module, rows, input_names(module)
        self._varying = set[SSAValue](main_of(module).body.block.args)
        """Values that depend on a sample."""
        self._known: list[dict[SSAValue, Array]] = [{} for _ in rows]
        self._done = set[Operation]()

    def results(self, last: OnnxOp) -> list[Array]:
        """The result of `last` for each sample; `last` may change afterwards, and is then run again."""
        return self._run_until(self._ops.index(last) + 1, last)

    def inputs(self, op: OnnxOp) -> list[Array]:
        """
        The first operand of `op` for each sample, computed by the ops before it; `op` may change afterwards. Empty if
        it is an input of the graph, or depends on none.
        """
        self._run_until(self._ops.index(op), None)
        value = op.operands[0]
        return [known[value] for known in self._known if value in known]

    @property
    def _ops(self) -> list[Operation]:
        return list(main_of(self._module).body.block.ops)

    def _run_until(self, end: int, last: OnnxOp | None) -> list[Array]:
        """
        Run the first `end` ops as far as they are not done. Returns the results of `last`, the last of them, which the
        next part runs again; empty if there is none.
        """
        ops = self._ops
        part: list[Operation] = []
        for op in ops[:end]:
            if op not in self._done and not self._varying.isdisjoint(taken(op)):
                self._varying.update(op.results)
                part.append(op)
        self._done.update(op for op in part if op is not last)
        read = {value for op in ops[end - (last is not None) :] for value in taken(op)} & self._varying
        wanted = [v for op in part for v in op.results if v in read or op is last]
        if not wanted:
            return []
        run = self._runner(part, wanted)
        results: list[Array] = []
        for known, found in zip(self._known, parallel_map(run, range(len(self._rows))), strict=True):
            if last is not None:
                results.append(found.pop(last.results[0]))
            for value in known.keys() - read:
                del known[value]
            known.update(found)
        return results

    def _runner(
        self, ops: Sequence[Operation], wanted: Sequence[SSAValue]
    ) -> Callable[[int], dict[SSAValue, Array]]:
        """A function that computes the wanted values for the k-th sample."""
        first = self._known[0]
        only = with_sources(ops, first)
        used = {value for op in only for value in taken(op)} & first.keys()
        form = oracle_form(self._module, lambda v: open_type(v, first[v]) if v in used else None, only)
        names = {v: f"o{k}" for k, v in enumerate(form.outputs) if v in set(wanted)}
        one = session_for(export_model(form.module), frozenset(names.values()))

        def run(k: int) -> dict[SSAValue, Array]:
            row, known = self._rows[k], self._known[k]
            feeds = {f"i{n}": row[name] for n, name in enumerate(self._names) if name in row}
            feeds |= {f"c{n}": known[v] for n, v in enumerate(form.cuts)}
            return dict(zip(names, map(np.asarray, one.run([*names.values()], feeds)), strict=True))

        return run
