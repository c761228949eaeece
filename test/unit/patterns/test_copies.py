"""`patterns.copies`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ANNOTATION
from qdialect.patterns.copies import move_annotation


@pytest.mark.parametrize("source", ["a", "x"])
def test_an_annotation_moves_to_what_makes_the_value(source: str):
    op = last_op(f"x: 2xf32\na = Relu(x) : 2xf32\ny = Identity({source}) : 2xf32")
    op.attributes[f"{ANNOTATION}0"] = StringAttr("said")
    value = op.operands[0]
    move_annotation(op, value)
    owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    assert owner is not None
    assert owner.attributes[f"{ANNOTATION}0"] == StringAttr("said")
