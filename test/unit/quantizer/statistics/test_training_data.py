"""Preprocessing other than that of the training is told from the right one, by the model's outputs alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import image_classifier
import numpy as np
import numpy.typing as npt
import onnx
import pytest
from image_classifier import pictures, trained, write_folders
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import qdialect
from qdialect.cli import main
from qdialect.data.preprocessing import PRESETS, Preprocessing
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.statistics.training_data import (
    MAX_TRIED_SAMPLES,
    MIN_TRIED_SAMPLES,
    decisions,
    images_of,
    logits_of,
    signs,
    swapped,
)

Array = npt.NDArray[Any]
RIGHT = replace(PRESETS["imagenet"], ratio=None)
WRONG = {
    "forgotten": PRESETS["unit"],
    "0..255": PRESETS["bytes"],
    "swapped": swapped(RIGHT),
    "other mean and std": PRESETS["tf"],
}
TINT = np.array([1.0, 0.8, 0.4])


def tinted(count: int, seed: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Pictures whose channels differ, as those of nature."""
    images, classes = pictures(count, seed)
    return np.rint(images * TINT + 60 * (1 - TINT)).astype(np.uint8), classes


@pytest.fixture(scope="module")
def classifier() -> Iterator[onnx.ModelProto]:
    """Trained on tinted pictures with ImageNet's mean and std."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image_classifier, "pictures", tinted)
        yield trained()


def fed(images: npt.NDArray[np.uint8], how: Preprocessing) -> list[dict[str, Array]]:
    """One row for each image."""
    pixels = images[..., ::-1] if how.bgr else images
    values = (pixels / 255 * how.range - np.array(how.mean)) / np.array(how.std)
    return [{"x": one[None].transpose(0, 3, 1, 2).astype(np.float32)} for one in values]


def loaded(model: onnx.ModelProto) -> ModuleOp:
    """A module; importing takes the tensors out of the message."""
    return import_model(onnx.ModelProto.FromString(model.SerializeToString()))


def said(model: onnx.ModelProto, how: Preprocessing, count: int = MAX_TRIED_SAMPLES) -> list[str]:
    """The warnings for `count` images."""
    module, rows = loaded(model), fed(tinted(count, 9)[0], how)
    return signs(module, rows, images_of(module, rows, how))


def normalized(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with a BatchNormalization of the inputs' own moments in training, which changes nothing else."""
    rows = np.concatenate([row["x"] for row in fed(tinted(60, 2)[0], RIGHT)]).astype(np.float64)
    mean, variance = rows.mean((0, 2, 3)), rows.var((0, 2, 3))
    tensors = {"mean": mean, "variance": variance, "gamma": np.sqrt(variance), "beta": mean}
    model = onnx.ModelProto.FromString(model.SerializeToString())
    for name, one in tensors.items():
        model.graph.initializer.append(numpy_helper.from_array(one.astype(np.float32), name))
    inputs = ["x", "gamma", "beta", "mean", "variance"]
    node = helper.make_node("BatchNormalization", inputs, ["n"], "norm", epsilon=0.0)
    model.graph.node[0].input[0] = "n"
    model.graph.node.insert(0, node)
    return model


def test_the_right_preprocessing_is_not_warned_about(classifier: onnx.ModelProto) -> None:
    assert not said(classifier, RIGHT)
    assert not said(normalized(classifier), RIGHT)


@pytest.mark.parametrize("how", WRONG)
def test_a_classifier_decides_more_clearly_on_what_it_was_trained_on(
    classifier: onnx.ModelProto, how: str
) -> None:
    (line,) = said(classifier, WRONG[how])
    assert "decides far more clearly" in line
    assert "as 'imagenet' has it" in line
    assert ("in the order RGB" in line) == (how == "swapped")


@pytest.mark.parametrize("how", WRONG)
def test_running_statistics_name_the_preprocessing_of_training(classifier: onnx.ModelProto, how: str) -> None:
    (line,) = said(normalized(classifier), WRONG[how])
    assert "running means and variances" in line
    assert "as 'imagenet' has it" in line


