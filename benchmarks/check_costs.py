"""
How well costs say what convolutions take that they were not fitted to.

    python benchmarks/check_costs.py [COSTS.toml ...] [--runs 31]

Without a file the costs that the package has; a file is one that `qdialect targets --calibrate` wrote. By kernel the
median of |fitted / measured - 1|, then in how many convolutions with a float result the kernel that the costs choose is
the fastest, and how much longer it takes than that one on average.
"""

import argparse
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from qdialect.measuring.kernels import Shape, measure, overhead
from qdialect.targets import target
from qdialect.targets.pricing import QUANTIZED, SIGNED, Costs, cost, float_kernels, quantized_kernel

HELD_OUT = (
    Shape(1, 20, 40, 24, 3),
    Shape(1, 48, 24, 18, 1),
    Shape(1, 96, 96, 10, 3),
    Shape(2, 12, 20, 22, 5),
    Shape(1, 40, 80, 20, 3, 2),
    Shape(4, 16, 24, 14, 3),
    Shape(1, 3, 24, 80, 5, 2),
    Shape(1, 112, 56, 12, 1),
    Shape(8, 20, 20, 8, 3),
    Shape(1, 160, 64, 7, 3),
    Shape(1, 10, 6, 36, 3),
    Shape(1, 72, 144, 9, 1),
)
"""None of them is among what the costs are fitted to, or what --calibrate measures."""

Times = Mapping[Shape, Mapping[str, float]]


def errors(costs: Costs, times: Times) -> dict[str, float]:
    """By kernel, the median relative error."""
    off: dict[str, list[float]] = {}
    for shape, measured in times.items():
        for name, taken in measured.items():
            kernel = quantized_kernel(costs, shape.counted) if name == QUANTIZED else name
            off.setdefault(kernel, []).append(abs(cost(costs, kernel, shape.counted) / taken - 1))
    return {name: median(each) for name, each in off.items()}


def choices(costs: Costs, times: Times) -> tuple[float, float]:
    """The share of float results for which the fastest kernel is chosen, and how much longer the chosen one takes."""
    right: list[bool] = []
    longer: list[float] = []
    for shape, measured in times.items():
        names = float_kernels((shape.outputs, shape.inputs, shape.kernel, shape.kernel))
        chosen = min(names, key=lambda name: cost(costs, name, shape.counted))
        least = min(measured[name] for name in names)
        right.append(measured[chosen] == least)
        longer.append(measured[chosen] / least - 1)
    return fmean(right), fmean(longer)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure once, print a line for each table of costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", metavar="COSTS.toml")
    parser.add_argument("--runs", type=int, default=31)
    args = parser.parse_args(arguments)
    least = overhead()
    times = {
        shape: {
            name: max(taken - least, 1.0)
            for name, taken in measure(shape, args.runs).items()
            if name != SIGNED
        }
        for shape in HELD_OUT
    }
    for name in ("onnxruntime", *args.files):
        costs = target(name).costs
        said = ", ".join(f"{kernel} {100 * error:.0f} %" for kernel, error in errors(costs, times).items())
        right, longer = choices(costs, times)
        print(
            f"{name}: off by {said}; the fastest chosen in {100 * right:.0f} %, {100 * longer:.1f} % longer"
        )


if __name__ == "__main__":
    main()
