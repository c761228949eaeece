"""Registry of the passes by name, each imported on first use."""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from xdsl.passes import ModulePass

NAMES = tuple(sorted(one.name.replace("_", "-") for one in iter_modules(__path__)))
"""A flag for each module of this folder."""


def _load(name: str) -> type[ModulePass]:
    module = import_module(f"qdialect.transforms.{name.replace('-', '_')}")
    pass_class = getattr(module, "".join(word.capitalize() for word in name.split("-")) + "Pass")
    assert issubclass(pass_class, ModulePass)
    return pass_class


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Factories of the passes by flag, which is also the name of the pass's file and test."""
    return {name: lambda name=name: _load(name) for name in NAMES}
