"""The rooms of the package, in the order in which they may import each other: downward only."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

BUILDINGS = {
    "compiler": (
        "numerics",
        "reasons",
        "errors",
        "exactness",
        "files",
        "dialects",
        "ir",
        "promises",
        "ops",
        "forms",
        "rewriting",
        "text",
        "onnx_io",
        "evaluation",
        "targets",
        "patterns",
        "transforms",
        "compiler",
    ),
    "kernel selection": (
        "kernel_selection",
        "transforms.choose_convolution_form",
        "transforms.collapse_transpose",
        "transforms.fold_float_weights",
        "transforms.legalize_sums",
        "transforms.lower_to_matmul",
        "transforms.lower_to_product",
        "transforms.lower_to_table",
    ),
    "runtimes": ("runtimes", "transforms.guard_session"),
    "upstream": ("upstream", "transforms.lower_to_linalg", "transforms.lower_to_tosa"),
    "report": ("checking", "report"),
    "quantizer": (
        "data",
        "quantizer.statistics",
        "quantizer.placement",
        "quantizer.rounding",
        "transforms.insert_casts",
        "quantizer.search",
        "quantizer",
        "measuring",
    ),
    "commands": ("universe", "api", "", "cli", "__main__"),
}
"""
The rooms of each building, from the bottom up; the empty name is the package's own `__init__`. A pass that serves a
building besides the compiler stands in it.
"""
ROOMS = tuple(room for rooms in BUILDINGS.values() for room in rooms)

START_UP = {
    "qdialect": "a tool that only reads and writes does not wait for the compiler",
    "qdialect.cli": "each command imports what it runs",
    "qdialect.ops": "a dialect is built when it is first loaded",
    "qdialect.api": "completing and checking import onnxruntime",
    "qdialect.report": "checking numbers imports onnxruntime",
    "qdialect.quantizer": "judging numbers imports onnxruntime",
    "qdialect.dialects.onnx_types": "narrow element types are registered when first asked for",
}
"""Where imports stand in functions, by module or room, and why."""


@cache  # and not when pytest's processes collect tests
def modules() -> dict[str, ast.Module]:
    """Each module by its dotted name, parsed."""
    files = [*ROOT.glob("qdialect/**/*.py"), *ROOT.glob("transforms/*.py")]
    files = [
        f.relative_to(ROOT) for f in files if f.relative_to(ROOT).parts[:2] != ("qdialect", "transforms")
    ]
    names = {
        f: [*(() if f.parts[0] == "qdialect" else ("qdialect",)), *f.with_suffix("").parts] for f in files
    }
    return {
        ".".join(n for n in name if n != "__init__"): ast.parse((ROOT / f).read_text())
        for f, name in names.items()
    }


def imports(name: str) -> Iterator[tuple[str, int]]:
    """What a module imports of the package, function-level and TYPE_CHECKING imports too, and in which column."""
    for node in ast.walk(modules()[name]):
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield (module if module in modules() else node.module), node.col_offset
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.col_offset


def room(module: str) -> str:
    """The room of a module: the longest name of a room that its own begins with."""
    name = module.partition(".")[2]
    return max((r for r in ROOMS if f"{name}.".startswith(f"{r}." if r else ".")), key=len)


def building(module: str) -> str:
    return next(name for name, rooms in BUILDINGS.items() if room(module) in rooms)


def test_every_import_goes_down():
    upward = [
        f"{name} imports {other}"
        for name in modules()
        for other, _ in imports(name)
        if other.split(".")[0] == "qdialect" and ROOMS.index(room(other)) > ROOMS.index(room(name))
    ]
    assert not upward


def test_the_compiler_is_a_building_of_its_own():
    """Someone who reads how a quantized model is compiled meets no search, calibration, upstream dialect, report."""
    assert not [
        f"{name} imports {other}"
        for name in modules()
        if building(name) == "compiler"
        for other, _ in imports(name)
        if other.split(".")[0] == "qdialect" and building(other) != "compiler"
    ]


def test_no_circle_within_a_room():
    """Depth first: a module that is met again on the way down closes a circle."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name in done:
            return
        for other, _ in imports(name):
            if other in modules() and other != name:
                visit(other, (*path, name))
        done.add(name)

    for name in modules():
        visit(name, ())


def test_what_a_session_does_is_known_to_its_pass_alone():
    """A target whose runtime is another gets nothing of it: `guard-session` runs by the target's file."""
    known = "qdialect.runtimes"
    assert [
        name
        for name in modules()
        if not name.startswith(known) and any(other.startswith(known) for other, _ in imports(name))
    ] == ["qdialect.transforms.guard_session"]


def test_no_pass_imports_another():
    passes = [name for name in modules() if name.startswith("qdialect.transforms.")]
    assert not [
        f"{name} imports {other}"
        for name in passes
        for other, _ in imports(name)
        if other in passes and other != name
    ]


def test_imports_in_functions_say_why():
    inner = {
        name
        for name in modules()
        for other, column in imports(name)
        if column and other.split(".")[0] == "qdialect"
    }
    unsaid = {
        name for name in inner if not any(name == place or name.startswith(f"{place}.") for place in START_UP)
    }
    assert not unsaid


def test_the_architecture_page_lists_the_rooms():
    page = (ROOT / "docs" / "architecture.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    of_passes = [name for name in ROOMS if name.startswith("transforms.")]
    assert [n for n in ROOMS if n not in ("__main__", *of_passes)] == [
        "" if n == "__init__" else n for n in listed
    ]


def lines(module: str) -> int:
    """The lines of a module's file."""
    path = ROOT / module.replace(".", "/").replace("qdialect/transforms", "transforms")
    file = path.with_suffix(".py")
    return len((file if file.exists() else path / "__init__.py").read_text().splitlines())


def test_the_architecture_page_says_how_much_there_is_to_read():
    page = (ROOT / "docs" / "architecture.md").read_text()
    stated = re.findall(r"^\| \*\*(.*?)\*\* \| \*.*: ([\d,]+) lines\*", page, re.MULTILINE)
    assert [name for name, _ in stated] == list(BUILDINGS)
    for name, number in stated:
        count = sum(lines(module) for module in modules() if building(module) == name)
        assert int(number.replace(",", "")) == pytest.approx(count, rel=0.05), (
            f"docs/architecture.md says that the building '{name}' has {number} lines: write {round(count, -2):,}"
        )


def test_the_package_explains_itself():
    """About five files and a room for each idea."""
    files = [p.name for p in (ROOT / "qdialect").glob("*.py")]
    assert sorted(files) == [
        "__init__.py", "__main__.py", "api.py", "errors.py", "exactness.py", "files.py", "reasons.py",
        "universe.py",
    ]  # fmt: skip


ASSERTED = 30
"""Assertions that tell the type checker what the code knows, over all modules: a pattern's type or a helper says it."""


def test_few_assertions_for_the_type_checker():
    tests = [
        ast.unparse(n.test) for m in modules().values() for n in ast.walk(m) if isinstance(n, ast.Assert)
    ]
    assert sum("is not None" in test or test.startswith("isinstance") for test in tests) <= ASSERTED
