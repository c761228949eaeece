"""Times of nodes: medians over runs, each with the node of the file that it comes from."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

from qdialect.cli import main
from qdialect.evaluation import session
from qdialect.measuring import profiling
from qdialect.measuring.attribution import Origins
from qdialect.measuring.profiling import profile, seconds_by_node


def convolutions(path: Path) -> str:
    """Two convolutions with clamps behind them, of eight channels and more: a session blocks the channels."""
    generator = np.random.default_rng(3)
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c0"], "first"),
        helper.make_node("Clip", ["c0", "low", "high"], ["r0"], "clamp"),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], "second"),
        helper.make_node("Clip", ["c1", "low", "high"], ["y"], ""),
    ]
    tensors = {
        "w0": generator.standard_normal((16, 8, 3, 3)).astype(np.float32),
        "w1": generator.standard_normal((16, 16, 3, 3)).astype(np.float32),
        "low": np.float32(0),
        "high": np.float32(6),
    }
    model = onnx_model(nodes, {"x": [1, 8, 12, 12]}, {"y": [1, 16, 8, 8]}, tensors)
    onnx.save(model, path)
    return str(path)


def test_nodes_that_a_session_adds_belong_to_the_layers_that_they_serve(tmp_path: Path):
    """`r0_nchwc` and the reorders around it had no layer, so that the costliest layers had no time."""
    path = convolutions(tmp_path / "m.onnx")
    feeds = {"x": np.ones((1, 8, 12, 12), np.float32)}
    rows = profile(path, feeds, runs=3)
    assert {one.source for one in rows} <= {"first", "second", "clamp", "y"}
    assert {one.source for one in rows if one.kernel == "Conv"} == {"first", "second"}
    seconds, elsewhere = seconds_by_node(path, feeds)
    assert elsewhere == 0
    assert seconds.keys() >= {"first", "second"}


def test_names_tell_where_the_session_s_graph_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = convolutions(tmp_path / "m.onnx")
    start = session.session

    def refuses(*arguments: Any, write: Path | None = None, **named: Any) -> Any:
        if write is not None:
            raise profiling.UserError("too large")
        return start(*arguments, **named)

    monkeypatch.setattr(profiling, "session", refuses)
    rows = profile(path, {"x": np.ones((1, 8, 12, 12), np.float32)}, runs=2)
    assert {one.source for one in rows if one.kernel == "Conv"} == {"first", "second"}


def test_a_name_of_no_node_tells_nothing():
    origins = Origins(onnx_model([helper.make_node("Relu", ["x"], ["y"], "r")], {"x": [1]}, {"y": [1]}))
    assert origins.by_name("ReorderInput_3", "ReorderInput") is None
    assert origins.readable("<0>_fused") == "r_fused"


def node(name: str, start: int, micros: int) -> dict[str, Any]:
    return {
        "cat": "Node", "name": f"{name}_kernel_time", "ts": start, "dur": micros, "args": {"op_name": name},
    }  # fmt: skip


def runs_of(monkeypatch: pytest.MonkeyPatch, *runs: list[dict[str, Any]]) -> dict[str, float]:
    """Median microseconds by kernel of runs that a profiler would have written, warm-up left out."""
    monkeypatch.setattr(profiling, "WARM_UP_RUNS", 0)
    events: list[dict[str, Any]] = []
    for k, run in enumerate(runs):
        events.append({"cat": "Session", "name": "model_run", "ts": 1000 * k, "dur": 900})
        events += [{**one, "ts": one["ts"] + 1000 * k} for one in run]
    return {one.kernel: taken.micros for one, taken in profiling.medians(events).items()}


def test_one_interrupted_run_does_not_spoil_the_time_of_a_node(monkeypatch: pytest.MonkeyPatch):
    """A mean over runs of 4 µs and one of 800 µs blamed a node that is no slower than the others."""
    calm, broken = [node("Conv", 0, 4), node("Relu", 10, 3)], [node("Conv", 0, 800), node("Relu", 810, 3)]
    assert runs_of(monkeypatch, calm, calm, broken, calm, calm) == pytest.approx(
        {"Conv": 4, "Relu": 3}, abs=0.5
    )


def test_a_node_with_a_body_does_not_count_the_nodes_in_it(monkeypatch: pytest.MonkeyPatch):
    """They have times of their own; the calls of one node in a loop are added up."""
    run = [node("Loop", 0, 100), node("Add", 10, 20), node("Add", 40, 20), node("Mul", 200, 7)]
    assert runs_of(monkeypatch, run, run, run) == pytest.approx({"Loop": 60, "Add": 40, "Mul": 7})


def test_the_time_of_the_profiler_is_taken_off_each_call():
    """The nodes of a small model took three times as long together as the model did."""
    loop, other = (profiling.RanNode(name, name, (), ()) for name in ("Add", "Conv"))
    times = {loop: profiling.Taken(30.0, 10), other: profiling.Taken(20.0, 1)}
    less = profiling.without_overhead(times, 28.0)
    assert less == {loop: pytest.approx(10), other: pytest.approx(18)}
    assert profiling.without_overhead(times, 50.0) == {loop: 30.0, other: 20.0}
    assert profiling.without_overhead(times, 0.0) == {loop: pytest.approx(3), other: pytest.approx(2)}


def test_the_table_names_the_nodes_of_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = convolutions(tmp_path / "m.onnx")
    monkeypatch.setattr("qdialect.measuring.timing.MIN_AND_MAX_RUNS", (3, 3))
    monkeypatch.setattr(
        "qdialect.measuring.timing.alternate.__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)}
    )
    assert main(["bench", path, "--profile", "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)["profile"][path]
    assert {row["source"] for row in rows} <= {"first", "second", "clamp", "y"}
    assert main(["bench", path, "--profile"]) == 0
    assert "_nchwc" not in capfd.readouterr().out
