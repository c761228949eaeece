"""A folder with a good and a bad file of every kind that commands read."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

MODULE = "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n  func.return %x : tensor<2x3xf32>\n}\n"


ELIDED = "%c = onnx.Constant() {value = #onnx.tensor<elided : tensor<99xi8>>} : () -> tensor<99xi8>"


def scale_model(factor: float) -> onnx.ModelProto:
    """y = x * factor on [2, 3]."""
    node = helper.make_node("Mul", ["x", "f"], ["y"])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    initializer = numpy_helper.from_array(np.array([factor], np.float32), "f")
    return onnx_model([node], [x], [y], [initializer])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, the current one, with one good and one bad input of every kind."""
    monkeypatch.chdir(tmp_path)
    whole = scale_model(1.5).SerializeToString()
    (tmp_path / "good.onnx").write_bytes(whole)
    (tmp_path / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "noise.onnx").write_bytes(bytes(range(256)))
    (tmp_path / "good.mlir").write_text(MODULE)
    (tmp_path / "empty.mlir").touch()
    (tmp_path / "binary.mlir").write_bytes(whole + b"\xff\xfe")
    (tmp_path / "syntax.mlir").write_text(MODULE.replace("-> tensor<2x3xf32>", "-> tensor<2x3"))
    (tmp_path / "unknown-op.mlir").write_text("\n  foo.bar\n")
    (tmp_path / "invalid.mlir").write_text(MODULE.replace("-> tensor<2x3xf32>", "-> tensor<3xf32>"))
    (tmp_path / "elided.mlir").write_text(ELIDED)
    (tmp_path / "deep.mlir").write_text('"test.op"() {a = ' + "[" * 5000 + "]" * 5000 + "} : () -> ()")
    (tmp_path / "outside.mlir").write_text(ELIDED.replace("elided", '"../x.weights"[0, 99]'))
    (tmp_path / "short.mlir").write_text(ELIDED.replace("elided", '"short.weights"[8, 99]'))
    (tmp_path / "short.weights").write_bytes(bytes(99))
    (tmp_path / "model.txt").write_text(MODULE)
    (tmp_path / "folder.mlir").mkdir()
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 no archive")
    np.savez(tmp_path / "good.npz", x=np.arange(12, dtype=np.float32).reshape(4, 3))
    np.savez(tmp_path / "rank.npz", x=np.zeros([4, 3, 1], np.float32))
    np.savez(tmp_path / "key.npz", wrong=np.zeros([4, 3], np.float32))
    np.savez(tmp_path / "pickle.npz", x=np.array([{"an": "object"}], dtype=object))
    return tmp_path


def files(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))
