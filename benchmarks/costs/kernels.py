"""
Measure what a convolution of u8 activations and i8 weights costs in each of its forms.

    python benchmarks/fit_costs.py [--runs 31] [-o qdialect/targets/costs/onnxruntime.toml]

One thread, onnxruntime's default optimization, the forms in turn, the least time of each. The costs are fitted to what
`qdialect/targets/pricing.py` counts, as relative least squares: the form that is cheapest should come out cheapest, so
a relative error counts the same for small and large convolutions.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import NodeProto, TensorProto, helper

from costs.convolutions import rest
from costs.convolutions import rows as grouped_rows
from costs.elements import (
    elementwise_costs,
    move_costs,
    overhead,
    pool_costs,
    quantize_costs,
    session,
    softmax_costs,
)
from qdialect.targets.pricing import (
    ALIGNED,
    DEPTHWISE,
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

DEFAULT = Path(__file__).parents[2] / "qdialect" / "targets" / "costs" / "onnxruntime.toml"
HEADER = """\
# What a convolution of u8 activations and i8 weights costs in onnxruntime, in nanoseconds, as
# benchmarks/fit_costs.py measured it: the terms are those of qdialect/targets/pricing.py. Conv (ConvPacked with
# a weight that is a float constant), ConvInteger (ConvIntegerSigned with i8 activations) and MatMulIntegerToFloat
# make a float result, QLinearConv makes u8: also in groups of channels, one channel for each output and along three
# axes. Columns are bytes gathered along one axis. QuantizeLinear is one whose zero point is computed at run time.
# ConvTranspose is in float, counted as the convolution of one pixel that it can be; then what a value takes to quantize
# and to move. Softmax and AveragePool are in float with the casts around them, a row of the latter is a window.
"""
RULES = {ALIGNED: {"inputs_multiple": 4, "outputs_multiple": 8, "least_outputs": 16}}
"""When the kernel for symmetric weights runs: read off a sweep of the channels."""


class Shape(NamedTuple):
    """A convolution: batch, channels in and out, input height and width, kernel size, stride."""

    batch: int
    inputs: int
    outputs: int
    size: int
    kernel: int
    stride: int = 1

    @property
    def counted(self) -> Convolution:
        """What the costs are fitted to."""
        pixels = ((self.size - 1) // self.stride + 1) ** 2
        return Convolution(
            self.inputs, self.outputs, (self.kernel,) * 2, (self.stride,) * 2, pixels, True, self.batch
        )


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
]


def columns(shape: Shape) -> tuple[list[NodeProto], dict[str, Array], str]:
    """The pixels under each kernel element side by side as channels: nodes from `t`, channels last."""
    _, _, _, size, k, stride = shape
    node, made, value = helper.make_node, (size - 1) // stride + 1, "t"
    nodes: list[NodeProto] = []
    c: dict[str, Array] = {"pads": np.array([0, k // 2, k // 2, 0] * 2), "step": np.array([stride])}
    if k > 1:
        nodes, value = [node("Pad", ["t", "pads", "zx"], ["p"])], "p"
    for axis in (2, 1):
        parts: list[str] = []
        for at in range(k):
            part = f"s{axis}{at}"
            c |= {f"from{at}": np.array([at]), f"to{at}": np.array([at + (made - 1) * stride + 1])}
            c[f"axis{axis}"] = np.array([axis])
            parts.append(part)
            nodes.append(node("Slice", [value, f"from{at}", f"to{at}", f"axis{axis}", "step"], [part]))
        value = parts[0]
        if k > 1:
            value = f"c{axis}"
            nodes.append(node("Concat", parts, [value], axis=3))
    return nodes, c, value


def product_form(shape: Shape, c: dict[str, Array]) -> ort.InferenceSession:
    """A matrix product of gathered columns, between Transposes."""
    node, weight = helper.make_node, c["w"].transpose(2, 3, 1, 0).reshape(-1, shape.outputs)
    gather, more, value = ([], {}, "t") if shape.counted.is_pointwise else columns(shape)
    nodes = [
        node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
        *gather,
        node("MatMulIntegerToFloat", [value, "m", "sx", "s", "zx", "", "b"], ["g"], domain="com.microsoft"),
        node("Transpose", ["g"], ["y"], perm=[0, 3, 1, 2]),
    ]
    used = {name for n in nodes for name in n.input}
    given = c | more | {"m": np.ascontiguousarray(weight)}
    return session(nodes, {k: v for k, v in given.items() if k in used})


def signed_form(shape: Shape, c: dict[str, Array]) -> ort.InferenceSession:
    """ConvInteger and its scale, activations i8; the weight u8 as in the other form."""
    inputs, attributes = (
        ["x", "u", "zx", "zu"],
        {"pads": [shape.kernel // 2] * 4, "strides": [shape.stride] * 2},
    )
    given = {
        "u": (c["w"].astype(np.int16) + 128).astype(np.uint8),
        "zx": np.array(-8, np.int8),
        "zu": np.array(128, np.uint8),
        "m": (c["sx"] * c["s"]).reshape(1, -1, 1, 1),
        "b": c["b"].reshape(1, -1, 1, 1),
    }
    nodes = [
        helper.make_node("ConvInteger", inputs, ["i"], **attributes),  # pyright: ignore[reportArgumentType]
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "m"], ["g"]),
        helper.make_node("Add", ["g", "b"], ["y"]),
    ]
    return session(nodes, given, operand=TensorProto.INT8)


def quantized_form(shape: Shape, c: dict[str, Array]) -> ort.InferenceSession:
    """QLinearConv, channels last."""
    inputs = ["x", "sx", "zx", "w", "s", "z", "sy", "zy", "bq"]
    attributes: dict[str, Any] = {
        "pads": [shape.kernel // 2] * 4,
        "strides": [shape.stride] * 2,
        "channels_last": 1,
    }
    node = helper.make_node("QLinearConv", inputs, ["y"], domain="com.microsoft", **attributes)
    c = c | {"sy": np.array(0.5, np.float32), "zy": np.array(128, np.uint8)}
    c["bq"] = np.zeros(shape.outputs, np.int32)
    return session([node], {k: c[k] for k in inputs[1:]}, TensorProto.UINT8)


def forms(shape: Shape, rng: np.random.Generator) -> dict[str, ort.InferenceSession]:
    """The forms that the shape has, by the name of the kernel that does the work."""
    _, ci, co, _, k, stride = shape
    w, s = rng.integers(-127, 128, (co, ci, k, k)).astype(np.int8), rng.uniform(0.01, 0.02, co)
    b, row = rng.normal(size=co).astype(np.float32), (1, -1, 1, 1)
    c: dict[str, Array] = {"sx": np.array(0.02, np.float32), "zx": np.array(120, np.uint8), "w": w}
    c |= {"s": s.astype(np.float32), "z": np.zeros(co, np.int8), "b": b}
    at: dict[str, Any] = {"pads": [k // 2] * 4, "strides": [stride] * 2, "kernel_shape": [k, k]}
    node = helper.make_node
    reals = {"v": (w * c["s"].reshape(-1, 1, 1, 1)).astype(np.float32)}
    weight = node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=0)
    nodes = [node("DequantizeLinear", ["x", "sx", "zx"], ["r"]), node("Conv", ["r", "v", "b"], ["y"], **at)]
    found = {
        FLOAT: session([weight, *nodes], c),
        PACKED: session(nodes, c | reals),
        SUM: session(
            [
                node("ConvInteger", ["x", "w", "zx", "zw"], ["i"], **at),
                node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
                node("Mul", ["f", "m"], ["g"]),
                node("Add", ["g", "b"], ["y"]),
            ],
            {
                "zx": c["zx"],
                "w": (w.astype(np.int16) + 128).astype(np.uint8),
                "zw": np.array(128, np.uint8),
                "m": (c["sx"] * c["s"]).reshape(row),
                "b": b.reshape(row),
            },
        ),
    }
    return found | {
        PRODUCT: product_form(shape, c),
        QUANTIZED: quantized_form(shape, c),
        SIGNED: signed_form(shape, c),
    }


def measure(shape: Shape, runs: int) -> dict[str, float]:
    """Least nanoseconds of each form, for the whole batch."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (shape.batch, shape.inputs, shape.size, shape.size)).astype(np.uint8)
    sessions = forms(shape, rng)
    last, signed = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), x.view(np.int8)
    times: dict[str, list[int]] = {name: [] for name in sessions}
    for _ in range(runs + 2):
        for name, one in sessions.items():
            feed = {"x": last if name == QUANTIZED else signed if name == SIGNED else x}
            start = time.perf_counter_ns()
            one.run(None, feed)
            times[name].append(time.perf_counter_ns() - start)
    return {name: min(t) for name, t in times.items()}


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
    times: list[int] = []
    for _ in range(runs):
        start = time.perf_counter_ns()
        one.run(None, {"x": x})
        times.append(time.perf_counter_ns() - start)
    return Convolution(ci, co * k * k, (1, 1), (1, 1), size * size, True, batch), min(times)


