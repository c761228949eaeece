"""
Set open sizes of the graph's inputs, for runtimes that require static shapes.

    main(%x : ?x3x8)  ->  main(%x : 4x3x8)      batch = 4: a first size that is open; NAME=4: a size of that name

Exact: no element changes; the graph is the model's at one of its admissible sizes. Sizes that follow from the
inputs' are inferred at once, as `infer-shapes` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.errors import UserError, did_you_mean
from qdialect.exactness import Exactness
from qdialect.ir.symbols import size_names
from qdialect.patterns.constant_folding import learn_shapes
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, rewriting
from qdialect.rewriting.passes import Pass

STILL_OPEN = Blocked("open-size", "a size of an input is not known", "state it: --batch N, or --sizes NAME=N")


def sizes_of(module: ModuleOp, batch: int | None, rows: Sequence[str]) -> dict[str, int]:
    """
    Sizes by name, from `NAME=N`.

    Raises UserError for other text, a name that no size of an input has, and a number below 1.
    """
    if batch is not None and not (isinstance(batch, Integral) and batch > 0):
        raise UserError(f"the batch is {batch!r}", "give a whole number from 1 on")
    inputs = (
        [arg for op in module.ops if isinstance(op, FuncOp) for arg in op.body.block.args] if rows else []
    )
    known = dict.fromkeys(name for value in inputs for name in size_names(value) if name)
    sizes: dict[str, int] = {}
    for row in rows:
        name, _, number = row.partition("=")
        if not name or not number.isdecimal() or int(number) < 1:
            raise UserError(f"'{row}' is not NAME=N", "as in --sizes width=224,height=224")
        if name not in known:
            listed = f"those of the inputs are {', '.join(known)}" if known else "none of them has a name"
            raise UserError(f"no size of an input is called '{name}'", did_you_mean(name, known, listed))
        sizes[name] = int(number)
    return sizes


@dataclass(frozen=True)
class FixShapesPass(Pass):
    name = "fix-shapes"
    exactness = Exactness.EXACT
    reasons = "open-size"
    rewrite = "main(%x : ?x3x8) -> main(%x : 4x3x8): types alone change"

    batch: int | None = None
    """Value of an open first size."""
    sizes: tuple[str, ...] = ()
    """`NAME=N`: values of named sizes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sizes = sizes_of(op, self.batch, self.sizes)
        fixed: list[SSAValue] = []
        with rewriting(op, self.name) as rewriter:
            for func in op.ops:
                if isinstance(func, FuncOp):
                    rewriter.attempt(func, "FixShapes", lambda one, r: self._fix(one, sizes, fixed, r))
        if fixed:
            learn_shapes(op, fixed)

    def _fix(
        self, func: FuncOp, sizes: dict[str, int], learnt: list[SSAValue], rewriter: Rewriter
    ) -> Blocked | None:
        unknown = False
        for argument in list(func.body.block.args):
            shape, element = shape_of(argument.type), element_of(argument.type)
            if shape is None or element is None or DYNAMIC not in shape:
                unknown |= shape is None
                continue
            named = [sizes.get(name) for name in (*size_names(argument), *[""] * len(shape))]
            told = (named[0] or self.batch, *named[1:])
            fixed = tuple(
                size if size != DYNAMIC else known or DYNAMIC
                for size, known in zip(shape, told, strict=False)
            )
            unknown |= DYNAMIC in fixed
            if fixed != shape:
                learnt.append(rewriter.retype(argument, tensor_type(element, fixed), is_same=False))
        return STILL_OPEN if unknown else None
