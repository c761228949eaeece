"""Weights file of a text: `x.mlir` refers to bytes in `x.weights` by offset and length."""

from pathlib import Path
from typing import BinaryIO

from qdialect.dialects.onnx_tensor import TensorData
from qdialect.files import Outputs

ALIGNMENT = 64
"""Alignment of constants in bytes, so that they can be used from the mapped file."""


class WeightsFile:
    """Writes constants to one file, which is created for the first one. Equal bytes are written once."""

    def __init__(self, outputs: Outputs, path: Path):
        self.name = path.name
        """Name of the file in text of the same folder."""
        self._outputs = outputs
        self._path = path
        self._file: BinaryIO | None = None
        self._size = 0
        self._written: dict[bytes, int] = {}

    def append(self, data: TensorData) -> tuple[int, int]:
        """Append the bytes of `data`; their offset and length in the file, in bytes."""
        from hashlib import sha256  # only for writing text: keeps start-up short

        if self._file is None:
            self._file = self._outputs.create(self._path)
        offset = self._size + -self._size % ALIGNMENT
        self._file.write(bytes(offset - self._size))
        digest = sha256()
        for block in data.blocks():
            digest.update(block)
            self._file.write(block)
        if (known := self._written.setdefault(digest.digest(), offset)) == offset:
            self._size = offset + data.nbytes
        else:  # a duplicate: detected only now, since the bytes are read once
            self._file.seek(self._size)
            self._file.truncate()
        return known, data.nbytes
