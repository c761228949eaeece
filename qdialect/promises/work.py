"""
Number of multiply-adds of an op, and the kind of numbers multiplied, by the op's definition.

Products without effect are counted too: taps of a convolution on the padding, positions that a mask excludes.
An axis of unknown size counts as 1, so that the count for an open batch is that of one sample; where not even
the rank is known, each element of the weight counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of
from qdialect.dialects.quant import DequantizeOp
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.promises.base import Commutes, Promise
from qdialect.promises.casts import DequantizeForm

MANY = 64
"""Count for a tensor of unknown rank: more axes than tensors have."""


class Numbers(StrEnum):
    """Kind of numbers that an op multiplies."""

    INTEGER = "integer"
    """Integers with integers."""
    PAIRS = "pairs"
    """Dequantized values with dequantized values: floats as written, integers if the runtime fuses the pairs."""
    WEIGHTS = "weights"
    """Floats with a weight that is stored in integers."""
    FLOAT = "float"


def sizes(value: SSAValue | None) -> tuple[int, ...] | None:
    """The shape of a value, 1 for an axis of unknown size; None if the rank is not known."""
    shape = None if value is None else shape_of(value.type)
    return None if shape is None else tuple(1 if size == DYNAMIC else size for size in shape)


def open_sizes(op: OnnxOp) -> int:
    """Number of unknown sizes of the operands and results; `MANY` for each of unknown rank."""
    shapes = (shape_of(v.type) for v in (*op.operands, *op.results))
    return sum(MANY if shape is None else shape.count(DYNAMIC) for shape in shapes)


@dataclass(frozen=True)
class SumsProducts(Promise):
    """The op sums products."""

    count: Callable[[OnnxOp], int | None]
    """Multiply-adds of one run; None if a rank is not known, or if the definition leaves the number open."""
    factors: tuple[int, ...] = (0, 1)
    """The inputs that are multiplied, by place, the weight behind the activation."""
    integers: bool = False
    """True if the op multiplies integers by its definition; it may quantize its activation itself."""
    packed: bool = False
    """True if the weight is stored as integers that the kernel dequantizes."""
    products: int = 1
    """Number of products in series, each of which multiplies what the one before it gives."""

    def multiplied(self, op: OnnxOp) -> list[SSAValue]:
        """The operands that are multiplied."""
        return [v for place in self.factors if (v := op.input(place)) is not None]

    def numbers(self, op: OnnxOp) -> Numbers:
        """Kind of numbers that the op multiplies, by its operands' types and producers."""
        if self.integers:
            return Numbers.INTEGER
        if self.packed:
            return Numbers.WEIGHTS
        values = self.multiplied(op)
        if all(isinstance(element_of(v.type), IntegerType) for v in values):
            return Numbers.INTEGER
        read = [is_dequantized(v) for v in values]
        if all(read):
            return Numbers.PAIRS
        return Numbers.WEIGHTS if any(read[1:]) else Numbers.FLOAT


def is_dequantized(value: SSAValue) -> bool:
    """True if a value is quantized, or dequantized with at most layout ops after the dequantize."""
    while quantized_of(value.type) is None:
        op = value.owner
        if isinstance(op, DequantizeOp) or promise_of(op, DequantizeForm) is not None:
            return True
        moves = promise_of(op, Commutes)
        carried = moves.operand_values(op) if moves is not None and isinstance(op, OnnxOp) else ()
        if len(carried) != 1:
            return False
        value = carried[0]
    return True


def _convolution(weight: int, *, spreads: bool = False) -> Callable[[OnnxOp], int | None]:
    """
    Elements of the result, or of the operand if it `spreads` that over windows, times the size of a filter. weight:
    index of the operand (outputs, inputs per group, *kernel), or (inputs, outputs per group, *kernel).
    """

    def count(op: OnnxOp) -> int | None:
        pixels, shape = sizes(op.operands[0] if spreads else op.results[0]), sizes(op.input(weight))
        if not shape:
            return None
        return prod(shape) if pixels is None else prod(pixels) * prod(shape[1:])

    return count


def _matrices(weight: int) -> Callable[[OnnxOp], int | None]:
    """Every element of the result sums over the first operand's last axis, or its last but one if transposed."""

    def count(op: OnnxOp) -> int | None:
        x, shape, result = sizes(op.operands[0]), sizes(op.input(weight)), sizes(op.results[0])
        if not x or result is None:
            return None if shape is None else prod(shape)
        axis = -2 if op.int_attr("transA", 0) and len(x) > 1 else -1
        return prod(result) * x[axis]

    return count


def _blocks(op: OnnxOp) -> int | None:
    """The weight is packed, of N results that sum over K elements each."""
    result, summed = sizes(op.results[0]), op.int_attr("K", 0)
    return (op.int_attr("N", 0) if result is None else prod(result)) * summed or None


