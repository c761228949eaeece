"""
Merge consecutive ops that move elements, and drop those without effect.

    Transpose(Transpose(x, p), q)     ->  Transpose(x, p[q]), or x
    Reshape(Unsqueeze(x))             ->  Reshape(x), or x      likewise Squeeze, Flatten, and Transpose that moves
                                                                only axes of size 1
    ReduceMax(f(Transpose(x, p)), a)  ->  ReduceMax(f(x), p[a])      f elementwise, on such operands and numbers
    CenterCropPad(x, n)               ->  Pad(Slice(x, ..), ..)      n and the sizes of x known
    CenterCropPad(x, n) {axes}        ->  CenterCropPad(x, n')       if not
    Pad(x, p, c, axes)                ->  Pad(x, p', c)              axes constant; p' of all axes, from the run if p is
    Resize(x, scales) {axes}          ->  Resize(x, scales')         likewise

Exact: elements are moved, and the greatest of numbers is the same in any order. At most one size of a merged Reshape is
unknown; axes that are not reduced keep their order. Optimizing sessions of onnxruntime refuse a Pad, Resize or
CenterCropPad with `axes` past which they move a Transpose. Copies are dropped, as by `fold-identity`, and casts that
become adjacent or equal are folded, as by `fold-casts`.
"""

from collections.abc import Sequence

from qdialect.exactness import Exactness
from qdialect.patterns.cleanup import cleanups, silent
from qdialect.patterns.copies import FoldCopy
from qdialect.patterns.moves import FoldReshapes, FoldTransposes, SimplifyMove
from qdialect.patterns.transposed import ReduceTransposed
from qdialect.rewriting.driver import Pattern
from qdialect.rewriting.passes import RewritePass


class FoldLayoutPass(RewritePass):
    name = "fold-layout"
    exactness = Exactness.EXACT
    rewrite = "Transpose(Transpose(x, p), q) -> Transpose(x, p[q]); CenterCropPad(x) -> Pad(Slice(x))"

    def patterns(self) -> Sequence[Pattern]:
        return [
            FoldTransposes(),
            FoldReshapes(),
            SimplifyMove(),
            ReduceTransposed(),
            *silent([FoldCopy()]),
            *cleanups(),
        ]
