"""
Random QDQ graphs: a seed in, an ONNX model and its inputs out.

A graph is drawn in float first, with marks where it is to be quantized; it is run once, and the ranges that occur become
scales and zero points. So every scale is sane, whatever the ops, and the same seed always gives the same model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
STORAGES: dict[str, npt.DTypeLike] = {"u8": np.uint8, "i8": np.int8}


@dataclass
class Value:
    """A float tensor of the graph."""

    name: str
    shape: tuple[int, ...]
    mark: Mark | None = None
    """The pair of casts that it comes out of, if it is quantized."""


@dataclass
class Mark:
    """A quantize and a dequantize to be placed between `source` and `result`."""

    source: str
    result: str
    storage: str
    symmetric: bool
    axis: int | None
    rank: int
    like: Mark | None = None
    """Another mark whose parameters it shares."""
    parameters: tuple[str, str] | None = None
    scale: Array = field(default_factory=lambda: np.float32(1.0) * np.ones(()))
    zero_point: Array = field(default_factory=lambda: np.zeros((), np.int32))

    def head(self) -> Mark:
        """The mark that has the parameters."""
        return self if self.like is None else self.like.head()


@dataclass
class Bias:
    """An int32 bias at x_scale * w_scale, known once x has a scale."""

    real: Array
    x: Mark
    w_scale: Array
    result: str


Step = NodeProto | Mark | Bias


class Drawing:
    """One graph in the making."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.opset = int(self.rng.choice([13, 17, 21]))
        self.steps: list[Step] = []
        self.initializers: dict[str, Array] = {}
        self.values: list[Value] = []
        self.inputs: list[Value] = []
        self.outputs: list[str] = []
        self.used: set[str] = set()
        self._count = 0

    def name(self, stem: str) -> str:
        """A name that is free."""
        self._count += 1
        return f"{stem}{self._count}"

    def chance(self, share: float) -> bool:
        """True that often."""
        return bool(self.rng.random() < share)

    def pick(self, choices: Sequence[Any]) -> Any:
        """One of these."""
        return choices[int(self.rng.integers(len(choices)))]

    def constant(self, values: Array, stem: str = "k") -> str:
        """An initializer."""
        name = self.name(stem)
        self.initializers[name] = values
        return name

    def ints(self, *values: int) -> str:
        """An int64 initializer."""
        return self.constant(np.array(values, np.int64))

    def node(
        self, op: str, inputs: Sequence[str], shape: Sequence[int], outputs: int = 1, **attributes: Any
    ) -> Value:
        """A node; its first result."""
        names = [self.name(op.lower()) for _ in range(outputs)]
        domain = attributes.pop("domain", "")
        self.steps.append(
            helper.make_node(op, inputs, names, name=self.name(f"{op}_"), domain=domain, **attributes)
        )
        self.used.update(inputs)
        return Value(names[0], tuple(shape))

    def finish(self, value: Value, source: Value | None = None) -> Value:
        """A value, most often with a pair of casts behind it; `source`: whose parameters it may share."""
        if self.chance(0.85):
            value = self.cast(value, source)
        self.values.append(value)
        return value

    def cast(self, value: Value, source: Value | None = None, axis: int | None = None) -> Value:
        """A value behind a pair of casts."""
        share = (
            source is not None and source.mark is not None and source.mark.axis is None and self.chance(0.7)
        )
        like = source.mark if share and source is not None else None
        rank = len(value.shape)
        if axis is None and like is None and rank > 1 and self.chance(0.04):
            axis = int(self.rng.integers(rank))
        result = self.name("dq")
        storage = like.storage if like else self.pick(["u8", "u8", "i8"])
        mark = Mark(value.name, result, storage, self.chance(0.3), axis, rank, like)
        self.steps.append(mark)
        self.used.add(value.name)
        return Value(result, value.shape, mark)


# --- ops: each takes the drawing and a value, and gives a new one, or None if it does not fit

