"""Name scopes of the importer: the values of a graph by name, and their types as stated in the message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_types import UNKNOWN
from qdialect.errors import UserError
from qdialect.onnx_io.import_attributes import symbols, value_type

if TYPE_CHECKING:
    from onnx import ValueInfoProto


INVENTED = "unk__"
"""What onnx's shape inference, which exporters run, names an unknown size, followed by a counter."""


class Types:
    """Stated types of the values of one graph, by name."""

    def __init__(self, infos: Sequence[ValueInfoProto]):
        """infos: if a value occurs twice, as an input that is also an output, a later one with a shape wins."""
        self._infos: dict[str, ValueInfoProto] = {}
        for info in infos:
            if info.name not in self._infos or info.type.tensor_type.HasField("shape"):
                self._infos[info.name] = info

    def type(self, name: str) -> Attribute:
        info = self._infos.get(name)
        return UNKNOWN if info is None else value_type(info.type)

    def symbols(self, name: str) -> tuple[str, ...]:
        """
        Names of the open sizes of a node's result, without those that shape inference invents: an output that states
        one keeps it, but the tensor that stands for the output's node after a rewrite would lose it when read again.
        """
        info = self._infos.get(name)
        names = () if info is None else tuple("" if n.startswith(INVENTED) else n for n in symbols(info.type))
        return names if any(names) else ()


class Scope:
    """The values visible to a node, those of enclosing graphs included."""

    def __init__(self, outer: Scope | None = None):
        self._outer = outer
        self._values: dict[str, SSAValue] = {}

    def define(self, name: str, value: SSAValue) -> None:
        if name in self._values:
            raise UserError(f"tensor '{name}' is the output of two nodes", "export the model again")
        self._values[name] = value

    def find(self, name: str) -> SSAValue | None:
        scope: Scope | None = self
        while scope is not None:
            if (value := scope._values.get(name)) is not None:
                return value
            scope = scope._outer
        return None

    def value(self, name: str, user: str) -> SSAValue:
        value = self.find(name)
        if value is None:
            raise UserError(
                f"{user} takes tensor '{name}', which no earlier node computes", "export the model again"
            )
        return value
