"""`--report`: its JSON keeps the schema, its page shows the data and asks nobody for anything."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main
from qdialect.measuring import timing
from qdialect.measuring.profiling import seconds_by_node
from qdialect.reasons import Blocked, Times
from qdialect.report.page.data import (
    Candidate,
    Circumstances,
    File,
    Histogram,
    Latencies,
    Task,
    TensorNoise,
    report_data,
)
from qdialect.report.page.html import write_html
from qdialect.report.report import Report

ROOT = Path(__file__).parents[4]
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
EXAMPLE = str(ROOT / "examples" / "digits_qdq.onnx")
PYTHON_TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "number": (int, float), "integer": int,
}  # fmt: skip
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def breaks(value: Any, schema: dict[str, Any], where: str = "report") -> list[str]:
    """Where a value breaks a schema, as far as ours use JSON Schema."""
    if "$ref" in schema:
        return breaks(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], where)
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    fits = any(isinstance(value, PYTHON_TYPES[t]) for t in allowed)
    if not fits or (isinstance(value, bool) and "boolean" not in allowed):
        return [f"{where} is no {schema['type']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is {value!r}"]
    errors: list[str] = []
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema["additionalProperties"]
        errors += [f"{where} has no {name}" for name in schema.get("required", ()) if name not in value]
        for name, one in value.items():
            if name not in known and not others:
                errors.append(f"{where} has {name}, which the schema has not")
            else:
                errors += breaks(one, known.get(name, others), f"{where}.{name}")
    elif isinstance(value, list):
        errors += [
            line for k, one in enumerate(value) for line in breaks(one, schema["items"], f"{where}[{k}]")
        ]
    return errors


def plain(report: Report, around: Circumstances | None = None) -> dict[str, Any]:
    """The report's data as a reader of the JSON finds it."""
    return json.loads(json.dumps(report_data(report, around or Circumstances())))


@pytest.fixture(scope="module")
def report() -> Report:
    return qdialect.compile(qdialect.load(EXAMPLE))