def fit(rows: list[tuple[Convolution, float]]) -> list[float]:
    """Costs, none negative, of the least relative squared error."""
    a = np.array([counts(s) for s, _ in rows]) * np.array([[1 / t] for _, t in rows])
    used = list(range(len(TERMS)))
    while True:
        found = np.linalg.lstsq(a[:, used], np.ones(len(rows)), rcond=None)[0]
        if (found >= 0).all():
            return [float(found[used.index(k)]) if k in used else 0.0 for k in range(len(TERMS))]
        used.remove(used[int(np.argmin(found))])


def main() -> None:
    """Measure, fit, print how well it fits, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    args = parser.parse_args()
    least = overhead(args.runs)
    times = {shape: measure(shape, args.runs) for shape in SHAPES}
    rows: dict[str, list[tuple[Convolution, float]]] = {}
    for shape, t in times.items():
        for name, taken in t.items():
            kernel = quantized_kernel(RULES, shape.counted) if name == QUANTIZED else name
            rows.setdefault(kernel, []).append((shape.counted, taken - least))
    names = (FLOAT, PACKED, SUM, SIGNED, PRODUCT, QUANTIZED, POINTWISE, ALIGNED)
    rows = {name: rows[name] for name in names} | grouped_rows(args.runs, least)
    costs = {name: fit(found) for name, found in rows.items()}
    for name, found in costs.items():
        for shape, taken in rows[name]:
            fitted = float(np.dot(found, counts(shape)))
            print(f"{name:22}{tuple(shape)!s:56}{taken / 1e3:8.0f} us, fitted {fitted / 1e3:8.0f}")
    lines: list[str] = []
    for name, found in costs.items():
        cells = [f"{k} = {v:.4f}" for k, v in zip(TERMS, found, strict=True)]
        cells += [f"{k} = {v}" for k, v in RULES.get(name, {}).items()]
        if name == DEPTHWISE:
            cells.append(f"rest = {rest(found, counts, args.runs, least):.4f}")
        lines.append(f"{name} = {{ {', '.join(cells)} }}")
    elements = elementwise_costs(args.runs, least)
    spreads = [(s, t - least) for s, t in (spreading(s, args.runs) for s in SPREADS)]
    found = fit(spreads)
    for shape, taken in spreads:
        print(
            f"ConvTranspose {tuple(shape)} {taken / 1e3:.0f} us, fitted {np.dot(found, counts(shape)) / 1e3:.0f}"
        )
    spread = dict(zip(TERMS, found, strict=True))
    spread |= {"quantize": elements["QuantizeLinear"], **move_costs(args.runs, least)}
    lines.append(f"ConvTranspose = {{ {', '.join(f'{k} = {v:.4f}' for k, v in spread.items())} }}")
    cells = [f"{k} = {v:.4f}" for k, v in quantize_costs(args.runs, least).items()]
    lines.append(f"{QUANTIZE} = {{ {', '.join(cells)} }}")
    rowed = softmax_costs(args.runs, least) | pool_costs(args.runs, least)
    for name, found in rowed.items():
        lines.append(f"{name} = {{ {', '.join(f'{k} = {v:.4f}' for k, v in found.items())} }}")
    cells = [f"{k} = {v:.4f}" for k, v in elements.items()]
    lines += [
        "",
        "# For an element, of float32, of a lookup in a table, of a kernel of integers.",
        "[Elementwise]",
        *cells,
    ]
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(HEADER + "\n".join(lines) + "\n")
