"""The lit tests test something: no directive is one that filecheck would skip, no pass goes without."""

import re
from pathlib import Path

import pytest

from qdialect.transforms import NAMES

ROOT = Path(__file__).parents[3]
TESTS = ROOT / "test"
LIT = sorted(TESTS.rglob("*.mlir"))
PASSES = sorted((TESTS / "transforms").rglob("*.mlir"))
"""One file for a pass, or a folder of its name with a file for each family of ops."""
A_DIRECTIVE = re.compile(r"^\s*// [A-Z0-9]+(-(DAG|COUNT-\d+|NOT|EMPTY|NEXT|SAME|LABEL))?(\{LITERAL\})?: ")

LONGEST = 610
"""Lines of a lit file."""


def relative(path: Path) -> str:
    return str(path.relative_to(TESTS))


def prefixes(text: str) -> set[str]:
    """What the RUN lines make filecheck look for."""
    runs = [line for line in text.splitlines() if line.startswith("// RUN:")]
    used = {p for line in runs for p in re.findall(r"--check-prefix[= ](\w+)", line)}
    if any(("FILECHECK" in line or "ROUNDTRIP" in line) and "--check-prefix" not in line for line in runs):
        used.add("CHECK")
    return used


@pytest.mark.parametrize("path", LIT, ids=relative)
def test_every_check_is_a_directive(path: Path):
    text = path.read_text()
    wanted = prefixes(text)
    diagnostics = "expected-" in text and re.search(r"^// RUN: .*DIAGNOSTICS", text, re.MULTILINE)
    assert wanted or diagnostics or "not OPT" in text or "RUN: not" in text, "nothing looks at the output"
    lines = [line for line in text.splitlines() if re.match(r"\s*//\s*check", line, re.IGNORECASE)]
    for prefix in wanted:
        mine = [line for line in text.splitlines() if re.match(rf"// {prefix}\b", line)]
        assert mine, f"{prefix} is looked for and nowhere said: the test passes whatever the output"
        lines += mine
    assert not [line for line in lines if not A_DIRECTIVE.match(line)]


@pytest.mark.parametrize("path", LIT, ids=relative)
def test_every_label_is_in_the_file(path: Path):
    """A label that no function has would fail; a function without a label is not looked at."""
    text = path.read_text()
    if "CHECK-LABEL: func.func @" not in text:
        return
    functions = re.findall(r"^ *func\.func @(\w+)", text, re.MULTILINE)
    checked = re.findall(r"// CHECK(?:-LABEL)?: .*func\.func @(\w+)", text)
    assert set(functions) <= set(checked)


def whole(path: Path) -> Path:
    """The file or folder of a pass that a file belongs to."""
    return path if path.parent.name == "transforms" else path.parent


@pytest.mark.parametrize("place", sorted({whole(path) for path in PASSES}), ids=relative)
def test_every_pass_is_tested_for_what_it_leaves_alone(place: Path):
    text = "".join(path.read_text() for path in PASSES if whole(path) == place)
    assert "@unmoved_" in text or "@unchanged_" in text


def test_a_lit_file_is_read_at_one_sitting():
    assert not [relative(path) for path in LIT if path.read_text().count("\n") > LONGEST]


def test_every_pass_has_one_file_one_name_and_one_test():
    files = {p.stem.replace("_", "-") for p in (ROOT / "transforms").glob("*.py") if p.stem != "__init__"}
    assert files == set(NAMES)
    assert files <= {whole(p).stem for p in PASSES}
