"""
The other forms of quantization in random graphs: QOperator nodes, layout on integers, integer products with a rescale,
dynamic quantization, blocked and 4-bit weights, subgraphs. Each is drawn in float and placed once the ranges are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from onnx import NodeProto, TensorProto, helper

from graphs.drawing import (
    STORAGES,
    Array,
    Drawing,
    Form,
    Mark,
    Value,
    disguised,
    f32,
    parameters_of,
)
from graphs.ops import Draw, partner

MICROSOFT = "com.microsoft"


def narrow(x: Value) -> Mark | None:
    """The pair that a value comes out of, if it is one of 8 bits for the whole tensor."""
    mark = x.mark
    return mark if mark is not None and mark.axis is None and mark.head().storage in ("u8", "i8") else None


def both(d: Drawing, mark: Mark) -> list[str]:
    """Scale and zero point of a placed mark, neither left out."""
    head = mark.head()
    return [disguised(d, head.scale), disguised(d, head.zero_point.astype(STORAGES[head.storage]))]


def integers(d: Drawing, mark: Mark) -> str:
    """The stored integers of a placed mark."""
    if mark.stored:
        return mark.stored
    stored = d.name("q")
    d.steps.append(
        helper.make_node("QuantizeLinear", [mark.result, *both(d, mark)], [stored], name=d.name("Q_"))
    )
    return stored


Build = Callable[[list[str], str], None]
"""Takes the names of scale and zero point, and of the integers to make."""


def quantized(d: Drawing, floats: list[NodeProto], shape: Sequence[int], storage: str, build: Build) -> Value:
    """A value that is made in integers by `build`, in the float run by `floats`."""
    source = floats[-1].output[0]
    mark = Mark(source, d.name("dq"), storage, d.chance(0.3), None, len(shape))

    def place() -> None:
        names, stored = both(d, mark), d.name("q")
        build(names, stored)
        mark.stored = stored
        node = helper.make_node("DequantizeLinear", [stored, *names], [mark.result], name=d.name("DQ_"))
        d.steps.append(node)

    for node in floats:
        d.used.update(node.input)
    d.steps.append(Form(floats, place, mark))
    value = Value(mark.result, tuple(shape), mark)
    d.values.append(value)
    return value


def add_node(
    d: Drawing, op: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any
) -> None:
    """A node with a name that is given."""
    d.steps.append(helper.make_node(op, inputs, [output], name=d.name(f"{op}_"), domain=domain, **attributes))


def integer_weight(d: Drawing, real: Array, axis: int | None, storage: str) -> tuple[Array, Array, Array]:
    """Stored integers, scale and zero point of a weight."""
    scale, zero = parameters_of(f32(real), storage, storage == "i8", axis)
    broad = tuple(slice(None) if k == axis else None for k in range(real.ndim)) if axis is not None else ()
    info = np.iinfo(STORAGES[storage])
    stored = np.clip(np.rint(real / scale[broad]) + zero[broad], info.min, info.max)
    return stored.astype(STORAGES[storage]), scale, zero.astype(STORAGES[storage])


def real_of(weight: tuple[Array, Array, Array], axis: int | None) -> Array:
    """What an integer weight stands for."""
    stored, scale, zero = weight
    broad = tuple(slice(None) if k == axis else None for k in range(stored.ndim)) if axis is not None else ()
    return f32((stored.astype(np.int32) - zero.astype(np.int32)[broad]) * scale[broad])


def qlinear_conv(d: Drawing, x: Value) -> Value | None:
    mark = narrow(x)
    if mark is None or len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    out, axis, storage = int(d.rng.integers(1, 7)), d.pick([0, None]), mark.head().storage
    weight = integer_weight(d, d.rng.normal(size=(out, c, 3, 2)) / np.sqrt(6 * c), axis, "i8")
    real, bias = real_of(weight, axis), f32(d.rng.normal(size=out) * 0.3)
    attributes: dict[str, Any] = {"pads": [1, 1, 1, 0], "strides": [1, 2]}
    floats = [
        helper.make_node("Conv", [x.name, d.constant(real), d.constant(bias)], [d.name("conv")], **attributes)
    ]
    with_bias = d.chance(0.6)

    def build(names: list[str], stored: str) -> None:
        w_names = [d.constant(weight[0], "w"), disguised(d, weight[1]), disguised(d, weight[2])]
        inputs = [integers(d, mark), *both(d, mark), *w_names, *names]
        if with_bias:
            steps = np.rint(bias / (mark.head().scale * weight[1])).astype(np.int32)
            inputs.append(d.constant(np.broadcast_to(steps, (out,)).copy(), "b"))
        add_node(d, "QLinearConv", inputs, stored, **attributes)

    if not with_bias:
        del floats[0].input[2]
    return quantized(d, floats, [n, out, h, (w - 1) // 2 + 1], storage, build)


def qlinear_mat_mul(d: Drawing, x: Value) -> Value | None:
    mark = narrow(x)
    if mark is None or len(x.shape) < 2:
        return None
    k, out, storage = x.shape[-1], int(d.rng.integers(1, 7)), mark.head().storage
    weight = integer_weight(d, d.rng.normal(size=(k, out)) / np.sqrt(k), None, "i8")
    floats = [helper.make_node("MatMul", [x.name, d.constant(real_of(weight, None))], [d.name("matmul")])]

    def build(names: list[str], stored: str) -> None:
        w_names = [d.constant(weight[0], "w"), disguised(d, weight[1]), disguised(d, weight[2])]
        add_node(d, "QLinearMatMul", [integers(d, mark), *both(d, mark), *w_names, *names], stored)

    return quantized(d, floats, [*x.shape[:-1], out], storage, build)


def qlinear_binary(d: Drawing, x: Value) -> Value | None:
    other = partner(d, x)
    a, b = narrow(x), narrow(other)
    if a is None or b is None or a.head().storage != b.head().storage:
        return None
    op = d.pick(["Add", "Mul"])
    floats = [helper.make_node(op, [x.name, other.name], [d.name("sum")])]

    def build(names: list[str], stored: str) -> None:
        inputs = [integers(d, a), *both(d, a), integers(d, b), *both(d, b), *names]
        add_node(d, f"QLinear{op}", inputs, stored, MICROSOFT)

    return quantized(d, floats, x.shape, a.head().storage, build)


def qlinear_unary(d: Drawing, x: Value) -> Value | None:
    mark = narrow(x)
    if mark is None:
        return None
    op: str = d.pick(["Sigmoid", "LeakyRelu", "GlobalAveragePool"])
    if op == "GlobalAveragePool" and len(x.shape) != 4:
        return None
    attributes: dict[str, Any] = {"alpha": 0.17} if op == "LeakyRelu" else {}
    more = {"channels_last": 0} if op == "GlobalAveragePool" else attributes
    shape = [*x.shape[:2], 1, 1] if op == "GlobalAveragePool" else x.shape
    floats = [helper.make_node(op, [x.name], [d.name(op.lower())], **attributes)]

    def build(names: list[str], stored: str) -> None:
        inputs = [integers(d, mark), *both(d, mark), *names]
        add_node(d, f"QLinear{op}", inputs, stored, MICROSOFT, **more)

    return quantized(d, floats, shape, mark.head().storage, build)


def integer_layout(d: Drawing, x: Value) -> Value | None:
    """A Transpose, Reshape or MaxPool of the stored integers."""
    mark = narrow(x)
    if mark is None:
        return None
    op: str = d.pick(["Transpose", "Reshape", "MaxPool"])
    inputs: list[str] = []
    attributes: dict[str, Any] = {}
    shape = list(x.shape)
    if op == "Transpose":
        attributes["perm"] = [int(p) for p in d.rng.permutation(len(shape))]
        shape = [shape[p] for p in attributes["perm"]]
    elif op == "Reshape":
        shape = [int(np.prod(shape[:-1])), shape[-1]]
        inputs = [d.ints(*shape)]
    elif len(shape) != 4 or min(shape[2:]) < 3:
        return None
    else:
        attributes |= {"kernel_shape": [2, 3], "pads": [1, 1, 0, 1], "strides": [1, 2]}
        shape = [*shape[:3], (shape[3] - 1) // 2 + 1]
    result = Mark(x.name, d.name("dq"), mark.head().storage, False, None, len(shape), mark)

    def place() -> None:
        result.stored = d.name("q")
        add_node(d, op, [integers(d, mark), *inputs], result.stored, **attributes)
        node = helper.make_node("DequantizeLinear", [result.stored, *both(d, mark)], [result.result])
        d.steps.append(node)

    d.used.add(x.name)
    d.steps.append(Form([helper.make_node(op, [x.name, *inputs], [result.result], **attributes)], place))
    value = Value(result.result, tuple(shape), result)
    d.values.append(value)
    return value


def integer_product(d: Drawing, x: Value) -> Value | None:
    """MatMulInteger or ConvInteger, Cast, Mul by the product of the scales, and perhaps a bias."""
    mark = narrow(x)
    is_conv = len(x.shape) == 4 and min(x.shape[2:]) >= 3 and d.chance(0.6)
    if mark is None or len(x.shape) < 2 or (is_conv and mark.head().storage != "u8"):
        return None
    out = int(d.rng.integers(1, 7))
    shape = (out, x.shape[1], 3, 2) if is_conv else (x.shape[-1], out)
    storage = "u8" if is_conv else d.pick(["u8", "i8"])
    weight = integer_weight(d, d.rng.normal(size=shape) / np.sqrt(np.prod(shape) / out), None, storage)
    attributes: dict[str, Any] = {"pads": [1, 1, 1, 0]} if is_conv else {}
    name, op = d.name("product"), "Conv" if is_conv else "MatMul"
    floats = [helper.make_node(op, [x.name, d.constant(real_of(weight, None))], [name], **attributes)]

    def place() -> None:
        zero = both(d, mark)[1]
        inputs = [integers(d, mark), d.constant(weight[0], "w"), zero, disguised(d, weight[2])]
        sums, floated = d.name("sum"), d.name("cast")
        add_node(d, f"{op}Integer", inputs, sums, **attributes)
        add_node(d, "Cast", [sums], floated, to=TensorProto.FLOAT)
        add_node(d, "Mul", [floated, disguised(d, f32(mark.head().scale * weight[1]))], name)

    d.used.add(x.name)
    d.steps.append(Form(floats, place))
    shape = (x.shape[0], out, x.shape[2], x.shape[3]) if is_conv else (*x.shape[:-1], out)
    value = Value(name, shape)
    if d.chance(0.4):
        bias = f32(d.rng.normal(size=(1, out, 1, 1) if is_conv else (out,)))
        value = d.node("Add", [value.name, d.constant(bias, "b")], value.shape)
    return d.finish(value)


def dynamic_product(d: Drawing, x: Value) -> Value | None:
    """Scales that are computed at run time stay so."""
    if len(x.shape) < 2:
        return None
    k, out = x.shape[-1], int(d.rng.integers(2, 7))
    weight = integer_weight(d, d.rng.normal(size=(k, out)) / np.sqrt(k), None, d.pick(["u8", "i8"]))
    q, scale, zero = d.name("q"), d.name("scale"), d.name("zero")
    d.used.add(x.name)
    d.steps.append(helper.make_node("DynamicQuantizeLinear", [x.name], [q, scale, zero]))
    shape = [*x.shape[:-1], out]
    product = d.node("MatMulInteger", [q, d.constant(weight[0]), zero, d.constant(weight[2])], shape)
    floated = d.node("Cast", [product.name], shape, to=TensorProto.FLOAT)
    factor = d.node("Mul", [scale, d.constant(weight[1])], ())
    return d.finish(d.node("Mul", [floated.name, factor.name], shape))


def blocked_weight(d: Drawing, x: Value) -> Value | None:
    """A product with a weight of 4 or 8 bits and a scale for each block or column; the casts want opset 21."""
    sizes = [b for b in range(2, x.shape[-1] + 1) if x.shape[-1] % b == 0]
    if d.opset < 21 or len(x.shape) < 2 or not sizes:
        return None
    k, out, block = x.shape[-1], int(d.rng.integers(2, 7)), d.pick(sizes)
    dtype, low, high = d.pick([(ml_dtypes.int4, -8, 7), (ml_dtypes.uint4, 0, 15), (np.int8, -128, 127)])
    real = d.rng.normal(size=(k // block, block, out)) / np.sqrt(k)
    scale = f32((real.max(axis=1) - real.min(axis=1)) / (high - low))
    zero = np.clip(np.rint(low - real.min(axis=1) / scale), low, high)
    stored = np.clip(np.rint(real / scale[:, None]) + zero[:, None], low, high).reshape(k, out)
    inputs = [d.constant(a) for a in (stored.astype(dtype), scale, zero.astype(dtype))]
    weight = d.node("DequantizeLinear", inputs, (k, out), axis=0, block_size=block)
    return d.finish(d.node("MatMul", [x.name, weight.name], [*x.shape[:-1], out]))


def branches(d: Drawing, x: Value) -> Value | None:
    """An If that takes one of two activations of an outer value; the condition is computed, and far from its edge."""
    source = d.inputs[0]
    largest = d.node("ReduceMax", [source.name], (), keepdims=0)
    less = d.node(d.pick(["Less", "Greater"]), [largest.name, d.constant(f32(-50.0))], ())
    graphs = [
        helper.make_graph(
            [helper.make_node(op, [x.name, *more], [d.name("branch")], name=d.name(f"{op}_"))], op, [], []
        )
        for op, more in (("Relu", []), ("Clip", [d.constant(f32(-0.5)), d.constant(f32(0.7))]))
    ]
    for graph in graphs:
        output = helper.make_tensor_value_info(graph.node[0].output[0], TensorProto.FLOAT, x.shape)
        graph.output.append(output)
    d.used.add(x.name)
    node = d.node("If", [less.name], x.shape, then_branch=graphs[0], else_branch=graphs[1])
    return d.finish(node, x)


def batch_norm(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 3:
        return None
    c = x.shape[1]
    gamma, beta, mean = (f32(d.rng.normal(size=c) * s) for s in (0.8, 0.3, 0.3))
    if d.chance(0.2):
        gamma[0] = d.pick([0.0, 5e-8, -5e-8, 1e4])
    names = [d.constant(v) for v in (gamma, beta, mean, f32(d.rng.uniform(0.3, 2.0, c)))]
    return d.finish(d.node("BatchNormalization", [x.name, *names], x.shape))


def resize(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4:
        return None
    scales = d.constant(f32([1, 1, 2, 2]))
    shape = [*x.shape[:2], x.shape[2] * 2, x.shape[3] * 2]
    modes: dict[str, Any] = {
        "mode": "nearest",
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    return d.finish(d.node("Resize", [x.name, "", scales], shape, **modes), x)


def top_k(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    if x.shape[axis] < 3:
        return None
    shape = [2 if k == axis else s for k, s in enumerate(x.shape)]
    return d.finish(d.node("TopK", [x.name, d.ints(2)], shape, outputs=2, axis=axis), x)


def gather_elements(d: Drawing, x: Value) -> Value | None:
    axis = int(d.rng.integers(len(x.shape)))
    indices = d.rng.integers(-x.shape[axis], x.shape[axis], x.shape)
    return d.finish(d.node("GatherElements", [x.name, d.constant(indices)], x.shape, axis=axis), x)


def scatter_elements(d: Drawing, x: Value) -> Value | None:
    axis, other = int(d.rng.integers(len(x.shape))), partner(d, x)
    order = np.argsort(d.rng.random(x.shape), axis=axis)  # no index twice
    inputs = [x.name, d.constant(order.astype(np.int64)), other.name]
    return d.finish(d.node("ScatterElements", inputs, x.shape, axis=axis), x)


def space_to_depth(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or x.shape[2] % 2 or x.shape[3] % 2:
        return None
    n, c, h, w = x.shape
    return d.finish(d.node("SpaceToDepth", [x.name], [n, 4 * c, h // 2, w // 2], blocksize=2), x)


FORMS: list[Draw] = [
    qlinear_conv, qlinear_conv, qlinear_mat_mul, qlinear_binary, qlinear_binary, qlinear_unary, integer_layout,
    integer_layout, integer_product, integer_product, dynamic_product, blocked_weight, blocked_weight, branches,
    batch_norm, batch_norm, resize, top_k, gather_elements, scatter_elements, space_to_depth,
]  # fmt: skip
