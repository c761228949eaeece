"""`fix-shapes`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from qdialect.errors import UserError
from qdialect.transforms.fix_shapes import sizes_of


@pytest.mark.parametrize("batch", [0, -1, 1.5, "2"])
def test_a_batch_is_a_whole_number_from_1_on(batch: Any):
    with pytest.raises(UserError, match="whole number"):
        sizes_of(ModuleOp([]), batch, [])


@pytest.mark.parametrize("row", ["n", "n=", "=3", "n=0", "n=-1", "n=1.5"])
def test_a_size_is_a_name_and_a_whole_number_from_1_on(row: str):
    with pytest.raises(UserError, match="NAME=N"):
        sizes_of(ModuleOp([]), 1, [row])
