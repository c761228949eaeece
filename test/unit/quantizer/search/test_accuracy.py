"""Accuracy of `quantize` on held-out labelled samples: what six lines of onnxruntime say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from image_classifier import MEAN, STD, normalized, pictures, top_1, trained, write_folders

import qdialect
from qdialect.cli import main
from qdialect.errors import UserError
from qdialect.numerics import Array
from qdialect.quantizer.statistics.profiling import sample_hash

COUNT = 160
FED = ["--mean", ",".join(map(str, MEAN)), "--std", ",".join(map(str, STD))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: `m.onnx`, class folders `train`, the same as `train.npz`."""
    monkeypatch.chdir(tmp_path)
    onnx.save(trained(), "m.onnx")
    images, classes = pictures(COUNT, 3)
    write_folders(tmp_path / "train", images, classes)
    np.savez("train.npz", x=normalized(images), y=classes)
    return tmp_path


def held_out() -> Array:
    """Which of the samples measure accuracy."""
    inputs = normalized(pictures(COUNT, 3)[0])
    return np.array([sample_hash({"x": one[None]}) % 2 == 1 for one in inputs])


def by_hand(path: str) -> float:
    """Top-1 of a file on the held-out samples."""
    images, classes = pictures(COUNT, 3)
    return top_1(path, images[held_out()], classes[held_out()])


