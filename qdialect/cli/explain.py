"""`qdialect explain`: which nodes stay float, and why."""

import argparse
import json
from typing import TYPE_CHECKING

from qdialect.cli.inputs import check_model
from qdialect.cli.progress import progress
from qdialect.cli.status import DONE

if TYPE_CHECKING:
    from qdialect.report import Report


def run(arguments: argparse.Namespace) -> int:
    """Compiles the model, writes nothing, and prints each node that could be integer and is not, with the reason."""
    check_model(arguments.input)
    import qdialect

    with progress() as show:
        show(f"reading {arguments.input}")
        module = qdialect.load(arguments.input)
        show(f"compiling for {arguments.target}")
        report = qdialect.compile(module, target=arguments.target)
    if arguments.json:
        from qdialect.report import stays_as_json

        print(json.dumps([stays_as_json(one) for one in report.floats], indent=2))
    else:
        print(_text(report))
    return DONE


def _text(report: "Report") -> str:
    """By reason, the most frequent first, the nodes below."""
    if not report.floats:
        return "every node that has an integer form takes it"
    lines: list[str] = []
    for reason, count in report.reasons():
        fix = f"; {reason.fix}" if reason.fix else ""
        lines.append(f"{count} {reason.op}: {reason.message}{fix} [{reason.id}]")
        lines += [
            f"    {one.node}"
            for one in report.floats
            if (one.op, one.blocked.id, one.blocked.message) == (reason.op, reason.id, reason.message)
        ]
    return "\n".join(lines)
