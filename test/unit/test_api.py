"""What a compiler author uses: the names of the package, models from and to whatever they are kept in."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx import TensorProto, numpy_helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

import qdialect
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.errors import LocatedError, UserError
from qdialect.text.reading import make_context


def model() -> onnx.ModelProto:
    """A MatMul between casts, with a weight that is too large to stay in the message."""
    weight = np.random.default_rng(3).integers(-127, 128, (48, 33)).astype(np.int8)
    tensors = [
        numpy_helper.from_array(weight, "w"),
        numpy_helper.from_array(np.array(0.02, np.float32), "ws"),
        numpy_helper.from_array(np.array(0, np.int8), "wz"),
        numpy_helper.from_array(np.array(0.05, np.float32), "xs"),
        numpy_helper.from_array(np.array(128, np.uint8), "xz"),
        numpy_helper.from_array(np.array(0.5, np.float32), "ys"),
        numpy_helper.from_array(np.array(7, np.uint8), "yz"),
    ]
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], "q"),
        oh.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"], "d"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], "dw"),
        oh.make_node("MatMul", ["xd", "wd"], ["m"], "matmul"),
        oh.make_node("QuantizeLinear", ["m", "ys", "yz"], ["yq"], "qy"),
        oh.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"], "dy"),
    ]
    x, y = oh.make_tensor_value_info("x", 1, [3, 48]), oh.make_tensor_value_info("y", 1, [3, 33])
    return onnx_model(nodes, [x], [y], tensors)


def called(module: ModuleOp) -> list[str]:
    return sorted(node.op_type for node in qdialect.to_model(module).graph.node)


@pytest.mark.parametrize("kind", ["path", "str", "bytes", "message"])
def test_a_model_is_loaded_from_what_it_is_kept_in(kind: str, tmp_path: Path):
    message, path = model(), tmp_path / "model.onnx"
    onnx.save(message, path)
    source = {"path": path, "str": str(path), "bytes": path.read_bytes(), "message": message}[kind]
    module = qdialect.load(source)
    assert message == model(), "the caller's message stays as it is"
    onnx.checker.check_model(proto := qdialect.to_model(module))
    assert {t.name: t.raw_data for t in proto.graph.initializer}["w"] == message.graph.initializer[0].raw_data


@pytest.mark.parametrize("kind", ["path", "bytes", "message", "module"])
def test_compile_takes_any_model(kind: str, tmp_path: Path):
    message, path = model(), tmp_path / "model.onnx"
    onnx.save(message, path)
    module = qdialect.load(path)
    source = {"path": path, "bytes": path.read_bytes(), "message": message, "module": module}[kind]
    report = qdialect.compile(source)
    assert called(report.module) == ["DequantizeLinear", "QLinearMatMul", "QuantizeLinear"]
    assert kind != "module" or report.module is module


def test_quantize_takes_any_model():
    nodes = [oh.make_node("MatMul", ["x", "w"], ["m"]), oh.make_node("MatMul", ["m", "v"], ["y"])]
    draw = np.random.default_rng(4)
    w, v = (draw.normal(size=size).astype(np.float32) for size in ((160, 512), (512, 160)))
    x, y = (oh.make_tensor_value_info(name, TensorProto.FLOAT, [64, 160]) for name in "xy")
    message = onnx_model(nodes, [x], [y], {"w": w, "v": v})
    done = qdialect.quantize(message, [{"x": draw.normal(size=(64, 160)).astype(np.float32)}], form="qdq")
    assert "QuantizeLinear" in called(done.module)
    assert len(message.graph.initializer[0].raw_data) == 160 * 512 * 4


def test_text_goes_out_and_in(tmp_path: Path):
    path = tmp_path / "model.mlir"
    module = qdialect.load(model())
    qdialect.run(module, "raise-qdq")
    qdialect.save(module, path)
    assert path.read_text().startswith("builtin.module")
    assert (tmp_path / "model.weights").stat().st_size == 48 * 33
    again = qdialect.load(path)
    for one in (module, again):
        qdialect.run(one, "lower-to-qdq")
    assert qdialect.to_model(again).SerializeToString() == qdialect.to_model(module).SerializeToString()


def test_xdsl_opt_reads_a_text_with_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "model.mlir"
    module = qdialect.load(model())
    qdialect.save(module, path)
    xDSLOptMain(args=[str(path), "-p", "raise-qdq"]).run()
    assert "onnx.MatMul" in capsys.readouterr().out
    text = path.read_text()
    read = Parser(make_context(), text, str(path)).parse_module()
    assert qdialect.to_model(read) == qdialect.to_model(qdialect.load(path))
    with pytest.raises(
        ParseError, match=r"'model\.weights' stands beside a text that is a file: name that file"
    ):
        Parser(make_context(), text, "stdin").parse_module()
    path.with_suffix(".weights").unlink()
    with pytest.raises(ParseError, match=r"file 'model\.weights' does not exist in folder"):
        Parser(make_context(), text, str(path)).parse_module()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @main(", "bad.mlir:1:"),
        ('%0 = "onnx.Relu"() : () -> tensor<2xf32>', "expected 1 inputs, got 0"),
        ("", "the input is empty"),
        ("%b = onnx.Relu(%a) : (tensor<2xf32>) -> tensor<2xf32>\n", "bad.mlir:1:16: error: value %a is used"),
    ],
)
def test_text_that_is_no_module_says_where(text: str, message: str, tmp_path: Path):
    (path := tmp_path / "bad.mlir").write_text(text)
    with pytest.raises(LocatedError, match=message):
        qdialect.load(path)


def test_what_is_no_model_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="the message is not an ONNX model"):
        qdialect.load(b"nothing")
    with pytest.raises(UserError, match="cannot read"):
        qdialect.load(tmp_path / "none.mlir")
    (tmp_path / "raw.mlir").write_bytes(b"\xff")
    with pytest.raises(UserError, match="not text, byte 0"):
        qdialect.load(tmp_path / "raw.mlir")
    with pytest.raises(TypeError, match=r"a path, bytes or an onnx\.ModelProto, not from int"):
        qdialect.load(3)  # pyright: ignore[reportArgumentType]
    report: Any = qdialect.compile(model())
    for wrong in (lambda: qdialect.save(report, "x.onnx"), lambda: qdialect.to_model(report)):
        with pytest.raises(TypeError, match="a module is needed, not Report"):
            wrong()
    with pytest.raises(TypeError, match="a module is needed, not str"):
        qdialect.run("x.onnx", "cse")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match=r"cannot write '\.', it is a folder"):
        qdialect.save(report.module, ".")


def test_passes_run_by_their_names_and_types_are_read():
    module = qdialect.load(model())
    remarks = qdialect.run(module, "raise-qdq,fuse-quantized")
    ops = list(module.walk())
    types = {
        qdialect.value_name(op.results[0]): qdialect.quantized_type(op.results[0])
        for op in ops
        if isinstance(op, QuantizeOp)
    }
    assert {name: float(t.scales) for name, t in types.items() if t} == {"xq": np.float32(0.05)}
    ends = [op for op in ops if isinstance(op, DequantizeOp)]
    assert [qdialect.quantized_type(op.results[0]) for op in ends] == [None]
    assert [qdialect.value_name(op.operands[0]) for op in ops if isinstance(op, QuantizeOp)] == ["x"]
    assert all(isinstance(one, qdialect.Remark) for one in remarks)
    with pytest.raises(UserError, match="did you mean 'raise-qdq'"):
        qdialect.run(module, "raise-qdp")


def test_a_report_is_one_line():
    report = qdialect.compile(model(), keep_float=["matmul"])
    assert (
        repr(report)
        == "<Report: onnxruntime, qoperator, close; 1 of 6 layers in float, 0 nodes break a rule>"
    )
    assert "multiply-adds" in str(report)
    html = report._repr_html_()  # pyright: ignore[reportPrivateUsage] -- what a notebook calls
    assert html.startswith("<pre>")
    assert "<td>matmul</td><td>MatMul</td><td>4,752</td>" in html
    assert "<table>" not in qdialect.compile(model())._repr_html_()  # pyright: ignore[reportPrivateUsage]


X = np.zeros((3, 48), np.float32)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"batch": 0}, "the batch is 0"),
        ({"batch": "4"}, "the batch is '4'"),
        ({"sizes": {"n": 4}}, "sizes is {'n': 4}; give a list of strings"),
        ({"sizes": ["n=4"]}, "no size of an input is called 'n'; none of them has a name"),
        ({"feeds": [{"y": X}]}, "no array for input 'x', it has y"),
        ({"feeds": [{"x": X[:, :5]}]}, "has shape 3x5, the model takes 3x48"),
        ({"feeds": [{"x": X.astype(np.float64)}]}, "convert the data"),
        ({"feeds": {"x": X}}, "feed 0 is str, not a dictionary"),
    ],
    ids=str,
)
def test_wrong_options_leave_the_module_alone(words: dict[str, Any], says: str):
    module = qdialect.load(model())
    text = str(module)
    with pytest.raises(UserError, match=says):
        qdialect.compile(module, **words)
    assert str(module) == text


@pytest.mark.parametrize(
    ("data", "words", "says"),
    [
        (None, {}, "the data is empty"),
        ([], {}, "the data is empty"),
        ({"x": X}, {}, "the data is one dictionary; give a list of them"),
        ([{"x": X}], {"range": 200}, "200 is not a percentile"),
        (X, {}, "sample 0 of the data is ndarray, not a dictionary"),
        ([{"x": X}], {"rounding": "up"}, "rounding is 'up'; choose from nearest, gptq"),
        ([{"x": X}], {"workers": 0}, "workers is 0"),
        ([{"x": X}], {"memory": "1G"}, "memory is '1G'"),
        ([{"x": X}], {"max_drop": 40}, "'40' is not a limit"),
        ([{"x": X}], {"state": "y=x"}, "state is 'y=x'; give a dictionary"),
        ([{"x": X[0, 0]}], {}, "the model takes 3x48"),
    ],
    ids=str,
)
def test_wrong_options_of_quantize(data: Any, words: dict[str, Any], says: str):
    with pytest.raises(UserError, match=says):
        qdialect.quantize(model(), data, **words)


@pytest.mark.parametrize("words", [{"range": "widest"}, {"range": 200}, {"max_drop": "far"}], ids=str)
def test_wrong_algorithms_are_refused_before_data_is_read(words: dict[str, Any]):
    def unread():
        raise AssertionError("a sample was read")
        yield {"x": X}

    with pytest.raises(UserError, match=r"widest|percentile|limit"):
        qdialect.quantize(model(), unread(), **words)


def test_a_layer_is_one_line():
    said = [repr(layer) for layer in qdialect.compile(model()).layers]
    assert said[2:4] == [
        "<Layer: DequantizeLinear 'dw' became nothing of its own>",
        "<Layer: MatMul 'matmul' became QLinearMatMul>",
    ]
    in_float = qdialect.compile(model(), keep_float="matmul").layers[3]
    assert repr(in_float).endswith("became DequantizeLinear, MatMul, in float: kept-float>")


def test_a_result_of_quantize_is_one_line():
    assert repr(qdialect.quantize(model(), [{"x": X}])).startswith("<Quantized: nothing to quantize: ")


def test_a_bias_behind_integers_is_part_of_them():
    """The digits' Gemm gives floats, to which its bias is added."""
    report = qdialect.compile(Path(__file__).parents[2] / "examples" / "digits_qdq.onnx")
    assert [(one.op, one.blocked.id) for one in report.floats] == [("Add", "integer-sum")]


