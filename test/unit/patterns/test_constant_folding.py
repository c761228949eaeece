"""`patterns.constant_folding`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from guard_cases import first_op, last_op
from xdsl.dialects.builtin import ModuleOp

from qdialect.ir.values import constant_array
from qdialect.patterns import constant_folding as computing
from qdialect.patterns.constant_folding import Computation
from qdialect.reasons import Blocked


def array(dtype: npt.DTypeLike, values: Any) -> npt.NDArray[Any]:
    return np.array(values, dtype)


@pytest.mark.parametrize(("size", "computed"), [(1 << 14, True), ((1 << 14) + 1, False)])
def test_a_result_of_so_many_bytes_is_computed(size: int, computed: bool):
    op = last_op(f"k = [1.0] : 1xf32\nn = [{size}] : 1xi64\ny = Expand(k, n) : {size}xf32")
    assert isinstance(computing.foldable(op, 2), Blocked) is not computed


@pytest.mark.parametrize(("of", "size", "long"), [("", 8, False), ("", 9, True), ("3x", 9, False)])
def test_a_list_of_computed_operands_may_be_so_long(
    of: str, size: int, long: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(computing, "MAX_LIST_ELEMENTS", 8)
    assert computing.is_long_list(last_op(f"x: {of}{size}xi64\ny = Neg(x) : {of}{size}xi64")) is long
    known = f"k = [{', '.join(['1'] * size)}] : {size}xi64\ny = Neg(k) : {size}xi64"
    assert not computing.is_long_list(last_op(known))


@pytest.mark.parametrize(
    ("result", "scale", "computed"),
    [("2xui8", " = [0.5]", True), ("?xui8", " = [0.5]", False), ("2xi8", " = [0.5]", False), ("2xui8", "", False)],
)  # fmt: skip
def test_a_quantized_constant_has_the_type_of_the_result(result: str, scale: str, computed: bool):
    start = f"k = [1.0, 3.0] : 2xf32\ns{scale} : f32" if scale else "k = [1.0, 3.0] : 2xf32\ns: f32"
    new = computing.computed_quantize(
        last_op(f"{start}\nz = [7] : ui8\ny = QuantizeLinear(k, s, z) : {result}")
    )
    assert len(new) == computed
    for op in new:
        np.testing.assert_array_equal(constant_array(op.results[0]), array(np.uint8, [9, 13]))


@pytest.mark.parametrize(("bytes_", "folded"), [(16, True), (15, False)])
def test_results_may_take_all_bytes_that_there_are(
    bytes_: int, folded: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.patterns.constant_folding.MAX_GROWTH", 0)
    monkeypatch.setattr("qdialect.patterns.constant_folding.FREE_GROWTH_BYTES", bytes_)
    op = first_op(
        "%c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<4xf32>>} : () -> tensor<4xf32>\n"
        "%y = onnx.Neg(%c) : (tensor<4xf32>) -> tensor<4xf32>",
        "",
    )
    module = op.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    computation = Computation(module)
    for one in module.walk():
        computation.show(one)
    assert computation.is_waiting(op.results[0]) is folded