def branching(tmp_path: Path) -> str:
    """If(c, MatMul(Relu(x), w), x): nodes in a subgraph that take what is outside, and an input handed through."""
    wide = [5, 3]
    then = helper.make_graph(
        [helper.make_node("MatMul", ["r", "w"], ["m"], "inside")],
        "then", [], [helper.make_tensor_value_info("m", TensorProto.FLOAT, wide)],
        [numpy_helper.from_array(np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3), "w")],
    )  # fmt: skip
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["i"], "same")],
        "else", [], [helper.make_tensor_value_info("i", TensorProto.FLOAT, wide)],
    )  # fmt: skip
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], "above"),
        helper.make_node("If", ["c"], ["y"], "choice", then_branch=then, else_branch=other),
    ]
    inputs = [
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, wide),
    ]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, wide) for name in ("y", "x")]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    path = str(tmp_path / "branching.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("options", [{}, {"target": "tensorrt"}, {"form": "integer"}], ids=str)
def test_json_keeps_the_schema(options: dict[str, Any]):
    report = qdialect.compile(qdialect.load(EXAMPLE), **options)
    tensor = report.layers[0].outputs[0].name
    around = Circumstances(
        seconds={report.account.nodes[0].name: 2e-6}, noise={tensor: TensorNoise(41.5, 0.75)}
    )
    data = plain(report, around)
    assert not breaks(data, SCHEMA)
    assert data["layers"][0]["noise"] == {"sqnr_db": 41.5, "steps": 0.75}
    assert data["nodes"][0]["seconds"] == 2e-6


def test_the_headline_is_in_the_users_measures(report: Report):
    assert plain(report)["headline"].startswith("100 % of multiply-adds in integers, ")
    files = File("input", "a.onnx", 400_000, ""), File("output", "b.onnx", 200_000, "")
    task = Task("top-1", 98.61, 98.5, "%", 360, 1.2)
    around = Circumstances(files=files, latencies=Latencies(2e-3, 1.6e-3, "ort"), sqnr=40.83, task=task)
    data = plain(report, around)
    assert not breaks(data, SCHEMA)
    assert data["headline"] == (
        "top-1 98.6 % -> 98.5 % (360 samples, ±1.2), 1.25x faster, 40.8 dB, 200 kB of 400 kB"
    )
    assert data["summary"]["task"] == task._asdict()
    slower = plain(
        report, Circumstances(files=files, latencies=Latencies(1.0, 2.0, "ort"), sqnr=float("inf"))
    )
    assert slower["headline"] == "2.00x slower, identical, 200 kB of 400 kB"


def test_each_line_of_the_verdict_is_one(report: Report):
    """The lines on the data stood in one row, as a text of two lines."""
    data = plain(report, Circumstances(findings=("data: a\ndata: b", "")))
    assert data["verdict"][-2:] == ["data: a", "data: b"]
    assert all("\n" not in line for line in data["verdict"])


def test_values_outside_of_the_integers_are_counted(report: Report):
    """A value within half a step of the end of a range is rounded, not cut."""
    tensor = next(t for n in report.account.nodes for t in n.outputs if t.scale and t.element == "uint8")
    step, zero = (float(part) for part in tensor.scale.split(":"))
    low, high = -zero * step, (255 - zero) * step
    name = tensor.name.removesuffix("_quantized")
    counts = Histogram(low, high + 2, high, 1.0, (90, 6, 4))
    around = Circumstances(
        histograms={name: counts, "other": counts}, candidates=(Candidate("a", float("nan"), 0.5, 3, True),)
    )
    data = plain(report, around)
    assert not breaks(data, SCHEMA)
    assert data["activations"][name]["range"] == [pytest.approx(low), pytest.approx(high)]
    assert data["activations"][name]["outside"] == pytest.approx(0.1)
    assert data["activations"]["other"]["range"] is None
    assert data["candidates"] == [{"name": "a", "sqnr_db": None, "time": 0.5, "layers": 3, "chosen": True}]


def test_a_reason_says_what_was_measured_beside_what_was_expected():
    """Of the layer's float nodes: the casts around them are not what is compared."""
    report = qdialect.compile(qdialect.load(EXAMPLE), keep_float=["/stem/conv/Conv"])
    layer = next(one for one in report.layers if one.node == "/stem/conv/Conv")
    (remark,) = layer.reasons[:1]
    times = Times(1_000.0, 2_000.0)
    known = replace(remark, blocked=Blocked("float-faster", "no", expected=times))
    report.layers = tuple(replace(one, reasons=(known,)) if one is layer else one for one in report.layers)
    seconds = {node.name: 5e-6 if node.operator == "Conv" else 1e-6 for node in layer.became}
    data = plain(report, Circumstances(seconds=seconds, seconds_before={layer.node: 7e-6}))
    assert not breaks(data, SCHEMA)
    (row,) = (one for one in data["layers"] if one["node"] == "/stem/conv/Conv")
    assert row["seconds_before"] == 7e-6
    assert row["reasons"][0]["expected"] == {
        "float_seconds": pytest.approx(1e-6), "integer_seconds": pytest.approx(2e-6), "batch": 1,
    }  # fmt: skip
    assert row["reasons"][0]["measured_seconds"] == 5e-6


def test_a_layer_has_the_noise_of_what_was_fused_with_it(report: Report):
    """Its own tensor is no longer there; that of the kernel is known by its name in the float model."""
    fused = next(
        one
        for one in report.layers
        if one.operator == "Conv" and one.became and one.became[-1].outputs[0].name.endswith("_quantized")
    )
    name = fused.became[-1].outputs[0].name.removesuffix("_quantized")
    data = plain(report, Circumstances(noise={name: TensorNoise(30.0)}))
    assert {"sqnr_db": 30.0, "steps": None} in [one["noise"] for one in data["layers"]]


def test_a_schema_is_held_against_what_it_says(report: Report):
    data = plain(report)
    data["layers"][0] |= {"node": 3, "other": ""}
    del data["form"]
    assert breaks(data, SCHEMA) == [
        "report has no form",
        "report.layers[0].node is no string",
        "report.layers[0] has other, which the schema has not",
    ]


def test_nodes_and_edges_are_those_of_the_file(tmp_path: Path):
    module = qdialect.load(EXAMPLE)
    data = plain(qdialect.compile(module))
    path = str(tmp_path / "o.onnx")
    qdialect.save(module, path)
    graph = onnx.load(path).graph
    assert [(n["name"], n["operator"]) for n in data["nodes"]] == [(n.name, n.op_type) for n in graph.node]
    wanted = {
        (k, m)
        for k, maker in enumerate(graph.node)
        for m, taker in enumerate(graph.node)
        if set(maker.output) & set(taker.input)
    }
    assert {tuple(edge) for edge in data["edges"]} == wanted
    assert [one["tensor"]["name"] for one in data["inputs"]] == [value.name for value in graph.input]
    assert [one["tensor"]["name"] for one in data["outputs"]] == [value.name for value in graph.output]


def test_each_node_is_of_the_kind_that_its_file_says(tmp_path: Path):
    """By onnx's own inference: 20 nodes and more."""
    module = qdialect.load(EXAMPLE)
    data = plain(qdialect.compile(module))
    path = str(tmp_path / "o.onnx")
    qdialect.save(module, path)
    graph = onnx.shape_inference.infer_shapes(onnx.load(path)).graph
    types = {v.name: v.type.tensor_type.elem_type for v in (*graph.input, *graph.value_info, *graph.output)}
    types |= {t.name: t.data_type for t in graph.initializer}
    kinds: dict[int, str] = {
        TensorProto.FLOAT: "float",
        TensorProto.UINT8: "integer",
        TensorProto.INT8: "integer",
    }
    checked = 0
    for node, said in zip(graph.node, data["nodes"], strict=True):
        ends = [kinds.get(types.get(name, 0), "") for name in (node.input[0], node.output[0])]
        if all(ends):
            checked += 1
            is_cast = node.op_type in ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
            assert said["kind"] == ("cast" if is_cast else ends[0]), node.name
    assert checked >= 10


def test_subgraphs_hang_together(tmp_path: Path):
    """What is inside is linked to what it takes outside, and to the node that holds it."""
    data = plain(qdialect.compile(qdialect.load(branching(tmp_path))))
    names = [node["name"] for node in data["nodes"]]
    edges = {(names[a], names[b]) for a, b in data["edges"]}
    assert {("above", "inside"), ("inside", "choice")} <= edges
    assert data["outputs"][1] == {**data["outputs"][1], "nodes": []}
    assert data["outputs"][1]["tensor"]["name"] == "x"


def test_between_casts_that_a_target_fuses_is_integer():
    data = plain(qdialect.compile(qdialect.load(EXAMPLE), target="openvino"))
    kinds = {node["kind"] for node in data["nodes"] if node["operator"] == "Conv"}
    assert kinds == {"integer"}


def test_products_between_casts_that_a_target_does_not_read_are_float():
    """They were drawn as integers beside a table that counts them as floats."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "q0"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xr"], "d0"),
        helper.make_node("DequantizeLinear", ["w", "s", "zw"], ["wr"], "d1"),
        helper.make_node("MatMul", ["xr", "wr"], ["m"], "product"),
        helper.make_node("QuantizeLinear", ["m", "s", "z"], ["mq"], "q2"),
        helper.make_node("DequantizeLinear", ["mq", "s", "z"], ["y"], "d2"),
    ]
    tensors = {
        "s": np.float32(0.1), "z": np.uint8(3), "zw": np.int8(0), "w": np.ones((4, 4), np.int8),
    }  # fmt: skip
    model = onnx_model(nodes, {"x": [2, 4]}, {"y": [2, 4]}, tensors)
    data = plain(qdialect.compile(qdialect.load(model), target="tensorrt"))
    (layer,) = (one for one in data["layers"] if one["node"] == "product")
    assert layer["integer_multiply_adds"] == 0
    assert [node["kind"] for node in data["nodes"] if node["operator"] == "MatMul"] == ["float"]


def test_what_quantize_left_without_casts_was_weighed(report: Report):
    """The advice was to quantize there too."""
    model = onnx_model(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "product")],
        {"x": [2, 4]}, {"y": [2, 4]}, {"w": np.ones((4, 4), np.float32)},
    )  # fmt: skip
    found = qdialect.compile(qdialect.load(model))
    assert plain(found)["layers"][0]["reasons"][0]["id"] == "not-quantized"
    found.calibrated = True
    assert plain(found)["layers"][0]["reasons"][0]["id"] == "float-faster"


def test_upstream_mlir_counts_integers_as_they_are_stored():
    """The result has no ONNX nodes to draw; layers are there."""
    report = qdialect.compile(qdialect.load(EXAMPLE), target="linalg", batch=1)
    data = plain(report)
    assert not breaks(data, SCHEMA)
    assert data["nodes"] == []
    assert data["multiply_adds"]["integer"] > 0.9 * data["multiply_adds"]["total"]


def test_floats_that_nothing_fuses_are_float(tmp_path: Path):
    data = plain(qdialect.compile(qdialect.load(branching(tmp_path)), target="tensorrt"))
    assert {node["kind"] for node in data["nodes"]} == {"float", "other"}


def test_the_page_asks_nobody(report: Report):
    """No address, no file, and a policy that forbids both."""
    page = write_html(report).replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in page
    assert not re.findall(r"https?:|//[a-z]+\.|\bsrc=|\bhref=|url\(|@import|\bfetch\(|XMLHttp", page)


def test_the_page_holds_the_data(tmp_path: Path, report: Report):
    """Names are text in it, whatever they look like."""
    page = write_html(report)
    errors = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert errors is not None
    assert json.loads(errors[1]) == plain(report)


def test_the_same_compilation_writes_the_same_page():
    pages = [write_html(qdialect.compile(qdialect.load(EXAMPLE))) for _ in range(2)]
    assert pages[0] == pages[1]


def test_where_it_comes_from(tmp_path: Path):
    out, page = str(tmp_path / "o.onnx"), tmp_path / "r.json"
    assert main(["compile", EXAMPLE, "-o", out, "--report", str(page), "--quiet"]) == 0
    said = json.loads(page.read_text())["provenance"]
    assert said["command"].startswith("qdialect compile ")
    assert [(f["role"], f["path"]) for f in said["files"]] == [("input", EXAMPLE), ("output", out)]
    assert [len(f["sha256"]) for f in said["files"]] == [64, 64]
    assert all(said["versions"].values())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch):
    """Timing that is over at once: what it finds is of no interest here."""
    monkeypatch.setattr(timing, "alternate", partial(timing.alternate, seconds=0.01, rounds=(2, 5)))


@pytest.mark.usefixtures("quick")
def test_data_brings_noise_and_time(tmp_path: Path):
    """Layers have the noise of what they compute now, nodes the time of what onnxruntime makes of them."""
    page, samples = tmp_path / "r.json", str(tmp_path / "samples.npz")
    (graph_input,) = onnx.load(EXAMPLE).graph.input
    sizes = [d.dim_value or 12 for d in graph_input.type.tensor_type.shape.dim]
    np.savez(samples, pixels=np.linspace(0, 1, int(np.prod(sizes)), dtype=np.float32).reshape(sizes))
    out = str(tmp_path / "o.onnx")
    assert main(["compile", EXAMPLE, "-o", out, "--report", str(page), "--data", samples, "--quiet"]) == 0
    data = json.loads(page.read_text())
    assert not breaks(data, SCHEMA)
    convolutions = [one for one in data["layers"] if one["operator"] == "Conv"]
    assert all(one["seconds"] > 0 for one in convolutions)
    assert sum(one["noise"] is not None for one in convolutions) >= len(convolutions) - 1
    said = [line.partition(":")[0] for line in data["verdict"]]
    assert {"time", "noise"} <= set(said)


@pytest.mark.usefixtures("quick")
def test_nodes_without_names_have_their_time(tmp_path: Path):
    """They are known by their first tensor, and so are what onnxruntime makes of them."""
    model = onnx.load(EXAMPLE)
    for node in model.graph.node:
        node.name = ""
    path = str(tmp_path / "nameless.onnx")
    onnx.save(model, path)
    (graph_input,) = model.graph.input
    sizes = [d.dim_value or 2 for d in graph_input.type.tensor_type.shape.dim]
    seconds, elsewhere = seconds_by_node(path, {graph_input.name: np.zeros(sizes, np.float32)})
    assert set(seconds) <= {node.output[0] for node in model.graph.node}
    assert len(seconds) > 3
    assert 0 <= elsewhere < 1


def small_net(path: Path) -> str:
    """Two convolutions with Relu, in modules that PyTorch's exporter notes in metadata."""
    generator = np.random.default_rng(5)
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c0"], "node_Conv_0", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c0"], ["r0"], "node_Relu_1"),
        helper.make_node("Conv", ["r0", "w1"], ["y"], "node_Conv_2", pads=[1, 1, 1, 1]),
    ]
    for node, name in zip(nodes, ("body.0", "body.1", "head"), strict=True):
        entry = node.metadata_props.add()
        entry.key, entry.value = "pkg.torch.onnx.name_scopes", f"['', 'body', '{name}', 'op']"
    tensors = {
        "w0": generator.standard_normal((32, 16, 3, 3)).astype(np.float32),
        "w1": generator.standard_normal((32, 32, 3, 3)).astype(np.float32),
    }
    onnx.save(onnx_model(nodes, {"x": [1, 16, 16, 16]}, {"y": [1, 32, 16, 16]}, tensors), path)
    return str(path)