Draw = Callable[[Drawing, Value], "Value | None"]


def transpose(d: Drawing, x: Value) -> Value | None:
    perm = [int(p) for p in d.rng.permutation(len(x.shape))]
    return d.finish(d.node("Transpose", [x.name], [x.shape[p] for p in perm], perm=perm), x)


def reshape(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) < 2:
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
    given = axis - len(x.shape) if axis < len(x.shape) and d.chance(0.3) else axis
    return d.finish(d.node("Flatten", [x.name], [head, tail], axis=given), x)


def unsqueeze(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) > 4:
        return None
    axis = int(d.rng.integers(len(x.shape) + 1))
    shape = [*x.shape[:axis], 1, *x.shape[axis:]]
    given = axis - len(shape) if d.chance(0.4) else axis
    return d.finish(d.node("Unsqueeze", [x.name, d.ints(given)], shape), x)


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
    given = axis - len(x.shape) if d.chance(0.4) else axis
    shape = [*x.shape[:axis], left, *x.shape[axis + 1 :]]
    inputs = [x.name, d.ints(start), d.ints(end), d.ints(given), d.ints(step)]
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
    rest = [
        v
        for v in d.values
        if len(v.shape) == len(x.shape)
        and all(a == b for k, (a, b) in enumerate(zip(v.shape, x.shape)) if k != axis)
    ]
    other = d.pick(rest)
    shape = [*x.shape[:axis], x.shape[axis] + other.shape[axis], *x.shape[axis + 1 :]]
    given = axis - len(x.shape) if d.chance(0.4) else axis
    return d.finish(d.node("Concat", [x.name, other.name], shape, axis=given), x)


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
        inputs.append(d.constant(np.float32(d.pick([0.0, 0.0, 0.37, -1.0]))))
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
    shape = [n, c, h + padded - 1, (w + 1 + padded - 3) // 2 + 1]
    return d.finish(d.node(op, [x.name], shape, **attributes), x if op == "MaxPool" else None)


def relu(d: Drawing, x: Value) -> Value | None:
    return d.finish(d.node("Relu", [x.name], x.shape), x)


def clip(d: Drawing, x: Value) -> Value | None:
    low, high = d.pick([(0.0, 6.0), (-1.0, 1.0), (0.0, None), (None, 0.7)])
    names = ["" if b is None else d.constant(np.float32(b)) for b in (low, high)]
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
            else d.constant(_f32(d.rng.normal(size=shape)))
        )
    inputs = [x.name, other] if d.chance(0.7) else [other, x.name]
    return d.finish(d.node(d.pick(["Add", "Add", "Mul", "Sub"]), inputs, x.shape))


def unary(d: Drawing, x: Value) -> Value | None:
    op = d.pick(["Sigmoid", "LeakyRelu", "Softmax", "Tanh", "HardSigmoid"])
    attributes = {"Softmax": {"axis": d.pick([-1, len(x.shape) - 1])}, "LeakyRelu": {"alpha": 0.17}}.get(
        op, {}
    )
    return d.finish(d.node(op, [x.name], x.shape, **attributes))


