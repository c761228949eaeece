"""
Write a convolution along three axes as one along two, which integer kernels are made for.

    conv(x, w, b), x: N, C, D, H, W   ->  split(conv(join(x), w', b)),   what w sees along D side by side as channels,
                                          join: N, k * C, D', H, W -> N * D', k * C, H, W
                                          or, where w has one row of one pixel, join: N, C, D, H, W -> N, C, D, H * W

Close: each output has the same products, so integers come out the same; a float oracle adds them in another order.

An integer kernel of three axes looks for each kernel element of each pixel by itself; one of two axes takes them in
rows. Channels stand last, so that pixels are gathered in whole rows of channels, and joining axes moves no byte.
Which is the fastest is looked up in what was measured on the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import ints_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, opset_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.casts import wish
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.convolution import MOVES, WORTH, is_measured, shape_of_fold, tiled
from qdialect.patterns.im2col import SLICES, columns, window
from qdialect.promises.linear import Linear
from qdialect.promises.padding import ZeroPads
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import VOLUME, joined_cost, quantized_cost

RANK = 5
DEEPEST = 32
"""Slices under a kernel that become channels, at most: each is a node."""
TO_LAST, TO_FIRST = (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)


class Joined(NamedTuple):
    """A convolution along three axes, two of which become one; channels stand last."""

    given: tuple[int, ...]
    """The operand's sizes when the kernel along the first axis, if that is joined, is gathered."""
    made: tuple[int, ...]
    """The result's."""
    first: int
    """The first of the two axes."""

    def joined(self, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Those sizes with the two as one."""
        pair = sizes[self.first : self.first + 2]
        one = DYNAMIC if DYNAMIC in pair else prod(pair)
        return (*sizes[: self.first], one, *sizes[self.first + 2 :])


def _is_plain(op: OnnxOp, weight: tuple[int, ...], axis: int) -> bool:
    """Whether the kernel sees one pixel along that axis, and each."""
    pads = window(op, "pads", RANK, 0)
    return weight[2 + axis] == window(op, "strides", RANK)[axis] == 1 and not (pads[axis] or pads[3 + axis])


class FoldDepth(Pattern):
    """A convolution along three axes, of quantized operands into a quantized result."""

    def __init__(self, target: Target, always: bool = False):
        self._target, self._always = target, always

    def accepts(self, op_class: type[Operation]) -> bool:
        linear = op_class.get_trait(Linear)
        return linear is not None and linear.has_bias and op_class.get_trait(ZeroPads) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        weight, w = static_shape(op.operands[1]), quantized_of(op.operands[1].type)
        if weight is None or len(weight) != RANK or w is None or not is_measured(op, self._target, VOLUME):
            return None
        if quantized_of(op.results[0].type) is None:
            return None
        rows = _is_plain(op, weight, 1) and _is_plain(op, weight, 2)
        if not self._always and not self._pays(op, weight, symmetric=not w.zero_points.any()):
            return None
        if (blocked := self._guard(op, weight, rows)) is not None:
            return blocked
        given, made = shape_of(op.operands[0].type), shape_of(op.results[0].type)
        assert given is not None
        assert made is not None
        if rows:
            join = Joined((given[0], *given[2:], given[1]), (made[0], *made[2:], made[1]), 2)
        else:
            channels = given[1] * weight[2]
            join = Joined((given[0], made[2], *given[3:], channels), (made[0], *made[2:], made[1]), 0)
        return self._build(op, weight, join, rewriter)

    def _guard(self, op: OnnxOp, weight: tuple[int, ...], rows: bool) -> Blocked | None:
        given, made, groups = (
            shape_of(op.operands[0].type),
            shape_of(op.results[0].type),
            op.int_attr("group", 1),
        )
        if constant(op.operands[1]) is None:
            return Blocked("computed-weight", "the weight is computed at run time")
        if not rows and weight[2] > DEEPEST:
            return Blocked("large-window", f"more than {DEEPEST} slices would stand side by side")
        if given is None or made is None or not len(given) == len(made) == RANK:
            return Blocked("unknown-rank", "the operand's rank is not known")
        if op.str_attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
            return Blocked("auto-pad", "the convolution works its pads out by itself")
        if (given[1], made[1]) != (weight[1] * groups, weight[0]):
            return Blocked("unknown-channels", "the number of channels is not known")
        sizes = (*given[3:], *made[3:]) if not rows else (given[2], *given[4:], made[2], *made[4:])
        joined = (made[0], made[2]) if not rows else (made[0], made[3])
        if DYNAMIC in sizes or joined.count(DYNAMIC) > 1:
            return Blocked(
                "unknown-sizes", "more than one size is not known, and joined axes come apart again"
            )
        if not rows and groups > 1 and weight[2] > 1:
            return Blocked("grouped", "the channels come in groups, and others would stand between them")
        if not rows and (opset_of(op, "") or 13) < SLICES:
            return Blocked("opset", f"Slice and Pad take computed bounds from opset {SLICES} on")
        return None

    def _pays(self, op: OnnxOp, weight: tuple[int, ...], *, symmetric: bool) -> bool:
        costs, plain = self._target.costs, shape_of_fold(op, weight, symmetric=symmetric)
        now = quantized_cost(costs, plain)
        return joined_cost(costs, plain) < min(WORTH * now, now - 2 * MOVES)

    def _build(self, op: OnnxOp, weight: tuple[int, ...], join: Joined, rewriter: Rewriter) -> None:
        made = list[Operation]()
        tensor, kept = constant(op.operands[1]), [0, 2] if join.first == 2 else [1, 2]
        assert tensor is not None
        last = _turned(op, op.operands[0], TO_LAST, "fold", made)
        array = tensor.array()
        if join.first == 0:
            if not _is_plain(op, weight, 0):
                last = columns(op, last, None, made, axes=1)
            array = array.swapaxes(1, 2).reshape(weight[0], -1, *weight[3:])
        else:
            array = array.reshape(*weight[:3], 1)
        last = _reshaped(op, last, join.joined(join.given), "fold", made)
        name = wish(op.operands[1]) or "weight"
        made.append(new := tiled(op.operands[1], np.ascontiguousarray(array), 1, f"{name}_folded"))
        strides, dilations, pads = (
            window(op, n, RANK, d) for n, d in (("strides", 1), ("dilations", 1), ("pads", 0))
        )
        attributes = {
            "kernel_shape": array.shape[2:],
            "strides": tuple(strides[k] for k in kept),
            "dilations": tuple(dilations[k] for k in kept),
            "pads": (*(pads[k] for k in kept), *(pads[3 + k] for k in kept)),
        }
        inner, element = join.joined(join.made), element_of(op.results[0].type)
        assert element is not None
        first = _turned(op, last, (0, 3, 1, 2), "fold", made)
        operands = [first, new.results[0], *(op.input(k) for k in range(2, len(op.operands)))]
        given = {k: v for k, v in op.onnx_attributes.items() if k != "auto_pad"}
        conv = op.__class__.build(
            operands,
            [tensor_type(element, (inner[0], inner[3], *inner[1:3]))],
            given | {k: ints_attr(v) for k, v in attributes.items()},
        )
        conv.location = location(node_name(op))
        made.append(conv)
        apart = _turned(op, conv.results[0], (0, 2, 3, 1), "unfold", made)
        _turned(op, _reshaped(op, apart, join.made, "unfold", made), TO_FIRST, "unfold", made)
        made[-1].location = op.location
        rewriter.replace(op, made)


def _add(
    op: OnnxOp, name: str, inputs: list[SSAValue], shape: Sequence[int], what: str, **given: Attribute
) -> OnnxOp:
    element = element_of(inputs[0].type)
    assert element is not None
    new = op_named("", name).build([*inputs], [tensor_type(element, tuple(shape))], given)
    new.location = location(f"{node_name(op)}_{what}")
    return new


def _turned(op: OnnxOp, value: SSAValue, perm: Sequence[int], what: str, made: list[Operation]) -> SSAValue:
    shape = shape_of(value.type)
    assert shape is not None
    turn = DenseArrayBase.from_list(i64, list(perm))
    made.append(_add(op, "Transpose", [value], [shape[p] for p in perm], what, perm=turn))
    return made[-1].results[0]


def _reshaped(
    op: OnnxOp, value: SSAValue, shape: tuple[int, ...], what: str, made: list[Operation]
) -> SSAValue:
    sizes = ConstantOp.of(from_array(np.array([-1 if size == DYNAMIC else size for size in shape], np.int64)))
    sizes.location = location("", [f"{node_name(op)}_{what}ed_shape"])
    made.append(sizes)
    made.append(_add(op, "Reshape", [value, sizes.results[0]], shape, what))
    return made[-1].results[0]


@dataclass(frozen=True)
class FoldDepthPass(RewritePass):
    """Convolutions along three axes become convolutions along two."""

    name = "fold-depth"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "conv(x, w) along D, H, W -> split(conv(join(x), w')) along H, W, or along D and H * W: the same integers"
    )

    target: str = "onnxruntime"
    always: bool = False
    """Whether to do so whatever it costs."""

    def patterns(self) -> Sequence[Pattern]:
        return [FoldDepth(target(self.target), self.always)]
