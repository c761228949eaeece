"""
Upgrade the module to opset `to`, with ops of older opsets rewritten to their newer form.

    Pad(x) {pads = p}        ->  Pad(x, p)          likewise Clip, Slice, Split, Squeeze, Unsqueeze, ReduceSum, TopK
    Upsample(x, s)           ->  Resize(x, _, s)    asymmetric coordinates
    Softmax(x) {axis = k}    ->  Reshape(Softmax(Flatten(x)))    if over several axes
    Crop, ImageScaler, Affine  ->  Slice, Mul, Add  ops removed in opset 10

Exact up to opset 18: the same function under another name; close beyond, since onnxruntime's AveragePool of opset 19
adds in another order, which may change the last bit of a float (1.31: measured). All ops or none: a module has one
opset. Quantization needs opset 10, and 13 for per-axis scales in QDQ form. Not by onnx's converter, which
copies every weight and loses names and metadata.
"""
# Around the driver: the module's own version is no operation, and drafts stand in no block yet.

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, CustomOp, FunctionOp, OnnxOp
from qdialect.dialects.onnx_verify import verify_at
from qdialect.exactness import Exactness
from qdialect.forms.newer import NEWER, NewerForm
from qdialect.ir.place import onnx_op
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import IMPORTS, version_of
from qdialect.onnx_io.shapes import infer_unknown
from qdialect.ops.generated import op_class
from qdialect.promises.arithmetic import Rounds
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.qoperator import QOperator
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, refresh_signatures
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.remarks import remarks_of

IR_VERSION = 7
"""The IR version that came with opset 13."""
SAME_SUMS = 18
"""The last opset up to which onnxruntime computes every op as in the older ones, bit for bit."""
QUANTIZERS = (QuantizeForm, DequantizeForm, QOperator, Rounds)
FUNCTIONS = Blocked("model-functions", "the model has functions of its own, which keep their opset")


def _changes(op: OnnxOp, now: int, to: int) -> list[NewerForm]:
    return [form for form in NEWER.get((op.domain, op.op_type), ()) if now < form.since <= to]


def _as_written(op: CustomOp, to: int) -> Sequence[Operation] | Blocked:
    """A node that the older opset lacks and opset `to` has, such as a cast with an axis."""
    types = [None if v is None else v.type for v in op.outputs]
    cls = None if op.regions else op_class("", op.op_type)
    new = None if cls is None else cls.build(op.inputs, types, op.onnx_attributes)
    if new is None or _refused(new, to) is not None:
        _discard([new] if new is not None else [])
        return Blocked("unknown-op", f"nothing is known of {op.op_type} in newer opsets")
    return [new]


def _refused(op: OnnxOp, to: int) -> Blocked | None:
    try:
        verify_at(op, to)
    except VerifyException as error:
        return Blocked("old-form", f"opset {to} writes {op.op_type} otherwise: {error}")
    return None


def _parts(op: OnnxOp, now: int, to: int) -> Sequence[Operation] | Blocked:
    """The op as new operations of opset `to`, the last of which defines its results; empty if it is unchanged there."""
    parts: Sequence[Operation] = []
    whole = op
    for form in _changes(op, now, to):
        newer = form.parts(whole)
        if isinstance(newer, Blocked):
            _discard(parts)
            return newer
        if parts:  # an older form of the same op
            _discard(parts[-1:])
        parts, whole = [*parts[:-1], *newer], onnx_op(newer[-1])
    if isinstance(op, CustomOp) and not parts:
        return _as_written(op, to)
    if op.SCHEMA is None or (not parts and op.SCHEMA.at(now) == op.SCHEMA.at(to)):
        return parts
    written = [one for one in parts or (op,) if isinstance(one, OnnxOp) and not isinstance(one, ConstantOp)]
    blocked = next((b for one in written if (b := _refused(one, to)) is not None), None)
    if blocked is not None:
        _discard(parts)
    return parts if blocked is None else blocked


def _discard(parts: Sequence[Operation]) -> None:
    """Erase operations that were not inserted."""
    for part in reversed(parts):
        part.erase()


@dataclass(frozen=True)
class RaiseOpsetPass(RewritePass):
    """The module imports a newer opset, and its ops take that opset's form."""

    name = "raise-opset"
    exactness = Exactness.EXACT
    rewrite = "op(x) {a} of an old opset -> op(x, a) of a newer one: the same function"

    to: int = 13
    quantized: bool = False
    """True to skip models without quantization."""

    @property
    def level(self) -> Exactness:
        return Exactness.EXACT if self.to <= SAME_SUMS else Exactness.CLOSE

    def patterns(self) -> Sequence[Pattern]:
        return []

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        imports = op.attributes.get(IMPORTS)
        now = version_of(imports)
        if not isinstance(imports, DictionaryAttr) or not 0 < now < self.to:
            return
        infer_unknown(op)  # results of com.microsoft's casts have no types, which newer forms need
        refresh_signatures(op)
        plan = self._plan(op, now)
        if plan is None:
            return
        rewriter = Rewriter(op, self.name)
        for old, parts in plan.items():
            rewriter.replace(old, parts)
        op.attributes[IMPORTS] = DictionaryAttr({**imports.data, "ai.onnx": int_attr(self.to)})
        version = op.attributes.get("onnx.ir_version")
        if isinstance(version, IntegerAttr) and version.value.data < IR_VERSION:
            op.attributes["onnx.ir_version"] = int_attr(IR_VERSION)
        infer_unknown(op)
        refresh_signatures(op)

    def _plan(self, module: ModuleOp, now: int) -> dict[OnnxOp, Sequence[Operation]] | None:
        """The replacement of each op that changes; None, with remarks, if the module keeps its opset."""
        ops = operations(module)
        plan: dict[OnnxOp, Sequence[Operation]] = {}
        blocked: dict[Operation, Blocked] = {}
        for one in ops:
            if isinstance(one, FunctionOp):
                blocked[one] = FUNCTIONS
                break
            if not isinstance(one, OnnxOp) or one.domain:
                continue
            parts = _parts(one, now, self.to)
            if isinstance(parts, Blocked):
                blocked[one] = parts
            elif parts:
                plan[one] = parts
        written = (*ops, *(part for parts in plan.values() for part in parts))
        idle = self.quantized and not any(one.get_trait(t) for one in written for t in QUANTIZERS)
        if not blocked and not idle:
            return plan
        for parts in plan.values():
            _discard(parts)
        for one, why in blocked.items() if not idle else ():
            remark = replace(why, message=f"the model stays in opset {now}: {why.message}")
            remarks_of(module).add(self.name, one, remark)
        return None
