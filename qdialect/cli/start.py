"""What a process that is ours does before it imports anything large."""

import dataclasses
import re
from collections.abc import Callable
from functools import cache, partial
from types import CodeType
from typing import Any

_METHOD = re.compile(r"def __create_fn__\([^\n]*\):\n def (__\w+__)\(")
"""How `dataclasses` of Python 3.11 and 3.12 begins the text of a method; of another text nothing is put off."""


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<dataclass>", "exec")


def _put_off(name: str, text: str, globals: dict[str, Any], **closure: Any) -> Callable[..., Any]:
    """A method that compiles itself when it is first called, and then stands in its class by itself."""
    compiled: list[Callable[..., Any]] = []

    def method(self: object, *arguments: Any, **named: Any) -> Any:
        if not compiled:
            factory: dict[str, Any] = {}
            exec(_compiled(text), globals, factory)
            compiled.append(factory["__create_fn__"](**closure))
            compiled[0].__qualname__ = method.__qualname__
            for owner in type(self).__mro__:
                if owner.__dict__.get(name) is method:
                    setattr(owner, name, compiled[0])
        return compiled[0](self, *arguments, **named)

    method.__name__ = name
    return method


def put_off_methods_of_dataclasses() -> None:
    """
    Let Python compile a method of a dataclass when it is first called: a sixth of the time of a small compile.

    `dataclasses` writes the methods of each class as text and executes it. What is imported here defines 400 such
    classes, of which most make no object, and most of whose methods read the same: those are compiled once.
    """

    def execute(text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        method = _METHOD.match(text)
        if method is None:
            exec(_compiled(text), globals, locals)
        else:
            locals["__create_fn__"] = partial(_put_off, method[1], text, globals)

    dataclasses.__dict__["exec"] = execute  # the name by which the module calls the builtin
