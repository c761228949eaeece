"""`qdialect bench`: models in turn on equal inputs, a verdict that the spread allows, and where the time goes."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

from qdialect.cli import main
from qdialect.errors import UserError
from qdialect.measuring import timing
from qdialect.measuring.profiling import profile
from qdialect.measuring.runner import Runner
from qdialect.measuring.timing import ENGINES, Latency, alternate, inputs_for, verdict


def product_model(shape: list[int | str], kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """y = float(x) @ w with w of shape (3, 4), then Relu."""
    nodes = [
        helper.make_node("Cast", ["x"], ["r"], "cast", to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["r", "w"], ["p"], "product"),
        helper.make_node("Relu", ["p"], ["y"], "relu"),
    ]
    weight = numpy_helper.from_array(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), "w")
    return onnx_model(nodes, {"x": (kind, shape)}, {"y": None}, [weight])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with models of fixed and free batch; nothing is timed for long."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(timing, "MIN_AND_MAX_RUNS", (3, 3))
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    onnx.save(product_model([2, 3]), "fixed.onnx")
    onnx.save(product_model(["n", 3]), "free.onnx")
    onnx.save(product_model(["n", "m"], TensorProto.UINT8), "bytes.onnx")
    np.savez("x.npz", x=np.ones((5, 3), np.float32))
    return tmp_path


def test_functions_are_called_in_turn():
    calls: list[str] = []
    times = alternate([lambda: calls.append("a"), lambda: calls.append("b")], seconds=0.0, rounds=(4, 9))
    assert [len(one) for one in times] == [4, 4]
    assert "".join(calls) == "aaabbb" + "ab" * 4
    most = alternate([lambda: None], seconds=60.0, rounds=(1, 7))
    assert [len(one) for one in most] == [7]


def test_models_side_by_side(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["bench", "fixed.onnx", "free.onnx"]) == 0
    head, first, second, said, *others = capfd.readouterr().out.splitlines()
    assert head.split() == "model runs in median ms 10 to 90 % rounds against the first".split()
    assert re.fullmatch(r"fixed.onnx +onnxruntime [\d.]+ +[\d.]+ +[\d.]+ to [\d.]+ +3", first)
    assert re.fullmatch(r"free.onnx +onnxruntime [\d.]+ +[\d.]+ +[\d.]+ to [\d.]+ +3 +[\d.]+x", second)
    assert said == "1 thread, random inputs"
    assert len(others) == 1
    assert others[0].startswith("verdict: 'free.onnx' ")


def test_a_file_that_openvino_does_not_run_says_how_to_compile_it(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def runs_fixed_alone(runner: Runner, feed: Any, threads: int) -> tuple[str, Any] | None:
        return ("1.0", lambda: None) if runner.path.endswith("fixed.onnx") else None

    monkeypatch.setitem(ENGINES, "openvino", runs_fixed_alone)
    assert main(["bench", "fixed.onnx", "free.onnx", "--batch", "2"]) == 0
    said = "openvino 1.0 does not run 'free.onnx'; compile it with --target openvino"
    assert said in capfd.readouterr().out.splitlines()


def test_one_model_has_no_verdict(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["bench", "free.onnx", "--batch", "4", "--data", "x.npz", "--threads", "2"]) == 0
    *_, said, data = capfd.readouterr().out.splitlines()
    assert said == "2 threads, batch 4, x.npz"
    assert data.startswith("data: 5 samples of 1 file; 'x' in ")


def test_a_profile_has_every_node(folder: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["bench", "fixed.onnx", "--profile", "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    assert set(report) == {"models", "threads", "batch", "verdict", "profile"}
    kernels = {row["kernel"] for row in report["profile"]["fixed.onnx"]}
    assert "MatMul" in kernels
    assert main(["bench", "fixed.onnx", "--profile"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "fixed.onnx"
    assert any(re.match(r"[\d.]+ +[\d.]+ % +MatMul +float -> float +2x4 +product$", line) for line in lines)
    assert not list(folder.glob("*.json"))


def test_shares_of_a_profile_are_of_the_whole(folder: Path):
    rows = profile("fixed.onnx", {"x": np.ones((2, 3), np.float32)}, runs=2)
    assert sum(one.share for one in rows) == pytest.approx(1)
    assert [one.seconds for one in rows] == sorted((one.seconds for one in rows), reverse=True)


@pytest.mark.parametrize(
    ("model", "batch", "shape"),
    [("fixed.onnx", None, (2, 3)), ("fixed.onnx", 2, (2, 3)), ("free.onnx", 7, (7, 3))],
)
def test_random_inputs_have_the_batch(model: str, batch: int | None, shape: tuple[int, ...], folder: Path):
    feed = inputs_for(Runner(model, optimize=True), None, batch)
    assert feed["x"].shape == shape
    assert np.array_equal(feed["x"], inputs_for(Runner(model, optimize=True), None, batch)["x"])


def test_bytes_fill_their_range(folder: Path):
    onnx.save(product_model(["n", 3], TensorProto.UINT8), "u8.onnx")
    x = inputs_for(Runner("u8.onnx", optimize=True), None, 200)["x"]
    assert x.dtype == np.uint8
    assert np.ptp(x) > 200


@pytest.mark.parametrize(
    ("line", "status", "says"),
    [
        ("fixed.onnx --batch 3", 1, "input 'x' of 'fixed.onnx' has batch 2, not 3; leave --batch out"),
        ("free.onnx --batch 6 --data x.npz", 1, "the data has fewer than 6 samples"),
        ("bytes.onnx", 1, "the model does not run on random inputs: onnxruntime cannot run 'bytes.onnx'"),
        ("fixed.onnx missing.onnx", 1, "cannot open 'missing.onnx'"),
        (
            "fixed.onnx cut.onnx",
            1,
            "'cut.onnx': it is not an ONNX model, or is truncated; export the model again",
        ),
        ("fixed.onnx bytes.onnx", 1, "whose metadata does not say scale and zero point"),
        ("fixed.onnx --threads 1000000", 2, "1000000 threads are too many for"),
        ("fixed.onnx --threads many", 2, "'many' is not a whole number, 0 or more"),
        ("fixed.onnx --batch 0", 2, "'0' is not a whole number, 1 or more"),
        ("--profile", 2, "A.onnx"),
    ],
)
def test_a_mistake_is_said(
    line: str, status: int, says: str, folder: Path, capfd: pytest.CaptureFixture[str]
):
    Path("cut.onnx").write_bytes(Path("fixed.onnx").read_bytes()[:50])
    assert main(["bench", *line.split()]) == status
    out, err = capfd.readouterr()
    assert out == ""
    assert says in err.splitlines()[-1]


def test_one_sample_at_a_time(folder: Path):
    onnx.save(product_model([1, 3]), "one.onnx")
    with pytest.raises(UserError, match=r"'one\.onnx' takes one sample at a time"):
        inputs_for(Runner("one.onnx", optimize=True), None, 8)


def latency(model: str, *seconds: float) -> Latency:
    return Latency(model, "onnxruntime 1", seconds)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ((1.0, 1.1, 1.2), "'b' is 2.00x faster than 'a' in onnxruntime"),
        ((4.4, 4.4, 4.4), "'b' is 2.00x slower than 'a' in onnxruntime"),
        ((2.2, 2.25, 2.3), "'b' takes as long as 'a' in onnxruntime"),
        ((0.1, 1.1, 5.0), "'b' is 2.00x faster than 'a' in onnxruntime, though the spreads overlap"),
    ],
)
def test_the_verdict_knows_the_spread(other: tuple[float, ...], says: str):
    assert verdict([latency("a", 2.0, 2.2, 2.4), latency("b", *other)]) == says
