"""
Measure what a convolution of u8 activations and i8 weights costs in each of its forms.

    python benchmarks/fit_costs.py [--runs 31] [-o qdialect/targets/costs/onnxruntime.toml]

One thread, onnxruntime's default optimization, the forms in turn, the least time of each. The costs are fitted to what
`qdialect/targets/pricing.py` counts, as relative least squares: the form that is cheapest should come out cheapest, so
a relative error counts the same for small and large convolutions.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import helper

from costs.convolutions import MULTIPLE, rest
from costs.convolutions import rows as grouped_rows
from costs.elements import (
    elementwise_costs,
    move_costs,
    pool_costs,
    quantize_costs,
    softmax_costs,
)
from costs.fitting import fitted
from qdialect.measuring.kernels import Shape, least_time, measure, overhead, session
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
    DEPTHWISE_ALIGNED,
    FLOAT,
    PACKED,
    POINTWISE,
    PRODUCT,
    QUANTIZE,
    QUANTIZED,
    SIGNED,
    SUM,
    TERMS,
    Convolution,
    counts,
    quantized_kernel,
)

Array = npt.NDArray[Any]

DEFAULT = Path(__file__).parents[1] / "qdialect" / "targets" / "costs" / "onnxruntime.toml"
HEADER = """\
# What a convolution of u8 activations and i8 weights costs in onnxruntime, in nanoseconds, as
# benchmarks/fit_costs.py measured it: the terms are those of qdialect/targets/pricing.py. Conv (ConvPacked with
# a weight that is a float constant), ConvInteger (ConvIntegerSigned with i8 activations) and MatMulIntegerToFloat
# make a float result, QLinearConv makes u8: also in groups of channels, one channel for each output and along three
# axes. Columns are bytes gathered along one axis. QuantizeLinear is one whose zero point is computed at run time.
# ConvTranspose is in float, counted as the convolution of one pixel that it can be; then what a value takes to quantize
# and to move. Softmax and AveragePool are in float with the casts around them, a row of the latter is a window.
"""
RULES = {
    ALIGNED: {"inputs_multiple": 4, "outputs_multiple": 8, "least_outputs": 16},
    PACKED: {"outputs_multiple": 16},
    DEPTHWISE_ALIGNED: {"outputs_multiple": MULTIPLE},
}
"""When the kernels for symmetric weights run, and a float one's block of results: read off sweeps of the channels."""