def _recurrent(op: OnnxOp) -> int | None:
    """Steps times samples times the elements of W, (directions, gates * hidden, inputs), and R, in any layout."""
    x, w, r = (sizes(op.input(place)) for place in range(3))
    return None if w is None or r is None else prod((x or ())[:2]) * (prod(w) + prod(r))


def _scores(past: int) -> Callable[[OnnxOp], int | None]:
    """Each query meets each key, and each row of weights each value: the sum of both, over heads of any layout."""

    def count(op: OnnxOp) -> int | None:
        query, key, result = sizes(op.input(0)), sizes(op.input(1)), sizes(op.results[0])
        before = sizes(op.input(past))
        if query is None or key is None or result is None or not len(query) == len(key) == len(result) >= 3:
            return None
        return (prod(query) + prod(result)) * (key[-2] + (before[-2] if before else 0))

    return count


def _projected(op: OnnxOp) -> int | None:
    """One product for query, key and value (hidden, 3 * hidden), then the scores of one length with itself."""
    x, weight, result = sizes(op.operands[0]), sizes(op.input(1)), sizes(op.results[0])
    if x is None or weight is None or result is None or len(x) != 3 or len(weight) != 2:
        return None
    query = (weight[1] - result[-1]) // 2  # as wide as the key; the result is as wide as the value
    return prod(x) * weight[1] + (prod(x[:2]) * query + prod(result)) * x[1]


def _einsum(op: OnnxOp) -> int | None:
    """Two operands: one product for each choice of all indices; more may be summed in any order."""
    operands, _, _ = op.str_attr("equation", "").replace(" ", "").partition("->")
    terms, extents = operands.split(","), dict[str, int]()
    if len(terms) != 2 or len(op.operands) != 2 or "." in operands:
        return None
    for term, value in zip(terms, op.operands, strict=True):
        shape = sizes(value)
        if shape is None or len(shape) != len(term):
            return None
        for index, size in zip(term, shape, strict=True):
            extents[index] = max(size, extents.get(index, 1))
    return prod(extents.values())


def _each(domain: str, promise: SumsProducts, *names: str) -> Mapping[tuple[str, str], SumsProducts]:
    return {(domain, name): promise for name in names}


_CONVOLUTION = SumsProducts(_convolution(3), (0, 3), integers=True)
_MATRICES = SumsProducts(_matrices(3), (0, 3), integers=True)
WORK: dict[tuple[str, str], SumsProducts] = {
    **_each("", SumsProducts(_convolution(1)), "Conv", "DeformConv"),
    **_each("", SumsProducts(_convolution(1, spreads=True)), "ConvTranspose"),
    **_each("", SumsProducts(_matrices(1)), "Gemm", "MatMul"),
    **_each("", SumsProducts(_recurrent, (0, 1, 2)), "GRU", "LSTM", "RNN"),
    **_each("", SumsProducts(_scores(4), (0, 1, 2), products=2), "Attention"),
    **_each("", SumsProducts(_einsum), "Einsum"),
    **_each("", _CONVOLUTION, "QLinearConv"),
    **_each("", _MATRICES, "QLinearMatMul"),
    **_each("", SumsProducts(_convolution(1), integers=True), "ConvInteger"),
    **_each("", SumsProducts(_matrices(1), integers=True), "MatMulInteger"),
    **_each(MICROSOFT, SumsProducts(_convolution(1)), "FusedConv"),
    **_each(MICROSOFT, _CONVOLUTION, "QLinearConv"),
    **_each(MICROSOFT, _MATRICES, "QGemm"),
    **_each(
        MICROSOFT, SumsProducts(_matrices(1)), "FusedGemm", "FusedMatMul", "GemmFastGelu", "TransposeMatMul"
    ),
    **_each(MICROSOFT, SumsProducts(_matrices(1), integers=True), "DynamicQuantizeMatMul", "MatMulInteger16"),
    **_each(MICROSOFT, SumsProducts(_matrices(1), integers=True), "MatMulIntegerToFloat"),
    **_each(MICROSOFT, SumsProducts(_recurrent, (0, 1, 2), integers=True), "DynamicQuantizeLSTM"),
    **_each(MICROSOFT, SumsProducts(_blocks, packed=True), "MatMulBnb4", "MatMulNBits"),
    **_each(MICROSOFT, SumsProducts(_projected), "Attention"),
    **_each(MICROSOFT, SumsProducts(_projected, integers=True), "QAttention"),
    **_each(MICROSOFT, SumsProducts(_scores(6), (0, 1, 2), products=2), "MultiHeadAttention"),
}
"""Every op that sums products of two tensors, but those whose count follows from no shape (MoE) or layout."""
