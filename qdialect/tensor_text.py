"""
How a constant's value is written: `#onnx.tensor<[1, -2] : tensor<2xi8>>`, in hex, in a file, or elided.

`print_payload` and `parse_payload` write and read what is between `<` and `>`; the attribute calls them.
They work with any of xDSL's printers and parsers, only ours (`qdialect.text`) know a file beside the text.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from qdialect.errors import UserError
from qdialect.weights import WeightsFile, WeightsReader

SMALL = 64
"""Elements; up to here a constant is always written in full."""

Constants = str | WeightsFile
"""What becomes of large constants: "elide", "inline" (as hex), or a file to put them into."""


class Tensor(Protocol):
    """What a constant attribute tells its printer."""

    @property
    def type(self) -> Attribute:
        """`tensor<2x3xf32>`, static."""
        ...

    @property
    def size(self) -> int:
        """The number of elements."""
        ...

    def raw(self) -> memoryview:
        """The bytes as ONNX has them: little-endian, C order; two 4-bit elements in a byte."""
        ...

    def elements(self) -> npt.NDArray[Any] | Sequence[bytes]:
        """The elements, flat, one by one: an array, or the bytes of each string."""
        ...


@dataclass(frozen=True)
class Payload:
    """What was read: either `values` (flat; numbers, booleans or strings) or `raw` (ONNX's bytes)."""

    type: Attribute
    values: Sequence[int | float | bool | bytes] | None = None
    raw: memoryview | None = None


def print_payload(printer: Printer, tensor: Tensor) -> None:
    """Writes `[...] : type`, `"0x..." : type`, `"x.weights"[offset, length] : type` or `elided : type`."""
    constants: Constants = getattr(printer, "constants", "elide")
    if not (tensor.size <= SMALL and _print_elements(printer, tensor)):
        if isinstance(constants, WeightsFile) and tensor.size > SMALL:
            offset, length = constants.append(tensor.raw())
            printer.print_string_literal(constants.name)
            printer.print_string(f"[{offset}, {length}]")
        elif tensor.size > SMALL and constants == "elide":
            printer.print_string("elided")
        else:
            printer.print_string(f'"0x{tensor.raw().hex().upper()}"')
    printer.print_string(" : ")
    printer.print_attribute(tensor.type)


def _print_elements(printer: Printer, tensor: Tensor) -> bool:
    elements = tensor.elements()
    if not isinstance(elements, np.ndarray):
        with printer.in_square_brackets():
            printer.print_list(elements, printer.print_bytes_literal)
        return True
    if (texts := element_texts(elements)) is None:
        return False
    printer.print_string(f"[{', '.join(texts)}]")
    return True


def element_texts(elements: npt.NDArray[Any]) -> list[str] | None:
    """Each number as the shortest text that reads back to the same bits; None if one has none, like inf."""
    values = elements.ravel()
    if values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if values.dtype.kind in "iu" or values.dtype.name in ("int2", "uint2", "int4", "uint4"):
        return [str(int(value)) for value in values]
    if values.dtype.kind == "c" or not np.isfinite(values.astype(np.float64)).all():
        return None
    texts = [_float_text(value, values.dtype) for value in values]
    back = np.array([float(text) for text in texts], np.float64).astype(values.dtype)
    return texts if back.tobytes() == np.ascontiguousarray(values).tobytes() else None


def _float_text(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.name in ("float16", "float32", "float64"):
        text = str(value)
    else:
        # ml_dtypes prints too few digits for some types: the first precision that reads back is the shortest.
        wide = float(value)
        tries = (f"{wide:.{digits}g}" for digits in range(1, 18))
        text = next(text for text in tries if np.float64(text).astype(dtype).tobytes() == value.tobytes())
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def parse_payload(parser: AttrParser) -> Payload:
    """
    Reads what `print_payload` writes. ParseError for anything else, for an elided constant, and for a file
    that is not where it must be."""
    start = parser.pos
    values: Sequence[int | float | bool | bytes] | None = None
    raw: memoryview | None = None
    if parser.parse_optional_keyword("elided") is not None:
        parser.raise_error(
            "the constant was elided when this was printed; print it with --print-constants", start
        )
    if (text := parser.parse_optional_str_literal()) is not None:
        raw = (
            _file_bytes(parser, text)
            if parser.parse_optional_punctuation("[")
            else _hex_bytes(parser, text, start)
        )
    else:
        values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _element(parser))
    parser.parse_punctuation(":")
    return Payload(parser.parse_type(), values, raw)


def _element(parser: AttrParser) -> int | float | bool | bytes:
    if (text := parser.parse_optional_bytes_literal() if parser.pos >= 0 else None) is not None:
        return text
    if (flag := parser.parse_optional_boolean()) is not None:
        return flag
    return parser.parse_number()


def _hex_bytes(parser: AttrParser, text: str, start: int) -> memoryview:
    if re.fullmatch(r"0x([0-9A-Fa-f]{2})*", text) is None:
        parser.raise_error(
            'expected bytes in hex, as in "0x0A0B", or a file\'s name, as in "x.weights"[0, 64]', start
        )
    return memoryview(bytes.fromhex(text[2:]))


def _file_bytes(parser: AttrParser, name: str) -> memoryview:
    start = parser.pos
    offset = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation(",")
    length = parser.parse_integer(allow_boolean=False)
    parser.parse_punctuation("]")
    reader: WeightsReader | None = getattr(parser, "weights", None)
    if reader is None:
        parser.raise_error(
            f"'{name}' stands beside a file, and this text is not from one; name the file", start
        )
    try:
        return reader.view(name, offset, length)
    except UserError as error:
        parser.raise_error(str(error), start)


def pack_values(values: Sequence[int | float | bool | bytes], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Numbers read from text as an array [n] of `dtype`. ValueError if one is no number or does not fit."""
    if any(isinstance(value, bytes) for value in values):
        raise ValueError("a string stands where a number is due")
    integral = dtype.kind in "iub" or dtype.name in ("int2", "uint2", "int4", "uint4")
    if integral:
        low, high = _range(dtype)
        for value in values:
            if not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"{value} is not an integer in {low}..{high}")
        return np.array(values, np.uint64 if low == 0 else np.int64).astype(dtype)
    wide = np.array([float(value) for value in values], np.float64)
    with np.errstate(over="ignore"):
        packed = wide.astype(dtype)
    if not all(math.isfinite(float(value)) for value in packed):
        raise ValueError(f"a number is too large for {dtype.name}; write inf and nan in hex")
    return packed


def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    if dtype.kind == "b":
        return 0, 1
    bits = int(re.sub(r"\D", "", dtype.name))
    return (0, 2**bits - 1) if dtype.name.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
