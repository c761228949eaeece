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
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of, tensor_type
from qdialect.errors import UserError, did_you_mean
from qdialect.exactness import Exactness
from qdialect.patterns.computing import learn_shapes
from qdialect.reasons import Blocked
from qdialect.rewriting.changes import DIMS
from qdialect.rewriting.driver import Rewriter, rewriting

STILL_OPEN = Blocked("open-size", "a size of an input is not known", "say it: --batch N, or --sizes NAME=N")


def _names(row: object) -> list[str]:
    """Names of the dimensions of an input, empty for unnamed ones."""
    listed = row.data.get(DIMS) if isinstance(row, DictionaryAttr) else None
    parts = listed.data if isinstance(listed, ArrayAttr) else ()
    return [part.data if isinstance(part, StringAttr) else "" for part in parts]


def sizes_of(module: ModuleOp, batch: int | None, rows: Sequence[str]) -> dict[str, int]:
    """
    Sizes by name, from `NAME=N`.

    Raises UserError for other text, a name that no size of an input has, and a number below 1.
    """
    if batch is not None and not (isinstance(batch, Integral) and batch > 0):
        raise UserError(f"the batch is {batch!r}", "give a whole number from 1 on")
    functions = [op for op in module.ops if isinstance(op, FuncOp)] if rows else []
    inputs = [
        row for func in functions for row in (func.arg_attrs.data if func.arg_attrs is not None else ())
    ]
    known = dict.fromkeys(name for row in inputs for name in _names(row) if name)
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
class FixShapesPass(ModulePass):
    """Open sizes of inputs become numbers."""

    name = "fix-shapes"
    exactness = Exactness.EXACT
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
        rows = func.arg_attrs.data if func.arg_attrs is not None else ()
        unknown = False
        for place, argument in enumerate(list(func.body.block.args)):
            shape, element = shape_of(argument.type), element_of(argument.type)
            if shape is None or element is None or DYNAMIC not in shape:
                unknown |= shape is None
                continue
            names = _names(rows[place]) if place < len(rows) else []
            named = [sizes.get(names[k]) if k < len(names) else None for k in range(len(shape))]
            fallback = [self.batch if k == 0 else None for k in range(len(shape))]
            fixed = tuple(
                size if size != DYNAMIC else name or default or DYNAMIC
                for size, name, default in zip(shape, named, fallback, strict=True)
            )
            unknown |= DYNAMIC in fixed
            if fixed != shape:
                learnt.append(rewriter.retype(argument, tensor_type(element, fixed), is_same=False))
        return STILL_OPEN if unknown else None
