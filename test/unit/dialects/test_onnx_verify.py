"""Every constraint on ONNX operators has a case in invalid.mlir and a place in the source; what is verified once."""

import re
from pathlib import Path

import pytest
from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute, Block
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import int_attr, ints_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import StringType, tensor_type
from qdialect.dialects.onnx_verify import verify_at
from qdialect.ops.generated import op_named

Case = tuple[list[Attribute], dict[str, Attribute]]

ROOT = Path(__file__).parents[3]
SOURCES = ("qdialect/dialects/onnx_verify.py", "qdialect/promises/linear.py", "qdialect/ir/walking.py")


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


F32, I64 = tensor_type(f32, (2,)), tensor_type(i64, (2,))
KEEPDIMS, AXES = {"keepdims": int_attr(1)}, {"axes": ints_attr((0,))}


@pytest.mark.parametrize(
    ("name", "sound", "broken"),
    [
        ("Relu", ([F32], {}), ([tensor_type(StringType(), (2,))], {})),
        ("Relu", ([i1], {}), ([tensor_type(i1, (2,))], {})),  # what is no tensor is of unknown type
        ("Add", ([F32, F32], {}), ([F32, I64], {})),
        ("Add", ([F32, F32], {}), ([F32], {})),
        ("ReduceSum", ([F32, I64], KEEPDIMS), ([F32, I64], KEEPDIMS | AXES)),
        ("ReduceSum", ([F32, I64], KEEPDIMS), ([F32, I64], {"keepdims": f32})),
    ],
)
def test_what_verifies_excuses_no_other(name: str, sound: Case, broken: Case):
    """An operation of a signature that verified is not looked at again: the signature must tell the two apart."""
    for _ in range(2):
        verify_at(built(name, *sound), 17)
        with pytest.raises(VerifyException):
            verify_at(built(name, *broken), 17)


def built(name: str, operands: list[Attribute], attributes: dict[str, Attribute]) -> OnnxOp:
    return op_named("", name).build(Block(arg_types=operands).args, [operands[0]], attributes)