SHAPES = [
    Shape(16, 48, 16, 8, 1),
    Shape(16, 24, 24, 8, 1),
    Shape(16, 8, 3, 32, 1),
    Shape(1, 64, 6, 30, 1),
    Shape(1, 128, 4, 30, 1),
    Shape(1, 32, 96, 28, 1),
    Shape(1, 64, 64, 56, 1),
    Shape(1, 64, 256, 56, 1),
    Shape(1, 512, 128, 28, 1),
    Shape(1, 256, 512, 14, 1),
    Shape(16, 16, 32, 16, 1, 2),
    Shape(16, 32, 64, 8, 1, 2),
    Shape(1, 256, 512, 28, 1, 2),
    Shape(16, 16, 16, 16, 3),
    Shape(16, 32, 32, 8, 3),
    Shape(16, 64, 64, 4, 3),
    Shape(16, 8, 8, 32, 3),
    Shape(16, 24, 12, 32, 3),
    Shape(1, 3, 32, 64, 3, 2),
    Shape(1, 64, 64, 28, 3),
    Shape(1, 128, 128, 28, 3),
    Shape(1, 256, 256, 14, 3),
    Shape(16, 1, 8, 16, 3),
    Shape(16, 3, 8, 32, 3),
    Shape(1, 3, 16, 64, 3),
    Shape(1, 4, 16, 64, 3),
    Shape(16, 12, 12, 16, 3),
    Shape(16, 12, 48, 16, 3),
    Shape(16, 24, 24, 16, 3),
    Shape(16, 32, 32, 16, 3),
    Shape(16, 48, 48, 8, 3),
    Shape(1, 16, 32, 32, 5),
    Shape(1, 6, 16, 28, 5),
    Shape(1, 3, 64, 112, 7, 2),
    Shape(1, 12, 64, 56, 5),
    Shape(16, 8, 16, 16, 3, 2),
    Shape(1, 4, 16, 64, 3, 2),
    Shape(16, 24, 12, 32, 1),
    Shape(16, 8, 4, 32, 1),
    Shape(16, 32, 16, 16, 1),
    Shape(1, 16, 16, 64, 1),
    Shape(1, 1, 4, 5, 3),
    Shape(1, 4, 4, 8, 3),
    Shape(1, 8, 16, 4, 3),
    Shape(1, 8, 24, 7, 1),
    Shape(1, 24, 16, 3, 1),
    Shape(1, 6, 10, 6, 1),
    Shape(1, 32, 32, 7, 3),
    Shape(1, 16, 16, 8, 3, 2),
    Shape(1, 5, 7, 9, 3, 2),
    Shape(1, 64, 6, 30, 3),
    Shape(1, 256, 12, 16, 3),
    Shape(16, 32, 12, 16, 3),
    Shape(1, 128, 36, 20, 3),
    Shape(1, 6, 6, 32, 5),
    Shape(1, 3, 32, 112, 3, 2),
    Shape(1, 30, 30, 28, 3, 2),
    Shape(1, 256, 10, 14, 1),
    Shape(1, 24, 6, 40, 1),
    Shape(1, 3, 16, 64, 1),
    Shape(1, 128, 36, 20, 1),
    Shape(1, 3, 64, 224, 7, 2),
    Shape(1, 6, 128, 56, 5),
    Shape(1, 10, 64, 56, 3),
    Shape(1, 18, 128, 28, 3),
    Shape(1, 50, 200, 28, 3),
    Shape(1, 126, 254, 14, 3),
    Shape(1, 30, 30, 56, 3),
    Shape(1, 1, 32, 28, 5),
    Shape(1, 12, 128, 56, 5),
    Shape(1, 12, 64, 112, 4),
    Shape(1, 24, 128, 28, 5),
    Shape(1, 128, 128, 56, 3, 2),
]


SPREADS = [
    Shape(1, 32, 16, 8, 2, 2),
    Shape(16, 32, 16, 8, 2, 2),
    Shape(16, 24, 12, 16, 2, 2),
    Shape(16, 48, 24, 8, 2, 2),
    Shape(16, 16, 8, 16, 2, 2),
    Shape(1, 64, 64, 32, 2, 2),
    Shape(1, 128, 64, 14, 2, 2),
    Shape(1, 16, 16, 16, 4, 4),
    Shape(1, 8, 4, 30, 2, 2),
    Shape(1, 256, 128, 14, 2, 2),
    Shape(1, 128, 64, 16, 4, 2),
    Shape(1, 64, 32, 32, 3, 2),
    Shape(1, 8, 3, 32, 4, 2),
    Shape(16, 32, 16, 8, 4, 2),
    Shape(1, 64, 64, 14, 5, 2),
    Shape(1, 512, 256, 4, 4, 2),
    Shape(1, 16, 16, 32, 3, 1),
    Shape(1, 4, 4, 8, 3, 2),
    Shape(1, 32, 1, 32, 9, 4),
    Shape(1, 1, 4, 64, 4, 2),
    Shape(1, 2, 8, 32, 4, 2),
    Shape(1, 3, 8, 64, 4, 2),
    Shape(1, 1, 16, 64, 4, 2),
    Shape(1, 2, 2, 64, 2, 2),
    Shape(1, 3, 12, 48, 3, 2),
]
"""Transposed convolutions, their windows side by side or over one another."""


