"""
Upgrade the module to opset `to`, with ops of older opsets rewritten to their newer form.

    Pad(x) {pads = p}        ->  Pad(x, p)          likewise Clip, Slice, Split, Squeeze, Unsqueeze, ReduceSum, TopK
    Upsample(x, s)           ->  Resize(x, _, s)    asymmetric coordinates
    Softmax(x) {axis = k}    ->  Reshape(Softmax(Flatten(x)))    if over several axes
    Crop, ImageScaler, Affine  ->  Slice, Mul, Add  ops removed in opset 10

Exact up to opset 18: the same function under another name; close beyond, since onnxruntime's AveragePool of opset 19
adds in another order, which may change the last bit of a float (1.31: measured). Either all ops are upgraded or none,
since a module has one opset. Quantization needs opset 10; per-axis scales in QDQ form need 13, 16 bits need 21. A
model with casts that its own opset lacks is raised to the first opset that has them; one with a Softmax over several
axes of open sizes to 14, where a Reshape may write sizes of 0. onnx's converter is not used: it copies every weight and
loses names and metadata.
"""
# Around the driver: the module's own version is no operation, and drafts stand in no block yet.

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, CustomOp, FunctionOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_verify import verify_at
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.opset_upgrades import NEWER, NewerForm
from qdialect.ir.insertion import discard, onnx_op
from qdialect.ir.values import constant_array
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import IMPORTS, MAX_OPSET, version_of
from qdialect.onnx_io.shapes import infer_unknown
from qdialect.ops.generated import op_class
from qdialect.patterns.arithmetic_operands import Integers
from qdialect.patterns.attention import Attention, attention_at
from qdialect.promises.arithmetic import Converts, QuantizesAtRunTime, Rounds
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.fake_quantize import FakeQuantizes
from qdialect.promises.qoperator import QOperator
from qdialect.promises.work import SumsProducts
from qdialect.reasons import Blocked, answer
from qdialect.rewriting.driver import Rewriter, refresh_signatures
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.remarks import remarks_of

IR_VERSIONS = {0: 3, 13: 7, 21: 10, 23: 11}
"""The IR version that came with an opset."""
SAME_SUMS = 18
"""The last opset up to which onnxruntime computes every op as in the older ones, bit for bit."""
CAST_FORMS = (QuantizeForm, DequantizeForm)
QUANTIZERS = (*CAST_FORMS, QOperator, Rounds, QuantizesAtRunTime, FakeQuantizes)
FUNCTIONS = Blocked("model-functions", "the model has functions of its own, which keep their opset")


def _is_quantized(op: Operation) -> bool:
    """True if an op rounds to integers, reads or sums them; a Cast may read them before a factor, as a dequantize."""
    product = op.get_trait(SumsProducts)
    if any(op.get_trait(t) for t in QUANTIZERS) or (product is not None and product.integers):
        return True
    return op.get_trait(Converts) is not None and op.results[0] in Integers()


def _is_attention(op: Operation) -> bool:
    """True if `compose-attention` fuses the products around a Softmax."""
    return isinstance(op, OnnxOp) and not is_kept(op) and isinstance(answer(attention_at, op), Attention)


def _changes(op: OnnxOp, now: int, to: int) -> list[NewerForm]:
    return [form for form in NEWER.get((op.domain, op.op_type), ()) if now < form.since <= to]


def _as_written(op: CustomOp, to: int) -> Sequence[Operation] | Blocked:
    """A node that the older opset lacks and opset `to` has, such as a cast with an axis or of 16 bits."""
    types = [None if v is None else v.type for v in op.outputs]
    cls = None if op.regions else op_class("", op.op_type)
    casts = cls is not None and cls.get_trait(DequantizeForm) is not None
    narrow = [_narrow(v) if casts else None for v in op.inputs]
    inputs = [v if c is None else c.results[0] for v, c in zip(op.inputs, narrow, strict=True)]
    new = None if cls is None else cls.build(inputs, types, op.onnx_attributes)
    parts = [one for one in (*narrow, new) if one is not None]
    if new is None or _refused(new, to) is not None:
        discard(parts)
        return Blocked("opset", f"{op.op_type} has no known form in newer opsets")
    return parts


def _narrow(value: SSAValue | None) -> ConstantOp | None:
    """A constant of i64 in i32, if it fits: no cast reads 64 bits, in which tf2onnx writes biases beside 16 bits."""
    array = constant_array(value)
    if array is None or array.dtype != np.int64 or (array != array.astype(np.int32)).any():
        return None
    return ConstantOp.of(from_array(array.astype(np.int32)))


