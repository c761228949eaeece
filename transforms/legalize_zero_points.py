"""
Give products of integers zero points of the shapes that kernels take.

    product(x, w, z..z, v..v)         ->  product(x, w, z, v)                    1. all equal; 0 is left out
    product(x, w : [D, K, N], z, [N]) ->  product(x, w, z, [D, 1, N])            2. as ONNX states it;
                                                                                    scales likewise
    conv(x, w, z, v)    ->  conv(x, w, z) - v * conv(x, 1, z)                    3. v: one for each output channel
    matmul(x, w, z, v)  ->  matmul(x, w, 0, v) - z * matmul(1, w, 0, v)          4. z: one for each row

1 and 2 are for all targets, 3 and 4 for those whose file says that kernels take one zero point there. Where another
weight has the same differences to one zero point, `fold-zeros` has found it.

Exact: sums of integers; int32 wraps around alike in all of them.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    BY_ATTRIBUTE,
    BY_NUMPY,
    DYNAMIC,
    known_element,
    shape_of,
    tensor_type,
)
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, tensor_names, wish
from qdialect.ir.values import constant_array, rank_of, static_shape
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.linear import IntegerProduct, ZeroPoints
from qdialect.promises.window import Window
from qdialect.reasons import UNKNOWN_RANK, Blocked, required, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role

INT32 = BY_NUMPY["int32"].number
UNKNOWN_COUNT = Blocked("unknown-shape", "how many zero points there are is not known", "give --batch")


def _rebuilt(op: OnnxOp, inputs: dict[int, SSAValue | None]) -> OnnxOp:
    """The op with other operands at some places."""
    count = max(len(op.inputs), *(place + 1 for place in inputs))
    operands = [inputs[k] if k in inputs else op.input(k) for k in range(count)]
    while operands[-1] is None:
        operands.pop()
    new = type(op).build(operands, op.result_types, op.onnx_attributes)
    new.location = op.location
    return new


class MergeEqual(OnTrait[ZeroPoints], ForTarget):
    """Constant zero points that are all equal: one, or none where it is 0."""

    def match(self, op: OnnxOp, promise: ZeroPoints, rewriter: Rewriter, /) -> None:
        nodes, inputs = Nodes(), dict[int, SSAValue | None]()
        for place in promise.optional:
            zero = op.input(place)
            array = constant_array(zero)
            if (
                zero is None
                or array is None
                or not array.ndim
                or not array.size
                or (array != array.flat[0]).any()
            ):
                continue
            if array.shape == (1,) and array.any():
                continue
            one = nodes.constant(array.reshape(-1)[0], array.dtype, name=wish(zero)) if array.any() else None
            inputs[place] = one
        if inputs:
            rewriter.replace(op, [*nodes.ops, _rebuilt(op, inputs)])


class ExpandColumns(OnTrait[ZeroPoints], ForTarget):
    """A zero point for each column of a batch of matrices, which kernels take for each matrix; scales likewise."""

    def match(self, op: OnnxOp, promise: ZeroPoints, rewriter: Rewriter, /) -> Blocked | None:
        weight, nodes, inputs = op.operands[promise.weight], Nodes(op), dict[int, SSAValue | None]()
        if not promise.columns or (rank_of(weight) or 0) < 3:
            return None
        for place in promise.columns:
            value = op.input(place)
            each = None if value is None else unblocked(self._expanded(value, weight, nodes))
            if each is not None:
                inputs[place] = each
        if inputs:
            rewriter.replace(op, [*nodes.ops, _rebuilt(op, inputs)])
        return None

    def _expanded(self, value: SSAValue, weight: SSAValue, nodes: Nodes) -> SSAValue | Blocked | None:
        """The numbers of columns, for each matrix; None if they are, or are one."""
        shape, known = static_shape(value), list(shape_of(weight.type) or ())
        if shape is None:
            return UNKNOWN_COUNT
        wanted = (*known[:-2], 1, known[-1])
        if prod(shape) == 1 or shape == wanted:
            return None
        if DYNAMIC in wanted:
            return Blocked("unknown-shape", "the number of matrices or columns is not known", "give --batch")
        pairs = zip(shape[::-1], wanted[::-1], strict=False)
        if len(shape) > len(wanted) or any(n not in (1, m) for n, m in pairs):
            return Blocked("zero-point", "there is not one zero point for each column", "check the model")
        if (array := constant_array(value)) is not None:
            return nodes.constant(np.broadcast_to(array, wanted).copy(), name=wish(value))
        return nodes.add("Expand", [value, nodes.ints(wanted, "zero_points")], wanted)


class CorrectSum(OnTrait[IntegerProduct], ForTarget):
    """A product of integers with more zero points than kernels take."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        if not self._target.plain_zero_points:
            return None
        place = 3 if op.get_trait(Window) is not None else 2
        zero = op.input(place)
        if zero is None:
            return None
        count = static_shape(zero)
        if count is None:  # of an unknown rank it may be one
            return None if rank_of(zero) in (None, 0) else UNKNOWN_COUNT
        if prod(count) <= 1:
            return None
        return self._convolution(op, zero, rewriter) if place == 3 else self._rows(op, zero, rewriter)

    def _convolution(self, op: OnnxOp, zero: SSAValue, rewriter: Rewriter) -> Blocked | None:
        shape = required(static_shape(op.operands[1]), UNKNOWN_RANK)
        if prod(static_shape(zero) or ()) != shape[0]:
            return Blocked("zero-point", "there is not one zero point for each channel", "check the model")
        groups = op.int_attr("group", 1)
        filters, nodes = 1 if groups == 1 else shape[0], Nodes(op)
        dtype = BY_ATTRIBUTE[known_element(op.operands[1].type)].dtype
        ones = nodes.constant(np.ones((filters, *shape[1:]), dtype), name=f"{wish(op.operands[1])}_ones")
        sizes = shape_of(op.results[0].type)
        if sizes is None:
            return UNKNOWN_RANK
        narrow = tensor_type(i32, (sizes[0], filters, *sizes[2:]))
        under = nodes.add(op.op_type, [op.operands[0], ones, op.input(2)], narrow, op.onnx_attributes)
        each = self._wide(zero, (shape[0], *[1] * (len(shape) - 2)), nodes)
        self._subtract(op, 3, nodes, nodes.add("Mul", [under, each], op.results[0].type), rewriter)
        return None

    def _rows(self, op: OnnxOp, zero: SSAValue, rewriter: Rewriter) -> Blocked | None:
        x, weight, zeros = (
            shape_of(op.operands[0].type),
            shape_of(op.operands[1].type),
            static_shape(zero) or (),
        )
        sizes = shape_of(op.results[0].type)
        if x is None or weight is None or sizes is None or min(len(x), len(weight)) < 2:
            return UNKNOWN_RANK
        inputs = weight[-2] if weight[-2] != DYNAMIC else x[-1]
        if inputs == DYNAMIC:
            return Blocked("unknown-shape", "the number of rows of the weight is not known", "give --batch")
        nodes = Nodes(op)
        dtype = BY_ATTRIBUTE[known_element(op.operands[0].type)].dtype
        ones = nodes.constant(np.ones((1, inputs), dtype), name="ones")
        columns = tensor_type(i32, (*weight[:-2], 1, weight[-1]))
        sums = nodes.add(op.op_type, [ones, op.operands[1], None, op.input(3)], columns)
        each = self._wide(zero, (zeros[0], 1) if len(zeros) == 1 else zeros, nodes)
        batch = max(len(zeros), len(weight)) - 2
        extra = (
            tensor_type(i32, (*[DYNAMIC] * batch, *sizes[-2:])) if batch > 0 else tensor_type(i32, sizes[-2:])
        )
        self._subtract(op, 2, nodes, nodes.add("Mul", [each, sums], extra), rewriter)
        return None

    def _wide(self, zero: SSAValue, shape: Sequence[int], nodes: Nodes) -> SSAValue:
        """Zero points of a shape, as int32."""
        array = constant_array(zero)
        if array is not None:
            return nodes.constant(array.astype(np.int32).reshape(shape), name=f"{wish(zero)}_i32")
        wide = nodes.add("Cast", [zero], tensor_type(i32, static_shape(zero) or ()), {"to": INT32})
        return nodes.reshape(wide, shape, shape)

    def _subtract(self, op: OnnxOp, place: int, nodes: Nodes, extra: SSAValue, rewriter: Rewriter) -> None:
        """Replace the op by the one without the zero points, less what they add to it."""
        main = _rebuilt(op, {place: None})
        main.location = location(node_name(op))
        nodes.append(main)
        nodes.add("Sub", [main.results[0], extra], op.results[0].type)
        nodes.ops[-1].location = location("", tensor_names(op))
        rewriter.replace(op, nodes.ops)


class LegalizeZeroPointsPass(TargetPass):
    name = "legalize-zero-points"
    exactness = Exactness.EXACT
    role = Role.LEGALIZING
    reasons = "unknown-shape zero-point"
    rewrite = "conv(x, w, z, v) -> conv(x, w, z) - v * conv(x, 1, z): the same integers"
    pattern_types = (MergeEqual, ExpandColumns, CorrectSum)
