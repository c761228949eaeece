"""Work whose process ends, for the test of `graphs.children`: a child imports it by this name."""

import os

from graphs.children import Report


def square(number: int, without: frozenset[str], begin: Report) -> int:
    """The square; 1 aborts in what is optional, 2 in what is not."""
    begin("optional")
    if number == 1 and "optional" not in without:
        os.abort()
    begin("needed")
    if number == 2:
        os.abort()
    return number * number
