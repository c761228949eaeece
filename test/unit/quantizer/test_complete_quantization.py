"""`compile` with data: residual additions and float results that a quantized model leaves get parameters."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import session
from qdialect.report.report import NO_CAST_HERE
from qdialect.rewriting.manager import PassManager
from qdialect.transforms.fuse_quantized import FuseQuantizedPass
from qdialect.transforms.hoist_quantize import HoistQuantizePass
from qdialect.transforms.insert_casts import InsertCastsPass
from qdialect.transforms.lower_to_qdq import LowerToQdqPass
from qdialect.transforms.raise_qdq import RaiseQdqPass
from qdialect.transforms.sink_dequantize import SinkDequantizePass

CHANNELS, SIDE = 24, 20
rng = np.random.default_rng(5)


class Export:
    """A residual network as training exports it: convolutions read s8 of one scale, all else is float."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: npt.ArrayLike) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def pair(self, x: str, scale: float) -> str:
        names = [
            self.constant(f"{x}.scale.{len(self.nodes)}", np.float32(scale)),
            self.constant(f"{x}.zero.{len(self.nodes)}", np.int8(0)),
        ]
        q = self.node("QuantizeLinear", [x, *names], f"{x}.q{len(self.nodes)}")
        return self.node("DequantizeLinear", [q, *names], f"{x}.d{len(self.nodes)}")

    def conv(self, x: str, scale: float, name: str) -> str:
        weight = rng.normal(size=(CHANNELS, CHANNELS, 3, 3)) / np.sqrt(9 * CHANNELS)
        scales = (np.abs(weight).max(axis=(1, 2, 3)) / 127).astype(np.float32)
        stored = np.rint(weight / scales.reshape(-1, 1, 1, 1)).astype(np.int8)
        w = self.node(
            "DequantizeLinear",
            [
                self.constant(f"{name}.w", stored),
                self.constant(f"{name}.ws", scales),
                self.constant(f"{name}.wz", np.zeros(CHANNELS, np.int8)),
            ],
            f"{name}.weight",
            axis=0,
        )
        y = self.node("Conv", [self.pair(x, scale), w], f"{name}.conv", pads=[1, 1, 1, 1])
        rows = (
            rng.uniform(0.5, 1.5, CHANNELS),
            rng.normal(0, 0.2, CHANNELS),
            np.zeros(CHANNELS),
            np.ones(CHANNELS),
        )
        parts = [self.constant(f"{name}.bn{k}", row.astype(np.float32)) for k, row in enumerate(rows)]
        return self.node("BatchNormalization", [y, *parts], name)

    def model(self) -> onnx.ModelProto:
        x = "input"
        for k in range(2):
            a = self.node("Relu", [self.conv(x, 0.05, f"a{k}")], f"relu{k}")
            b = self.conv(a, 0.05, f"b{k}")
            x = self.node("Relu", [self.node("Add", [b, x], f"sum{k}")], f"block{k}")
        y = self.node("GlobalAveragePool", [self.conv(x, 0.08, "last")], "output")
        shape = [1, CHANNELS, SIDE, SIDE]
        return onnx_model(
            self.nodes,
            {"input": (TensorProto.FLOAT, shape)},
            {y: [1, CHANNELS, 1, 1]},
            self.constants,
            ir_version=9,
        )


@pytest.fixture(scope="module")
def export() -> bytes:
    return Export().model().SerializeToString()


@pytest.fixture(scope="module")
def samples() -> list[dict[str, npt.NDArray[np.float32]]]:
    draw = np.random.default_rng(9)
    return [{"input": draw.normal(size=(1, CHANNELS, SIDE, SIDE)).astype(np.float32)} for _ in range(8)]


def _kinds(report: qdialect.Report) -> Counter[str]:
    return Counter(node.op_type for node in qdialect.to_model(report.module).graph.node)


def _noise(model: bytes, report: qdialect.Report, feeds: list[dict[str, npt.NDArray[np.float32]]]) -> float:
    """Signal to noise in dB."""
    runners = session(model), session(qdialect.to_model(report.module).SerializeToString())
    wanted, got = (np.concatenate([r.run(None, f)[0] for f in feeds]).astype(np.float64) for r in runners)
    return 10 * np.log10((wanted**2).sum() / ((wanted - got) ** 2).sum())


def test_residual_additions_become_integer(
    export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]
) -> None:
    without = qdialect.compile(export)
    assert _kinds(without)["Add"] == 2
    assert not without.completion
    advice = [one.reasons[0].blocked.fix for one in without.layers if one.operator == "Add"]
    assert advice == [NO_CAST_HERE.fix] * 2
    report = qdialect.compile(export, data=samples)
    kinds = _kinds(report)
    assert kinds["QLinearAdd"] == 2
    assert not kinds["Add"]
    assert kinds["QLinearConv"] == 5
    assert not kinds["MatMulIntegerToFloat"]
    assert not kinds["Max"]  # the activations begin at zero
    assert _noise(export, report, samples) > 30
    assert report.completion in str(report)
    assert "in 8 bits, with ranges of 8 samples" in report.completion
    assert "dB without" in report.completion


