"""
Printer of upstream MLIR: the generic form, which every version reads, weights as hexadecimal bytes, ONNX's names as
locations.

The custom forms of tosa differ between LLVM 22 and later versions; generic ones do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import IO, Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.errors import UserError
from qdialect.ir.names import called, stated_names
from qdialect.ir.walking import operations
from qdialect.rewriting.remarks import remarks_of

LISTED = 16
"""Greatest number of elements of constants that are printed as numbers."""
NAMES = ("arg_attrs", "res_attrs")
"""Attributes with the ONNX names of a function's arguments and results, which are printed as comments."""
OURS = "onnx."
"""Prefix of attributes that upstream lacks."""
FORM = f"{OURS}form"
"""Attribute of a module with the name of the upstream dialect that it is lowered to."""


class _UpstreamPrinter(Printer):
    """Prints the generic form, with constants by their bytes, which xDSL would visit one by one."""

    def __init__(self, stream: IO[str]):
        super().__init__(stream, print_generic_format=True, print_debuginfo=True)

    def print_attribute(self, attribute: Attribute) -> None:
        if isinstance(attribute, DenseIntOrFPElementsAttr) and len(attribute.data.data) > LISTED:
            self._print_dense(attribute)
        else:
            super().print_attribute(attribute)

    def _print_dense(self, attribute: DenseIntOrFPElementsAttr[Any]) -> None:
        data, size = attribute.data.data, attribute.get_element_type().compile_time_size
        elements = np.frombuffer(data, np.dtype((np.void, size)))
        equal = elements.size > 1 and data == data[:size] * elements.size
        self.print_string(f'dense<"0x{(data[:size] if equal else data).hex().upper()}"> : ')
        self.print_attribute(attribute.get_type())

    def _print_op_properties(self, properties: dict[str, Attribute]) -> None:
        super()._print_op_properties({k: v for k, v in properties.items() if k not in NAMES})

    def print_op_attributes(self, attributes: Mapping[str, Attribute], **how: Any) -> bool:
        kept = {k: v for k, v in attributes.items() if not k.startswith(OURS)}
        return super().print_op_attributes(kept, **how)


def refused(module: ModuleOp) -> list[Operation]:
    """The operations that have not been lowered to a dialect of upstream MLIR."""
    return [
        op
        for op in operations(module)
        if (isinstance(op, OnnxOp | UnrealizedConversionCastOp) or op.name.startswith("quant."))
        and not isinstance(op, ConstantOp)
    ]


def is_upstream(module: ModuleOp) -> bool:
    """True if a module was lowered to dialects of upstream MLIR, completely or in part."""
    return FORM in module.attributes


def upstream_dialect(module: ModuleOp) -> str:
    """Name, in remarks, of the dialect that a module was lowered to; empty if it was not."""
    form = module.attributes.get(FORM)
    return form.data if isinstance(form, StringAttr) else ""


def _interface(module: ModuleOp) -> list[str]:
    """Comment lines with the ONNX names of the graph's inputs and outputs."""
    lines: list[str] = []
    for func in module.ops:
        if isinstance(func, FuncOp):
            for what, rows, types in (
                ("input", func.arg_attrs, func.function_type.inputs),
                ("output", func.res_attrs, func.function_type.outputs),
            ):
                names = stated_names(rows)
                for k, type in enumerate(types):
                    label = names[k] if k < len(names) else ""
                    lines.append(f"// {what} {k} of @{func.sym_name.data}: {label!r} : {type}")
    return lines


def _check_interface(module: ModuleOp) -> None:
    for func in module.ops:
        if isinstance(func, FuncOp):
            for type in (*func.function_type.inputs, *func.function_type.outputs):
                shape = shape_of(type)
                if shape is None or DYNAMIC in shape:
                    raise UserError(
                        f"an input or output is {type}, of which a size is not known",
                        "state it: --batch N, or --sizes NAME=N for others",
                    )


def write_upstream(module: ModuleOp, stream: IO[str]) -> None:
    """
    Write a module of upstream dialects.

    Raises UserError, with the first reason, if it holds an operation of another dialect, or if a size of an input or
    output is not known.
    """
    left = [op for op in refused(module) if not isinstance(op, UnrealizedConversionCastOp)]
    if left:
        remark = next((r for op in left for r in remarks_of(module).on(op)), None)
        because = "" if remark is None else f": {remark.blocked.message}"
        if remark is not None and remark.blocked.fix:
            because += f"; {remark.blocked.fix}"
        many = " cannot be written:" if len(left) == 1 else "s cannot be written, the first is"
        raise UserError(
            f"{len(left)} operation{many} {left[0].name} '{called(left[0])}'{because}",
            "`explain` with the same --target lists them all",
        )
    _check_interface(module)
    stream.write("".join(f"{line}\n" for line in _interface(module)))
    text = StringIO()
    _UpstreamPrinter(text).print_op(module)
    stream.write(text.getvalue())
    stream.write("\n")
