"""
Rounding of a module's weights, to nearest or by data (GPTQ), and bias correction: the mean error of a layer's result by
rounding its weight is compensated in its bias (Nagel et al. 2019, arXiv 1906.04721), the error of the weight times the
mean of its patches.

Layers are numbered on the float module; clones keep the numbers, so that results computed once serve every
candidate built from a clone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import Storage, UniformType
from qdialect.evaluation.parallel import parallel_map
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import insert_before, put_constant, remove
from qdialect.ir.interface import main_of
from qdialect.ir.names import called, value_name
from qdialect.ir.values import constant_array, known_array
from qdialect.promises.arithmetic import single_user
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear
from qdialect.quantizer.rounding.gptq import Grid, Rounded, round_weight, weight_grid
from qdialect.quantizer.rounding.hessian import Hessian, grid_step, hessian_bytes, rows_per_sample
from qdialect.quantizer.rounding.layers import Array, Float64, LinearLayer, known_layer, layer_of
from qdialect.quantizer.statistics.observer import Observer, observe_samples, value_names, within
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import Row

STORAGE = Storage.of("i8")
"""The integers of weights and tables."""
LAYER_ATTRIBUTE = "qdialect.layer"
"""The attribute with a layer's number."""
SAMPLES_PER_HELD_OUT = 3
"""One sample in so many is held out to judge the rounding."""


def symmetric_type(scales: Array, axis: int | None) -> UniformType:
    """The type with a scale for each index of `axis`, or one for all if that is None, and zero points of 0."""
    return UniformType.along(STORAGE, 0 if axis is None else axis, scales)


def round_to_nearest(array: Array, axis: int | None, levels: int) -> tuple[Array, UniformType]:
    """The integers of `array`, from -levels to levels, rounded to nearest, and their `symmetric_type`."""
    others = None if axis is None else tuple(k for k in range(array.ndim) if k != axis)
    type = symmetric_type(numerics.symmetric_scales(np.abs(array).max(axis=others), levels), axis)
    bounds = -levels, levels, STORAGE.dtype
    return numerics.quantize(array, type.scales, type.zero_points, *bounds, axis=type.axis), type


def number_layers(module: ModuleOp) -> dict[int, OnnxOp]:
    """
    Number the linear ops of the graph whose weight is a float constant, in an attribute that clones keep.
    """
    layers: dict[int, OnnxOp] = {}
    for op in main_of(module).body.block.ops:
        if not isinstance(op, OnnxOp) or op.get_trait(Linear) is None or layer_of(op) is None:
            continue
        weight = constant_array(op.operands[1])
        if weight is None or weight.dtype != np.float32 or not np.isfinite(weight).all():
            continue
        op.attributes[LAYER_ATTRIBUTE] = IntegerAttr(len(layers), i64)
        layers[len(layers)] = op
    return layers


def layer_number(op: Operation) -> int | None:
    """The number of a layer; None if the op has none."""
    number = op.attributes.get(LAYER_ATTRIBUTE)
    return number.value.data if isinstance(number, IntegerAttr) else None


def waves_of(layers: Mapping[int, OnnxOp], memory: int) -> Iterator[dict[int, OnnxOp]]:
    """Groups of layers whose Hessians take at most `memory` bytes together, at least one layer each."""
    return map(dict, within(memory, layers.items(), lambda row: 2 * hessian_bytes(known_layer(row[1]))))


class Moments:
    """
    Hessians of some layers: one of two samples in three, which steers rounding, and one of the third, which judges.

    `look` takes each sample's activations, in the order of the samples.
    """

    def __init__(self, layers: Mapping[int, OnnxOp], largest: Callable[[SSAValue], float], samples: int):
        self._by_value: dict[SSAValue, list[int]] = {}
        self.steering: dict[int, Hessian] = {}
        self.judging: dict[int, Hessian] = {}
        self._seen: dict[SSAValue, int] = {}
        for number, op in layers.items():
            layer, value = known_layer(op), op.operands[0]
            step, limit = grid_step(largest(value)), rows_per_sample(layer, samples)
            self.steering[number] = Hessian(layer, step, limit)
            self.judging[number] = Hessian(layer, step, limit)
            self._by_value.setdefault(value, []).append(number)

    @property
    def values(self) -> list[SSAValue]:
        """The activations to observe."""
        return list(self._by_value)

    def look(self, value: SSAValue, array: Array) -> None:
        """Add one sample of an activation."""
        count = self._seen[value] = self._seen.get(value, 0) + 1
        for number in self._by_value[value]:
            (self.judging if count % SAMPLES_PER_HELD_OUT == 0 else self.steering)[number].update(array)


