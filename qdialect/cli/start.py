"""Methods of dataclasses that a command's process builds when they are called."""

import collections
import dataclasses
import re
import typing
from collections.abc import Callable, Sequence
from dataclasses import MISSING
from functools import cache, partial
from itertools import count
from operator import attrgetter, eq, ge, gt, le, lt
from types import CodeType
from typing import Any

Method = Callable[..., Any]
Fields = Sequence[dataclasses.Field[Any]]

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


MANY = 128
"""Calls of an `__init__` that are worth compiling it: most classes have fewer instances in a small compile."""


def _completed(fields: Fields, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[Any] | None:
    """A value of each field, by defaults where no argument gives one; None if the arguments are wrong."""
    names = [one.name for one in fields]
    values = dict(zip(names, arguments, strict=False)) | named
    if len(values) != len(arguments) + len(named) or not values.keys() <= set(names):
        return None
    for one in fields:
        if one.name not in values:
            if one.default is not MISSING:
                values[one.name] = one.default
            elif one.default_factory is not MISSING:
                values[one.name] = one.default_factory()
            else:
                return None
    return [values[name] for name in names]


def _filling(fields: Fields, frozen: bool, post_init: bool) -> Method:
    """Function `few` of `_put_off` for an `__init__` whose arguments are exactly the fields."""
    names = [one.name for one in fields]
    assign = object.__setattr__ if frozen else setattr

    def fill(self: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        complete = not named and len(arguments) == len(names)
        values = arguments if complete else _completed(fields, arguments, named)
        if values is None:
            return NotImplemented
        for name, value in zip(names, values, strict=True):
            assign(self, name, value)
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


@cache
def _values(*names: str) -> Callable[[object], Any]:
    """The value of an object's attribute if it is one, else the values of all, as a tuple."""
    return attrgetter(*names) if names else lambda self: ()


def _hash(fields: Fields, globals: dict[str, Any]) -> Method:
    """The method of `dataclasses`, without a text to compile."""
    values, one = _values(*(one.name for one in fields)), len(fields) == 1

    def hash_of_fields(self: object) -> int:
        return hash((values(self),) if one else values(self))

    return hash_of_fields


def _comparison(name: str, sign: str, fields: Fields, *_rest: Any, **_named: Any) -> Method:
    """The method of `dataclasses`, likewise."""
    values, one, compare = _values(*(one.name for one in fields)), len(fields) == 1, _SIGNS[sign]

    def method(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        mine, theirs = values(self), values(other)
        return compare((mine,), (theirs,)) if one else compare(mine, theirs)

    method.__name__ = name
    return method


_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "<": lt, "<=": le, ">": gt, ">=": ge}


def _frozen(cls: type, fields: Fields, globals: dict[str, Any]) -> tuple[Method, Method]:
    """The methods of a frozen class that refuse changes, likewise."""
    names = {one.name for one in fields}

    def __setattr__(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _second(_: object, second: Fields) -> Fields:
    return second


def _repr(build: Callable[..., Method]) -> Callable[..., Method]:
    """The function of `dataclasses` that builds `__repr__`, put off."""
    return lambda *rest: _put_off("__repr__", partial(build, *rest))


def put_off_methods_of_dataclasses() -> None:
    """
    Build methods of dataclasses on first call, which saves a fifth of the time of a small compile.

    `dataclasses` generates the methods of each class as text and executes it. Our imports define 400 such
    classes, most of which are never instantiated, and whose methods have mostly equal text: these are compiled once.
    """
    theirs = dataclasses.__dict__
    if "_create_fn" not in theirs:  # Python 3.13 generates all methods of a class in one text
        return
    process = theirs["_process_class"]

    def processed(own: type, *options: Any) -> type:
        own.__doc__ = own.__doc__ or own.__name__  # instead of a signature, which takes as long as the rest
        return process(own, *options)

    theirs.update(
        {
            "exec": _execute,  # shadows the builtin in that module
            "_init_fn": _init(theirs["_init_fn"]),
            "_repr_fn": _repr(theirs["_repr_fn"]),
            "_hash_fn": _hash,
            "_tuple_str": _second,  # the fields, for `_cmp_fn`
            "_cmp_fn": _comparison,
            "_frozen_get_del_attr": _frozen,
            "_process_class": processed,
        }
    )


def _new(text: str, names: dict[str, Any]) -> Method:
    """`__new__` of a class of named tuples from its text, which is compiled for named arguments and defaults alone."""
    count = len([one for one in text.partition(":")[0].split(",")[1:] if one.strip()])
    compiled: list[Method] = []

    def new(own: type, /, *arguments: Any, **named: Any) -> Any:
        if len(arguments) == count and not named:
            return tuple.__new__(own, arguments)
        if not compiled:
            compiled.append(eval(text, names))
            compiled[0].__qualname__, compiled[0].__defaults__ = new.__qualname__, new.__defaults__
        return compiled[0](own, *arguments, **named)

    return new


def put_off_texts_of_named_tuples() -> None:
    """
    Compile the texts of named tuples when they are needed: half of the time that it takes to define one, for a hundred.

    `collections` compiles a text for `__new__`, `typing` one for each annotation in quotes, which few evaluate.
    """
    collections.__dict__.update(eval=_new)  # shadows the builtin in that module
    typing.__dict__.update(compile=_uncompiled)  # likewise


def _uncompiled(text: str, *_rest: object) -> str:
    return text  # which `eval` takes as well
