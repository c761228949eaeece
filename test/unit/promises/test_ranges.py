"""Intervals of values: what an op bounds, and guards that need a sign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation import session
from qdialect.report.verdict import verdict_lines

node = helper.make_node
NOT_NEGATIVE: dict[str, list[onnx.NodeProto]] = {
    "relu": [node("Relu", ["x"], ["v"])],
    "abs": [node("Abs", ["x"], ["v"])],
    "exp": [node("Exp", ["x"], ["v"])],
    "softplus": [node("Softplus", ["x"], ["v"])],
    "square": [node("Mul", ["x", "x"], ["v"])],
    "even_power": [node("Pow", ["x", "two"], ["v"])],
    "clip": [node("Clip", ["x", "one"], ["v"])],
    "max_with_zero": [node("Max", ["x", "zero"], ["v"])],
    "root": [node("Abs", ["x"], ["a"]), node("Sqrt", ["a"], ["v"])],
    "moved": [node("Relu", ["x"], ["a"]), node("Transpose", ["a"], ["v"], perm=[0, 1, 3, 2])],
    "joined": [
        node("Relu", ["x"], ["a"]),
        node("Sigmoid", ["x"], ["b"]),
        node("Concat", ["a", "b"], ["c"], axis=1),
        node("Slice", ["c", "starts", "ends", "axes"], ["v"]),
    ],
    "pooled": [
        node("Relu", ["x"], ["a"]),
        node("AveragePool", ["a"], ["v"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
    ],
    "sum": [node("Relu", ["x"], ["a"]), node("Abs", ["x"], ["b"]), node("Add", ["a", "b"], ["v"])],
    "norm": [node("ReduceL2", ["x"], ["a"], axes=[1]), node("Expand", ["a", "shape"], ["v"])],
    "chosen": [
        node("Greater", ["x", "zero"], ["c"]),
        node("Abs", ["x"], ["a"]),
        node("Where", ["c", "a", "one"], ["v"]),
    ],
}
SIGNED: dict[str, list[onnx.NodeProto]] = {
    "negated": [node("Neg", ["x"], ["v"])],
    "difference": [
        node("Relu", ["x"], ["a"]),
        node("Abs", ["x"], ["b"]),
        node("Sub", ["a", "b"], ["v"]),
    ],
    "sum_with_a_signed_one": [node("Relu", ["x"], ["a"]), node("Add", ["a", "x"], ["v"])],
    "shifted": [node("Relu", ["x"], ["a"]), node("Add", ["a", "minus"], ["v"])],
    "odd_power": [node("Pow", ["x", "three"], ["v"])],
}


def _model(nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
    shape = [1, 4, 6, 6]
    tensors = {
        "zero": np.float32(0),
        "one": np.float32(1),
        "two": np.float32(2),
        "three": np.float32(3),
        "minus": np.float32(-0.5),
        "starts": np.array([0]),
        "ends": np.array([4]),
        "axes": np.array([1]),
        "shape": np.array(shape),
        "step": np.float32(0.05),
        "none": np.uint8(0),
        "middle": np.uint8(128),
    }
    nodes = [
        *nodes,
        node("QuantizeLinear", ["v", "step", "none"], ["q"]),
        node("DequantizeLinear", ["q", "step", "none"], ["d"]),
        node("MaxPool", ["d"], ["p"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("DequantizeLinear", ["o", "step", "middle"], ["other"]),
        node("Add", ["other", "v"], ["s"]),
        node("QuantizeLinear", ["s", "step", "middle"], ["t"]),
        node("DequantizeLinear", ["t", "step", "middle"], ["y"]),
    ]
    used = {name for one in nodes for name in one.input}
    return onnx_model(
        nodes,
        {"x": shape, "o": (TensorProto.UINT8, shape)},
        {"y": shape, "p": shape},
        {name: value for name, value in tensors.items() if name in used},
        opset=17,
    )


def _one_sided(nodes: list[onnx.NodeProto], path: Path) -> bool:
    """True if `quantize-branches` refuses the operand of the Add for its sign; checks the numbers."""
    model = _model(nodes)
    onnx.save(model, path / "in.onnx")
    module = qdialect.load(path / "in.onnx")
    report = qdialect.compile(module, target="tensorrt", exactness="lossy")
    qdialect.save(module, path / "out.onnx")
    rng = np.random.default_rng(1)
    feeds = {
        "x": rng.normal(size=(1, 4, 6, 6)).astype(np.float32),
        "o": rng.integers(0, 256, (1, 4, 6, 6)).astype(np.uint8),
    }
    right, ours = session.run(model, feeds)[0], session.run(str(path / "out.onnx"), feeds)[0]
    assert np.abs(right - ours).max() <= 0.11  # two steps: the operand is rounded once more
    return any(remark.blocked.id == "float-operand" for remark in report.remarks)


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_branch_that_is_never_negative_takes_a_type_without_negatives(name: str, tmp_path: Path) -> None:
    assert not _one_sided(NOT_NEGATIVE[name], tmp_path)


@pytest.mark.parametrize("name", SIGNED)
def test_branch_that_may_be_negative_does_not(name: str, tmp_path: Path) -> None:
    assert _one_sided(SIGNED[name], tmp_path)


@pytest.mark.parametrize("values", [[-1, 1], [-1, 0, 1], [0, 1], [0]], ids=str)
@pytest.mark.parametrize("op", ["MatMul", "Gemm", "Conv"])
def test_weight_of_signs_rounds_no_input(op: str, values: list[int], tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    shape, weight = ([1, 16], (16, 32)) if op != "Conv" else ([1, 4, 5, 5], (8, 4, 3, 3))
    stored = rng.choice(values, weight).astype(np.int8)
    nodes = [node("DequantizeLinear", ["w", "one", "none"], ["f"]), node(op, ["x", "f"], ["y"])]
    result = [1, 32] if op != "Conv" else [1, 8, 3, 3]
    tensors = {"w": stored, "one": np.float32(1), "none": np.int8(0)}
    model = onnx_model(nodes, {"x": shape}, {"y": result}, tensors)
    onnx.save(model, tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    qdialect.compile(module, exactness="lossy")
    qdialect.save(module, tmp_path / "out.onnx")
    feeds = {"x": rng.normal(size=shape).astype(np.float32)}
    right, ours = session.run(model, feeds)[0], session.run(str(tmp_path / "out.onnx"), feeds)[0]
    assert np.allclose(right, ours, rtol=1e-4, atol=1e-5)


def test_verdict_names_the_input_that_is_rounded(tmp_path: Path) -> None:
    tensors = {"w": np.arange(-8, 8, dtype=np.int8).reshape(4, 4), "one": np.float32(1)}
    nodes = [node("DequantizeLinear", ["w", "one"], ["f"]), node("MatMul", ["pixels", "f"], ["y"])]
    onnx.save(onnx_model(nodes, {"pixels": [2, 4]}, {"y": [2, 4]}, tensors), tmp_path / "in.onnx")
    for level in ("close", "lossy"):
        report = qdialect.compile(qdialect.load(tmp_path / "in.onnx"), exactness=level)
        said = [line for line in verdict_lines(report) if "rounded to integers" in line]
        assert (level == "lossy") == bool(said)
        assert all("pixels" in line for line in said)
