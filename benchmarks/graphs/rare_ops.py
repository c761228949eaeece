"""
Ops of random graphs that neither casts nor kernels of integers are made for: recurrent ops, attention, packed weights
of 4 bits, sequences, control flow within control flow, values that subgraphs capture behind moves, integers of 4 bits
that leave a branch.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from onnx import NodeProto, TensorProto, helper

from graphs.drawing import Drawing, Value, f32
from graphs.forms import MICROSOFT
from graphs.ops import Draw


def condition(d: Drawing) -> str:
    """A truth that only a run knows, and knows well."""
    largest = d.node("ReduceMax", [d.inputs[0].name], (), keepdims=0)
    return d.node(d.pick(["Less", "Greater"]), [largest.name, d.constant(f32(-50.0))], ()).name


def _branch(d: Drawing, nodes: list[NodeProto], x: Value, shape: tuple[int, ...]) -> Any:
    output = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, shape)
    d.used.add(x.name)
    return helper.make_graph(nodes, d.name("body"), [], [output])


def _inner(d: Drawing, op: str, inputs: list[str], **attributes: Any) -> NodeProto:
    return helper.make_node(op, inputs, [d.name("inner")], name=d.name(f"{op}_"), **attributes)


def captured(d: Drawing, x: Value) -> Value | None:
    """What is moved outside, read by two branches that compute."""
    perm = [int(p) for p in d.rng.permutation(len(x.shape))]
    shape = tuple(x.shape[p] for p in perm)
    moved = d.node("Transpose", [x.name], shape, perm=perm)
    bodies = [_branch(d, [_inner(d, op, [moved.name])], moved, shape) for op in ("Sigmoid", "Relu")]
    return d.finish(d.node("If", [condition(d)], shape, then_branch=bodies[0], else_branch=bodies[1]), x)


def nested(d: Drawing, x: Value) -> Value | None:
    """An If within a branch, on the value of the graph."""
    leaves = [_branch(d, [_inner(d, op, [x.name])], x, x.shape) for op in ("Relu", "Tanh")]
    choice = _inner(d, "If", [condition(d)], then_branch=leaves[0], else_branch=leaves[1])
    outer = [
        _branch(d, nodes, x, x.shape) for nodes in ([choice], [_inner(d, "LeakyRelu", [x.name], alpha=0.2)])
    ]
    return d.finish(d.node("If", [condition(d)], x.shape, then_branch=outer[0], else_branch=outer[1]), x)


def narrow_branch(d: Drawing, x: Value) -> Value | None:
    """A pair of 4 bits in one branch or behind both."""
    if d.opset < 21:
        return None
    names = [
        d.constant(f32(0.25)),
        d.constant(np.array(d.pick([0, 3]), d.pick([ml_dtypes.int4, ml_dtypes.uint4]))),
    ]

    def pair(source: str) -> list[NodeProto]:
        quantize = _inner(d, "QuantizeLinear", [source, *names])
        return [quantize, _inner(d, "DequantizeLinear", [quantize.output[0], *names])]

    inside = d.chance(0.5)
    first = pair(x.name) if inside else [_inner(d, "Relu", [x.name])]
    bodies = [_branch(d, nodes, x, x.shape) for nodes in (first, [_inner(d, "Identity", [x.name])])]
    value = d.node("If", [condition(d)], x.shape, then_branch=bodies[0], else_branch=bodies[1])
    if not inside:
        nodes = pair(value.name)
        d.steps += nodes
        d.used.add(value.name)
        value = Value(nodes[-1].output[0], x.shape)
    d.values.append(value)
    return value


def recurrent(d: Drawing, x: Value) -> Value | None:
    """An LSTM, GRU or RNN over the first axis."""
    if len(x.shape) != 3:
        return None
    op, size = d.pick(["LSTM", "GRU", "RNN"]), int(d.rng.integers(2, 5))
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    weights = [
        d.constant(f32(d.rng.normal(size=(1, gates * size, k)) / np.sqrt(k)), "w") for k in (x.shape[2], size)
    ]
    steps, rows = x.shape[:2]
    value = d.node(op, [x.name, *weights], (steps, 1, rows, size), hidden_size=size)
    shape = (steps, rows, size)
    return d.finish(d.node("Squeeze", [value.name, d.ints(1)], shape))


def attention(d: Drawing, x: Value) -> Value | None:
    """Softmax of products with itself, then a product with itself."""
    if len(x.shape) < 2:
        return None
    order = [*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2]
    turned = d.node("Transpose", [x.name], [x.shape[k] for k in order], perm=order)
    square = (*x.shape[:-1], x.shape[-2])
    scores = d.node("MatMul", [x.name, turned.name], square)
    scaled = d.node("Mul", [scores.name, d.constant(f32(x.shape[-1] ** -0.5))], square)
    weights = d.finish(d.node("Softmax", [scaled.name], square, axis=-1))
    return d.finish(d.node("MatMul", [weights.name, x.name], x.shape))


def packed_weight(d: Drawing, x: Value) -> Value | None:
    """MatMulNBits: 4 bits, two to a byte, a scale for each block of 16."""
    if len(x.shape) < 2:
        return None
    k, out, block = x.shape[-1], int(d.rng.integers(2, 7)), 16
    blocks = -(-k // block)
    stored = d.rng.integers(0, 256, (out, blocks, block // 2)).astype(np.uint8)
    scales = f32(d.rng.uniform(0.01, 0.03, out * blocks))
    inputs = [x.name, d.constant(stored, "w"), d.constant(scales)]
    shape = (*x.shape[:-1], out)
    sizes = {"K": k, "N": out, "bits": 4, "block_size": block}
    return d.finish(d.node("MatMulNBits", inputs, shape, domain=MICROSOFT, **sizes))


def sequence(d: Drawing, x: Value) -> Value | None:
    """Taken apart along an axis, and put together or one taken out."""
    axis = int(d.rng.integers(len(x.shape)))
    parts = d.node("SplitToSequence", [x.name, d.constant(np.array(1, np.int64))], (), axis=axis)
    if d.chance(0.5):
        return d.finish(d.node("ConcatFromSequence", [parts.name], x.shape, axis=axis), x)
    shape = tuple(1 if k == axis else s for k, s in enumerate(x.shape))
    return d.finish(d.node("SequenceAt", [parts.name, d.constant(np.array(0, np.int64))], shape), x)


WIDE: list[Draw] = [
    captured, captured, nested, nested, narrow_branch, narrow_branch, recurrent, attention, packed_weight, sequence,
]  # fmt: skip
