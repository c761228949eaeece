"""The commands and snippets of docs/accuracy.md run, on models and data that a test makes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from image_classifier import normalized, pictures, trained, write_folders
from made_vision import write_all

from qdialect.cli import main
from qdialect.measuring.timing import alternate

PAGE = (Path(__file__).parents[3] / "docs" / "accuracy.md").read_text()


def commands(heading: str) -> list[list[str]]:
    """The words behind `qdialect` of each command below a heading, the page's own head for the title."""
    part = PAGE.split(f"# {heading}\n", 1)[1].split("\n## ")[0]
    return [line.split() for line in re.findall(r"^    (?:\$ )?qdialect (.*)$", part, re.MULTILINE)]


def snippets() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    return tmp_path


def lines_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(words) == 0, words
    return "".join(capsys.readouterr()).splitlines()


def test_classes(folder: Path, capsys: pytest.CaptureFixture[str]):
    onnx.save(trained(), "model.onnx")
    for name, seed in (("train", 3), ("val", 4)):
        write_folders(folder / "images" / name, *pictures(60, seed))
    quantize, compare, bench = commands("Accuracy")
    assert lines_of(quantize, capsys)[0].startswith("top-1 ")
    for words in (compare, bench):
        assert lines_of(words, capsys)[-1].startswith("verdict: top-1 ")


def test_a_function_in_python(folder: Path, capsys: pytest.CaptureFixture[str]):
    onnx.save(trained(), "model.onnx")
    images, classes = pictures(60, 3)
    np.savez("samples.npz", x=normalized(images), y=classes)
    exec(snippets()[0], {})
    assert capsys.readouterr().out.startswith("right ")


def test_detection(folder: Path, capsys: pytest.CaptureFixture[str]):
    write_all(folder)
    Path("detection.py").write_text(snippets()[1])
    quantize, compare, with_function = commands("Detection")
    first = lines_of(quantize, capsys)[0]
    found = re.match(r"mAP ([\d.]+) % -> ([\d.]+) % \(\d+ samples, ±", first)
    assert found
    assert float(found[1]) > 90
    assert float(found[2]) > 85
    assert lines_of(compare, capsys)[-1].startswith("verdict: mAP ")
    assert lines_of(with_function, capsys)[-1].startswith("verdict: found 1 -> 1 (40 samples")


def test_segmentation(folder: Path, capsys: pytest.CaptureFixture[str]):
    write_all(folder)
    quantize, compare = commands("Segmentation")
    first = lines_of(quantize, capsys)[0]
    found = re.match(r"mIoU ([\d.]+) % -> ([\d.]+) % \(\d+ images, ±", first)
    assert found
    assert float(found[1]) > 80
    assert abs(float(found[1]) - float(found[2])) < 5
    assert lines_of(compare, capsys)[-1].startswith("verdict: mIoU ")
    shutil.rmtree("masks")
    assert main(compare) == 1
    assert "is not an image that Pillow reads" in capsys.readouterr().err
