"""
Drop ops that give their operand as it is; what was said of the copy is said of the original.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read
    op(x)        ->  x      Reshape, Flatten, Expand, CenterCropPad to the same sizes; Transpose that moves no axis;
                            Cast to the same type; Slice of all; Pad by 0; Tile by 1; Concat or Sum of one, Split into
                            one; + 0, - 0, * 1, / 1

Exact: nothing is computed, or nothing that changes a number. A quantization annotation on the copy moves to the tensor
that survives. Readings of integers that meet where a copy was go if they undo each other.
"""

from qdialect.exactness import Exactness
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.copies import FoldCopy
from qdialect.rewriting.passes import RewritePass


class FoldIdentityPass(RewritePass):
    """Ops that give their operand as it is are dropped."""

    name = "fold-identity"
    exactness = Exactness.EXACT
    rewrite = "Identity(x) -> x: nothing is computed"
    pattern_types = (FoldCopy, FoldStorageCasts)
