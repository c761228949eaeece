"""`promises.linear`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import numpy as np
import pytest
from guard_cases import last_op
from promised_types import flat, rows
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.utils.test_value import create_ssa_value

from qdialect import numerics
from qdialect.dialects.onnx_types import tensor_type
from qdialect.dialects.quant import Storage, UniformType
from qdialect.ops.generated import op_named
from qdialect.promises.linear import BIAS_TOLERANCE, Linear, bias_matches, largest_sums


@pytest.mark.parametrize(
    ("attributes", "sees"),
    [
        ("", False),
        (" {pads = array<i64: 0, 0, 0, 0>}", False),
        (" {pads = array<i64: 0, 0, 0, 1>}", True),
        (' {auto_pad = "SAME_UPPER"}', True),
        (' {auto_pad = "SAME_LOWER"}', True),
        (' {auto_pad = "VALID"}', False),
        (' {auto_pad = "NOTSET"}', False),
    ],
)
def test_who_sees_the_border(attributes: str, sees: bool):
    op = last_op(f"x: 1x2x4x4xf32\nw: 3x2x3x3xf32\ny = Conv(x, w){attributes} : *xf32")
    linear = op.get_trait(Linear)
    assert linear is not None
    assert linear.sees_border(op) is sees


def sum_type(*scales: float) -> UniformType:
    one = flat(scales[0], "i32")
    if len(scales) == 1:
        return one
    return UniformType.per_axis(one.storage, 0, np.array(scales, np.float32), np.zeros(len(scales), np.int64))


SAME = (0.25, 0.25, 0.25)


EDGE = np.float32(1.0728824)
"""A millionth of it, rounded, is 9 of its own last places."""


@pytest.mark.parametrize(
    ("x", "weight", "bias", "matches"),
    [
        (flat(2.0), rows(0.5, 0.25, 2.0), sum_type(1, 0.5, 4), True),
        (flat(2.0), rows(0.5, 0.25, 2.0), sum_type(1, 0.5, 4.5), False),
        (flat(2.0), rows(*SAME), sum_type(0.5), True),
        (flat(2.0), rows(*SAME), sum_type(0.75), False),
        (flat(2.0), rows(*SAME), sum_type(0.5, 0.5), False),
        (flat(2.0), flat(0.25), sum_type(0.5, 0.5), True),
        (flat(2.0), flat(0.25), sum_type(0.5, 0.25), False),
        (flat(2.0), flat(0.25), flat(0.5, "i32", 1), False),
        (flat(2.0), flat(0.25), flat(0.5, "i16"), False),
        (rows(2.0, 2.0), flat(0.25), sum_type(0.5), False),
    ],
)
def test_a_bias_in_steps_of_the_product(
    x: UniformType, weight: UniformType, bias: UniformType, matches: bool
):
    assert bias_matches(x, weight, bias) is matches


def test_a_bias_may_be_off_by_a_millionth():
    last = np.float32(2.0**-23)
    exact = next(
        wanted
        for k in range(1000)
        if np.float32(BIAS_TOLERANCE) * (wanted := np.float32(EDGE + (k - 500) * last)) == 9 * last
    )
    x, w = flat(1.0), flat(float(exact))
    assert bias_matches(x, w, sum_type(float(exact + 9 * last)))
    assert bias_matches(x, w, sum_type(float(exact - 9 * last)))
    assert not bias_matches(x, w, sum_type(float(exact + 10 * last)))
    assert not bias_matches(x, w, sum_type(float(exact - 10 * last)))


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_sums_may_reach_the_last_of_32_bits(more: int, fits: bool):
    """12 products of 255 by 128 at most, and the bias."""
    op = last_op("x: 1x3x4x4xf32\nw: 2x3x2x2xf32\nb: 2xf32\ny = Conv(x, w, b) : *xf32")
    bias = np.array([0, numerics.INT32_MAX - 12 * 255 * 128 + more], np.int32)
    weight = np.stack([np.full((3, 2, 2), k, np.int8) for k in (-1, 3)])
    sums = largest_sums(op, flat(0.5, "u8"), flat(0.5), weight, -bias)
    if fits:
        assert sums is None
    else:
        assert sums is not None
        assert sums.tolist() == [12 * 255, 3 * 12 * 255 + int(bias[1])]
    assert largest_sums(op, flat(0.5, "u8"), flat(0.5), None, bias) is None


X = UniformType.per_tensor(Storage.of("u8"), np.float32(0.02), 13)


W = UniformType.per_axis(Storage.of("i8"), 0, np.array([0.5, 0.25], np.float32), np.array([3, -7], np.int32))


def bias(*scales: float) -> UniformType:
    return UniformType.per_axis(Storage.of("i32"), 0, np.array(scales, np.float32))


@pytest.mark.parametrize(
    ("x", "w", "b", "reason"),
    [
        (X, W, bias(0.01, 0.005), None),
        (X, W, bias(0.01, 0.006), "bias-scale"),
        (f32, W, bias(0.01, 0.005), "float-operand"),
        (X, f32, bias(0.01, 0.005), "float-operand"),
    ],
)
def test_a_quantized_bias_belongs_to_its_operands(
    x: Attribute, w: Attribute, b: UniformType, reason: str | None
):
    """The verifier gives these as errors, and fuse-quantized takes such a bias in float."""
    operands = [tensor_type(x, (1, 4, 5, 6)), tensor_type(w, (2, 4, 3, 2)), tensor_type(b, (2,))]
    conv = op_named("", "Conv").build(
        [create_ssa_value(t) for t in operands], [tensor_type(f32, (1, 2, 3, 5))]
    )
    linear = conv.get_trait(Linear)
    assert linear is not None
    blocked = linear.check(conv)
    assert (blocked and blocked.id) == reason
