"""Progress of long work: one line on a terminal that overwrites itself, nothing in a pipe."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def progress(quiet: bool = False) -> Generator[Callable[[str], None]]:
    """A function that shows what is being done; the line is gone when the block ends."""
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
