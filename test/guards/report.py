"""Which guards no test makes return: read what a run of the tests recorded, and hold it against the sources."""

from __future__ import annotations

import sys

from guard_places import ROOT, all_places
from sitecustomize import RECORDED
from unreachable import UNREACHABLE


def main() -> int:
    places = all_places()
    returned = set(RECORDED.read_text().splitlines()) & places.keys()
    untested = sorted(places.keys() - returned - UNREACHABLE.keys())
    for place in untested:
        file, _, where = place.partition(":")
        print(
            f"{file}:{places[place]}: no test makes {where.split(' ', 1)[0]} return {where.split(' ', 1)[1]}"
        )
    stale = [k for k in UNREACHABLE if k not in places or k in returned]
    for place in stale:
        print(
            f"{place}: {'a test reaches it' if place in returned else 'is no guard'}, so it is not unreachable"
        )
    counts = (
        f"{len(places)} guards in {ROOT.name}: {len(returned)} returned by a test, {len(untested)} by none"
    )
    print(f"{counts}, {len(UNREACHABLE)} unreachable", file=sys.stderr)
    return bool(untested or stale)


if __name__ == "__main__":
    sys.exit(main())