def test_the_first_line_is_top_1_before_and_after(folder: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--data", "train", "--labels", "folders", *FED, "--report", "r.json"]
    assert main(["quantize", "m.onnx", "-o", "q.onnx", *words]) == 0
    lines = capsys.readouterr().err.splitlines()
    before, after, count = by_hand("m.onnx"), by_hand("q.onnx"), int(held_out().sum())
    assert before > 0.9
    assert lines[0].startswith(f"top-1 {100 * before:.1f} % -> {100 * after:.1f} % ({count} images, ±")
    assert re.search(r"±[0-9.]+\), (?:[0-9.]+x faster expected, )?[0-9.]+ k?B of [0-9.]+ k?B$", lines[0])
    report = json.loads(Path("r.json").read_text())
    said = f"top-1 {100 * before:.1f} % -> {100 * after:.1f} % ({count} samples, ±"
    assert report["headline"].startswith(said)
    split = f"split: {COUNT - count} samples calibrate and choose, {count} others measure accuracy"
    assert split in lines
    assert any(
        line.startswith(f"data: {COUNT} samples of {COUNT} files; images: {COUNT} RGB") for line in lines
    )


def test_folders_and_arrays_give_the_same(folder: Path):
    """The held-out samples are the same, and not in the profile."""
    images, classes = pictures(COUNT, 3)
    data = [{"x": one[None], "y": np.array([c])} for one, c in zip(normalized(images), classes, strict=True)]
    found = [
        qdialect.quantize("m.onnx", "train", form="qdq", labels="folders", mean=MEAN, std=STD),
        qdialect.quantize("m.onnx", data, form="qdq", labels="key:y"),
        qdialect.quantize("m.onnx", [{"x": normalized(images)}], form="qdq", labels=classes),
    ]
    for one in found:
        assert one.scores == found[0].scores
        assert one.profile.samples == COUNT - held_out().sum()
        assert one.profile.data == found[0].profile.data
    assert found[0].scores is not None
    qdialect.save(found[0].module, "q.onnx")
    assert [one.value for one in found[0].scores] == [by_hand("m.onnx"), by_hand("q.onnx")]


def test_a_function_evaluates(folder: Path):
    seen: list[tuple[int, ...]] = []

    def right(outputs: Array, labels: Array) -> float:
        seen.append(outputs.shape)
        return float((outputs.argmax(1) == labels).mean())

    done = qdialect.quantize("m.onnx", "train.npz", labels="key:y", evaluate=right)
    assert seen == [(int(held_out().sum()), 5)] * 2
    assert done.scores is not None
    assert done.scores[0].value == by_hand("m.onnx")
    assert done.summary()[0].startswith("right ")

    def certain(outputs: Array, labels: None) -> Array:
        assert labels is None
        return outputs.max(1)

    assert qdialect.quantize("m.onnx", "train.npz", evaluate=certain).summary()[0].startswith("certain ")


def test_other_preprocessing_is_tried_on_all_classes(folder: Path):
    """The first samples of class folders are of one class, of which a network that sees wrong images may be right."""
    seen: list[Array] = []

    def evaluate(outputs: Array, labels: Array) -> Array:
        seen.append(labels)
        return outputs.argmax(1) == labels

    count = int(held_out().sum())
    qdialect.quantize("m.onnx", "train", labels="folders", evaluate=evaluate)  # normalization is forgotten
    tried = [labels for labels in seen if len(labels) < count]
    assert tried
    assert all(set(labels) == set(seen[0]) for labels in tried)


def test_max_drop_is_of_the_metric(folder: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--data", "train.npz", "--labels", "key:y", "--max-drop", "4%", "--verbose"]
    assert main(["quantize", "m.onnx", "-o", "q.onnx", *words]) == 0
    said = capsys.readouterr().err
    assert by_hand("q.onnx") >= by_hand("m.onnx") - 0.04
    assert re.search(r"0 nodes in float: [0-9.]+ % predicted, [0-9.]+ % measured", said)
    assert "4% holds with" in said


def test_a_metric_that_falls_keeps_layers_in_float(folder: Path):
    """Of all that is not exactly the float model's, the metric says that it is worse, until nothing is in integers."""
    expected: list[Array] = []

    def exact(outputs: Array, labels: Array) -> float:
        expected.append(outputs)
        return 1.0 - float(np.abs(outputs - expected[0]).max())

    done = qdialect.quantize("m.onnx", "train.npz", labels="key:y", evaluate=exact, max_drop="0.0001%")
    assert done.scores is not None
    assert done.scores[1].value > 1 - 1e-6 or "is not reached" in done.limit[0]


def test_weights_alone_are_measured_too(folder: Path):
    done = qdialect.quantize(
        "m.onnx", "train.npz", labels="key:y", weights="int4", max_drop="0.5%", target="generic"
    )
    assert done.scores is not None
    assert done.scores[1].value >= done.scores[0].value - 0.005


def test_class_folders_are_offered(folder: Path):
    done = qdialect.quantize("m.onnx", "train", mean=MEAN, std=STD)
    assert "labels: 5 class folders; --labels folders measures top-1 by them" in done.summary()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--data train.npz --metric top5", "without --labels there is nothing to measure by: leave --metric out"),
        ("--profile p --labels folders", "without --data there are no samples that this applies to: leave --labels"),
        ("--random --labels folders", "--random reads no samples: leave --labels out"),
        ("--data train.npz --labels key:y --state a=b", "on samples on their own, not on those of a sequence"),
    ],
)  # fmt: skip
def test_options_without_effect_are_refused(words: str, says: str, capsys: pytest.CaptureFixture[str]):
    assert main(["quantize", "m.onnx", "-o", "q.onnx", *words.split()]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--labels key:z", "has no array 'z', it has x, y"),
        ("--labels folders", "the data has no class folders"),
        ("--labels key:y --metric miou", "a label is int64 scalar, not a class for each element of an image"),
        ("--labels key:y --metric top9", "there is no metric 'top9'"),
    ],
)
def test_labels_that_do_not_fit_end_in_one_line(
    words: str, says: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["quantize", "m.onnx", "-o", "q.onnx", "--data", "train.npz", *words.split()]) == 1
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not Path("q.onnx").exists()


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ({"metric": "top1"}, "metric needs labels"),
        ({"labels": "key:y", "metric": "top1", "evaluate": max}, "evaluate takes the place of metric"),
        ({"data": None, "profiles": "p", "labels": "key:y"}, "labels and evaluate need samples"),
        ({"labels": "key:y", "state": {"a": "b"}}, "samples on their own"),
    ],
)
def test_options_of_python_that_cannot_act_together(named: dict[str, object], says: str):
    with pytest.raises(UserError, match=says):
        qdialect.quantize("m.onnx", **{"data": [], **named})  # pyright: ignore[reportArgumentType]


def test_too_few_samples(folder: Path):
    one = {"x": normalized(pictures(1)[0]), "y": np.array([0])}
    with pytest.raises(UserError, match="of 1 samples, one half has to calibrate"):
        qdialect.quantize("m.onnx", [one], labels="key:y")