def spreading(shape: Shape, runs: int) -> tuple[Convolution, float]:
    """The convolution of one pixel that a transposed one is, and its least nanoseconds in float between casts."""
    batch, ci, co, size, k, stride = shape
    rng, node = np.random.default_rng(3), helper.make_node
    c: dict[str, Array] = {
        "w": rng.integers(-127, 128, (ci, co, k, k)).astype(np.int8),
        "s": rng.uniform(0.01, 0.02, co).astype(np.float32),
        "z": np.zeros(co, np.int8),
        "sx": np.array(0.02, np.float32),
        "zx": np.array(120, np.uint8),
    }
    nodes = [
        node("DequantizeLinear", ["x", "sx", "zx"], ["r"]),
        node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=1),
        node("ConvTranspose", ["r", "v"], ["y"], strides=[stride] * 2, pads=[(k - stride) // 2] * 4),
    ]
    one = session(nodes, c)
    x = rng.integers(0, 256, (batch, ci, size, size)).astype(np.uint8)
    counted = Convolution(ci, co * k * k, (1, 1), (1, 1), size * size, True, batch)
    return counted, least_time(one, x, runs)


def fit(rows: list[tuple[Convolution, float]]) -> list[float]:
    """Costs, none negative, of the least relative squared error."""
    return fitted([counts(s) for s, _ in rows], [t for _, t in rows])


def main() -> None:
    """Measure, fit, print how well it fits, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    args = parser.parse_args()
    least = overhead()
    times = {shape: measure(shape, args.runs) for shape in SHAPES}
    rows: dict[str, list[tuple[Convolution, float]]] = {}
    for shape, t in times.items():
        for name, taken in t.items():
            kernel = quantized_kernel(RULES, shape.counted) if name == QUANTIZED else name
            rows.setdefault(kernel, []).append((shape.counted, taken - least))
    names = (FLOAT, PACKED, SUM, SIGNED, PRODUCT, QUANTIZED, POINTWISE, ALIGNED)
    rows = {name: rows[name] for name in names} | grouped_rows(args.runs, least)
    costs = {name: fit(measured) for name, measured in rows.items()}
    for name, terms in costs.items():
        for shape, taken in rows[name]:
            fitted = float(np.dot(terms, counts(shape)))
            print(f"{name:22}{tuple(shape)!s:56}{taken / 1e3:8.0f} us, fitted {fitted / 1e3:8.0f}")
    lines: list[str] = []
    for name, terms in costs.items():
        cells = [f"{k} = {v:.4f}" for k, v in zip(TERMS, terms, strict=True)]
        cells += [f"{k} = {v}" for k, v in RULES.get(name, {}).items()]
        if name == DEPTHWISE:
            cells.append(f"rest = {rest(terms, counts, args.runs, least):.4f}")
        lines.append(f"{name} = {{ {', '.join(cells)} }}")
    elements = elementwise_costs(args.runs, least)
    spreads = [(s, t - least) for s, t in (spreading(s, args.runs) for s in SPREADS)]
    terms = fit(spreads)
    for shape, taken in spreads:
        print(
            f"ConvTranspose {tuple(shape)} {taken / 1e3:.0f} us, fitted {np.dot(terms, counts(shape)) / 1e3:.0f}"
        )
    spread = dict(zip(TERMS, terms, strict=True))
    spread |= {"quantize": elements["QuantizeLinear"], **move_costs(args.runs, least)}
    lines.append(f"ConvTranspose = {{ {', '.join(f'{k} = {v:.4f}' for k, v in spread.items())} }}")
    cells = [f"{k} = {v:.4f}" for k, v in quantize_costs(args.runs, least).items()]
    lines.append(f"{QUANTIZE} = {{ {', '.join(cells)} }}")
    rowed = softmax_costs(args.runs, least) | pool_costs(args.runs, least)
    for name, terms in rowed.items():
        lines.append(f"{name} = {{ {', '.join(f'{k} = {v:.4f}' for k, v in terms.items())} }}")
    cells = [f"{k} = {v:.4f}" for k, v in elements.items()]
    lines += [
        "",
        "# For an element, of float32, of a lookup in a table, of a kernel of integers.",
        "[Elementwise]",
        *cells,
    ]
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
