"""
Quantize a small float model: a profile, what was tried, and what the integers cost.

    python examples/quantize.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper, save

import qdialect

CHANNELS = 64
SHAPE = [1, CHANNELS, 14, 14]


def float_model(path: Path) -> None:
    """Four convolutions with a residual edge."""
    draw = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for k in range(4):
        weight = draw.normal(size=(CHANNELS, CHANNELS, 3, 3)).astype(np.float32) / 24
        weights.append(numpy_helper.from_array(weight, f"w{k}"))
        nodes.append(helper.make_node("Conv", [value, f"w{k}"], [f"c{k}"], f"conv{k}", pads=[1, 1, 1, 1]))
        if k == 2:
            nodes.append(helper.make_node("Add", ["c2", "r0"], ["sum"], "residual"))
        nodes.append(helper.make_node("Relu", ["sum" if k == 2 else f"c{k}"], [f"r{k}"], f"relu{k}"))
        value = f"r{k}"
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in ("x", value))
    graph = helper.make_graph(nodes, "example", [x], [y], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))


def run(path: Path, x: np.ndarray) -> np.ndarray:
    """The model's output, as onnxruntime runs it."""
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


def main() -> None:
    """Make, quantize and compare."""
    draw = np.random.default_rng(1)
    samples = [{"x": draw.normal(size=SHAPE).astype(np.float32)} for _ in range(32)]
    with TemporaryDirectory() as folder:
        float_path, int8_path = Path(folder, "float.onnx"), Path(folder, "int8.onnx")
        float_model(float_path)
        module = qdialect.load(float_path)
        done = qdialect.quantize(module, samples)
        qdialect.save(module, int8_path)
        x = draw.normal(size=SHAPE).astype(np.float32)
        wanted, found = run(float_path, x), run(int8_path, x)
        print(*(f"tried {line}" for line in done.log), sep="\n")
        print(*done.summary(), sep="\n")
        noise = 10 * np.log10((wanted**2).sum() / ((wanted - found) ** 2).sum())
        sizes = [path.stat().st_size // 1024 for path in (float_path, int8_path)]
        print(f"on a new sample: {noise:.1f} dB; {sizes[0]} KiB of float, {sizes[1]} KiB of integers")


if __name__ == "__main__":
    main()
