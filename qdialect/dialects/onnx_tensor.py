"""
The value of a constant: a handle on bytes in memory or in a file, never copied through Python numbers or decimal text.

The bytes are ONNX's raw data: little-endian, 2- and 4-bit elements packed, lowest bits first.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    DYNAMIC,
    ElementType,
    StringType,
    onnx_element,
    tensor_type,
)
from qdialect.errors import UserError
from qdialect.files import inside

MAX_PRINTED_ELEMENTS = 64
"""Greatest number of elements that text prints as numbers."""

MAX_RANK = 64
"""Greatest rank of a numpy array."""

COPIED_BLOCK_BYTES = 1 << 24
"""Bytes in memory at a time while large data is copied."""


class FileSlice(NamedTuple):
    """`length` bytes of a file from `offset` on; read when asked for."""

    path: str
    offset: int
    length: int
    stamp: tuple[int, int] | None = None
    """Inode and modification time of the file when the slice was taken, to detect that the file has changed."""

    @classmethod
    def of(cls, path: str | os.PathLike[str], offset: int, length: int) -> FileSlice:
        """Bytes of a file as it is now. Raises OSError if there is none."""
        return cls(os.path.abspath(path), offset, length, _stamp(os.stat(path)))

    def _open(self) -> FileIO:
        file = open(self.path, "rb", buffering=0)
        status = os.fstat(file.fileno())
        if status.st_size >= self.offset + self.length and self.stamp in (None, _stamp(status)):
            return file
        file.close()
        raise OSError(f"'{self.path}' has changed since it was read")

    def view(self) -> memoryview:
        """The bytes, mapped, not read. Raises OSError if the file is gone or has changed."""
        if not self.length:
            return memoryview(b"")
        start = self.offset - self.offset % mmap.ALLOCATIONGRANULARITY
        length = self.offset + self.length - start
        with self._open() as file:
            mapped = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=start)
        return memoryview(mapped)[self.offset - start :]

    def blocks(self) -> Iterator[memoryview]:
        """
        The bytes in blocks of up to `COPIED_BLOCK_BYTES`, read, not mapped: mapped bytes count as memory of the
        process. A block is good until the next is asked for. Raises OSError if the file is gone or has changed.
        """
        buffer = memoryview(bytearray(min(COPIED_BLOCK_BYTES, self.length)))
        with self._open() as file:
            file.seek(self.offset)
            left = self.length
            while left:
                count = file.readinto(buffer[: min(COPIED_BLOCK_BYTES, left)])
                if not count:
                    raise OSError(f"'{self.path}' has become shorter")
                left -= count
                yield buffer[:count]


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_ino, status.st_mtime_ns


def byte_size(element: ElementType, count: int) -> int:
    """Bytes of raw data that `count` elements take."""
    return (count * element.bits + 7) // 8


def pack(values: npt.NDArray[Any], bits: int) -> bytes:
    """Elements of 2 or 4 bits, one per byte, packed as ONNX packs them."""
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    per_byte = 8 // bits
    padded = np.zeros(-(-flat.size // per_byte) * per_byte, np.uint8)
    padded[: flat.size] = flat
    columns = padded.reshape(-1, per_byte)
    packed = np.zeros(columns.shape[0], np.uint8)
    for k in range(per_byte):
        packed |= columns[:, k] << (k * bits)
    return packed.tobytes()


def unpack(raw: memoryview, count: int, element: ElementType) -> npt.NDArray[Any]:
    """The inverse of `pack`: `count` elements, one per byte, sign extended for signed types."""
    data, bits = np.frombuffer(raw, np.uint8), element.bits
    columns = np.stack([(data >> (k * bits)) & ((1 << bits) - 1) for k in range(8 // bits)], axis=1)
    flat = columns.reshape(-1)[:count]
    if element.spelling.startswith("int"):
        sign = 1 << (bits - 1)
        return ((flat ^ sign).astype(np.int8) - sign).astype(element.dtype)
    return flat.astype(element.dtype) if element.spelling.startswith("uint") else flat.view(element.dtype)


class TensorData:
    """
    A tensor's type and a handle on its bytes.

    Two are equal if type and bytes are; the same handle is equal without a look at the bytes.
    """

    __slots__ = ("__weakref__", "_hash", "_raw", "slice", "strings", "type")

    def __init__(
        self,
        type: TensorType[Attribute],
        raw: bytes | memoryview | FileSlice = b"",
        strings: tuple[bytes, ...] | None = None,
    ):
        self.type = type
        """Shape and element type, as stored."""
        self.slice = raw if isinstance(raw, FileSlice) else None
        """Location of the bytes, if they are in a file."""
        self.strings = strings
        """The elements of a tensor of strings."""
        self._raw = None if isinstance(raw, FileSlice) else memoryview(raw)
        self._hash: int | None = None

    @property
    def element(self) -> ElementType:
        """The element type."""
        return onnx_element(self.type) or BY_ATTRIBUTE[self.type.element_type]

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, all known."""
        return self.type.get_shape()

    @property
    def count(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of raw data, known without reading them."""
        if self.strings is not None:
            return sum(map(len, self.strings))
        return self.slice.length if self.slice is not None else len(self.raw)

    @property
    def raw(self) -> memoryview:
        """The bytes. Raises OSError if they are in a file that is gone."""
        if self._raw is None:
            assert self.slice is not None
            self._raw = self.slice.view()
        return self._raw

    def blocks(self) -> Iterator[memoryview]:
        """The bytes in blocks, of which one is in memory at a time if they are in a file."""
        if self.slice is not None:
            yield from self.slice.blocks()
        elif self.raw.nbytes:
            yield self.raw

    def array(self) -> npt.NDArray[Any]:
        """
        The elements, read-only; a view of the bytes, except for elements of less than 8 bits, which are one per byte.
        """
        if self.strings is not None:
            return np.array(self.strings, dtype=object).reshape(self.shape)
        element = self.element
        if element.bits < 8:
            values = unpack(self.raw, self.count, element)
        else:
            values = np.frombuffer(self.raw, element.dtype)
        return values.reshape(self.shape)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorData) or self.type != other.type or self.strings != other.strings:
            return False
        if self.slice is not None and self.slice == other.slice:
            return True
        return self.nbytes == other.nbytes and self.raw == other.raw

    def __hash__(self) -> int:
        # The first bytes tell constants of one shape apart; reading all of a large one would cost more.
        if self._hash is None:
            start = hash(self.strings) if self.strings is not None else bytes(self.raw[:64])
            self._hash = hash((self.type, start))
        return self._hash

    def with_type(self, type: TensorType[Attribute]) -> TensorData:
        """The same bytes as a tensor of another shape."""
        return TensorData(type, self.raw if self.slice is None else self.slice, self.strings)


def _plain(data: TensorData) -> npt.NDArray[Any]:
    """The elements in a built-in numpy dtype; narrow types are widened to one that holds every value."""
    values = data.array().reshape(-1)
    if values.dtype.isbuiltin == 1:
        return values
    return values.astype(np.int64 if "int" in data.element.numpy else np.float32)


def _decimal(value: Any) -> str | None:
    """A number as decimal text that parses to the same bits; None if there is none."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, np.integer):
        return str(int(value))
    if not isinstance(value, np.floating) or not np.isfinite(value):
        return None
    text = str(value)
    mantissa, e, exponent = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + e + exponent


def print_payload(printer: Printer, data: TensorData, *, inline: bool = False) -> None:
    """Print the values: as numbers if there are few, else in hex if `inline`, else `elided`."""
    small = data.count <= MAX_PRINTED_ELEMENTS
    if data.strings is not None:
        # Length-prefixed, so that any bytes survive.
        payload = b"".join(len(s).to_bytes(4, "little") + s for s in data.strings)
        printer.print_string(f'"0x{payload.hex().upper()}"' if small or inline else "elided")
        return
    if small:
        texts = [_decimal(v) for v in _plain(data)]
        if all(t is not None for t in texts):
            printer.print_string(f"[{', '.join(map(str, texts))}]")
            return
    printer.print_string(f'"0x{data.raw.hex().upper()}"' if small or inline else "elided")


@irdl_attr_definition
class TensorAttr(Data[TensorData]):
    """
    A constant tensor: `#onnx.tensor<[1, -2, 3] : tensor<3xi64>>`.

    Large ones read `#onnx.tensor<"0x0A0B..." : tensor<64x3xi8>>`, or `#onnx.tensor<"x.weights"[offset, length] : ...>`.
    """

    name = "onnx.tensor"

    @property
    def type(self) -> TensorType[Attribute]:
        """Shape and element type, as stored."""
        return self.data.type

    def array(self) -> npt.NDArray[Any]:
        """The elements, read-only."""
        return self.data.array()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorData:
        with parser.in_angle_brackets():
            payload = _parse_payload(parser)
            parser.parse_punctuation(":")
            type = parser.parse_type()
        if not isa(type, TensorType[Attribute]) or type.element_type not in BY_ATTRIBUTE:
            parser.raise_error(f"expected a tensor of ONNX elements, got {type}")
        if len(type.get_shape()) > MAX_RANK:
            parser.raise_error(f"a constant has up to {MAX_RANK} dimensions, not {len(type.get_shape())}")
        if DYNAMIC in type.get_shape():
            parser.raise_error(f"a constant's sizes are known, got {type}")
        return _build(parser, payload, type)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            own = getattr(printer, "print_tensor_payload", None)
            if own is None:
                print_payload(printer, self.data)
            else:
                own(self.data)
            printer.print_string(" : ")
            printer.print_attribute(self.type)


def resolve_slice(folder: Path, name: str, offset: int, length: int) -> FileSlice:
    """
    A handle on `length` bytes at `offset` of the file `name` in `folder`; reads nothing.

    Raises UserError for a path that leaves the folder, a file that does not exist, and bytes that are not in the file.
    """
    path = inside(folder, name)
    size = path.stat().st_size
    if offset < 0 or length < 0 or offset + length > size:
        raise UserError(
            f"bytes {offset} to {offset + length} are not in '{name}', which has {size}",
            "the file is truncated or belongs to other text; write both again",
        )
    return FileSlice.of(path, offset, length)


@dataclass(frozen=True)
class _Payload:
    numbers: Sequence[int | float] | None = None
    raw: bytes | FileSlice = b""


def _parse_payload(parser: AttrParser) -> _Payload:
    if parser.parse_optional_keyword("elided"):
        parser.raise_error(
            "this constant was elided when the text was printed; use --print-constants, or write a file with -o"
        )
    if (text := parser.parse_optional_str_literal()) is None:
        numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_number)
        return _Payload(numbers)
    if parser.parse_optional_punctuation("[") is None:
        try:
            return _Payload(None, bytes.fromhex(text.removeprefix("0x")))
        except ValueError:
            parser.raise_error("expected hex digits")
    offset = parser.parse_integer()
    parser.parse_punctuation(",")
    length = parser.parse_integer()
    parser.parse_punctuation("]")
    resolve = getattr(parser, "resolve_weights", None)
    if resolve is not None:
        return _Payload(None, resolve(text, offset, length))
    source = Path(
        parser.lexer.input.name
    )  # another program's parser, which calls a text by its path, if it has one
    if not source.is_file():
        parser.raise_error(f"weights file {text!r} stands beside a text that is a file: name that file")
    try:
        return _Payload(None, resolve_slice(source.parent, text, offset, length))
    except UserError as error:
        parser.raise_error(str(error))


