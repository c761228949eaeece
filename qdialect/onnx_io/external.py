"""A model's large tensors in one file beside it, written block by block: never more than one block in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from qdialect.dialects.onnx_tensor import FileSlice, TensorAttr, TensorData
from qdialect.errors import UserError
from qdialect.files import Outputs, reason
from qdialect.ir.walking import operations
from qdialect.onnx_io.export_attributes import write_raw, write_shape

if TYPE_CHECKING:
    from onnx import TensorProto

TOO_LARGE = 1_800_000_000
"""Bytes of tensors; a message holds less than 2 GiB, and names and nodes need room too."""

LEAST = 1024
"""Bytes; smaller tensors stay in the model, where shape inference and readers look for them."""

ALIGNMENT = 4096
"""Bytes; onnxruntime maps a tensor where it stands in the file if it starts at a page."""


def tensor_bytes(module: ModuleOp) -> int:
    """Bytes of raw data in all constants of a module."""
    total = 0
    for op in operations(module):
        total += sum(v.data.nbytes for v in op.properties.values() if isinstance(v, TensorAttr))
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            values = (v for row in op.arg_attrs.data for v in row.data.values())
            total += sum(v.data.nbytes for v in values if isinstance(v, TensorAttr))
    return total


class ExternalWriter:
    """Puts large tensors into one file, made when the first comes; the same bytes of a file go in once."""

    def __init__(self, outputs: Outputs, model: Path):
        self.path = model.with_name(f"{model.name}.data")
        """The file, beside the model."""
        self._outputs = outputs
        self._file: BinaryIO | None = None
        self._size = 0
        self._written: dict[TensorData | FileSlice, int] = {}

    def __call__(self, data: TensorData, proto: TensorProto, place: int | None = None) -> None:
        """Write a tensor's type and where its bytes now are; a small tensor goes into the message."""
        if data.strings is not None or data.nbytes < LEAST:
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
