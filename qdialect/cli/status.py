"""
Exit status of commands: 0 success, 1 failure (one line on stderr), 2 wrong usage. Never a traceback for a user's
mistake."""

import os
import sys
from collections.abc import Callable

from qdialect.errors import LocatedError, UserError
from qdialect.files import reason

DONE, FAILED, WRONG_USAGE = 0, 1, 2
DEBUG = "QDIALECT_DEBUG"


def guarded(run: Callable[[], int]) -> int:
    """The status of `run`; an exception becomes one line on stderr and status 1."""
    try:
        status = run()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader (`| head`) has closed the pipe; Python would fail to flush stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except Exception as error:
        if debugging():
            import traceback  # only for debugging: keeps start-up short

            traceback.print_exc()
        print(one_line(describe(error)), file=sys.stderr)
        return FAILED


def debugging() -> bool:
    return os.environ.get(DEBUG, "") not in ("", "0")


def one_line(text: str) -> str:
    """`text` without line breaks: an error is one line, even if a library's message has several."""
    return " ".join(text.split())


def describe(error: Exception) -> str:
    """The user's message for `error`: cause, location, fix."""
    # An error in a text has its location, in the format of editors: `file:line:column: error: ...`.
    if (place := located(error)) is not None:
        return place
    match error:
        case LocatedError():
            return str(error)
        case UserError():
            return f"error: {error}"
        case OSError(filename=None):
            return f"error: {reason(error)}"
        case OSError():
            return f"error: cannot use '{error.filename}', {reason(error)}; check the path"
        case RecursionError():
            return "error: the input is nested too deeply; flatten its subgraphs, regions or attributes"
        case MemoryError():
            return "error: out of memory; use a smaller model or smaller data, or a larger machine"
        case _:
            return _internal(error)


def located(error: BaseException) -> str | None:
    """The text of xDSL's error about the user's IR; None for other errors."""
    if "xdsl" not in sys.modules:
        return None
    from xdsl.utils.exceptions import DiagnosticException, ParseError

    match error:
        case ParseError():
            return f"{error.span.get_location()}: error: {error.msg}"
        case DiagnosticException():
            return f"error: {error}"
        case _:
            return None


def _internal(error: BaseException) -> str:
    notes = "".join(f" {note}" for note in getattr(error, "__notes__", []) if "\n" not in note)
    import traceback  # likewise

    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    advice = (
        "please report it with the traceback above" if debugging() else f"set {DEBUG}=1 for the traceback"
    )
    return f"error: internal error, {type(error).__name__}: {error}{where}{notes}; this is a bug, {advice}"
