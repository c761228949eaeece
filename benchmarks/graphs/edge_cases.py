"""
What real files have and drawn graphs have not: opsets from before 13, tensors without elements, NaN and infinities in
the data, half precision, scales that are tiny, huge or of a channel that is dead, integers of 4 bits that are moved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ml_dtypes
import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphs.drawing import Array, Drawing, Value, f32
from graphs.forms import dynamic_product, integer_product, qlinear_conv, qlinear_mat_mul
from graphs.indexing_ops import q_gemm
from graphs.ops import (
    Draw,
    conv,
    conv_transpose,
    flatten,
    gemm,
    identity,
    mat_mul,
    product,
    relu,
    reshape,
    transpose,
)
from graphs.rare_ops import packed_weight, recurrent

# --- ops


def nothing(d: Drawing, x: Value) -> Value | None:
    """No rows of a value, and what a Concat with all of them is: as it was."""
    axis = int(d.rng.integers(len(x.shape)))
    shape = [0 if k == axis else s for k, s in enumerate(x.shape)]
    start = int(d.rng.integers(x.shape[axis] + 1))
    empty = d.node("Slice", [x.name, d.ints(start), d.ints(start), d.ints(axis)], shape)
    moved = d.node(d.pick(["Relu", "Sigmoid", "Identity"]), [d.finish(empty, x).name], shape)
    inputs = [x.name, moved.name] if d.chance(0.5) else [moved.name, x.name]
    return d.finish(d.node("Concat", inputs, x.shape, axis=axis), x)


def narrow_moves(d: Drawing, x: Value) -> Value | None:
    """4-bit integers that are moved, as such or in float between two pairs."""
    if d.opset < 21:
        return None
    scale = d.constant(f32(d.pick([0.25, 0.0625])))
    zero = d.constant(np.array(d.pick([0, 3]), d.pick([ml_dtypes.int4, ml_dtypes.uint4])))
    perm = [int(p) for p in d.rng.permutation(len(x.shape))]
    shape = [x.shape[p] for p in perm]
    stored = d.node("QuantizeLinear", [x.name, scale, zero], x.shape)
    if d.chance(0.4):
        moved = d.node("Transpose", [stored.name], shape, perm=perm)
        value = d.node("DequantizeLinear", [moved.name, scale, zero], shape)
    else:
        value = d.node("DequantizeLinear", [stored.name, scale, zero], x.shape)
        value = d.pick([transpose, reshape, flatten, identity, relu])(d, Value(value.name, x.shape))
        if value is None:
            return None
        again = d.node("QuantizeLinear", [value.name, scale, zero], value.shape)
        value = d.node("DequantizeLinear", [again.name, scale, zero], value.shape)
    d.values.append(value)
    return value


def dead_channels(d: Drawing, x: Value) -> Value | None:
    """A product whose weight has columns of nothing, at the scales that quantizers write for them."""
    if len(x.shape) < 2 or not x.shape[-1]:
        return None
    k, out = x.shape[-1], int(d.rng.integers(2, 6))
    stored = d.rng.integers(-127, 128, (k, out)).astype(np.int8)
    scale = f32(d.rng.uniform(0.004, 0.01, out) * d.pick([1.0, 1.0, 1e-9, 1e4]))
    for column in range(0, out, 2):
        stored[:, column] = 0
        scale[column] = d.pick([1.0, 1e-30, 1.1754944e-38, 2.0**-149, 1e5])
    per_axis = d.opset >= 13
    names = [
        d.constant(scale if per_axis else f32(scale[1])),
        d.constant(np.zeros((out,) if per_axis else (), np.int8)),
    ]
    attributes = {"axis": 1} if per_axis else {}
    weight = d.node("DequantizeLinear", [d.constant(stored, "w"), *names], (k, out), **attributes)
    if len(x.shape) == 2:
        bias = d.constant(f32(d.rng.normal(size=out) * scale.mean()), "b")
        return d.finish(d.node("Gemm", [x.name, weight.name, bias], [x.shape[0], out]))
    return d.finish(d.node("MatMul", [x.name, weight.name], [*x.shape[:-1], out]))


def scaled(d: Drawing, x: Value) -> Value | None:
    """Everything that follows is tiny or huge."""
    factor = d.pick([1e-12, 1e-6, 1e6, 1e12])
    return d.finish(d.node("Mul", [x.name, d.constant(f32(factor))], x.shape))


ROWS_ALONE: list[Draw] = [
    conv, conv_transpose, gemm, mat_mul, product, qlinear_conv, packed_weight, recurrent, integer_product,
    dynamic_product, qlinear_mat_mul, q_gemm,
]  # fmt: skip
"""What onnxruntime does not come back from if another size than the first is 0, or gives memory that nobody wrote."""
ODD: list[Draw] = [nothing, nothing, narrow_moves, narrow_moves, dead_channels, dead_channels, scaled]

# --- opsets


def _axes_as_attribute(node: NodeProto, constants: dict[str, Array], name: str = "axes") -> bool:
    """The second input as an attribute, where it is known; whether it was."""
    if len(node.input) > 1:
        if node.input[1] not in constants:
            return False
        node.attribute.append(helper.make_attribute(name, [int(v) for v in constants[node.input[1]]]))
        del node.input[1:]
    return True


def _pad(node: NodeProto, constants: dict[str, Array]) -> bool:
    value = node.input[2] if len(node.input) > 2 else ""
    if value and value not in constants:
        return False
    node.attribute.append(helper.make_attribute("value", float(constants[value]) if value else 0.0))
    del node.input[2:]
    return _axes_as_attribute(node, constants, "pads")


def _clip(node: NodeProto, constants: dict[str, Array]) -> bool:
    bounds = [*node.input[1:], "", ""][:2]
    if any(bound and bound not in constants for bound in bounds):
        return False
    for name, bound in zip(("min", "max"), bounds, strict=True):
        if bound:
            node.attribute.append(helper.make_attribute(name, float(constants[bound])))
    del node.input[1:]
    return True


def _slice(node: NodeProto, constants: dict[str, Array]) -> bool:
    if any(name not in constants for name in node.input[1:]) or (
        len(node.input) > 4 and constants[node.input[4]] != 1
    ):
        return False
    for name, source in zip(("starts", "ends", "axes"), node.input[1:4], strict=False):
        node.attribute.append(helper.make_attribute(name, [int(v) for v in constants[source]]))
    del node.input[1:]
    return True


def _dropout(node: NodeProto, constants: dict[str, Array]) -> bool:
    del node.input[1:]
    return True


Lower = Callable[[NodeProto, dict[str, Array]], bool]
LOWER: dict[int, dict[str, Lower]] = {
    13: {
        "Squeeze": _axes_as_attribute,
        "Unsqueeze": _axes_as_attribute,
        "ReduceSum": _axes_as_attribute,
        "Split": lambda node, constants: _axes_as_attribute(node, constants, "split"),
    },
    12: {"Dropout": _dropout},
    11: {"Pad": _pad, "Clip": _clip},
    10: {"Slice": _slice},
}
"""What an op was before an opset."""


def lowered(model: ModelProto, opset: int) -> ModelProto | None:
    """The model in an opset from 7 to 12; None where one of its ops was not yet, or its constants are not known."""
    older = ModelProto()
    older.CopyFrom(model)
    constants = {t.name: numpy_helper.to_array(t) for t in older.graph.initializer}
    for node in older.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            at = next((a for a in node.attribute if a.name == "axis"), None)
            scales = constants.get(node.input[1])
            if at is not None and scales is not None and not scales.ndim:
                node.attribute.remove(at)
            if opset < 13 and (at is not None or opset < 10):
                node.domain = "com.microsoft"
                if len(node.input) < 3:
                    return None
        for since, table in LOWER.items():
            if opset < since and node.op_type in table and not table[node.op_type](node, constants):
                return None
        if opset < 11 and node.op_type == "Unsqueeze" and min(node.attribute[0].ints) < 0:
            return None  # inference takes it for another shape
    taken = {name for node in older.graph.node for name in (*node.input, *_inside(node))}
    for tensor in [t for t in older.graph.initializer if t.name not in taken]:
        older.graph.initializer.remove(tensor)
    older.opset_import[0].version = opset
    older.ir_version = 6
    return older


def _inside(node: NodeProto) -> list[str]:
    """What subgraphs capture."""
    graphs = [a.g for a in node.attribute if a.type == AttributeProto.GRAPH]
    return [name for g in graphs for inner in g.node for name in (*inner.input, *_inside(inner))]


# --- types and data


def halved(model: ModelProto, dtype: int) -> ModelProto | None:
    """
    The model in half precision: every float tensor, type and Cast; None if a number does not fit. Its casts want
    opset 19.
    """
    half = ModelProto()
    half.CopyFrom(model)
    return half if _halve(half.graph, dtype) else None


def _halve(graph: GraphProto, dtype: int) -> bool:
    tensors = [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]
    for tensor in [t for t in tensors if t.data_type == TensorProto.FLOAT]:
        values = numpy_helper.to_array(tensor)
        with np.errstate(over="ignore"):
            half = values.astype(helper.tensor_dtype_to_np_dtype(dtype))
        if ((half == 0) != (values == 0)).any() or not np.isfinite(half.astype(np.float32)).all():
            return False
        tensor.CopyFrom(numpy_helper.from_array(half, tensor.name))
    for info in (*graph.input, *graph.output, *graph.value_info):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = dtype
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH and not _halve(attribute.g, dtype):
                return False
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = dtype
    return True


def not_finite(values: Array, rng: np.random.Generator, *, nan: bool) -> Array:
    """The data with infinities, or with NaN too, in some places."""
    odd = values.copy()
    flat = odd.reshape(-1)
    kinds = [np.inf, -np.inf, *([np.nan] if nan else [])]
    for kind in kinds:
        if flat.size:
            flat[rng.integers(flat.size)] = kind
    return odd


def odd_shapes(d: Drawing, shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The shapes of inputs, one size of each 0 in one graph of eight."""
    if not d.chance(0.12):
        return list(shapes)
    places = [int(d.rng.integers(len(shape))) for shape in shapes]
    return [
        tuple(0 if k == at else s for k, s in enumerate(shape))
        for at, shape in zip(places, shapes, strict=True)
    ]


