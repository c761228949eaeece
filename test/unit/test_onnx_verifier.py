"""Every constraint on ONNX operators in docs/spec.md has a case in invalid.mlir, and a place in the source."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("qdialect/dialects/onnx_verify.py", "qdialect/promises/linear.py")


def stated() -> set[str]:
    sections = re.split(r"^## ", (ROOT / "docs/spec.md").read_text(), flags=re.MULTILINE)
    (onnx,) = (text for text in sections if text.startswith("onnx\n"))
    return set(re.findall(r"^\| (O\d+)", onnx, re.MULTILINE))


def test_every_constraint_has_a_case():
    cases = (ROOT / "test/dialects/onnx/invalid.mlir").read_text()
    assert stated() == set(re.findall(r"^// (O\d+)", cases, re.MULTILINE))


def test_every_constraint_has_a_place_in_the_source():
    source = "".join((ROOT / path).read_text() for path in SOURCES)
    assert stated() == set(re.findall(r"# (O\d+)$", source, re.MULTILINE))