def test_few_images_say_nothing_of_decisions(classifier: onnx.ModelProto) -> None:
    assert not said(classifier, PRESETS["unit"], MIN_TRIED_SAMPLES - 1)


@pytest.mark.parametrize(("scale", "is_told"), [(1.0, False), (100.0, True)])
def test_arrays_far_from_the_running_statistics_are_named(
    classifier: onnx.ModelProto, scale: float, is_told: bool
) -> None:
    module = loaded(normalized(classifier))
    rows = [{"x": row["x"] * np.float32(scale)} for row in fed(tinted(20, 9)[0], RIGHT)]
    lines = signs(module, rows, images_of(module, rows, None))
    assert [("in front of 'norm'" in line and "how the inputs are scaled" in line) for line in lines] == (
        [True] if is_told else []
    )


def test_arrays_of_bytes_are_told_by_their_range(classifier: onnx.ModelProto) -> None:
    module, rows = loaded(classifier), fed(tinted(MAX_TRIED_SAMPLES, 9)[0], PRESETS["bytes"])
    (line,) = signs(module, rows, images_of(module, rows, None))
    assert "as 'imagenet' has it" in line


def test_clarity_does_not_depend_on_scale_and_falls_where_one_class_takes_all() -> None:
    logits = np.random.default_rng(0).normal(size=(40, 10))
    assert decisions(logits * 255) == pytest.approx(decisions(logits))
    assert decisions(logits + 9 * np.eye(10)[3]).clarity == 0
    assert decisions(np.zeros((40, 10))).clarity == 0


def test_images_of_one_class_are_not_warned_about(classifier: onnx.ModelProto) -> None:
    images, classes = tinted(300, 9)
    for one in range(image_classifier.CLASSES):
        module, rows = loaded(classifier), fed(images[classes == one][:MAX_TRIED_SAMPLES], RIGHT)
        assert not signs(module, rows, images_of(module, rows, RIGHT))


def test_shares_are_read_as_logits_and_few_numbers_as_no_classes() -> None:
    shares = np.array([[0.25, 0.75]], np.float32)
    found = logits_of([{"boxes": np.zeros((1, 9, 4), np.float32), "shares": shares}])
    assert found is not None
    assert np.allclose(np.exp(found), shares)
    assert logits_of([{"box": np.array([[3.0, 4.0, 5.0, 6.0]], np.float32)}]) is None
    assert logits_of([{"chosen": np.array([[1, 2, 3, 4, 5]])}]) is None


@pytest.mark.parametrize("labels", [[], ["--labels", "folders"]], ids=["without labels", "with labels"])
@pytest.mark.parametrize("how", ["right", "forgotten", "0..255"])
def test_quantize_warns_of_forgotten_preprocessing(
    classifier: onnx.ModelProto,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    how: str,
    labels: list[str],
) -> None:
    onnx.save(classifier, str(tmp_path / "model.onnx"))
    write_folders(tmp_path / "images", *tinted(80, 9))
    mean, std = (",".join(map(str, numbers)) for numbers in (RIGHT.mean, RIGHT.std))
    flags = {"right": ["--mean", mean, "--std", std], "forgotten": [], "0..255": ["--preprocess", "bytes"]}
    data = ["--data", str(tmp_path / "images"), *flags[how], *labels]
    assert main(["quantize", str(tmp_path / "model.onnx"), *data, "-o", str(tmp_path / "out.onnx")]) == 0
    lines = [line for line in "".join(capsys.readouterr()).splitlines() if "was it trained so?" in line]
    assert len(lines) == (how != "right")
    if lines:
        assert "as 'imagenet' has it" in lines[0]
        assert ("is better on" if labels else "decides far more clearly on") in lines[0]


def test_python_has_the_warning(classifier: onnx.ModelProto) -> None:
    done = qdialect.quantize(
        classifier.SerializeToString(), fed(tinted(MAX_TRIED_SAMPLES, 9)[0], PRESETS["bytes"])
    )
    assert any("was it trained so?" in line for line in done.doubts)
