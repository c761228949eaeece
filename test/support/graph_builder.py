"""Quantized ONNX models, built op by op."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import qdialect

Array = npt.NDArray[Any]


class Graph:
    """A small ONNX model in the making: nodes named after their results."""

    def __init__(self, seed: int = 5):
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, Array] = {}

    def add(self, op: str, name: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, domain=domain, **attributes))
        return name

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        self.constants[name] = np.asarray(value, dtype)
        return name

    def cast(self, op: str, x: str, scale: Any, zero: Any, dtype: Any, axis: int | None = None) -> str:
        name = f"{x}_{op[:1].lower()}"
        pair = self.constant(f"{name}_s", scale), self.constant(f"{name}_z", zero, dtype)
        attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
        return self.add(op, name, x, *pair, **attributes)

    def pair(self, x: str, scale: Any, zero: Any, dtype: Any = np.uint8, axis: int | None = None) -> str:
        q = self.cast("QuantizeLinear", x, scale, zero, dtype, axis)
        return self.cast("DequantizeLinear", q, scale, zero, dtype, axis)

    def weight(self, name: str, shape: tuple[int, ...], axis: int, dtype: Any = np.int8) -> str:
        """A dequantized weight with a scale for each channel along `axis`."""
        info = np.iinfo(dtype)
        stored = self.rng.integers(info.min, info.max + 1, shape)
        zeros = np.full(shape[axis], 0 if info.min else 117)
        scales = self.rng.uniform(0.002, 0.02, shape[axis])
        return self.cast("DequantizeLinear", self.constant(name, stored, dtype), scales, zeros, dtype, axis)

    def model(self, x: tuple[int, ...], y: tuple[int, ...], opset: int = 13) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
            [numpy_helper.from_array(v, k) for k, v in self.constants.items()],
        )
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def run(path: Path, x: Array) -> Array:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


def compiled(model: onnx.ModelProto, folder: Path, x: Array) -> tuple[Array, Array, list[str]]:
    """What the model computes, what it computes compiled, and the op types that it then has."""
    before, after = folder / "before.onnx", folder / "after.onnx"
    onnx.save(model, before)
    module = qdialect.load(before)
    qdialect.compile(module)
    qdialect.save(module, after)
    return run(before, x), run(after, x), [n.op_type for n in onnx.load(after).graph.node]
