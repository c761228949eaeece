"""`examples/plugin`, installed: its target, its pass and the promises of its operator, without a change to the tree."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnxruntime as ort
import pytest
from onnx import numpy_helper

import qdialect
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import phases
from qdialect.errors import UserError
from qdialect.ops import outside
from qdialect.promises.layout import layout
from qdialect.targets import target

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "examples" / "plugin"
DOMAIN = "example.images"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed in."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(PLUGIN, folder / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(folder / "site"), str(folder / "source")]
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "site"


def run(site: Path, *command: str | Path) -> str:
    """What a command of ours, or of lit's or xDSL's, prints where the package is installed."""
    scripts = Path(sys.executable).parent
    path = os.pathsep.join((str(scripts), os.environ["PATH"]))
    environment = os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join((str(ROOT), str(site)))}
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_its_lit_tests_pass(site: Path):
    run(site, "lit", "-q", "-j1", PLUGIN / "test")


def test_both_tools_know_the_pass(site: Path):
    rows = [line.split() for line in run(site, "qdialect-opt", "--help").splitlines()]
    assert ["fold-mirrors", "exact"] in [row[:2] for row in rows]
    text = run(site, "xdsl-opt", PLUGIN / "test" / "fold-mirrors.mlir", "-p", "fold-mirrors")
    assert text.count("onnx.Custom") == 2


def mirror(value: str, result: str, axis: int) -> onnx.NodeProto:
    return oh.make_node("Mirror", [value], [result], f"{result}_mirror", domain=DOMAIN, axis=axis)


def body(axis: int) -> onnx.FunctionProto:
    """What `Mirror` computes, in operators that onnxruntime has; a function's attribute reaches no initializer."""
    nodes = [
        oh.make_node("Constant", [], ["start"], value_ints=[-1]),
        oh.make_node("Constant", [], ["end"], value_ints=[-(1 << 40)]),
        oh.make_node("Constant", [], ["axes"], value_ints=[axis]),
        oh.make_node("Slice", ["x", "start", "end", "axes", "start"], ["y"]),
    ]
    return oh.make_function(DOMAIN, "Mirror", ["x"], ["y"], nodes, [oh.make_opsetid("", 17)], ["axis"])


def model() -> onnx.ModelProto:
    """
    Mirror, between casts, of what a MatMul takes, and of its weight with a scale for each mirrored row; at the end two
    that undo each other.
    """
    draw = np.random.default_rng(5)
    tensors = [
        numpy_helper.from_array(draw.integers(-127, 128, (6, 5)).astype(np.int8), "w"),
        numpy_helper.from_array(np.array([0.01, 0.02, 0.04, 0.03, 0.05], np.float32), "ws"),
        numpy_helper.from_array(np.zeros(5, np.int8), "wz"),
        numpy_helper.from_array(np.array(0.05, np.float32), "xs"),
        numpy_helper.from_array(np.array(113, np.uint8), "xz"),
        numpy_helper.from_array(np.array(0.04, np.float32), "ys"),
        numpy_helper.from_array(np.array(131, np.uint8), "yz"),
    ]
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], "q"),
        oh.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"], "d"),
        mirror("xd", "xm", 1),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], "dw", axis=1),
        mirror("wd", "wm", 1),
        oh.make_node("MatMul", ["xm", "wm"], ["m"], "matmul"),
        mirror("m", "there", 1),
        mirror("there", "back", 1),
        oh.make_node("QuantizeLinear", ["back", "ys", "yz"], ["yq"], "qy"),
        oh.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"], "dy"),
    ]
    x, y = oh.make_tensor_value_info("x", 1, [4, 6]), oh.make_tensor_value_info("y", 1, [4, 5])
    graph = oh.make_graph(nodes, "g", [x], [y], tensors)
    opsets = [oh.make_opsetid("", 17), oh.make_opsetid(DOMAIN, 1)]
    return oh.make_model(graph, opset_imports=opsets, ir_version=8, functions=[body(1)])