def test_what_stays_in_float_is_data():
    module = qdialect.load(model())
    text = str(module)
    (layer,) = qdialect.explain(module, keep_float=["matmul"])
    assert str(module) == text
    assert (layer.node, layer.operator, layer.macs, layer.integer_macs) == (
        "matmul",
        "MatMul",
        3 * 48 * 33,
        0,
    )
    assert layer.reasons[0].blocked.message
    assert qdialect.explain(model()) == ()


def test_help_shows_all_names():
    text = pydoc.plain(pydoc.render_doc(qdialect))
    for name in qdialect.__all__:
        assert f"    {name}(" in text or f"class {name}(" in text, name
    assert f"\n    {qdialect.__version__}\n" in text


def test_completion_offers_public_names_alone():
    qdialect.load(model())  # which imports submodules
    assert [name for name in dir(qdialect) if not name.startswith("_")] == sorted(qdialect.__all__)


def test_a_misspelt_option_is_an_error_of_the_called_function():
    misspelt: dict[str, Any] = {"integer_oi": True}
    with pytest.raises(TypeError, match=r"^compile\(\) got .* 'integer_oi'; did you mean 'integer_io'\?$"):
        qdialect.compile(model(), **misspelt)
    many: Any = qdialect.quantize
    with pytest.raises(TypeError, match=r"^quantize\(\) too many positional arguments$"):
        many(model(), *"abcdef")


