"""The ops of random graphs: each takes the drawing and a value, and gives a new one, or None if it does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import NodeProto

from graphs.drawing import Drawing, Value, bias, f32, weight

Draw = Callable[[Drawing, Value], "Value | None"]


def transpose(d: Drawing, x: Value) -> Value | None:
    perm = [int(p) for p in d.rng.permutation(len(x.shape))]
    return d.finish(d.node("Transpose", [x.name], [x.shape[p] for p in perm], perm=perm), x)


def reshape(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 2 or 0 in x.shape:  # a size of 0 would be written as that of the operand
        return None
    k = int(d.rng.integers(len(x.shape) - 1))
    shape = [*x.shape[:k], x.shape[k] * x.shape[k + 1], *x.shape[k + 2 :]]
    wanted = shape.copy()
    if d.chance(0.5):
        wanted[int(d.rng.integers(len(wanted)))] = -1
    return d.finish(d.node("Reshape", [x.name, d.ints(*wanted)], shape), x)


def flatten(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape) + 1))
    head, tail = int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))
    written = axis - len(x.shape) if axis < len(x.shape) and d.chance(0.3) else axis
    return d.finish(d.node("Flatten", [x.name], [head, tail], axis=written), x)


def unsqueeze(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) > 4:
        return None
    axis = int(d.rng.integers(len(x.shape) + 1))
    shape = [*x.shape[:axis], 1, *x.shape[axis:]]
    written = axis - len(shape) if d.chance(0.4) else axis
    return d.finish(d.node("Unsqueeze", [x.name, d.ints(written)], shape), x)


def squeeze(d: Drawing, x: Value) -> Value | None:
    ones = [k for k, s in enumerate(x.shape) if s == 1]
    if not ones or len(x.shape) == 1:
        return None
    axis = d.pick(ones)
    shape = [s for k, s in enumerate(x.shape) if k != axis]
    return d.finish(
        d.node("Squeeze", [x.name, d.ints(axis - len(x.shape) if d.chance(0.4) else axis)], shape), x
    )


def slice_(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    size = x.shape[axis]
    if size < 3:
        return None
    step = d.pick([1, 1, 2, -1])
    start, end = (1, size) if step > 0 else (size - 1, -size - 1)
    left = len(range(size)[slice(start, None if step < 0 else end, step)])
    written = axis - len(x.shape) if d.chance(0.4) else axis
    shape = [*x.shape[:axis], left, *x.shape[axis + 1 :]]
    inputs = [x.name, d.ints(start), d.ints(end), d.ints(written), d.ints(step)]
    return d.finish(d.node("Slice", inputs, shape), x)


def split(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    size = x.shape[axis]
    if size < 3:
        return None
    sizes = [1, size - 1]
    first = d.node("Split", [x.name, d.ints(*sizes)], [], outputs=2, axis=axis)
    node = d.steps[-1]
    assert isinstance(node, NodeProto)
    parts = [
        Value(n, (*x.shape[:axis], s, *x.shape[axis + 1 :])) for n, s in zip(node.output, sizes, strict=True)
    ]
    d.used.add(first.name)
    return [d.finish(part, x) for part in parts][1]


def concat(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    fitting = [
        v
        for v in d.values
        if len(v.shape) == len(x.shape)
        and all(a == b for k, (a, b) in enumerate(zip(v.shape, x.shape, strict=True)) if k != axis)
    ]
    other = d.pick(fitting)
    shape = [*x.shape[:axis], x.shape[axis] + other.shape[axis], *x.shape[axis + 1 :]]
    written = axis - len(x.shape) if d.chance(0.4) else axis
    return d.finish(d.node("Concat", [x.name, other.name], shape, axis=written), x)


def gather(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    picked = d.rng.integers(-x.shape[axis], x.shape[axis], d.pick([(3,), (2, 2), ()]))
    shape = [*x.shape[:axis], *picked.shape, *x.shape[axis + 1 :]]
    if not shape or len(shape) > 5:
        return None
    indices = d.constant(np.asarray(picked, np.int64))
    return d.finish(d.node("Gather", [x.name, indices], shape, axis=axis), x)


def pad(d: Drawing, x: Value) -> Value | None:
    before, after = d.rng.integers(0, 2, len(x.shape)), d.rng.integers(0, 3, len(x.shape))
    inputs = [x.name, d.ints(*map(int, before), *map(int, after))]
    mode = d.pick(["constant", "constant", "constant", "edge"])
    if mode == "constant" and d.chance(0.6):
        inputs.append(d.constant(f32(d.pick([0.0, 0.0, 0.37, -1.0]))))
    shape = [int(s + b + a) for s, b, a in zip(x.shape, before, after, strict=True)]
    return d.finish(d.node("Pad", inputs, shape, mode=mode), x)


def expand(d: Drawing, x: Value) -> Value | None:
    shape = [3 if s == 1 and d.chance(0.7) else s for s in x.shape]
    shape = [2, *shape] if len(shape) < 4 and d.chance(0.4) else shape
    return d.finish(d.node("Expand", [x.name, d.ints(*shape)], shape), x)


def tile(d: Drawing, x: Value) -> Value | None:
    times = [int(t) for t in d.rng.integers(1, 3, len(x.shape))]
    shape = [s * t for s, t in zip(x.shape, times, strict=True)]
    return d.finish(d.node("Tile", [x.name, d.ints(*times)], shape), x)


def identity(d: Drawing, x: Value) -> Value | None:
    return d.finish(d.node("Identity", [x.name], x.shape), x)


def depth_to_space(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or x.shape[1] % 4:
        return None
    n, c, h, w = x.shape
    mode = d.pick(["DCR", "CRD"])
    return d.finish(d.node("DepthToSpace", [x.name], [n, c // 4, 2 * h, 2 * w], blocksize=2, mode=mode), x)


def max_pool(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    padded = int(d.chance(0.4))
    op = d.pick(["MaxPool", "AveragePool"])
    attributes: dict[str, Any] = {"kernel_shape": [2, 3], "strides": [1, 2], "pads": [padded, 1, 0, padded]}
    if op == "AveragePool" and d.chance(0.5):
        attributes["count_include_pad"] = 1
    columns = (w + 1 + padded - 3) // 2 + 1
    if d.chance(0.4):
        attributes["ceil_mode"] = 1
        columns = -(-(w + 1 + padded - 3) // 2) + 1
        columns -= (columns - 1) * 2 >= w + 1  # a window starts before the padding behind
    shape = [n, c, h + padded - 1, columns]
    return d.finish(d.node(op, [x.name], shape, **attributes), x if op == "MaxPool" else None)


def relu(d: Drawing, x: Value) -> Value | None:
    return d.finish(d.node("Relu", [x.name], x.shape), x)


def clip(d: Drawing, x: Value) -> Value | None:
    low, high = d.pick([(0.0, 6.0), (-1.0, 1.0), (0.0, None), (None, 0.7)])
    names = ["" if b is None else d.constant(f32(b)) for b in (low, high)]
    return d.finish(d.node("Clip", [x.name, *names], x.shape), x)


def partner(d: Drawing, x: Value) -> Value:
    """A value of the same shape: another one, or itself."""
    return d.pick([v for v in d.values if v.shape == x.shape])


def extreme(d: Drawing, x: Value) -> Value | None:
    return d.finish(d.node(d.pick(["Max", "Min"]), [x.name, partner(d, x).name], x.shape), x)


def reduce_max(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 2:
        return None
    axis = int(d.rng.integers(len(x.shape)))
    shape = [1 if k == axis else s for k, s in enumerate(x.shape)]
    if d.opset >= 18:
        return d.finish(d.node("ReduceMax", [x.name, d.ints(axis)], shape), x)
    return d.finish(d.node("ReduceMax", [x.name], shape, axes=[axis]), x)


def where(d: Drawing, x: Value) -> Value | None:
    condition = d.constant(d.rng.integers(0, 2, x.shape).astype(np.bool_))
    return d.finish(d.node("Where", [condition, x.name, partner(d, x).name], x.shape), x)


def binary(d: Drawing, x: Value) -> Value | None:
    other = partner(d, x).name
    if d.chance(0.35):
        shape = x.shape if d.chance(0.5) else x.shape[-1:]
        other = (
            weight(d, d.rng.normal(size=shape), None)
            if d.chance(0.7)
            else d.constant(f32(d.rng.normal(size=shape)))
        )
    inputs = [x.name, other] if d.chance(0.7) else [other, x.name]
    op = d.pick(["Add", "Add", "Mul", "Sub"])
    if op == "Sub" and other in {v.name for v in d.values}:
        op = "Add"  # what nearly cancels out says nothing about noise
    return d.finish(d.node(op, inputs, x.shape))


def unary(d: Drawing, x: Value) -> Value | None:
    op = d.pick(["Sigmoid", "LeakyRelu", "Softmax", "Tanh", "HardSigmoid"])
    attributes: dict[str, Any] = {
        "Softmax": {"axis": d.pick([-1, len(x.shape) - 1])},
        "LeakyRelu": {"alpha": 0.17},
    }.get(op, {})
    return d.finish(d.node(op, [x.name], x.shape, **attributes))


def global_pool(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4:
        return None
    return d.finish(d.node("GlobalAveragePool", [x.name], [*x.shape[:2], 1, 1]))


def conv(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    group = c if d.chance(0.2) else 1
    out = c * 2 if group > 1 else int(d.rng.integers(2, 9))
    shape = (out, c // group, 3, 2)
    real = d.rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
    if d.chance(0.15):  # a channel that pruning left nothing of, or next to nothing
        real[0] *= d.pick([0.0, 1e-7])
    kernel = weight(d, real, 0 if d.chance(0.6) else None)
    inputs = [x.name, kernel, *bias(d, x, out)]
    value = d.node(
        "Conv", inputs, [n, out, h, (w - 1) // 2 + 1], group=group, pads=[1, 1, 1, 0], strides=[1, 2]
    )
    if d.chance(0.4):
        value = d.node("Relu", [value.name], value.shape)
    return d.finish(value)


def conv_transpose(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or x.shape[2] * x.shape[3] > 80:
        return None
    n, c, h, w = x.shape
    real = d.rng.normal(size=(c, 3, 2, 2)) / np.sqrt(c)
    kernel = weight(d, real, 1 if d.chance(0.5) else None)
    inputs = [x.name, kernel, *bias(d, x, 3)]
    return d.finish(d.node("ConvTranspose", inputs, [n, 3, 2 * h, 2 * w], strides=[2, 2]))


def mat_mul(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 2:
        return None
    k, out = x.shape[-1], int(d.rng.integers(2, 9))
    kernel = weight(d, d.rng.normal(size=(k, out)) / np.sqrt(k), 1 if d.chance(0.5) else None)
    value = d.node("MatMul", [x.name, kernel], [*x.shape[:-1], out])
    if d.chance(0.3):
        value = d.node("Add", [value.name, d.constant(f32(d.rng.normal(size=out)), "b")], value.shape)
    return d.finish(value)


def product(d: Drawing, x: Value) -> Value | None:
    fits = [v for v in d.values if len(v.shape) == len(x.shape) and v.shape[:-2] == x.shape[:-2]]
    fits = [v for v in fits if len(v.shape) > 1 and v.shape[-2] == x.shape[-1]]
    if not fits:
        return None
    other = d.pick(fits)
    return d.finish(d.node("MatMul", [x.name, other.name], [*x.shape[:-1], other.shape[-1]]))


def gemm(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 2:
        return None
    k, out = x.shape[1], int(d.rng.integers(2, 9))
    turned = int(d.chance(0.5))
    real = d.rng.normal(size=(out, k) if turned else (k, out)) / np.sqrt(k)
    kernel = weight(d, real, (0 if turned else 1) if d.chance(0.5) else None)
    attributes: dict[str, Any] = {"transB": turned}
    if d.chance(0.2):
        attributes["alpha"] = 0.5
    if d.chance(0.1):
        attributes["beta"] = 0.5
    return d.finish(d.node("Gemm", [x.name, kernel, *bias(d, x, out)], [x.shape[0], out], **attributes))


OPS: list[Draw] = [
    transpose, reshape, flatten, unsqueeze, squeeze, slice_, split, concat, gather, pad, expand, tile, identity,
    depth_to_space, max_pool, max_pool, relu, relu, clip, extreme, reduce_max, where, binary, binary, binary, unary,
    unary, global_pool, conv, conv, conv, conv_transpose, mat_mul, mat_mul, product, gemm, gemm,
]  # fmt: skip