def largest_magnitude(profile: Profile, name: str) -> float:
    """The greatest magnitude of a tensor; 1.0 if nothing is known of it."""
    seen = profile.tensors.get(name)
    return 1.0 if seen is None or not seen.counts.size else max(-seen.low, seen.high)


def observed_waves(
    module: ModuleOp,
    layers: Mapping[int, OnnxOp],
    profile: Profile,
    rows: Sequence[Row],
    memory: int,
    show: Callable[[str], None],
) -> Iterator[tuple[dict[int, OnnxOp], Moments]]:
    """The moments of a module's layers on samples, in waves that `memory` holds."""
    observer, names = Observer(module), value_names(module)

    def largest(value: SSAValue) -> float:
        return largest_magnitude(profile, names.get(value, ""))

    visible = {n: op for n, op in layers.items() if observer.is_visible(op.operands[0])}
    for wave in waves_of(visible, memory):
        show(f"rounding {len(wave)} layers")
        moments = Moments(wave, largest, len(rows))
        observe_samples(observer, moments.values, rows, moments.look, memory=memory)
        yield wave, moments


@dataclass(frozen=True)
class RoundedLayer:
    """A layer's rounded weight, and the matching shift of its bias."""

    name: str
    grid: Grid
    stored: Array
    """In the weight's shape."""
    shift: Float64
    """Correction to add to the bias, (channels,); 0 where held-out data do not confirm it."""
    gain: float
    """Reduction of the result's noise relative to rounding to nearest, in dB."""
    moved: float
    """Fraction of the integers that are not the nearest ones."""


RoundedWeights = Mapping[int, RoundedLayer]
"""The rounded layers of a module, by number."""


def rounded_layer(weights: RoundedWeights, op: Operation) -> RoundedLayer | None:
    """The rounding of a layer of the module or of a clone; None if it has none."""
    number = layer_number(op)
    return None if number is None else weights.get(number)


def round_layers(
    layers: Mapping[int, OnnxOp],
    moments: Moments,
    levels: int,
    *,
    per_channel: bool = True,
    nearest: bool = False,
) -> dict[int, RoundedLayer]:
    """
    Round the weights of some layers to integers from -levels to levels, and compute their bias corrections.

    nearest: without GPTQ. per_channel: a scale for each output.
    """

    def rounded(one: _Layer) -> RoundedLayer:
        layer, weight = one.layer, one.weight
        steering, judging = moments.steering[one.number], moments.judging[one.number]
        grid = weight_grid(layer, weight, -levels, levels, per_channel=per_channel)
        done = _rounded(layer, weight, grid, steering, judging, nearest=nearest)
        shift = _shift(layer, weight, grid, done.stored, steering, judging)
        gain = 10 * log10(max(done.nearest_error, 1e-300) / max(done.error, 1e-300))
        return RoundedLayer(one.name, grid, done.stored, shift, gain, done.moved)

    every = (_Layer(n, called(op), known_layer(op), known_array(op.operands[1])) for n, op in layers.items())
    return dict(zip(layers, parallel_map(rounded, every), strict=True))


class _Layer(NamedTuple):
    """Weights to be rounded by worker threads; a single thread reads them from their files."""

    number: int
    name: str
    layer: LinearLayer
    weight: Array


def _rounded(
    layer: LinearLayer, weight: Array, grid: Grid, steering: Hessian, judging: Hessian, *, nearest: bool
) -> Rounded:
    if nearest or steering.count == 0:
        return Rounded(layer.weight(grid.quantize(layer, layer.rows(weight))), 1.0, 1.0, 0.0)
    return round_weight(layer, weight, grid, steering, judging)


def _shift(
    layer: LinearLayer, weight: Array, grid: Grid, stored: Array, steering: Hessian, judging: Hessian
) -> Float64:
    if steering.count == 0:
        return np.zeros(layer.channels(np.zeros(layer.rows_shape[:2])).shape)
    shift = analytic_shift(layer, weight, grid, stored, steering.mean())
    if judging.count == 0:
        return shift
    other = analytic_shift(layer, weight, grid, stored, judging.mean())
    part = judging.count / (steering.count + judging.count)
    return np.where(confirmed(shift, other), shift * (1 - part) + other * part, 0.0)


# --- Biases ---


def analytic_shift(layer: LinearLayer, weight: Array, grid: Grid, stored: Array, mean: Float64) -> Float64:
    """
    The correction to add to the bias, (channels,): (W - dequantized W) E[p] * weight_factor / bias_factor.

    weight: float; stored: its integers, both in the weight's shape; mean: E[p], [groups, summed].
    """
    real = grid.dequantize(layer, layer.rows(stored))
    error = layer.rows(weight).astype(np.float64) - real
    shift = np.einsum("gnk,gk->gn", error, mean)
    return layer.channels(shift) * (layer.weight_factor / layer.bias_factor)


