"""What is written of the passes, and what the command line says of them, is true now."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from demo import IR, PASSES
from onnx import helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli import main, main_of_opt
from qdialect.measuring.timing import alternate
from qdialect.text.reading import read_text
from qdialect.transforms import NAMES

ROOT = Path(__file__).parents[3]


def test_pages_are_current():
    command = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert not done.returncode, done.stderr


def test_verbose_shows_each_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    model, out = ROOT / "examples" / "digits_qdq.onnx", tmp_path / "o.onnx"
    assert main(["compile", str(model), "-o", str(out), "--verbose"]) == 0
    shown = capsys.readouterr().err
    assert "sink-dequantize: " in shown
    assert "fuse-quantized + fold-pad + fold-activation: " in shown


def test_the_commands_of_the_tour_end_in_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Those that measure, on the model of the demo and what `compile` makes of it."""
    shutil.copy(ROOT / "examples" / "digits_qdq.onnx", tmp_path / "model.onnx")
    shutil.copy(ROOT / "examples" / "digits_test.npz", tmp_path / "inputs.npz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    assert main(["compile", "model.onnx", "-o", "int8.onnx", "--quiet"]) == 0
    lines = re.findall(r"^    \$ qdialect ((?:compare|bench) .*)$", (ROOT / "docs/tour.md").read_text(), re.M)
    assert len(lines) == 2
    for line in lines:
        assert main(line.split()) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith("verdict: ")


def test_the_example_of_the_demo_ends_without_casts():
    module = read_text(IR, "example", None)
    qdialect.run(module, PASSES)
    assert "quant.qcast" not in str(module)
    assert "quant.dcast" not in str(module)


def test_the_api_of_the_readme_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copy(ROOT / "examples" / "digits_qdq.onnx", tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    exec(code, {})
    assert Path("int8.onnx").stat().st_size < Path("model.onnx").stat().st_size


def commands_of_the_readme(program: str) -> list[list[str]]:
    """The words behind `program`, line by line, without comments and what reads the output."""
    lines = re.findall(rf"^    {program} (?!--help)(.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    return [shlex.split(re.split(r"   *#| \| ", line)[0]) for line in lines]


def small_float_model(path: Path) -> None:
    weight = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
    x, y = (helper.make_tensor_value_info(n, 1, [4, size]) for n, size in (("x", 6), ("y", 5)))
    onnx.save(onnx_model([node], [x], [y], {"w": weight}), path)


@pytest.mark.parametrize("words", commands_of_the_readme("qdialect"), ids=" ".join)
def test_the_commands_of_the_readme_work(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    example = ROOT / "examples"
    if words[0] == "quantize":
        small_float_model(Path("model.onnx"))
        np.savez("samples.npz", x=np.random.default_rng(2).normal(size=(64, 6)).astype(np.float32))
    else:
        for name in ("model.onnx", "int8.onnx"):
            shutil.copy(example / "digits_qdq.onnx", name)
        shutil.copy(example / "digits_test.npz", "inputs.npz")
    assert main(words) == 0
    assert all(Path(word).exists() for word in words if word.endswith((".onnx", ".mlir", ".html")))


@pytest.mark.parametrize("words", commands_of_the_readme("qdialect-opt"), ids=" ".join)
def test_the_passes_of_the_readme_run(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "digits_qdq.onnx", "model.onnx")
    Path("test.mlir").write_text(IR)
    assert main_of_opt(words) == 0


def test_the_text_of_the_page_is_read():
    """Each spelling of a constant that may stand in a text, and the lines of the page that are whole."""
    page = (ROOT / "docs" / "text.md").read_text()
    values = re.findall(r'`((?:#onnx\.tensor<[\["]|dense<).*?)`', page)
    values = [value for value in values if "weights" not in value and value != "#onnx.tensor<...>"]
    assert len(values) == 4
    for value in values:
        type = re.findall(r"tensor<[0-9x]+[a-z0-9]+>", value)[-1]
        read_text(f"%c = onnx.Constant() {{value = {value}}} : () -> {type}", "page", None)
    whole = [line for line in page.splitlines() if line.startswith("    %") and "(types)" not in line]
    assert len(whole) == 1
    read_text("\n".join(whole), "page", None)


def test_the_page_on_passes_says_why_each_ends():
    """Each pass is in the table of measures, by its name or by a prefix."""
    table = (
        (ROOT / "transforms" / "README.md")
        .read_text()
        .partition("| set | measure |\n")[2]
        .partition("\n\n")[0]
    )
    listed = [word for row in table.splitlines() for word in row.split("|")[1].replace(",", " ").split()]
    exact = {word for word in listed if not word.endswith("*")}
    prefixes = tuple(word[:-1] for word in listed if word.endswith("*"))
    assert exact - {"---"} <= {*NAMES}
    unsaid = [name for name in NAMES if name not in exact and not name.startswith(prefixes)]
    assert not unsaid, f"the table of measures in transforms/README.md has no row for {unsaid}"