def outputs(model: onnx.ModelProto, x: Any) -> Any:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def test_compile_moves_casts_past_the_operator(site: Path, tmp_path: Path):
    """All three MatMul parts are integers, the weight's scales are mirrored with it, and no number changes."""
    onnx.save(original := model(), path := tmp_path / "model.onnx")
    out, toml = tmp_path / "out.onnx", site / "qdialect_mirror" / "imager.toml"
    words = [
        "compile",
        path,
        "-o",
        out,
        "--target",
        toml,
        "--keep-functions",
        "--report",
        tmp_path / "r.json",
    ]
    run(site, sys.executable, "-m", "qdialect.cli", *words)
    compiled = onnx.load(out)
    types = [node.op_type for node in compiled.graph.node]
    assert types.count("Mirror") == 2
    assert types[0] == "QuantizeLinear"
    assert "QLinearMatMul" in types
    assert types.count("DequantizeLinear") == 1
    x = np.random.default_rng(6).normal(size=(4, 6)).astype(np.float32)
    np.testing.assert_array_equal(outputs(original, x), outputs(compiled, x))
    text = run(site, sys.executable, "-m", "qdialect.cli", *words, "--print-pipeline")
    assert "fold-mirrors" in text
    assert "exporters mirror there and back" in text


def test_without_the_package_the_target_says_what_it_lacks(tmp_path: Path):
    toml = PLUGIN / "qdialect_mirror" / "imager.toml"
    with pytest.raises(UserError, match="unknown pass 'fold-mirrors'"):
        qdialect.compile(model(), target=toml)


# --- tables of promises


