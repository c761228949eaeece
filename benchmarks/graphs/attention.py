"""
Attention as exporters spell it: with heads, masks, rotary positions; as one op of ONNX or of com.microsoft, with a
past.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import NodeProto

from graphs.drawing import Drawing, Value, f32, weight
from graphs.forms import MICROSOFT
from graphs.ops import Draw

HEADS = 2


def rows_of(d: Drawing, x: Value, width: int) -> Value | None:
    """A value as [batch, rows, width], by a product with a quantized weight."""
    if len(x.shape) < 2 or int(np.prod(x.shape)) > 800:
        return None
    rows = x
    if len(x.shape) != 3:
        shape = [1, int(np.prod(x.shape[:-1])), x.shape[-1]]
        rows = d.node("Reshape", [x.name, d.ints(*shape)], shape)
    return projected(d, rows, width)


def projected(d: Drawing, x: Value, width: int) -> Value:
    """A product with a quantized weight, perhaps with a bias and casts behind."""
    k = x.shape[-1]
    name = weight(d, d.rng.normal(size=(k, width)) / np.sqrt(k), d.pick([None, 1]))
    value = d.node("MatMul", [x.name, name], [*x.shape[:-1], width])
    if d.chance(0.5):
        value = d.node("Add", [value.name, d.constant(f32(d.rng.normal(size=width) * 0.2))], value.shape)
    return d.cast(value) if d.chance(0.6) else value


def in_heads(d: Drawing, x: Value, heads: int, size: int) -> Value:
    """[batch, rows, heads * size] as [batch, heads, rows, size]."""
    b, s, _ = x.shape
    apart = d.node(
        "Reshape", [x.name, d.ints(*d.pick([(b, s, heads, size), (0, 0, heads, size)]))], [b, s, heads, size]
    )
    return d.node("Transpose", [apart.name], [b, heads, s, size], perm=[0, 2, 1, 3])


def rotated(d: Drawing, x: Value) -> Value:
    """Rotary positions: x * cos + half-turned x * sin."""
    *outer, s, size = x.shape
    half = size // 2
    parts = [
        d.node("Slice", [x.name, d.ints(a), d.ints(b), d.ints(-1)], [*outer, s, half])
        for a, b in ((0, half), (half, size))
    ]
    negated = d.node("Neg", [parts[1].name], parts[1].shape)
    turned = d.node("Concat", [negated.name, parts[0].name], x.shape, axis=-1)
    angles = np.outer(np.arange(s), 10.0 ** -np.arange(half))
    cos, sin = (d.constant(f32(np.tile(f(angles), 2))) for f in (np.cos, np.sin))
    first = d.node("Mul", [x.name, cos], x.shape)
    second = d.node("Mul", [turned.name, sin], x.shape)
    return d.node("Add", [first.name, second.name], x.shape)


def heads(d: Drawing, x: Value) -> Value | None:
    """Attention of several heads, by Reshape, Transpose, MatMul, Softmax, MatMul."""
    size = d.pick([2, 4])
    q = rows_of(d, x, HEADS * size)
    if q is None:
        return None
    b, s, width = q.shape
    k, v = ((projected(d, x, width) if len(x.shape) == 3 else projected(d, q, width)) for _ in range(2))
    q, k, v = (in_heads(d, one, HEADS, size) for one in (q, k, v))
    if d.chance(0.3):
        q, k = rotated(d, q), rotated(d, k)
    if d.chance(0.3):
        q = d.node("Mul", [q.name, d.constant(f32(size**-0.5))], q.shape)
    turned = d.node("Transpose", [k.name], [b, HEADS, size, s], perm=[0, 1, 3, 2])
    scores = d.node("MatMul", [q.name, turned.name], [b, HEADS, s, s])
    if d.chance(0.6):
        op, factor = d.pick([("Mul", size**-0.5), ("Div", size**0.5)])
        scores = d.node(op, [scores.name, d.constant(f32(factor))], scores.shape)
    scores = masked(d, scores)
    weights = d.node("Softmax", [scores.name], scores.shape, axis=d.pick([-1, 3]))
    weights = d.cast(weights) if d.chance(0.5) else weights
    mixed = d.node("MatMul", [weights.name, v.name], [b, HEADS, s, size])
    back = d.node("Transpose", [mixed.name], [b, s, HEADS, size], perm=[0, 2, 1, 3])
    joined = d.node("Reshape", [back.name, d.ints(b, s, width)], [b, s, width])
    return d.finish(projected(d, joined, width) if d.chance(0.6) else joined)


def masked(d: Drawing, scores: Value) -> Value:
    """Scores with a mask: added, or by Where; causal, or of keys."""
    s = scores.shape[-1]
    visible = np.tril(np.ones((s, s), np.bool_)) if d.chance(0.5) else d.rng.random((1, s)) < 0.7
    visible[..., 0] = True
    least = d.pick([-1e4, -3.4028235e38, -np.inf])
    match d.pick(["none", "add", "where", "where"]):
        case "add":
            mask = d.constant(f32(np.where(visible, 0, least)))
            return d.node("Add", [scores.name, mask], scores.shape)
        case "where":
            inputs = [d.constant(visible), scores.name, d.constant(f32(least))]
            return d.node("Where", inputs, scores.shape)
        case _:
            return scores


def past_of(d: Drawing, *shape: int) -> str:
    """A cache: an input of the graph, or a constant."""
    if d.chance(0.3):
        return d.constant(f32(d.rng.normal(size=shape)))
    value = Value(d.name("past"), shape)
    d.inputs.append(value)
    d.used.add(value.name)
    return value.name


def attention_op(d: Drawing, x: Value) -> Value | None:
    """Attention of ONNX 23 and later, with a past, a mask, `present` outputs that are used or not."""
    if d.opset < 23:
        return None
    size = d.pick([2, 4, 8])
    q = rows_of(d, x, HEADS * size)
    if q is None:
        return None
    b, s, width = q.shape
    k, v = projected(d, q, width), projected(d, q, width)
    past = int(d.chance(0.6)) * 3
    inputs = [q.name, k.name, v.name, ""]
    if d.chance(0.3):
        inputs[3] = d.constant(f32(d.rng.normal(size=(s, s + past))))
    if past:
        inputs += [past_of(d, b, HEADS, past, size), past_of(d, b, HEADS, past, size)]
    attributes: dict[str, Any] = {"q_num_heads": HEADS, "kv_num_heads": HEADS}
    if d.chance(0.3):
        attributes["is_causal"] = 1
    shape = [b, HEADS, s + past, size]
    return d.finish(with_present(d, "Attention", inputs, q.shape, shape, "", past, attributes))


def with_present(
    d: Drawing,
    op: str,
    inputs: list[str],
    shape: tuple[int, ...],
    present: list[int],
    domain: str,
    past: int,
    attributes: dict[str, Any],
) -> Value:
    """An attention op, its `present` outputs not asked for, not used, or used."""
    while inputs and not inputs[-1]:
        inputs.pop()
    outputs = 3 if past or d.chance(0.2) else 1
    value = d.node(op, inputs, shape, outputs=outputs, domain=domain, **attributes)
    if outputs == 3 and d.chance(0.4):
        node = d.steps[-1]
        assert isinstance(node, NodeProto)
        d.values.append(d.cast(Value(node.output[1], tuple(present))))
    return value


def multi_head(d: Drawing, x: Value) -> Value | None:
    """com.microsoft's MultiHeadAttention and GroupQueryAttention."""
    size = d.pick([8, 16])
    q = rows_of(d, x, HEADS * size)
    if q is None:
        return None
    b, s, width = q.shape
    k, v = projected(d, q, width), projected(d, q, width)
    if d.chance(0.5):
        past = int(d.chance(0.6)) * 3
        inputs = [q.name, k.name, v.name, "", "", ""]
        if past:
            inputs += [past_of(d, b, HEADS, past, size), past_of(d, b, HEADS, past, size)]
        present = [b, HEADS, s + past, size]
        op, attributes = "MultiHeadAttention", {"num_heads": HEADS}
    else:
        past = 1 if s == 1 else 0
        inputs = [q.name, k.name, v.name]
        inputs += [past_of(d, b, HEADS, past, size), past_of(d, b, HEADS, past, size)] if past else ["", ""]
        inputs.append(d.constant(np.full(b, s + past - 1, np.int32)))
        inputs.append(d.constant(np.array(s + past, np.int32)))
        present = [b, HEADS, s + past, size]
        op, attributes = "GroupQueryAttention", {"num_heads": HEADS, "kv_num_heads": HEADS}
        value = d.node(op, inputs, q.shape, outputs=3, domain=MICROSOFT, **attributes)
        return d.finish(value)
    return d.finish(with_present(d, op, inputs, q.shape, present, MICROSOFT, past, attributes))


