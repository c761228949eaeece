"""
Compose the products around a Softmax, and the moves that give each head its part, into one op.

    Reshape(Transpose(MatMul(Softmax(MatMul(q, k) * s + m), v), [0, 2, 1, 3]))      q, k, v: heads of x, y, z
      ->  Attention(x, y, z, m) {scale = s, q_num_heads, kv_num_heads}

Heads are equal parts of a tensor's last axis, side by side, through any Reshape, Transpose, Split, Slice, Gather,
Squeeze and Unsqueeze; query, key and value that are parts of one tensor are split first. The kernel gathers heads
faster than a Transpose does: products, Softmax and moves of 15 shapes, with masks and without, took 1.06 to 2.8 times
as long.

Close: the same sums, but the factor may be applied to another operand. The op came with opset 23. The kernel gives 0
for a query of which the mask leaves no key, by the lowest float32; MatMul and Softmax give the mean of the values. So
the mask is kept above that by a Max, unless it is a constant without such a row. A row of -inf, which gives NaN in
them, gives that mean, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_attributes import float_attr, int_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, shape_of, tensor_type
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name
from qdialect.ir.values import constant_array
from qdialect.onnx_io.sizes import Sizes, sizes_of
from qdialect.ops.generated import op_named
from qdialect.patterns.attention import UNEQUAL, Attention, Heads, attention_at
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.rows import AlongAxis
from qdialect.reasons import Blocked, required
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets import Target

KERNEL = "Attention"
ATTENTION_OPSET = 23
"""The first opset with the op."""
LOWEST_SCORE = np.float32(-3.4e38)
"""Added to scores it gives itself, and is above the lowest float32, -3.4028e38, for which the kernel looks."""
OLD_OPSET = Blocked(
    "opset", f"Attention came with opset {ATTENTION_OPSET}", f"raise-opset to {ATTENTION_OPSET}"
)


class ComposeAttention(OnTrait[AlongAxis], ForTarget):
    """A Softmax along the last axis between two products."""

    def __init__(self, target: Target):
        super().__init__(target)
        self._sizes: Sizes | None = None
        """Sizes of the module's tensors, if a mask of open sizes asked for them."""

    def match(self, op: OnnxOp, promise: AlongAxis, rewriter: Rewriter, /) -> Blocked | None:
        found = attention_at(op)
        if found is None or not self._target.has_kernel(KERNEL, ["f32"] * 3, "f32"):
            return None
        if onnx_opset(op) < ATTENTION_OPSET:
            return OLD_OPSET
        nodes, end = Nodes(found.end), found.end.results[0]
        mask = None if found.scores.mask is None else self._mask(found, found.scores.mask, nodes)
        query, key, value = found.query, found.key, found.value
        inputs: list[SSAValue | None] = [*_parts([query, key, value], nodes)]
        inputs += [] if mask is None else [mask]
        attributes = {"q_num_heads": query.heads, "kv_num_heads": key.heads, "scale": float_attr(found.scale)}
        shape = (query.batch, query.length, value.width)
        joined = nodes.add(KERNEL, inputs, shape if found.sizes else end.type, attributes)
        if isinstance(joined, OpResult):
            joined.op.location = location(node_name(found.product))
        if found.sizes:
            nodes.reshape(joined, found.sizes, end.type)
        rewriter.replace(found.end, nodes.ops)
        return None

    def _mask(self, found: Attention, mask: SSAValue, nodes: Nodes) -> SSAValue:
        """The mask with axes batch, heads, query, key, of which the kernel repeats the first two alone."""
        sizes, lengths = found.mask or (), (found.query.length, found.key.length)
        is_whole = self._has_all_rows(found, mask)
        shape, mask = shape_of(mask.type) or (), _above_lowest(mask, nodes)
        added = range(len(sizes) - len(shape))
        if sizes != (*(1 for _ in added), *shape):
            mask = nodes.reshape(mask, [-1 if size == DYNAMIC else size for size in sizes], sizes)
        elif added:
            mask = nodes.add("Unsqueeze", [mask, nodes.ints(added, "axes")], sizes)
        if is_whole:
            return mask
        return nodes.add("Expand", [mask, _sizes(found, nodes)], (*sizes[:2], *lengths))

    def _has_all_rows(self, found: Attention, mask: SSAValue) -> bool:
        """True if the mask has an element for each query and key, not one for all."""
        lengths = (found.query.length, found.key.length)
        if DYNAMIC not in lengths:
            return (found.mask or ())[2:] == lengths
        module = found.product.get_toplevel_object()
        if self._sizes is None and isinstance(module, ModuleOp):
            self._sizes = sizes_of(module)
        if self._sizes is None:
            return False
        known = [self._sizes.sizes(value) or () for value in (mask, found.query.source, found.key.source)]
        return tuple(known[0][-2:]) == (*known[1][1:2], *known[2][1:2])