@pytest.mark.parametrize("name", ["compile", "explain", "load", "quantize"])
def test_type_hints_are_those_of_the_signature(name: str):
    function = getattr(qdialect, name)
    hints = get_type_hints(function)
    assert [*hints][:-1] == [*inspect.signature(function).parameters]
    assert [*hints][-1] == "return"


def test_an_embedding_program_gets_progress_by_logging(caplog: pytest.LogCaptureFixture, capfd: Any):
    """Which is silent as long as it sets up nothing."""
    qdialect.compile(model())
    assert capfd.readouterr() == ("", "")
    caplog.set_level("INFO", "qdialect")
    qdialect.compile(model())
    assert caplog.messages[0] == "compiling for onnxruntime"
    assert caplog.messages[1].startswith("compiled: <Report: onnxruntime, ")
    node = oh.make_node("MatMul", ["x", "w"], ["y"])
    sizes: dict[str, list[int | str | None]] = {"x": [3, 48]}
    weight = np.ones((48, 33), np.float32)
    qdialect.quantize(onnx_model([node], sizes, {"y": [3, 33]}, {"w": weight}), [{"x": X}])
    assert any(one.startswith("profiling") for one in caplog.messages)
    shown: list[str] = []
    caplog.clear()
    qdialect.quantize(onnx_model([node], sizes, {"y": [3, 33]}, {"w": weight}), [{"x": X}], show=shown.append)
    assert shown
    assert not caplog.messages


def test_public_names_explain_themselves():
    for name in qdialect.__all__:
        assert inspect.getdoc(getattr(qdialect, name)), name


def test_text_needs_no_onnx():
    code = """
import sys, qdialect
qdialect.quantized_type, qdialect.UserError, qdialect.__version__
assert not any(name.split(".")[0] in ("onnx", "onnxruntime") for name in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
