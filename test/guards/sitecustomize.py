"""
Record which guards return a reason: python imports this first of all where the folder is on PYTHONPATH.

The compiler itself knows nothing of it. Its modules are compiled from instrumented syntax trees, and the byte code is
kept in a cache of its own, so that a run costs what it costs without.
"""

import builtins
import os
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "build" / "guards" / "returned.txt"
FOLDERS = tuple(f"{ROOT / name}{os.sep}" for name in ("qdialect", "transforms"))

_seen: set[str] = set()


def record(place: str, reason: Any) -> Any:
    """Write a line the first time in a process, at once: a process may be killed or replaced."""
    if place not in _seen:
        _seen.add(place)
        with RECORDED.open("a") as file:
            file.write(f"{place}\n")
    return reason


def record_none(place: str, value: Any) -> Any:
    """Likewise if `value` is None."""
    return record(place, value) if value is None else value


class Recording(SourceFileLoader):
    """Loads the project's modules instrumented, and all others as ever."""

    def get_code(self, fullname: str) -> CodeType | None:
        if not os.path.realpath(self.path).startswith(FOLDERS):
            return super().get_code(fullname)
        before, sys.pycache_prefix = sys.pycache_prefix, str(RECORDED.parent)
        try:
            return super().get_code(fullname)
        finally:
            sys.pycache_prefix = before

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        real = Path(os.path.realpath(path))
        if isinstance(data, bytes) and str(real).startswith(FOLDERS):
            from guard_places import instrumented  # only where the cache has not the module

            data = instrumented(real, data)[0]
        return super().source_to_code(data, path, _optimize=_optimize)


def install() -> None:
    """Load what is imported from now on with `Recording`."""
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    builtins.__dict__.update(__guard__=record, __guard_of_none__=record_none)
    finder = FileFinder.path_hook(
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (Recording, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
    sys.path_hooks.insert(0, finder)
    sys.path_importer_cache.clear()


install()
