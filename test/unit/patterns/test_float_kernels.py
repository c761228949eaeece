"""`patterns.float_kernels`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from guard_cases import last_op

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.patterns.float_kernels import faster_in_float
from qdialect.promises.kernels import Kernels, Rows

AVERAGE = "x: 2x3x6x8x!u\ny = AveragePool(x) {{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}} : {0}x!u"


@pytest.mark.parametrize(
    ("result", "rows"),
    [("2x3x3x4", Rows(72, 4, 288)), ("?x3x3x4", Rows(36, 4, 288)), ("2x3x3x?", None), ("*", None)],
)
def test_rows_of_a_pool_are_its_windows(result: str, rows: Rows | None):
    op = last_op(AVERAGE.format(result))
    promise = op.get_trait(Kernels)
    assert promise is not None
    assert [form.rows and form.rows(op) for form in promise.forms] == [rows]


def _one_row(op: OnnxOp) -> Rows:
    return Rows(1, 1, 1)


@pytest.mark.parametrize(("price", "faster"), [(85.0, False), (84.0, True)])
def test_a_float_kernel_for_rows_takes_less_than_its_share(price: float, faster: bool):
    op = last_op("x: 2x3xf32\ny = Softmax(x) : 2x3xf32")
    prices = {name: {"element": 0.0, "read": 0.0, "row": 0.0, "call": call} for name, call in
              (("QLinearSoftmax", 100.0), ("Softmax", price))}  # fmt: skip
    kernels = [SimpleNamespace(op_type="Other", rows=None),
               SimpleNamespace(op_type="QLinearSoftmax", rows=_one_row)]  # fmt: skip
    promise = cast(Kernels, SimpleNamespace(forms=kernels))
    assert (faster_in_float(op, promise, prices) is not None) is faster
    assert faster_in_float(op, promise, {"Softmax": prices["Softmax"]}) is None