Runs = Callable[[ModelProto, Mapping[str, Array]], bool]


def changed(
    d: Drawing, model: ModelProto, feeds: dict[str, Array], runs: Runs
) -> tuple[ModelProto, dict[str, Array], bool]:
    """
    The model in an older opset or in half precision, if it `runs` so, and data that are not all numbers; whether they
    are.
    """
    if d.opset == 13:
        older = (lowered(model, opset) for opset in range(int(d.rng.integers(7, 13)), 13))
        model = next((m for m in older if m is not None and runs(m, feeds)), model)
    elif d.opset == 21 and d.chance(0.5):
        dtype = d.pick([TensorProto.FLOAT16, TensorProto.FLOAT16, TensorProto.BFLOAT16])
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        half, halves = halved(model, dtype), {name: values.astype(kind) for name, values in feeds.items()}
        if half is not None and runs(half, halves):
            model, feeds = half, halves
    what = d.pick(["", "", "", "", "inf", "nan"])
    if what == "nan" and any(node.op_type == "Round" for node in model.graph.node):
        what = "inf"  # what an arithmetic quantizer makes of a NaN is not held, see docs/limits.md
    if what:
        feeds = {name: not_finite(values, d.rng, nan=what == "nan") for name, values in feeds.items()}
    return model, feeds, not what
