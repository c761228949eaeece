"""Modules that a command's process executes when they are read: packages import more than most processes need."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

RARELY_READ = (
    "bz2",
    "calendar",
    "ctypes",
    "google.protobuf.descriptor_database",
    "google.protobuf.internal.python_edition_defaults",  # of protobuf in Python, imported where it is in C as well
    "google.protobuf.internal.python_message",
    "google.protobuf.text_encoding",
    "ipaddress",
    "linecache",
    "lzma",
    "numpy._core._add_newdocs",
    "numpy._core._add_newdocs_scalars",
    "numpy._core._dtype_ctypes",
    "numpy._core._internal",
    "numpy.lib.format",
    "numpy.lib.introspect",
    "numpy.lib.mixins",
    "numpy.lib.npyio",
    "numpy.lib.scimath",
    "pickle",
    "platform",
    "qdialect.compiler.pipeline_text",
    "qdialect.dialects.onnx_text",
    "qdialect.dialects.quant_text",
    "qdialect.oracle.session",
    "qdialect.text.assembly",
    "qdialect.text.reading",
    "qdialect.text.weights",
    "shlex",
    "tempfile",
    "tokenize",
    "zipfile",
)
"""Modules that the packages in use import and that few processes read."""


class _Waiting(ModuleType):
    """A module that is executed when the first of its names is read."""

    def __getattr__(self, name: str) -> Any:
        loader = vars(self)["__loader__"]
        self.__class__ = ModuleType  # pyright: ignore[reportAttributeAccessIssue]
        loader.execute(self)
        return getattr(self, name)


class _Later:
    """A loader that delays the execution of a module by the given loader until one of its names is read."""

    def __init__(self, loader: "Loader"):
        self.execute = loader.exec_module

    def create_module(self, spec: ModuleSpec) -> None:
        """Nothing: the module is a common one until its attributes are set."""

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _Waiting


class _Finder:
    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in RARELY_READ:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", _Later(spec.loader))  # whose own module imports too much for here
        return spec


def put_off_modules() -> None:
    """Execute the modules of RARELY_READ when one of their names is read: a twentieth of a small compile."""
    sys.meta_path.insert(0, _Finder)
