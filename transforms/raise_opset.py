"""
Write ops of older opsets as newer ones have them, and let the module import opset `to`.

    Pad(x) {pads = p}        ->  Pad(x, p)          likewise Clip, Slice, Split, Squeeze, Unsqueeze, ReduceSum, TopK
    Upsample(x, s)           ->  Resize(x, _, s)    pixels counted from the corner
    Softmax(x) {axis = k}    ->  Reshape(Softmax(Flatten(x)))    where it is over several axes
    Crop, ImageScaler, Affine  ->  Slice, Mul, Add  ops that opset 10 has no more

Exact: the same function under another name. All ops or none: a module has one opset. Quantization needs opset 10, and
13 for scales along an axis in QDQ form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import CustomOp, FunctionOp, OnnxOp
from qdialect.dialects.onnx_verify import verify_at
from qdialect.forms.newer import NEWER, NewerForm
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import IMPORTS
from qdialect.onnx_io.shapes import learn_unknown
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, refresh_signatures
from qdialect.rewriting.passes import Exactness, RewritePass
from qdialect.rewriting.remarks import remarks_of


def _changes(op: OnnxOp, now: int, to: int) -> list[NewerForm]:
    return [form for form in NEWER.get((op.domain, op.op_type), ()) if now < form.since <= to]


def _inside_function(op: Operation) -> bool:
    scope = op.parent_op()
    while scope is not None and not isinstance(scope, FunctionOp):
        scope = scope.parent_op()
    return scope is not None


def _unchanged(op: OnnxOp, now: int, to: int) -> Blocked | None:
    """Why an op without a newer form is not the same in opset `to`."""
    if isinstance(op, CustomOp):
        return Blocked("unknown-op", f"nothing is known of {op.op_type} in newer opsets")
    if op.SCHEMA is None or op.SCHEMA.at(now) == op.SCHEMA.at(to):
        return None
    try:
        verify_at(op, to)
    except VerifyException as error:
        return Blocked("old-form", f"opset {to} writes {op.op_type} otherwise: {error}")
    return None


class _Raising:
    """The newer form of each op, built before anything is replaced."""

    def __init__(self, now: int, to: int):
        self.now, self.to = now, to
        self.parts: dict[OnnxOp, Sequence[Operation]] = {}
        self.blocked: dict[OnnxOp, Blocked] = {}

    def read(self, op: OnnxOp) -> None:
        """Build the parts that stand in for `op`, or note why there are none."""
        parts: Sequence[Operation] = []
        whole = op
        for form in _changes(op, self.now, self.to):
            newer = form.parts(whole)
            if isinstance(newer, Blocked):
                self.blocked[op] = newer
                return
            last = newer[-1]
            assert isinstance(last, OnnxOp)
            parts, whole = [*parts[:-1], *newer], last
        if parts:
            self.parts[op] = parts
        elif (blocked := _unchanged(op, self.now, self.to)) is not None:
            self.blocked[op] = blocked


@dataclass(frozen=True)
class RaiseOpsetPass(RewritePass):
    """A newer opset."""

    name = "raise-opset"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "op(x) {a} of an old opset -> op(x, a) of a newer one: the same function"

    to: int = 13

    def patterns(self) -> Sequence[Pattern]:
        return []

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        imports = op.attributes.get(IMPORTS)
        known = imports.data.get("ai.onnx") if isinstance(imports, DictionaryAttr) else None
        if not isinstance(imports, DictionaryAttr) or not isinstance(known, IntegerAttr):
            return
        if known.value.data >= self.to:
            return
        raising = _Raising(known.value.data, self.to)
        for one in operations(op):
            if isinstance(one, OnnxOp) and not one.domain and not _inside_function(one):
                raising.read(one)
        for blocked, why in raising.blocked.items():
            remarks_of(op).add(self.name, blocked, why)
        if raising.blocked:
            return
        rewriter = Rewriter([], self.name)
        for old, parts in raising.parts.items():
            rewriter.replace(old, parts)
        op.attributes[IMPORTS] = DictionaryAttr({**imports.data, "ai.onnx": int_attr(self.to)})
        learn_unknown(op)
        refresh_signatures(op)
