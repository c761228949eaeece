"""Which guards no test makes return: what a run of the tests recorded, held against the sources."""

from __future__ import annotations

import sys

from guard_places import all_places
from sitecustomize import RECORDED
from unreachable import UNREACHABLE


def complaints(places: dict[str, int], returned: set[str]) -> list[str]:
    """A line for each guard that no test reaches, and for each that is wrongly listed as one that none can."""
    lines: list[str] = []
    for place in sorted(places.keys() - returned - UNREACHABLE.keys()):
        file, _, where = place.partition(":")
        function, _, reason = where.partition(" ")
        lines.append(f"{file}:{places[place]}: no test makes {function} return {reason}")
    for place in UNREACHABLE:
        if place not in places:
            lines.append(f"{place} is listed as unreachable, and there is no such guard")
        elif place in returned:
            lines.append(f"{place} is listed as unreachable, and a test reaches it")
    return lines


def main() -> int:
    """Say nothing if all is well, so that the tests' summary comes last."""
    places = all_places()
    returned = set(RECORDED.read_text().splitlines()) & places.keys()
    if lines := complaints(places, returned):
        print("\n".join([*lines, f"{len(returned)} of {len(places)} guards were returned"]), file=sys.stderr)
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
