"""
Write an interpolation as products with a constant matrix for each axis.

    Resize(x : ?xCxHxW) {linear, cubic}  ->  MatMul(h, MatMul(x, w))      h : (new H, H), w : (W, new W)
    Resize(x : u8) {linear}              ->  Cast(MatMul(h, MatMul(Cast(x) : f32, w))) : u8      likewise i8

Close: the same float32 sums in another order, of finite elements. onnxruntime interpolates element by element: in
cubic mode a hundred times slower than the products, along one axis or three axes ten times. Its kernel is faster in
linear mode between convolutions, where channels are last or in blocks. Measured costs decide. A target without a cost
for the kernel does not have it, and gets the products. Axes that become shorter are interpolated first. A quantize
after the op is kept.

In both forms bytes are interpolated in float and truncated. The integers are equal if no sum is rounded, which is so
for weights of few binary digits, as for scales of 2, 4 and 8.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    DYNAMIC,
    element_of,
    known_element,
    shape_of,
    with_element,
)
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import is_float32
from qdialect.kernel_selection.convolution.layout import (
    is_between,
    is_float_convolution,
    is_lowered_convolution,
)
from qdialect.numerics.pixels import Pixels, fraction_digits
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.resizing import Interpolates
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets.pricing import MAX_TIME_RATIO

INTERPOLATION, PRODUCT = "Interpolation", "Gemm"
"""Keys of the costs: of interpolation, and of a matrix product."""
BYTE_COST_KEY = "linear_byte"
"""Key of the cost of an interpolation of bytes between two pixels."""
BYTE_ELEMENTS = (BY_NUMPY["uint8"].attribute, BY_NUMPY["int8"].attribute)
MAX_FRACTION_DIGITS = np.finfo(np.float32).nmant + 1 - 8
"""Binary digits behind the point of a byte's float32 multiple."""
IMAGES = (2, 4)
"""Ranks of tensors with a specialized kernel for their last two axes."""


class AxisMatrix(NamedTuple):
    """One axis, and the interpolation matrix (new size, old size) along it."""

    axis: int
    matrix: Pixels


class LowerToMatMul(OnTrait[Interpolates], ForTarget):
    """A float32 interpolation along axes of known sizes."""

    def match(self, op: OnnxOp, promise: Interpolates, rewriter: Rewriter, /) -> Blocked | None:
        shape, taps = shape_of(op.operands[0].type), promise.taps(op)
        if shape is None or len(shape) < 2 or taps == 1 or not self._is_supported(op, taps):
            return None
        matrices = unblocked(promise.matrices(op))
        steps = ordered(matrices)
        if not steps:
            return None
        if any(DYNAMIC in shape[step.axis :] for step in steps if step.axis < len(shape) - 2):
            return Blocked(
                "open-size", "a size after the axis is unknown, so the axis cannot be moved to the end"
            )
        if _is_bytes(op) and not are_exact(steps):
            return Blocked(
                "value-rounds",
                "float32 rounds the sums, so after truncation to integers they may differ by a step",
            )
        if not self.pays(op, taps, shape, steps):
            return Blocked("does-not-pay", "a matrix product with rows this long takes as long")
        rewriter.replace(op, _products(op, shape, steps).ops)
        return None

    def _is_supported(self, op: OnnxOp, taps: int) -> bool:
        """True for float32, and for bytes whose interpolation was measured."""
        measured = taps == 2 and BYTE_COST_KEY in self._target.costs.get(INTERPOLATION, {})
        return is_float32(op.operands[0]) or (_is_bytes(op) and measured)

    def pays(self, op: OnnxOp, taps: int, shape: Sequence[int], steps: Sequence[AxisMatrix]) -> bool:
        """True if the products take less time; an unknown size counts as 1."""
        if INTERPOLATION not in self._target.costs:
            return True
        costs, product = self._target.costs[INTERPOLATION], self._target.costs[PRODUCT]
        new, time = [1 if size == DYNAMIC else size for size in shape], 0.0
        for axis, matrix in steps:
            new[axis] = len(matrix)
            products = prod(new) * matrix.shape[1]
            time += product["product"] * products + product["written"] * prod(new) + product["call"]
            if axis < len(new) - 1:
                time += costs["matrix"] * prod(new[:axis])
        if _is_bytes(op):
            casts = self._target.costs["Placement"]
            time += (
                casts["move_float"] * (prod(new) + prod(max(size, 1) for size in shape)) + 2 * casts["call"]
            )
        return time < MAX_TIME_RATIO * (_interpolated(op, taps, new, steps, costs) + costs["call"])