def _build(parser: AttrParser, payload: _Payload, type: TensorType[Attribute]) -> TensorData:
    element, count = BY_ATTRIBUTE[type.element_type], prod(type.get_shape())
    if payload.numbers is not None:
        if len(payload.numbers) != count:
            parser.raise_error(f"{len(payload.numbers)} values for {type}")
        if "int" in element.spelling or element.spelling == "bool":
            _check_integers(parser, payload.numbers, element)
        return from_array(np.array(payload.numbers).astype(element.dtype).reshape(type.get_shape())).data
    if isinstance(type.element_type, StringType):
        assert isinstance(payload.raw, bytes)
        return TensorData(type, strings=_split_strings(parser, payload.raw, count))
    length = payload.raw.length if isinstance(payload.raw, FileSlice) else len(payload.raw)
    if length != byte_size(element, count):
        parser.raise_error(f"{length} bytes for {type}, which takes {byte_size(element, count)}")
    return TensorData(type, payload.raw)


def _check_integers(parser: AttrParser, numbers: Sequence[int | float], element: ElementType) -> None:
    """Raise ParseError for a number outside the range of `element`: numpy would wrap it around."""
    bits = 1 if element.spelling == "bool" else element.bits
    low, high = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if element.spelling[0] == "i" else (0, (1 << bits) - 1)
    )
    for number in numbers:
        if not isinstance(number, int) or not low <= number <= high:
            parser.raise_error(f"{number} is no value of type {element.spelling}")


def _split_strings(parser: AttrParser, raw: bytes, count: int) -> tuple[bytes, ...]:
    strings: list[bytes] = []
    at = 0
    while at < len(raw) and len(strings) < count:
        length = int.from_bytes(raw[at : at + 4], "little")
        strings.append(raw[at + 4 : at + 4 + length])
        at += 4 + length
    if at != len(raw) or len(strings) != count:
        parser.raise_error(f"expected {count} strings")
    return tuple(strings)


def from_array(values: npt.NDArray[Any]) -> TensorAttr:
    """The constant that holds `values`; a contiguous array is not copied."""
    element = BY_NUMPY[values.dtype.name]
    type = tensor_type(element.attribute, values.shape)
    if element.bits < 8:
        return TensorAttr(TensorData(type, pack(values, element.bits)))
    contiguous = np.ascontiguousarray(values)
    return TensorAttr(TensorData(type, contiguous.reshape(-1).view(np.uint8).data))
