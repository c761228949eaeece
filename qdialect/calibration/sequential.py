"""
Sequential bias correction: each layer's mean error compensated with all layers before it quantized and corrected.

b += E[y of the float model] - E[y of the quantized one], layer after layer in the order of the graph (Nagel et al.
2019, arXiv 1906.04721, section 4.2). One run of the quantized model for each layer: for small models, which need it
most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect.calibration.layers import Array, Float64, layer_of
from qdialect.calibration.observer import Feeds, Observer, observe_samples
from qdialect.calibration.rounding import bias_place, layer_number, shift_biases
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.interface import main_of
from qdialect.promises.linear import Linear

MOST_PRODUCTS = 3e11
"""Greatest number of multiplications of all runs together; beyond it, no layer is corrected."""


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
        linear = ops[number].get_trait(Linear)
        assert linear is not None
        channels = np.moveaxis(array, linear.result_axis, 0).reshape(array.shape[linear.result_axis], -1)
        mean = channels.mean(axis=1, dtype=np.float64)
        sums[number] = sums[number] + mean if number in sums else mean

    observe_samples(observer, list(values), rows, look)
    return {number: total / len(rows) for number, total in sums.items()}


def sequential_shifts(
    float_module: ModuleOp, quantized: ModuleOp, rows: Sequence[Feeds]
) -> dict[int, Float64]:
    """
    Corrections to add to the biases of the numbered layers, (channels,) each.

    quantized: a clone of `float_module` with casts; it is modified. Layers that cannot have a bias are skipped.
    """
    layers = [n for n, op in numbered(quantized).items() if bias_place(op) is not None]
    wanted = mean_results(float_module, layers, rows)
    shifts: dict[int, Float64] = {}
    for number in layers:
        means = mean_results(quantized, [number], rows)
        op = numbered(quantized)[number]
        layer = layer_of(op) or layer_of(numbered(float_module)[number])
        if number not in means or number not in wanted or layer is None:
            continue
        shifts[number] = (wanted[number] - means[number]) / layer.bias_factor
        shift_biases(quantized, {number: shifts[number]})
    return shifts
