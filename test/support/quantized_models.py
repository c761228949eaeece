"""ONNX models of quantized values, run before and after passes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
from onnx_models import onnx_model
from xdsl.context import Context

from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]


Shape = tuple[int, ...]


X_SCALE, X_ZERO = 0.02, 117


W_SCALE = 0.01


Y_SCALE, Y_ZERO = 0.05, 121


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def inputs(*shapes: Shape) -> list[Array]:
    """Real numbers that fill the range of u8 under `X_SCALE` and `X_ZERO`, and go a little over it."""
    draw = rng()
    return [draw.uniform(-2.5, 2.9, shape).astype(np.float32) for shape in shapes]


def constants(**others: Any) -> dict[str, Array]:
    """The scales and zero points of x, w and y, and others."""
    common = {
        "xs": np.float32(X_SCALE), "xz": np.uint8(X_ZERO), "ys": np.float32(Y_SCALE), "yz": np.uint8(Y_ZERO),
        "ws": np.float32(W_SCALE), "wz": np.int8(0),
    }  # fmt: skip
    return {k: np.asarray(v) for k, v in (common | others).items()}


def pair(source: str, result: str, parameters: str = "x") -> list[onnx.NodeProto]:
    """Quantize and dequantize."""
    scale, zero = f"{parameters}s", f"{parameters}z"
    return [
        oh.make_node("QuantizeLinear", [source, scale, zero], [f"{result}_q"]),
        oh.make_node("DequantizeLinear", [f"{result}_q", scale, zero], [result]),
    ]


def model(
    nodes: list[onnx.NodeProto], tensors: dict[str, Array], shapes: list[Shape], results: list[str]
) -> onnx.ModelProto:
    """Inputs `x`, `x1`, ... of floats."""
    used = {i for n in nodes for i in n.input}
    names = ["x", *(f"x{k}" for k in range(1, len(shapes)))]
    proto = onnx_model(
        nodes,
        {n: (1, s) for n, s in zip(names, shapes, strict=True)},
        {r: None for r in results},
        {k: v for k, v in tensors.items() if k in used},
    )
    return onnx.shape_inference.infer_shapes(proto, strict_mode=True)


def passed(proto: onnx.ModelProto, *names: str, **options: Any) -> onnx.ModelProto:
    """The model after casts are raised, the passes, the last of them with options, and the casts written again."""
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    for name in ("raise-qdq", *names, "lower-to-qdq"):
        get_all_passes()[name]()(**(options if name == names[-1] else {})).apply(Context(), module)
    module.verify()
    return export_model(module)


def compiled(proto: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    compile(module, **options)
    return export_model(module)


def ops(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(n.op_type for n in proto.graph.node)


def results(proto: onnx.ModelProto, feeds: list[Array]) -> list[Array]:
    return run(proto, {i.name: x for i, x in zip(proto.graph.input, feeds, strict=True)})


def assert_equal(before: onnx.ModelProto, after: onnx.ModelProto, feeds: list[Array]) -> None:
    for old, new in zip(results(before, feeds), results(after, feeds), strict=True):
        assert np.ptp(old) > 0
        np.testing.assert_array_equal(new, old)


def assert_close(
    before: onnx.ModelProto, after: onnx.ModelProto, feeds: list[Array], step: float | None = None
) -> None:
    """Within one step of the result's scale, or 1e-4 of the largest magnitude."""
    for old, new in zip(results(before, feeds), results(after, feeds), strict=True):
        assert np.ptp(old) > 0
        allowed = 1e-4 * np.abs(old).max() if step is None else step * 1.0001
        np.testing.assert_allclose(new, old, rtol=0, atol=allowed)
