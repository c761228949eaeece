"""
Plugins: promises for operators of other domains, dialects and passes that installed packages provide.

A package provides a table, `(domain, operator) -> promise` or promises, by an entry point of the group
`qdialect.promises`, and its dialects and passes, as plain `xdsl-opt` reads them, by one of the group `xdsl.universe`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from xdsl.ir import Dialect, OpTraits
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from qdialect.dialects.onnx_base import CustomOp
from qdialect.dialects.schemas import snapshot
from qdialect.errors import UserError
from qdialect.promises.base import Promise
from qdialect.promises.casts import QUARK
from qdialect.promises.fake_quantize import FAKE_QUANTIZE
from qdialect.promises.model_compression import MODEL_COMPRESSION
from qdialect.promises.staircase import STAIRCASES

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROMISES, UNIVERSES = "qdialect.promises", "xdsl.universe"
OURS = ("qdialect.", "xdsl.")
"""Packages whose entry points are not plugins: their dialects and passes are known."""
ONNX_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")
"""Domains whose operators are all in the snapshot."""

Key = tuple[str, str]
KNOWN: dict[Key, Promise] = {**FAKE_QUANTIZE, **STAIRCASES, **MODEL_COMPRESSION, **QUARK}
"""Promises for operators of other domains that tools write and no runtime of ONNX has."""


def _installed(group: str) -> Iterator[tuple[str, Any]]:
    """(name, object) of each plugin's entry point in a group. Raises UserError for one that does not load."""
    from importlib.metadata import entry_points  # takes 40 ms

    points: list[EntryPoint] = sorted(entry_points(group=group), key=lambda point: point.value)
    for point in points:
        if not point.value.startswith(OURS):
            try:
                yield f"'{point.value}'", point.load()
            except Exception as error:  # importing a package may raise anything
                raise UserError(
                    f"'{point.value}' of the entry point group {group} does not load: {error}",
                    "repair or uninstall its package",
                ) from error


def _key(key: Any, where: str) -> Key:
    """The operator, (domain, name), of a table's key. Raises UserError unless a plugin may promise for it."""
    match key:
        case (str(domain), str(name)):
            pass
        case _:
            raise UserError(f"{where} has the key {key!r}", "write (domain, operator)")
    if (domain, name) in KNOWN or snapshot().find("" if domain == "ai.onnx" else domain, name):
        raise UserError(
            f"{where} promises for {name} of {domain or 'ai.onnx'}, whose promises are in qdialect/promises",
            "state promises only for operators of your own domain",
        )
    if domain in ONNX_DOMAINS:
        raise UserError(
            f"{where} promises for {name} of {domain or 'ai.onnx'}, which has no such operator",
            "name the operator's own domain",
        )
    return domain, name


def _promises(said: object) -> tuple[Promise, ...]:
    """A table's entry as a tuple of promises; empty if it is neither a promise nor several."""
    listed = said if isinstance(said, tuple | list) else (said,)
    promises = tuple(one for one in listed if isinstance(one, Promise))
    return promises if len(promises) == len(listed) else ()


@cache
def outside_promises() -> dict[Key, tuple[Promise, ...]]:
    """
    The promises of all installed packages, by operator; loaded when the first operator of another domain occurs.

    Raises UserError for a table that does not load, that names an operator of ONNX's own domains, or one that
    another package has promises for as well.
    """
    promised: dict[Key, tuple[Promise, ...]] = {}
    for where, table in _installed(PROMISES):
        if not isinstance(table, Mapping):
            raise UserError(f"{where} is not a table of promises", "write {(domain, operator): promise}")
        for operator, said in table.items():
            key, promises = _key(operator, where), _promises(said)
            if not promises:
                raise UserError(
                    f"{where} says {said!r} of {key[1]}", "give an instance of a class of qdialect.promises"
                )
            if key in promised:
                raise UserError(
                    f"{where} promises for {key[1]} of {key[0]}, as another package does", "uninstall one"
                )
            promised[key] = promises
    return promised


@cache
def custom_class(domain: str, name: str) -> type[CustomOp]:
    """The class of an operator without a schema: a subclass of its own if it promises something."""
    ours = KNOWN.get((domain, name))
    promises = outside_promises().get((domain, name)) if ours is None else (ours,)
    if promises is None:
        return CustomOp
    body: dict[str, Any] = {
        "name": CustomOp.name,
        "traits": OpTraits(lambda: (Pure(), *promises)),
        "__module__": __name__,
    }
    return type(f"{name}Op", (CustomOp,), body)


CustomOp.class_of = staticmethod(custom_class)


@cache
def outside_dialects() -> dict[str, Callable[[], Dialect]]:
    """The dialects of all installed packages but ours and xDSL's, by name. Raises UserError as `outside_promises`."""
    return _merged("all_dialects", "dialect")


@cache
def outside_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """The passes of all installed packages but ours and xDSL's, by name. Raises UserError as `outside_promises`."""
    return _merged("all_passes", "pass")


def _merged(field: str, what: str) -> dict[str, Any]:
    factories: dict[str, Any] = {}
    for where, universe in _installed(UNIVERSES):
        for name, factory in getattr(universe, field).items():
            if name in factories:
                raise UserError(f"{where} has a {what} '{name}', as another package does", "uninstall one")
            factories[name] = factory
    return factories
