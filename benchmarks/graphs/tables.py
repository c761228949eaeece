"""Rows of tables as results of subgraphs, indices that are computed, shapes that only a run tells."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import NodeProto, TensorProto, helper

from graphs.drawing import Drawing, Value, f32
from graphs.forms import MICROSOFT
from graphs.ops import Draw
from graphs.products import scale_of
from graphs.rare_ops import condition

ROWS = 7


def indices(d: Drawing, x: Value) -> tuple[str, int]:
    """Rows of a table that a value selects, and how many: its largest elements' places, or a constant."""
    if d.chance(0.4):
        count = int(d.rng.integers(2, 5))
        return d.constant(d.rng.integers(0, ROWS, count)), count
    flat = d.node("Reshape", [x.name, d.ints(-1)], [int(np.prod(x.shape))])
    sizes = flat.shape[0]
    if sizes < 3:
        return d.constant(d.rng.integers(0, ROWS, 2)), 2
    value = d.node("TopK", [flat.name, d.ints(3)], (3,), outputs=2)
    node = d.steps[-1]
    assert isinstance(node, NodeProto)
    d.used.add(value.name)
    modulo = d.node("Mod", [node.output[1], d.constant(np.array(ROWS, np.int64))], (3,))
    return modulo.name, 3


def table(d: Drawing, width: int) -> tuple[str, list[NodeProto], str]:
    """A table: its name, the nodes that read it, and their result: floats, or 8 or 4 bits."""
    kind = d.pick(["float", "i8", "i8", "axis", "u8"])
    if kind == "float":
        name = d.constant(f32(d.rng.normal(size=(ROWS, width))))
        return name, [], name
    storage = np.uint8 if kind == "u8" else np.int8
    stored = d.constant(d.rng.integers(0, 120, (ROWS, width)).astype(storage), "w")
    scale = d.constant(scale_of(d, *((width,) if kind == "axis" else ())))
    zero = [d.constant(np.array(60, np.uint8))] if kind == "u8" else []
    out = d.name("table")
    node = helper.make_node("DequantizeLinear", [stored, scale, *zero], [out])
    if kind == "axis":
        node.attribute.append(helper.make_attribute("axis", 1))
    return stored, [node], out


def gathered_branch(d: Drawing, x: Value) -> Value | None:
    """An If, each of whose branches gives rows of a table of its own."""
    width, (rows, count) = int(d.rng.integers(2, 6)), indices(d, x)
    graphs = []
    for name in ("then", "else"):
        _, nodes, read = table(d, width)
        out = d.name(name)
        nodes.append(helper.make_node("Gather", [read, rows], [out]))
        info = helper.make_tensor_value_info(out, TensorProto.FLOAT, (count, width))
        graphs.append(helper.make_graph(nodes, name, [], [info]))
    d.used.add(rows)
    node = d.node("If", [condition(d)], (count, width), then_branch=graphs[0], else_branch=graphs[1])
    return d.finish(node)


def gathered_loop(d: Drawing, x: Value) -> Value | None:
    """A Loop that gives a row of a table in each round."""
    width, trips = int(d.rng.integers(2, 6)), int(d.rng.integers(2, 5))
    _, nodes, read = table(d, width)
    i, going, still, row = (d.name(stem) for stem in ("i", "going", "still", "row"))
    nodes += [
        helper.make_node("Identity", [going], [still]),
        helper.make_node("Gather", [read, i], [row]),
    ]
    body = helper.make_graph(
        nodes,
        d.name("body"),
        [
            helper.make_tensor_value_info(i, TensorProto.INT64, ()),
            helper.make_tensor_value_info(going, 9, ()),
        ],
        [helper.make_tensor_value_info(still, 9, ()), helper.make_tensor_value_info(row, 1, (width,))],
    )
    inputs = [d.constant(np.array(trips, np.int64)), d.constant(np.array(True))]
    return d.finish(d.node("Loop", inputs, (trips, width), body=body))


def gathered_product(d: Drawing, x: Value) -> Value | None:
    """Rows of a table, perhaps behind casts, times a weight: a layer of logits."""
    width, (rows, count) = int(d.rng.integers(3, 8)), indices(d, x)
    _, nodes, read = table(d, width)
    d.steps += nodes
    value = d.node("Gather", [read, rows], (count, width))
    value = d.cast(value) if d.chance(0.6) else value
    out = int(d.rng.integers(2, 6))
    stored = d.constant(d.rng.integers(-127, 128, (width, out)).astype(np.int8), "w")
    weight = d.node("DequantizeLinear", [stored, d.constant(scale_of(d))], (width, out))
    return d.finish(d.node(d.pick(["MatMul", "Gemm"]), [value.name, weight.name], (count, out)))


def gathered_blocks(d: Drawing, x: Value) -> Value | None:
    """com.microsoft's GatherBlockQuantized: rows of a table of 4 bits in blocks."""
    if d.opset < 21:
        return None
    (rows, count), width, block = indices(d, x), 32, 16
    kind = d.pick([ml_dtypes.int4, ml_dtypes.uint4])
    stored = d.constant(d.rng.integers(0, 8, (ROWS, width)).astype(kind), "w")
    inputs = [stored, rows, d.constant(scale_of(d, ROWS, width // block, low=0.05, high=0.2))]
    attributes = {"gather_axis": 0, "quantize_axis": 1, "block_size": block}
    value = d.node("GatherBlockQuantized", inputs, (count, width), domain=MICROSOFT, **attributes)
    return d.finish(value)


def run_time_reshape(d: Drawing, x: Value) -> Value | None:
    """A Reshape whose shape is computed from that of another value."""
    if not x.shape:
        return None
    shape = d.node("Shape", [x.name], (len(x.shape),))
    if d.chance(0.5):
        flat = d.node("Reshape", [x.name, d.ints(-1)], [int(np.prod(x.shape))])
        value = d.node(d.pick(["Relu", "Sigmoid", "Identity"]), [flat.name], flat.shape)
        return d.finish(d.node("Reshape", [d.finish(value, x).name, shape.name], x.shape), x)
    last = d.node("Gather", [shape.name, d.ints(-1)], (1,))
    target = d.node("Concat", [d.ints(-1), last.name], (2,), axis=0)
    rows = int(np.prod(x.shape[:-1]))
    return d.finish(d.node("Reshape", [x.name, target.name], (rows, x.shape[-1])), x)


TABLES: list[Draw] = [
    gathered_branch,
    gathered_loop,
    gathered_product,
    gathered_product,
    gathered_blocks,
    run_time_reshape,
]