def global_pool(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4:
        return None
    return d.finish(d.node("GlobalAveragePool", [x.name], [*x.shape[:2], 1, 1]))


def _f32(values: Array) -> Array:
    return np.asarray(values, np.float32)


def weight(d: Drawing, real: Array, axis: int | None) -> str:
    """A weight as integers behind a dequantize, per tensor or along `axis`; sometimes transposed on the way."""
    real = _f32(real)
    rank = real.ndim
    turned = rank > 1 and d.chance(0.15)
    order = list(range(rank))[::-1]
    stored_real = real.transpose(order) if turned else real
    stored_axis = None if axis is None else (rank - 1 - axis if turned else axis)
    name = _weight_cast(d, stored_real, stored_axis)
    return d.node("Transpose", [name], real.shape, perm=order).name if turned else name


def _weight_cast(d: Drawing, real: Array, axis: int | None) -> str:
    storage = d.pick(["i8", "i8", "i8", "u8"])
    if axis is not None or d.chance(0.3):
        scale, zero = _parameters(real, storage, storage == "i8" or d.chance(0.5), axis)
    else:
        scale, zero = _parameters(real, storage, storage == "i8", None)
    d_type = STORAGES[storage]
    broad = [slice(None) if k == axis else None for k in range(real.ndim)]
    at = (scale, zero) if axis is None else (scale[tuple(broad)], zero[tuple(broad)])
    info = np.iinfo(d_type)
    stored = np.clip(np.rint(real / at[0]) + at[1], info.min, info.max).astype(d_type)
    names = parameter_names(d, scale, zero.astype(d_type), q=False)
    attributes = {} if axis is None else {"axis": axis - real.ndim if d.chance(0.4) else axis}
    source = d.constant(stored, "w")
    if d.chance(0.25):
        full = parameter_names(d, scale, zero.astype(d_type), q=True)
        source = d.node("QuantizeLinear", [d.constant(real, "wf"), *full], real.shape, **attributes).name
    return d.node("DequantizeLinear", [source, *names], real.shape, **attributes).name


def _parameters(real: Array, storage: str, symmetric: bool, axis: int | None) -> tuple[Array, Array]:
    """Scale and zero point for the range of `real`."""
    others = tuple(k for k in range(real.ndim) if k != axis)
    low = np.minimum(real.min(axis=others, initial=0.0), 0.0).astype(np.float64)
    high = np.maximum(real.max(axis=others, initial=0.0), 0.0).astype(np.float64)
    middle, bottom, top = (0, -128, 127) if storage == "i8" else (128, 0, 255)
    if symmetric:
        scale = np.maximum(np.maximum(-low, high) / 127, 1e-4)
        return _f32(scale), np.full(scale.shape, middle, np.int32)
    scale = np.maximum((high - low) / 255, 1e-4)
    return _f32(scale), np.clip(np.rint(bottom - low / scale), bottom, top).astype(np.int32)


def parameter_names(d: Drawing, scale: Array, zero: Array, *, q: bool) -> list[str]:
    """Scale and zero point in one of their disguises."""
    if scale.ndim == 0 and d.chance(0.2):
        scale, zero = scale.reshape(1), zero.reshape(1)
    left_out = not zero.any() and (zero.dtype == np.uint8 or not q) and d.chance(0.5)
    return [disguised(d, scale)] + ([] if left_out else [disguised(d, zero)])


def disguised(d: Drawing, values: Array) -> str:
    """A constant: an initializer, a Constant node, behind Identity, or behind Cast."""
    match d.pick(["plain", "plain", "plain", "node", "identity", "cast"]):
        case "node":
            name = d.name("c")
            d.steps.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(values)))
            return name
        case "identity":
            inner = d.node("Identity", [d.constant(values)], values.shape)
            return d.node("Identity", [inner.name], values.shape).name
        case "cast":
            wide = values.astype(np.float64 if values.dtype == np.float32 else np.int32)
            kind = helper.np_dtype_to_tensor_dtype(values.dtype)
            return d.node("Cast", [d.constant(wide)], values.shape, to=kind).name
        case _:
            return d.constant(values)


def _weight_scale(d: Drawing) -> Array | None:
    """The scale of the weight that was just drawn, if it can be told."""
    for step in reversed(d.steps):
        if isinstance(step, NodeProto) and step.op_type == "DequantizeLinear":
            return d.initializers.get(step.input[1])
    return None


