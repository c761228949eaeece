"""
More ops of random graphs: those that pick elements by index, mask or order, loops, and the kernels of com.microsoft
that `graphs.forms` does not have. Some ask for an opset; a draw that does not fit gives None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from graphs.drawing import STORAGES, Drawing, Mark, Value, f32
from graphs.forms import MICROSOFT, add_node, both, integer_weight, integers, narrow, quantized, real_of
from graphs.ops import Draw, partner


def plain(d: Drawing, mark: Mark) -> list[str]:
    """Scale and zero point as initializers: onnxruntime's QLinearWhere crashes where they are computed."""
    head = mark.head()
    return [d.constant(head.scale), d.constant(head.zero_point.astype(STORAGES[head.storage]))]


def compress(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    kept = d.rng.integers(0, 2, x.shape[axis]).astype(np.bool_)
    kept[int(d.rng.integers(kept.size))] = True
    shape = [int(kept.sum()) if k == axis else s for k, s in enumerate(x.shape)]
    return d.finish(d.node("Compress", [x.name, d.constant(kept)], shape, axis=axis), x)


def gather_nd(d: Drawing, x: Value) -> Value | None:
    depth = int(d.rng.integers(1, len(x.shape) + 1))
    rows = [d.rng.integers(-s, s, 4) for s in x.shape[:depth]]
    indices = np.stack(rows, axis=-1).reshape(2, 2, depth)
    if len(x.shape) - depth > 3:
        return None
    return d.finish(d.node("GatherND", [x.name, d.constant(indices)], [2, 2, *x.shape[depth:]]), x)


def scatter_nd(d: Drawing, x: Value) -> Value | None:
    """Rows of another value of this shape, each to a row of its own."""
    rows = d.rng.permutation(x.shape[0]).reshape(-1, 1)
    inputs = [x.name, d.constant(rows.astype(np.int64)), partner(d, x).name]
    return d.finish(d.node("ScatterND", inputs, x.shape), x)


def reverse_sequence(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 2:
        return None
    batch = int(d.rng.integers(2))
    lengths = d.rng.integers(1, x.shape[1 - batch] + 1, x.shape[batch])
    node = d.node(
        "ReverseSequence", [x.name, d.constant(lengths)], x.shape, batch_axis=batch, time_axis=1 - batch
    )
    return d.finish(node, x)


def trilu(d: Drawing, x: Value) -> Value | None:
    if d.opset < 14 or len(x.shape) < 2:
        return None
    inputs = [x.name, d.constant(np.array(d.pick([-1, 0, 1]), np.int64))]
    return d.finish(d.node("Trilu", inputs, x.shape, upper=int(d.chance(0.5))), x)


def center_crop_pad(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    size = x.shape[axis] + int(d.rng.integers(-1, 4))
    if d.opset < 18 or size < 1:
        return None
    shape = [size if k == axis else s for k, s in enumerate(x.shape)]
    return d.finish(d.node("CenterCropPad", [x.name, d.ints(size)], shape, axes=[axis]), x)


def dropout(d: Drawing, x: Value) -> Value | None:
    return d.finish(d.node("Dropout", [x.name, d.constant(f32(0.3))], x.shape), x)


def reduce_min(d: Drawing, x: Value) -> Value | None:
    axis, keep = int(d.rng.integers(len(x.shape))), int(d.chance(0.5)) if len(x.shape) > 1 else 1
    shape = [1 if k == axis else s for k, s in enumerate(x.shape) if keep or k != axis]
    if d.opset < 18:
        return d.finish(d.node("ReduceMin", [x.name], shape, axes=[axis], keepdims=keep), x)
    return d.finish(d.node("ReduceMin", [x.name, d.ints(axis)], shape, keepdims=keep), x)


def arg_extreme(d: Drawing, x: Value) -> Value | None:
    axis = d.pick([-1, int(d.rng.integers(len(x.shape)))])
    shape = [1 if k == axis % len(x.shape) else s for k, s in enumerate(x.shape)]
    places = d.node(d.pick(["ArgMax", "ArgMin"]), [x.name], shape, axis=axis)
    return d.finish(d.node("Cast", [places.name], shape, to=TensorProto.FLOAT))


def global_max_pool(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 3:
        return None
    return d.finish(d.node("GlobalMaxPool", [x.name], [*x.shape[:2], *(1 for _ in x.shape[2:])]), x)


def p_relu(d: Drawing, x: Value) -> Value | None:
    slope = f32(d.pick([0.0, 1.0, 0.2])) if d.chance(0.5) else f32(d.rng.uniform(0, 0.5, x.shape[-1]))
    return d.finish(d.node("PRelu", [x.name, d.constant(slope)], x.shape), x)


def comparison(d: Drawing, x: Value) -> Value | None:
    """Which of two values is chosen hangs on how they compare, or on a threshold."""
    other = partner(d, x)
    with_what = other.name if d.chance(0.5) else d.constant(f32(d.pick([0.0, 0.31])))
    op = d.pick(["Greater", "Less", "Equal", *(["GreaterOrEqual", "LessOrEqual"] if d.opset >= 16 else [])])
    truth = d.node(op, [x.name, with_what], x.shape)
    return d.finish(d.node("Where", [truth.name, x.name, other.name], x.shape), x)


def _step(d: Drawing, carried: str, outer: Value) -> NodeProto:
    """What a round does to a value: it selects from it, or computes."""
    op: str = d.pick(["Relu", "Clip", *(["Max"] if outer.shape else []), "LeakyRelu"])
    inputs = [carried]
    if op == "Clip":
        inputs += [d.constant(f32(-0.6)), d.constant(f32(0.8))]
    elif op == "Max":
        inputs += [outer.name]
        d.used.add(outer.name)
    attributes: dict[str, Any] = {"alpha": 0.2} if op == "LeakyRelu" else {}
    return helper.make_node(op, inputs, [d.name("round")], name=d.name(f"{op}_"), **attributes)


def _body(
    d: Drawing,
    nodes: Sequence[NodeProto],
    inputs: Sequence[tuple[str, int, Sequence[int]]],
    outputs: Sequence[tuple[str, int, Sequence[int]]],
) -> GraphProto:
    operands, results = ([helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs))
    return helper.make_graph(nodes, d.name("body"), operands, results)


def loop(d: Drawing, x: Value) -> Value | None:
    """Two or three rounds over a carried value; half of the time each round's value is an output too."""
    i, going, carried = d.name("i"), d.name("going"), d.name("carried")
    stacked = d.chance(0.5) and len(x.shape) < 5
    step = _step(d, carried, partner(d, x))
    still = helper.make_node("Identity", [going], [d.name("still")])
    each = helper.make_node("Identity", [step.output[0]], [d.name("each")])
    f, b = TensorProto.FLOAT, TensorProto.BOOL
    body = _body(
        d,
        [step, still, *([each] if stacked else [])],
        [(i, TensorProto.INT64, ()), (going, b, ()), (carried, f, x.shape)],
        [
            (still.output[0], b, ()),
            (step.output[0], f, x.shape),
            *([(each.output[0], f, x.shape)] if stacked else []),
        ],
    )
    trips = int(d.rng.integers(2, 4))
    inputs = [d.constant(np.array(trips, np.int64)), d.constant(np.array(True)), x.name]
    last = d.node("Loop", inputs, x.shape, outputs=2 if stacked else 1, body=body)
    if stacked:
        node = d.steps[-1]
        assert isinstance(node, NodeProto)
        d.finish(Value(node.output[1], (trips, *x.shape)), x)
    return d.finish(last, x)


def scan(d: Drawing, x: Value) -> Value | None:
    """Row by row."""
    if len(x.shape) < 2:
        return None
    row = d.name("row")
    step = _step(d, row, Value("", ()))
    f = TensorProto.FLOAT
    body = _body(d, [step], [(row, f, x.shape[1:])], [(step.output[0], f, x.shape[1:])])
    return d.finish(d.node("Scan", [x.name], x.shape, body=body, num_scan_inputs=1), x)


def qlinear_softmax(d: Drawing, x: Value) -> Value | None:
    mark = narrow(x)
    if mark is None:
        return None
    floats = [helper.make_node("Softmax", [x.name], [d.name("softmax")], axis=-1)]

    def build(names: list[str], stored: str) -> None:
        inputs = [integers(d, mark), *both(d, mark), *names]
        add_node(d, "QLinearSoftmax", inputs, stored, MICROSOFT, axis=-1, opset=d.opset)

    return quantized(d, floats, x.shape, mark.head().storage, build)


def qlinear_concat(d: Drawing, x: Value) -> Value | None:
    other = partner(d, x)
    a, b = narrow(x), narrow(other)
    if a is None or b is None or a.head().storage != b.head().storage:
        return None
    axis = int(d.rng.integers(len(x.shape)))
    floats = [helper.make_node("Concat", [x.name, other.name], [d.name("concat")], axis=axis)]

    def build(names: list[str], stored: str) -> None:
        inputs = [*names, integers(d, a), *both(d, a), integers(d, b), *both(d, b)]
        add_node(d, "QLinearConcat", inputs, stored, MICROSOFT, axis=axis)

    shape = [2 * s if k == axis else s for k, s in enumerate(x.shape)]
    return quantized(d, floats, shape, a.head().storage, build)


def qlinear_where(d: Drawing, x: Value) -> Value | None:
    other = partner(d, x)
    a, b = narrow(x), narrow(other)
    if a is None or b is None or a.head().storage != b.head().storage:
        return None
    condition = d.constant(d.rng.integers(0, 2, x.shape).astype(np.bool_))
    floats = [helper.make_node("Where", [condition, x.name, other.name], [d.name("where")])]

    def build(names: list[str], stored: str) -> None:
        inputs = [condition, integers(d, a), *plain(d, a), integers(d, b), *plain(d, b), *names]
        add_node(d, "QLinearWhere", inputs, stored, MICROSOFT)

    return quantized(d, floats, x.shape, a.head().storage, build)


def q_gemm(d: Drawing, x: Value) -> Value | None:
    mark = narrow(x)
    if mark is None or len(x.shape) != 2:
        return None
    k, out, turned = x.shape[1], int(d.rng.integers(1, 7)), d.chance(0.5)
    axis = (0 if turned else 1) if d.chance(0.5) else None
    shape = (out, k) if turned else (k, out)
    weight = integer_weight(d, d.rng.normal(size=shape) / np.sqrt(k), axis, "i8")
    real = [x.name, d.constant(real_of(weight, axis))]
    floats = [helper.make_node("Gemm", real, [d.name("gemm")], transB=int(turned))]

    def build(names: list[str], stored: str) -> None:
        w_names = [d.constant(weight[0], "w"), d.constant(weight[1]), d.constant(weight[2])]
        inputs = [integers(d, mark), *both(d, mark), *w_names, "", *names]
        add_node(d, "QGemm", inputs, stored, MICROSOFT, transB=int(turned))

    return quantized(d, floats, [x.shape[0], out], mark.head().storage, build)


MORE: list[Draw] = [
    compress, gather_nd, scatter_nd, reverse_sequence, trilu, center_crop_pad, dropout, reduce_min, arg_extreme,
    global_max_pool, p_relu, comparison, loop, scan, qlinear_softmax, qlinear_concat, qlinear_where, q_gemm,
]  # fmt: skip
