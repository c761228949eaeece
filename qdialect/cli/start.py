"""What a process that is ours does before it imports anything large."""

import dataclasses
from functools import cache
from types import CodeType
from typing import Any


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<dataclass>", "exec")


def share_methods_of_dataclasses() -> None:
    """
    Let Python compile methods of dataclasses that read the same once: a tenth of the time of a small compile.

    `dataclasses` writes the methods of each class as text and executes it. What is imported here defines 400 such
    classes, and most of their methods read the same.
    """

    def execute(text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        exec(_compiled(text), globals, locals)

    dataclasses.__dict__["exec"] = execute  # the name by which the module calls the builtin
