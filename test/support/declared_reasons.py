"""
The reasons that passes give in tests, held against those that they declare (`Pass.reasons`).

A reason that its pass does not declare fails the test that met it. `make guards` also counts: run as a script after the
tests, this file lists each declared reason that no test met.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from qdialect.reasons import Blocked
from qdialect.rewriting import remarks
from qdialect.rewriting.passes import Pass
from qdialect.transforms import get_all_passes

MET = "QDIALECT_REASONS_MET"
"""The variable of the environment with the name of the file that collects the reasons met."""
UNMET = {
    (
        "insert-casts",
        "noisy-layer",
    ): "a plan of fewer integers than the fastest is chosen by noise and times, which costs"
    " of another version change; `placement/test_placement.py` asks for the reason directly",
}
"""Declared reasons that no test meets, by pass and id, each with the cause why none can."""


class Undeclared(BaseException):
    """A reason that its pass does not declare. No `Exception`, which commands turn into a line of text."""


_met: set[tuple[str, str]] = set()


@cache
def declared(pass_name: str) -> frozenset[str] | None:
    """The ids that a pass of the project declares; None for another."""
    factory = get_all_passes().get(pass_name)
    found = None if factory is None else factory()
    return frozenset(found.reasons.split()) if found is not None and issubclass(found, Pass) else None


def check(pass_name: str, blocked: Blocked) -> None:
    """Raises Undeclared if a pass does not declare a reason that it gives; records the reason in a run that counts."""
    ids = declared(pass_name)
    if ids is None:
        return
    if blocked.id not in ids:
        raise Undeclared(f"`reasons` of the pass {pass_name} lacks '{blocked.id}'")
    if MET in os.environ and (pass_name, blocked.id) not in _met:
        _met.add((pass_name, blocked.id))
        with open(os.environ[MET], "a", encoding="utf-8") as file:
            file.write(f"{pass_name} {blocked.id}\n")


def install() -> None:
    """Check each reason from now on."""
    remarks.on_reason = check


def complaints(met: set[tuple[str, str]]) -> list[str]:
    """A line for each declared reason that no test met, and for each that is listed as such and was met."""
    pairs = {(name, id) for name in get_all_passes() for id in declared(name) or ()}
    lines = [f"{name}: no test meets the reason {id}" for name, id in sorted(pairs - met - UNMET.keys())]
    lines += [f"{name}: {id} is listed as met by no test" for name, id in UNMET.keys() - (pairs - met)]
    return lines


def main() -> int:
    """Say nothing if all is well, so that the tests' summary comes last."""
    rows = Path(os.environ[MET]).read_text(encoding="utf-8").splitlines()
    lines = complaints({(name, id) for name, _, id in (row.partition(" ") for row in rows)})
    print("".join(f"{line}\n" for line in lines), end="", file=sys.stderr)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
