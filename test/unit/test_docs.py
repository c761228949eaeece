"""What is written of the passes, and what the command line says of them, is true now."""

import subprocess
import sys
from pathlib import Path

import pytest
from demo import IR, PASSES

import qdialect
from qdialect.cli import main
from qdialect.text.reading import read_text

ROOT = Path(__file__).parents[2]


def test_pages_are_current():
    command = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert not done.returncode, done.stderr


def test_verbose_shows_each_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model, out = ROOT / "examples" / "digits_qdq.onnx", tmp_path / "o.onnx"
    assert main(["compile", str(model), "-o", str(out), "--verbose"]) == 0
    shown = capsys.readouterr().err
    assert "sink-dequantize: " in shown
    assert "fuse-quantized: " in shown


def test_the_example_of_the_demo_ends_without_casts():
    module = read_text(IR, "example", None)
    qdialect.run(module, PASSES)
    assert "quant.qcast" not in str(module)
    assert "quant.dcast" not in str(module)
