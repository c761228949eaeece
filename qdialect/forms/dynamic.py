"""
Recurrent ops as dynamically quantized kernels: 8-bit weights, activations quantized at run time. And their inverse, the
decomposition of DynamicQuantizeLSTM, unrolled: an LSTM with integer products.

    gates[t] = (q(x)[t] W') * s + q(h[t-1]) R' * s' + b      q: DynamicQuantizeLinear, of all steps or of one

onnxruntime quantizes all steps of the input at once, and the hidden state before each step's product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, known_shape, shape_of, tensor_type
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.activations import activations_of
from qdialect.forms.base import Form
from qdialect.forms.builder import Builder
from qdialect.forms.cells import KINDS, Product
from qdialect.forms.composition import Decomposed, Decomposes
from qdialect.forms.nodes import Nodes
from qdialect.forms.recurrent import DIRECTIONS, PEEPHOLES, RecurrentLayer
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, known_array, static_shape
from qdialect.ops.generated import op_named
from qdialect.reasons import Blocked, unblocked

FLOAT, BYTE = BY_NUMPY["float32"].attribute, BY_NUMPY["uint8"].attribute
FLOAT_CODE = 1
"""TensorProto.FLOAT, for Cast."""
MAX_UNROLLED_STEPS = 64
"""Greatest number of steps that are unrolled."""
KIND = KINDS["LSTM"]


@dataclass(frozen=True)
class QuantizesItself(Form):
    """The op has a kernel that takes its weights in 8 bits and quantizes its activations at run time."""

    kernel: str
    size: Callable[[OnnxOp], int | None]
    """Number of hidden units, which decides whether the kernel is faster; None if unknown."""
    blocked: Callable[[OnnxOp], Blocked | None]
    """`Blocked` if the kernel does not support the op; None if it does."""
    parts: Callable[[OnnxOp], Sequence[Operation]]
    """The kernel's node and its constants; the last operation defines the results."""


def _hidden_units(op: OnnxOp) -> int | None:
    shape = shape_of(op.operands[2].type)
    return None if shape is None or shape[-1] == DYNAMIC else shape[-1]


def columns_in_8_bits(weight: npt.NDArray[np.float32], nodes: Nodes) -> list[SSAValue]:
    """A weight (directions, gates, inputs) as integers (directions, inputs, gates), their scales and zero points."""
    turned = np.ascontiguousarray(weight.transpose(0, 2, 1))
    reach = np.abs(turned).max(axis=1, initial=0).astype(np.float64)
    scales = np.where(reach > 0, reach / 127, 1).astype(np.float32)
    rows = [
        numerics.quantize(one, scale, np.zeros(scale.shape, np.int8), -127, 127, np.int8, axis=1)
        for one, scale in zip(turned, scales, strict=True)
    ]
    arrays = (np.stack(rows), scales, np.zeros(scales.shape, np.int8))
    return [nodes.constant(array) for array in arrays]


def _blocked_lstm(op: OnnxOp) -> Blocked | None:
    if element_of(op.operands[0].type) != FLOAT:
        return Blocked("expressed-type", f"only {op.op_type} in f32 is quantized")
    if op.int_attr("layout", 0):
        return Blocked(
            "recurrent-form",
            "the kernel takes the time axis first, the op has the batch axis first",
            "export the model with layout 0",
        )
    weights = [constant_array(op.input(place)) for place in (1, 2)]
    if any(w is None or w.ndim != 3 or not np.isfinite(w).all() for w in weights):
        return Blocked("computed-parameter", "a weight is computed, or not finite")
    return None


def _dynamic_lstm(op: OnnxOp) -> Sequence[Operation]:
    """DynamicQuantizeLSTM with a scale for each column of each direction."""
    inputs, nodes = [*op.inputs, *[None] * (8 - len(op.inputs))], Nodes()
    for place in (1, 2):
        inputs[place], *parameters = columns_in_8_bits(known_array(op.input(place)), nodes)
        inputs += parameters
    kept = {k: v for k, v in op.onnx_attributes.items() if k != "layout"}
    types = [None if value is None else value.type for value in op.outputs]
    nodes.append(op_named(MICROSOFT, "DynamicQuantizeLSTM").build(inputs, types, kept))
    return nodes.ops


AT_RUN_TIME = {
    ("", "LSTM"): QuantizesItself("DynamicQuantizeLSTM", _hidden_units, _blocked_lstm, _dynamic_lstm)
}


# --- DynamicQuantizeLSTM as other ops ---


class _Quantized(NamedTuple):
    """Rows quantized by DynamicQuantizeLinear."""

    stored: SSAValue
    scale: SSAValue
    zero: SSAValue

    @staticmethod
    def of(build: Builder, rows: SSAValue, role: str) -> _Quantized:
        scalars = [tensor_type(FLOAT, ()), tensor_type(BYTE, ())]
        types = [tensor_type(BYTE, known_shape(rows.type)), *scalars]
        roles = [f"{role}/{part}" for part in ("quantized", "scale", "zero_point")]
        return _Quantized(*build.all("DynamicQuantizeLinear", [rows], types, None, roles))


def _part(build: Builder, value: SSAValue, direction: int) -> SSAValue:
    """What belongs to one direction; of a constant a constant, which passes that fold products of constants see."""
    known = constant_array(value)
    if known is None:
        return build.pick(value, direction)
    return build.constant(np.ascontiguousarray(known[direction]), name=f"{wish(value)}_{direction}")