def _above_lowest(mask: SSAValue, nodes: Nodes) -> SSAValue:
    """The mask, with `LOWEST_SCORE` as its least element if all elements of a row may be less."""
    known = constant_array(mask)
    if known is not None and known.size and (np.atleast_1d(known).max(axis=-1) > LOWEST_SCORE).all():
        return mask
    return nodes.add("Max", [mask, nodes.constant(LOWEST_SCORE)], mask.type)


def _parts(operands: Sequence[Heads], nodes: Nodes) -> list[SSAValue]:
    """The operands as tensors of shape (batch, length, width of all heads)."""
    cut: dict[tuple[SSAValue, int, int], SSAValue] = {}
    for source in dict.fromkeys(one.source for one in operands):
        of_source = [one for one in operands if one.source is source]
        head, total = of_source[0], (shape_of(source.type) or (0,))[-1]
        shape = (head.batch, head.length, total)
        whole = source if head.is_whole_rank else nodes.reshape(source, shape, shape)
        bounds = sorted({0, total, *(at for one in of_source for at in (one.offset, one.offset + one.width))})
        places = [*pairwise(bounds)]
        parts = (
            [whole] if len(places) == 1 else _split(whole, [stop - start for start, stop in places], nodes)
        )
        cut |= {(source, *place): part for place, part in zip(places, parts, strict=True)}
    return [required(cut.get((one.source, one.offset, one.offset + one.width)), UNEQUAL) for one in operands]


def _split(whole: SSAValue, widths: Sequence[int], nodes: Nodes) -> Sequence[SSAValue]:
    """Parts of such widths of the last axis."""
    shape = shape_of(whole.type) or ()
    types = [nodes.like([whole], (*shape[:-1], width)) for width in widths]
    split = op_named("", "Split").build([whole, nodes.ints(widths, "split")], types, {"axis": int_attr(2)})
    nodes.append(split)
    return split.results


def _sizes(found: Attention, nodes: Nodes) -> SSAValue:
    """The sizes of a mask that is repeated for each query and key."""
    lengths = [(one.length, one.source) for one in (found.query, found.key)]
    if all(length != DYNAMIC for length, _ in lengths):
        return nodes.ints((1, 1, *(length for length, _ in lengths)), "sizes")
    parts = [nodes.ints((1, 1), "ones")]
    for length, source in lengths:
        parts.append(
            nodes.ints((length,), "length")
            if length != DYNAMIC
            else nodes.add("Shape", [source], tensor_type(i64, (1,)), {"start": 1, "end": 2})
        )
    return nodes.add("Concat", parts, tensor_type(i64, (4,)), {"axis": 0})


@dataclass(frozen=True)
class ComposeAttentionPass(TargetPass):
    name = "compose-attention"
    exactness = Exactness.CLOSE
    role = Role.SIMPLIFYING
    reasons = "attention-form opset"
    rewrite = "MatMul(Softmax(MatMul(q, k) * s + m), v) -> Attention(x, y, z, m): q, k, v heads of x, y, z"
    pattern_types = (ComposeAttention,)
