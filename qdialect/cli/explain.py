"""`qdialect explain`: which ops stay float, and why."""

import argparse
import json
from collections import Counter
from typing import NamedTuple

from qdialect.cli.inputs import check_model
from qdialect.cli.progress import progress
from qdialect.cli.status import DONE
from qdialect.remarks import RemarkTable, remarks_of


class Reason(NamedTuple):
    """Why rewrites of one kind of op did not fire; many ops share one reason."""

    op: str
    id: str
    message: str
    fix: str


def run(arguments: argparse.Namespace) -> int:
    """Compiles the model, writes nothing, and prints how many ops of each kind were blocked by what."""
    check_model(arguments.input)
    import qdialect

    with progress() as show:
        show(f"reading {arguments.input}")
        module = qdialect.load(arguments.input)
        show(f"compiling for {arguments.target}")
        qdialect.compile(module, target=arguments.target)
    counts = count_reasons(remarks_of(module))
    if arguments.json:
        print(json.dumps([{"count": n, **reason._asdict()} for reason, n in counts], indent=2))
    elif not counts:
        print("nothing was in the way of any rewrite")
    for reason, n in counts if not arguments.json else []:
        fix = f"; {reason.fix}" if reason.fix else ""
        print(f"{n:5d} {reason.op:<24} {reason.id:<24} {reason.message}{fix}")
    return DONE


def count_reasons(table: RemarkTable) -> list[tuple[Reason, int]]:
    """The reasons with the number of ops that each stopped, the most frequent first."""
    # Several passes may be stopped at one op by one reason: that is one op.
    once = {
        (remark.node, Reason(remark.op, b.id, b.message, b.fix)) for remark in table for b in [remark.blocked]
    }
    counts = Counter(reason for _, reason in once)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
