"""
The `qdialect` and `qdialect-opt` commands.

Both are imported when they run, so that an interrupt during the import gives no traceback.
"""

import gc
import sys
from collections.abc import Callable

INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """
    `qdialect`; returns its status: 0 done, 1 could not, 2 wrong usage, 130 interrupted.

    Without `argv` it takes the arguments of this process, which is expected to end with it.
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
        return run()
    except KeyboardInterrupt as error:
        print(f"error: interrupted; {str(error) or 'nothing was written'}", file=sys.stderr)
        return INTERRUPTED
    finally:
        if ends:
            gc.freeze()  # as the interpreter ends it collects, which would traverse the whole model (0.1 s)