def _interpolated(
    op: OnnxOp, taps: int, new: Sequence[int], steps: Sequence[AxisMatrix], costs: Mapping[str, float]
) -> float:
    """Nanoseconds of the op's kernel for a result of these sizes, in the order of elements that a session uses."""
    if _is_bytes(op):
        return prod(new) * costs[BYTE_COST_KEY]
    if taps > 2:
        return prod(new) * costs["cubic"]
    if len(new) not in IMAGES or any(step.axis < len(new) - 2 for step in steps):
        return prod(new) * costs["linear_volume"]
    if is_between(op, is_lowered_convolution):
        return prod(new) * costs["linear_last"] + prod(new[2:]) * new[0] * costs["pixel_last"]
    whole = all(len(step.matrix) % step.matrix.shape[1] == 0 for step in steps)
    blocked = whole and is_between(op, is_float_convolution)
    return prod(new) * costs["linear_blocked" if blocked else "linear"]


def _is_bytes(op: OnnxOp) -> bool:
    return element_of(op.operands[0].type) in BYTE_ELEMENTS


def are_exact(steps: Sequence[AxisMatrix]) -> bool:
    """True if float32 holds every sum of bytes, so that their order does not matter."""
    digits = [fraction_digits(step.matrix, MAX_FRACTION_DIGITS) for step in steps]
    known = [each for each in digits if each is not None]
    return len(known) == len(digits) and sum(known) <= MAX_FRACTION_DIGITS


def ordered(matrices: Mapping[int, Pixels]) -> list[AxisMatrix]:
    """The steps, those that shrink their axis most first, so that later ones have fewer elements."""
    steps = [AxisMatrix(axis, matrices[axis]) for axis in sorted(matrices, reverse=True)]
    return sorted(steps, key=lambda step: step.matrix.shape[0] / step.matrix.shape[1])


def _products(op: OnnxOp, shape: Sequence[int], steps: Sequence[AxisMatrix]) -> Nodes:
    nodes, x, sizes = Nodes(op), op.operands[0], list(shape)
    if _is_bytes(op):
        x = nodes.add("Cast", [x], with_element(x.type, f32), {"to": BY_NUMPY["float32"].number})
    for axis, matrix in steps:
        x = _along(
            nodes, x, sizes, AxisMatrix(axis, matrix), f"{wish(op.results[0]) or op.op_type}_weights_{axis}"
        )
        sizes[axis] = len(matrix)
    if _is_bytes(op):
        nodes.add(
            "Cast", [x], op.results[0].type, {"to": BY_ATTRIBUTE[known_element(op.results[0].type)].number}
        )
    nodes.ops[-1].location = op.location
    return nodes


def _along(nodes: Nodes, x: SSAValue, sizes: Sequence[int], step: AxisMatrix, name: str) -> SSAValue:
    """The product along one axis; one in front of the last two has those behind it as one."""
    axis, matrix = step
    after = [*sizes[:axis], len(matrix), *sizes[axis + 1 :]]
    if axis == len(sizes) - 1:
        return nodes.add("MatMul", [x, nodes.constant(matrix.T.copy(), name=name)], after)
    weights = nodes.constant(matrix, name=name)
    if axis == len(sizes) - 2:
        return nodes.add("MatMul", [weights, x], after)
    behind = prod(sizes[axis + 1 :])
    keep = [0] * axis
    rows = nodes.reshape(x, [*keep, sizes[axis], behind], [*sizes[:axis], sizes[axis], behind])
    product = nodes.add("MatMul", [weights, rows], [*sizes[:axis], len(matrix), behind])
    return nodes.reshape(product, [*keep, *after[axis:]], after)


class LowerToMatmulPass(TargetPass):
    name = "lower-to-matmul"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = "computed-parameter does-not-pay interpolates open-size unknown-shape value-rounds"
    rewrite = "Resize(x) {linear, cubic} -> MatMul(h, MatMul(x, w)): the same sums in another order"
    pattern_types = (LowerToMatMul,)
