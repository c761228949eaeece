"""`Form`, the base class of forms, and the keys of their tables."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp


@dataclass(frozen=True)
class Form:
    """One way to write an operation with others."""


def form_key(op_class: type[Operation]) -> tuple[str, str]:
    """Key of a class in tables of forms: domain and name of an ONNX operator, dialect and name of other ops."""
    if issubclass(op_class, OnnxOp) and op_class.SCHEMA is not None:
        return op_class.SCHEMA.domain, op_class.SCHEMA.name
    dialect, _, name = op_class.name.partition(".")
    return dialect, name
