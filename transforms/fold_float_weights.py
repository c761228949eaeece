"""
Dequantize small constant weights of ops that stay in float, and their biases, at compile time.

    linear(x, dcast(w)) : float, w constant, few elements  ->  linear(x, w'),  w' = dcast(w) as a constant
    op(x, dcast(c)), c constant, few elements              ->  op(x, c')       likewise of any op without a kernel
    f(c')                                                  ->  c''             computed, as in fold-constants

Close: the constant equals the dequantize's result, but kernels sum it in another order. onnxruntime packs and blocks
constants when it loads a model: a depthwise convolution runs three times faster than with weights that are dequantized
in each run. The file grows by three bytes per weight element, so large weights stay integers; but those of grouped
convolutions, which gain most and are small compared with others, become float as long as all of them together let the
file grow by no more than `growth`, or by `least` bytes, and so do 8-bit weights that no integer kernel takes, of ops on
float or 16-bit activations. A weight in front of an 8-bit quantize is kept: onnxruntime would quantize the float weight
again, per tensor; and so is that of a MatMul whose activation has one scale, computed at run time, of which onnxruntime
makes an integer product. If the activation has several scales every weight becomes float, and so does an 8-bit weight
in blocks, or a batch of matrices with per-column scales: onnxruntime fuses the two dequantizes into an integer product,
which then fails to run.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of, quantized_of
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp
from qdialect.exactness import Exactness
from qdialect.ir.build import constant_op
from qdialect.ir.names import wish
from qdialect.ir.values import is_constant, rank_of, real_constant, static_shape, under_dequantize
from qdialect.ir.walking import operations
from qdialect.patterns.constant_folding import compute_constants
from qdialect.patterns.float_kernels import quantized_behind, saved_behind
from qdialect.patterns.reading import real_copy
from qdialect.patterns.target_pattern import TargetPass
from qdialect.promises.base import Commutes
from qdialect.promises.casts import written_dequantize
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import storage_of
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter, apply_patterns
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import Role
from qdialect.rewriting.uses import goes_into_quantize
from qdialect.targets import Target
from qdialect.targets.pricing import FLOAT, MAX_FLOAT_WEIGHT_ELEMENTS, PACKED, cost, priced

BYTES_MORE = 3
"""Additional bytes of a float element compared with an 8-bit one."""


def _is_refused(op: OnnxOp) -> bool:
    """True if onnxruntime would fuse a product and its casts to a kernel that rejects several scales."""
    type, weight = (quantized_of(under_dequantize(value).type) for value in op.operands[:2])
    if type is None or op.get_trait(Window) is not None:
        return False
    if not type.is_per_tensor or weight is None:
        return not type.is_per_tensor
    is_batch = (rank_of(op.operands[1]) or 0) > 2
    refused = not weight.is_per_tensor and (bool(weight.blocks) or is_batch)
    return refused and weight.storage.width == BYTE_BITS


def _quantized_weight(op: OnnxOp) -> SSAValue | None:
    """The stored integers of a constant quantized weight, dequantized or not; None for other weights."""
    source = under_dequantize(op.operands[1])
    return source if quantized_of(source.type) is not None and is_constant(source) else None


def _is_grouped(op: OnnxOp) -> bool:
    window = op.get_trait(Window)
    return window is not None and window.gathers and window.groups(op) > 1


def _is_wide(op: OnnxOp) -> bool:
    """True if the activation is dequantized from more bits than integer kernels take."""
    type = quantized_of(under_dequantize(op.operands[0]).type)
    return type is not None and type.storage.width > BYTE_BITS


def _is_weight_only(op: OnnxOp) -> bool:
    """True if only the weight is quantized, in 8 bits: weights of fewer bits have kernels of their own."""
    x, type = op.operands[0], quantized_of(under_dequantize(op.operands[1]).type)
    is_float = quantized_of(x.type) is None and not isinstance(x.owner, DequantizeOp)
    is_float = is_float and not _is_integer_in_sessions(op)
    return is_float and type is not None and type.storage.width == BYTE_BITS


def _is_integer_in_sessions(op: OnnxOp) -> bool:
    """True if onnxruntime makes an integer product of a MatMul whose activation has one scale, computed at run time."""
    linear, cast = op.get_trait(Linear), written_dequantize(op.operands[0])
    weight = quantized_of(under_dequantize(op.operands[1]).type)
    if (
        linear is None
        or linear.has_bias
        or cast is None
        or weight is None
        or weight.storage.width != BYTE_BITS
    ):
        return False
    storage, scales = storage_of(element_of(cast.operands[0].type)), static_shape(cast.operands[1])
    if storage is None or storage.width != BYTE_BITS or scales is None or prod(scales) != 1:
        return False
    return weight.is_per_tensor or (not weight.blocks and rank_of(op.operands[1]) == 2)


def affordable(module: ModuleOp, elements: int, growth: int, least: int) -> set[Operation]:
    """
    The grouped convolutions, and the ops on activations without an integer kernel, whose weights of more than
    `elements` become float: the file may grow by `growth` per cent, or by `least` bytes.

    The smallest first. Float weights under a dequantized activation count as grown already, so that a module which was
    rewritten so is not rewritten further.
    """
    size, grown = 0, 0
    weights: list[tuple[int, Operation]] = []
    for op in operations(module):
        if isinstance(op, ConstantOp) and op.value is not None:
            size += op.value.data.nbytes
        if not isinstance(op, OnnxOp) or op.get_trait(Linear) is None:
            continue
        is_real = quantized_of(op.results[0].type) is None
        if not (_is_wide(op) or _is_weight_only(op) or (_is_grouped(op) and is_real)):
            continue
        source, shape = _quantized_weight(op), static_shape(op.operands[1])
        if shape is None or prod(shape) <= elements:
            continue
        if source is not None:
            weights.append((prod(shape), op))
        elif is_constant(op.operands[1]) and isinstance(op.operands[0].owner, DequantizeOp):
            grown += BYTES_MORE * prod(shape)
    left = max((size - grown) * growth // 100, least) - grown
    chosen: set[Operation] = set()
    for count, op in sorted(weights, key=lambda one: one[0]):
        left -= BYTES_MORE * count
        if left < 0:
            break
        chosen.add(op)
    return chosen


class FoldFloatWeight(OnTrait[Linear]):
    """A linear op with a float result and a constant quantized weight."""

    def __init__(self, target: Target, elements: int, affordable: AbstractSet[Operation]):
        self._target, self._elements, self._affordable = target, elements, affordable

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> None:
        source = _quantized_weight(op)
        if source is None or _is_integer_in_sessions(op):
            return
        result, refused = quantized_of(op.results[0].type), _is_refused(op)
        expressed = element_of(op.results[0].type) if result is None else result.expressed
        if not isinstance(expressed, Float32Type) or (
            result is not None and not refused and not _is_wide(op)
        ):
            return
        shape = static_shape(source)
        if not refused:
            if shape is None or not self._pays(op):
                return
            unblocked(self._guard(op, shape))
        numbers = real_constant(source)
        constant = constant_op(np.asarray(numbers, np.float32), f"{wish(source) or 'weight'}_float")
        rewriter.insert_before(op, [constant])
        rewriter.set_operand(op, 1, constant.results[0])
        for k, operand in enumerate(op.operands):
            bias, type = under_dequantize(operand).owner, quantized_of(under_dequantize(operand).type)
            if k > 1 and isinstance(bias, ConstantOp) and type is not None:  # in steps of the weight's scale
                real = real_copy(bias, type)
                rewriter.insert_after(bias, [real])
                rewriter.set_operand(op, k, real.results[0])
            elif quantized_of(operand.type) is not None:  # an op on quantized types has no float weight
                cast = DequantizeOp(operand)
                rewriter.insert_before(op, [cast])
                rewriter.set_operand(op, k, cast.results[0])
        if result is not None:
            rewriter.replace(op, quantized_behind(op, op.operands, result))

    def _guard(self, op: OnnxOp, shape: tuple[int, ...]) -> Blocked | None:
        """`Blocked` if a weight of that shape must not become float although it would pay."""
        if not _is_wide(op) and goes_into_quantize(op.results[0]):
            return Blocked(
                "made-by-session", "a quantize follows, so onnxruntime would quantize a float weight again"
            )
        if prod(shape) > self._elements and op not in self._affordable:
            return Blocked(
                "large-weight",
                f"the file would grow by three bytes for each of more than {self._elements} weights",
                "compile with --float-weights",
            )
        return None

    def _pays(self, op: OnnxOp) -> bool:
        """True unless the op is a convolution of one group whose blocking by channels costs more than it saves."""
        costs = self._target.costs
        window = op.get_trait(Window)
        geometry = None if window is None or not window.gathers else window.geometry(op)
        if not isinstance(geometry, Geometry) or geometry.groups > 1 or PACKED not in costs:
            return True
        shape = priced(geometry)
        unpacked, packed = (
            cost(costs, name, shape) - saved * shape.outputs * shape.pixels * shape.images
            for name, saved in zip((FLOAT, PACKED), saved_behind(op, costs), strict=True)
        )
        return packed < unpacked


class FoldFloatConstant(OnOp[OnnxOp]):
    """An op without an integer kernel with a small constant operand that is dequantized in each run."""

    def __init__(self, elements: int):
        self._elements = elements
        self._constants: dict[SSAValue, SSAValue] = {}

    def accepts(self, op_class: type[Operation]) -> bool:
        if not issubclass(op_class, OnnxOp) or op_class.SCHEMA is None or op_class.SCHEMA.regions:
            return False
        return op_class.get_trait(Linear) is None

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> None:
        is_moved = op.get_trait(Commutes) is not None
        for place, value in enumerate(op.operands):
            source = under_dequantize(value)
            if source is value and is_moved:
                continue  # it moves integers: all operands or none
            if self._is_small(source):
                rewriter.set_operand(op, place, self._real(source, rewriter))

    def _is_small(self, source: SSAValue) -> bool:
        type, shape = quantized_of(source.type), static_shape(source)
        if type is None or shape is None or not isinstance(source.owner, ConstantOp):
            return False
        return isinstance(type.expressed, Float32Type) and prod(shape) <= self._elements

    def _real(self, source: SSAValue, rewriter: Rewriter) -> SSAValue:
        """The dequantized constant, built once."""
        known = self._constants.get(source)
        if known is None:
            constant = constant_op(
                np.asarray(real_constant(source), np.float32), f"{wish(source) or 'constant'}_float"
            )
            rewriter.insert_before(source.owner, [constant])  # pyright: ignore[reportArgumentType]
            known = self._constants[source] = constant.results[0]
        return known


@dataclass(frozen=True)
class FoldFloatWeightsPass(TargetPass):
    name = "fold-float-weights"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = "large-weight made-by-session"
    rewrite = "linear(x, dcast(w)) : float -> linear(x, w'), w' = dcast(w) as a constant"

    elements: int = MAX_FLOAT_WEIGHT_ELEMENTS
    """Greatest number of elements of a weight that is always folded."""
    growth: int = 15
    """Per cent by which the larger weights of grouped convolutions together may let the file grow."""
    least: int = 1 << 20
    """Bytes by which they may let it grow in any case."""

    def patterns(self) -> Sequence[Pattern]:
        return self._patterns(frozenset())

    def _patterns(self, chosen: AbstractSet[Operation]) -> list[Pattern]:
        constants = FoldFloatConstant(min(self.elements, MAX_FLOAT_WEIGHT_ELEMENTS))
        if not self.runtime.kernels:  # no kernel there rejects an integer weight
            return [constants]
        return [FoldFloatWeight(self.runtime, self.elements, chosen), constants]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen = affordable(op, self.elements, self.growth, self.least)
        if apply_patterns(op, self.name, self._patterns(chosen)):
            compute_constants(op)  # those that were dequantized before stood in the way