def forget_all() -> None:
    """What is installed is looked up once in a process."""
    caches = (
        outside.outside_promises,
        outside.custom_class,
        outside.outside_passes,
        outside.outside_dialects,
    )
    for one in caches:
        one.cache_clear()


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Before and after each test."""
    forget_all()
    yield
    forget_all()


TABLES: dict[str, Any] = {
    "unknown": {("", "Mirror"): layout()},
    "own": {("", "Erf"): layout()},
    "name": {"Mirror": layout()},
    "promise": {(DOMAIN, "Mirror"): "layout"},
    "none": {(DOMAIN, "Mirror"): ()},
    "list": [layout()],
    "good": {(DOMAIN, "Mirror"): layout()},
    "microsoft": {("com.microsoft", "NobodyKnows"): layout()},
}


def install(monkeypatch: pytest.MonkeyPatch, *values: str, group: str = outside.PROMISES) -> None:
    points = [EntryPoint(f"p{k}", value, group) for k, value in enumerate(values)]

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [one for one in points if one.group == group]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (["unknown"], "promises for Mirror of ai.onnx, which has no such operator; name the operator's own"),
        (["own"], "promises for Erf of ai.onnx, whose promises are in qdialect/promises"),
        (["name"], r"has the key 'Mirror'; write \(domain, operator\)"),
        (["promise"], "says 'layout' of Mirror; give an instance of a class of qdialect.promises"),
        (["none"], r"says \(\) of Mirror"),
        (["list"], "is not a table of promises"),
        (["good", "good"], "promises for Mirror of example.images, as another package does; uninstall one"),
        (["nowhere"], "of the entry point group qdialect.promises does not load"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_table_says_so(tables: list[str], message: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "__getattr__", TABLES.__getitem__, raising=False)
    sys.modules.setdefault("tables_of_promises", sys.modules[__name__])
    monkeypatch.setitem(sys.modules, "tables_of_promises", sys.modules[__name__])
    install(monkeypatch, *(f"tables_of_promises:{name}" for name in tables))
    with pytest.raises(UserError, match=message):
        qdialect.load(model())


def test_a_pass_of_two_packages_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(PLUGIN))
    install(monkeypatch, *["qdialect_mirror.universe:MIRROR"] * 2, group=outside.UNIVERSES)
    with pytest.raises(UserError, match="has a pass 'fold-mirrors', as another package does"):
        qdialect.run(qdialect.load(model()), "fold-mirrors")


# --- targets in files of one's own


def write(folder: Path, text: str) -> Path:
    (path := folder / "own.toml").write_text(text)
    return path


LIKE = 'like = "onnxruntime"\nsummary = "s"\n'


def stage(**more: str) -> str:
    said = {"pass": "fold-identity", "phase": "move", "because": "b"} | more
    return LIKE + "[[stages]]\n" + "".join(f'{k} = "{v}"\n' for k, v in said.items() if v)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("like = ", "cannot read .*: Invalid value"),
        ('like = "tensorRT"', "there is no target 'tensorRT'; did you mean 'tensorrt'?"),
        ('like = "other.toml"', "is like 'other.toml'; choose from generic, "),
        ('form = "qdq"', "does not say its summary"),
        (
            LIKE + "symetric_weights = true",
            "'symetric_weights', which nothing reads; did you mean 'symmetric_w",
        ),
        (LIKE + "symmetric_weights = 1", "'symmetric_weights' is 1; it takes true or false"),
        (LIKE + "elements = 'u8'", "'elements' is \"u8\"; it takes a list of strings"),
        (LIKE + "[storage]\nFoo = ['u8']\nbad = 3", "'storage.bad' is 3; it takes a list of strings"),
        (LIKE + "storage = ['u8']", "'storage' is .*u8.*; it takes a table of lists of strings"),
        (
            LIKE + "[attributes.Conv]\ngroup = true",
            "Conv.group' is true; it takes a list of whole numbers or str",
        ),
        (stage(pas="fold-pad"), "says 'pas', which nothing reads; did you mean 'pass'"),
        (stage(**{"pass": ""}), "names no pass; write `pass`"),
        (stage(run="fold-pad"), "says 'run', which nothing reads; did you mean 'pass'"),
        (LIKE + 'form = "qdk"', "there is no form 'qdk'"),
        (LIKE + 'stages = ["fold-pad"]', 'a stage of target .* is "fold-pad"; write a table'),
        (stage(phase=""), "says no phase, or not what it is for"),
        (stage(phase="rise"), "names the phase 'rise'; choose from raise, move, lower"),
        (stage(before="freeze"), "stands beside 'freeze', which the phase 'move' does not have here"),
        (stage(before="fold-pad", after="fold-pad"), "stands before one pass and after another"),
        (stage(after_="fold-pad"), "says 'after_', which nothing reads; did you mean 'after'"),
        (stage(**{"pass": "fold-identity,fold-pad"}), "names 2 passes; write a stage for each"),
        (stage(**{"pass": "fold-idnty"}), "unknown pass 'fold-idnty'; did you mean 'fold-identity'?"),
        (stage(**{"pass": "cse"}), "has no class of exactness"),
    ],
)
def test_a_wrong_target_says_so(text: str, message: str, tmp_path: Path):
    with pytest.raises(UserError, match=message):
        phases(Options(write(tmp_path, text)))


def test_a_missing_target_says_so(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot read '.*none.toml', no such file or directory"):
        target(tmp_path / "none.toml")


def names(path: Path, phase: int) -> list[str]:
    return [stage.step.name for stage in phases(Options(path))[phase].stages]


def test_a_stage_has_its_place(tmp_path: Path):
    usual = [stage.step.name for stage in phases(Options())[1].stages]
    sinking = [k for k, name in enumerate(usual) if "sink-dequantize" in name.split(" + ")]
    assert len(sinking) > 1
    first, last = sinking[0], sinking[-1] + 1
    assert names(write(tmp_path, stage(**{"pass": "fold-shapes", "before": "sink-dequantize"})), 1) == [
        *usual[:first], "fold-shapes", *usual[first:],
    ]  # fmt: skip
    assert names(write(tmp_path, stage(**{"pass": "fold-zeros", "after": "sink-dequantize"})), 1) == [
        *usual[:last], "fold-zeros", *usual[last:],
    ]  # fmt: skip
    assert names(write(tmp_path, stage(**{"pass": "fold-layout"})), 1) == [*usual, "fold-layout"]


def test_a_stage_beyond_the_level_is_left_out(tmp_path: Path):
    path = write(tmp_path, stage(**{"pass": "fold-batch-norm{lossy=true}"}))
    assert names(path, 1)[-1] != "fold-batch-norm"


def test_a_file_says_what_differs(tmp_path: Path):
    path = write(tmp_path, LIKE + 'largest_weight = 64\n[storage]\nMirror = ["u8"]\n')
    own, like = target(path), target("onnxruntime")
    assert (own.name, own.largest_weight, own.kernels) == (str(path), 64, like.kernels)
    assert own.storage == {**like.storage, "Mirror": ["u8"]}
    assert own.costs == like.costs
    path.write_text(LIKE + "largest_weight = 127")
    assert target(path).largest_weight == 127


def test_a_pass_behind_the_last_casts_leaves_the_report_as_it_is(tmp_path: Path):
    path = write(tmp_path, stage(phase="lower"))
    usual = qdialect.compile(model(), keep_float=["matmul"])
    assert qdialect.compile(model(), path, keep_float=["matmul"]).floats == usual.floats


def test_an_operator_knows_its_attributes_and_keeps_its_form(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(PLUGIN))
    install(monkeypatch, "qdialect_mirror.promises:PROMISES")
    module = qdialect.load(model())
    ops = [op for op in module.walk() if op.name == "onnx.Custom"]
    assert len(ops) == 4
    for op in (*ops, *(op.clone() for op in ops)):
        assert isinstance(op, outside.CustomOp)
        assert (op.domain, op.op_type, op.listed) == (DOMAIN, "Mirror", "example.images::Mirror")
        assert op.int_attr("axis", 7) == 1
        assert op.int_attr("other", 7) == 7
        assert type(op) is outside.custom_class(DOMAIN, "Mirror") is not outside.CustomOp
    assert qdialect.to_model(module).graph.node[2].attribute[0].i == 1


def requantized(product: str, step: float) -> onnx.ModelProto:
    """A product between two `acme.Requant`, its weight behind a third."""
    shape = (3, 4, 1, 1) if product == "Conv" else (4, 3)
    weight = np.random.default_rng(2).normal(0, 0.2, shape).astype(np.float32)
    nodes = [
        oh.make_node("Requant", ["x"], ["q"], domain="acme", step=step),
        oh.make_node("Requant", ["w"], ["v"], domain="acme", step=0.01),
        oh.make_node(product, ["q", "v"], ["p"], "product"),
        oh.make_node("Requant", ["p"], ["y"], domain="acme", step=0.25),
    ]
    x = oh.make_tensor_value_info("x", 1, [2, 4, 5, 6] if product == "Conv" else [5, 4])
    y = oh.make_tensor_value_info("y", 1, None)
    graph = oh.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(weight, "w")])
    opsets = [oh.make_opsetid("", 17), oh.make_opsetid("acme", 1)]
    return oh.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("step", [0.05, 0.125])
@pytest.mark.parametrize("product", ["MatMul", "Gemm", "Conv"])
@pytest.mark.parametrize("goal", ["onnxruntime", "tensorrt", "openvino", "generic"])
def test_a_quantizer_of_a_package_is_read(
    goal: str, product: str, step: float, monkeypatch: pytest.MonkeyPatch
):
    original = requantized(product, step)
    report = qdialect.compile(qdialect.load(original), target=goal)
    blocked = next(one for one in report.layers if one.node == "product").reasons[0].blocked
    assert (blocked.id, report.unknown) == ("unknown-operator", {"acme.Requant": 3})
    forget_all()
    monkeypatch.syspath_prepend(str(PLUGIN))
    install(monkeypatch, "qdialect_mirror.quantizers:QUANTIZERS")
    module = qdialect.load(original)
    report = qdialect.compile(module, target=goal)
    assert (report.totals.share, report.unknown) == (1, {})

    def requant(x: Any, step: float) -> Any:
        return np.clip(np.rint(x / np.float32(step)), -128, 127) * np.float32(step)

    x = (
        np.random.default_rng(4)
        .normal(0, 2, [2, 4, 5, 6] if product == "Conv" else [5, 4])
        .astype(np.float32)
    )
    weight = requant(numpy_helper.to_array(original.graph.initializer[0]), 0.01).astype(np.float64)
    sums = requant(x, step).astype(np.float64)
    if product == "Conv":
        sums = np.einsum("nchw,oc->nohw", sums, weight[..., 0, 0])
    else:
        sums = sums @ weight
    meant = requant(sums.astype(np.float32), 0.25)
    assert (
        np.abs(outputs(qdialect.to_model(module), x) - meant).max() <= 0.2501
    )  # a step where float32 sums tie


def test_the_page_shows_what_the_package_says():
    """Each line of a block of docs/extending.md, without its comment, stands in a file of the package."""
    page = (ROOT / "docs" / "extending.md").read_text()
    files = "\n".join(p.read_text() for p in PLUGIN.rglob("*") if p.suffix in (".py", ".toml"))
    lines = [
        line.partition(" #")[0].rstrip()
        for block in page.split("```")[1::2]
        for line in block.splitlines()[1:]
        if line.strip()
    ]
    assert len(lines) > 10
    promises = "PROMISES = {"
    assert not [line for line in lines if line not in files and not line.startswith(promises)]
