"""Which guards no test makes return: what a run of the tests recorded, held against the sources."""

from __future__ import annotations

import sys

from guard_places import all_places
from sitecustomize import RECORDED
from unreachable import UNREACHABLE


def complaints(places: dict[str, int], returned: set[str]) -> list[str]:
    """A line for each guard that no test reaches, and for each that is wrongly listed as one that none can."""
    found: list[str] = []
    for place in sorted(places.keys() - returned - UNREACHABLE.keys()):
        file, _, where = place.partition(":")
        function, _, reason = where.partition(" ")
        found.append(f"{file}:{places[place]}: no test makes {function} return {reason}")
    for place in UNREACHABLE:
        if place not in places:
            found.append(f"{place} is listed as unreachable, and there is no such guard")
        elif place in returned:
            found.append(f"{place} is listed as unreachable, and a test reaches it")
    return found


def main() -> int:
    """Say nothing if all is well, so that the tests' summary comes last."""
    places = all_places()
    returned = set(RECORDED.read_text().splitlines()) & places.keys()
    if found := complaints(places, returned):
        print("\n".join([*found, f"{len(returned)} of {len(places)} guards were returned"]), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