def packed_attention(d: Drawing, x: Value) -> Value | None:
    """com.microsoft's Attention and QAttention: one weight for query, key and value."""
    size = d.pick([4, 8])
    rows = rows_of(d, x, HEADS * size)
    if rows is None:
        return None
    b, _, width = rows.shape
    added = d.constant(f32(d.rng.normal(size=3 * width) * 0.2))
    past = past_of(d, 2, b, HEADS, 3, size) if d.chance(0.5) else ""
    attributes: dict[str, Any] = {"num_heads": HEADS, "unidirectional": int(d.chance(0.5))}
    if d.chance(0.5):
        real = d.constant(f32(d.rng.normal(size=(width, 3 * width)) / np.sqrt(width)))
        inputs, op = [rows.name, real, added, "", past], "Attention"
    else:
        stored = d.constant(d.rng.integers(0, 256, (width, 3 * width)).astype(np.uint8), "w")
        scale, zero = d.constant(f32(0.03)), d.constant(np.array(128, np.uint8))
        w_scale = d.constant(f32(0.01))
        q = d.node("QuantizeLinear", [rows.name, scale, zero], rows.shape)
        inputs, op = [q.name, stored, added, scale, w_scale, "", zero, zero, past], "QAttention"
    while not inputs[-1]:
        inputs.pop()
    value = d.node(op, inputs, rows.shape, outputs=2 if past else 1, domain=MICROSOFT, **attributes)
    return d.finish(value)