@pytest.mark.usefixtures("quick")
def test_quantize_reports_what_it_tried_and_what_it_saw(tmp_path: Path):
    """`quant.dcast` and `quant.qcast` stood under the operators of the user's file, which has none."""
    model, page, samples = small_net(tmp_path / "m.onnx"), tmp_path / "r.json", str(tmp_path / "x.npz")
    np.savez(samples, x=np.random.default_rng(1).standard_normal((20, 16, 16, 16)).astype(np.float32))
    words = [
        "quantize",
        model,
        "--data",
        samples,
        "-o",
        str(tmp_path / "o.onnx"),
        "--report",
        str(page),
        "--quiet",
    ]
    assert main(words) == 0
    data = json.loads(page.read_text())
    assert not breaks(data, SCHEMA)
    assert data["operators"]["before"] == {"Conv": 2, "Relu": 1}
    assert [one["module"] for one in data["layers"]] == [["body", "0"], ["body", "1"], ["head"]]
    assert sum(one["chosen"] for one in data["candidates"]) == 1
    assert all(one["seconds_before"] is not None for one in data["layers"] if one["operator"] == "Conv")
    assert {"x", "r0", "y"} <= set(data["activations"])
    assert data["activations"]["r0"]["range"] is not None
    assert all(len(one["counts"]) <= 64 for one in data["activations"].values())
    summary = data["summary"]
    assert summary["seconds"]["before"] > 0
    assert summary["noise"]["sqnr_db"] > 20
    assert summary["layers"] == {"integer": 2, "total": 2}
    assert " dB, " in data["headline"]


