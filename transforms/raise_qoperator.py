"""
Raise QOperator nodes to the op on quantized types, so that scales and zero points are in types.

    QLinearOp(a, a_scale, a_zero_point, b, ..., scale, zero_point)  ->  scast(op(scast(a), scast(b), ...) : T)
    QLinearOp(a, ..., w, 0, z, ...)  ->  QLinearOp(a, ..., z, s, z, ...)     w constant; likewise a negative scale
    NhwcMaxPool(x)           ->  Transpose(MaxPool(Transpose(x)))         inverse Transposes cancel
    QLinearAdd(a, ..., b : i32, ...)  ->  op(a, scast(b)) : T         operand types that no kernel supports
    Sum(x, y)                ->  Add(x, y)
    PRelu(x, c)              ->  LeakyRelu(x) {alpha = c}                 one slope
    Max(x, Mul(x, c))        ->  PRelu(x, c)                              slopes up to 1; with Min for larger ones
    MatMulNBits(x, w, s, z)  ->  MatMul(x, DequantizeLinear(w', s', z'))  float sums, from opset 21 on
    FusedConv(x, w, b, z)    ->  Relu(Add(Conv(x, w, b), z))              and other ops that a session fuses

Close: by the node's definition, but an integer kernel sums without the float form's rounding. The roles of inputs
follow from the kernels' templates. A node is not raised if a scale is computed at run time, or if the kernel or the
reals, which then differ, overflow at its scales.
"""
# Around the driver: it changes only drafts, which stand in no block yet.

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter as PlainRewriter
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_base import CustomOp, OnnxOp, onnx_opset, opset_of
from qdialect.dialects.onnx_types import AnyElementType, element_of, storage_element, with_element
from qdialect.dialects.onnx_verify import verify_at
from qdialect.dialects.quant import QuantizeOp, StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.contrib_ops import StandsFor, perm_of
from qdialect.ir.insertion import discard
from qdialect.ir.names import called
from qdialect.ops.generated import op_class, op_named
from qdialect.patterns.odd_scales import PositiveScalesOfNode
from qdialect.patterns.reading import as_type, dequantize_operands
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import QOperator, Types, read_attributes, read_types, reading
from qdialect.reasons import Blocked, answer
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnForm, OnOp, OnTrait
from qdialect.rewriting.passes import RewritePass, Role

REFUSED = "cannot be"
"""Part of the verifier's message for a type that an operator does not support."""


class RaiseForeign(OnForm[StandsFor]):
    """A node that can be written as ONNX's own ops."""

    def __init__(self, every: bool, *, fused: bool = False):
        self._every, self._fused = every, fused

    def wants(self, form: StandsFor, /) -> bool:
        return form.fused or not self._fused

    def match(self, op: OnnxOp, promise: StandsFor, rewriter: Rewriter, /) -> Blocked | None:
        if not (self._every or promise.written or all(map(_is_dequantized, op.operands))):
            return None
        parts = promise.parts(op)
        if parts is None or isinstance(parts, Blocked):
            return parts
        last, users = parts[-1], [use.operation for use in op.results[0].uses]
        rewriter.replace(op, parts)
        turn = perm_of(last)
        for user in users if turn is not None else ():
            back = perm_of(user)
            if turn is not None and back is not None and [turn[k] for k in back] == list(range(len(turn))):
                rewriter.replace(user, [], [last.operands[0]])
        return None


def _is_dequantized(value: SSAValue) -> bool:
    """True if a value is dequantized, behind moves or not, so that ONNX's own op is on integers."""
    while isinstance(value, OpResult) and value.op.get_trait(Commutes) is not None:
        value = value.op.operands[0]
    return isinstance(value, OpResult) and value.op.get_trait(DequantizeForm) is not None


class RaiseQOperator(OnTrait[QOperator]):
    """A node that a kernel's template describes."""

    def __init__(self, every: bool):
        self._every = every

    def match(self, op: OnnxOp, promise: QOperator, rewriter: Rewriter, /) -> Blocked | None:
        return self.raised(op, op, rewriter)

    def raised(self, node: OnnxOp, op: OnnxOp, rewriter: Rewriter) -> Blocked | None:
        """Replace `op` by the op that `node`, itself or its repaired form, computes."""
        meaning = reading(node)
        if isinstance(meaning, Blocked):
            return meaning
        if meaning.bias is not None and not self._every:
            return None
        attributes = read_attributes(node, meaning, onnx_opset(op))
        if isinstance(attributes, Blocked):
            return attributes
        new = op_named("", meaning.name).build(meaning.operands, [op.results[0].type], attributes)
        types = answer(read_types, node, meaning, new)
        if not isinstance(types, Blocked) and types.result is not None:
            _make(new, types.result)
        blocked = types if isinstance(types, Blocked) else _unknown(new, types)
        if isinstance(types, Blocked) or blocked is not None:
            discard([new])
            return blocked
        reads = quantize_operands(new, types, rewriter)
        if (blocked := meaning.kernel.guard(new) or _checked(new)) is not None:
            discard([*reads, new])
            return blocked
        if types.result is None:
            reads += dequantize_operands(new)
        if meaning.bias is not None:
            total = op_named("", "Add").build([new.results[0], meaning.bias], [op.results[0].type])
            rewriter.replace(op, [*reads, new, total])
            return None
        if types.result is None:
            rewriter.replace(op, [*reads, new])
            return None
        if self._every and new.get_trait(Commutes) is not None:
            reads += dequantize_operands(new)  # sink-dequantize and hoist-quantize place its casts
            _make(new, types.result.expressed)
        rewriter.replace(op, _stored([*reads, new], types.result, op))
        return None


