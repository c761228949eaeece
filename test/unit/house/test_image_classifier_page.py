"""docs/image-classifier.md: its commands run on a made model and class folders, and print what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import onnx
import pytest
from image_classifier import pictures, trained, write_folders

from qdialect.cli import main
from qdialect.measuring.timing import alternate

PAGE = (Path(__file__).parents[3] / "docs" / "image-classifier.md").read_text()
SHOWN = re.findall(r"^    \$ qdialect (.*)\n((?:    (?!\$).*\n)*)", PAGE, re.MULTILINE)
"""Each command with the lines below it."""


def without_numbers(line: str) -> str:
    return re.sub(r"[\d.]+", "N", line)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    onnx.save(trained(), "model.onnx")
    for name, seed in (("train", 3), ("val", 4)):
        write_folders(tmp_path / "images" / name, *pictures(80, seed, noise=45.0))
    return tmp_path


def test_the_commands_of_the_page_print_what_it_shows(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert [command.split()[0] for command, _ in SHOWN] == ["quantize", "compare", "bench", "quantize"]
    for command, shown in SHOWN:
        assert main(command.split()) == 0, command
        printed = [without_numbers(line) for line in "".join(capsys.readouterr()).splitlines()]
        for line in map(str.strip, shown.splitlines()):
            begins = re.split(r"N (?:dB|x faster)|: N samples|; close|; 'int8", without_numbers(line))[0]
            assert line == "..." or any(one.startswith(begins) for one in printed), (line, printed)
    assert (folder / "report.html").exists()


def test_the_forgotten_normalization_of_the_page_is_told(folder: Path, capsys: pytest.CaptureFixture[str]):
    words = SHOWN[0][0].replace("--preprocess imagenet ", "").split()
    assert main(words) == 0
    assert "warning: the model is better on images with mean 0.485,0.456,0.406" in capsys.readouterr().err


def test_the_export_of_the_page_is_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (text,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    code = compile(text, "docs/image-classifier.md", "exec")
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("onnxscript")
    monkeypatch.chdir(tmp_path)
    exec(code, {"network": torch.nn.Conv2d(3, 4, 3)})
    assert Path("model.onnx").exists()
