"""What a wheel holds is what the tree holds."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import qdialect

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def folders() -> set[str]:
    """Every package below `qdialect/`, `transforms/` under the name that it is imported by."""
    diagnostics = {p.parent for p in (ROOT / "qdialect").rglob("__init__.py") if "transforms" not in p.parts}
    return {".".join(p.relative_to(ROOT).parts) for p in diagnostics} | {"qdialect.transforms"}


def test_every_package_is_in_the_wheel():
    listed = set(PROJECT["tool"]["setuptools"]["packages"])
    assert not folders() - listed, "add the package to `packages` of pyproject.toml"
    assert not listed - folders(), "the package is gone: remove it from `packages` of pyproject.toml"


def test_every_data_file_is_in_the_wheel():
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for folder in folders():
        place = ROOT / folder.replace(".", "/") if folder != "qdialect.transforms" else ROOT / "transforms"
        others = [p for p in place.iterdir() if p.is_file() and p.suffix not in (".py", ".md")]
        patterns = data.get(folder, [])
        assert not [p.name for p in others if not any(p.match(pattern) for pattern in patterns)], folder


def test_transforms_are_one_package():
    """By a link in a checkout: a second import path would make a second set of classes."""
    assert (Path(qdialect.__file__).parent / "transforms").resolve() == ROOT / "transforms"
    assert not any(name == "transforms" or name.startswith("transforms.") for name in sys.modules)


def test_every_entry_point_is_there():
    scripts = PROJECT["project"]["scripts"].values()
    for target in (*scripts, *PROJECT["project"]["entry-points"]["xdsl.universe"].values()):
        module, _, name = target.partition(":")
        assert hasattr(import_module(module), name)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as its wheel installs it."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("qdialect", "transforms"):
        ignored = shutil.ignore_patterns("__pycache__", *(["transforms"] if name == "qdialect" else []))
        shutil.copytree(ROOT / name, folder / "tree" / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "tree")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(folder / "site"), str(folder / "tree")]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return folder / "site"


@pytest.mark.parametrize("file", ["Makefile", "CONTRIBUTING.md"])
def test_an_editable_install_is_found_by_editors(file: str, tmp_path: Path):
    """By a path in site-packages: type checkers run none of the hooks that setuptools writes by default."""
    (words,) = re.findall(
        r"pip install (.*) --editable '\.\[dev\]'$", (ROOT / file).read_text(), re.MULTILINE
    )
    for name in ("pyproject.toml", "README.md", "LICENSE", "qdialect", "transforms"):
        (tmp_path / name).symlink_to(ROOT / name)
    pip = [sys.executable, "-m", "pip", "install", *words.split(), "--quiet", "--no-index", "--no-deps"]
    pip += ["--no-build-isolation", "--ignore-installed"]  # else pip uninstalls the package under test
    pip += ["--prefix", str(tmp_path / "env"), "--editable", str(tmp_path)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    (path,) = (tmp_path / "env").rglob("*.pth")
    assert path.read_text().splitlines() == [str(tmp_path)]


def test_the_wheel_has_the_version_of_the_package(installed: Path):
    """Which is said once, in `qdialect/__init__.py`."""
    assert [p.name for p in installed.glob("*.dist-info")] == [f"qdialect-{qdialect.__version__}.dist-info"]


WRONG = """
import qdialect

qdialect.compile("m.onnx", integer_oi=True)
qdialect.compile("m.onnx", keep_float=3)
qdialect.quantize("m.onnx", [], memory="1G")
qdialect.explain(3)
"""


def test_the_example_is_strictly_typed_against_the_wheel(installed: Path, tmp_path: Path):
    """What is misspelt, or of another type, is an error in the line that says it."""
    shutil.copy(ROOT / "examples" / "embed.py", tmp_path)
    (tmp_path / "wrong.py").write_text(WRONG)
    settings = {
        "typeCheckingMode": "strict",
        "extraPaths": [str(installed)],
        "include": ["embed.py", "wrong.py"],
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [Path(sys.executable).parent / "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "-p", tmp_path], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    diagnostics = json.loads(done.stdout)["generalDiagnostics"]
    places = [(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in diagnostics]
    assert places == [("wrong.py", line) for line in (4, 5, 6, 7)], diagnostics


def test_the_example_runs_on_the_wheel(installed: Path):
    command = [sys.executable, ROOT / "examples" / "embed.py", ROOT / "examples" / "digits_qdq.onnx"]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"qdialect {qdialect.__version__}: 23 quantized tensors\n")
    assert "multiply-adds" in done.stdout
    assert "QLinearConv" in done.stdout.splitlines()[-1]