@pytest.mark.parametrize("zero", [np.int8(0), np.int8(-5), np.uint8(128), np.uint8(40)])
@pytest.mark.parametrize(("hoisted", "pooled"), [(False, False), (True, False), (True, True)])
def test_steps_from_zero_up_hold_the_same_numbers(zero: np.integer[Any], hoisted: bool, pooled: bool) -> None:
    """Of each integer of the type and each half step between; what the type clips above is held besides."""
    clamped = "m" if pooled else "r"
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("Relu", ["d"], ["r"]),
        *([helper.make_node("MaxPool", ["r"], ["m"], kernel_shape=[2, 1])] if pooled else []),
        helper.make_node("QuantizeLinear", [clamped, "s", "z"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    scale = np.float32(0.1)
    constants = [numpy_helper.from_array(np.asarray(v), name) for name, v in (("s", scale), ("z", zero))]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1, None, 1]) for n in ("x", "y")]
    model = onnx_model(nodes, ends[:1], ends[1:], constants, ir_version=9)
    module = qdialect.load(model)
    moves = [HoistQuantizePass(), SinkDequantizePass()] if hoisted else []
    PassManager().run([RaiseQdqPass(), *moves, FuseQuantizedPass(), InsertCastsPass(weights=False)], module)
    relus = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Relu"]
    assert len(relus) == int(not hoisted)
    PassManager().run([LowerToQdqPass(target="generic")], module)
    x = (np.arange(-300, 700, dtype=np.float32) * scale / 2).reshape(1, 1, -1, 1)
    wanted, got = (
        session(one.SerializeToString()).run(None, {"x": x})[0] for one in (model, qdialect.to_model(module))
    )
    steps = int(np.iinfo(zero.dtype).max) - int(zero)
    top = steps * scale
    assert np.array_equal(got[wanted < top], wanted[wanted < top])
    assert (got[wanted >= top] >= top).all()
    assert got.max() == (255 if hoisted else steps) * scale  # else the first cast clips


def test_the_same_data_gives_the_same_bytes(
    export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]
) -> None:
    first, second = (
        qdialect.to_model(qdialect.compile(export, data=one).module).SerializeToString(deterministic=True)
        for one in (samples, samples[::-1])
    )
    assert first == second


def test_pairs_for_a_target_without_kernels(
    export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]
) -> None:
    without = _kinds(qdialect.compile(export, target="tensorrt"))
    kinds = _kinds(qdialect.compile(export, data=samples, target="tensorrt"))
    assert kinds["QuantizeLinear"] > without["QuantizeLinear"]
    assert kinds["Add"] == 2


def test_a_node_that_is_kept_stays(export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]) -> None:
    kinds = _kinds(qdialect.compile(export, data=samples, keep_float=["sum1"]))
    assert kinds["Add"] >= 1


def _float_model() -> bytes:
    model = Export()
    w = model.constant("w", rng.normal(size=(CHANNELS, CHANNELS, 3, 3)).astype(np.float32))
    model.node("Conv", ["input", w], "output", pads=[1, 1, 1, 1])
    shape = [1, CHANNELS, SIDE, SIDE]
    rows = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in ("input", "output")]
    graph = helper.make_graph(model.nodes, "float", rows[:1], rows[1:], model.constants)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def test_a_float_model_stays_float(samples: list[dict[str, npt.NDArray[np.float32]]]) -> None:
    report = qdialect.compile(_float_model(), data=samples)
    assert report.completion == "further tensors: none in 8 bits, since the model has no quantized one"
    assert _kinds(report) == {"Conv": 1}


def test_what_is_whole_is_left(export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]) -> None:
    done = qdialect.to_model(qdialect.compile(export, data=samples, form="qdq").module).SerializeToString()
    again = qdialect.compile(done, data=samples)
    assert (
        again.completion.splitlines()[0]
        == "further tensors: none in 8 bits, since no op in float would be faster in integers"
    )


def test_a_result_without_signal_is_not_taken(
    export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qdialect.quantizer.search.judging.MIN_RATIO_DB", 200.0)
    monkeypatch.setattr("qdialect.quantizer.complete_quantization.decibels_of", str)
    report = qdialect.compile(export, data=samples)
    without = qdialect.compile(export)
    assert "would be left for" in report.completion
    assert _kinds(report) == _kinds(without)


def test_odd_data_is_said_to_be(export: bytes, samples: list[dict[str, npt.NDArray[np.float32]]]) -> None:
    zeros = [{name: array * 0 for name, array in feeds.items()} for feeds in samples]
    for data, odd in ((zeros, True), (samples, False)):
        report = qdialect.compile(export, data=data)
        assert ("warning: the data is 0 throughout" in report.completion) is odd


def test_the_command(
    export: bytes,
    samples: list[dict[str, npt.NDArray[np.float32]]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "qat.onnx").write_bytes(export)
    np.savez(tmp_path / "x.npz", input=np.concatenate([one["input"] for one in samples]))
    words = ["compile", str(tmp_path / "qat.onnx"), "--data", str(tmp_path / "x.npz")]
    assert main([*words, "-o", str(tmp_path / "out.onnx")]) == 0
    assert "data: " in capfd.readouterr().err
    (tmp_path / "folder").mkdir()
    (tmp_path / "x.npz").rename(tmp_path / "folder" / "x.npz")
    words[3] = str(tmp_path / "folder")
    assert main([*words, "-o", str(tmp_path / "same.onnx")]) == 0
    assert (tmp_path / "same.onnx").read_bytes() == (tmp_path / "out.onnx").read_bytes()
    assert main([*words, "--print-pipeline"]) == 0
    assert "insert-casts{" in capfd.readouterr().out
    np.savez(tmp_path / "y.npz", wrong=np.zeros((1, 2), np.float32))
    assert main([*words[:3], str(tmp_path / "y.npz"), "-o", str(tmp_path / "no.onnx")]) == 1
    assert capfd.readouterr().err.startswith("error: ")
    assert not (tmp_path / "no.onnx").exists()
