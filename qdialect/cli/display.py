"""Plain-text tables; progress: one line on a terminal that is overwritten, nothing in a pipe."""

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the columns aligned to the left, the first row as the head."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


@contextmanager
def progress(quiet: bool = False) -> Generator[Callable[[str], None]]:
    """Context with a function that displays the current activity; the line is cleared at the end."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return

    def show(step: str) -> None:
        sys.stderr.write(f"\r\x1b[K{step} ...")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
