"""
`--weights int4`, weight-only quantization: weights of matrix products in 4 bits, a scale per block, float activations.

Codes are rounded by GPTQ if there are samples and held-out ones confirm it, else to nearest; and so that each layer
compensates the error of its inputs if that is better for the whole model. Layers of much noise stay in float if a limit
asks for it. The target's passes turn the DequantizeLinear that is written here into MatMulNBits or another kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.compiler.options import Calibration, Options
from qdialect.data.reading import Data
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.errors import UserError
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import insert_before
from qdialect.ir.interface import main_of
from qdialect.ir.names import called, location, value_name
from qdialect.ir.values import known_array
from qdialect.onnx_io.exporter import export_model
from qdialect.ops.generated import op_named
from qdialect.promises.weight_only import WeightOnly
from qdialect.quantizer.preparing import prepare
from qdialect.quantizer.rounding.gptq import blocked_codes
from qdialect.quantizer.rounding.hessian import divided
from qdialect.quantizer.rounding.input_errors import Pair, Pairs, best_target
from qdialect.quantizer.rounding.layers import Array, Float64, known_layer, layer_of
from qdialect.quantizer.rounding.rounding import (
    largest_magnitude,
    layer_number,
    number_layers,
    observed_waves,
)
from qdialect.quantizer.rounding.sequential import numbered, work_of
from qdialect.quantizer.search.accuracy import Accuracy, accuracy_of
from qdialect.quantizer.search.judging import outputs
from qdialect.quantizer.search.max_drop import Limit
from qdialect.quantizer.search.trials import MIN_GAIN_DB, MIN_GAIN_STANDARD_ERRORS
from qdialect.quantizer.statistics.calibration import Calibrated, Feeds, calibrate
from qdialect.quantizer.statistics.observer import value_names
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Noise, Row, measure_noise
from qdialect.reasons import Blocked
from qdialect.report.compilation import compile_as
from qdialect.report.report import Report
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.manager import run_passes
from qdialect.transforms.insert_casts import elements_of
from qdialect.transforms.raise_opset import RaiseOpsetPass

BLOCKS_OPSET = 21
"""First opset whose DequantizeLinear has blocks and 4-bit integers."""
INT4_LOW, INT4_HIGH = -8, 7
DEFAULT_BLOCK = 32
BLOCK_SIZES = (16, 32, 64, 128, 256)
"""Block sizes of MatMulNBits."""


@dataclass(frozen=True)
class WeightFormat:
    """Format of quantized weights: the value of `--weights`."""

    bits: int = 8
    block: int = DEFAULT_BLOCK
    """Number of summed elements that share a scale, in 4 bits."""


def parse_weights(text: str) -> WeightFormat:
    """`int8`, `int4` or `int4,block=N`. UserError for anything else."""
    if text == "int8":
        return WeightFormat()
    match = re.fullmatch(r"int4(?:,block=(\d+))?", text)
    if match is None:
        raise UserError(f"'{text}' is not a type of weights", "say int8, int4 or int4,block=32")
    block = int(match[1] or DEFAULT_BLOCK)
    if block not in BLOCK_SIZES:
        raise UserError(f"{block} is not a block size", f"choose from {', '.join(map(str, BLOCK_SIZES))}")
    return WeightFormat(4, block)


@dataclass(frozen=True)
class QuantizedWeights:
    """A model with weights of 4 bits, compiled."""

    report: Report
    ratio: float
    """Signal to noise on the judging samples, in dB; NaN without any."""
    rounded: Mapping[int, RoundedBlocks]
    """The weights by the number of the layer."""
    lines: list[str]
    """Lines on layers in float for a limit."""
    known: Calibrated
    accuracy: Accuracy | None
    tried: list[str]
    """Lines on what was tried for the whole model."""


def quantize_weights(
    module: ModuleOp,
    data: Data | None,
    calibration: Calibration,
    options: Options,
    block: int,
    limit: Limit | None,
    feeds: Sequence[Feeds],
) -> QuantizedWeights:
    """A clone of a float module with weights in blocks of 4 bits and activations in float, of opset 21, compiled."""
    prepared = module.clone()
    origin = prepare(prepared, options)
    run_passes(prepared, [RaiseOpsetPass(to=BLOCKS_OPSET)], origin)
    known = calibrate(prepared, data, calibration)
    accuracy = accuracy_of(module, known.held_out, calibration, options.target)
    judges = known.samples.judging
    if limit is not None and not judges:
        raise UserError("--max-drop needs samples to measure on", "give --data as well as the profile")
    rounded = round_weights(
        prepared,
        known.profile,
        known.samples.steering,
        block,
        memory=calibration.memory,
        rounding=calibration.rounding,
        show=calibration.progress,
    )
    expected, lines, ratio = _outputs(prepared, judges), list[str](), float("nan")
    tried: list[str] = []
    if calibration.rounding is None and judges:
        others = compensate(
            prepared, rounded, known.profile, known.samples.steering, block, memory=calibration.memory
        )
        if any(others[number] is not one for number, one in rounded.items()):
            rounded, tried = _better(prepared, rounded, others, block, judges, expected)
    if limit is not None:
        rounded, lines = _within(limit, prepared, rounded, block, judges, expected, accuracy)
    write_weights(prepared, rounded, block)
    report = compile_as(prepared, options.plain, feeds, origin=origin)
    if judges:
        ratio = measure_noise(expected, _outputs(prepared, judges)).ratio()
    return QuantizedWeights(report, ratio, rounded, lines, known, accuracy, tried)


def _outputs(module: ModuleOp, rows: Sequence[Row]) -> list[list[Array]]:
    return outputs(export_model(module).SerializeToString(deterministic=True), rows)


def _better(
    module: ModuleOp,
    plain: Mapping[int, RoundedBlocks],
    others: Mapping[int, RoundedBlocks],
    block: int,
    rows: Sequence[Row],
    expected: list[list[Array]],
) -> tuple[Mapping[int, RoundedBlocks], list[str]]:
    """`others` if they beat `plain` on held-out samples by more than chance, else `plain`; and a line on both."""
    noises: list[Noise] = []
    for weights in (plain, others):
        written = module.clone()
        write_weights(written, weights, block)
        noises.append(measure_noise(expected, _outputs(written, rows)))
    before, after = noises
    margin = max(MIN_GAIN_DB, MIN_GAIN_STANDARD_ERRORS * after.doubt(before))
    wins = after.ratio() >= before.ratio() + margin
    line = f"errors of inputs compensated: {after.ratio():.1f} dB, {before.ratio():.1f} dB without"
    return (others if wins else plain), [line if wins else f"{line}: not used"]


def _within(
    limit: Limit,
    module: ModuleOp,
    rounded: Mapping[int, RoundedBlocks],
    block: int,
    rows: Sequence[Row],
    expected: list[list[Array]],
    accuracy: Accuracy | None,
) -> tuple[dict[int, RoundedBlocks], list[str]]:
    """The weights to write within a limit, and lines on those left in float."""

    def loss(weights: Mapping[int, RoundedBlocks]) -> float:
        written = module.clone()
        write_weights(written, weights, block)
        if limit.lost is not None and accuracy is not None:
            return max(accuracy.before.loss(accuracy.after(written)), 0.0)
        return limit.loss(expected, _outputs(written, rows))

    left, least = fewest_kept(rounded, loss, limit.most)
    names = [one.name for number, one in rounded.items() if number not in left]
    return left, _kept_lines(limit, least, names)


def _kept_lines(limit: Limit, loss: float, names: Sequence[str]) -> list[str]:
    """Line on the layers whose weights stay in float within a limit, with the flag that gives the same result."""
    if loss > limit.most:
        return [f"{limit.text} is not reached with any weight in 4 bits: {limit.shown(loss)}"]
    if not names:
        return [f"{limit.text} holds without a layer kept in float for it"]
    count = f"{len(names)} layer{'s' if len(names) > 1 else ''}"
    return [f"{limit.text} holds with {count} kept in float for it: --keep-float {','.join(names)}"]


@dataclass(frozen=True)
class RoundedBlocks:
    """A weight in blocks."""

    name: str
    """The name of its layer."""
    codes: Array
    scales: Array
    said: str
    """How it was rounded, as the log says it."""
    noise: float
    """Noise of the layer's result on samples, relative to its signal; of the weight's elements without samples."""

    def __str__(self) -> str:
        return f"{self.name}: {self.said}"


def round_weights(
    module: ModuleOp,
    profile: Profile,
    rows: Sequence[Row],
    block: int,
    *,
    memory: int,
    rounding: str | None = None,
    show: Callable[[str], None] = lambda text: None,
) -> dict[int, RoundedBlocks]:
    """
    The weights of a float module's matrix products in 4 bits, by the number of the layer; kept ones are left out.

    The module is of opset 21 or newer. rows: samples that steer the rounding; none: to nearest. rounding: `nearest` or
    `gptq`; None: that which is better on held-out samples.
    """
    layers = {n: op for n, op in number_layers(module).items() if _has_kernel(op)}
    done: dict[int, RoundedBlocks] = {}
    for wave, moments in observed_waves(module, layers, profile, rows, memory, show):
        for number, op in wave.items():
            steering, judging = moments.steering[number], moments.judging[number]
            is_whole = steering.parts == 1 or (steering.size % block == 0)
            seen = steering.matrix() if steering.count and is_whole else None
            judge = judging.matrix() if judging.count else seen
            done[number] = _round_one(op, seen, judge, block, rounding)
    return done


def compensate(
    module: ModuleOp,
    rounded: Mapping[int, RoundedBlocks],
    profile: Profile,
    rows: Sequence[Row],
    block: int,
    *,
    memory: int,
) -> dict[int, RoundedBlocks]:
    """
    `rounded`, in which layers compensate the error of their inputs, one after the other (`rounding.input_errors`).
    A layer does so if that is better on those of the samples `rows` that do not steer its rounding.

    All are unchanged if too few samples can be run, or held in `memory` with all that later layers still read of them.
    """
    done, names, layers = dict(rounded), value_names(module), numbered(module)
    rows = rows[: work_of(module, elements_of(profile)).kept_samples(memory // 2)]
    if len(rows) < MIN_SAMPLES:
        return done
    largest = {n: largest_magnitude(profile, names.get(layers[n].operands[0], "")) for n in rounded}
    pairs = Pairs(module, rows, largest, memory)
    for number in pairs.numbers:
        if (pair := pairs.of(number)) is not None:
            done[number] = _compensate_one(pair, rounded[number], block)
        real = _dequantized(done[number].codes, done[number].scales, block)
        pairs.put(number, known_layer(layers[number]).weight(real[None]))
    return done


def write_weights(module: ModuleOp, rounded: Mapping[int, RoundedBlocks], block: int) -> None:
    """Write weights as constants in blocks, into the module that they were rounded for or a clone of it."""
    for op in list(main_of(module).body.block.ops):
        number = layer_number(op)
        if isinstance(op, OnnxOp) and number is not None and number in rounded:
            one = rounded[number]
            _write(op, known_layer(op).output_axis or 0, one.codes, one.scales, block)


def fewest_kept(
    rounded: Mapping[int, RoundedBlocks], loss: Callable[[Mapping[int, RoundedBlocks]], float], most: float
) -> tuple[dict[int, RoundedBlocks], float]:
    """
    The weights without those of the layers of most noise, as few as the limit `most` of `loss` asks for, and the loss.
    """
    order = sorted(rounded, key=lambda number: -rounded[number].noise)

    def left(count: int) -> dict[int, RoundedBlocks]:
        return {number: rounded[number] for number in rounded if number not in order[:count]}

    seen = {0: loss(rounded)}
    low, high = 0, 0 if seen[0] <= most else len(order)
    while low < high:
        middle = (low + high) // 2
        seen[middle] = seen.get(middle, 0.0) or loss(left(middle))
        low, high = (low, middle) if seen[middle] <= most else (middle + 1, high)
    return left(high), seen[high] if high in seen else loss(left(high))


def _has_kernel(op: OnnxOp) -> bool:
    """True if a weight-only kernel computes the op."""
    promise, layer = op.get_trait(WeightOnly), layer_of(op)
    if is_kept(op):
        return False
    if promise is None or layer is None or isinstance(promise.guard(op), Blocked):
        return False
    return layer.rows_shape[0] == 1 and len(layer.weight_shape) == 2


def _nearest(rows: Array, block: int) -> tuple[Array, Array]:
    codes, scales = (
        np.empty(rows.shape, np.int8),
        np.empty((rows.shape[0], -(-rows.shape[1] // block)), np.float32),
    )
    for b in range(scales.shape[1]):
        part = rows[:, b * block : (b + 1) * block]
        reach = np.abs(part).max(axis=1) / INT4_HIGH
        scales[:, b] = np.where(reach > 0, reach, 1.0)
        codes[:, b * block : (b + 1) * block] = numerics.quantize(
            part, scales[:, b, None], 0, INT4_LOW, INT4_HIGH, np.int8
        )
    return codes, scales


def _dequantized(codes: Array, scales: Array, block: int) -> Array:
    return numerics.dequantize(codes, scales, 0, blocks=[(1, block)])


def _error(rows: Array, codes: Array, scales: Array, block: int, hessian: Float64) -> float:
    return _energy(rows.astype(np.float64) - _dequantized(codes, scales, block), hessian)


def _energy(rows: Float64, hessian: Float64) -> float:
    """The energy of the products of rows with samples of that Hessian."""
    parts = divided(rows[None], len(hessian))
    return float(np.einsum("gnk,gnk->", parts @ hessian, parts))


def _error_of_elements(rows: Array, codes: Array, scales: Array, block: int) -> float:
    real = _dequantized(codes, scales, block)
    return float(np.square(rows - real).sum() / max(float(np.square(rows).sum()), 1e-300))


def _round_one(
    op: OnnxOp, seen: Float64 | None, judge: Float64 | None, block: int, rounding: str | None
) -> RoundedBlocks:
    layer, weight = known_layer(op), known_array(op.operands[1])
    rows = layer.rows(weight)[0]
    codes, scales = _nearest(rows, block)
    said = "to nearest"
    if seen is None or judge is None:
        return RoundedBlocks(called(op), codes, scales, said, _error_of_elements(rows, codes, scales, block))
    plain = left = _error(rows, codes, scales, block, judge)
    if rounding != "nearest":
        others = blocked_codes(rows, seen, block, INT4_LOW, INT4_HIGH, np.int8)
        better = _error(rows, *others, block, judge)
        if better < plain or rounding == "gptq":
            (codes, scales), left = others, better
            gain = 10 * np.log10(max(plain, 1e-300) / max(better, 1e-300))
            said = f"by GPTQ, {gain:.1f} dB better than to nearest"
    signal = _energy(rows.astype(np.float64), judge)
    return RoundedBlocks(called(op), codes, scales, said, left / max(signal, 1e-300))


def _compensate_one(pair: Pair, plain: RoundedBlocks, block: int) -> RoundedBlocks:
    """`plain`, or the weight rounded for the inputs that the layer reads, if that is better on held-out samples."""
    rows = known_layer(pair.op).rows(known_array(pair.op.operands[1]))
    steering, judging = pair.steering.error_of(rows), pair.judging.error_of(rows)
    if steering.parts > 1 and steering.hessian.shape[1] % block:
        return plain
    aim = best_target(steering, judging)[0]
    codes, scales = blocked_codes(aim, steering.hessian, block, INT4_LOW, INT4_HIGH, np.int8)
    before = judging.of(_dequantized(plain.codes, plain.scales, block)[None])
    after = judging.of(_dequantized(codes, scales, block)[None])
    if not after < before:
        return plain
    gain = 10 * np.log10(max(before, 1e-300) / max(after, 1e-300))
    return replace(
        plain, codes=codes, scales=scales, said=f"{plain.said}, {gain:.1f} dB with the error of its inputs"
    )


def _write(op: OnnxOp, output_axis: int, codes: Array, scales: Array, block: int) -> None:
    """Replace the weight by a DequantizeLinear of constants."""
    stored, steps = (codes, scales) if output_axis == 0 else (codes.T, scales.T)
    value = op.operands[1]
    name = value_name(value)
    constants: list[ConstantOp] = []
    for array, suffix in ((stored.astype(ml_dtypes.int4), "int4"), (steps, "scales")):
        new = constant_op(np.ascontiguousarray(array), f"{name}_{suffix}" if name else "")
        constants.append(new)
    attributes = {"axis": int_attr(1 - output_axis), "block_size": int_attr(block)}
    inputs: list[SSAValue | None] = [constants[0].results[0], constants[1].results[0]]
    real = op_named("", "DequantizeLinear").build(inputs, [value.type], attributes)
    real.location = location("", [f"{name}_dequantized" if name else ""])
    insert_before(op, *constants, real)
    op.operands[1] = real.results[0]
