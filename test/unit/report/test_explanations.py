"""What is said of reasons: an entry for each, `explain` by cost, `explain ID`."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save
from two_products import PRODUCTS, write

from qdialect.cli import main
from qdialect.compiler import pipeline_text
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.errors import UserError
from qdialect.reasons import Blocked
from qdialect.report.explanations import TOOLS, advice, entries, entry, former_ids
from qdialect.report.report import staying_float
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import target
from qdialect.text.reading import read_text

ROOT = Path(__file__).parents[3]


def ids() -> set[str]:
    """The id of every `Blocked` in the sources."""
    sources = {*ROOT.glob("qdialect/**/*.py"), *ROOT.glob("transforms/*.py")}
    calls = (node for path in sources for node in ast.walk(ast.parse(path.read_text())))
    reason_ids: set[str] = set()
    for node in calls:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Blocked":
            assert isinstance(node.args[0], ast.Constant), ast.unparse(node)
            reason_ids.add(str(node.args[0].value))
    return reason_ids


def test_every_reason_has_an_entry():
    """Entries are in qdialect/report/remarks.toml: one line each, then `python docs/generate.py`."""
    assert ids() == set(entries())


def test_an_id_of_an_earlier_version_is_explained_by_its_successor(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "computed-parameter"]) == 0
    assert capsys.readouterr().out.startswith("computed-parameter: ")
    assert set(former_ids().values()) <= set(entries())
    assert not set(former_ids()) & set(entries())


def test_entries_say_what_to_do_in_each_tool():
    for one in entries().values():
        assert one.means.endswith("."), one.id
        assert one.example.endswith("."), one.id
        names = set(one.tools)
        assert names in ({TOOLS["any"]}, set(TOOLS.values()) - {TOOLS["any"]}), one.id
    assert list(entries()) == sorted(entries())


def test_a_reason_that_says_what_to_do_is_believed():
    assert advice(Blocked("float-operand", "m", "do this")) == "do this"
    assert advice(Blocked("float-operand", "m")) == entry("float-operand").fix
    assert advice(Blocked("of-a-plugin", "m")) == ""


@pytest.mark.parametrize("role", [Role.LOWERING, Role.SIMPLIFYING])
def test_a_reason_explains_a_float_op_by_the_role_of_its_pass(role: Role, monkeypatch: pytest.MonkeyPatch):
    """A pass that is named by no verb of ours lowers, or simplifies; the reason of a pass that simplifies is none."""
    name = f"a-pass-for-{role.name.lower()}"
    packaged = type("Packaged", (RewritePass,), {"name": name, "role": role})
    monkeypatch.setattr(pipeline_text, "outside_passes", lambda: {name: lambda: packaged})
    module = read_text(
        """
        !q = tensor<1x4x!quant.uniform<u8:f32, 0.02:128>>
        func.func @main(%x : !q, %y : !q) -> !q {
          %z = onnx.Add(%x, %y) : (!q, !q) -> !q
          func.return %z : !q
        }""",
        "graph.mlir",
        None,
    )
    add = next(op for op in module.walk() if isinstance(op, OnnxOp))
    remarks_of(module).add(name, add, Blocked("of-the-pass", "m"))
    explained = staying_float(module, "qoperator", target("onnxruntime"), "close")[add].blocked.id
    assert explained == ("of-the-pass" if role is Role.LOWERING else "no-form")


def test_an_id_is_explained(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "run-time-scale"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run-time-scale: ")
    assert lines[2] == "fix: use static quantization"
    assert [line.split()[0] for line in lines[3:]] == ["torch", "onnxruntime", "Model", "NNCF", "tf2onnx,"]


def test_an_id_is_explained_in_json(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "run-time-scale", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["id"], said["fix"]) == ("run-time-scale", "use static quantization")
    assert "torch" in said["tools"]


def test_an_id_that_is_none_is_guessed(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "float-operan"]) == 1
    assert capsys.readouterr().err == (
        "error: there is no reason 'float-operan', nor a model of that name; did you mean 'float-operand'?\n"
    )
    with pytest.raises(UserError, match=r"docs/remarks\.md lists all"):
        entry("zzz")


def test_a_model_that_is_not_there_is_no_id(capsys: pytest.CaptureFixture[str]):
    assert main(["explain", "float-operand.onnx"]) == 1
    assert "cannot open" in capsys.readouterr().err


def test_layers_come_by_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write(tmp_path / "in.onnx", quantized=False)
    assert main(["explain", path, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["node"], second["node"]) == ("first", "second")
    assert first["multiply_adds"] + second["multiply_adds"] == PRODUCTS
    assert first["share"] == first["multiply_adds"] / PRODUCTS
    assert first["fix"] == "quantize every operand"
    assert main(["explain", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    shares = [100 * one["share"] for one in (first, second)]
    assert lines[1].startswith(f"{shares[0]:.1f} %  1 MatMul: the operand 0 is float; quantize every operand")
    assert lines[2].split() == [f"{shares[0]:.1f}", "%", "first"]
    assert lines[3].startswith(f"{shares[1]:.1f} %  1 MatMul: ")
    assert lines[4].split() == [f"{shares[1]:.1f}", "%", "second"]


def test_what_a_dialect_does_not_have_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    constants = {"s": np.float32(0.05), "z": np.int8(3), "axis": np.int64(1)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        helper.make_node("CumSum", ["d", "axis"], ["c"], "running"),
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["r"]),
        helper.make_node("DequantizeLinear", ["r", "s", "z"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 5]) for name in "xy"]
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    path = tmp_path / "in.onnx"
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    assert main(["explain", str(path), "--target", "tosa"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "1 CumSum stays out of tosa: CumSum has no form in TOSA's integer profile [no-form]" in lines
    assert "    running" in lines
    assert "every node that has an integer form takes it" not in lines
