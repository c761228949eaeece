"""`promises.casts`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op
from promised_types import reason, rows

from qdialect.dialects.quant import UniformType
from qdialect.promises.casts import MAX_FOLDED_OPS, DequantizeForm, described_type
from qdialect.reasons import SCALE_VALUE


@pytest.mark.parametrize(
    ("scales", "expected"), [("0.5, 0.25", None), ("0.5, 0.0", "scale-value"), ("0.5, -0.25", "scale-value")]
)
def test_scales_are_above_zero(scales: str, expected: str | None):
    op = last_op(
        f"q: 2x3xi8\ns = [{scales}] : 2xf32\ny = DequantizeLinear(q, s) {{axis = 0 : i64}} : 2x3xf32"
    )
    type = described_type(op)
    assert reason(type) == expected
    assert expected is None or type == SCALE_VALUE


@pytest.mark.parametrize(
    ("operand", "result", "axis"), [("*", "2x3", 1), ("2x3", "*", 1), ("?x3", "2x3", 1), ("2x3", "2x3x5", 1)]
)
def test_axes_are_counted_in_the_shape_that_is_known(operand: str, result: str, axis: int):
    op = last_op(
        f"q: {operand}xi8\ns = [0.5, 0.25, 2.0] : 3xf32\n"
        f"y = DequantizeLinear(q, s) {{axis = -1 : i64}} : {result}xf32"
    )
    assert described_type(op) == rows(0.5, 0.25, 2.0, axis=axis, zeros=(0, 0, 0))


@pytest.mark.parametrize(
    ("count", "expected"), [(MAX_FOLDED_OPS - 2, "unfolded"), (MAX_FOLDED_OPS - 1, "run-time")]
)
def test_so_many_ops_of_constants_may_be_folded(count: int, expected: str):
    """The constant, and as many ops of it."""
    lines = ["k0 = [0.5] : f32", *(f"k{k + 1} = Neg(k{k}) : f32" for k in range(count))]
    body = "\n".join(["q: 2xi8", *lines, f"y = DequantizeLinear(q, k{count}) : 2xf32"])
    op = last_op(body)
    assert op.get_trait(DequantizeForm) is not None
    found = reason(described_type(op))
    assert found is not None
    assert expected in found


@pytest.mark.parametrize(
    ("shape", "scales", "attributes", "expected"),
    [
        ("2x3", "3", "", 1),
        ("2x3", "2", "axis = 0 : i64", 0),
        ("2x3", "2", "axis = -2 : i64", 0),
        ("2x3", "3", "axis = 2 : i64", "invalid-parameters"),
        ("2x3", "3", "axis = -3 : i64", "invalid-parameters"),
        ("2x3", "2", "axis = 1 : i64", "invalid-parameters"),
        ("2x?", "3", "axis = 1 : i64", 1),
        ("2x3", "1x3", "axis = 1 : i64", "invalid-parameters"),
        ("*", "3", "axis = 1 : i64", "unknown-shape"),
        ("2x8", "2x2", "axis = 1 : i64, block_size = 4 : i64", ((0, 1), (1, 4))),
        ("4x3", "2x3", "axis = 0 : i64, block_size = 2 : i64", ((0, 2), (1, 1))),
        ("2x8", "2x4", "axis = 1 : i64, block_size = 4 : i64", "invalid-parameters"),
        ("2x8", "1x2", "axis = 1 : i64, block_size = 4 : i64", "invalid-parameters"),
        ("2x7", "2x2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("?x8", "2x2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("2x8", "2", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        # one block along the axis: a scale for each place on the other
        ("2x4", "2x1", "axis = 1 : i64, block_size = 4 : i64", 0),
        ("2x3", "2x1", "axis = 1 : i64, block_size = 4 : i64", 0),
        ("2x5", "2x1", "axis = 1 : i64, block_size = 4 : i64", "block-size"),
        ("3x2", "1x2", "axis = 0 : i64, block_size = 4 : i64", 1),
    ],
)
def test_how_scales_lie_on_a_tensor(
    shape: str, scales: str, attributes: str, expected: int | str | tuple[tuple[int, int], ...]
):
    count = int(np.prod([int(size) for size in scales.split("x")]))
    op = last_op(
        f"q: {shape}xi8\ns = {[float(k + 1) for k in range(count)]} : {scales}xf32\n"
        f"y = DequantizeLinear(q, s) {{{attributes}}} : {shape}xf32",
        21,
    )
    type = described_type(op)
    if isinstance(expected, str):
        assert reason(type) == expected
        return
    assert isinstance(type, UniformType)
    assert type.scales.reshape(-1).tolist() == list(range(1, count + 1))
    assert (type.axis if type.blocks is None else tuple(type.blocks)) == expected
