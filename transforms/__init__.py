"""Registry of the passes by name, each imported on first use."""

from collections.abc import Callable
from importlib import import_module
from os import listdir

from xdsl.passes import ModulePass

_FILES = sorted(name for name in listdir(__path__[0]) if name.endswith(".py") and name != "__init__.py")
NAMES = tuple(name.removesuffix(".py").replace("_", "-") for name in _FILES)
"""A flag for each module of this folder."""


def _load(name: str) -> type[ModulePass]:
    module = import_module(f"qdialect.transforms.{name.replace('-', '_')}")
    pass_class = getattr(module, "".join(word.capitalize() for word in name.split("-")) + "Pass")
    assert issubclass(pass_class, ModulePass)
    return pass_class


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Factories of the passes by flag, which is also the name of the pass's file and test."""
    return {name: lambda name=name: _load(name) for name in NAMES}