def confirmed(shift: Float64, held_out: Float64) -> npt.NDArray[np.bool_]:
    """
    The channels, bool, in which `shift` lowers the squared error on other data, whose own best shift is `held_out`.

    E[(e - s)^2] < E[e^2] if s lies between 0 and twice the mean of e.
    """
    return shift * (2 * held_out - shift) > 0


@dataclass(frozen=True)
class BiasPlace:
    """Position of a layer's bias, present or possible."""

    op: OnnxOp
    """The linear op, or the addition after it."""
    index: int
    """Index of the bias operand."""
    value: npt.NDArray[Any] | None
    """The stored bias; None if there is none yet."""

    @property
    def flat(self) -> Array | None:
        """(channels,) or (1,), float64."""
        return None if self.value is None else self.value.reshape(-1).astype(np.float64)


def bias_place(op: OnnxOp) -> BiasPlace | None:
    """The constant bias by channel of a linear op, its own or added after it; None if it takes none."""
    linear = op.get_trait(Linear)
    if linear is None:
        return None
    if linear.has_bias and op.input(2) is not None:
        array = constant_array(op.operands[2])
        # Gemm's may run along the rows instead.
        by_channel = array is not None and (array.size == 1 or array.shape[-1] == array.size)
        return BiasPlace(op, 2, array) if by_channel else None
    user = single_user(op.results[0])
    if user is not None and user.get_trait(Adds) is not None and user.parent is op.parent:
        index = 1 if user.operands[0] is op.results[0] else 0
        array = constant_array(user.operands[index])
        if array is not None and _runs_along_channels(array, linear, op):
            return BiasPlace(user, index, array)
    return BiasPlace(op, 2, None) if linear.has_bias else None


def _runs_along_channels(array: Array, linear: Linear, op: OnnxOp) -> bool:
    """True if a constant added to a linear op's result has one entry for each channel, or one for all."""
    if array.size == 1:
        return True
    channels = linear.output_channels(op)
    if array.size != channels:
        return False
    if linear.result_axis < 0:
        return array.shape[-1] == channels
    weight = constant_array(op.operands[1])
    rank = 2 if weight is None else weight.ndim
    return array.ndim >= rank - 1 and array.shape[1 - rank] == channels


def shift_biases(module: ModuleOp, shifts: Mapping[int, Float64]) -> int:
    """
    Add shifts to the biases of the numbered layers of a float module; returns the number of changed biases.

    A linear op without a bias gets one if it has such an operand. Other layers are unchanged.
    """
    changed = 0
    for op in list(main_of(module).body.block.ops):
        number = layer_number(op)
        if number is None or number not in shifts or not shifts[number].any():
            continue
        if isinstance(op, OnnxOp) and (place := bias_place(op)) is not None:
            _shift_one(op, place, shifts[number])
            changed += 1
    return changed


def _shift_one(op: OnnxOp, place: BiasPlace, shift: Float64) -> None:
    old = place.flat
    if place.op is not op:  # an addition is not scaled as Gemm scales its bias
        layer = layer_of(op)
        shift = shift * (1.0 if layer is None else layer.bias_factor)
    values = (shift if old is None else old + shift).astype(np.float32)
    if place.value is not None and place.value.size == values.size:
        values = values.reshape(place.value.shape)
    elif place.op is not op and place.value is not None:
        linear = op.get_trait(Linear)
        behind = 0 if linear is None or linear.result_axis < 0 else len(_shape(op)) - 2
        values = values.reshape(-1, *[1] * behind)
    new = constant_op(values, _name(op, place))
    if place.index < len(place.op.operands):
        put_constant(place.op, place.index, new)
        return
    insert_before(op, new)
    whole = op.__class__.build([*op.operands[:2], new.results[0]], list(op.result_types), op.onnx_attributes)
    whole.location = op.location
    whole.attributes.update(op.attributes)
    insert_before(op, whole)
    op.results[0].replace_all_uses_with(whole.results[0])
    remove(op)


def _shape(op: OnnxOp) -> Sequence[int]:
    weight = constant_array(op.operands[1])
    return () if weight is None else weight.shape


def _name(op: OnnxOp, place: BiasPlace) -> str:
    if place.index < len(place.op.operands):
        name = value_name(place.op.operands[place.index])
    else:
        name = f"{called(op)}_bias"
    return f"{name}_corrected"


def shifts_of(rounded: RoundedWeights, numbers: Iterable[int] | None = None) -> dict[int, Float64]:
    """The shifts of all layers, or of some."""
    chosen = rounded if numbers is None else numbers
    return {k: rounded[k].shift for k in chosen if k in rounded}