@pytest.mark.usefixtures("quick")
def test_accuracy_on_labels_is_the_first_thing_that_is_said(tmp_path: Path):
    generator = np.random.default_rng(2)
    tensors = {
        "w": generator.standard_normal((32, 48)).astype(np.float32),
        "v": generator.standard_normal((48, 4)).astype(np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], "first"),
        helper.make_node("Relu", ["h"], ["r"], "clamp"),
        helper.make_node("MatMul", ["r", "v"], ["y"], "second"),
    ]
    path, page, samples = str(tmp_path / "m.onnx"), tmp_path / "r.json", str(tmp_path / "x.npz")
    onnx.save(onnx_model(nodes, {"x": ["n", 32]}, {"y": ["n", 4]}, tensors), path)
    np.savez(
        samples, x=generator.standard_normal((90, 32)).astype(np.float32), y=generator.integers(0, 4, 90)
    )
    words = ["quantize", path, "--data", samples, "--labels", "key:y", "-o", str(tmp_path / "o.onnx")]
    assert main([*words, "--report", str(page), "--quiet"]) == 0
    data = json.loads(page.read_text())
    assert not breaks(data, SCHEMA)
    task = data["summary"]["task"]
    assert (task["name"], task["unit"]) == ("top-1", "%")
    assert 0 <= task["after"] <= 100
    assert 0 < task["samples"] < 90
    assert data["headline"].startswith(f"top-1 {task['before']:.1f} % -> ")


