"""External data out and in: one file beside the model, streamed, both files or neither."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.cli.opt import main as opt
from qdialect.dialects import onnx_tensor
from qdialect.onnx_io import external, models

WEIGHT = np.arange(3 * 500, dtype=np.float32).reshape(3, 500)
BIAS = np.arange(500, dtype=np.float32) / 8


def write(path: Path, *, location: str | None = None, twice: bool = False) -> None:
    """y = x W + b (+ W's own sum, if `twice`); W in the file `location`, 64 bytes into it."""
    weight = numpy_helper.from_array(WEIGHT, "w")
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"])]
    tensors = [weight, numpy_helper.from_array(BIAS, "b")]
    if location is not None:
        (path.parent / location).parent.mkdir(exist_ok=True)
        (path.parent / location).write_bytes(bytes(range(64)) + WEIGHT.tobytes())
        set_external_data(weight, location, 64, WEIGHT.nbytes)
        weight.ClearField("raw_data")
    if twice:
        other = TensorProto()
        other.CopyFrom(weight)
        other.name = "w2"
        tensors.append(other)
        nodes.append(helper.make_node("ReduceSum", ["w2"], ["s"], keepdims=0))
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 500])]
    outputs += [helper.make_tensor_value_info("s", TensorProto.FLOAT, [])] if twice else []
    path.write_bytes(onnx_model(nodes, {"x": [2, 3]}, outputs, tensors).SerializeToString())


def weight_of(path: Path) -> np.ndarray:
    tensors = {t.name: t for t in onnx.load(str(path)).graph.initializer}
    return numpy_helper.to_array(tensors["w"])


def test_large_tensors_go_beside_the_model_and_small_ones_stay(tmp_path: Path):
    write(tmp_path / "in.onnx")
    qdialect.save(qdialect.load(tmp_path / "in.onnx"), tmp_path / "out.onnx", external_data=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.onnx", "out.onnx", "out.onnx.data"]
    stored = onnx.load(str(tmp_path / "out.onnx"), load_external_data=False).graph.initializer
    assert {t.name: t.data_location for t in stored} == {"w": TensorProto.EXTERNAL, "b": TensorProto.EXTERNAL}
    np.testing.assert_array_equal(weight_of(tmp_path / "out.onnx"), WEIGHT)


def test_a_small_tensor_stays_in_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(external, "MIN_EXTERNAL_BYTES", BIAS.nbytes + 1)
    write(tmp_path / "in.onnx")
    qdialect.save(qdialect.load(tmp_path / "in.onnx"), tmp_path / "out.onnx", external_data=True)
    stored = onnx.load(str(tmp_path / "out.onnx"), load_external_data=False).graph.initializer
    assert {t.name: t.data_location for t in stored} == {"w": TensorProto.EXTERNAL, "b": TensorProto.DEFAULT}


def test_what_does_not_fit_into_a_message_goes_beside_it_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path / "in.onnx")
    module = qdialect.load(tmp_path / "in.onnx")
    total = external.tensor_bytes(module)
    assert total == WEIGHT.nbytes + BIAS.nbytes
    monkeypatch.setattr(models, "MAX_INTERNAL_BYTES", total)
    qdialect.save(module, tmp_path / "fits.onnx")
    assert not (tmp_path / "fits.onnx.data").exists()
    monkeypatch.setattr(models, "MAX_INTERNAL_BYTES", total - 1)
    qdialect.save(module, tmp_path / "out.onnx")
    np.testing.assert_array_equal(weight_of(tmp_path / "out.onnx"), WEIGHT)
    assert (tmp_path / "out.onnx.data").exists()


def test_copies_in_blocks_what_is_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(onnx_tensor, "COPIED_BLOCK_BYTES", 1000)  # not a divisor of the 6000 bytes' offset
    write(tmp_path / "in.onnx", location="sub/w.bin")
    qdialect.save(qdialect.load(tmp_path / "in.onnx"), tmp_path / "out.onnx", external_data=True)
    np.testing.assert_array_equal(weight_of(tmp_path / "out.onnx"), WEIGHT)


def test_bytes_that_two_tensors_share_are_written_once(tmp_path: Path):
    write(tmp_path / "in.onnx", location="w.bin", twice=True)
    qdialect.save(qdialect.load(tmp_path / "in.onnx"), tmp_path / "out.onnx", external_data=True)
    stored = onnx.load(str(tmp_path / "out.onnx"), load_external_data=False).graph.initializer
    places = {t.name: {e.key: e.value for e in t.external_data} for t in stored}
    assert places["w"] == places["w2"] == {"location": "out.onnx.data", "offset": "0", "length": "6000"}


def test_a_model_may_be_written_over_itself(tmp_path: Path):
    write(tmp_path / "m.onnx", location="m.onnx.data")
    assert main(["compile", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.onnx"), "--external-data"]) == 0
    np.testing.assert_array_equal(weight_of(tmp_path / "m.onnx"), WEIGHT)


def test_neither_file_appears_if_the_data_is_gone(tmp_path: Path):
    write(tmp_path / "in.onnx", location="w.bin")
    module = qdialect.load(tmp_path / "in.onnx")
    (tmp_path / "w.bin").unlink()
    with pytest.raises(qdialect.UserError, match="no such file"):
        qdialect.save(module, tmp_path / "out.onnx", external_data=True)
    assert [p.name for p in tmp_path.iterdir()] == ["in.onnx"]


def test_data_that_was_replaced_is_not_taken_for_the_old(tmp_path: Path):
    write(tmp_path / "in.onnx", location="w.bin")
    module = qdialect.load(tmp_path / "in.onnx")
    (tmp_path / "other").write_bytes((tmp_path / "w.bin").read_bytes()[::-1])
    (tmp_path / "other").replace(tmp_path / "w.bin")
    with pytest.raises(qdialect.UserError, match="has changed since it was read"):
        qdialect.save(module, tmp_path / "out.onnx", external_data=True)


def test_the_tensors_of_the_input_are_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write(tmp_path / "in.onnx", location="out.onnx.data")
    before = (tmp_path / "out.onnx.data").read_bytes()
    for output, data in (("out.onnx", True), ("out.onnx.data", False)):
        module = qdialect.load(tmp_path / "in.onnx")
        with pytest.raises(qdialect.UserError, match="holds tensors of"):
            qdialect.save(module, tmp_path / output, external_data=data)
    assert (
        main(["compile", str(tmp_path / "in.onnx"), "-o", str(tmp_path / "out.onnx"), "--external-data"]) == 1
    )
    assert "choose another output" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.onnx", "out.onnx.data"]
    assert (tmp_path / "out.onnx.data").read_bytes() == before


def test_a_model_is_written_over_itself_with_its_tensors(tmp_path: Path):
    write(tmp_path / "in.onnx", location="in.onnx.data")
    qdialect.save(qdialect.load(tmp_path / "in.onnx"), tmp_path / "in.onnx", external_data=True)
    np.testing.assert_array_equal(weight_of(tmp_path / "in.onnx"), WEIGHT)


def test_text_does_not_write_over_the_tensors_of_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    write(tmp_path / "in.onnx", location="out.weights")
    assert opt([str(tmp_path / "in.onnx"), "-o", str(tmp_path / "out.mlir")]) == 1
    assert "holds tensors of" in capsys.readouterr().err
    np.testing.assert_array_equal(weight_of(tmp_path / "in.onnx"), WEIGHT)
