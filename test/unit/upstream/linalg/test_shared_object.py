"""What `--target linalg` writes, as a shared object made by mlir-opt and gcc, against onnxruntime."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx import ModelProto, NodeProto, TensorProto
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.evaluation.session import run
from qdialect.upstream.binaries import tool

ROOT = Path(__file__).parents[4]
needs_tools = pytest.mark.skipif(
    tool("mlir-opt-22", "mlir-opt") is None or tool("mlir-runner-22", "mlir-runner") is None,
    reason="there is no mlir-opt or mlir-runner",
)
needs_iree = pytest.mark.skipif(
    tool("iree-compile") is None or tool("iree-run-module") is None,
    reason="there is no IREE: pip install '.[iree]'",
)
DRAW = np.random.default_rng(11)


def quantized(name: str, zero_point: int, scale: float) -> list[TensorProto]:
    return [
        onh.from_array(np.array(scale, np.float32), f"{name}_s"),
        onh.from_array(np.array(zero_point, np.uint8), f"{name}_z"),
    ]


def image_model() -> ModelProto:
    """Groups, a transposed convolution, a pool with pads, a table, a join, a head in float."""
    weights = {
        "w": DRAW.integers(-90, 90, (6, 2, 3, 3), np.int8), "v": DRAW.integers(-90, 90, (6, 4, 2, 2), np.int8),
        "g": DRAW.integers(-90, 90, (4, 5), np.int8),
    }  # fmt: skip
    parts = [onh.from_array(array, name) for name, array in weights.items()]
    parts += [onh.from_array(np.array(0.01, np.float32), "w_s"), onh.from_array(np.array(0, np.int8), "w_z")]
    for k, (zero, scale) in enumerate([(131, 0.02), (90, 0.11), (7, 0.2), (20, 0.15), (128, 0.19)]):
        parts += quantized(f"q{k}", zero, scale)
    nodes: list[NodeProto] = []

    def cast(source: str, k: int) -> str:
        out = f"{source}_r"
        nodes.append(oh.make_node("QuantizeLinear", [source, f"q{k}_s", f"q{k}_z"], [f"{source}_q"]))
        nodes.append(oh.make_node("DequantizeLinear", [f"{source}_q", f"q{k}_s", f"q{k}_z"], [out]))
        return out

    def op(kind: str, inputs: list[str], out: str, k: int | None = None, **attributes: Any) -> str:
        nodes.append(oh.make_node(kind, inputs, [out], **attributes))
        return out if k is None else cast(out, k)

    for name in weights:
        nodes.append(oh.make_node("DequantizeLinear", [name, "w_s", "w_z"], [f"{name}_r"]))
    x = cast("x", 0)
    a = op("Conv", [x, "w_r"], "a", 1, group=2, pads=[1, 0, 0, 2], strides=[1, 2])
    b = op("MaxPool", [a], "b", 1, kernel_shape=[3, 2], pads=[1, 0, 1, 0], strides=[2, 1])
    c = op("ConvTranspose", [b, "v_r"], "c", 2, strides=[2, 1], output_padding=[1, 0])
    d = op("Sigmoid", [c], "d")
    e = op("Mul", [c, d], "e", 3)
    f = op("Add", [e, c], "f", 4)
    m = op("GlobalAveragePool", [f], "m", 3)
    t = op("Flatten", [m], "t")
    op("Gemm", [t, "g_r"], "y")
    return onnx_model(nodes, {"x": ["n", 4, 7, 9]}, {"y": ["n", 5]}, parts, ir_version=9)


def called(path: Path, *inputs: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What a shared object computes of one model's inputs."""
    out = np.zeros(shape, np.float32)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*inputs, out)]
    ctypes.CDLL(str(path)).model(*pointers)
    return out


@needs_tools
def test_a_shared_object_computes_what_onnxruntime_does(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(image_model().SerializeToString())
    assert main(["compile", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "o.onnx")]) == 0
    source = [str(tmp_path / "m.onnx"), "--target", "linalg", "--batch", "2", "--quiet"]
    assert main(["compile", *source, "-o", str(tmp_path / "m.so")]) == 0
    steps = 0.15 * 0.01 * 4 * 90  # a step of each of the four that the last product takes
    for seed in range(5):
        x = np.random.default_rng(seed).normal(0, 1.5, (2, 4, 7, 9)).astype(np.float32)
        expected = run(str(tmp_path / "o.onnx"), {"x": x}, optimize=True)[0]
        got = called(tmp_path / "m.so", x, shape=(2, 5))
        assert np.abs(got - expected).max() <= steps


