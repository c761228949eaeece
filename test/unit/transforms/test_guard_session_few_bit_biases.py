"""Biases of layers whose weights have few bits: a step of the result is a large part of its range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from default_session import LEVELS, run
from onnx import helper
from onnx_models import onnx_model

from qdialect.api import compile
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

WIDTH, LAYERS, SAMPLES = 48, 4, 24


class Network:
    """Layers of `op` with weights -1, 0, 1, each in front of a quantize to `bits` bits."""

    def __init__(self, op: str, bits: int, seed: int, *, norm: bool, per_channel: bool):
        self._op, self._bits, self._norm, self._per_channel = op, bits, norm, per_channel
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: dict[str, Any] = {"one": np.float32(1), "zero": np.int8(0)}
        self._tensors |= {"low": np.int8(-(2 ** (bits - 1))), "high": np.int8(2 ** (bits - 1) - 1)}

    def _add(self, op: str, inputs: Sequence[str], result: str, **attributes: Any) -> str:
        self._nodes.append(helper.make_node(op, inputs, [result], result, **attributes))
        return result

    def _quantize(self, x: str, name: str) -> str:
        q = self._add("QuantizeLinear", [x, "one", "zero"], f"{name}_q")
        c = self._add("Clip", [q, "low", "high"], f"{name}_c")
        return self._add("DequantizeLinear", [c, "one", "zero"], name)

    def _layer(self, x: str, k: int) -> str:
        rng, t = self._rng, self._tensors
        variance, gain = rng.uniform(80, 200, WIDTH), rng.uniform(0.8, 1.6, WIDTH) * 2 ** (self._bits - 2)
        factor = (gain / np.sqrt(variance)).astype(np.float32)
        bias = rng.normal(0, 0.4, WIDTH) * 2 ** (self._bits - 2)
        w = rng.integers(-1, 2, (WIDTH, WIDTH)).astype(np.int8)
        is_conv, scaled = self._op == "Conv", self._per_channel and not self._norm
        t[f"w{k}"] = w[:, :, None, None] if is_conv else w
        t[f"s{k}"] = factor if scaled else np.float32(1 if self._norm else factor.mean())
        t[f"z{k}"] = np.zeros(t[f"s{k}"].shape, np.int8)
        t[f"b{k}"] = bias.astype(np.float32)
        names = [f"w{k}", f"s{k}", f"z{k}"]
        w = self._add("DequantizeLinear", names, f"d{k}", **({"axis": 0 if is_conv else 1} if scaled else {}))
        if self._norm:
            y = self._add(self._op, [x, w], f"m{k}")
            rows = [("g", gain), ("b", bias), ("mean", rng.normal(0, 4, WIDTH)), ("var", variance)]
            t.update({f"{n}{k}": v.astype(np.float32) for n, v in rows})
            return self._add("BatchNormalization", [y, *(f"{n}{k}" for n, _ in rows)], f"n{k}")
        if self._op == "MatMul":
            return self._add("Add", [self._add("MatMul", [x, w], f"m{k}"), f"b{k}"], f"n{k}")
        return self._add(self._op, [x, w, f"b{k}"], f"n{k}")

    def model(self) -> onnx.ModelProto:
        shape = [SAMPLES, WIDTH, 1, 1] if self._op == "Conv" else [SAMPLES, WIDTH]
        x = self._quantize("x", "x0")
        for k in range(LAYERS):
            x = self._quantize(self._layer(x, k), f"x{k + 1}")
        self._add("Identity", [x], "y")
        return onnx_model(self._nodes, {"x": shape}, {"y": shape}, self._tensors)

    def samples(self) -> dict[str, Any]:
        shape = [SAMPLES, WIDTH, *([1, 1] if self._op == "Conv" else [])]
        return {"x": self._rng.normal(0, 2.0 ** (self._bits - 2), shape).astype(np.float32)}


CASES = [
    (op, bits, norm, per_channel)
    for op in ("Gemm", "Conv", "MatMul")
    for bits in (2, 3, 4)
    for norm, per_channel in ((True, False), (False, False), (False, True))
    if not (norm and op == "Gemm")
]
TARGETS = ["onnxruntime", "onnxruntime-avx2", "openvino", "tensorrt", "generic"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("op", "bits", "norm", "per_channel"), CASES)
def test_layers_of_few_bits_keep_their_integers(
    op: str, bits: int, norm: bool, per_channel: bool, target: str
):
    network = Network(op, bits, len(target), norm=norm, per_channel=per_channel)
    model = network.model()
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    compile(module, target)
    result = export_model(module)
    feeds = network.samples()
    wanted = run(model, feeds, LEVELS[0])
    assert np.ptp(wanted) >= 2
    for level in LEVELS:
        same = (run(result, feeds, level) == wanted).reshape(SAMPLES, -1).all(axis=1)
        assert same.mean() >= 0.5
