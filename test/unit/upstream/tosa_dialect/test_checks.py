"""Every constraint of the integer profile has a case, and upstream's validators say what ours does."""

import re
from pathlib import Path

import pytest
from upstream_tools import VALIDATE, run, tool

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "test/dialects/tosa"
INVALID = "// -----\n".join((FOLDER / name).read_text() for name in ("invalid.mlir", "invalid-shapes.mlir"))
VALID = (FOLDER / "ops.mlir").read_text()
MLIR_OPT = ("mlir-opt-22", "mlir-opt")


def stated() -> dict[str, bool]:
    """The ids of docs/spec.md, and whether upstream is said to check less."""
    sections = re.split(r"^## ", (ROOT / "docs/spec.md").read_text(), flags=re.MULTILINE)
    (tosa,) = (text for text in sections if text.startswith("tosa\n"))
    return {i: bool(plus) for i, plus in re.findall(r"^\| (T\d+)( \*\*\+\*\*)? \|", tosa, re.MULTILINE)}


def test_every_constraint_has_a_case_and_a_place():
    source = "".join(path.read_text() for path in (ROOT / "qdialect/upstream/tosa_dialect").glob("*.py"))
    assert set(stated()) == set(re.findall(r"^// (T\d+)$", INVALID, re.MULTILINE))
    assert set(stated()) == set(re.findall(r"\b(T\d+)[:,;]? ", source.replace("\n", " ")))


@pytest.mark.parametrize("names", [MLIR_OPT, ("tosa-opt",)], ids=lambda names: names[0])
def test_upstream_accepts_what_we_do(names: tuple[str, ...]):
    done = run(tool(*names), [*VALIDATE, "-", "-o", "/dev/null"], VALID)
    assert done.returncode == 0, done.stderr


def test_iree_reads_the_same_text():
    done = run(tool("iree-opt"), ["-", "-o", "/dev/null"], VALID)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("names", [MLIR_OPT, ("tosa-opt",)], ids=lambda names: names[0])
def test_upstream_refuses_what_we_do(names: tuple[str, ...]):
    program = tool(*names)
    for case in INVALID.split("// -----"):
        (name,) = re.findall(r"^// (T\d+)$", case, re.MULTILINE)
        done = run(program, [*VALIDATE, "-", "-o", "/dev/null"], case)
        assert done.returncode != 0 or stated()[name], case