def test_what_cannot_be_lowered_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Sizes that are open, and another form, another ending."""
    model, out = str(tmp_path / "m.onnx"), str(tmp_path / "m.mlir")
    Path(model).write_bytes(image_model().SerializeToString())
    assert main(["compile", model, "--target", "linalg", "-o", out]) == 1
    said = capsys.readouterr().err
    assert "a size is not known" in said
    assert said.count("\n") == 1
    assert not Path(out).exists()
    nothing = oh.make_node("Identity", ["x"], ["y"])
    values = [oh.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3]) for name in "xy"]
    passing = onnx_model([nothing], values[:1], values[1:], ir_version=9)
    (tmp_path / "p.onnx").write_bytes(passing.SerializeToString())
    assert main(["compile", str(tmp_path / "p.onnx"), "--target", "linalg", "-o", out]) == 1
    assert "of which a size is not known" in capsys.readouterr().err
    assert main(["compile", model, "--target", "linalg", "-o", str(tmp_path / "m.onnx2")]) == 1
    assert "OUT.mlir" in capsys.readouterr().err
    assert main(["compile", model, "--target", "linalg", "--form", "qdq", "-o", out]) == 1
    assert "supports only its own form" in capsys.readouterr().err
    for target in ("linalg", "tosa"):
        assert main(["compile", model, "--target", target, "--exactness", "exact", "-o", out]) == 1
        assert "has no exact form" in capsys.readouterr().err
    assert not Path(out).exists()


def padded_model() -> ModelProto:
    """A Pad in float, whose value is a dequantized constant: onnxruntime's tool quantizes that too."""
    nodes = [
        oh.make_node("DequantizeLinear", ["v", "q_s", "q_z"], ["value"]),
        oh.make_node("Sin", ["x"], ["s"]),
        oh.make_node("Pad", ["s", "pads", "value"], ["p"], name="pad"),
        oh.make_node("Sin", ["p"], ["y"]),
    ]
    parts = [
        onh.from_array(np.array([0, 1, 0, 2], np.int64), "pads"),
        onh.from_array(np.array(35, np.uint8), "v"),
    ]
    parts += quantized("q", 5, 0.03125)
    values = [oh.make_tensor_value_info(n, TensorProto.FLOAT, [2, k]) for n, k in (("x", 3), ("y", 6))]
    return onnx_model(nodes, values[:1], values[1:], parts, ir_version=9)


