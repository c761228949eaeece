"""What compile and explain say: the pipeline, the report, what stays in float."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.cli import main
from qdialect.cli.opt import main as opt


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Two quantized MatMuls; the second's weight is float, so it stays float."""
    tensors = {
        "s": np.float32(0.02),
        "z": np.uint8(131),
        "ws": np.float32(0.01),
        "w": np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
        "v": np.linspace(-1, 1, 8, dtype=np.float32).reshape(4, 2),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"]),
        helper.make_node("MatMul", ["xd", "wd"], ["m"], "first"),
        helper.make_node("QuantizeLinear", ["m", "s", "z"], ["mq"]),
        helper.make_node("DequantizeLinear", ["mq", "s", "z"], ["md"]),
        helper.make_node("MatMul", ["md", "v"], ["y"], "second<b>"),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 2])]
    initializers = [numpy_helper.from_array(np.asarray(v), n) for n, v in tensors.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    path = str(tmp_path / "in.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_the_printed_pipeline_is_what_runs(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", model, "--print-pipeline"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("builtin.module(")
    assert all("//" in line for line in text.splitlines()[1:-1])  # each pass with its reason
    by_passes, by_compile = str(tmp_path / "a.onnx"), str(tmp_path / "b.onnx")
    assert opt([model, "--pass-pipeline", text.strip(), "-o", by_passes]) == 0
    assert main(["compile", model, "-o", by_compile]) == 0
    assert Path(by_passes).read_bytes() == Path(by_compile).read_bytes()


def test_the_printed_pipeline_of_quantize_says_why_and_is_read(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["quantize", model, "--print-pipeline", "--target", "generic"]) == 0
    text = capsys.readouterr().out
    assert all("//" in line for line in text.splitlines()[1:-1])
    assert text.index("decompose{") < text.index("insert-casts{") < text.index("raise-qdq,")
    assert opt([model, "--pass-pipeline", text.strip(), "-o", str(tmp_path / "a.onnx")]) == 0


def test_what_scales_integer_sums_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Dynamic quantization: Mul of the scales, Mul by that, Add of the bias; the Add of two tensors does not."""
    tensors = {
        "ws": np.float32(0.01),
        "w": np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
        "b": np.linspace(-1, 1, 4, dtype=np.float32),
    }
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"], "sums"),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "ws"], ["t"], "scales"),
        helper.make_node("Mul", ["f", "t"], ["r"], "scaled"),
        helper.make_node("Add", ["r", "b"], ["p"], "bias"),
        helper.make_node("Add", ["p", "a"], ["y"], "residual"),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [5, size])
        for name, size in (("x", 3), ("a", 4))
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 4])]
    initializers = [numpy_helper.from_array(np.asarray(v), n) for n, v in tensors.items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    path = str(tmp_path / "dynamic.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    assert main(["explain", path, "--json"]) == 0
    listed = {one["node"]: one["id"] for one in json.loads(capsys.readouterr().out)}
    sums = dict.fromkeys(("scales", "scaled", "bias"), "integer-sum")
    assert listed == sums | {"residual": "not-quantized"}


def test_explain_lists_what_stays_float(model: str, capsys: pytest.CaptureFixture[str]):
    assert main(["explain", model, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(one["node"], one["op"], one["id"]) for one in listed] == [
        ("second<b>", "MatMul", "float-operand")
    ]
    assert main(["explain", model]) == 0
    assert "weight is float" in capsys.readouterr().out


def test_explain_takes_options_of_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Sums of two quantized tensors, of rows as many as asked for: between pairs in integer form, where no op adds."""
    text = """<ir_version: 9, opset_import: ["" : 17]> g (float[n,8] x) => (float[n,8] y)
    <float s = {0.02}, uint8 z = {128}>
    { a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) c = MatMul(b, v) d = QuantizeLinear(c, s, z)
      e = DequantizeLinear(d, s, z) f = Add(b, e) g = QuantizeLinear(f, s, z) y = DequantizeLinear(g, s, z) }"""
    proto = onnx.parser.parse_model(text)
    tensors = {"w": np.ones((8, 8), np.int8), "t": np.float32(0.01), "u": np.int8(0)}
    proto.graph.initializer.extend(numpy_helper.from_array(np.asarray(v), n) for n, v in tensors.items())
    proto.graph.node.insert(0, helper.make_node("DequantizeLinear", ["w", "t", "u"], ["v"]))
    path = str(tmp_path / "sum.onnx")
    onnx.save(proto, path)
    said: list[str] = []
    for words in ("", "--batch 4", "--sizes n=4", "--form integer", "--target tosa --batch 4"):
        assert main(["explain", path, "--all", *words.split()]) == 0
        said.append(capsys.readouterr().out)
    assert "batch and other open sizes as 1" in said[0]
    assert [f"{4 * 64} multiply-adds" in out for out in said] == [False, True, True, False, True]
    assert ["the form 'integer' has no node for it on these types" in out for out in said] == [
        False, False, False, True, False,
    ]  # fmt: skip
    assert main(["explain", path, "--integer-io", "--target", "tosa"]) == 0


def test_remarks_count_by_reason(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", model, "-o", str(tmp_path / "o.onnx"), "--remarks"]) == 0
    lines = capsys.readouterr().err.splitlines()
    [line] = [line for line in lines if "in float: " in line]
    assert line.startswith("remark: 1 MatMul stays in float: ")
    assert len(lines) == len(set(lines))


def test_report_as_json(model: str, tmp_path: Path):
    path = tmp_path / "r.json"
    assert main(["compile", model, "-o", str(tmp_path / "o.onnx"), "--report", str(path)]) == 0
    listed = json.loads(path.read_text())
    operators = listed["operators"]
    assert operators["before"]["MatMul"] == 2
    assert (operators["after"]["QLinearMatMul"], operators["after"]["MatMul"]) == (1, 1)
    assert [one["node"] for one in listed["layers"] if one["is_float"]] == ["second<b>"]
    rewrites = {step["name"]: step["rewrites"] for step in listed["passes"]}
    assert rewrites["raise-qdq{half=true}"] == 5
    assert rewrites["fold-requantize"] == 0


def test_report_as_a_page(model: str, tmp_path: Path):
    """A name is text in it, whatever it looks like."""
    path = tmp_path / "r.html"
    assert main(["compile", model, "-o", str(tmp_path / "o.onnx"), "--report", str(path)]) == 0
    page = path.read_text()
    assert "second\\u003cb>" in page
    assert "<b>" not in page


def test_check_numerics_takes_data(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out, data = str(tmp_path / "o.onnx"), str(tmp_path / "d.npz")
    np.savez(data, x=np.linspace(-3, 3, 15, dtype=np.float32).reshape(5, 3))
    assert main(["compile", model, "-o", out, f"--check-numerics={data}"]) == 0
    assert main(["compile", model, "-o", out, "--check-numerics"]) == 0
    np.savez(data, other=np.zeros((5, 3), np.float32))
    assert main(["compile", model, "-o", out, f"--check-numerics={data}"]) == 1
    assert "no array for input 'x'" in capsys.readouterr().err


def test_a_report_says_each_reason_once_and_only_of_what_is_there(model: str):
    module = qdialect.load(model)
    report = qdialect.compile(module)
    keys = [(one.op, one.node, one.blocked.id) for one in report.remarks]
    assert ("onnx.MatMul", "second<b>", "float-operand") in keys
    assert len(keys) == len(set(keys))
    # Passes before the last stop at the first MatMul too, until it is fused.
    assert not any(node == "first" for _, node, _ in keys)
    assert report.after == {"DequantizeLinear": 1, "MatMul": 1, "QLinearMatMul": 1, "QuantizeLinear": 1}


STEPS = """g (float[2,3,4] x) => (float[2,1,3,6] y)
<float s = {0.02}, uint8 z = {128}, int64[3] of_w = {1, 18, 4}, int64[3] of_r = {1, 18, 6}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  w = ConstantOfShape<value: tensor = float[1] {0.1}>(of_w)
  r = ConstantOfShape<value: tensor = float[1] {0.2}>(of_r)
  h = GRU<hidden_size = 6>(d, w, r)
  p = QuantizeLinear(h, s, z)
  y = DequantizeLinear(p, s, z)
}"""


@pytest.mark.parametrize("form", ["qoperator", "integer"])
def test_an_op_that_goes_through_steps_is_to_be_taken_apart(form: str):
    original = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {STEPS}')
    (whole,) = qdialect.compile(original, form=form).floats
    assert (whole.blocked.id, whole.blocked.fix) == ("no-form", "decompose it with --decompose GRU")