class RepairQOperator(OnOp[CustomOp]):
    """A node with operand types that the kernel does not support, which no session loads, as the op it defines."""

    def __init__(self, raising: RaiseQOperator):
        self._raising = raising

    def match(self, op: CustomOp, rewriter: Rewriter, /) -> None:
        meant = op_class(op.domain, op.op_type)
        if meant is None or meant.get_trait(QOperator) is None or op.regions or len(op.results) != 1:
            return
        node = meant.build(op.inputs, [op.results[0].type], op.onnx_attributes)
        try:
            verify_at(node, opset_of(op, op.domain))
            reason = ""  # a function of the model by that name
        except VerifyException as error:
            reason = str(error)
        blocked = self._raising.raised(node, op, rewriter) if REFUSED in reason else None
        discard([node])
        if blocked is not None:
            raise UserError(
                f"{op.op_type} '{called(op)}' does not load: {reason}, and {blocked.message}",
                "quantize the model again",
            )


def _unknown(op: OnnxOp, types: Types) -> Blocked | None:
    """`Blocked` for an operand of unknown element type, or of floats, which no cast reads as integers."""
    elements = [element_of(op.operands[place].type) for place in types.operands]
    if any(isinstance(element, AnyElementType) for element in elements):
        return Blocked("unknown-shape", "the element type of an operand is not known", "infer-shapes")
    if any(isinstance(element, AnyFloat) for element in elements):
        return Blocked("float-operand", "the operand is not the result of a quantize")
    return None


def quantize_operands(op: OnnxOp, types: Types, rewriter: Rewriter) -> list[Operation]:
    """Let `op` read its integer operands as elements of `types`, and return the operations that do so."""
    reads: list[Operation] = []
    for place, type in types.operands.items():
        casts, value = as_type(op.operands[place], type, rewriter)
        reads += casts
        op.operands[place] = value
    return reads


def _checked(op: OnnxOp) -> Blocked | None:
    linear = op.get_trait(Linear)
    return None if linear is None else linear.check(op)


def _make(op: Operation, result: Attribute) -> None:
    """Give the result of `op`, which has no users yet, element type `result`."""
    value = op.results[0]
    PlainRewriter.replace_value_with_new_type(value, with_element(value.type, result))


def _stored(ops: Sequence[Operation], result: UniformType, like: Operation) -> list[Operation]:
    """`ops`, the last of type `result` or quantized to it, and its integers: what the node `like` makes."""
    value = ops[-1].results[0]
    cast = [] if element_of(value.type) == result else [QuantizeOp(value, result)]
    last = [*ops, *cast][-1]
    last.location = like.location
    plain = StorageCastOp(last.results[0], with_element(value.type, storage_element(result)))
    return [*ops, *cast, plain]


@dataclass(frozen=True)
class RaiseQoperatorPass(RewritePass):
    name = "raise-qoperator"
    exactness = Exactness.CLOSE
    role = Role.RAISING
    reasons = (
        "activation-per-axis attention-form attribute block-size empty-tensor expressed-type invalid-op "
        "invalid-parameters made-by-session mixed-scales no-form opset product-form recurrent-form "
        "run-time-scale scale-value second-consumer slope storage-type unknown-shape window-form"
    )
    rewrite = "QLinearOp(a, a_scale, ..., scale, zero_point) -> op(a) : T: one step at most"

    every: bool = True
    """
    True to raise also nodes that lowering to QOperator form would not write identically again, and whose operands are
    not dequantized.
    """
    fused: bool = False
    """True to raise only nodes that a session made of several."""

    def patterns(self) -> Sequence[Pattern]:
        if self.fused:
            return [RaiseForeign(self.every, fused=True)]
        raising = RaiseQOperator(self.every)
        return [PositiveScalesOfNode(), raising, RepairQOperator(raising), RaiseForeign(self.every)]
