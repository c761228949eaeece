"""
What the sessions of each runtime do with a model as they load it, apart from what quantization means.

A folder for each runtime, `<name>/rules.py`, whose `TABLE` has the rules (`qdialect/runtimes/rules.py`). A target with
`session = "<name>"` gets its guards; nothing else lists the runtimes.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from qdialect.errors import UserError
from qdialect.runtimes.rules import SessionRules


def runtime_names() -> tuple[str, ...]:
    """The runtimes that have rules, sorted: the folders beside this file."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/rules.py")))


def session_rules(runtime: str) -> SessionRules:
    """The rules of a runtime, the `session` of a target's file. Raises UserError if it has none."""
    if runtime not in runtime_names():
        raise UserError(
            f"there are no rules for sessions of '{runtime}'",
            f"for `session`, choose from {', '.join(runtime_names())}, or leave it out",
        )
    module: Any = import_module(f"{__name__}.{runtime}.rules")
    table: SessionRules = module.TABLE
    return table
