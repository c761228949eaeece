"""The integer-only arithmetic: a multiplier and a shift, at most one step from what onnxruntime computes."""

import numpy as np
import pytest

from qdialect import numerics

RATIOS = np.float32(10.0) ** np.random.default_rng(0).uniform(-6, 1.5, 200).astype(np.float32)


def by_hand(value: int, multiplier: int, shift: int) -> int:
    """apply_scale_32 of the TOSA specification, in Python's integers."""
    return (value * multiplier + (1 << (shift - 1))) >> shift


def test_factors_meet_a_float32_scale_without_error():
    multiplier, shift = numerics.rescale_factors(RATIOS)
    assert (multiplier.astype(np.float64) / 2.0 ** shift.astype(np.float64) == RATIOS).all()
    assert multiplier.min() >= 1 << 30
    assert multiplier.dtype == np.int32
    assert shift.dtype == np.int8


def test_factors_of_a_scale_that_rounds_up_to_a_power_of_two():
    multiplier, shift = numerics.rescale_factors(1 - 2.0**-40)
    assert (int(multiplier), int(shift)) == (1 << 30, 30)


def test_factors_of_a_scale_below_the_last_shift():
    multiplier, shift = numerics.rescale_factors(2.0**-40)
    assert (int(multiplier), int(shift)) == (1 << 22, 62)


@pytest.mark.parametrize("scale", [0.0, -0.5, np.inf, np.nan, 2.0**30])
def test_factors_refuse(scale: float):
    with pytest.raises(ValueError, match="rescale"):
        numerics.rescale_factors(scale)


def test_rescale_is_the_specification_in_exact_integers():
    rng = np.random.default_rng(1)
    for ratio in RATIOS[:60]:
        multiplier, shift = numerics.rescale_factors(ratio)
        reach = min(numerics.rescale_reach(shift), 2**31 - 1)
        values = np.concatenate([rng.integers(-reach, reach, 50), [-reach, -1, 0, 1, reach]])
        out = numerics.rescale(values, multiplier, shift, 0, 0, -(2**31), 2**31 - 1, np.int32)
        assert out.tolist() == [by_hand(int(v), int(multiplier), int(shift)) for v in values]


@pytest.mark.parametrize(("shift", "reach"), [(8, 127), ([20, 9, 11], 255), (32, 2**31 - 1), (40, 2**31 - 1)])
def test_the_reach_is_what_still_fits_in_32_bits(shift: int | list[int], reach: int):
    assert numerics.rescale_reach(shift) == reach


def test_ties_go_up():
    multiplier, shift = numerics.rescale_factors(0.5)
    out = numerics.rescale(np.array([-3, -1, 1, 3], np.int32), multiplier, shift, 0, 0, -128, 127, np.int8)
    assert out.tolist() == [-1, 0, 1, 2]
    as_onnxruntime = numerics.requantize(np.array([-3, -1, 1, 3], np.int32), 0.5, 0, -128, 127, np.int8)
    assert as_onnxruntime.tolist() == [-2, 0, 0, 2]


def test_accumulators_are_at_most_one_step_from_onnxruntimes_arithmetic():
    rng = np.random.default_rng(2)
    for ratio in RATIOS:
        multiplier, shift = numerics.rescale_factors(ratio)
        reach = min(numerics.rescale_reach(shift), 2**31 - 1, int(300 / ratio) + 2)
        sums = rng.integers(-reach, reach, 2000).astype(np.int32)
        zero_point = int(rng.integers(-100, 100))
        integer = numerics.rescale(sums, multiplier, shift, 0, zero_point, -128, 127, np.int8)
        floats = numerics.requantize(sums, ratio, zero_point, -128, 127, np.int8)
        assert np.abs(integer.astype(np.int32) - floats).max() <= 1, ratio


def test_bytes_are_at_most_one_step_from_casts_over_all_256_values():
    rng, stored = np.random.default_rng(3), np.arange(-128, 128).astype(np.int8)
    for _ in range(300):
        x_scale, y_scale = np.float32(2.0) ** rng.uniform(-8, 2, 2).astype(np.float32)
        x_zero, y_zero = (int(z) for z in rng.integers(-128, 128, 2))
        factors = numerics.rescale_factors(x_scale / y_scale)
        integer = numerics.rescale(stored, *factors, x_zero, y_zero, -128, 127, np.int8)
        real = numerics.dequantize(stored, x_scale, x_zero)
        floats = numerics.quantize(real, y_scale, y_zero, -128, 127, np.int8)
        assert np.abs(integer.astype(np.int32) - floats).max() <= 1


def test_each_channel_has_its_own_factors():
    multiplier, shift = numerics.rescale_factors([0.25, 2.0, 0.75])
    sums = np.array([[9, -9], [9, -9], [9, -9]], np.int32)
    out = numerics.rescale(sums, multiplier, shift, 0, 3, -128, 127, np.int8, axis=0)
    assert out.tolist() == [[5, 1], [21, -15], [10, -4]]


def test_a_value_too_large_for_its_shift_is_refused():
    multiplier, shift = numerics.rescale_factors(1000.0)
    reach = numerics.rescale_reach(shift)
    inside = numerics.rescale([-reach, reach], multiplier, shift, 0, 0, -128, 127, np.int8)
    assert inside.tolist() == [-128, 127]
    with pytest.raises(ValueError, match="too large"):
        numerics.rescale(reach + 1, multiplier, shift, 0, 0, -128, 127, np.int8)
