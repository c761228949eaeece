"""Models newer than onnxruntime reads: kept by load and save, lowered or refused by compile."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.onnx_io.opsets import MAX_IR_VERSION, MAX_OPSET, newest_known


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


def test_an_op_that_came_later_is_named(tmp_path: Path):
    module = qdialect.load(write(tmp_path / "m.onnx", "LinearAttention", 27, 14))
    custom = qdialect.load(write(tmp_path / "m2.onnx", "Add", newest_known() + 1, 14))
    with pytest.raises(qdialect.UserError, match=f"imports opset {newest_known() + 1}"):
        qdialect.compile(custom)
    # What no opset has as it stands is carried: onnxruntime will say what it thinks of it.
    qdialect.compile(module)
