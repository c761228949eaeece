"""Start-up of a command's process: lazy compilation of dataclass methods."""

import dataclasses
import re
from collections.abc import Callable
from functools import cache, partial
from types import CodeType
from typing import Any

_METHOD = re.compile(r"def __create_fn__\([^\n]*\):\n def (__\w+__)\(")
"""Start of a method's text in `dataclasses` of Python 3.11 and 3.12; other text is compiled at once."""
_ANNOTATION = re.compile(r":_type_\w+|->_return_type")
"""Annotations in it, which nothing here reads: a third of the time to compile it."""


@cache
def _compiled(text: str) -> CodeType:
    return compile(_ANNOTATION.sub("", text), "<dataclass>", "exec")


def _put_off(name: str, text: str, globals: dict[str, Any], **closure: Any) -> Callable[..., Any]:
    """A method that compiles itself on first call and replaces itself in its class."""
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
    Compile methods of dataclasses on first call, which saves a sixth of the time of a small compile.

    `dataclasses` generates the methods of each class as text and executes it. Our imports define 400 such
    classes, most of which are never instantiated, and whose methods have mostly equal text: these are compiled once.
    """

    def execute(text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
        method = _METHOD.match(text)
        if method is None:
            exec(_compiled(text), globals, locals)
        else:
            locals["__create_fn__"] = partial(_put_off, method[1], text, globals)

    process = dataclasses.__dict__["_process_class"]

    def processed(own: type, *options: Any) -> type:
        own.__doc__ = own.__doc__ or own.__name__  # instead of a signature, which takes as long as the rest
        return process(own, *options)

    dataclasses.__dict__["exec"] = execute  # shadows the builtin in that module
    dataclasses.__dict__["_process_class"] = processed
