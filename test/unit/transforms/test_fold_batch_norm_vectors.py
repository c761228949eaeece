"""Products of a matrix and a vector: a result's last axis is of the matrix's rows, not of columns of a weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect.errors import UserError
from qdialect.evaluation import session

node = helper.make_node
STEP, ZERO = np.float32(0.13), np.int8(-3)
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "batch_of_matrices": ((2, 12, 6), (6,)),
    "batches_of_matrices": ((2, 3, 4, 6), (6,)),
    "matrix": ((12, 6), (6,)),
    "square_matrix": ((6, 6), (6,)),
    "vectors": ((6,), (6,)),
    "vector_and_matrix": ((6,), (6, 5)),
    "vector_and_square_matrix": ((6,), (6, 6)),
    "vector_and_batch": ((6,), (3, 6, 5)),
    "one_column": ((12, 6), (6, 1)),
}


def _read() -> list[onnx.NodeProto]:
    return [
        node("DequantizeLinear", ["q", "step", "zero"], ["x"]),
        node("DequantizeLinear", ["w", "w_step"], ["wf"]),
        node("MatMul", ["x", "wf"], ["m"]),
    ]


def _integers() -> list[onnx.NodeProto]:
    return [
        node("MatMulInteger", ["q", "w", "zero"], ["i"]),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["f", "both"], ["m"]),
    ]


def _integers_and_bias() -> list[onnx.NodeProto]:
    return [
        node("MatMulInteger", ["q", "w", "zero"], ["i"]),
        node("Add", ["i", "counts"], ["j"]),
        node("Cast", ["j"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["f", "both"], ["m"]),
    ]


def _integers_by_rows() -> list[onnx.NodeProto]:
    return [
        node("MatMulInteger", ["q", "w", "zero"], ["i"]),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["f", "factors"], ["m"]),
    ]


def _kernel() -> list[onnx.NodeProto]:
    inputs = ["q", "w", "step", "w_step", "zero"]
    return [node("MatMulIntegerToFloat", inputs, ["m"], domain="com.microsoft")]


def _quantized() -> list[onnx.NodeProto]:
    inputs = ["q", "step", "zero", "w", "w_step", "no_zero", "step", "zero"]
    return [
        node("QLinearMatMul", inputs, ["p"]),
        node("DequantizeLinear", ["p", "step", "zero"], ["m"]),
    ]


def _at_run_time() -> list[onnx.NodeProto]:
    return [
        node("DequantizeLinear", ["q", "step", "zero"], ["x"]),
        node("DynamicQuantizeLinear", ["x"], ["xq", "xs", "xz"]),
        node("MatMulInteger", ["xq", "w", "xz"], ["i"]),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["xs", "w_step"], ["k"]),
        node("Mul", ["f", "k"], ["m"]),
    ]


PRODUCTS = {
    "read": _read,
    "integers": _integers,
    "integers_and_bias": _integers_and_bias,
    "integers_by_rows": _integers_by_rows,
    "kernel": _kernel,
    "quantized": _quantized,
    "at_run_time": _at_run_time,
}
BEHIND = {
    "bias": [node("Add", ["m", "bias"], ["y"])],
    "bias_in_front": [node("Add", ["bias", "m"], ["y"])],
    "factors_and_bias": [node("Mul", ["m", "factors"], ["n"]), node("Add", ["n", "bias"], ["y"])],
    "quantized": [
        node("Add", ["m", "bias"], ["n"]),
        node("QuantizeLinear", ["n", "step", "zero"], ["r"]),
        node("DequantizeLinear", ["r", "step", "zero"], ["y"]),
    ],
}


def _model(shapes: str, product: str, behind: str, *, is_open: bool) -> tuple[onnx.ModelProto, Any]:
    rng = np.random.default_rng(7)
    left, right = SHAPES[shapes]
    result = np.matmul(np.zeros(left), np.zeros(right)).shape
    weight, count = rng.integers(-127, 128, right).astype(np.int8), result[-1:]
    nodes = [*PRODUCTS[product](), *BEHIND[behind]]
    tensors = {
        "step": STEP,
        "zero": ZERO,
        "no_zero": np.int8(0),
        "w": weight,
        "w_step": np.float32(0.0078),
        "both": np.float32(0.001),
        "counts": rng.integers(-900, 900, count).astype(np.int32),
        "factors": rng.uniform(0.5e-3, 2e-3, count).astype(np.float32),
        "bias": rng.normal(size=count).astype(np.float32),
    }
    used = {name for one in nodes for name in one.input}
    sizes = [f"n{k}" for k in range(len(left) - 1)] if is_open else list(left[:-1])
    model = onnx_model(
        nodes,
        {"q": (TensorProto.INT8, [*sizes, left[-1]])},
        {"y": [None] * len(result)},
        {name: value for name, value in tensors.items() if name in used},
    )
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model, {"q": rng.integers(-128, 128, left).astype(np.int8)}


def _default_session(model: onnx.ModelProto | str, feeds: Any) -> Any:
    """The result in a default session; None if it refuses the model, by a fusion of its own."""
    try:
        return session.run(model, feeds, optimize=True)[0]
    except UserError:
        return None


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("product", PRODUCTS)
def test_numbers_added_behind_a_vector_product(product: str, behind: str, tmp_path: Path) -> None:
    written = str(tmp_path / "out.onnx")
    for k, shapes in enumerate(SHAPES):
        model, feeds = _model(shapes, product, behind, is_open=k % 2 == 0)
        onnx.save(model, tmp_path / "in.onnx")
        (right,) = session.run(model, feeds)
        module = qdialect.load(tmp_path / "in.onnx")
        qdialect.compile(module, target="openvino" if k == 1 else "onnxruntime")
        qdialect.save(module, written)
        results = [session.run(written, feeds)[0]]
        if _default_session(model, feeds) is not None:
            results.append(_default_session(written, feeds))
        most = 1.01 * STEP if "quantized" in (product, behind) else 1e-4 * np.abs(right).max()
        for ours in results:
            assert np.shape(ours) == right.shape, shapes
            assert np.abs(ours - right).max() <= most, shapes
