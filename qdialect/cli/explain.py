"""`qdialect explain`: which nodes stay float, and why."""

import argparse
import json
from typing import TYPE_CHECKING

from qdialect.cli.inputs import check_model
from qdialect.cli.progress import progress
from qdialect.cli.status import DONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qdialect.compiler.report import Reason, Report, Stays


def run(arguments: argparse.Namespace) -> int:
    """Compiles the model, writes nothing, and prints what stays float and why, then what the target does not take."""
    check_model(arguments.input)
    import qdialect

    with progress() as show:
        show(f"reading {arguments.input}")
        module = qdialect.load(arguments.input)
        show(f"compiling for {arguments.target}")
        report = qdialect.compile(module, target=arguments.target)
    if arguments.json:
        from qdialect.compiler.report import stays_as_json

        print(json.dumps([stays_as_json(one) for one in report.floats], indent=2))
    else:
        print(_text(report))
    return DONE


def _text(report: "Report") -> str:
    """By reason, the most frequent first, the nodes below."""
    lines = _grouped(report.reasons(), report.floats)
    if broken := _grouped(report.broken_rules(), report.breaches):
        lines += [f"not as {report.target} takes it:", *broken]
    return "\n".join(lines) or "every node that has an integer form takes it"


def _grouped(reasons: "Sequence[tuple[Reason, int]]", nodes: "Sequence[Stays]") -> list[str]:
    lines: list[str] = []
    for reason, count in reasons:
        fix = f"; {reason.fix}" if reason.fix else ""
        lines.append(f"{count} {reason.op}: {reason.message}{fix} [{reason.id}]")
        lines += [
            f"    {one.node}"
            for one in nodes
            if (one.op, one.blocked.id, one.blocked.message) == (reason.op, reason.id, reason.message)
        ]
    return lines
