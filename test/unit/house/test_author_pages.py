"""The pages that build a pass and add an op or a runtime: their blocks, on a copy of the tree, give green tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(?!diff)\w+\n(?:#|//) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


CHANGE = re.compile(r"^```diff\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copied(folder: Path, *more: str) -> Path:
    """A copy of what an author works in."""
    for name in ("qdialect", "transforms", *more):
        shutil.copytree(
            ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "lit.cfg.py", folder)
    (folder / "test").mkdir(exist_ok=True)
    shutil.copy(ROOT / "test" / "in_process.py", folder / "test")
    (folder / "test" / "support").mkdir(exist_ok=True)
    shutil.copy(ROOT / "test" / "support" / "declared_reasons.py", folder / "test" / "support")
    if not (folder / "test" / "lit.cfg.py").exists():
        (folder / "test" / "lit.cfg.py").symlink_to(folder / "lit.cfg.py")
    return folder


def written(folder: Path, page: str) -> None:
    """
    Write the files of a page's blocks, and rows into a table that is in order. A tree in which someone followed the
    page has them: it stays as it is.
    """
    for name, text in BLOCK.findall(page):
        file = folder / name
        if file.suffix == ".toml" and file.exists():
            rows = re.search(r'^(".*\n)+', file.read_text(), re.MULTILINE)  # the first table
            assert rows is not None
            new = sorted({*rows[0].splitlines(keepends=True), *text.splitlines(keepends=True)})
            file.write_text(file.read_text().replace(rows[0], "".join(new)))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


def changed(folder: Path, page: str) -> None:
    """Change files as a page's diffs say: a line that is there once, and what comes behind it or in its place."""
    for name, text in CHANGE.findall(page):
        file, (head, *added) = folder / name, text.splitlines(keepends=True)
        assert all(line.startswith("+") for line in added)
        if "".join(line[1:] for line in added) in file.read_text():
            continue  # in a tree in which someone followed the page
        assert file.read_text().count(f"\n{head[1:]}") == 1, head
        kept = head[1:] if head.startswith(" ") else ""
        new = kept + "".join(line[1:] for line in added)
        file.write_text(file.read_text().replace(f"\n{head[1:]}", f"\n{new}"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what a pass author works in, with the page's blocks applied."""
    folder = copied(tmp_path, "test/support")
    page = (DOCS / "writing-a-pass.md").read_text()
    written(folder, page)
    changed(folder, page)
    return folder


def run(tree: Path, *command: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_page_builds_a_pass(tree: Path):
    scripts = Path(sys.executable).parent
    run(tree, str(scripts / "lit"), "-q", "test/transforms/scale-dequantize.mlir")
    shutil.copy(ROOT / "pyproject.toml", tree)
    test = "test/unit/transforms/test_scale_dequantize.py"
    assert "4 passed" in run(tree, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    text = run(tree, sys.executable, "-m", "qdialect.cli.opt", "--help")
    assert "scale-dequantize" in text
    for reason in re.findall(r'Blocked\("([a-z-]+)"', (tree / "transforms/scale_dequantize.py").read_text()):
        assert f"{reason}: " in run(tree, sys.executable, "-m", "qdialect.cli", "explain", reason)


def test_a_wrong_factor_is_named(tree: Path):
    """What the page says of `--check-numerics`."""
    file = tree / "transforms" / "scale_dequantize.py"
    file.write_text(
        file.read_text().replace("np.float32(scaling.factor)", "np.float32(scaling.factor * 1.01)")
    )
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


@pytest.fixture(scope="module")
def with_op(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the blocks of the page that adds an op."""
    folder = copied(tmp_path_factory.mktemp("op"), "docs", "test/support", "test/unit")
    page = (DOCS / "adding-an-op.md").read_text()
    written(folder, page)
    changed(folder, page)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def lines_of(tree: Path) -> dict[str, int]:
    """How many lines were added to which files."""
    files = [p.relative_to(tree) for folder in ("qdialect", "test") for p in (tree / folder).rglob("*.*")]
    added: dict[str, int] = {}
    for name in files:
        new, old = (tree / name).read_bytes(), (ROOT / name).read_bytes() if (ROOT / name).exists() else b""
        if new != old and name.suffix in (".py", ".toml", ".mlir") and name.name != "lit.cfg.py":
            added[str(name)] = new.count(b"\n") - old.count(b"\n")
    return added


def tried(tree: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "test/unit/promises/test_promises.py",
    ]
    command += ["-k", " or ".join(names)]
    environment = os.environ | {"PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def test_the_page_adds_an_op(with_op: Path):
    """Casts move past it in text and on numbers, per tensor and per axis; nothing else is touched."""
    scripts = Path(sys.executable).parent
    run(with_op, str(scripts / "lit"), "-q", "test/transforms/sink-dequantize/expand-dims.mlir")
    run(with_op, sys.executable, "docs/generate.py")
    done = tried(with_op, "ExpandDims", "every_promise", "every_op")
    assert " passed" in done.stdout, done.stdout
    assert not done.returncode, done.stdout
    if "ExpandDims" in (ROOT / "qdialect/promises/layout.py").read_text():
        return  # someone followed the page in this tree
    assert lines_of(with_op) == {
        "qdialect/promises/layout.py": 16,
        "qdialect/targets/onnxruntime.toml": 1,
        "test/transforms/sink-dequantize/expand-dims.mlir": 21,
        "test/support/promise_cases.py": 1,
    }


def test_a_rule_that_is_wrong_per_axis_is_named(with_op: Path):
    """What the page says of `same`."""
    file = with_op / "qdialect" / "promises" / "layout.py"
    right = file.read_text()
    file.write_text(right.replace("layout(_expand_forward, _expand_backward,", "layout(same, same,"))
    done = tried(with_op, "ExpandDims")
    file.write_text(right)
    assert done.returncode == 1
    assert "ExpandDims" in done.stdout


def test_the_page_adds_a_runtime(tmp_path: Path):
    """A folder, a target and their tests; of the compiler nothing is touched."""
    folder = copied(tmp_path, "docs", "test/support", "test/transforms", "test/unit")
    shutil.copy(ROOT / "pyproject.toml", folder)
    page = (DOCS / "adding-a-runtime.md").read_text()
    written(folder, page)
    changed(folder, page)
    run(folder, sys.executable, "docs/generate.py")
    assert "## Sessions of edge" in (folder / "docs" / "targets.md").read_text()
    tests = "test/unit/runtimes/edge", "test/unit/runtimes/test_rules.py", "test/unit/house/test_packaging.py"
    done = run(
        folder, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests,
        "-k", "edge or every_package",
    )  # fmt: skip
    assert "5 passed" in done, done
    if not (ROOT / "qdialect/runtimes/edge").exists():  # nobody followed the page in this tree
        assert sorted(lines_of(folder)) == [
            "qdialect/runtimes/edge/__init__.py",
            "qdialect/runtimes/edge/rules.py",
            "qdialect/targets/edge.toml",
            "test/unit/runtimes/edge/test_rules.py",
        ]
