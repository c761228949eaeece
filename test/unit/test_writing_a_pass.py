"""The page that builds a pass from nothing: its blocks, on a copy of the tree, give green tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "writing-a-pass.md"
BLOCK = re.compile(r"^```\w+\n(?:#|//) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what a pass author works in, with the page's blocks applied."""
    for name in ("qdialect", "transforms"):
        shutil.copytree(
            ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "lit.cfg.py", tmp_path)
    (tmp_path / "test" / "transforms").mkdir(parents=True)
    (tmp_path / "test" / "lit.cfg.py").symlink_to(tmp_path / "lit.cfg.py")
    for name, text in BLOCK.findall(PAGE.read_text()):
        file = tmp_path / name
        if file.exists():  # lines for a list that is in order
            lines = file.read_text().splitlines(keepends=True)
            at = next(k for k, line in enumerate(lines) if line.startswith('    "') and line > text)
            lines.insert(at, text)
            file.write_text("".join(lines))
        else:
            file.write_text(text)
    return tmp_path


def run(tree: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_page_builds_a_pass(tree: Path):
    scripts = Path(sys.executable).parent
    run(tree, str(scripts / "lit"), "-q", "test/transforms/scale-dequantize.mlir")
    text = run(tree, sys.executable, "-m", "qdialect.cli.opt", "--help")
    assert "scale-dequantize" in text


def test_a_wrong_factor_is_named(tree: Path):
    """What the page says of `--check-numerics`."""
    file = tree / "transforms" / "scale_dequantize.py"
    file.write_text(file.read_text().replace("np.float32(found.factor)", "np.float32(found.factor * 1.01)"))
    model = tree / "model.mlir"
    model.write_text("""
      func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
        %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.5:13>>
        %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:13>> to tensor<2x3xf32>
        %k = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
        %y = onnx.Mul(%r, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
        func.return %y : tensor<2x3xf32>
      }""")
    command = [
        sys.executable,
        "-m",
        "qdialect.cli.opt",
        "model.mlir",
        "-p",
        "scale-dequantize",
        "--check-numerics",
    ]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pass 'scale-dequantize' is not exact" in done.stderr
