"""What kernels cost on one machine, measured with few runs, decides forms; the file alone says what is decided."""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from graph_builder import Graph

import check_costs
import qdialect
from qdialect.cli import main
from qdialect.errors import UserError
from qdialect.measuring.kernels import Grouped, Shape
from qdialect.measuring.machine import Calibrated, calibrate
from qdialect.targets import target
from qdialect.targets.pricing import (
    ALIGNED,
    BLOCKED,
    DEPTHWISE,
    DEPTHWISE_ALIGNED,
    FLOAT,
    GATHERED,
    PACKED,
    PRODUCT,
    scaled,
)

COSTS = target("onnxruntime").costs


def test_each_kernel_of_the_probes_gets_a_factor():
    done = calibrate(
        "onnxruntime", COSTS, 1, probes=[Shape(1, 4, 16, 6, 3)], in_groups=[Grouped(1, 8, 8, (6, 6), 3, 8)]
    )
    assert set(done.factors) == {
        "Conv",
        "ConvPacked",
        "ConvInteger",
        "ConvIntegerSigned",
        "MatMulIntegerToFloat",
        "QLinearConvAligned",
        "QLinearConvDepthwise",
    }
    assert all(factor > 0 for factor in done.factors.values())
    said = tomllib.loads(done.text())
    assert said["like"] == "onnxruntime"
    assert said["factors"] == pytest.approx(dict(done.factors), abs=1e-4)


def test_kernels_that_are_not_measured_are_like_one_that_is():
    done = scaled(COSTS, {FLOAT: 2.0, PRODUCT: 3.0, ALIGNED: 5.0})
    assert done[FLOAT]["product"] == 2 * COSTS[FLOAT]["product"]
    assert done[GATHERED]["gathered"] == 3 * COSTS[GATHERED]["gathered"]
    assert done["Elementwise"]["Add"] == 2 * COSTS["Elementwise"]["Add"]
    assert done[ALIGNED]["call"] == 5 * COSTS[ALIGNED]["call"]
    assert done[ALIGNED]["least_outputs"] == COSTS[ALIGNED]["least_outputs"]
    assert done["DynamicQuantizeLSTM"]["least"] == COSTS["DynamicQuantizeLSTM"]["least"]


def test_kernels_that_a_machine_was_not_measured_for_scale_as_their_likes_do():
    """As a file of `--calibrate` from before they had a price of their own."""
    done = scaled(COSTS, {PACKED: 3.0, DEPTHWISE: 5.0})
    for kernel, factor in ((BLOCKED, 3.0), (DEPTHWISE_ALIGNED, 5.0)):
        assert done[kernel]["product"] == pytest.approx(factor * COSTS[kernel]["product"])
        assert done[kernel]["outputs_multiple"] == COSTS[kernel]["outputs_multiple"]


def kernels(folder: Path, **options: str) -> list[str]:
    """The kernels of one convolution with a float result."""
    g = Graph()
    g.add("Conv", "c", g.pair("x", 0.02, 120), g.weight("w", (32, 32, 3, 3), 0), pads=[1] * 4)
    g.add("Sin", "y", "c")
    path = folder / "model.onnx"
    path.write_bytes(g.model((1, 32, 16, 16), (1, 32, 16, 16)).SerializeToString())
    module = qdialect.load(path)
    qdialect.compile(module, **options)  # pyright: ignore[reportArgumentType]
    return [node.op_type for node in qdialect.to_model(module).graph.node]


def test_costs_of_a_machine_decide_forms(tmp_path: Path):
    assert "MatMulIntegerToFloat" in kernels(tmp_path)
    slow = tmp_path / "slow.toml"
    slow.write_text(Calibrated("onnxruntime", {"MatMulIntegerToFloat": 9.0}).text())
    assert "MatMulIntegerToFloat" not in kernels(tmp_path, costs=str(slow))


def test_explain_goes_by_the_costs_of_a_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    slow = tmp_path / "slow.toml"
    slow.write_text(Calibrated("onnxruntime", {"MatMulIntegerToFloat": 9.0, "ConvInteger": 9.0}).text())
    kernels(tmp_path)
    model = str(tmp_path / "model.onnx")
    assert main(["explain", model]) == 0
    assert "float-faster" not in capsys.readouterr().out
    assert main(["explain", model, "--costs", str(slow)]) == 0
    assert "float-faster" in capsys.readouterr().out
    assert main(["explain", model, "--target", "openvino", "--costs", str(slow)]) == 1
    assert "has the costs of onnxruntime, not of openvino" in capsys.readouterr().err


def test_costs_are_of_the_target_that_is_asked_for(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(Calibrated("onnxruntime", {"Conv": 2.0}).text())
    with pytest.raises(UserError, match="has the costs of onnxruntime, not of openvino"):
        kernels(tmp_path, target="openvino", costs=str(path))


def test_the_command_measures_and_compiles_by_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "mine.toml"
    assert main(["targets", "--calibrate", "--runs", "1", "-o", str(path)]) == 0
    factors = target(path).factors
    assert len(factors) == 12
    assert np.isfinite(list(factors.values())).all()
    kernels(tmp_path)
    model, first, second = tmp_path / "model.onnx", tmp_path / "1.onnx", tmp_path / "2.onnx"
    for result in (first, second):
        assert main(["compile", str(model), "-o", str(result), "--costs", str(path), "--quiet"]) == 0
    assert first.read_bytes() == second.read_bytes()
    capsys.readouterr()
    assert main(["targets", "--calibrate", "--runs", "1"]) == 0
    assert "[factors]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["-o", "x.toml"], "that --calibrate measures"), (["--calibrate", "-o", "x.txt"], "ends in .toml")],
)
def test_wrong_words(words: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main(["targets", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_check_on_shapes_held_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(check_costs, "HELD_OUT", check_costs.HELD_OUT[-1:])
    check_costs.main(["--runs", "1"])
    assert "the fastest chosen in" in capsys.readouterr().out
