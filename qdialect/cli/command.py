"""The `qdialect` command: runs the subcommand and returns the exit status."""

import sys

from qdialect.cli import arguments
from qdialect.cli.status import WRONG_USAGE, guarded


def main(argv: list[str] | None) -> int:
    """As `qdialect.cli.main`, but raises interrupts."""
    words = sys.argv[1:] if argv is None else argv
    try:
        parsed = arguments.parse(words)
    except SystemExit as exit_:  # argparse has printed the reason
        return exit_.code if isinstance(exit_.code, int) else WRONG_USAGE
    parsed.words = words

    def run() -> int:
        from qdialect.cli.inputs import streams

        match parsed.command:
            case "compile":
                from qdialect.cli.compile import run
            case "quantize":
                from qdialect.cli.quantize import run
            case "explain":
                from qdialect.cli.explain import run
            case "compare":
                from qdialect.cli.compare import run
            case "bench":
                from qdialect.cli.bench import run
            case _:
                from qdialect.cli.targets import run
        with streams(parsed):
            return run(parsed)

    return guarded(run)
