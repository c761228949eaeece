"""Progress display: one line on a terminal that is overwritten, nothing in a pipe."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


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
