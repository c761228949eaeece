"""
Let a module of an older opset be one of opset 13, the first whose casts have a scale for each channel.

    Squeeze(x) {axes}     ->  Squeeze(x, axes)            attributes that became operands
    Softmax(x) {axis}     ->  Softmax(x) {axis = -1}      or of Flatten(x), where a row was more than one axis
    Resize(x, scales)     ->  Resize(x, roi, scales)      to more pixels; likewise Upsample
    Crop, ImageScaler     ->  Slice, Mul and Add          what opset 10 has no more; likewise Affine

Exact: the newer op with what the older one meant. All or nothing: where one op has no such form, the module stays in
its opset. Not through onnx's converter, which carries every weight and loses names and metadata.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, CustomOp, FunctionOp, OnnxOp
from qdialect.dialects.onnx_verify import verify_at
from qdialect.dialects.schemas import snapshot
from qdialect.errors import UserError
from qdialect.forms.renewed import OPSET, REMOVED, Renewed
from qdialect.forms.table import form_of
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import IMPORTS, version_of
from qdialect.onnx_io.shapes import learn_unknown
from qdialect.ops.generated import op_named
from qdialect.promises.arithmetic import Rounds
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.qoperator import QOperator
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, refresh_signatures
from qdialect.rewriting.passes import Exactness
from qdialect.rewriting.remarks import remarks_of

IR_VERSION = 7
"""The IR version that came with opset 13."""
QUANTIZERS = (QuantizeForm, DequantizeForm, QOperator, Rounds)
FUNCTIONS = Blocked("model-functions", "the model has functions of its own, which keep their opset")


@dataclass(frozen=True)
class RaiseOpsetPass(ModulePass):
    """Older opsets become opset 13."""

    name = "raise-opset"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "opset 7 to 12 -> opset 13: each op as the newer one that does the same"

    to: int = OPSET
    quantized: bool = False
    """Whether to leave models alone in which nothing is quantized."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.to != OPSET:
            raise UserError(f"raise-opset knows no forms of opset {self.to}", f"raise to {OPSET}")
        imports = op.attributes.get(IMPORTS)
        opset = version_of(imports)
        if not isinstance(imports, DictionaryAttr) or not 0 < opset < self.to:
            return
        ops = operations(op)
        plan: list[tuple[OnnxOp, Sequence[Operation]]] = []
        for one in ops:
            parts = FUNCTIONS if isinstance(one, FunctionOp) else _parts(one, opset)
            if isinstance(parts, Blocked):
                why = replace(parts, message=f"the model stays in opset {opset}: {parts.message}")
                remarks_of(op).add(self.name, one, why)
                return _discard(plan)
            if isinstance(one, OnnxOp) and parts:
                plan.append((one, parts))
        written = (*ops, *(part for _, parts in plan for part in parts))
        if self.quantized and not any(one.get_trait(t) for one in written for t in QUANTIZERS):
            return _discard(plan)
        rewriter = Rewriter(op, self.name)
        for one, parts in plan:
            rewriter.replace(one, parts)
        op.attributes[IMPORTS] = DictionaryAttr({**imports.data, "ai.onnx": IntegerAttr(self.to, i64)})
        if any(isinstance(one, CustomOp) for one, _ in plan):
            learn_unknown(op)
        refresh_signatures(op)
        version = op.attributes.get("onnx.ir_version")
        if isinstance(version, IntegerAttr) and version.value.data < IR_VERSION:
            op.attributes["onnx.ir_version"] = int_attr(IR_VERSION)


def _discard(plan: Sequence[tuple[OnnxOp, Sequence[Operation]]]) -> None:
    """Let go of operations that will not stand anywhere."""
    for _, parts in plan:
        for part in reversed(parts):
            part.erase()


def _parts(op: Operation, opset: int) -> Sequence[Operation] | Blocked:
    """The op, of `opset`, as new operations of opset 13; none if it is one as it stands."""
    if isinstance(op, CustomOp) and not op.domain and not op.regions:
        return REMOVED[op.op_type](op) if op.op_type in REMOVED else _as_written(op)
    if not isinstance(op, OnnxOp) or op.SCHEMA is None or op.domain:
        return ()
    old, new = op.SCHEMA.at(opset), op.SCHEMA.at(OPSET)
    form = form_of(type(op), Renewed)
    if form is None and (new is None or (new.deprecated and new is not old)):
        return Blocked("other-opset", f"opset {OPSET} has no {op.op_type}")
    if new is old:
        return ()
    parts = () if form is None else form.parts(op)
    if isinstance(parts, Blocked):
        return parts
    for one in parts or (op,):
        if not isinstance(one, OnnxOp) or isinstance(one, ConstantOp):
            continue
        try:
            verify_at(one, OPSET)
        except VerifyException as error:
            if parts:
                _discard([(op, parts)])
            return Blocked("other-opset", f"{op.op_type} is another op in opset {OPSET}: {error}")
    return parts


def _as_written(op: CustomOp) -> Sequence[Operation]:
    """A node that no older opset has but opset 13 has, as casts with an axis; nothing if it is not of that either."""
    if snapshot().find("", op.op_type) is None:
        return ()
    types = [None if v is None else v.type for v in op.outputs]
    new = op_named("", op.op_type).build(op.inputs, types, op.onnx_attributes)
    try:
        verify_at(new, OPSET)
    except VerifyException:
        new.erase()
        return ()
    return [new]