def _oldest(ops: Sequence[Operation], now: int, least: int) -> int:
    """The oldest opset from `least` on that has all casts, which came to 16 bits in opset 21, and newer forms."""
    for one in ops:
        if isinstance(one, OnnxOp):
            least = max(least, *(form.least(one) for form in _changes(one, now, least)), 0)
        cls = op_class("", one.op_type) if isinstance(one, CustomOp) and not one.domain else None
        if not isinstance(one, CustomOp) or cls is None or cls.SCHEMA is None:
            continue
        if not any(cls.get_trait(form) for form in CAST_FORMS):
            continue
        for opset in (least, *(v.since for v in cls.SCHEMA.versions if v.since > least)):
            parts = _as_written(one, opset)
            if not isinstance(parts, Blocked):
                discard(parts)
                least = opset
                break
    return least


def _refused(op: OnnxOp, to: int) -> Blocked | None:
    try:
        verify_at(op, to)
    except VerifyException as error:
        return Blocked("opset", f"opset {to} writes {op.op_type} differently: {error}")
    return None


def _parts(op: OnnxOp, now: int, to: int) -> Sequence[Operation] | Blocked:
    """The op as new operations of opset `to`, the last of which defines its results; empty if it is unchanged there."""
    parts: Sequence[Operation] = []
    whole = op
    for form in _changes(op, now, to):
        newer = answer(form.parts, whole)
        if isinstance(newer, Blocked):
            discard(parts)
            return newer
        if parts:  # an older form of the same op
            discard(parts[-1:])
        parts, whole = [*parts[:-1], *newer], onnx_op(newer[-1])
    if isinstance(op, CustomOp) and not parts:
        return _as_written(op, to)
    if not parts and (op.SCHEMA is None or op.SCHEMA.at(now) == op.SCHEMA.at(to)):
        return parts
    written = [one for one in parts or (op,) if isinstance(one, OnnxOp) and not isinstance(one, ConstantOp)]
    blocked = next((b for one in written if (b := _refused(one, to)) is not None), None)
    if blocked is not None:
        discard(parts)
    return parts if blocked is None else blocked


@dataclass(frozen=True)
class RaiseOpsetPass(RewritePass):
    name = "raise-opset"
    exactness = Exactness.EXACT
    role = Role.RAISING
    reasons = "model-functions opset training-mode unknown-shape"
    rewrite = "op(x) {a} of an old opset -> op(x, a) of a newer one: the same function"

    to: int = 13
    quantized: bool = False
    """True to skip models without quantization."""
    attention: bool = False
    """True to skip models without an attention in float that one op computes."""

    @property
    def level(self) -> Exactness:
        return Exactness.EXACT if self.to <= SAME_SUMS else Exactness.CLOSE

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.to > MAX_OPSET:
            raise UserError(f"opset {self.to} is not supported", f"choose one up to {MAX_OPSET}")
        imports = op.attributes.get(IMPORTS)
        now = version_of(imports)
        if not isinstance(imports, DictionaryAttr) or not now:
            return
        to = _oldest(operations(op), now, max(self.to, now))
        if to == now or (self.attention and not any(map(_is_attention, operations(op)))):
            return
        infer_unknown(op)  # results of com.microsoft's casts have no types, which newer forms need
        refresh_signatures(op)
        plan = self._plan(op, now, to)
        if plan is None:
            return
        rewriter = Rewriter(op, self.name)
        for old, parts in plan.items():
            rewriter.replace(old, parts)
        op.attributes[IMPORTS] = DictionaryAttr({**imports.data, "ai.onnx": int_attr(to)})
        version = op.attributes.get("onnx.ir_version")
        least = max(ir for since, ir in IR_VERSIONS.items() if since <= to)
        if isinstance(version, IntegerAttr) and version.value.data < least:
            op.attributes["onnx.ir_version"] = int_attr(least)
        infer_unknown(op, {part for parts in plan.values() for part in parts})
        refresh_signatures(op)

    def _plan(self, module: ModuleOp, now: int, to: int) -> dict[OnnxOp, Sequence[Operation]] | None:
        """The replacement of each op that changes; None, with remarks, if the module keeps its opset."""
        ops = operations(module)
        plan: dict[OnnxOp, Sequence[Operation]] = {}
        blocked: dict[Operation, Blocked] = {}
        for one in ops:
            if isinstance(one, FunctionOp):
                blocked[one] = FUNCTIONS
                break
            if not isinstance(one, OnnxOp) or one.domain or one.get_trait(FakeQuantizes) is not None:
                continue
            parts = _parts(one, now, to)
            if isinstance(parts, Blocked):
                blocked[one] = parts
            elif parts:
                plan[one] = parts
        written = (*ops, *(part for parts in plan.values() for part in parts))
        idle = self.quantized and not any(map(_is_quantized, written))
        if not blocked and not idle:
            return plan
        for parts in plan.values():
            discard(parts)
        for one, why in blocked.items() if not idle else ():
            remark = replace(why, message=f"the model stays in opset {now}: {why.message}")
            remarks_of(module).add(self.name, one, remark)
        return None
