"""Models newer than onnxruntime reads: kept by load and save, lowered or refused by compile."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import run
from qdialect.onnx_io.opsets import MAX_IR_VERSION, MAX_OPSET, newest_known, newest_run


def write(path: Path, op: str, opset: int, ir: int, **attributes: Any) -> Path:
    """y = op(x, k), k of two integers."""
    inputs, outputs = (helper.make_tensor_value_info(n, 7, [2]) for n in "xy")
    constant = numpy_helper.from_array(np.array([3, -2]), "k")
    node = helper.make_node(op, ["x", "k"], ["y"], name="the node", **attributes)
    model = onnx_model([node], [inputs], [outputs], [constant], opset=opset, ir_version=ir)
    path.write_bytes(model.SerializeToString())
    return path


def versions(path: Path) -> tuple[int, int]:
    model = onnx.load(str(path))
    return model.opset_import[0].version, model.ir_version


def test_load_and_save_keep_what_is_newer(tmp_path: Path):
    module = qdialect.load(write(tmp_path / "m.onnx", "Add", MAX_OPSET + 1, MAX_IR_VERSION + 1))
    qdialect.save(module, tmp_path / "out.onnx")
    assert versions(tmp_path / "out.onnx") == (MAX_OPSET + 1, MAX_IR_VERSION + 1)


def test_constants_raise_the_ir_version_in_which_an_initializer_need_not_be_an_input(tmp_path: Path):
    module = qdialect.load(write(tmp_path / "m.onnx", "Add", 8, 3))
    qdialect.save(module, tmp_path / "out.onnx")
    assert versions(tmp_path / "out.onnx") == (8, 4)
    onnx.checker.check_model(str(tmp_path / "out.onnx"))


@pytest.mark.parametrize(
    ("opset", "ir", "expected"),
    [
        (MAX_OPSET + 1, MAX_IR_VERSION + 1, (MAX_OPSET, MAX_IR_VERSION)),
        (MAX_OPSET, MAX_IR_VERSION, (MAX_OPSET, MAX_IR_VERSION)),
        (17, 8, (17, 8)),
    ],
)
def test_compile_lowers_what_has_not_changed(tmp_path: Path, opset: int, ir: int, expected: tuple[int, int]):
    module = qdialect.load(write(tmp_path / "m.onnx", "Add", opset, ir))
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "out.onnx")
    assert versions(tmp_path / "out.onnx") == expected


def test_an_op_that_only_takes_more_types_now_has_not_changed(tmp_path: Path):
    # Mod-28 takes more types than Mod-13.
    module = qdialect.load(write(tmp_path / "m.onnx", "Mod", 28, 14, fmod=1))
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "out.onnx")
    assert versions(tmp_path / "out.onnx") == (MAX_OPSET, MAX_IR_VERSION)


node, F, F16, I64 = helper.make_node, onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64
CASTS = [node("QuantizeLinear", ["x", "s", "q"], ["a"]), node("DequantizeLinear", ["a", "s", "q"], ["y"])]
NEWER: dict[str, tuple[list[onnx.NodeProto], int, int]] = {
    "Mod of integers": ([node("Cast", ["x"], ["a"], to=I64), node("Mod", ["a", "n"], ["y"])], 28, MAX_OPSET),
    "Mod of floats": ([node("Mod", ["x", "k"], ["y"])], 28, 28),
    "Mod of floats, as C": ([node("Mod", ["x", "k"], ["y"], fmod=1)], 28, MAX_OPSET),
    "BitShift": (
        [node("Cast", ["x"], ["a"], to=12), node("BitShift", ["a", "a"], ["y"], direction="LEFT")], 28, MAX_OPSET,
    ),
    "BitShift, signed": (
        [node("Cast", ["x"], ["a"], to=6), node("BitShift", ["a", "a"], ["y"], direction="RIGHT")], 28, 28,
    ),
    "Celu": ([node("Celu", ["x"], ["y"])], 28, MAX_OPSET),
    "Celu of halves": ([node("Cast", ["x"], ["a"], to=F16), node("Celu", ["a"], ["y"])], 28, 28),
    "SpaceToDepth": ([node("SpaceToDepth", ["x4"], ["y"], blocksize=2)], 28, MAX_OPSET),
    "SpaceToDepth, another order": ([node("SpaceToDepth", ["x4"], ["y"], blocksize=2, mode="CRD")], 28, 28),
    "DepthToSpace": ([node("DepthToSpace", ["x4"], ["y"], blocksize=2)], 28, MAX_OPSET),
    "Cast": ([node("Cast", ["x"], ["y"], to=F16)], 28, MAX_OPSET),
    "Einsum": ([node("Einsum", ["x", "k"], ["y"], equation="ij,j->i")], 28, MAX_OPSET),
    "Unique": ([node("Unique", ["x"], ["y"])], 28, MAX_OPSET),
    "Range": ([node("ReduceMax", ["x"], ["m"], keepdims=0), node("Range", ["z", "m", "m"], ["y"])], 27, MAX_OPSET),
    "casts": (CASTS, 28, MAX_OPSET),
    "casts of 27": (CASTS, 27, MAX_OPSET),
}  # fmt: skip


def newer(nodes: list[onnx.NodeProto], opset: int) -> tuple[onnx.ModelProto, dict[str, Any]]:
    rng = np.random.default_rng(0)
    tensors = {
        "k": np.array([3, -2, 1, 2], np.float32),
        "z": np.float32(0),
        "s": np.float32(0.1),
        "q": np.uint8(7),
        "n": np.int64(3),
    }
    used = {name for n in nodes for name in n.input}
    feeds = {
        "x": rng.normal(size=(2, 4)).astype(np.float32),
        "x4": rng.normal(size=(1, 4, 4, 6)).astype(np.float32),
    }
    feeds = {name: value for name, value in feeds.items() if name in used}
    inputs = {name: list(value.shape) for name, value in feeds.items()}
    graph = [helper.make_tensor_value_info(name, F, shape) for name, shape in inputs.items()]
    held = {name: value for name, value in tensors.items() if name in used}
    outputs = [onnx.ValueInfoProto(name="y")]
    return onnx_model(nodes, graph, outputs, held, opset=opset, ir_version=13), feeds


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
@pytest.mark.parametrize("name", NEWER)
def test_a_newer_opset_is_lowered_as_far_as_its_ops_allow(name: str, target: str):
    nodes, opset, expected = NEWER[name]
    model, feeds = newer(nodes, opset)
    module = qdialect.load(model)
    if expected > newest_run():
        with pytest.raises(qdialect.UserError, match=f"changed in opset {expected}"):
            qdialect.compile(module, target=target)
        return
    qdialect.compile(module, target=target)
    result = qdialect.to_model(module)
    assert [o.version for o in result.opset_import if not o.domain] == [expected]
    [y] = run(result, feeds)
    model.opset_import[0].version = expected  # that of casts of 28, onnxruntime does not read
    np.testing.assert_allclose(y, run(model, feeds)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("release", ["1.31.2", "1.30.0"])
@pytest.mark.parametrize("name", [name for name, row in NEWER.items() if row[2] > MAX_OPSET])
def test_an_older_onnxruntime_gets_one_clear_error(name: str, release: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("onnxruntime.__version__", release)
    newest_run.cache_clear()
    module = qdialect.load(newer(*NEWER[name][:2])[0])
    with pytest.raises(qdialect.UserError, match=f"reads opsets up to {MAX_OPSET}"):
        qdialect.compile(module)
    newest_run.cache_clear()


@pytest.mark.skipif(newest_run() < 28, reason="this onnxruntime reads no opset 28")
def test_an_op_of_28_beside_a_cast_is_one_clear_error():
    nodes = [
        *NEWER["casts"][0][:1],
        node("DequantizeLinear", ["a", "s", "q"], ["b"]),
        node("Mod", ["b", "k"], ["y"]),
    ]
    module = qdialect.load(newer(nodes, 28)[0])
    with pytest.raises(qdialect.UserError, match="Mod 'y' changed in opset 28, but onnxruntime does not run"):
        qdialect.compile(module)


def test_an_op_that_came_later_is_named(tmp_path: Path):
    module = qdialect.load(write(tmp_path / "m.onnx", "LinearAttention", 27, 14))
    custom = qdialect.load(write(tmp_path / "m2.onnx", "Add", newest_known() + 1, 14))
    with pytest.raises(qdialect.UserError, match=f"imports opset {newest_known() + 1}"):
        qdialect.compile(custom)
    # What no opset has as it stands is carried: onnxruntime will say what it thinks of it.
    qdialect.compile(module)
