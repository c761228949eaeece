"""
The protobuf wire format of large initializers, without copies of their bytes: `split` removes them from a
serialized model, `join` inserts them. protobuf reads and writes all other fields.

A message is a list of fields: a tag, number * 8 + kind, and a value, whose kind determines its end
(https://protobuf.dev/programming-guides/encoding/).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5
"""Wire types; a `LENGTH` is followed by as many bytes."""

GRAPH, INITIALIZER, RAW_DATA = (number * 8 + LENGTH for number in (7, 5, 9))
"""Tags in ModelProto, GraphProto, TensorProto."""

MAX_MESSAGE_BYTES = (1 << 31) - 1
"""Greatest size of a message in bytes."""

Piece = memoryview | bytes | int
"""Bytes of a message, or the index of an initializer whose raw data belongs there."""
Edit = Callable[[int, int], "tuple[list[Piece], int] | None"]
"""Maps the offsets of an initializer to its replacement and the length of that; None keeps it."""


def split(message: bytes | memoryview, least: int) -> tuple[bytes, dict[int, memoryview]]:
    """
    A serialized ModelProto without raw data of more than `least` bytes, and that data by index of its initializer.

    A malformed message is returned unchanged, for protobuf to refuse.
    """
    view, large = memoryview(message), dict[int, memoryview]()
    places = iter(range(len(message)))

    def without_raw(start: int, end: int) -> tuple[list[Piece], int] | None:
        place = next(places)
        raw = [field for field in _fields(view, start, end) if field[0] == RAW_DATA]
        if len(raw) != 1:
            return None
        [(_, begin, value, stop)] = raw
        if stop - value <= least:
            return None
        large[place] = view[value:stop]
        return [view[start:begin], view[stop:end]], end - start - (stop - begin)

    try:
        pieces, _ = _edited(view, 0, len(view), (GRAPH, INITIALIZER), without_raw)
    except (ValueError, IndexError):
        return bytes(message), {}
    return b"".join(pieces) if large else bytes(message), large  # pyright: ignore[reportArgumentType]


def join(message: bytes, sizes: Mapping[int, int]) -> list[Piece]:
    """
    A serialized ModelProto, in pieces, with raw data of so many bytes in initializers. sizes: bytes by index.

    Raises ValueError if the message exceeds `MAX_MESSAGE_BYTES`.
    """
    view = memoryview(message)
    places = iter(range(len(message)))

    def with_raw(start: int, end: int) -> tuple[list[Piece], int] | None:
        place = next(places)
        if place not in sizes:
            return None
        head = _varint(RAW_DATA) + _varint(sizes[place])
        return [view[start:end], head, place], end - start + len(head) + sizes[place]

    pieces, length = _edited(view, 0, len(view), (GRAPH, INITIALIZER), with_raw)
    if length > MAX_MESSAGE_BYTES:
        raise ValueError(f"{length} bytes")
    return pieces


def _edited(
    view: memoryview, start: int, end: int, path: tuple[int, ...], edit: Edit
) -> tuple[list[Piece], int]:
    """The message between two offsets with `edit` applied to each message at `path` in it, and its length."""
    pieces: list[Piece] = []
    length, kept = end - start, start
    for tag, begin, value, stop in _fields(view, start, end):
        if tag != path[0]:
            continue
        edited = _edited(view, value, stop, path[1:], edit) if path[1:] else edit(value, stop)
        if edited is not None:
            inner, size = edited
            head = _varint(tag) + _varint(size)
            pieces += [view[kept:begin], head, *inner]
            length += len(head) + size - (stop - begin)
            kept = stop
    return [*pieces, view[kept:end]], length


def _fields(view: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Tag, start, start of the value and end of each field. Raises ValueError or IndexError if malformed."""
    at = start
    while at < end:
        begin = at
        tag, at = _read_varint(view, at)
        kind = tag & 7
        if kind == LENGTH:
            size, at = _read_varint(view, at)
            stop = at + size
        elif kind == VARINT:
            _, stop = _read_varint(view, at)
        elif kind == FOUR_BYTES or kind == EIGHT_BYTES:
            stop = at + (4 if kind == FOUR_BYTES else 8)
        else:
            raise ValueError(f"a field of kind {kind}")
        if stop > end:
            raise ValueError("a field ends behind its message")
        yield tag, begin, at, stop
        at = stop


def _read_varint(view: memoryview, at: int) -> tuple[int, int]:
    """A varint, seven bits per byte, lowest first, and the offset of its end."""
    value = shift = 0
    while (byte := view[at]) >= 0x80:
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if shift > 63:
            raise ValueError("a number of more than ten bytes")
    return value | byte << shift, at + 1


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*written, value))
