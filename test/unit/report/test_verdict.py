"""The verdict after `compile` and `quantize`: about five lines on stderr, none with --quiet."""

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model
from two_products import PRODUCTS, write

import qdialect
from qdialect.cli import main
from qdialect.report.verdict import bytes_text, count_text, kinds_text, share_text
from qdialect.text.reading import read_text


def said(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main([*words]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_compile_ends_with_five_lines_unless_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out = write(tmp_path / "in.onnx"), str(tmp_path / "out.onnx")
    share = 100 * 2 * 16 * 6 / PRODUCTS
    lines = said(capsys, "compile", path, "-o", out)
    assert lines[0] == (
        f"integers: {share:.1f} % of {PRODUCTS} multiply-adds (before: 0 %, {share:.1f} % in float between Q/DQ pairs)"
    )
    assert lines[1] == "kernels: 1 QLinearMatMul"
    assert lines[2] == (
        f"float: 1 layer, {100 - share:.1f} %; first MatMul 'second', {100 - share:.1f} %: "
        "the weight is float; quantize every operand [float-operand]"
    )
    assert lines[3] == "casts: 1 DequantizeLinear, 1 QuantizeLinear left of 5"
    assert re.fullmatch(r"size: \d+ B of constants, was \d+ B", lines[4])
    assert len(lines) == 5
    assert said(capsys, "compile", path, "-o", out, "--quiet") == []


def test_pairs_are_counted_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out = write(tmp_path / "in.onnx"), str(tmp_path / "out.onnx")
    assert said(capsys, "compile", path, "-o", out, "--target", "openvino")[1] == "in pairs: 1 MatMul"


def test_what_is_in_integers_already_counts_as_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out, again = write(tmp_path / "in.onnx"), str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")
    said(capsys, "compile", path, "-o", out)
    share = f"{100 * 2 * 16 * 6 / PRODUCTS:.1f} %"
    assert said(capsys, "compile", out, "-o", again)[0] == (
        f"integers: {share} of {PRODUCTS} multiply-adds (before: {share})"
    )


def test_a_float_model_is_told_to_be_quantized_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out = write(tmp_path / "in.onnx", quantized=False, weight="f"), str(tmp_path / "out.onnx")
    lines = said(capsys, "compile", path, "-o", out)
    assert lines[0] == f"integers: 0 % of {PRODUCTS} multiply-adds (before: 0 %)"
    assert lines[1] == "float: 2 layers, 100 %"
    assert lines[-1].startswith("no quantization found: `qdialect quantize ")


def test_a_model_that_quantize_leaves_in_float_is_not_told_to_quantize_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = write(tmp_path / "in.onnx", quantized=False), str(tmp_path / "out.onnx")
    lines = said(capsys, "quantize", path, "--random", "-o", out)
    assert any(line.startswith("every layer stays in float") for line in lines)
    assert "float: 2 layers, 100 %" in lines


@pytest.mark.parametrize("weights", ["int8", "int4"])
def test_what_quantize_leaves_in_float_is_not_told_to_be_quantized(
    weights: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = write(tmp_path / "in.onnx", quantized=False, weight="f"), str(tmp_path / "out.onnx")
    lines = said(capsys, "quantize", path, "--random", "-o", out, "--weights", weights, "--keep-float", "*")
    assert any(line.startswith("integers: 0 %") for line in lines)
    assert not any("no quantization" in line for line in lines)


def test_an_op_whose_integer_form_is_not_exact_names_the_level(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = write(tmp_path / "in.onnx"), str(tmp_path / "out.onnx")
    lines = said(capsys, "compile", path, "-o", out, "--exactness", "exact")
    assert any("allow --exactness close [inexact-kernel]" in line for line in lines), lines


def test_a_weight_only_model_is_counted_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out = write(tmp_path / "in.onnx", quantized=False), str(tmp_path / "out.onnx")
    lines = said(capsys, "compile", path, "-o", out)
    assert "with only weights in integers" in lines[0]
    assert not any("no quantization" in line for line in lines)
    assert "the operand 0 is float" in lines[1]
    assert lines[-1].endswith("; weights of layers in float are written as floats")


def test_an_integer_interface_says_what_its_integers_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out, report = write(tmp_path / "in.onnx"), str(tmp_path / "out.onnx"), tmp_path / "r.json"
    lines = said(capsys, "compile", path, "-o", out, "--integer-io", "--report", str(report))
    assert lines[-2:] == [
        "'x' holds integers: scale 0.02, zero point 131",
        "'y' stays float: MatMul 'second' computes it, in float since the weight is float; quantize every operand"
        " [float-operand]",
    ]
    assert json.loads(report.read_text())["interface"] == {"x": {"scale": 0.02, "zero_point": 131}}
    [entry] = onnx.load(out).metadata_props
    assert (entry.key, json.loads(entry.value)) == (
        "qdialect.quantization.x",
        {"scale": 0.02, "zero_point": 131},
    )


def test_quantize_ends_with_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, out = write(tmp_path / "in.onnx", quantized=False, weight="f"), str(tmp_path / "out.onnx")
    data = tmp_path / "data.npz"
    np.savez(data, x=np.random.default_rng(2).normal(0, 1, (16, 16)).astype(np.float32))
    lines = said(capsys, "quantize", path, "--data", str(data), "-o", out)
    assert sum(line.startswith("integers: ") for line in lines) == 1
    assert sum(line.startswith("size: ") for line in lines) == 1


def test_a_quantized_model_has_nothing_to_quantize(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    data, out = tmp_path / "data.npz", str(tmp_path / "out.onnx")
    np.savez(data, pixels=np.random.default_rng(2).random((8, 16, 16, 1), np.float32))
    model = Path(__file__).parents[3] / "examples" / "digits_qdq.onnx"
    lines = said(capsys, "quantize", str(model), "--data", str(data), "-o", out)
    assert lines[0].startswith("nothing to quantize: no layer has float weights")
    assert lines[1].startswith("integers: 100 % of ")


@pytest.mark.parametrize(
    ("ops", "says"),
    [
        ("y = Conv(x, w)", "convert the model to float32, then `qdialect quantize"),
        (
            "f = Cast<to = 1>(x) v = Cast<to = 1>(w) y = Conv(f, v)",
            "no quantization found: `qdialect quantize",
        ),
        ("y = Neg(x)", ""),
    ],
)
@pytest.mark.parametrize("element", ["float16", "double"])
def test_a_float_model_is_told_what_helps(
    element: str, ops: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    types = f"{element}[1,3,8,8] x, {element}[4,3,1,1] w"
    text = f'<ir_version: 8, opset_import: ["": 17]> g ({types}) => (y) {{ {ops} }}'
    onnx.save(onnx.parser.parse_model(text), path := str(tmp_path / "in.onnx"))
    lines = said(capsys, "compile", path, "-o", str(tmp_path / "out.onnx"))
    assert main(["explain", path]) == 0
    for one in (lines, capsys.readouterr().out.splitlines()):
        assert [line for line in one if "no quantization" in line and says in line] if says else True
        assert any("no quantization" in line for line in one) == bool(says)


def test_a_type_that_is_not_known_is_no_other_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[1,4,8,8] x, float[4] s, float[4,4,1,1] w) => (y) {
      n = GroupNormalization<num_groups = 2>(x, s, s)
      y = Conv(n, w)
    }"""
    onnx.save(onnx.parser.parse_model(text), path := str(tmp_path / "in.onnx"))
    assert main(["explain", path]) == 0
    assert "no quantization found: `qdialect quantize" in capsys.readouterr().out


def test_products_behind_an_operator_that_nobody_knows_are_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = """<ir_version: 8, opset_import: ["": 17, "own": 1]> g (float[1,4,8,8] x, float[4] b) => (y) {
      n = own.Rotate(x)
      v = own.Rotate(b)
      y = Conv(n, v, b)
    }"""
    onnx.save(onnx.parser.parse_model(text), path := str(tmp_path / "in.onnx"))
    lines = said(capsys, "compile", path, "-o", str(tmp_path / "out.onnx"))
    assert lines[0] == "integers: the products of 1 layer could not be counted: their shapes are not known"
    assert not [line for line in lines if "0 %" in line]
    assert main(["explain", path]) == 0
    out = capsys.readouterr().out
    assert "1 Conv: " in out
    assert "without products" not in out


def test_how_numbers_are_said():
    assert [count_text(n) for n in (7, 950, 4200, 81_410_560, 3.9e9)] == [
        "7",
        "950",
        "4.2 k",
        "81.4 M",
        "3.9 G",
    ]
    assert [bytes_text(n) for n in (7, 950, 4200)] == ["7 B", "950 B", "4.2 kB"]
    parts = (0, 1, 500, 9_999, 10_000)
    assert [share_text(n, 10_000) for n in parts] == ["0 %", "< 0.1 %", "5.0 %", "> 99.9 %", "100 %"]
    assert share_text(1, 0) == "0 %"
    assert kinds_text({name: 1 for name in "hgfedcba"} | {"z": 3}) == "3 z, 1 a, 1 b, 1 c, 1 d, 1 e, 3 others"


def test_operators_that_nothing_describes_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    # A float model but for them: nobody is told to quantize it.
    path, out = write(tmp_path / "in.onnx", quantized=False, weight="f"), str(tmp_path / "out.onnx")
    model = onnx.load(path)
    for name, node in zip("ab", ("QuantizeBlocks", "DequantizeBlocks"), strict=True):
        model.graph.node.append(
            helper.make_node(node, ["y" if name == "a" else "a"], [name], domain="vendor")
        )
    model.graph.output[0].name = "b"
    model.opset_import.append(helper.make_opsetid("vendor", 1))
    onnx.save(model, path)
    line = "unknown: 1 vendor.DequantizeBlocks, 1 vendor.QuantizeBlocks; not rewritten; the runtime must support them"
    lines = said(capsys, "compile", path, "-o", out)
    assert line in lines
    assert not any("no quantization" in one for one in lines)
    assert main(["explain", path]) == 0
    assert line in capsys.readouterr().out.splitlines()


def test_an_operator_on_types_that_its_opset_does_not_have_is_named_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    text = """<ir_version: 8, opset_import: ["" : 13]> g (uint8[4] x, float s, uint8 z) => (uint8[4] y)
    { y = QuantizeLinear(x, s, z) }"""
    onnx.save(onnx.parser.parse_model(text), str(tmp_path / "in.onnx"))
    lines = said(capsys, "compile", str(tmp_path / "in.onnx"), "-o", str(tmp_path / "out.onnx"))
    kept = "unknown: 1 ai.onnx.QuantizeLinear; not rewritten; the runtime must support them"
    assert f"{kept}; QuantizeLinear: defined in this opset with other inputs, types or attributes" in lines


def test_a_function_of_the_model_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]> g (float[4] x) => (float[4] y) { y = own.Twice(x) }
    <domain: "own", opset_import: ["" : 17]> Twice (a) => (b) { b = Add(a, a) }"""
    onnx.save(onnx.parser.parse_model(text), str(tmp_path / "in.onnx"))
    lines = said(capsys, "compile", str(tmp_path / "in.onnx"), "-o", str(tmp_path / "out.onnx"))
    assert not any(one.startswith("unknown") for one in lines)


PADDED = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:3>> to tensor<2x3xf32>
  %p = onnx.Constant() {value = dense<[0, 0, 0, 1]> : tensor<4xi64>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %y = onnx.Pad(%d, %p, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x4xf32>
  %w = onnx.Constant() {value = dense<7> : tensor<4x2xi8>} : () -> tensor<4x2x!quant.uniform<i8:f32, 0.1>>
  %e = quant.dcast %w : tensor<4x2x!quant.uniform<i8:f32, 0.1>> to tensor<4x2xf32>
  %m = onnx.MatMul(%y, %e) : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc(fused["m", "m"])
  func.return %m : tensor<2x2xf32>
}
"""

ROUNDED = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %k = onnx.Constant() {value = dense<16.0> : tensor<f32>} : () -> tensor<f32>
  %l = onnx.Constant() {value = dense<-128.0> : tensor<f32>} : () -> tensor<f32>
  %h = onnx.Constant() {value = dense<127.0> : tensor<f32>} : () -> tensor<f32>
  %m = onnx.Mul(%x, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = onnx.Round(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Clip(%r, %l, %h) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}
"""


def test_what_stops_quantization_in_front_of_a_product_is_its_reason():
    [layer] = qdialect.explain(read_text(PADDED, "padded", None))
    assert (layer.reasons[0].op, layer.reasons[0].blocked.id) == ("onnx.Pad", "value-rounds")
    assert layer.reasons[0].blocked.message.startswith("Pad in front of it stays in float: Pad inserts 0.3")


def test_arithmetic_that_rounds_is_quantization():
    said = str(qdialect.compile(read_text(ROUNDED, "rounded", None)))
    assert "1 QuantizeLinear" in said
    assert "no quantization found" not in said


TO_ZERO = """<ir_version: 8, opset_import: ["" : 13, "qonnx.custom_op.general" : 1]> g (float[2,3] x) => (float[2,2] y)
<float s = {0.1}, float z = {0}, float b = {4}, float[3,2] w = {0, 1, 2, 3, 4, 5}> {
  q = qonnx.custom_op.general.Quant<signed = 1, narrow = 0, rounding_mode = "DOWN">(x, s, z, b)
  y = MatMul(q, w)
}"""


def test_what_rounds_otherwise_is_quantization():
    said = str(qdialect.compile(qdialect.load(onnx.parser.parse_model(TO_ZERO))))
    assert "it rounds by DOWN, a cast to nearest, half to even; quantize with rounding_mode ROUND" in said
    assert "no quantization found" not in said


def test_a_weight_of_floats_is_the_reason_behind_a_move():
    """Its scales are dequantized, too, as those of NVFP4 are."""
    weights = [
        helper.make_tensor("w", TensorProto.FLOAT4E2M1, [2, 16], [1.0] * 32),
        helper.make_tensor("t", TensorProto.FLOAT8E4M3FN, [2, 1], [1.0] * 2),
        helper.make_tensor("s", TensorProto.FLOAT, [], [0.5]),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["t", "s"], ["u"]),
        helper.make_node("DequantizeLinear", ["w", "u"], ["d"], axis=1, block_size=16),
        helper.make_node("Transpose", ["d"], ["v"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "v"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, k]) for n, k in (("x", 16), ("y", 2))]
    model = onnx_model(nodes, ends[:1], ends[1:], weights, opset=23)
    [layer] = qdialect.explain(qdialect.load(model))
    assert layer.reasons[0].blocked.id == "storage-type"


FOLLOWED = """<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,2] y)
<float s = {0.1}, uint8 z = {4}, int8[3,2] w = {0, 1, 2, 3, 4, 5}, float[2,2] v = {0.1, 1.2, 2.3, 3.4}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  e = DequantizeLinear(w, s)
  m = MatMul(d, e)
  y = MatMul(m, v)
}"""


def test_a_float_product_of_a_product_of_integers_does_not_rescale_it():
    layers = qdialect.explain(qdialect.load(onnx.parser.parse_model(FOLLOWED)))
    assert [one.reasons[0].blocked.id for one in layers if one.node == "y"] == ["not-quantized"]


def test_a_weight_that_is_cast_to_float_is_quantized(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    nodes = [
        helper.make_node("Cast", ["w"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "s"], ["d"]),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 6])]
    tensors = {"w": np.arange(96, dtype=np.int8).reshape(16, 6), "s": np.full((1, 6), 0.02, np.float32)}
    path = tmp_path / "model.onnx"
    onnx.save(onnx_model(nodes, inputs, outputs, tensors), path)

    lines = said(capsys, "compile", str(path), "-o", str(tmp_path / "out.onnx"))

    assert not any("no quantization found" in line for line in lines)
    assert any(line.startswith("float: 1 layer, 100 %; first MatMul") for line in lines)