def bias(d: Drawing, x: Value, channels: int) -> list[str]:
    """No bias, a float one, or int32 at x_scale * w_scale."""
    real = _f32(d.rng.normal(size=channels) * 0.3)
    w_scale = _weight_scale(d)
    kind = d.pick(["none", "float", "i32", "i32"])
    if kind == "none":
        return []
    whole = (
        x.mark is not None and x.mark.axis is None and w_scale is not None and w_scale.size in (1, channels)
    )
    if kind == "float" or not whole or x.mark is None or w_scale is None:
        return [d.constant(real, "b")]
    name = d.name("bias")
    d.steps.append(Bias(real, x.mark, w_scale.reshape(-1) if w_scale.size > 1 else w_scale.reshape(()), name))
    return [name]


def conv(d: Drawing, x: Value) -> Value | None:
    if len(x.shape) != 4 or min(x.shape[2:]) < 3:
        return None
    n, c, h, w = x.shape
    group = c if d.chance(0.2) else 1
    out = c * 2 if group > 1 else int(d.rng.integers(2, 9))
    shape = (out, c // group, 3, 2)
    real = d.rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
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
        value = d.node("Add", [value.name, d.constant(_f32(d.rng.normal(size=out)), "b")], value.shape)
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
SHAPES = [(1, 4, 5, 7), (2, 3, 6, 5), (1, 8, 4, 6), (2, 5, 9), (3, 7), (1, 12), (2, 3, 4)]
MAX_ELEMENTS = 3000


@dataclass(frozen=True)
class Case:
    """One random model."""

    seed: int
    model: ModelProto
    feeds: dict[str, Array]


def random_case(seed: int) -> Case:
    """The model and inputs of a seed: 4 to 14 ops."""
    d = Drawing(seed)
    for _ in range(d.pick([1, 1, 2])):
        value = Value(d.name("x"), d.pick(SHAPES))
        d.inputs.append(value)
        d.values.append(d.cast(value) if d.chance(0.9) else value)
    wanted, made = int(d.rng.integers(4, 15)), 0
    for _ in range(60):
        if made == wanted:
            break
        x = d.values[-1] if d.chance(0.6) else d.pick(d.values)
        small = x.shape and int(np.prod(x.shape)) <= MAX_ELEMENTS
        made += small and d.pick(OPS)(d, x) is not None
    leaves = [v.name for v in d.values if v.name not in d.used]
    middle = [v.name for v in d.values if v.name in d.used and d.chance(0.08) and v not in d.inputs]
    d.outputs = [*leaves, *(m for m in middle if m not in {i.name for i in d.inputs})]
    feeds = {
        i.name: _f32(d.rng.normal(size=i.shape) * d.pick([0.5, 2.0]) + d.pick([0.0, 0.4])) for i in d.inputs
    }
    return Case(seed, _quantized(d, feeds), feeds)


def _quantized(d: Drawing, feeds: dict[str, Array]) -> ModelProto:
    """Run the graph in float, and put casts of the ranges that occur where the marks are."""
    marks = [s for s in d.steps if isinstance(s, Mark)]
    seen = _run_float(d, feeds, sorted({m.source for m in marks}))
    for mark in marks:
        if mark.like is None:
            mark.scale, mark.zero_point = _parameters(
                seen[mark.source], mark.storage, mark.symmetric, mark.axis
            )
    steps, d.steps = d.steps, []
    for step in steps:
        if isinstance(step, Mark):
            _place(d, step)
        elif isinstance(step, Bias):
            _place_bias(d, step)
        else:
            d.steps.append(step)
    if d.chance(0.1) and marks:  # integers as a graph output
        first = next(s for s in d.steps if isinstance(s, NodeProto) and s.op_type == "QuantizeLinear")
        d.outputs.append(first.output[0])
    return _model(d, [s for s in d.steps if isinstance(s, NodeProto)], d.outputs)


def _place(d: Drawing, mark: Mark) -> None:
    head = mark.head()
    dtype = STORAGES[head.storage]
    zero = head.zero_point.astype(dtype)
    attributes: dict[str, Any] = {}
    if mark.axis is not None:
        attributes["axis"] = mark.axis - mark.rank if d.chance(0.4) else mark.axis
    if d.chance(0.03) and mark.axis is None:
        attributes["domain"] = "com.microsoft"
    pairs = [head.parameters] if head.parameters and d.chance(0.5) else []
    q = list(pairs[0]) if pairs else parameter_names(d, head.scale, zero, q=True)
    dq = q if d.chance(0.6) else parameter_names(d, head.scale, zero, q=False)
    if len(q) == 2:
        head.parameters = (q[0], q[1])
    stored = d.name("q")
    d.steps.append(
        helper.make_node("QuantizeLinear", [mark.source, *q], [stored], name=d.name("Q_"), **attributes)
    )
    d.steps.append(
        helper.make_node("DequantizeLinear", [stored, *dq], [mark.result], name=d.name("DQ_"), **attributes)
    )


def _place_bias(d: Drawing, step: Bias) -> None:
    scale = _f32(step.x.head().scale * step.w_scale)
    stored = np.rint(step.real / scale).astype(np.int64).clip(-(2**31), 2**31 - 1).astype(np.int32)
    names = [disguised(d, scale)] + ([disguised(d, np.zeros(scale.shape, np.int32))] if d.chance(0.5) else [])
    attributes = {"axis": 0} if scale.ndim else {}
    inputs = [d.constant(stored, "b"), *names]
    d.steps.append(
        helper.make_node("DequantizeLinear", inputs, [step.result], name=d.name("DQ_"), **attributes)
    )


def _run_float(d: Drawing, feeds: dict[str, Array], wanted: Sequence[str]) -> dict[str, Array]:
    nodes: list[NodeProto] = []
    for step in d.steps:
        match step:
            case Mark():
                nodes.append(helper.make_node("Identity", [step.source], [step.result]))
            case Bias():
                value = numpy_helper.from_array(step.real)
                nodes.append(helper.make_node("Constant", [], [step.result], value=value))
            case _:
                nodes.append(step)
    if not wanted:
        return {}
    model = _model(d, nodes, wanted)
    return dict(zip(wanted, _session(model).run(None, feeds), strict=True))


def _session(model: ModelProto) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _model(d: Drawing, nodes: Sequence[NodeProto], outputs: Sequence[str]) -> ModelProto:
    inputs = [helper.make_tensor_value_info(i.name, TensorProto.FLOAT, i.shape) for i in d.inputs]
    integer = {n.output[0] for n in nodes if n.op_type == "QuantizeLinear"}
    kinds = _storage_of(nodes, d) if integer & set(outputs) else {}
    infos = [helper.make_tensor_value_info(o, kinds.get(o, TensorProto.FLOAT), None) for o in outputs]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in d.initializers.items()]
    graph = helper.make_graph(nodes, "random", inputs, infos, tensors)
    imports = [helper.make_opsetid("", d.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _storage_of(nodes: Sequence[NodeProto], d: Drawing) -> dict[str, int]:
    """The element types of quantized tensors, found by running the shape inference that onnxruntime has."""
    found: dict[str, int] = {}
    for mark_node in nodes:
        if mark_node.op_type == "QuantizeLinear":
            zero = mark_node.input[2] if len(mark_node.input) > 2 else ""
            found[mark_node.output[0]] = _element(zero, nodes, d)
    return found


def _element(name: str, nodes: Sequence[NodeProto], d: Drawing) -> int:
    if not name:
        return TensorProto.UINT8
    if name in d.initializers:
        return helper.np_dtype_to_tensor_dtype(d.initializers[name].dtype)
    node = next(n for n in nodes if name in n.output)
    if node.op_type == "Cast":
        return next(a.i for a in node.attribute if a.name == "to")
    if node.op_type == "Constant":
        return next(a.t.data_type for a in node.attribute)
    return _element(node.input[0], nodes, d)