def test_data_that_does_not_fit_is_refused_in_front_of_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page, samples, out = tmp_path / "r.html", str(tmp_path / "samples.npz"), tmp_path / "o.onnx"
    np.savez(samples, other=np.zeros((2, 3), np.float32))
    words = ["compile", EXAMPLE, "-o", str(out), "--report", str(page), "--data", samples]
    assert main(words) == 1
    assert "other" in capsys.readouterr().err
    words = ["compile", EXAMPLE, "-o", str(tmp_path / "o.mlir"), "--target", "linalg", "--batch", "1"]
    assert main([*words, "--report", str(page), "--data", samples]) == 1
    assert "which does not take" in capsys.readouterr().err
    copy = tmp_path / "same.onnx"
    copy.write_bytes(Path(EXAMPLE).read_bytes())
    assert main(["compile", str(copy), "-o", str(copy), "--report", str(page), "--data", samples]) == 1
    assert "which the output would replace" in capsys.readouterr().err
    assert not page.exists()
    assert not out.exists()


def test_the_snippets_of_the_page_on_reports_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert main(["compile", EXAMPLE, "-o", "o.onnx", "--report", "report.json", "--quiet"]) == 0
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "report.md").read_text(), re.S)
    assert len(snippets) == 2
    for snippet in snippets:
        exec(snippet, {})
    colours = json.loads(Path("kinds.json").read_text())["main_graph"]["results"]
    assert {node.name for node in onnx.load("o.onnx").graph.node} == set(colours)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to draw the page")
