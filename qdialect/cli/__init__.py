"""
The `qdialect` and `qdialect-opt` commands.

Both are imported when they run, so that an interrupt during the import gives no traceback.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress

INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """
    `qdialect`; returns its status: 0 done, 1 could not, 2 wrong usage, 130 interrupted.

    Without `argv` it is the command of this process, which ends with it.
    """

    def run() -> int:
        from qdialect.cli.command import main

        return main(argv)

    return _interruptible(run, ends=argv is None)


def main_of_opt(argv: list[str] | None = None) -> int:
    """`qdialect-opt`, likewise."""

    def run() -> int:
        from qdialect.cli.opt import main

        return main(argv)

    return _interruptible(run, ends=argv is None)


def _interruptible(run: Callable[[], int], *, ends: bool) -> int:
    try:
        if ends:
            gc.disable()  # for good: on, it would traverse the whole model once before the process ends
            from qdialect.cli.later import put_off_modules

            put_off_modules()  # first of all: dataclasses import some
            from qdialect.cli.start import put_off_methods_of_dataclasses, put_off_texts_of_named_tuples

            put_off_methods_of_dataclasses()
            put_off_texts_of_named_tuples()
        status = run()
    except KeyboardInterrupt as error:
        print(f"error: interrupted; {str(error) or 'nothing was written'}", file=sys.stderr)
        status = INTERRUPTED
    if ends:
        _end(status)
    return status


def _end(status: int) -> None:
    """
    End the process without freeing its objects, which takes a twentieth of a small compile; returns if output fails,
    which the interpreter reports.
    """
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
