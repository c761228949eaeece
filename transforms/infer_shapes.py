"""
Infer unknown types and sizes of results, from operands, attributes and computed lists.

    op(x : known) : unknown              ->  op(x) : inferred
    Reshape(x, computed list) : ?x?      ->  Reshape(x, [2, 3]) : 2x3        the list becomes a constant
    qcast(x : 2x3) : ?x?, likewise dcast, scast  ->  2x3                     a cast has one shape on both sides
    Max(x : ?x?, c : 3x1) : ?x?          ->  3x?                             c is broadcast to the result
    Scan(s : 2x3, x : 4x5) {a : ?x?, b : ?}  ->  {a : 2x3, b : 5}            a state keeps its shape, x is cut

Exact: no element changes. One sweep, operands first: a list is computed when the first result depends on it, and no op
is computed twice. ONNX's own inference has run when the model was read; it stops at lists that only onnxruntime can
compute, at com.microsoft and at subgraphs. There a QOperator node has the shape of the op that it computes, branches
agree on a type, and loop iterations preserve the types of their states.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.exactness import Exactness
from qdialect.patterns.constant_folding import learn_shapes
from qdialect.rewriting.passes import Pass, Role


class InferShapesPass(Pass):
    name = "infer-shapes"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    rewrite = "op(x) : unknown -> op(x) : inferred: types alone change"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        learn_shapes(op)