def test_chromium_draws_every_node(tmp_path: Path, report: Report):
    """The colour and the text of each node, none on top of another, and a row for each layer."""
    page, data = tmp_path / "r.html", plain(report)
    page.write_text(write_html(report))
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    boxes = re.findall(
        r'<g data-k="\d+" class="(\w+)"[^>]*><title>(\S+) ([^<]*)</title><rect x="([-\d.]+)" y="([-\d.]+)"',
        dom,
    )
    drawn = {(kind, operator, name) for kind, operator, name, _, _ in boxes}
    assert {(n["kind"], n["operator"], n["name"]) for n in data["nodes"]} <= drawn
    assert len(boxes) == len(data["nodes"]) + len(data["inputs"]) + len(data["outputs"])
    places = [(float(x), float(y)) for *_, x, y in boxes]
    assert not [
        (a, b)
        for k, a in enumerate(places)
        for b in places[:k]
        if abs(a[0] - b[0]) < 150 and abs(a[1] - b[1]) < 38
    ]
    assert dom.count('id="layer-') == len(data["layers"])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to draw the page")
def test_a_link_selects_searches_and_folds(tmp_path: Path):
    """An error in any script would leave the page without details."""
    path, page = small_net(tmp_path / "m.onnx"), tmp_path / "r.html"
    report = qdialect.compile(qdialect.load(path))
    histogram = Histogram(0.0, 4.0, 0.0, 1.0, (5, 3, 2, 1))
    candidates = tuple(Candidate(f"c{k}", 30.0 + k, 0.5 + 0.1 * k, 2, k == 1) for k in range(3))
    page.write_text(write_html(report, Circumstances(histograms={"r0": histogram}, candidates=candidates)))
    address = f"{page.as_uri()}#layer=node_Relu_1&search=body&tree=modules&float=only&view=read"
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", address]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert 'class="histogram"' in dom
    assert dom.count("<circle") == 3
    assert re.search(r"[12] of 3 layers", dom)
    assert 'class="module float"' in dom
    assert "--keep-float node_Conv_0" in dom
