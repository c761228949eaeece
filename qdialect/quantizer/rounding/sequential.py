"""
Sequential bias correction: each layer's mean error compensated with all layers before it quantized and corrected.

b += E[y of the float model] - E[y of the quantized one], layer after layer in the order of the graph (Nagel et al.
2019, arXiv 1906.04721, section 4.2). The quantized model runs once, in parts that end with a layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.observing import taken
from qdialect.evaluation.oracle_form import is_visible
from qdialect.ir.interface import main_of
from qdialect.promises.linear import Linear
from qdialect.quantizer.rounding.layers import Array, Float64, layer_of
from qdialect.quantizer.rounding.rounding import bias_place, layer_number, shift_biases
from qdialect.quantizer.rounding.walk import Walk
from qdialect.quantizer.statistics.observer import Feeds, Observer, observe_samples, value_names

MAX_MULTIPLICATIONS = 3e11
"""Greatest number of multiplications of all samples together; beyond it, no layer is corrected."""


@dataclass(frozen=True)
class Work:
    """The work of a module for one sample."""

    products: float
    """Multiplications of the numbered layers."""
    kept: int
    """Greatest number of elements that are computed and still read, at any op of the graph."""

    def samples(self) -> int:
        """Number of samples within `MAX_MULTIPLICATIONS`."""
        return int(MAX_MULTIPLICATIONS / max(self.products, 1.0))

    def kept_samples(self, memory: int) -> int:
        """Likewise, if `memory` bytes hold what is still read of each, in float32."""
        return min(self.samples(), memory // max(4 * self.kept, 1))


def work_of(module: ModuleOp, elements: Mapping[str, int]) -> Work:
    """elements: number of elements of each tensor for one sample."""
    names = value_names(module).items()
    counted: dict[SSAValue, int] = {v: elements.get(name, 0) for v, name in names if isinstance(v, OpResult)}
    results = {n: counted.get(op.results[0], 0) for n, op in numbered(module).items()}
    return Work(products(module, results), _kept(module, counted))


def _kept(module: ModuleOp, elements: Mapping[SSAValue, int]) -> int:
    ops = list(main_of(module).body.block.ops)
    last = {value: k for k, op in enumerate(ops) for value in taken(op)}
    now = most = 0
    for k, op in enumerate(ops):
        now += sum(elements.get(value, 0) for value in op.results if value in last)
        most = max(most, now)
        now -= sum(elements.get(value, 0) for value in {*taken(op)} if last[value] == k)
    return most


def products(module: ModuleOp, elements: Mapping[int, int]) -> float:
    """Multiplications of the numbered layers for one sample. elements: number of each layer's result."""
    total = 0.0
    for number, op in numbered(module).items():
        layer = layer_of(op)
        total += 0.0 if layer is None else float(elements.get(number, 0) * layer.rows_shape[2])
    return total


def numbered(module: ModuleOp) -> dict[int, OnnxOp]:
    """The layers of a module by number, in the order of the graph."""
    layers: dict[int, OnnxOp] = {}
    for op in main_of(module).body.block.ops:
        number = layer_number(op)
        if number is not None and isinstance(op, OnnxOp) and op.get_trait(Linear) is not None:
            layers[number] = op
    return layers


def mean_results(module: ModuleOp, numbers: Sequence[int], rows: Sequence[Feeds]) -> dict[int, Float64]:
    """E[y] of each channel of some layers' results, (channels,), over samples of equal weight."""
    ops = numbered(module)
    observer = Observer(module)
    results: dict[int, SSAValue] = {n: ops[n].results[0] for n in numbers if n in ops}
    values = {value: n for n, value in results.items() if observer.is_visible(value)}
    sums: dict[int, Float64] = {}

    def look(value: SSAValue, array: Array) -> None:
        number = values[value]
        mean = _by_channel(ops[number], array)
        sums[number] = sums[number] + mean if number in sums else mean

    observe_samples(observer, list(values), rows, look)
    return {number: total / len(rows) for number, total in sums.items()}


def _by_channel(op: OnnxOp, array: Array) -> Float64:
    """The mean of each channel of a layer's result."""
    axis = 0 if (linear := op.get_trait(Linear)) is None else linear.result_axis
    channels = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    return channels.mean(axis=1, dtype=np.float64)


def sequential_shifts(
    float_module: ModuleOp, quantized: ModuleOp, rows: Sequence[Feeds]
) -> dict[int, Float64]:
    """
    Corrections to add to the biases of the numbered layers, (channels,) each.

    quantized: a clone of `float_module` with casts; it is modified. Layers that cannot have a bias are skipped.
    """
    layers = {n: op for n, op in numbered(quantized).items() if bias_place(op) is not None}
    wanted = mean_results(float_module, [*layers], rows)
    walk, shifts = Walk(quantized, rows), dict[int, Float64]()
    for number, op in layers.items():
        layer = layer_of(op) or layer_of(numbered(float_module)[number])
        if number not in wanted or layer is None or not is_visible(op.results[0]):
            continue
        mean = sum(_by_channel(op, array) for array in walk.results(op)) / len(rows)
        shifts[number] = (wanted[number] - mean) / layer.bias_factor
        shift_biases(quantized, {number: shifts[number]})
    return shifts
