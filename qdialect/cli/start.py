"""Methods of dataclasses that a command's process builds when they are called."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from functools import cache, partial
from itertools import count
from operator import attrgetter
from types import CodeType
from typing import Any

Method = Callable[..., Any]

_ANNOTATION = re.compile(r":_type_\w+|->_return_type")
"""Annotations in a method's text, which nothing here reads: a third of the time to compile it."""


@cache
def _compiled(text: str) -> CodeType:
    return compile(_ANNOTATION.sub("", text), "<dataclass>", "exec")


def _execute(text: str, globals: dict[str, Any], locals: dict[str, Any]) -> None:
    exec(_compiled(text), globals, locals)


def _put_off(name: str, build: Callable[[], Method], few: Method | None = None) -> Method:
    """
    A method that is built on its first call and then replaces itself in its class.

    few: does the work of the first calls, which is faster than building the method; returns NotImplemented, without
    effect, for a call that it does not support.
    """
    built: list[Method] = []
    calls = count(1)

    def method(self: object, *arguments: Any, **named: Any) -> Any:
        if not built:
            if few is not None and next(calls) < MANY and few(self, arguments, named) is None:
                return None
            built.append(build())
            built[0].__qualname__ = method.__qualname__
            for owner in type(self).__mro__:
                if owner.__dict__.get(name) is method:
                    setattr(owner, name, built[0])
        return built[0](self, *arguments, **named)

    method.__name__ = name
    return method


MANY = 16
"""Calls of an `__init__` that are worth compiling it: most classes have fewer instances in a small compile."""


def _filling(fields: Sequence[dataclasses.Field[Any]], frozen: bool, post_init: bool) -> Method:
    """Function `few` of `_put_off` for an `__init__` whose arguments are exactly the fields."""
    names = [one.name for one in fields]
    assign = object.__setattr__ if frozen else setattr

    def fill(self: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        values = dict(zip(names, arguments, strict=False)) | named
        if len(values) != len(arguments) + len(named) or not values.keys() <= set(names):
            return NotImplemented
        for one in fields:
            if one.name not in values:
                if one.default is not MISSING:
                    values[one.name] = one.default
                elif one.default_factory is not MISSING:
                    values[one.name] = one.default_factory()
                else:
                    return NotImplemented
        for name in names:
            assign(self, name, values[name])
        if post_init:
            self.__post_init__()
        return None

    return fill


def _init(build: Callable[..., Method]) -> Callable[..., Method]:
    """The function of `dataclasses` that builds `__init__`, put off."""

    def init(fields: Any, positional: Any, named: Any, frozen: bool, post_init: bool, *rest: Any) -> Method:
        plain = len(positional) == len(fields) and all(
            one._field_type is dataclasses.__dict__["_FIELD"] for one in fields
        )
        few = _filling(fields, frozen, post_init) if plain else None
        return _put_off("__init__", partial(build, fields, positional, named, frozen, post_init, *rest), few)

    return init


def _hash(fields: Sequence[dataclasses.Field[Any]], globals: dict[str, Any]) -> Method:
    """The method of `dataclasses`, without a text to compile."""
    if not fields:
        return lambda self: hash(())  # pyright: ignore[reportUnknownLambdaType]
    values, several = attrgetter(*(one.name for one in fields)), len(fields) > 1

    def hash_of_fields(self: object) -> int:
        return hash(values(self) if several else (values(self),))

    return hash_of_fields


def _putting_off(build: Callable[..., Method], name: str = "") -> Callable[..., Method]:
    """A function that builds a method, put off; name: of the method, if not its first argument."""

    def put_off(*rest: Any, **named: Any) -> Method:
        return _put_off(name or rest[0], partial(build, *rest, **named))

    return put_off


def put_off_methods_of_dataclasses() -> None:
    """
    Build methods of dataclasses on first call, which saves a fifth of the time of a small compile.

    `dataclasses` generates the methods of each class as text and executes it. Our imports define 400 such
    classes, most of which are never instantiated, and whose methods have mostly equal text: these are compiled once.
    """
    theirs = dataclasses.__dict__
    if "_create_fn" not in theirs:  # Python 3.13 generates all methods of a class in one text
        return
    frozen: Callable[..., tuple[Method, Method]]
    frozen, process = theirs["_frozen_get_del_attr"], theirs["_process_class"]

    def put_off_frozen(*rest: Any) -> tuple[Method, Method]:
        both = cache(partial(frozen, *rest))
        return _put_off("__setattr__", lambda: both()[0]), _put_off("__delattr__", lambda: both()[1])

    def processed(own: type, *options: Any) -> type:
        own.__doc__ = own.__doc__ or own.__name__  # instead of a signature, which takes as long as the rest
        return process(own, *options)

    theirs.update(
        {
            "exec": _execute,  # shadows the builtin in that module
            "_init_fn": _init(theirs["_init_fn"]),
            "_repr_fn": _putting_off(theirs["_repr_fn"], "__repr__"),
            "_hash_fn": _hash,
            "_cmp_fn": _putting_off(theirs["_cmp_fn"]),
            "_frozen_get_del_attr": put_off_frozen,
            "_process_class": processed,
        }
    )
