"""
Measure what a convolution of u8 activations and i8 weights with a float result costs in each of its forms.

    python benchmarks/kernel_costs.py [--runs 31] [-o qdialect/targets/costs/onnxruntime.toml]

One thread, onnxruntime's default optimization, the forms in turn, medians. The costs of an image are fitted to

    (a * outputs * products  +  b * (inputs or products)  +  c * outputs) * pixels  +  d        nanoseconds

where products = inputs * kernel size, as relative least squares: the form that is cheapest should come out cheapest, so
a relative error counts the same for small and large convolutions.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import NodeProto, TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]

DEFAULT = Path(__file__).parent.parent / "qdialect" / "targets" / "costs" / "onnxruntime.toml"
HEADER = """\
# What a convolution of u8 activations with a float result costs in onnxruntime, in nanoseconds, as
# benchmarks/kernel_costs.py measured it: per output pixel for each product, value that is read and value that is
# written, and per image.
"""


class Shape(NamedTuple):
    """A convolution: batch, channels in and out, input height and width, kernel size, stride."""

    batch: int
    inputs: int
    outputs: int
    size: int
    kernel: int
    stride: int = 1

    @property
    def pixels(self) -> int:
        """Output pixels."""
        return self.batch * ((self.size - 1) // self.stride + 1) ** 2

    @property
    def products(self) -> int:
        """Products in one output."""
        return self.inputs * self.kernel**2


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
]


def session(nodes: Sequence[NodeProto], constants: dict[str, Array]) -> ort.InferenceSession:
    """A model of x, u8 of any size, and y."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, [None] * 4)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * 4)],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def forms(shape: Shape, rng: np.random.Generator) -> dict[str, ort.InferenceSession]:
    """The forms that the shape has, by the name of the kernel that does the work."""
    _, ci, co, _, k, stride = shape
    w, s = rng.integers(-127, 128, (co, ci, k, k)).astype(np.int8), rng.uniform(0.01, 0.02, co)
    b, row = rng.normal(size=co).astype(np.float32), (1, -1, 1, 1)
    c: dict[str, Array] = {"sx": np.array(0.02, np.float32), "zx": np.array(120, np.uint8), "w": w}
    c |= {"s": s.astype(np.float32), "z": np.zeros(co, np.int8), "b": b}
    at: dict[str, Any] = {"pads": [k // 2] * 4, "strides": [stride] * 2, "kernel_shape": [k, k]}
    node = helper.make_node
    found = {
        "Conv": session(
            [
                node("DequantizeLinear", ["x", "sx", "zx"], ["r"]),
                node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=0),
                node("Conv", ["r", "v", "b"], ["y"], **at),
            ],
            c,
        ),
        "ConvInteger": session(
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
    if (k, stride) == (1, 1):
        found["MatMulIntegerToFloat"] = session(
            [
                node("Transpose", ["x"], ["t"], perm=[0, 2, 3, 1]),
                node(
                    "MatMulIntegerToFloat",
                    ["t", "w", "sx", "s", "zx", "", "b"],
                    ["g"],
                    domain="com.microsoft",
                ),
                node("Transpose", ["g"], ["y"], perm=[0, 3, 1, 2]),
            ],
            {k: v for k, v in c.items() if k != "z"} | {"w": np.ascontiguousarray(w[:, :, 0, 0].T)},
        )
    return found


def measure(shape: Shape, runs: int) -> dict[str, float]:
    """Median nanoseconds of each form."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (shape.batch, shape.inputs, shape.size, shape.size)).astype(np.uint8)
    sessions = forms(shape, rng)
    times: dict[str, list[int]] = {name: [] for name in sessions}
    for _ in range(runs + 2):
        for name, one in sessions.items():
            start = time.perf_counter_ns()
            one.run(None, {"x": x})
            times[name].append(time.perf_counter_ns() - start)
    return {name: statistics.median(t[2:]) for name, t in times.items()}


def terms(name: str, shape: Shape) -> list[float]:
    """What the costs are multiplied with, per output pixel; the last is an image's."""
    gathers = name == "ConvInteger" and (shape.kernel > 1 or shape.stride > 1)
    read = shape.products if gathers else 0 if name == "ConvInteger" else shape.inputs * shape.stride**2
    return [shape.outputs * shape.products, read, shape.outputs, shape.batch / shape.pixels]


def fit(rows: list[tuple[Shape, float]], name: str) -> list[float]:
    """Costs, none negative, of the least relative squared error."""
    a = np.array([terms(name, s) for s, _ in rows]) / np.array([[t / s.pixels] for s, t in rows])
    used = list(range(4))
    while True:
        found = np.linalg.lstsq(a[:, used], np.ones(len(rows)), rcond=None)[0]
        if (found >= 0).all():
            return [float(found[used.index(k)]) if k in used else 0.0 for k in range(4)]
        used.remove(used[int(np.argmin(found))])


def main() -> None:
    """Measure, fit, print how well it fits, and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=31)
    parser.add_argument("-o", "--output", type=Path, default=DEFAULT)
    args = parser.parse_args()
    times = {shape: measure(shape, args.runs) for shape in SHAPES}
    names = ["Conv", "ConvInteger", "MatMulIntegerToFloat"]
    costs = {n: fit([(s, t[n]) for s, t in times.items() if n in t], n) for n in names}
    for shape, t in times.items():
        fitted = {n: float(np.dot(costs[n], terms(n, shape))) * shape.pixels for n in t}
        chosen = min(fitted, key=fitted.__getitem__)
        cells = "  ".join(f"{n} {t[n] / 1e3:.0f} us ({fitted[n] / 1e3:.0f})" for n in t)
        print(f"{tuple(shape)}  {cells}  -> {chosen}: {t['Conv'] / t[chosen]:.2f} times as fast as Conv")
    keys = ("product", "read", "written", "image")
    lines = [
        f"{n} = {{ {', '.join(f'{k} = {v:.4f}' for k, v in zip(keys, found, strict=True))} }}"
        for n, found in costs.items()
    ]
    args.output.parent.mkdir(exist_ok=True)
    args.output.write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
