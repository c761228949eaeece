"""
Decompose composite ops into simpler ones, so that each part has quantization parameters of its own.

    Gemm(A, B, C)  ->  Add(MatMul(A, B), C)        BatchNormalization(x)  ->  Add(Mul(x, s), t)
    Einsum(a, b) {bqhd,bkhd->bhqk}  ->  MatMul(Transpose(a), Transpose(b))
    LSTM(x, W, R)  ->  Scan(MatMul(x, W'), ...), in each step MatMul(h, R') and the gates; likewise GRU, RNN
    Softplus(x)  ->  Add(Log(Add(Exp(Neg(Abs(x))), 1)), Relu(x)), likewise Mish, Elu, Celu, Selu
    DynamicQuantizeLSTM(x, W, R)  ->  each step by itself: MatMulInteger(DynamicQuantizeLinear(h), R') and the gates

Close: the same arithmetic, rounded once per part. Only the requested ops; with `quantized`, of those only the ones
whose operands are dequantized, which are integer products then. With a target, also the elementwise functions whose
parts take less time there: a kernel that computes one value at a time is up to seven times slower.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.composition import Decomposed, Decomposes
from qdialect.forms.table import TABLES
from qdialect.ir.values import under_dequantize
from qdialect.reasons import unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnForm
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.targets import target


class DecomposeOp(OnForm[Decomposes]):
    """One of the requested ops."""

    def __init__(self, ops: Sequence[str], *, quantized: bool = False, slow: Mapping[str, int] | None = None):
        self._ops, self._slow = frozenset(ops), slow or {}
        self._quantized = quantized

    def match(self, op: OnnxOp, form: Decomposes, rewriter: Rewriter, /) -> None:
        if not self._is_slow(op) and not self._is_requested(op):
            return
        parts = unblocked(form.parts(op))
        if isinstance(parts, Decomposed):
            rewriter.replace(op, parts.ops, parts.results)
            for part in reversed(parts.ops):
                if part.parent is not None and not any(r.first_use for r in part.results):
                    rewriter.erase(part)
        else:
            rewriter.replace(op, parts)

    def _is_requested(self, op: OnnxOp) -> bool:
        if op.op_type not in self._ops:
            return False
        return not self._quantized or all(under_dequantize(v) is not v for v in op.operands)

    def _is_slow(self, op: OnnxOp) -> bool:
        """True if the parts take less time, by the elements of the result; open sizes count as 1."""
        shape, least = shape_of(op.results[0].type), self._slow.get(op.op_type)
        return None not in (shape, least) and prod(max(n, 1) for n in shape or ()) >= (least or 0)


def decomposable(
    *, loops: bool = False, products: bool = False, functions: bool = True, foreign: bool = False
) -> list[str]:
    """
    Names of the ops that can be requested: of all, or of those that go through steps, or that are products, or of
    other domains than ONNX's; without functions, those with parts other than elementwise ops.
    """
    return sorted(
        name
        for table in TABLES
        for (domain, name), form in table.items()
        if isinstance(form, Decomposes)
        and (domain or not foreign)
        and (form.loops or not loops)
        and (form.products or not products)
        and (functions or not form.function)
    )


def check_decomposable(ops: Iterable[str]) -> None:
    """UserError for an op that cannot be requested."""
    if unknown := sorted(set(ops) - set(decomposable())):
        raise UserError(f"'{unknown[0]}' is not decomposed", f"choose from {', '.join(decomposable())}")


@dataclass(frozen=True)
class DecomposePass(RewritePass):
    name = "decompose"
    exactness = Exactness.CLOSE
    role = Role.DECOMPOSING
    reasons = (
        "computed-parameter expressed-type invalid-op invalid-parameters open-size opset product-form "
        "recurrent-form too-large training-mode unknown-shape"
    )
    rewrite = "Gemm(A, B, C) -> Add(MatMul(A, B), C): the same sums, rounded once per part"

    ops: tuple[str, ...] = ()
    quantized: bool = False
    """True if the operands must be dequantized."""
    target: str | None = None
    """The target whose slow functions are decomposed."""

    def patterns(self) -> Sequence[Pattern]:
        check_decomposable(self.ops)
        slow = target(self.target).decomposed if self.target is not None else {}
        return [DecomposeOp(self.ops, quantized=self.quantized, slow=slow)]
