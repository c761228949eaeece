"""
Write ops that move elements one after another as one, and ops that move none as none.

    Transpose(Transpose(x, p), q)     ->  Transpose(x, p[q]), or x
    Reshape(Unsqueeze(x))             ->  Reshape(x), or x      likewise Squeeze, Flatten, and Transpose that turns
                                                                axes of size 1 alone

Exact: elements are moved. A list of sizes has one that is not known at most. Copies go, as by `fold-identity`, and
readings of integers that meet where a move was, if they undo each other.
"""

from collections.abc import Sequence
from typing import ClassVar

from qdialect.exactness import Exactness
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.cleanup import silent
from qdialect.patterns.copies import FoldCopy
from qdialect.patterns.moves import FoldReshapes, FoldTransposes
from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import RewritePass


class FoldLayoutPass(RewritePass):
    """Two ops that move elements one after another become one."""

    name = "fold-layout"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "Transpose(Transpose(x, p), q) -> Transpose(x, p[q]); Reshape(Unsqueeze(x)) -> Reshape(x)"
    )

    def patterns(self) -> Sequence[Pattern]:
        return [FoldTransposes(), FoldReshapes(), *silent([FoldCopy()]), FoldStorageCasts()]
