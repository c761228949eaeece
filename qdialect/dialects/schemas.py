"""ONNX operator schemas, all versions, read from the snapshot `schemas.jsonl` that `snapshot.py` writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple


class AttributeKind(IntEnum):
    """`AttributeProto.AttributeType`, by number."""

    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    TENSORS = 9
    GRAPHS = 10
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13
    TYPE_PROTOS = 14


class Parameter(NamedTuple):
    """A formal input or output."""

    name: str
    option: str
    """`S`ingle, `O`ptional or `V`ariadic."""
    type_variable: str
    homogeneous: bool


class AttributeSchema(NamedTuple):
    """A formal attribute."""

    name: str
    kind: AttributeKind
    required: bool


@dataclass(frozen=True)
class Version:
    """One version of an operator, in force from opset `since` on."""

    since: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: dict[str, AttributeSchema]
    types: dict[str, frozenset[str]]
    """Type variable -> the ONNX spellings that it may take."""

    @staticmethod
    def _arity(parameters: tuple[Parameter, ...]) -> tuple[int, int | None]:
        least = max((i + 1 for i, p in enumerate(parameters) if p.option == "S"), default=0)
        variadic = bool(parameters) and parameters[-1].option == "V"
        return least, None if variadic else len(parameters)

    @cached_property
    def input_arity(self) -> tuple[int, int | None]:
        """Least and greatest number of inputs; None: no bound."""
        return self._arity(self.inputs)

    @cached_property
    def output_arity(self) -> tuple[int, int | None]:
        """Least and greatest number of outputs; None: no bound."""
        return self._arity(self.outputs)


@dataclass(frozen=True)
class Schema:
    """An operator with all its versions, oldest first."""

    domain: str
    name: str
    versions: tuple[Version, ...]

    def at(self, opset: int) -> Version | None:
        """The version that opset number `opset` selects; None if the operator came later."""
        for version in reversed(self.versions):
            if version.since <= opset:
                return version
        return None

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """Names of the attributes that are graphs, in the order of an operation's regions."""
        kinds = {a.name: a.kind for v in self.versions for a in v.attributes.values()}
        names = [name for name, kind in kinds.items() if kind == AttributeKind.GRAPH]
        return tuple(sorted(names, reverse=True))  # then_branch comes before else_branch

    @cached_property
    def fixed_inputs(self) -> int:
        """Number of inputs in front of a variadic one, each written even if omitted; 0 if none is variadic."""
        inputs = self.versions[-1].inputs
        return len(inputs) - 1 if inputs and inputs[-1].option == "V" else 0

    @cached_property
    def attribute_kinds(self) -> dict[str, AttributeKind]:
        """The kind of every attribute that some version has."""
        return {a.name: a.kind for v in self.versions for a in v.attributes.values()}


def _parameters(rows: list[list[Any]]) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, option, variable, bool(same)) for name, option, variable, same in rows)


def _key(line: str) -> tuple[str, str]:
    """Domain and name at the beginning of an operator's line, which is parsed only if a model has the operator."""
    _, domain, _, name, _ = line.split('"', 4)
    return domain, name


class Snapshot:
    """The schemas by domain and name; each is read and built when first asked for."""

    def __init__(self, path: Path):
        types, *lines = path.read_text().splitlines()
        self._types = [frozenset(spellings) for spellings in json.loads(types)]
        self._lines = {_key(line): line for line in lines}

    def names(self, domain: str) -> list[str]:
        """The operators of a domain."""
        return [name for d, name in self._lines if d == domain]

    def newest(self, domain: str) -> int:
        """The newest opset in which an operator of a domain came or changed; no schema is built for it."""
        lines = (line for (d, _), line in self._lines.items() if d == domain)
        return max(int(json.loads(line)[2][-1][0]) for line in lines)

    @cache  # noqa: B019 -- one snapshot per process
    def find(self, domain: str, name: str) -> Schema | None:
        """The schema of `domain`'s operator `name`; None if the snapshot has none."""
        line = self._lines.get((domain, name))
        if line is None:
            return None
        rows: list[Any] = json.loads(line)[2]
        versions = tuple(
            Version(
                since,
                bool(deprecated),
                _parameters(inputs),
                _parameters(outputs),
                {n: AttributeSchema(n, AttributeKind(k), bool(r)) for n, k, r in attributes},
                {variable: self._types[index] for variable, index in types.items()},
            )
            for since, deprecated, inputs, outputs, attributes, types in rows
        )
        return Schema(domain, name, versions)


@cache
def snapshot() -> Snapshot:
    """The snapshot beside this file."""
    return Snapshot(Path(__file__).with_name("schemas.jsonl"))
