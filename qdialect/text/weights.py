"""Large constants beside a text file: `x.mlir` names bytes in `x.weights` by offset and length."""

import hashlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO

from qdialect.dialects.onnx_tensor import FileSlice, TensorData
from qdialect.errors import UserError
from qdialect.files import Outputs

ALIGNMENT = 64
"""Bytes; every constant starts at a multiple, so that it can be used where the file is mapped."""


class WeightsFile:
    """Writes constants to one file, which is made when the first one comes. Equal bytes are written once."""

    def __init__(self, outputs: Outputs, path: Path):
        self.name = path.name
        """How text in the same folder names the file."""
        self._outputs = outputs
        self._path = path
        self._file: BinaryIO | None = None
        self._size = 0
        self._written: dict[bytes, int] = {}

    def append(self, data: TensorData) -> tuple[int, int]:
        """Where the bytes of `data` now stand in the file: their offset and length, in bytes."""
        if self._file is None:
            self._file = self._outputs.create(self._path)
        offset = self._size + -self._size % ALIGNMENT
        self._file.write(bytes(offset - self._size))
        digest = hashlib.sha256()
        for block in data.blocks():
            digest.update(block)
            self._file.write(block)
        if (known := self._written.setdefault(digest.digest(), offset)) == offset:
            self._size = offset + data.nbytes
        else:  # it is there already: known only now, since the bytes are read once
            self._file.seek(self._size)
            self._file.truncate()
        return known, data.nbytes


def resolve_slice(folder: Path, name: str, offset: int, length: int) -> FileSlice:
    """
    `length` bytes at `offset` of the file `name` in `folder`; nothing is read yet.

    UserError for a path that leaves the folder, a file that is not there, and bytes that are not in the file.
    """
    path = resolve_inside(folder, name)
    size = path.stat().st_size
    if offset < 0 or length < 0 or offset + length > size:
        raise UserError(
            f"bytes {offset} to {offset + length} are not in '{name}', which has {size}",
            "the file is truncated or belongs to other text; write both again",
        )
    return FileSlice.of(path, offset, length)


def resolve_inside(folder: Path, name: str) -> Path:
    """The file `name` in `folder`. UserError if it is absolute, has `..`, or goes through a link."""
    # Both kinds of path, so that a file means the same wherever it is read.
    parts = PurePosixPath(name).parts
    outside = PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor != ""
    if outside or not parts or ".." in PureWindowsPath(name).parts or "\0" in name:
        raise UserError(
            f"'{name}' is not a file inside the input's folder", "move it there, and name it from there"
        )
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise UserError(
                f"'{name}' goes through a link, which may leave the input's folder", "copy the file there"
            )
    if not path.is_file():
        raise UserError(f"'{name}' is not in folder '{folder}'", "put it beside the file that names it")
    return path
