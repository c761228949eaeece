"""The pattern that gives a convolution of one channel for each output whole blocks of channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, known_element, known_shape, quantized_of, tensor_type
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, is_constant, real_constant
from qdialect.kernel_selection.convolution.search import Search
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.promises.elementwise import Elementwise
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import DEPTHWISE_ALIGNED, MAX_TIME_RATIO

TYPES = ["u8", "i8"]
"""The storage of activation and weight for which kernels are measured."""


class _Chain(NamedTuple):
    """Three convolutions, each the only reader of the one before; the second has a group for each channel."""

    ops: tuple[Operation, ...]
    """The convolutions, and casts and elementwise ops between them, in order."""
    specs: tuple[Spec, ...]
    """The convolutions alone."""

    @property
    def channels(self) -> int:
        """Number of channels between them."""
        return self.specs[1].geometry.groups

    def widened(self, channels: int) -> list[Spec]:
        """The convolutions with other `channels` between them."""
        parts = ({"outputs": channels}, {"groups": channels}, {"inputs": channels})
        return [spec.of(replace(spec.geometry, **part)) for spec, part in zip(self.specs, parts, strict=True)]


class FillBlocks(OnTrait[Window]):
    """
    conv(depthwise(conv(x, u), v), w)  ->  conv(depthwise(conv(x, u'), v'), w')     zeros as further channels

    Exact: what the further channels hold is multiplied by zeros. Ops between are copied.
    """

    def __init__(self, target: Target):
        self._target, self._search = target, Search(target.costs)

    def match(self, op: OnnxOp, promise: Window, rewriter: Rewriter, /) -> Blocked | None:
        block = self._target.costs.get(DEPTHWISE_ALIGNED, {}).get("outputs_multiple")
        chain = None if block is None else self._chain(op)
        if chain is None or block is None or chain.channels % block == 0:
            return None
        channels = -(-chain.channels // int(block)) * int(block)
        if self._cost(chain.widened(channels)) < MAX_TIME_RATIO * self._cost(chain.specs):
            rewriter.replace(chain.ops[-1], _widened(chain, channels))
        return None

    def _cost(self, specs: Sequence[Spec]) -> float:
        return sum(self._search.best(spec).cost for spec in specs)

    def _chain(self, first: OnnxOp) -> _Chain | None:
        """The chain that begins with `first`."""
        spec = self._spec(first)
        if spec is None or spec.is_float or spec.geometry.groups > 1:
            return None
        ops, specs = [first], [spec]
        for is_depthwise in (True, False):
            between = _readers(ops[-1])
            spec = self._spec(between[-1]) if between and isinstance(between[-1], OnnxOp) else None
            if spec is None or spec.priced.is_depthwise is not is_depthwise:
                return None
            ops, specs = [*ops, *between], [*specs, spec]
        fills = specs[1].symmetric and not specs[1].is_float and specs[2].geometry.groups == 1
        return _Chain(tuple(ops), tuple(specs)) if fills else None

    def _spec(self, op: OnnxOp) -> Spec | None:
        """The convolution, if its activation and its constant weight are quantized as the kernels want them."""
        window, y = op.get_trait(Window), quantized_of(op.results[0].type)
        x, w = (quantized_of(value.type) for value in op.operands[:2])
        if window is None or not window.gathers or x is None or w is None or not x.is_per_tensor:
            return None
        if [x.storage.name, w.storage.name] != TYPES or w.axis not in (None, 0):
            return None
        if not all(map(is_constant, op.operands[1:])):
            return None
        if y is not None and not self._target.has_kernel("QLinearConv", TYPES, y.storage.name):
            return None
        geometry = window.geometry(op)
        if not isinstance(geometry, Geometry) or not geometry.states_channels:
            return None
        images = 1 if geometry.images == DYNAMIC else geometry.images
        return Spec(geometry, images, not w.zero_points.any(), y is None, onnx_opset(op))


def _readers(op: Operation) -> list[Operation]:
    """From `op` on, the ops that each alone read the one before, up to a convolution; empty if they reach none."""
    ops: list[Operation] = []
    while (user := op.results[0].get_user_of_unique_use()) is not None and user.parent is op.parent:
        ops.append(user)
        if isinstance(user, OnnxOp) and user.has_trait(Window):
            return ops if user.operands[0] is op.results[0] else []
        if not _treats_alike(user):
            break
        op = user
    return []


def _treats_alike(op: Operation) -> bool:
    """True for casts and elementwise ops that compute every channel in the same way."""
    types = [quantized_of(value.type) for value in (*op.operands, *op.results)]
    if not all(type is None or type.is_per_tensor for type in types):
        return False
    if not isinstance(op, OnnxOp):
        return isinstance(op, QuantizeOp | DequantizeOp)
    others = [real_constant(value) for value in op.operands[1:]]
    return op.has_trait(Elementwise) and all(one is not None and one.size == 1 for one in others)


def _widened(chain: _Chain, channels: int) -> list[Operation]:
    """New operations in place of the chain's, with so many channels between."""
    nodes, more, x = Nodes(), channels - chain.channels, chain.ops[0].operands[0]
    *between, last = chain.ops
    for op in between:
        images, _, *sizes = known_shape(op.results[0].type)
        type = tensor_type(known_element(op.results[0].type), (images, channels, *sizes))
        convolves = op.has_trait(Window)
        others = [_filled(value, 0, more, nodes) if convolves else value for value in op.operands[1:]]
        group = {"group": int_attr(channels)} if convolves and op is not between[0] else {}
        x = nodes.append(_copied(op, [x, *others], type, group))
    weight = _filled(last.operands[1], 1, more, nodes)
    nodes.append(_copied(last, [x, weight, *last.operands[2:]], last.results[0].type, {}))
    return nodes.ops


def _copied(
    op: Operation, operands: Sequence[SSAValue], type: Attribute, changed: Mapping[str, Attribute]
) -> Operation:
    properties = {**op.properties, **changed}
    new = op.__class__.create(
        operands=operands, result_types=[type], properties=properties, attributes=op.attributes
    )
    new.location = op.location
    return new


def _filled(value: SSAValue, axis: int, more: int, nodes: Nodes) -> SSAValue:
    """A constant with `more` real zeros behind the others along `axis`; as floats if it is dequantized."""
    stored, type = constant_array(value), quantized_of(value.type)
    array = np.asarray(real_constant(value)) if stored is None else stored
    zeros = np.zeros(1, array.dtype) if type is None else np.asarray(type.zero_points).astype(array.dtype)
    if axis == 0 and type is not None and type.axis is not None:
        scales, points = (
            np.append(one, np.repeat(one[-1:], more)) for one in (type.scales, type.zero_points)
        )
        type, zeros = type.replace(scales=scales, zero_points=points), zeros[-1:]
    shape = [more if k == axis else size for k, size in enumerate(array.shape)]
    fill = np.broadcast_to(zeros.reshape(-1, *[1] * (array.ndim - 1)), shape)
    name = f"{wish(value) or 'constant'}_filled"
    return nodes.append(constant_op(np.concatenate([array, fill], axis), name, type))
