"""A model of two products, of which the first is quantized."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx_models import onnx_model

PRODUCTS = 2 * 16 * 6 + 2 * 6 * 5
"""Multiply-adds of both layers: (2, 16) by (16, 6), which is quantized, and by (6, 5), which is not."""


def write(path: Path, *, quantized: bool = True, weight: str = "wd") -> str:
    """Two Gemms, the second of a float weight; the first quantized, or its weight alone, or nothing."""
    rng = np.random.default_rng(1)
    tensors = {
        "s": np.float32(0.02),
        "z": np.uint8(131),
        "ws": np.float32(0.01),
        "w": rng.integers(-90, 90, (16, 6)).astype(np.int8),
        "f": rng.normal(0, 1, (16, 6)).astype(np.float32),
        "v": rng.normal(0, 1, (6, 5)).astype(np.float32),
    }
    pair = [
        helper.make_node("QuantizeLinear", ["{}", "s", "z"], ["{}q"]),
        helper.make_node("DequantizeLinear", ["{}q", "s", "z"], ["{}d"]),
    ]

    def pairs(name: str) -> list[onnx.NodeProto]:
        texts = [[part.format(name) for part in (*n.input, *n.output)] for n in pair]
        return [
            helper.make_node(n.op_type, t[:3], t[3:]) for n, t in zip(pair, texts, strict=True) if quantized
        ]

    nodes = [helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"])] if weight == "wd" else []
    nodes += pairs("x")
    nodes.append(helper.make_node("MatMul", ["xd" if quantized else "x", weight], ["m"], "first"))
    nodes += pairs("m")
    nodes.append(helper.make_node("MatMul", ["md" if quantized else "m", "v"], ["y"], "second"))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 5])]
    used = {name for node in nodes for name in node.input}
    onnx.save(onnx_model(nodes, inputs, outputs, {n: v for n, v in tensors.items() if n in used}), str(path))
    return str(path)