def layer_norm(d: Drawing, x: Value) -> Value | None:
    """Normalizations along the last axis, in one op or in many."""
    size = x.shape[-1]
    if size < 2:
        return None
    gamma, beta = (
        d.constant(f32(d.rng.uniform(0.7, 1.3, size))),
        d.constant(f32(d.rng.normal(size=size) * 0.2)),
    )
    if d.opset >= 17 and d.chance(0.4):
        return d.finish(d.node("LayerNormalization", [x.name, gamma, beta], x.shape, axis=-1, epsilon=1e-3))
    if d.opset >= 23 and d.chance(0.5):
        return d.finish(d.node("RMSNormalization", [x.name, gamma], x.shape, axis=-1, epsilon=1e-3))
    short = [*x.shape[:-1], 1]

    def mean(of: Value) -> Value:
        if d.opset >= 18:
            return d.node("ReduceMean", [of.name, d.ints(-1)], short)
        return d.node("ReduceMean", [of.name], short, axes=[-1])

    centred = d.node("Sub", [x.name, mean(x).name], x.shape)
    squared = d.node("Mul", [centred.name, centred.name], x.shape)
    variance = d.node("Add", [mean(squared).name, d.constant(f32(1e-3))], short)
    root = d.node("Sqrt", [variance.name], short)
    value = d.node("Div", [centred.name, root.name], x.shape)
    value = d.node("Mul", [value.name, gamma], x.shape)
    return d.finish(d.node("Add", [value.name, beta], x.shape))


def gelu(d: Drawing, x: Value) -> Value | None:
    """Gelu, QuickGelu and Silu, in ops or in one."""
    match d.pick(["quick", "erf", "silu", "one"]):
        case "quick":
            scaled = d.node("Mul", [x.name, d.constant(f32(1.702))], x.shape)
            gate = d.node("Sigmoid", [scaled.name], x.shape)
            return d.finish(d.node("Mul", [x.name, gate.name], x.shape))
        case "silu":
            return d.finish(d.node("Mul", [x.name, d.node("Sigmoid", [x.name], x.shape).name], x.shape))
        case "erf":
            root = d.node("Div", [x.name, d.constant(f32(2**0.5))], x.shape)
            more = d.node("Add", [d.node("Erf", [root.name], x.shape).name, d.constant(f32(1))], x.shape)
            value = d.node("Mul", [x.name, more.name], x.shape)
            return d.finish(d.node("Mul", [value.name, d.constant(f32(0.5))], x.shape))
        case _:
            if d.opset < 20:
                return None
            return d.finish(d.node("Gelu", [x.name], x.shape))


ATTENTION: list[Draw] = [
    heads, heads, heads, attention_op, attention_op, multi_head, multi_head, packed_attention, layer_norm, gelu,
]  # fmt: skip