class _Weight(NamedTuple):
    """The weight of one direction: integers, transposed, their scales and zero points."""

    stored: SSAValue
    scale: SSAValue
    zero: SSAValue

    @staticmethod
    def of(layer: RecurrentLayer, direction: int, places: tuple[int, int, int]) -> _Weight:
        values = [layer.op.input(place) for place in places]
        return _Weight(*(_part(layer.build, value, direction) for value in values if value is not None))

    def times(self, build: Builder, rows: _Quantized, role: str) -> SSAValue:
        """The product with quantized rows, dequantized."""
        shape = (known_shape(rows.stored.type)[0], known_shape(self.stored.type)[1])
        operands = [rows.stored, self.stored, rows.zero, self.zero]
        sums = build.one("MatMulInteger", operands, shape, element=i32)
        real = build.one("Cast", [sums], element=FLOAT, to=int_attr(FLOAT_CODE))
        scale = build.one("Mul", [self.scale, rows.scale])
        return build.one("Mul", [real, scale], role=role)

    def product(self) -> Product:
        """The product with real rows, which are quantized first."""
        return lambda build, rows, role: self.times(build, _Quantized.of(build, rows, role), role)


def _read(op: OnnxOp) -> RecurrentLayer | Blocked:
    x, weight = static_shape(op.operands[0]), static_shape(op.operands[2])
    if op.input(7) is not None:
        return PEEPHOLES
    if op.input(4) is not None:
        return Blocked("recurrent-form", "sequences have several lengths", "give sequences of one length")
    if x is None or weight is None or len(x) != 3 or len(weight) != 3:
        return Blocked("unknown-shape", "the sizes of the input or the weights are not known", "give --batch")
    if not 0 < x[0] <= MAX_UNROLLED_STEPS:
        return Blocked("too-large", f"{x[0]} steps are more than the {MAX_UNROLLED_STEPS} that are unrolled")
    reverse = DIRECTIONS.get(op.str_attr("direction", "forward"))
    if reverse is None or weight[0] != len(reverse):
        return Blocked("invalid-op", f"the weights are of {weight[0]} directions", "check the model")
    activations = unblocked(activations_of(op, KIND.activations, len(reverse)))
    return RecurrentLayer(op, KIND, Builder(op), x[0], x[1], weight[1], reverse, activations)


def _inputs(layer: RecurrentLayer) -> list[list[SSAValue]]:
    """x W' + b of each step, (batch, gates), by direction."""
    build, op, width = layer.build, layer.op, known_shape(layer.op.operands[0].type)[2]
    count = layer.steps * layer.batch
    rows = build.one("Reshape", [op.operands[0], build.constant(np.array([count, width]))], (count, width))
    quantized, inputs = _Quantized.of(build, rows, "input"), list[list[SSAValue]]()
    for k, role in enumerate(layer.roles):
        total = _Weight.of(layer, k, (1, 8, 9)).times(build, quantized, f"{role}/input_product")
        if (bias := op.input(3)) is not None:
            total = build.one("Add", [total, build.one("Add", build.split(build.pick(bias, k), 2, 0))])
        inputs.append(build.split(total, layer.steps, 0))
    return inputs


def _initial(layer: RecurrentLayer, direction: int) -> list[SSAValue]:
    shape = (layer.batch, layer.hidden)
    initial = [layer.op.input(place) for place in (5, 6)]
    return [
        layer.build.constant(np.zeros(shape, np.float32))
        if value is None
        else layer.build.one(
            "Gather", [value, layer.build.constant(np.array(direction))], shape, axis=int_attr(0)
        )
        for value in initial
    ]


def _directed(
    layer: RecurrentLayer, direction: int, inputs: Sequence[SSAValue]
) -> tuple[list[SSAValue], list[SSAValue]]:
    """The hidden states of all steps of one direction, in order of time; and the states after the last one."""
    product = _Weight.of(layer, direction, (2, 10, 11)).product()
    states, outputs = _initial(layer, direction), dict[int, SSAValue]()
    for t in reversed(range(layer.steps)) if layer.reverse[direction] else range(layer.steps):
        build = layer.build.within(f"{layer.roles[direction]}/{t}")
        states = KIND.step(layer.cell(build, direction, [product]), inputs[t], states)
        outputs[t] = states[0]
        layer.build.ops += build.ops
    return [outputs[t] for t in range(layer.steps)], states


def _stacked(build: Builder, values: Sequence[SSAValue], shape: tuple[int, ...], axis: int) -> SSAValue:
    """Values of `shape` stacked along `axis`."""
    rows = [build.one("Reshape", [value, build.constant(np.array(shape))], shape) for value in values]
    if len(rows) == 1:
        return rows[0]
    whole = (*shape[:axis], len(rows) * shape[axis], *shape[axis + 1 :])
    return build.one("Concat", rows, whole, axis=int_attr(axis))


def _decomposed(op: OnnxOp) -> Decomposed | Blocked:
    layer = unblocked(_read(op))
    build, one = layer.build, (1, layer.batch, layer.hidden)
    directions = [_directed(layer, k, inputs) for k, inputs in enumerate(_inputs(layer))]
    results: list[SSAValue] = []
    for place, output in enumerate(op.outputs):
        if output is None:
            continue
        if place:
            results.append(_stacked(build, [states[place - 1] for _, states in directions], one, 0))
            continue
        every = (layer.steps, *one)
        rows = [_stacked(build, outputs, (1, *one), 0) for outputs, _ in directions]
        results.append(_stacked(build, rows, every, 1))
    return Decomposed(build.ops, results)


DYNAMIC_RECURRENT = {(MICROSOFT, "DynamicQuantizeLSTM"): Decomposes(_decomposed, loops=True)}
