"""`legalize-weights`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from guard_cases import Case, parsed, text
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.legalize_weights import LegalizeWeightsPass


def applied(rewrite: Any, body: str, aliases: str = "") -> ModuleOp:
    context, module = parsed(aliases + text(Case("", "", body)))
    rewrite.apply(context, module)
    module.verify()
    return module


@pytest.mark.parametrize(
    ("weight", "columns", "shapes"),
    [("254", "2", ["4x3"]), ("255", "2", None), ("254", "?", ["4x?"]), ("127", "2", [])],
)
def test_a_copied_input_takes_what_i8_does_not_hold(weight: str, columns: str, shapes: list[str] | None):
    module = applied(LegalizeWeightsPass(), f"""
        x: 4x{columns}x!u
        w = [{weight}, 1, 2, 3, 4, 5] : 2x3xui8 as 2x3x!one
        y = MatMul(x, w) : 4x3xf32""")  # fmt: skip
    built = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type in ("Gather", "Concat")]
    assert [str(op.results[0].type).partition("x!")[0].removeprefix("tensor<") for op in built] == (
        shapes or []
    )
    assert [r.blocked.id for r in remarks_of(module)] == (["beyond-i8"] if shapes is None else [])
