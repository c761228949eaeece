"""What depends on constants, on types and on sizes alone is a constant, for `compile` and for `quantize`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.compiler.options import Options
from qdialect.evaluation import session
from qdialect.ir.walking import operations
from qdialect.quantizer.preparing import simplifying

RNG = np.random.default_rng(5)
CHANNELS = 8
TENSORS: dict[str, Any] = {
    "w": (RNG.normal(size=(CHANNELS, 3, 3, 3)) / 5).astype(np.float32),
    "half": np.float32(0.5),
    "wide": RNG.normal(size=CHANNELS),
    "pairs": RNG.normal(size=(CHANNELS, CHANNELS)),
    "zero": np.int64(0),
    "one": np.int64(1),
    "first": np.array([0]),
    "end": np.array([1]),
    "of_weight": np.int64(27),
    "five": np.array([5]),
    "channels": np.array([CHANNELS]),
    "as_rows": np.array([1, 3]),
    "columns": np.ones((3, CHANNELS), np.float32),
}
node = helper.make_node
BIASES: dict[str, list[onnx.NodeProto]] = {
    "zeros_as_an_exporter_makes_them": [
        node("Shape", ["w"], ["s"]),
        node("Slice", ["s", "first", "end"], ["t"]),
        node("Expand", ["half", "t"], ["e"]),
        node("CastLike", ["e", "x"], ["bias"]),
    ],
    "part_of_a_shape": [
        node("Shape", ["w"], ["t"], start=0, end=1),
        node("Expand", ["half", "t"], ["e"]),
        node("CastLike", ["e", "x"], ["bias"]),
    ],
    "constant_of_shape": [
        node("Shape", ["w"], ["t"], start=0, end=1),
        node("ConstantOfShape", ["t"], ["e"]),
        node("CastLike", ["e", "x"], ["bias"]),
    ],
    "range_to_a_size": [
        node("Shape", ["w"], ["s"]),
        node("Gather", ["s", "zero"], ["t"]),
        node("Range", ["zero", "t", "one"], ["e"]),
        node("CastLike", ["e", "x"], ["bias"]),
    ],
    "size_divided": [
        node("Size", ["w"], ["s"]),
        node("Div", ["s", "of_weight"], ["t"]),
        node("Reshape", ["t", "end"], ["l"]),
        node("Expand", ["half", "l"], ["e"]),
        node("CastLike", ["e", "x"], ["bias"]),
    ],
    "root_of_a_size": [
        node("Size", ["w"], ["s"]),
        node("CastLike", ["s", "x"], ["f"]),
        node("Sqrt", ["f"], ["q"]),
        node("Expand", ["q", "channels"], ["bias"]),
    ],
    "other_precision": [node("CastLike", ["wide", "x"], ["bias"])],
    "type_of_a_computed_value": [
        node("Relu", ["x"], ["positive"]),
        node("Shape", ["positive"], ["s"], start=1, end=2),
        node("Add", ["s", "five"], ["n"]),
        node("Expand", ["half", "n"], ["e"]),
        node("CastLike", ["e", "positive"], ["bias"]),
    ],
    "type_of_a_type": [
        node("CastLike", ["wide", "x"], ["f"]),
        node("CastLike", ["pairs", "f"], ["g"]),
        node("ReduceMax", ["g", "first"], ["bias"], keepdims=0),
    ],
    "diagonal_as_a_constant": [
        node("EyeLike", ["pairs"], ["e"], dtype=TensorProto.FLOAT),
        node("ReduceMax", ["e", "first"], ["bias"], keepdims=0),
    ],
    "diagonal_as_a_computed_value": [
        node("GlobalAveragePool", ["x"], ["g"]),
        node("Reshape", ["g", "as_rows"], ["r"]),
        node("MatMul", ["r", "columns"], ["m"]),
        node("EyeLike", ["m"], ["e"], k=3),
        node("ReduceMax", ["e", "first"], ["bias"], keepdims=0),
    ],
    "sequence": [
        node("CastLike", ["wide", "x"], ["f"]),
        node("SequenceConstruct", ["f", "f"], ["parts"]),
        node("SequenceAt", ["parts", "one"], ["bias"]),
    ],
    "sequence_joined": [
        node("SequenceEmpty", [], ["none"], dtype=TensorProto.DOUBLE),
        node("SequenceInsert", ["none", "wide"], ["parts"]),
        node("ConcatFromSequence", ["parts"], ["joined"], axis=0),
        node("CastLike", ["joined", "x"], ["bias"]),
    ],
    "places_of_ones": [
        node("Shape", ["w"], ["t"], start=0, end=1),
        node("ConstantOfShape", ["t"], ["ones"], value=helper.make_tensor("v", TensorProto.INT32, [1], [1])),
        node("NonZero", ["ones"], ["places"]),
        node("Reshape", ["places", "channels"], ["p"]),
        node("CastLike", ["p", "x"], ["bias"]),
    ],
    "presence": [
        node("OptionalHasElement", ["x"], ["there"]),
        node("CastLike", ["there", "x"], ["f"]),
        node("Expand", ["f", "channels"], ["e"]),
        node("OptionalGetElement", ["e"], ["bias"]),
    ],
    "tiled": [
        node("Shape", ["w"], ["t"], start=0, end=1),
        node("CastLike", ["half", "x"], ["h"]),
        node("Reshape", ["h", "end"], ["l"]),
        node("Tile", ["l", "t"], ["bias"]),
    ],
}


def _model(nodes: list[onnx.NodeProto], batch: int | str = "n") -> onnx.ModelProto:
    used = {name for one in nodes for name in one.input} | {"w"}
    tensors = {name: value for name, value in TENSORS.items() if name in used}
    convolution = node("Conv", ["x", "w", "bias"], ["y"], pads=[1, 1, 1, 1])
    x, y = {"x": [batch, 3, 8, 8]}, {"y": [batch, CHANNELS, 8, 8]}
    return onnx_model([*nodes, convolution], x, y, tensors, opset=18)


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize("name", BIASES)
def test_bias_of_types_and_sizes_is_a_constant(name: str, target: str, tmp_path: Path) -> None:
    model = _model(BIASES[name], batch=1 if name == "diagonal_as_a_computed_value" else "n")
    onnx.save(model, tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    qdialect.compile(module, target=target, exactness="exact")
    qdialect.save(module, tmp_path / "out.onnx")
    written = onnx.load(tmp_path / "out.onnx")
    assert [one.op_type for one in written.graph.node] == ["Conv"]
    feeds = {"x": RNG.normal(size=(1, 3, 8, 8)).astype(np.float32)}
    for optimize in (False, True):
        (right,), (ours,) = session.run(model, feeds), session.run(written, feeds, optimize=optimize)
        assert np.allclose(right, ours, rtol=1e-5, atol=1e-6)
        assert optimize or right.tobytes() == ours.tobytes()


@pytest.mark.parametrize("name", BIASES)
def test_bias_is_a_constant_where_a_float_model_is_profiled(name: str, tmp_path: Path) -> None:
    model = _model(BIASES[name], batch=1 if name == "diagonal_as_a_computed_value" else "n")
    onnx.save(model, tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    for stage in simplifying(Options(), "qoperator"):
        stage.step.apply(Context(), module)
    assert [one.name for one in operations(module) if one.name.startswith("onnx.")].count(
        "onnx.Constant"
    ) <= 2
    assert {one.name for one in operations(module) if one.name.startswith("onnx.")} == {
        "onnx.Constant",
        "onnx.Conv",
    }


def test_conversion_of_a_computed_value_reads_no_other_value(tmp_path: Path) -> None:
    nodes = [
        node("Relu", ["a"], ["r"]),
        node("CastLike", ["x", "r"], ["f"]),
        node("Mul", ["f", "half"], ["y"]),
    ]
    inputs = {"x": (TensorProto.INT32, ["n"]), "a": ["m"]}
    model = onnx_model(nodes, inputs, {"y": ["n"]}, {"half": np.float32(0.5)})
    onnx.save(model, tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "out.onnx")
    assert [one.op_type for one in onnx.load(tmp_path / "out.onnx").graph.node] == ["Cast", "Mul"]


def test_diagonal_of_more_than_a_constant_may_take_stays(tmp_path: Path) -> None:
    nodes = [node("EyeLike", ["x"], ["e"]), node("MatMul", ["x", "e"], ["y"])]
    onnx.save(onnx_model(nodes, {"x": [400, 400]}, {"y": [400, 400]}, {}), tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    report = qdialect.compile(module)
    assert any(remark.blocked.id == "too-large" for remark in report.remarks)


@pytest.mark.parametrize("frozen", [False, True], ids=["turned", "overridable"])
@pytest.mark.parametrize("op", ["MatMul", "Gemm"])
@pytest.mark.parametrize("rows", [1, 2])
def test_weight_that_becomes_constant_gives_the_same_bits(
    op: str, rows: int, frozen: bool, tmp_path: Path
) -> None:
    """In sessions that pack no weights: packed ones are summed in another order where there is one row."""
    shape = (64, 32) if frozen else (32, 64)
    nodes = [] if frozen else [node("Transpose", ["w"], ["t"], perm=[1, 0])]
    nodes.append(node(op, ["x", "w" if frozen else "t"], ["y"]))
    inputs = {"x": [rows, 64], **({"w": list(shape)} if frozen else {})}
    model = onnx_model(nodes, inputs, {"y": [rows, 32]}, {"w": RNG.normal(size=shape).astype(np.float32)})
    onnx.save(model, tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    qdialect.compile(module, exactness="exact")
    qdialect.save(module, tmp_path / "out.onnx")
    feeds = {"x": RNG.normal(size=(rows, 64)).astype(np.float32)}
    right, ours = session.run(model, feeds)[0], session.run(str(tmp_path / "out.onnx"), feeds)[0]
    assert right.tobytes() == ours.tobytes()
