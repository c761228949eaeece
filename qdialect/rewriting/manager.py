"""`PassManager`, the one loop that runs passes, and hooks around each pass: verification, timing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from qdialect.errors import UserError
from qdialect.rewriting.records import Records, recording


class Applied(NamedTuple):
    """One pass that has run on a module."""

    one: ModulePass
    records: Records
    """The rewrites of its patterns."""
    seconds: float
    """Wall time."""


class Hook:
    """Callbacks around each pass of a run; each does nothing unless overridden."""

    reads_names: ClassVar[bool] = False
    """True if the hook reads the names in the records of rewrites, which take time to collect."""

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        """Called with the pass that runs next."""

    def after(self, applied: Applied, module: ModuleOp) -> None:
        """Called after a pass has run; an exception ends the run."""


class PassManager:
    """Runs passes on a module, in order, and calls its hooks around each, in order."""

    def __init__(self, *hooks: Hook, context: Context | None = None):
        self._hooks = hooks
        self._context = context or Context()
        self._named = any(hook.reads_names for hook in hooks)

    def run(self, passes: Iterable[ModulePass], module: ModuleOp) -> None:
        """
        Run `passes` on `module` in place.

        Raises UserError, naming the pass, if a pass fails on the user's input, and exceptions of hooks.
        """
        for one in passes:
            for hook in self._hooks:
                hook.before(one, module)
            applied = self._apply(one, module)
            for hook in self._hooks:
                hook.after(applied, module)

    def _apply(self, one: ModulePass, module: ModuleOp) -> Applied:
        start = time.perf_counter()
        with recording(named=self._named) as records:
            try:
                one.apply(self._context, module)
            except UserError:
                raise
            except DiagnosticException as error:
                raise UserError(f"pass '{one.name}' failed: {error}") from error
            except Exception as error:
                error.add_note(f"in pass '{one.name}'")
                raise
        return Applied(one, records, time.perf_counter() - start)


class Verified(Hook):
    """Verifies the module after each pass and names the one that leaves broken IR."""

    def after(self, applied: Applied, module: ModuleOp) -> None:
        try:
            module.verify()
        except VerifyException as error:
            what = f"pass '{applied.one.name}' left IR that does not verify: {error}"
            raise UserError(what, "this is a bug in the pass") from error


class Timing(Hook):
    """`--time-passes`: the seconds of each pass."""

    def __init__(self) -> None:
        self.seconds: list[tuple[str, float]] = []

    def after(self, applied: Applied, module: ModuleOp) -> None:
        self.seconds.append((applied.one.name, applied.seconds))

    def table(self) -> str:
        """Seconds and share of each pass, in the order in which they ran."""
        total = sum(seconds for _, seconds in self.seconds)
        rows = [(f"{k:3d} {name:<28}", seconds) for k, (name, seconds) in enumerate(self.seconds, 1)]
        rows.append((f"{'    total':<32}", total))
        return "".join(f"{name} {time_:9.4f} s {100 * time_ / (total or 1):5.1f} %\n" for name, time_ in rows)


def run_passes(module: ModuleOp, passes: Sequence[ModulePass], *hooks: Hook) -> None:
    """Run passes on a module. Raises UserError, naming the pass that fails."""
    PassManager(*hooks).run(passes, module)
