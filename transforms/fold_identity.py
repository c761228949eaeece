"""
Fold ops that return their operand unchanged, with their names and annotations moved to the operand.

    Identity(x)  ->  x
    Dropout(x)   ->  x      at inference, its mask not read
    op(x)        ->  x      Reshape, Flatten, Expand, CenterCropPad to the same sizes; Transpose that moves no axis;
                            Cast to the same type; Slice of all; Pad by 0; Tile by 1; Concat or Sum of one, Split into
                            one; Where on true or false alone; + 0, - 0, * 1, / 1

Exact: no number changes. A quantization annotation on the copy moves to the remaining tensor. Storage casts that become
adjacent are folded if they are inverse.
"""

from qdialect.exactness import Exactness
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.copies import FoldCopy
from qdialect.rewriting.passes import RewritePass, Role


class FoldIdentityPass(RewritePass):
    name = "fold-identity"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "invalid-op training-mode"
    rewrite = "Identity(x) -> x: nothing is computed"
    pattern_types = (FoldCopy, FoldStorageCasts)
