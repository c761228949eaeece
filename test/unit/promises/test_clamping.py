"""`promises.clamping`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import first_op, last_op
from promised_types import U8, after, flat

from qdialect.dialects.quant import UniformType
from qdialect.promises.clamping import CLAMPS, KEEPS, MAX_TESTED_VALUES, Keeps
from qdialect.promises.monotone import clip_bounds
from qdialect.reasons import Blocked


@pytest.mark.parametrize("bound", ["%e", "%x"])
def test_a_bound_without_elements_or_value_keeps_nothing(bound: str):
    """Max of a tensor with no elements, or of one that is computed, is no clamp."""
    op = first_op(
        "%e = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>} : () -> tensor<0xf32>\n"
        f"%y = onnx.Max(%x, {bound}) : (tensor<1xf32>, tensor<{0 if bound == '%e' else 1}xf32>) -> tensor<*xf32>",
        "%x: tensor<1xf32>",
    )
    assert not KEEPS["", "Max"].kept(op, np.arange(3, dtype=np.float32)).any()


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("ThresholdedRelu(x) {alpha = 2.0 : f32}", [False, False, True, False, False, True]),
        ("Shrink(x) {lambd = 2.0 : f32}", [True, False, True, False, False, True]),
        ("Shrink(x) {lambd = 2.0 : f32, bias = 1.0 : f32}", [False] * 6),
        ("Shrink(x)", [True, True, True, False, True, True]),
        ("ThresholdedRelu(x)", [False, False, True, False, True, True]),
        ("HardSigmoid(x) {alpha = 1.0 : f32, beta = 0.0 : f32}", [False, False, True, True, False, False]),
        ("HardSigmoid(x)", [False] * 6),
        ("Abs(x)", [False, False, True, True, True, True]),
    ],
)
def test_numbers_that_an_activation_keeps(name: str, kept: list[bool]):
    op = last_op(f"x: 2xf32\ny = {name} : 2xf32")
    promise = op.get_trait(Keeps)
    assert promise is not None
    assert promise.kept(op, np.array([-2.5, -2, 0, 0.5, 2, 2.5], np.float32)).tolist() == kept


@pytest.mark.parametrize(
    ("count", "is_redundant"), [(MAX_TESTED_VALUES // 256, True), (MAX_TESTED_VALUES // 256 + 1, False)]
)
def test_so_many_numbers_are_tested(count: int, is_redundant: bool):
    op = last_op("x: 2xf32\ny = Abs(x) : 2xf32")
    promise = op.get_trait(Keeps)
    assert promise is not None
    type = UniformType.per_axis(U8, 0, np.full(count, np.float32(0.5)), np.zeros(count, np.int64))
    assert promise.is_redundant(op, type) is is_redundant


@pytest.mark.parametrize(
    ("call", "constants", "opset", "expected"),
    [
        ("Clip(x, a, b)", ("[-1.0] : f32", "[2.0] : 1xf32"), 17, (-1, 2)),
        ("Clip(x, _, b)", ("[-1.0] : f32", "[2.0] : f32"), 17, (-np.inf, 2)),
        ("Clip(x, a)", ("[-1.0] : f32",), 17, (-1, np.inf)),
        ("Clip(x)", (), 17, (-np.inf, np.inf)),
        ("Clip(x, a, b)", ("[-1.0] : f32", "f32"), 17, None),
        ("Clip(x, a, b)", ("f32", "[2.0] : f32"), 17, None),
        ("Clip(x, a, b)", ("[-1.0, 0.0] : 2xf32", "[2.0] : f32"), 17, None),
        ("Clip(x) {min = -1.0 : f32}", (), 10, (-1, np.inf)),
        ("Clip(x) {max = 2.0 : f32}", (), 10, (-np.inf, 2)),
    ],
)
def test_bounds_of_a_clip(
    call: str, constants: tuple[str, ...], opset: int, expected: tuple[float, float] | None
):
    lines = [
        f"{n} = {c}" if c.startswith("[") else f"{n}: {c}" for n, c in zip("ab", constants, strict=False)
    ]
    op = last_op("\n".join(["x: 2xf32", *lines, f"y = {call} : 2xf32"]), opset)
    assert clip_bounds(op) == expected


@pytest.mark.parametrize(
    ("low", "high", "sinks", "is_redundant", "is_at_zero"),
    [
        (-64.0, 63.5, True, True, False),
        (-65.0, 64.0, True, True, False),
        (-63.5, 63.0, True, False, False),
        (-63.4, 63.5, "clip-bound", False, False),
        (-64.0, 63.4, "clip-bound", True, False),
        (0.0, 63.5, True, False, True),
        (0.0, 63.0, True, False, False),
        (0.5, 63.5, True, False, False),
    ],
)
def test_a_clip_of_64_steps_of_a_half(
    low: float, high: float, sinks: bool | str, is_redundant: bool, is_at_zero: bool
):
    """i8 holds -64 to 63.5."""
    body = f"x: 2xf32\na = [{low}] : f32\nb = [{high}] : f32\ny = Clip(x, a, b) : 2xf32"
    op, clamp, type = last_op(body), CLAMPS["", "Clip"], flat(0.5)
    moved = after(body, type)
    assert isinstance(moved, Blocked) == (sinks is not True)
    assert clamp.is_redundant(op, type) is is_redundant
    assert clamp.is_at_zero(op, type) is is_at_zero


@pytest.mark.parametrize(
    ("call", "constant", "kept"),
    [
        ("Max(x, k)", "[-1.0] : f32", [False, True, True, True]),
        ("Max(k, x)", "[-1.0, 0.0] : 2xf32", [False, False, True, True]),
        ("Min(x, k)", "[1.0, 0.0] : 2xf32", [True, True, True, False]),
        ("Min(k, x)", "[1.0] : f32", [True, True, True, True]),
        ("Min(x, k, k)", "[1.0] : f32", [False] * 4),
        ("Min(k, k)", "[1.0] : f32", [False] * 4),
    ],
)
def test_numbers_within_a_bound(call: str, constant: str, kept: list[bool]):
    op = last_op(f"x: 2xf32\nk = {constant}\ny = {call} : 2xf32")
    assert KEEPS["", op.op_type].kept(op, np.array([-2, -1, 0, 1], np.float32)).tolist() == kept


def test_a_shrink_keeps_what_is_above_its_bound_and_0():
    op = last_op("x: 3xf32\ny = Shrink(x) {lambd = 0.5 : f32} : 3xf32")
    values = np.array([-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75], np.float32)
    assert KEEPS["", "Shrink"].kept(op, values).tolist() == [True, False, False, True, False, False, True]
