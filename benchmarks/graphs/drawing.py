"""A graph in the making: float ops, marks where it is to be quantized, weights and constants in all their disguises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import NodeProto, helper, numpy_helper

Array = npt.NDArray[Any]
STORAGES: dict[str, npt.DTypeLike] = {"u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16}


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
    arithmetic: bool = False
    """Whether it is spelled Mul, Round, Clip, Mul."""
    stored: str = ""
    """The integers, once it is placed."""

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


@dataclass
class Form:
    """What is made of floats by `floats`, and by what `place` adds to the steps once the ranges are known."""

    floats: list[NodeProto]
    place: Callable[[], None]
    mark: Mark | None = None
    """The mark that `place` places."""


Step = NodeProto | Mark | Bias | Form


class Drawing:
    """One graph in the making."""

    def __init__(self, seed: int | tuple[int, ...], forms: bool = False, integer: bool = False):
        """integer: every value is quantized, by one scale, so that nothing is computed in float."""
        self.forms, self.integer = forms, integer
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
        if self.integer or self.chance(0.85):
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
        if not self.integer and axis is None and like is None and rank > 1 and self.chance(0.04):
            axis = int(self.rng.integers(rank))
        result = self.name("dq")
        storage = like.storage if like else self.pick(["u8", "u8", "i8"])
        mark = Mark(value.name, result, storage, self.chance(0.3), axis, rank, like)
        if self.forms and like is None and self.chance(0.05):
            mark.storage = self.pick(["u16", "i16"])
        mark.arithmetic = self.forms and axis is None and self.chance(0.05)
        self.steps.append(mark)
        self.used.add(value.name)
        return Value(result, value.shape, mark)


def f32(values: npt.ArrayLike) -> Array:
    """As float32."""
    return np.asarray(values, np.float32)


def weight(d: Drawing, real: Array, axis: int | None) -> str:
    """A weight as integers behind a dequantize, per tensor or along `axis`; sometimes transposed on the way."""
    real = f32(real)
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
        scale, zero = parameters_of(real, storage, storage == "i8" or d.chance(0.5), axis)
    else:
        scale, zero = parameters_of(real, storage, storage == "i8", None)
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


def parameters_of(real: Array, storage: str, symmetric: bool, axis: int | None) -> tuple[Array, Array]:
    """Scale and zero point for the range of `real`."""
    others = tuple(k for k in range(real.ndim) if k != axis)
    low = np.minimum(real.min(axis=others, initial=0.0), 0.0).astype(np.float64)
    high = np.maximum(real.max(axis=others, initial=0.0), 0.0).astype(np.float64)
    info = np.iinfo(STORAGES[storage])
    bottom, top, least = int(info.min), int(info.max), 1e-4 if info.bits == 8 else 1e-6
    middle = (bottom + top + 1) // 2
    if symmetric:
        scale = np.maximum(np.maximum(-low, high) / (top - middle), least)
        return f32(scale), np.full(scale.shape, middle, np.int32)
    scale = np.maximum((high - low) / (top - bottom), least)
    return f32(scale), np.clip(np.rint(bottom - low / scale), bottom, top).astype(np.int32)


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
    real = f32(d.rng.normal(size=channels) * 0.3)
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
