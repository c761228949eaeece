"""Where a function of numerics changes its mind: the last number on one side, and the first on the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdialect import numerics
from qdialect.numerics import folding, near_ties, signs, sums, tables
from qdialect.numerics.near_ties import Rounding, faithful_ratios, faithful_rounding

TINY = np.finfo(np.float32).tiny


def test_a_rescale_multiplies_by_less_than_2_to_the_29th():
    multiplier, shift = numerics.rescale_factors([2.0**28, 2.0**-32, 2.0**-33])
    assert multiplier.tolist() == [1 << 30, 1 << 30, 1 << 29]
    assert shift.tolist() == [2, 62, 62]
    with pytest.raises(ValueError, match="cannot multiply"):
        numerics.rescale_factors(2.0**29)


def test_a_multiplier_that_rounds_up_to_32_bits_is_halved():
    multiplier, shift = numerics.rescale_factors(1 - 2.0**-40)
    assert (int(multiplier), int(shift)) == (1 << 30, 30)


def test_factors_of_products_are_below_2_to_the_30th():
    integers, shift = numerics.product_factors([2.0**29, -3.0])
    assert (integers.tolist(), shift) == ([2**29, -3], 0)
    integers, shift = numerics.product_factors([2.0**-40])
    assert (integers.tolist(), shift) == ([2**22], 62)
    for factor in (2.0**30, np.inf, np.nan):
        with pytest.raises(ValueError, match="no product"):
            numerics.product_factors([1.0, -factor])


@pytest.mark.parametrize(("low", "exact"), [(-(2**22), False), (1 - 2**22, True)])
def test_a_float32_holds_steps_up_to_half_of_its_error(low: int, exact: bool):
    """2^22 steps times two errors of 2^-24 are one half."""
    assert numerics.round_trip_is_exact(low, 3, 0.5, 0, 24, 3e38) is exact


@pytest.mark.parametrize(("largest", "exact"), [(1 + 2.0**-23, True), (1 + 2.0**-24, False)])
def test_a_product_with_its_error_may_be_the_largest_float(largest: float, exact: bool):
    assert numerics.round_trip_is_exact(0, 1, 1.0, 0, 24, largest) is exact


def test_numbers_may_differ_by_all_of_the_tolerance():
    zero, size = np.zeros(1), np.array([8.0])
    assert numerics.are_near(zero, np.array([2.0]), size, 0.25)
    assert not numerics.are_near(zero, np.array([2.5]), size, 0.25)


def test_the_smallest_normal_number_is_a_scale():
    scales = numerics.symmetric_scales(np.array([7 * TINY, 6 * TINY], np.float32), 7)
    assert scales.tolist() == [TINY, 1]


def test_integers_from_another_number_than_0_cover_a_range():
    assert numerics.range_parameters(-2.0, 8.0, 0, 5) == (2.0, 1)
    assert numerics.range_parameters(-2.0, 8.0, 1, 6) == (2.0, 2)
    assert numerics.range_parameters(-2.0, 9.0, -4, 3) == (3.0, 0)
    assert numerics.range_parameters(-9.0, 2.0, -4, 3) == (3.0, 0)


def test_a_scale_is_dead_below_the_smallest_normal_number():
    folded = folding.fold_affine_weight(
        np.array([[5], [6]], np.int8), [2 * TINY, TINY], [1, 2], [0.5, 0.75], 0, -128, 127
    )
    assert folded.stored.tolist() == [[5], [2]]
    np.testing.assert_array_equal(folded.scales, np.array([TINY, TINY], np.float32))


@pytest.mark.parametrize(
    ("stored", "zero", "keep", "expected"),
    [
        ([-127, 127], 0, False, ([127, -127], 0, False)),
        ([-128, 127], 0, False, ([127, -128], -1, False)),
        ([-128, 127], 0, True, ([127, -127], 0, True)),
        ([-127, 127], 0, True, ([127, -127], 0, False)),
        ([-128, 3], -3, False, ([122, -9], -3, False)),
        ([-100, 122], -3, False, ([94, -128], -3, False)),
        ([-100, 123], -3, False, ([99, -124], 2, False)),
        ([-100, 123], -3, True, ([99, -124], 2, False)),
    ],
)
def test_a_negative_factor_turns_a_channel_round(
    stored: list[int], zero: int, keep: bool, expected: tuple[list[int], int, bool]
):
    folded = folding.fold_affine_weight(
        np.array([stored], np.int8), [0.5], [zero], [-2.0], 0, -128, 127, keep_zero_points=keep
    )
    assert (folded.stored[0].tolist(), folded.zero_points[0], folded.clamped[0]) == expected
    assert folded.scales.tolist() == [1]


def test_a_shift_in_front_is_summed_over_inputs_and_scaled():
    weight = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    shift, factor = np.array([[1.0], [10.0], [100.0]]), np.array([[2.0], [3.0], [5.0]])
    sums_of = (weight * shift).sum(axis=(1, 2))
    folded, gained = folding.fold_in_front(weight, factor, shift, None, 0, alpha=3.0)
    assert folded.tolist() == (weight * factor).tolist()
    assert gained.tolist() == (3 * sums_of).tolist()
    _, gained = folding.fold_in_front(weight, factor, shift, np.array([7.0, 11.0]), 0)
    assert gained.tolist() == [sums_of[0] + 7, sums_of[1] + 11]


@pytest.mark.parametrize(
    ("exponent", "is_power"), [(-127, False), (-126, True), (0, True), (124, True), (127, False)]
)
def test_a_power_of_two_and_its_inverse_are_normal(exponent: int, is_power: bool):
    assert folding.is_power_of_two([2.0**exponent, -1.0]) is is_power
    assert not folding.is_power_of_two([1.5 * 2.0 ** min(exponent, 126)])


def test_a_factor_is_a_weight_while_its_scale_is_normal():
    stored, scales = folding.channel_as_weight([127 * float(TINY), -127 * float(TINY), 126 * float(TINY), 0])
    assert stored.tolist() == [127, -127, 0, 0]
    np.testing.assert_array_equal(scales, np.array([TINY, TINY, 1, 1], np.float32))


def test_a_normal_quotient_is_not_rounded_down():
    assert sums.weight_scale(np.float32(TINY / 2), np.float32(0.5)) == TINY
    assert sums.weight_scale(np.float32(TINY), np.float32(1.0)) == TINY


@pytest.mark.parametrize(
    ("which", "stored", "scales"),
    [
        # 7 is 63 / 9, so 8 times finer; 32 is above half of 63, and 31 below
        ([True, True, True, True], [[-56, 8], [32, 0], [62, 2], [0, 0]], [0.125, 1, 0.5, 1]),
        ([False, True, True, True], [[-7, 1], [32, 0], [62, 2], [0, 0]], [1, 1, 0.5, 1]),
    ],
)
def test_weights_are_as_fine_as_63_steps_allow(
    which: list[bool], stored: list[list[int]], scales: list[float]
):
    weight = np.array([[-7, 1], [32, 0], [31, 1], [0, 0]], np.int8)
    finer = folding.finer_weight(weight, np.ones(4, np.float32), np.zeros(4), np.array(which), 0)
    assert (finer.stored.tolist(), finer.scales.tolist()) == (stored, scales)


def test_a_scale_next_to_the_least_is_no_finer_than_that():
    weight, which = np.array([[1], [1], [1]], np.int8), np.ones(3, bool)
    finer = folding.finer_weight(weight, np.array([TINY, 4 * TINY, 1], np.float32), np.zeros(3), which, 0)
    assert finer.stored.tolist() == [[1], [4], [32]]
    np.testing.assert_array_equal(finer.scales, np.array([TINY, TINY, 2.0**-5], np.float32))


def test_a_widened_channel_holds_its_bias_and_says_how_far_it_moved():
    stored = np.array([[100, -100, 3], [100, -100, 3]], np.int8)
    wide = folding.widen_for_bias(
        stored, [0.5, 0.5], [0, 1], [3.0, 2.0**31], 0.25, [False, True], 0, -128, 127
    )
    scale = 8 * (1 + 2.0**-20)
    np.testing.assert_array_equal(wide.scales, np.array([0.5, scale], np.float32))
    assert wide.stored.tolist() == [[100, -100, 3], [7, -5, 1]]  # 49.5, -50.5 and 1 in steps of 8, and 1
    assert wide.moved.tolist()[0] == 0
    assert wide.moved[1] == pytest.approx(1.5 + 2.5 + 1, rel=1e-4)


def test_the_scale_of_zeros_alone_is_that_of_their_bias():
    """2^20 steps of 0.5 times the scale; never larger than before, nor too small for a normal product."""
    which = np.array([True, True, True, False])
    scales = folding.scales_for_bias([2.0**10, 2.0**30, 0.0, 2.0**10], 0.5, np.float32(2), which)
    np.testing.assert_array_equal(scales, np.array([2.0**-9, 2, 4 * TINY, 2], np.float32))


class Steps:
    """`_faithful` of which is known how many results it misses, by bits."""

    def __init__(self, missed: dict[int, float]):
        self.missed, self.asked = missed, list[int]()

    def __call__(self, ratio: Any, low: int, high: int, largest: int, bits: int) -> Rounding:
        self.asked.append(bits)
        return Rounding(numerics.rescale_factors(ratio), bits, self.missed.get(bits, 1.0))


@pytest.mark.parametrize(
    ("missed", "bits", "asked"),
    [
        ({0: near_ties.SELDOM}, 0, [0]),
        ({0: 0.5, 15: 0.25}, 0, [0, *range(19, 7, -1)]),
        ({0: 0.5, 15: 0.24}, 15, [0, *range(19, 7, -1)]),
        ({0: 0.5, 15: 0.24, 12: 0.23}, 12, [0, *range(19, 7, -1)]),
        ({0: 0.5, 15: 0.0}, 15, [0, *range(19, 14, -1)]),
        ({0: 0.5, 8: 0.0}, 8, [0, *range(19, 7, -1)]),
        ({0: 0.5, 7: 0.0}, 0, [0, *range(19, 7, -1)]),
    ],
)
def test_two_roundings_have_to_miss_less_than_half_as_much(
    missed: dict[int, float], bits: int, asked: list[int], monkeypatch: pytest.MonkeyPatch
):
    """1000 times 1 is below 2^10: 19 further bits are below 2^29."""
    steps = Steps(missed)
    monkeypatch.setattr(near_ties, "_faithful", steps)
    assert faithful_rounding([1.0], -128, 127, 1000).bits == bits
    assert steps.asked == asked


def test_a_multiplier_moves_to_the_nearest_that_keeps_most():
    within = near_ties.nearest_multiplier
    most = numerics.INT32_MAX

    def moved(start: int, *bounds: tuple[int, int, float]) -> int:
        least, greatest, weights = (np.array(column) for column in zip(*bounds, strict=True))
        return within(start, least, greatest, weights)

    assert moved(most - 1, (most, most, 1.0)) == most
    assert moved(most - 1, (most + 1, most + 1, 1.0)) == most - 1
    assert moved(1 << 30, ((1 << 30) + 256, (1 << 30) + 300, 1.0)) == (1 << 30) + 256
    assert moved(1 << 30, ((1 << 30) + 257, (1 << 30) + 300, 1.0)) == 1 << 30  # further than 2^-22
    start = 1 << 30
    assert moved(start, (start + 5, start + 9, 1.0), (start - 9, start - 3, 1.0)) == start - 3
    assert moved(start, (start + 5, start + 9, 1.5), (start - 9, start - 3, 1.0)) == start + 5
    assert moved(start, (start + 5, start + 9, 1.0), (start - 9, start - 3, 1.5)) == start - 3


def test_a_moved_ratio_is_steps_of_2_to_the_minus_23_away():
    draw, moves = np.random.default_rng(5), list[float]()
    for _ in range(4):
        ratios = (np.float32(2.0 ** draw.uniform(-2, 1)), np.float32(2.0 ** draw.uniform(-2, 1)))
        moved = faithful_ratios(ratios, (3, -7, 11), -139, 116, 18)
        moves += [(after / float(before) - 1) * 2.0**23 for after, before in zip(moved, ratios, strict=True)]
    assert np.allclose(moves, np.rint(moves), rtol=0, atol=1e-6)
    assert any(round(move) for move in moves)


def test_negative_scales_turn_integers_where_they_fit():
    stored, zeros, negative = (
        np.array([[-128, 5], [-100, 7]], np.int8),
        np.zeros(2, np.int8),
        np.array([False, True]),
    )
    turned = signs.turn_negative(stored, negative, zeros, -128, 127, 0)
    assert turned.zero_points is None
    assert turned.stored.tolist() == [[-128, 5], [100, -7]]
    turned = signs.turn_negative(stored, ~negative, zeros, -128, 127, 0)
    assert turned.stored.tolist() == [[127, -6], [-100, 7]]
    assert turned.zero_points is not None
    assert turned.zero_points.tolist() == [-1, 0]


def test_a_table_of_reciprocals_is_not_above_any():
    entries, error = tables.reciprocals(255.0)
    numbers = np.linspace(1, 255.499, 5000)
    guesses = entries[np.rint(numbers).astype(int)] / 2.0**23
    assert (guesses <= 1 / numbers * (1 + 2.0**-40)).all()
    assert (1 - guesses * numbers).max() <= error
    assert entries[[0, 1, 255]].tolist() == [2**23, 2**24 // 3, 2**24 // 511]


def test_tables_of_exponentials_and_roots():
    exponentials = tables.exponentials(0.01, 16)
    assert exponentials.shape == (256,)
    assert exponentials[[0, 254, 255]].tolist() == [
        round(np.exp(-2.55) * 65536),
        round(np.exp(-0.01) * 65536),
        65536,
    ]
    roots = tables.inverse_roots()
    assert roots.shape == (256,)
    assert roots[[0, 63, 64, 255]].tolist() == [0, 0, 2**23, round(2**22 / np.sqrt(255 / 256))]


def test_ends_of_a_zero_point_and_infinities():
    """16 bits and less are added in float32, more in float64."""
    for low, high, dtype in ((-128, 127, np.int8), (-(2**31), 2**31 - 1, np.int32)):
        stored = numerics.quantize([np.nan, np.inf, -np.inf, 2.5, 3.5], 1.0, 3, low, high, dtype)
        assert stored.tolist() == [low, high, low, 5, 7]
    wide = numerics.quantize([2.0**24, 2.0**24 + 2], 1.0, 1, -(2**31), 2**31 - 1, np.int32)
    assert wide.tolist() == [2**24 + 1, 2**24 + 3]


def test_a_scale_next_to_another_is_taken_for_it():
    scale = np.array([0.25, 0.3], np.float32)
    below, above = np.nextafter(scale, np.float32(0)), np.nextafter(scale, np.float32(1))
    for near in (below, above, scale):
        assert folding.near_scale(scale, near) is near
    for far in (np.nextafter(above, np.float32(1)), above.astype(np.float64), above[:1], above[:, None]):
        assert folding.near_scale(scale, far) is scale
    assert folding.near_scale(scale[:1], above[0].reshape(())).tolist() == [above[0]]
    assert folding.near_scale(np.array([np.inf], np.float32), scale[:1]).tolist() == [np.inf]


def test_sizes_below_1_count_as_1_where_numbers_are_compared():
    zero, near, far = (np.array([x]) for x in (0.0, 0.9e-3, 1.5e-3))
    size = np.array([0.5])
    assert numerics.are_near(zero, near, size, 1e-3)
    assert not numerics.are_near(zero, far, size, 1e-3)
    assert numerics.are_near(zero, far, np.array([-2.0]), 1e-3)


@pytest.mark.parametrize("shift", [31, 32, 33, 62])
def test_a_value_rescaled_has_32_bits_whatever_the_shift(shift: int):
    """Of a shift of 31, 31 bits."""
    bound = 2 ** (min(shift, 32) - 1)
    ends = -numerics.INT32_MAX - 1, numerics.INT32_MAX
    least = np.int64(-bound)
    assert numerics.rescale(least, 1 << 30, shift, 0, 0, *ends, np.int32) == -(bound << 30 >> shift)
    for value in (least - 1, -least):
        with pytest.raises(ValueError, match="too large"):
            numerics.rescale(value, 1 << 30, shift, 0, 0, *ends, np.int32)
