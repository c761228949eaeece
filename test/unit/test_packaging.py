"""What a wheel holds is what the tree holds."""

import sys
import tomllib
from importlib import import_module
from pathlib import Path

import qdialect

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def folders() -> set[str]:
    """Every package below `qdialect/`, `transforms/` under the name that it is imported by."""
    found = {p.parent for p in (ROOT / "qdialect").rglob("__init__.py") if "transforms" not in p.parts}
    return {".".join(p.relative_to(ROOT).parts) for p in found} | {"qdialect.transforms"}


def test_every_package_is_in_the_wheel():
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == folders()


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
