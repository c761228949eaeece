"""
What is done to a finished graph: scales that are no scales, constants made of sizes, shapes that only a run tells,
sizes that outputs state, ops that nobody knows, initializers that are inputs too, types and opsets that are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphs.drawing import Array, f32
from graphs.edge_cases import halved, lowered, not_finite
from qdialect.evaluation.session import run

T = TypeVar("T")
Random = np.random.Generator
DOMAIN = "unknown.domain"
"""Of ops that the compiler is not told of."""


@dataclass(frozen=True)
class Changed:
    """A model and its inputs."""

    model: ModelProto
    feeds: dict[str, Array]
    functions: tuple[FunctionProto, ...] = ()
    """What its unknown ops compute, for the runs alone."""
    notes: tuple[str, ...] = field(default=())
    """What was done."""


Change = Callable[[Random, Changed], "Changed | None"]
"""Gives another model, which may not run, or None if it does not fit."""


def copy_of(model: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(model)
    return copy


def opset_of(model: ModelProto) -> int:
    return next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))


def picked(rng: Random, choices: list[T]) -> T:
    return choices[int(rng.integers(len(choices)))]


# --- scales


def _scales(model: ModelProto) -> Iterator[tuple[NodeProto, str]]:
    """The constant scales of casts and of kernels that have them as inputs."""
    floats = {t.name for t in model.graph.initializer if t.data_type in (1, 10)}
    for node in model.graph.node:
        places = ()
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            places = (1,)
        elif node.op_type.startswith(("QLinear", "QGemm")):
            places = tuple(range(len(node.input)))
        for k in places:
            if k < len(node.input) and node.input[k] in floats:
                yield node, node.input[k]


def odd_scales(rng: Random, before: Changed) -> Changed | None:
    """One or two scales, or channels or blocks of them, that are zero, negative, denormal, huge or not finite."""
    model = copy_of(before.model)
    names = sorted({name for _, name in _scales(model)})
    if not names:
        return None
    notes: list[str] = []
    for _ in range(int(rng.integers(1, 3))):
        name = picked(rng, names)
        tensor = next(t for t in model.graph.initializer if t.name == name)
        values = numpy_helper.to_array(tensor).copy()
        what = rng.choice(
            ["zero", "negative", "denormal", "tiny", "huge", "inf", "nan"],
            p=[0.33, 0.3, 0.12, 0.08, 0.07, 0.06, 0.04],
        )
        flat = values.reshape(-1)
        if not flat.size:
            continue
        at = slice(None) if rng.random() < 0.3 or flat.size == 1 else int(rng.integers(flat.size))
        with np.errstate(over="ignore", under="ignore"):
            if what == "negative":
                flat[at] = -flat[at]
            else:
                odd = {
                    "zero": 0.0,
                    "denormal": 1e-42,
                    "tiny": 1e-37,
                    "huge": 1e35,
                    "inf": np.inf,
                    "nan": np.nan,
                }
                flat[at] = odd[what]
        tensor.CopyFrom(numpy_helper.from_array(values, name))
        notes.append(f"{what} scale {name}")
    return Changed(model, before.feeds, before.functions, (*before.notes, *notes))


# --- constants


def _floats(model: ModelProto) -> list[TensorProto]:
    return [t for t in model.graph.initializer if t.data_type == TensorProto.FLOAT]


def made_of_sizes(rng: Random, before: Changed) -> Changed | None:
    """Constants that are computed from types and sizes of others: Shape, ConstantOfShape, Expand, CastLike, Range."""
    model, opset = copy_of(before.model), opset_of(before.model)
    tensors = _floats(model)
    if not tensors or not model.graph.input:
        return None
    floats = [i.name for i in model.graph.input if i.type.tensor_type.elem_type == TensorProto.FLOAT]
    notes: list[str] = []
    for _ in range(int(rng.integers(1, 3))):
        tensor = picked(rng, tensors)
        name, inner = tensor.name, f"{tensor.name}_given"
        if inner in {t.name for t in model.graph.initializer}:
            continue
        values = numpy_helper.to_array(tensor)
        size = f"{name}_size"
        sized = helper.make_node("Shape", [inner], [size])
        way = picked(rng, ["ones", "reshape", "expand", "like", "zeros", "gathered"])
        nodes: list[NodeProto] = [sized]
        if way == "ones":
            one = numpy_helper.from_array(f32([1]))
            nodes.append(helper.make_node("ConstantOfShape", [size], [f"{name}_ones"], value=one))
            nodes.append(helper.make_node("Mul", [inner, f"{name}_ones"], [name]))
        elif way == "reshape":
            nodes.append(helper.make_node("Reshape", [inner, size], [name]))
        elif way == "expand":
            nodes.append(helper.make_node("Expand", [inner, size], [name]))
        elif way == "like" and opset >= 15 and floats:
            nodes = [helper.make_node("CastLike", [inner, floats[0]], [name])]
        elif way == "zeros" and not values.any():
            nodes += [
                helper.make_node("ConstantOfShape", [size], [f"{name}_zeros"]),
                helper.make_node("Identity", [f"{name}_zeros"], [name]),
            ]
        elif way == "gathered" and values.ndim == 1:
            limits = [
                helper.make_node("Size", [inner], [f"{name}_limit"]),
                helper.make_node(
                    "Constant", [], [f"{name}_0"], value=numpy_helper.from_array(np.array(0, np.int64))
                ),
                helper.make_node(
                    "Constant", [], [f"{name}_1"], value=numpy_helper.from_array(np.array(1, np.int64))
                ),
            ]
            inputs = [f"{name}_0", f"{name}_limit", f"{name}_1"]
            nodes = [*limits, helper.make_node("Range", inputs, [f"{name}_range"])]
            nodes.append(helper.make_node("Gather", [inner, f"{name}_range"], [name]))
        else:
            continue
        tensor.name = inner
        rest = list(model.graph.node)
        del model.graph.node[:]
        model.graph.node.extend([*nodes, *rest])
        tensors = _floats(model)
        notes.append(f"{name} by {way}")
    return Changed(model, before.feeds, before.functions, (*before.notes, *notes)) if notes else None


def overridable(rng: Random, before: Changed) -> Changed | None:
    """Initializers that are inputs too, as files of before IR version 4 have them."""
    model = copy_of(before.model)
    tensors = [t for t in model.graph.initializer if t.data_type in (1, 2, 3, 6, 7) and rng.random() < 0.5]
    for tensor in tensors:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return Changed(model, before.feeds, before.functions, (*before.notes, "initializers are inputs"))


# --- shapes


RESHAPES = ("Reshape", "Expand", "Unsqueeze", "Squeeze", "Slice", "Tile", "Pad", "Where", "Gather")


def shapes_given(rng: Random, before: Changed) -> Changed | None:
    """
    Shapes, and other integers and truths, that are inputs. One in two outputs states its sizes; some shapes of Reshape
    are other ones in the run, which then contradicts what is stated.
    """
    model, feeds = copy_of(before.model), dict(before.feeds)
    nodes = [n for n in model.graph.node if n.op_type in RESHAPES]
    wanted = {name for n in nodes for name in (n.input if n.op_type == "Where" else n.input[1:])}
    kinds = (TensorProto.INT64, TensorProto.BOOL)
    tensors = [t for t in model.graph.initializer if t.name in wanted and t.data_type in kinds]
    if not tensors:
        return None
    shapes = {n.input[1] for n in nodes if n.op_type == "Reshape"}
    for tensor in [t for t in tensors if rng.random() < 0.6] or tensors[:1]:
        model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
        values = numpy_helper.to_array(tensor).copy()
        if tensor.name in shapes and rng.random() < 0.2:
            values = values[::-1].copy()
        feeds[tensor.name] = values
        model.graph.initializer.remove(tensor)
    del model.graph.output[:]
    model.graph.output.extend(stating(rng, before).graph.output)
    return Changed(model, feeds, before.functions, (*before.notes, "shapes are inputs"))


def stating(rng: Random, before: Changed) -> ModelProto:
    """The model with outputs that state the sizes of a run, one in two."""
    model = copy_of(before.model)
    outputs = run(with_functions(model, before.functions), before.feeds)
    for info, value in zip(model.graph.output, outputs, strict=True):
        if rng.random() < 0.5:
            kind = info.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind, value.shape))
    return model


def sizes_stated(rng: Random, before: Changed) -> Changed | None:
    """Outputs that state their sizes."""
    return Changed(stating(rng, before), before.feeds, before.functions, (*before.notes, "stated sizes"))


def sizes_open(rng: Random, before: Changed) -> Changed | None:
    """Sizes of inputs that only a run tells: the first or some, by name or without one."""
    model = copy_of(before.model)
    batch, named = rng.random() < 0.5, rng.random() < 0.5
    held = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        if value.name in held:
            continue
        for k, dim in enumerate(value.type.tensor_type.shape.dim):
            if (k == 0) if batch else (rng.random() < 0.6):
                size = dim.dim_value
                dim.Clear()
                if named:
                    dim.dim_param = f"size_{size}"
    return Changed(model, before.feeds, before.functions, (*before.notes, "open sizes"))


# --- ops


UNARY = ("Relu", "Sigmoid", "Tanh", "Identity", "LeakyRelu", "HardSigmoid", "Transpose", "Clip", "Softmax")


def unknown_ops(rng: Random, before: Changed) -> Changed | None:
    """
    One to three ops as calls of functions: of the model, or of a domain that the compiler knows nothing of; then the
    runs alone have them.
    """
    model = copy_of(before.model)
    places = [k for k, n in enumerate(model.graph.node) if n.op_type in UNARY and n.domain == ""]
    if not places:
        return None
    hidden, functions = rng.random() < 0.7, list[FunctionProto]()
    for k in rng.permutation(places)[: int(rng.integers(1, 4))]:
        node = model.graph.node[int(k)]
        inner = NodeProto()
        inner.CopyFrom(node)
        inputs = [f"a{j}" for j in range(len(node.input))]
        del inner.input[:], inner.output[:]
        inner.input.extend(i if name else "" for i, name in zip(inputs, node.input, strict=True))
        inner.output.append("r")
        if "" in list(node.input):
            continue
        imports = [helper.make_opsetid("", opset_of(model))]
        name = f"Op{k}"
        functions.append(helper.make_function(DOMAIN, name, inputs, ["r"], [inner], imports))
        del node.attribute[:]
        node.op_type, node.domain = name, DOMAIN
    if not functions:
        return None
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    if not hidden:
        model.functions.extend(functions)
    kept = (*before.functions, *functions) if hidden else before.functions
    what = "unknown ops" if hidden else "functions"
    return Changed(model, before.feeds, kept, (*before.notes, what))


def with_functions(model: ModelProto, functions: tuple[FunctionProto, ...]) -> ModelProto:
    """A model with what its unknown ops compute."""
    if not functions:
        return model
    whole = copy_of(model)
    whole.functions.extend(functions)
    if DOMAIN not in {o.domain for o in whole.opset_import}:
        whole.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    return whole


# --- types, opsets, data


def half_precision(rng: Random, before: Changed) -> Changed | None:
    """All floats in half precision, or in bfloat16."""
    dtype = picked(rng, [TensorProto.FLOAT16, TensorProto.FLOAT16, TensorProto.BFLOAT16])
    half = halved(before.model, dtype)
    if half is None or before.functions:
        return None
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    feeds = {n: v.astype(kind) if v.dtype == np.float32 else v for n, v in before.feeds.items()}
    return Changed(half, feeds, before.functions, (*before.notes, "half precision"))


def older(rng: Random, before: Changed) -> Changed | None:
    """An opset from 7 to 12."""
    wanted = int(rng.integers(7, 13))
    if opset_of(before.model) > 13 or before.functions or before.model.functions:
        return None
    model = lowered(before.model, wanted)
    return None if model is None else Changed(model, before.feeds, (), (*before.notes, f"opset {wanted}"))


def odd_data(rng: Random, before: Changed) -> Changed | None:
    """Inputs with infinities, or zeros alone, or far beyond what was seen."""
    what = picked(rng, ["inf", "zeros", "large"])

    def one(values: Array) -> Array:
        if values.dtype != np.float32:
            return values
        if what == "inf":
            return not_finite(values, rng, nan=False)
        return values * np.float32(0 if what == "zeros" else 30)

    feeds = {name: one(values) for name, values in before.feeds.items()}
    return Changed(before.model, feeds, before.functions, (*before.notes, f"{what} in the data"))


CHANGES: list[tuple[float, Change]] = [
    (0.12, half_precision), (0.6, older), (0.3, odd_scales), (0.15, made_of_sizes), (0.15, unknown_ops),
    (0.1, sizes_stated), (0.12, shapes_given), (0.3, sizes_open), (0.05, overridable), (0.06, odd_data),
]  # fmt: skip
"""How often each is tried, in this order."""
