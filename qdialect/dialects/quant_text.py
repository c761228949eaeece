"""
Printer and parser of the parameters of quantized types: decimal scales, lists of scales and zero points, storage types.

A list of a few thousand scales is read with one regular expression: token by token it would take 40 ms, every
time that the type is written. Text that the expression does not match goes to the parser of tokens, which
accepts the same language, with comments, and points at the error.
"""

import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.parser import AttrParser

MAX_RANK = 64
"""numpy's limit, and deeper nesting is an attack on the stack."""

# --- Writing ---


def decimal(text: str) -> str:
    """A Python float's text as MLIR reads it: with a point, so `1e-05` becomes `1.0e-05`."""
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa else f"{mantissa}.0{e}{exponent}"


def scale_texts(scales: npt.NDArray[np.float32]) -> list[str]:
    """For each scale, in storage order, the shortest decimal that reads back to the same float32."""
    flat = scales.reshape(-1)
    texts = [decimal(text) for text in flat.astype(np.str_).tolist()]
    # MLIR reads a double, which we round to float32; where the two roundings miss, 17 digits do it.
    read = np.array(texts, np.float64).astype(np.float32)
    for i in np.flatnonzero(read != flat).tolist():
        texts[i] = decimal(repr(float(flat[i])))
    return texts


def parameter_text(scales: npt.NDArray[np.float32], zero_points: npt.NDArray[np.int32]) -> str:
    """`0.02:3` for shape (), `{0.5,0.25:3}` for (n,), `{{0.5, 0.25:3}, {...}}` for more dimensions."""
    entries = [
        f"{scale}:{zero_point}" if zero_point else scale
        for scale, zero_point in zip(scale_texts(scales), zero_points.reshape(-1).tolist(), strict=True)
    ]
    separator = "," if scales.ndim == 1 else ", "
    for size in reversed(scales.shape):
        entries = [
            "{" + separator.join(entries[i : i + size]) + "}"
            for i in range(0, max(len(entries), 1), size or 1)
        ]
    return entries[0]


# --- Reading ---


class Parameters(NamedTuple):
    """Nested lists of scales and zero points: their shape, and the entries, flat, in storage order."""

    shape: tuple[int, ...]
    scales: npt.NDArray[np.float64]
    zero_points: npt.NDArray[Any]


def _parameters(shape: tuple[int, ...], entries: Sequence[tuple[float, int]]) -> Parameters:
    scales = np.array([scale for scale, _ in entries], np.float64)
    return Parameters(shape, scales, np.array([zero_point for _, zero_point in entries]))


# Bounded, or a long row of digits would cost the square of its length.
_SCALE = r"-?[0-9]{1,99}\.[0-9]{0,99}(?:[eE][-+]?[0-9]{1,9})?"
_ENTRY = re.compile(rf"({_SCALE})(?:\s{{0,99}}:\s{{0,99}}(-?[0-9]{{1,19}}))?")
_LIST = re.compile(r"[{}0-9.eE:,+\-\s]*[}]")


