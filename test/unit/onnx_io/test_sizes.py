"""`onnx_io.sizes`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import last_op

from qdialect.onnx_io.sizes import MAX_LIST_ELEMENTS, is_small


@pytest.mark.parametrize(
    ("shape", "small"),
    [(f"{MAX_LIST_ELEMENTS}xi64", True), (f"{MAX_LIST_ELEMENTS + 1}xi64", False),
     (f"2x{MAX_LIST_ELEMENTS // 2}xi32", True), ("?xi64", False),
     ("4xf32", False), ("i1", True)],
)  # fmt: skip
def test_lists_are_analysed_up_to_so_many_elements(shape: str, small: bool):
    assert is_small(last_op(f"x: {shape}\ny = Identity(x) : {shape}").operands[0]) is small
