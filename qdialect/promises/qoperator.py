"""
QOperator nodes as ops on quantized types: the inverse of the `Kernels` promise, derived from its templates.

The templates of `kernels` name each input's operand and role (integers, scale, zero point); none is repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerAttr, IntegerType, Signedness
from xdsl.ir import Attribute, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of
from qdialect.dialects.quant import Storage, UniformType
from qdialect.dialects.schemas import snapshot
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ir.values import constant_array
from qdialect.numerics import sums
from qdialect.promises.base import Promise
from qdialect.promises.casts import EMPTY_AXIS, RUN_TIME
from qdialect.promises.kernels import KERNELS, Kernel
from qdialect.promises.linear import Linear
from qdialect.reasons import SCALE_VALUE, UNKNOWN_RANK, UNKNOWN_STORAGE, Blocked, required, unblocked


@dataclass(frozen=True)
class QOperator(Promise):
    """The node computes `quantize(op(dequantize(operands)))` for one of these ops, by this template."""

    forms: tuple[tuple[str, Kernel], ...]


OVERFLOW = Blocked(
    "scale-value",
    "reals of these scales, or a kernel's multiplier, are beyond float32",
    "quantize the model again",
)
STORAGE_WIDTHS = (2, 4, 8, 16, 32)

Cells = Mapping[tuple[int | None, str], "SSAValue | None"]
"""Inputs by role: (index of the operand, None for the result; `v` values, `s` scale or `z` zero point)."""


class Reading(NamedTuple):
    """The op that a node computes, the template, and the node's inputs by role."""

    name: str
    kernel: Kernel
    cells: Cells
    bias: SSAValue | None = None
    """Float bias that the node adds; None if it has none."""
    indices: Mapping[tuple[int | None, str], int] = {}
    """The index of each input that a role may have."""

    @property
    def operands(self) -> list[SSAValue | None]:
        """The op's operands as the node has them: integers, or floats where the template takes them so."""
        places = [p for p, part in self.cells if p is not None and part == "v"]
        return [self.cells.get((p, "v")) for p in range(max(places) + 1)]


