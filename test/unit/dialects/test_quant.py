"""Every constraint of docs/spec.md has a case in invalid.mlir, and every case there fails as it says."""

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, VerifyException

from qdialect.dialects.quant import Quant, Storage, UniformType

ROOT = Path(__file__).parents[3]
INVALID = (ROOT / "test/dialects/quant/invalid.mlir").read_text()
CASES = INVALID.split("// -----")
EXPECTED = re.compile(r"// expected-error@\+(\d) \{\{(.*)\}\}$", re.MULTILINE)
NOT_TEXT = {"C8"}


def error(text: str) -> str:
    context = Context()
    for dialect in (Builtin, Test, Quant):
        context.load_dialect(dialect)
    with pytest.raises((ParseError, DiagnosticException, VerifyException)) as caught:
        Parser(context, text).parse_module().verify()
    return str(caught.value)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_invalid(case: str):
    ((_, message),) = EXPECTED.findall(case)
    assert message in error(case)


def test_every_constraint_has_a_case():
    section = re.split(r"^## ", (ROOT / "docs/spec.md").read_text(), flags=re.MULTILINE)
    (quant,) = (text for text in section if text.startswith("quant\n"))
    stated = set(re.findall(r"^\| (C\d+)", quant, re.MULTILINE))
    assert stated == set(re.findall(r"^// (C\d+)", INVALID, re.MULTILINE)) | NOT_TEXT


def test_parse_errors_point_at_the_type():
    text = '"test.op"() {t = i8} : () -> ()\n"test.op"() {t = !quant.uniform<i8:f32, 0.5:300>} : () -> ()'
    assert ":2:33" in error(text)


def test_counts_differ():
    with pytest.raises(VerifyException, match="2 scales but 3 zero points"):
        UniformType.per_axis(Storage.of("i8"), 0, [0.5, 0.25], [1, 2, 3])


def test_zero_points_are_integers():
    with pytest.raises(VerifyException, match="integers of 32 bits"):
        UniformType.per_tensor(Storage.of("i8"), 0.5).replace(scales=0.5, zero_points=np.array(1.5))


def test_deep_nesting_does_not_exhaust_the_stack():
    left, right = "{" * 10_000, "}" * 10_000
    for scale in ("2.0", "0x3FF0000000000000"):
        assert "nested deeper" in error(
            f'"test.op"() {{t = !quant.uniform<i8:f32:{{0:1}}, {left}{scale}{right}>}} : () -> ()'
        )