@lru_cache(maxsize=256)
def read_parameters(text: str) -> Parameters | None:
    """Read a braced, possibly nested list; None if it is not one, or its rows differ in length."""
    skeleton = "".join(_ENTRY.sub("x", text).split())
    shape: list[int] = []
    remaining = skeleton
    while remaining != "x":
        if len(shape) == MAX_RANK or (row := re.search(r"\{(x(?:,x)*)\}", remaining)) is None:
            return None
        shape.insert(0, (len(row[1]) + 1) // 2)
        remaining = remaining.replace(row[0], "x")
    if not shape or _skeleton(shape) != skeleton:
        return None
    entries: list[tuple[str, str]] = _ENTRY.findall(text)
    return _parameters(tuple(shape), [(float(s), int(z) if z else 0) for s, z in entries])


def _skeleton(shape: Sequence[int]) -> str:
    text = "x"
    for size in reversed(shape):
        text = "{" + ",".join([text] * size) + "}"
    return text


def parse_parameters(parser: AttrParser, in_braces: bool) -> Parameters:
    """`0.02:3`, or braces, nested or not, which `in_braces` demands."""
    content, start = parser.lexer.input.content, parser.pos
    if not content.startswith("{", start):
        if in_braces:
            parser.raise_error("expected '{'")
        return _parameters((), [_parse_entry(parser)])
    span = _LIST.match(content, start)
    if span is not None and (parameters := read_parameters(span[0])) is not None:
        parser.lexer.pos = span.end()
        parser.parse_punctuation("{")  # the token in hand; the next one is lexed behind the list
        return parameters
    return _parameters(*_parse_rows(parser, 0))


def _parse_rows(parser: AttrParser, depth: int) -> tuple[tuple[int, ...], list[tuple[float, int]]]:
    """The shape and the entries of the list, token by token."""
    if depth == MAX_RANK:
        parser.raise_error(f"scales are nested deeper than {MAX_RANK} dimensions")

    def row() -> tuple[tuple[int, ...], list[tuple[float, int]]]:
        if parser.lexer.input.content.startswith("{", parser.pos):
            return _parse_rows(parser, depth + 1)
        return (), [_parse_entry(parser)]

    start = parser.pos
    rows = parser.parse_comma_separated_list(parser.Delimiter.BRACES, row)
    if not rows:
        parser.raise_error("expected a scale", start)
    if any(shape != rows[0][0] for shape, _ in rows):
        parser.raise_error("tensor literal is invalid; ranks are not consistent between elements", start)
    return (len(rows), *rows[0][0]), [entry for _, entries in rows for entry in entries]


def _parse_entry(parser: AttrParser) -> tuple[float, int]:
    """`scale` or `scale:zero_point`."""
    start = parser.pos
    negative = parser.parse_optional_punctuation("-") is not None
    number = parser.pos
    value = parser.parse_optional_number()
    if value is None:
        parser.raise_error("expected a scale: a floating point literal")
    if isinstance(value, int):
        if not parser.lexer.input.content.startswith("0x", number):
            parser.raise_error("unexpected decimal integer literal for a floating point value", start)
        if value.bit_length() > 64:
            parser.raise_error("hexadecimal float constant is out of range for its 64 bits", start)
        (value,) = struct.unpack("<d", value.to_bytes(8, "little"))
    zero_point = 0
    if parser.parse_optional_punctuation(":") is not None:
        zero_point = parse_integer(parser)
    return (-value if negative else value), zero_point


def parse_integer(parser: AttrParser) -> int:
    """A decimal integer, which may be negative."""
    value = parser.parse_optional_integer(allow_boolean=False)
    if value is None:
        parser.raise_error("expected integer value")
    return value


_STORAGE = re.compile(r"(?P<sign>i|u|s|ui|si)(?P<width>[0-9]*)")


def parse_storage(parser: AttrParser) -> tuple[int, bool, int | None, int | None]:
    """`i8`, `u4<1:15>`, ...: width, signedness, and the bounds if written. `ui8` is `u8`, `si8` is `i8`."""
    start = parser.pos
    name = _STORAGE.fullmatch(parser.parse_optional_identifier() or "")
    if name is None or name["sign"] == "s" or (name["sign"] == "i" and not name["width"]):
        parser.raise_error("illegal storage type prefix", start)
    if not name["width"]:
        parser.raise_error("expected storage type width", start)
    if len(name["width"]) > 2:
        parser.raise_error(f"illegal storage type size: {name['width']}", start)
    low = high = None
    if parser.parse_optional_punctuation("<") is not None:
        low = parse_integer(parser)
        parser.parse_punctuation(":")
        high = parse_integer(parser)
        parser.parse_punctuation(">")
    return int(name["width"]), not name["sign"].startswith("u"), low, high


def parse_axis_or_blocks(parser: AttrParser) -> tuple[int | None, tuple[tuple[int, int], ...] | None]:
    """`:1` or `:{0:2, 1:4}`, if present."""
    if parser.parse_optional_punctuation(":") is None:
        return None, None

    def block() -> tuple[int, int]:
        axis = parse_integer(parser)
        parser.parse_punctuation(":")
        return axis, parse_integer(parser)

    blocks = parser.parse_optional_comma_separated_list(parser.Delimiter.BRACES, block)
    return (parse_integer(parser), None) if blocks is None else (None, tuple(blocks))
