"""Accuracy on labels in `compare` and `bench`: what six lines of onnxruntime say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from image_classifier import MEAN, STD, normalized, pictures, top_1, trained, write_folders

from qdialect.cli import main
from qdialect.measuring.timing import alternate

COUNT = 120
FED = ["--mean", ",".join(map(str, MEAN)), "--std", ",".join(map(str, STD))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: `m.onnx`, `worse.onnx`, class folders `val`, the same as `val.npz`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    model = trained()
    onnx.save(model, "m.onnx")
    draw = np.random.default_rng(9)
    for one in model.graph.initializer:
        array = onnx.numpy_helper.to_array(one)
        noisy = array + draw.normal(0, 0.4 * array.std(), array.shape)
        one.CopyFrom(onnx.numpy_helper.from_array(noisy.astype(np.float32), one.name))
    onnx.save(model, "worse.onnx")
    images, classes = pictures(COUNT, 3)
    write_folders(tmp_path / "val", images, classes)
    np.savez("val.npz", x=normalized(images), y=classes)
    return tmp_path


def by_hand() -> tuple[float, float]:
    images, classes = pictures(COUNT, 3)
    before, after = top_1("m.onnx", images, classes), top_1("worse.onnx", images, classes)
    assert before > 0.9
    assert after < before
    return before, after


def test_compare(folder: Path, capsys: pytest.CaptureFixture[str]):
    before, after = by_hand()
    assert main(["compare", "m.onnx", "worse.onnx", "--data", "val", "--labels", "folders", *FED]) == 0
    verdict = capsys.readouterr().out.splitlines()[-1]
    assert verdict.startswith(
        f"verdict: top-1 {100 * before:.1f} % -> {100 * after:.1f} % ({COUNT} images, ±"
    )
    words = ["--data", "val.npz", "--labels", "key:y", "--json"]
    assert main(["compare", "m.onnx", "worse.onnx", *words]) == 0
    measured = json.loads(capsys.readouterr().out)["accuracy"]
    assert (measured["a"]["value"], measured["b"]["value"]) == (before, after)
    assert measured["b"]["samples"] == COUNT
    low, high = measured["b"]["interval"]
    assert low < after < high


def test_bench(folder: Path, capsys: pytest.CaptureFixture[str]):
    before, after = by_hand()
    words = ["--data", "val", "--labels", "folders", *FED]
    assert main(["bench", "m.onnx", "worse.onnx", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("top-1")
    assert lines[1].endswith(f"{100 * before:.1f} %")
    change = f"top-1 {100 * before:.1f} % -> {100 * after:.1f} % ({COUNT} images, ±"
    assert lines[-1].startswith(f"verdict: {change}")
    assert any(f"data: {COUNT} samples of {COUNT} files" in line for line in lines)
    assert main(["bench", "worse.onnx", "--json", *words]) == 0
    measured = json.loads(capsys.readouterr().out)["accuracy"]
    assert [one["value"] for one in measured] == [after]


def test_forgotten_normalization_shows(folder: Path, capsys: pytest.CaptureFixture[str]):
    """Both models agree on wrong inputs; their labels tell."""
    assert main(["compare", "m.onnx", "m.onnx", "--data", "val", "--labels", "folders", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"]["b"]["value"] < by_hand()[0] - 0.2


def test_class_folders_are_offered(folder: Path, capsys: pytest.CaptureFixture[str]):
    for command in (["compare", "m.onnx", "m.onnx"], ["bench", "m.onnx"]):
        assert main([*command, "--data", "val", *FED]) == 0
        offer = "labels: 5 class folders; --labels folders measures top-1 by them"
        assert offer in capsys.readouterr().out
        assert main([*command, "--data", "val", "--labels", "folders", *FED]) == 0
        assert offer not in capsys.readouterr().out


def test_a_function_of_a_module(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("mine.py").write_text("def right(outputs, labels):\n    return outputs.argmax(1) == labels\n")
    words = ["--data", "val.npz", "--labels", "key:y", "--metric", "mine:right"]
    assert main(["compare", "m.onnx", "m.onnx", *words]) == 0
    value = f"{by_hand()[0]:.4g}"
    assert f"verdict: right {value} -> {value} ({COUNT} samples, ±" in capsys.readouterr().out


def test_a_metric_without_labels_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["compare", "m.onnx", "m.onnx", "--data", "val", "--metric", "top5"]) == 2
    assert "without --labels there is nothing to measure by: leave --metric out" in capsys.readouterr().err
