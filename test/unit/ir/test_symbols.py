"""`ir.symbols`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from guard_cases import last_op
from xdsl.dialects.builtin import ArrayAttr, StringAttr

from qdialect.ir.symbols import size_names
from qdialect.rewriting.changes import DIMS


def test_names_of_sizes_by_result():
    op = last_op("x: ?x4xf32\na, b = Split(x) {axis = 1 : i64, num_outputs = 2 : i64} : ?x2xf32, ?x2xf32")
    op.attributes[DIMS] = ArrayAttr([ArrayAttr([StringAttr("n"), StringAttr("")])])
    assert [size_names(result) for result in op.results] == [("n", ""), ()]