def _roles(count: int, kernel: Kernel) -> list[tuple[int | None, str]] | None:
    """The role of each of `count` inputs, and of those omitted behind them; None if the template has fewer."""
    tokens = kernel.inputs.split()
    if tokens[-1] == "*":
        variadic = count - (len(tokens) - 1)
        if variadic < 3:
            return None
        tokens = [*tokens[:-1], *(f"{k}{part}" for k in range(variadic // 3) for part in "vsz")]
    if count > len(tokens):
        return None
    return [(None if t[0] == "y" else int(t[:-1]), t[-1]) for t in tokens]


def _cells(inputs: Sequence[SSAValue | None], roles: Sequence[tuple[int | None, str]]) -> Cells | None:
    """The node's inputs by role; None if a scale is omitted."""
    values = [*inputs, *[None] * (len(roles) - len(inputs))]
    cells = dict(zip(roles, values, strict=True))
    is_scaled = all(v is not None for (_, part), v in cells.items() if part == "s")
    return cells if is_scaled else None


def reading(op: OnnxOp) -> Reading | Blocked:
    """The op that a QOperator node computes, or `Blocked`."""
    promise = op.get_trait(QOperator)
    for name, kernel in () if promise is None else promise.forms:
        inputs, places = op.inputs, len(kernel.inputs.split())
        bias = inputs[places] if kernel.adds and len(inputs) == places + 1 else None
        known = inputs if bias is None else inputs[:places]
        roles = _roles(len(known), kernel)
        if roles is not None and (cells := _cells(known, roles)) is not None:
            return Reading(name, kernel, cells, bias, {role: k for k, role in enumerate(roles)})
    return Blocked("attribute", f"{op.op_type} has inputs that no op on quantized types takes")


def read_attributes(op: OnnxOp, reading: Reading, opset: int) -> Mapping[str, Attribute] | Blocked:
    """The op's attributes from the node's. An attribute that the op lacks is dropped if it is 0, else `Blocked`."""
    attributes = reading.kernel.read(op, opset)
    if isinstance(attributes, Blocked):
        return attributes
    schema = snapshot().find("", reading.name)
    version = None if schema is None else schema.at(opset)
    if version is None:
        return Blocked("opset", f"opset {opset} has no {reading.name}")
    for name, value in attributes.items():
        off = isinstance(value, IntegerAttr) and value.value.data == 0
        if name not in version.attributes and not off:
            return Blocked("attribute", f"{reading.name} has no attribute '{name}' in opset {opset}")
    return {k: v for k, v in attributes.items() if k in version.attributes}


def storage_of(element: Attribute | None) -> Storage | None:
    """The storage type of an integer element type; None for bool, int64 and floats."""
    if not isinstance(element, IntegerType) or element.width.data not in STORAGE_WIDTHS:
        return None
    sign = "u" if element.signedness.data == Signedness.UNSIGNED else "i"
    return Storage.of(f"{sign}{element.width.data}")


def parameters_type(
    scale: SSAValue | None, zero_point: SSAValue | None, storage: Storage | None, axis: int | None
) -> UniformType | Blocked:
    """The quantized type with these parameters, several scales along `axis`; None allows one scale only."""
    scales, zeros = constant_array(scale), constant_array(zero_point)
    if scales is None or (zero_point is not None and zeros is None):
        return RUN_TIME
    if storage is None:
        return UNKNOWN_STORAGE
    if not scales.size:
        return EMPTY_AXIS
    if scales.dtype != np.float32:
        return Blocked("expressed-type", f"the scale is {scales.dtype}, the kernels compute in float32")
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        return SCALE_VALUE
    zeros = np.zeros(1, np.int32) if zeros is None else zeros.astype(np.int32)
    if scales.size == zeros.size == 1:
        return UniformType.per_tensor(storage, scales.reshape(()), zeros.reshape(()))  # pyright: ignore
    if axis is None or max(scales.ndim, zeros.ndim) > 1:
        return Blocked("activation-per-axis", "the operand has a scale for each channel")
    count = max(scales.size, zeros.size)
    if {scales.size, zeros.size} - {1, count}:
        return Blocked("invalid-parameters", f"{scales.size} scales, {zeros.size} zero points")
    return UniformType.per_axis(
        storage, axis, np.broadcast_to(scales.reshape(-1), count), np.broadcast_to(zeros.reshape(-1), count)
    )


def _storage_at(cells: Cells, place: int | None, otherwise: SSAValue | None = None) -> Storage | None:
    value, zero_point = cells.get((place, "v")), cells.get((place, "z"))
    candidates = (value if place is not None else None, zero_point, otherwise)
    return next((s for v in candidates if v is not None and (s := storage_of(element_of(v.type)))), None)


def _result_storage(op: OnnxOp, cells: Cells) -> Storage | None:
    return _storage_at(cells, None, (cells[0, "v"] if (0, "s") in cells else None) or op.results[0])


def result_element(op: OnnxOp, reading: Reading) -> Attribute | None:
    """The element type of a node's result, an integer type or that of the scales; None if unknown."""
    if reading.kernel.float_result:
        scale = reading.cells.get((0, "s"))
        return Float32Type() if scale is None else element_of(scale.type)
    storage = _result_storage(op, reading.cells)
    return None if storage is None else BY_NUMPY[np.dtype(storage.dtype).name].attribute


class Types(NamedTuple):
    """Quantized types of the op's operands, by index, and of its result; None for a float result."""

    operands: Mapping[int, UniformType]
    result: UniformType | None


def read_types(op: OnnxOp, reading: Reading, draft: OnnxOp) -> Types | Blocked:
    """The quantized types of `draft`, the op on plain operands; a bias counts steps of x_scale * w_scale."""
    cells, linear = reading.cells, draft.get_trait(Linear)
    types: dict[int, UniformType] = {}
    result: UniformType | None = None
    for place, part in cells:
        if part != "s":
            continue
        axis = linear.weight_axis(draft) if linear is not None and place == 1 else None
        storage = _result_storage(op, cells) if place is None else _storage_at(cells, place)
        type = unblocked(parameters_type(cells[place, "s"], cells.get((place, "z")), storage, axis))
        if place is None:
            result = type
        else:
            types[place] = type
    if sums.overflow([_range(type) for type in (*types.values(), result) if type is not None]):
        return OVERFLOW
    if linear is not None and result is not None:
        x, w, y = (type.scales for type in (types[0], types[1], result))
        if sums.multiplier_overflows(x, w, y):
            return OVERFLOW
    bias = cells.get((2, "v"))
    if linear is None or bias is None:
        return Types(types, result)
    return Types({**types, 2: unblocked(_bias_type(types[0], types[1], bias))}, result)


def _range(type: UniformType) -> float:
    """The size of the range of reals that a type expresses, at its greatest scale."""
    return float(type.scales.max()) * (type.storage.high - type.storage.low)


def _bias_type(x: UniformType, w: UniformType, bias: SSAValue) -> UniformType | Blocked:
    storage, scales = Storage.of("i32"), numerics.bias_scale(x.scales, w.scales)
    if storage_of(element_of(bias.type)) != storage:
        return Blocked("invalid-op", "the bias is not int32")
    if not scales.ndim:
        return UniformType.along(storage, 0, scales)
    shape = required(shape_of(bias.type), UNKNOWN_RANK)
    if not shape or shape[-1] not in (DYNAMIC, scales.size):
        return Blocked(
            "invalid-parameters", f"{scales.size} scales for a bias of {list(shape)}, which all columns share"
        )
    return UniformType.along(storage, len(shape) - 1, scales)


def _read_backwards() -> dict[tuple[str, str], QOperator]:
    forms: dict[tuple[str, str], list[tuple[str, Kernel]]] = {}
    written = [(key, kernels.forms) for key, kernels in KERNELS.items()]
    for (_, name), templates in (*written, *_UNWRITTEN):
        for kernel in templates:
            forms.setdefault((kernel.domain, kernel.op_type), []).append((name, kernel))
    return {key: QOperator(tuple(readings)) for key, readings in forms.items()}


_UNWRITTEN: Sequence[tuple[tuple[str, str], tuple[Kernel, ...]]] = (
    (("", "ReduceMean"), (Kernel(MICROSOFT, "QLinearReduceMean", "0v 0s 0z ys yz"),)),
)
"""Nodes that are read and never written: models may contain them, but no target runs them."""

QOPERATORS = _read_backwards()
