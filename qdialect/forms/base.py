"""What a form is."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp


@dataclass(frozen=True)
class Form:
    """One way in which an operation is written with others."""


def form_key(op_class: type[Operation]) -> tuple[str, str]:
    """What tables of forms call a class: domain and name of an operator of ONNX, dialect and name of any other."""
    if issubclass(op_class, OnnxOp) and op_class.SCHEMA is not None:
        return op_class.SCHEMA.domain, op_class.SCHEMA.name
    dialect, _, name = op_class.name.partition(".")
    return dialect, name
