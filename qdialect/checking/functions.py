"""`--check-numerics` for text with several functions: each is checked as a graph of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from qdialect.checking.numerics_check import BeyondClass, NumericsCheck, check_feeds
from qdialect.errors import UserError
from qdialect.rewriting.manager import PassManager


@dataclass
class Checked:
    """Result of checking several functions; the first difference beyond its class ends the check."""

    judged: list[str] = field(default_factory=list[str])
    """Names of the functions in which every pass keeps its class."""
    unjudged: dict[str, str] = field(default_factory=dict[str, str])
    """Reason why a function could not be run, by name."""

    def summary(self) -> str:
        """The result in one line."""
        text = f"check-numerics: every pass keeps its class in {len(self.judged)} functions"
        if self.unjudged:
            reasons = "; ".join(f"@{name}: {reason}" for name, reason in self.unjudged.items())
            text += f"; {len(self.unjudged)} could not be run: {reasons}"
        return text


def count_functions(module: ModuleOp) -> int:
    """Number of functions of a module."""
    return sum(isinstance(op, FuncOp) for op in module.ops)


def apart(module: ModuleOp) -> list[tuple[str, ModuleOp]]:
    """(name, module) of each function, in a copy of the module without the others."""
    modules: list[tuple[str, ModuleOp]] = []
    for func in module.ops:
        if isinstance(func, FuncOp):
            ops = [op.clone() for op in module.ops if op is func or not isinstance(op, FuncOp)]
            modules.append((func.sym_name.data, ModuleOp(ops, dict(module.attributes))))
    return modules


def check_functions(module: ModuleOp, passes: Sequence[ModulePass], context: Context) -> Checked:
    """
    Run `passes` on each function of a module by itself, with random inputs, and judge them; the module stays as it is.

    Raises BeyondClass for the first pass that is beyond its class, with the function that it happened in.
    """
    checked = Checked()
    for name, one in apart(module):
        try:
            check = NumericsCheck(one, check_feeds(one, ""))
            PassManager(check, context=context).run(passes, one)
        except BeyondClass as error:
            raise BeyondClass(error.finding, f"in @{name}, ") from error
        except (UserError, DiagnosticException, VerifyException) as error:
            # The run that follows reports errors of passes; here only what prevents the check is recorded.
            checked.unjudged[name] = " ".join(str(error).split())
        else:
            checked.judged.append(name)
    return checked
