"""Images as calibration data: what becomes of their pixels, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model
from PIL import Image

from qdialect.cli import main
from qdialect.quantizer.statistics.profile import load_profile

Array = npt.NDArray[Any]
HEIGHT, WIDTH, COUNT = 6, 9, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def write_model(path: Path, layout: str, channels: int = 3, element: int = TensorProto.FLOAT) -> str:
    """A sum over the channels of images of one size."""
    sizes = {"N": "n", "C": channels, "H": HEIGHT, "W": WIDTH}
    rows = [sizes[axis] for axis in layout]
    weight = np.random.default_rng(4).normal(size=(WIDTH if layout == "NCHW" else channels, 8))
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["f", "w"], ["y"]),
    ]
    onnx.save(
        onnx_model(nodes, {"x": (element, rows)}, {"y": None}, {"w": weight.astype(np.float32)}), str(path)
    )
    return str(path)


def pixels(channels: int = 3) -> Array:
    """(count, height, width, channels)"""
    return np.random.default_rng(3).integers(0, 256, (COUNT, HEIGHT, WIDTH, channels), np.uint8)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for k, one in enumerate(pixels()):
        Image.fromarray(one).save(folder / f"{k}.png")
    return folder


def profile(model: str, data: Path, *words: str) -> bytes:
    """What a profile holds, apart from how images became samples."""
    out = data.parent / "out"
    command = [
        "quantize",
        model,
        "--data",
        str(data),
        "--save-profile",
        f"{out}.p",
        "-o",
        f"{out}.onnx",
        "--quiet",
    ]
    assert main([*command, *words]) == 0
    found = load_profile(f"{out}.p")
    found.preprocessing = ""
    return found.to_bytes()


def arrays(folder: Path, values: Array) -> Path:
    np.savez(folder / "arrays.npz", x=values)
    return folder / "arrays.npz"


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_the_layout_is_the_models(layout: str, images: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m.onnx", layout)
    values = pixels().astype(np.float32) / 255
    values = values.transpose(0, 3, 1, 2) if layout == "NCHW" else values
    expected = profile(model, arrays(tmp_path, values))
    assert profile(model, images) == expected
    assert profile(model, images, "--layout", layout) == expected


def test_mean_and_std_of_each_channel(images: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW")
    values = (pixels().astype(np.float32) / 255 - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    words = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
    assert profile(model, images, *words) == profile(model, arrays(tmp_path, values.transpose(0, 3, 1, 2)))
    assert profile(model, images, *words) != profile(model, images, *words[:2])


def test_one_channel_is_gray(tmp_path: Path) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW", channels=1)
    folder = tmp_path / "gray"
    folder.mkdir()
    for k, one in enumerate(pixels(1)):
        Image.fromarray(one[:, :, 0]).save(folder / f"{k}.bmp")
    values = pixels(1).astype(np.float32) / 255
    assert profile(model, folder) == profile(model, arrays(tmp_path, values.transpose(0, 3, 1, 2)))


def test_integers_are_pixels(images: Path, tmp_path: Path) -> None:
    model = write_model(tmp_path / "m.onnx", "NHWC", element=TensorProto.UINT8)
    assert profile(model, images) == profile(model, arrays(tmp_path, pixels()))


def test_another_size_is_brought_to_the_models(tmp_path: Path) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW")
    folder = tmp_path / "large"
    folder.mkdir()
    Image.fromarray(np.full((3 * HEIGHT, 2 * WIDTH, 3), 51, np.uint8)).save(folder / "a.png")
    values = np.full((1, 3, HEIGHT, WIDTH), 0.2, np.float32)
    assert profile(model, folder) == profile(model, arrays(tmp_path, values))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mean", "0.5,0.4"], "--mean has 2 numbers, the images have 3 channels"),
        (["--std", "1,1,1,1"], "--std has 4 numbers, the images have 3 channels"),
    ],
)
def test_numbers_that_do_not_fit(
    words: list[str], message: str, images: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW")
    refused(["--data", str(images), *words], model, message, capsys)


def test_arrays_are_not_normalized(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW")
    data = arrays(tmp_path, np.zeros((1, 3, HEIGHT, WIDTH), np.float32))
    refused(
        ["--data", str(data), "--mean", "0.5"],
        model,
        "apply to image files only",
        capsys,
    )
    refused(
        ["--data", "data:samples", "--std", "0.5"],
        model,
        "apply to image files only",
        capsys,
    )


def refused(words: list[str], model: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = Path(model).with_name("never.onnx")
    assert main(["quantize", model, "-o", str(out), *words]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_what_is_no_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_model(tmp_path / "m.onnx", "NCHW")
    (tmp_path / "a.png").write_bytes(b"\x89PNG no image")
    refused(["--data", str(tmp_path / "a.png")], model, "is not an image that Pillow reads", capsys)


def test_without_pillow(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    model = write_model(tmp_path / "m.onnx", "NCHW")
    refused(["--data", str(images)], model, "images need Pillow", capsys)
