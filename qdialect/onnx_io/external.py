"""External data: a model's large tensors in one file beside it, written with at most one block in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from qdialect.dialects.onnx_tensor import FileSlice, TensorAttr, TensorData
from qdialect.errors import UserError
from qdialect.files import Outputs, reason
from qdialect.ir.walking import operations
from qdialect.onnx_io.export_attributes import write_raw, write_shape

if TYPE_CHECKING:
    from onnx import TensorProto

MAX_INTERNAL_BYTES = 1_800_000_000
"""Bytes of tensors above which a model needs external data: a message, names and nodes included, is below 2 GiB."""

MIN_EXTERNAL_BYTES = 1024
"""Least size of external tensors, in bytes: shape inference and readers expect smaller ones in the model."""

ALIGNMENT = 4096
"""Alignment of tensors in the file, in bytes: onnxruntime maps those that start at a page."""


def tensor_bytes(module: ModuleOp) -> int:
    """Bytes of raw data in all constants of a module, those of upstream MLIR too."""
    total = 0
    for op in operations(module):
        for value in op.properties.values():
            if isinstance(value, TensorAttr):
                total += value.data.nbytes
            elif isinstance(value, DenseIntOrFPElementsAttr):
                total += len(value.data.data)
        if type(op) is FuncOp and op.arg_attrs is not None:
            values = (v for row in op.arg_attrs.data for v in row.data.values())
            total += sum(v.data.nbytes for v in values if isinstance(v, TensorAttr))
    return total


_SOURCES: WeakKeyDictionary[ModuleOp, tuple[str, frozenset[str]]] = WeakKeyDictionary()
"""By module: the file that it was read from, and the files beside it that hold its tensors."""


def note_sources(module: ModuleOp, path: Path) -> None:
    """Record the files that the model at `path` needs, for `check_sources`: the module may drop tensors later."""
    model, files = os.path.realpath(path), set[str]()
    for op in operations(module):
        values = (v.data.slice for v in op.properties.values() if isinstance(v, TensorAttr))
        files |= {os.path.realpath(one.path) for one in values if one is not None}
    _SOURCES[module] = model, frozenset(files - {model})


def check_sources(module: ModuleOp, output: Path, *beside: Path) -> None:
    """
    Raise UserError if writing `output`, or a file `beside` it, would change the model that the module was read from.

    That model itself may be written again, with the tensors beside it.
    """
    model, files = _SOURCES.get(module, ("", frozenset[str]()))
    again = os.path.realpath(output) == model
    for path in (output, *(() if again else beside)):
        if os.path.realpath(path) in files:
            raise UserError(
                f"cannot write '{path}', it holds tensors of the input '{model}'",
                "choose another output",
            )


class ExternalWriter:
    """Writes large tensors to one file, created for the first one; equal slices of a file are written once."""

    def __init__(self, outputs: Outputs, model: Path):
        self.path = model.with_name(f"{model.name}.data")
        """The file, beside the model."""
        self._outputs = outputs
        self._file: BinaryIO | None = None
        self._size = 0
        self._written: dict[TensorData | FileSlice, int] = {}

    def __call__(self, data: TensorData, proto: TensorProto, place: int | None = None) -> None:
        """Write a tensor's type and the location of its bytes; a small tensor goes into the message."""
        if data.strings is not None or data.nbytes < MIN_EXTERNAL_BYTES:
            write_raw(data, proto)
            return
        source = data if data.slice is None else data.slice
        if (offset := self._written.get(source)) is None:
            self._written[source] = offset = self._append(data)
        write_shape(data, proto)
        proto.data_location = 1  # pyright: ignore[reportAttributeAccessIssue]
        places = {"location": self.path.name, "offset": str(offset), "length": str(data.nbytes)}
        for key, value in places.items():
            proto.external_data.add(key=key, value=value)

    def _append(self, data: TensorData) -> int:
        if self._file is None:
            self._file = self._outputs.create(self.path)
        offset = self._size + -self._size % ALIGNMENT
        self._file.write(bytes(offset - self._size))
        try:
            for block in data.blocks():
                self._file.write(block)
        except OSError as error:
            raise UserError(f"cannot copy a tensor to '{self.path}', {reason(error)}") from error
        self._size = offset + data.nbytes
        return offset