@needs_tools
def test_a_dequantized_constant_is_a_number_that_forms_read(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(padded_model().SerializeToString())
    command = ["compile", str(tmp_path / "m.onnx"), "--target", "linalg", "--quiet"]
    assert main([*command, "-o", str(tmp_path / "m.so")]) == 0
    x = np.random.default_rng(3).normal(0, 1, (2, 3)).astype(np.float32)
    expected = run(str(tmp_path / "m.onnx"), {"x": x})[0]
    assert expected[0, 0] == pytest.approx(np.sin(30 * 0.03125))
    np.testing.assert_allclose(called(tmp_path / "m.so", x, shape=(2, 6)), expected, rtol=0, atol=1e-6)


def test_what_keeps_a_model_out_of_tosa_is_said_with_the_flag_to_give(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = ["compile", str(ROOT / "examples" / "digits_qdq.onnx"), "--target", "tosa", "--batch", "1"]
    assert main([*command, "-o", str(tmp_path / "m.mlir")]) == 1
    said = capsys.readouterr().err
    assert "the integer profile has no floats; --integer-io lets the graph take and give integers" in said
    assert said.count("\n") == 1
    assert main([*command, "--integer-io", "-o", str(tmp_path / "m.mlir")]) == 1
    assert (
        "1 operation cannot be written: onnx.Gemm '/classify/Gemm': the result is float"
        in capsys.readouterr().err
    )


@needs_tools
def test_a_tensor_may_be_several_outputs(tmp_path: Path):
    """And an input one, whose size the output does not state."""
    nodes = [oh.make_node("Neg", ["x"], ["y"]), oh.make_node("Identity", ["y"], ["z"])]
    inputs = [oh.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    outputs = [oh.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "yzx"]
    model = oh.make_model(oh.make_graph(nodes, "g", inputs, outputs), ir_version=9)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    command = ["compile", str(tmp_path / "m.onnx"), "--target", "linalg", "--quiet"]
    assert main([*command, "-o", str(tmp_path / "m.so")]) == 0
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    arrays = [x, *(np.zeros_like(x) for _ in outputs)]
    ctypes.CDLL(str(tmp_path / "m.so")).model(*(a.ctypes.data_as(ctypes.c_void_p) for a in arrays))
    for array, expected in zip(arrays[1:], (-x, -x, x), strict=True):
        np.testing.assert_array_equal(array, expected)


def test_the_verdict_counts_the_constants_of_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    command = ["compile", str(ROOT / "examples" / "digits_qdq.onnx"), "--target", "linalg", "--batch", "1"]
    assert main([*command, "-o", str(tmp_path / "m.mlir")]) == 0
    said = re.search(r"size: (\S+) kB of constants, was (\S+) kB", capsys.readouterr().err)
    assert said is not None
    assert float(said[1]) > float(said[2]) / 4  # weights of 8 bits, where they were floats


def test_explain_lists_what_linalg_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Sizes that are open count as one sample."""
    nodes = [
        oh.make_node("TopK", ["x", "k"], ["v", "i"], name="top"),
        oh.make_node("Neg", ["v"], ["y"], name="less"),
    ]
    values = [oh.make_tensor_value_info(name, TensorProto.FLOAT, ["n", None]) for name in "xy"]
    values[0].type.tensor_type.shape.dim[1].dim_value = 5
    model = onnx_model(nodes, values[:1], values[1:], {"k": np.array([2], np.int64)}, ir_version=9)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    assert main(["explain", str(tmp_path / "m.onnx"), "--target", "linalg"]) == 0
    said = capsys.readouterr().out
    assert "1 TopK stays out of linalg: TopK has no form in linalg [no-form]\n    top\n" in said
    assert "less" not in said


@needs_tools
def test_the_text_is_read_by_mlir_opt(tmp_path: Path):
    """Names are locations, the interface is said on top, and weights stand as bytes."""
    module = qdialect.load(ROOT / "examples" / "digits_qdq.onnx")
    qdialect.compile(module, target="linalg", batch=1)
    qdialect.save(module, tmp_path / "m.mlir")
    text = (tmp_path / "m.mlir").read_text()
    assert text.startswith("// input 0 of @main: ")
    assert "onnx." not in re.sub(r"//.*", "", text)
    reader = tool("mlir-opt-22", "mlir-opt")
    assert reader is not None
    subprocess.run([reader, str(tmp_path / "m.mlir"), "-o", "/dev/null"], check=True)


@needs_tools
def test_the_page_of_a_program_in_c(tmp_path: Path):
    """The commands of docs/mlir.md, one behind the other."""
    page = (ROOT / "docs" / "mlir.md").read_text()
    program = re.search(r"```c\n(.*?)```", page, re.S)
    assert program is not None
    assert program[1].count("\n") <= 21
    (tmp_path / "main.c").write_text(program[1])
    model = ROOT / "examples" / "digits_qdq.onnx"
    (tmp_path / "digits_qdq.onnx").write_bytes(model.read_bytes())
    commands, said = re.search(r"<!-- run -->\n\n((?:    .*\n)+)", page), ""
    assert commands is not None
    for line in commands[1].splitlines():
        words = line.split()
        if words[0] == "qdialect":
            paths = [str(tmp_path / w) if w.endswith((".onnx", ".so", ".mlir")) else w for w in words[1:]]
            assert main([*paths, "--quiet"]) == 0
        else:
            said = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert re.fullmatch(r"digit \d\n", said)


@needs_iree
def test_the_page_of_iree(tmp_path: Path):
    """The commands of docs/mlir.md: what IREE prints is what onnxruntime computes of the model compiled for it."""
    commands = re.search(
        r"<!-- run with iree -->\n\n((?:    .*\n)+)", (ROOT / "docs" / "mlir.md").read_text()
    )
    assert commands is not None
    model = str(ROOT / "examples" / "digits_qdq.onnx")
    said = ""
    for line in commands[1].splitlines():
        words = (
            line.replace("digits_qdq.onnx", model).replace("digits.vmfb", f"{tmp_path}/digits.vmfb").split()
        )
        if words[0] == "qdialect":
            assert main([*words[1:], "--quiet"]) == 0
        else:
            program = [str(tool(words[0])), *words[1:]]
            said = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    printed = re.search(r"1x10xf32=\[(.*?)\]", said)
    assert printed is not None
    assert main(["compile", model, "-o", str(tmp_path / "o.onnx"), "--quiet"]) == 0
    feeds = {onnx.load(model).graph.input[0].name: np.full((1, 16, 16, 1), 0.5, np.float32)}
    expected = run(str(tmp_path / "o.onnx"), feeds, optimize=True)[0][0]
    np.testing.assert_allclose(np.array(printed[1].split(), np.float32), expected, rtol=1e-4)
