"""Unit tests are where their subject is, and use what is public."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qdialect.transforms import NAMES

ROOT = Path(__file__).parents[3]
UNIT = ROOT / "test" / "unit"
FILES = sorted(UNIT.rglob("*.py"))
OF_ALL_PASSES = "reasons"
"""The table of reasons, sorted by pass."""
FOREIGN = ("_actions", "_asdict", "_exit", "_make", "_replace", "_repr_html_")
"""Private by name, and documented by Python, or all that argparse has."""


def relative(path: Path) -> str:
    return str(path.relative_to(UNIT))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_folder_is_a_package(path: Path):
    folder = path.parent.relative_to(UNIT)
    assert str(folder) == "house" or (ROOT / "qdialect" / folder).is_dir()


def test_a_test_of_a_pass_begins_with_its_name():
    names = tuple(name.replace("-", "_") for name in NAMES)
    stems = [path.stem.removeprefix("test_") for path in (UNIT / "transforms").glob("*.py")]
    strangers = [s for s in stems if not any(s == n or s.startswith(f"{n}_") for n in names)]
    assert strangers == [OF_ALL_PASSES]


def private_names(tree: ast.Module) -> Iterator[str]:
    """What a test takes of a module of the package, by names that begin with an underscore."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (a.name for a in node.names if re.match(r"_[^_]", a.name))
        elif isinstance(node, ast.Attribute) and re.match(r"_[^_]", node.attr):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not is_own and node.attr not in own and node.attr not in FOREIGN:
                yield node.attr


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_test_uses_public_names(path: Path):
    """What is worth a test of its own is worth a name without an underscore."""
    assert not list(private_names(ast.parse(path.read_text())))


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_test_imports_no_test(path: Path):
    """What tests share is in `test/support`."""
    assert not re.search(r"^\s*(?:from|import) test_", path.read_text(), re.MULTILINE)
