"""Multipliers by which results near a tie fall as onnxruntime's float32 has them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from qdialect import numerics
from qdialect.evaluation.session import run
from qdialect.numerics.near_ties import (
    Rounding,
    faithful_ratios,
    faithful_rounding,
    multiplier_bounds,
    nearest_multiplier,
)

Ints = npt.NDArray[np.int64]
LOW, HIGH = -128, 127
PLAIN_RATIO = np.float32(0.0048845904)
"""51,079 of these are 249.5 less 7e-6, which float32 takes for a tie."""


def results(sums: Ints, rounding: Rounding, low: int, high: int) -> Ints:
    """Above the zero point, in TOSA's operations: a rescale, or two with a step less where the second is odd."""
    (multiplier, shift), bits, _ = rounding
    ends = -numerics.INT32_MAX - 1, numerics.INT32_MAX
    fine = numerics.rescale(sums, multiplier[0], shift[0], 0, 0, *ends, np.int64)
    if not bits:
        return np.clip(fine, low, high)
    last = numerics.rescale_factors(2.0**-bits)
    up = numerics.rescale(fine, *last, 0, 0, low, high, np.int64)
    return np.asarray(numerics.rescale(fine - up % 2, *last, 0, 0, low, high, np.int64))


def missed(rounding: Rounding, ratio: np.float32, low: int, sums: Ints) -> Ints:
    """The sums of which the results, from `low` to `low` + 255, are not onnxruntime's."""
    wanted = numerics.requantize(sums, ratio, 0, low, low + 255, np.int64)
    return sums[results(sums, rounding, low, low + 255) != wanted]


def all_sums(largest: int) -> Ints:
    return np.arange(-largest, largest + 1)


def plain(ratio: np.float32) -> Rounding:
    return Rounding(numerics.rescale_factors([ratio]), 0, 0.0)


def test_a_sum_that_float32_takes_for_a_tie_goes_to_even():
    sums = all_sums(60_000)
    assert missed(plain(PLAIN_RATIO), PLAIN_RATIO, 0, sums).tolist() == [51079]
    assert missed(plain(PLAIN_RATIO), PLAIN_RATIO, 0, all_sums(51_078)).tolist() == []
    assert faithful_rounding([PLAIN_RATIO], 0, 255, 51_078) == plain(PLAIN_RATIO)
    at_the_end = faithful_rounding([PLAIN_RATIO], 0, 255, 51_079)
    assert missed(at_the_end, PLAIN_RATIO, 0, all_sums(51_079)).tolist() == []
    rounding = faithful_rounding([PLAIN_RATIO], 0, 255, 60_000)
    assert (rounding.bits, rounding.missed) == (0, 0)
    assert missed(rounding, PLAIN_RATIO, 0, sums).tolist() == []


def test_each_ratio_gets_a_multiplier_of_its_own_within_the_error_of_float32():
    ratios = np.float32(10.0) ** np.random.default_rng(0).uniform(-3, -0.5, 300).astype(np.float32)
    multiplier, shift = numerics.rescale_factors(ratios)
    (faithful, same), bits, _ = faithful_rounding(ratios, -100, 155)
    assert bits == 0
    assert (shift == same).all()
    moved = np.abs(faithful.astype(np.int64) - multiplier) / multiplier
    assert 0 < np.count_nonzero(moved) < ratios.size
    assert moved.max() <= 2.0**-22
    before, after = (
        sum(
            missed(Rounding((m[k : k + 1], shift[k : k + 1]), 0, 0.0), r, -100, all_sums(int(160 / r))).size
            for k, r in enumerate(ratios)
        )
        for m in (multiplier, faithful)
    )
    assert after * 3 < before


RATIONAL = np.float32(0.0029049297)
"""33 / 11360: all odd multiples of 5,680 are ties, which float32 rounds up and down in turn."""


def test_ties_that_want_opposite_multipliers_go_to_even_in_two_rounds():
    largest = 90_000
    sums = all_sums(largest)
    assert missed(plain(RATIONAL), RATIONAL, 0, sums).tolist() == [5680, 28400, 51120]
    rounding = faithful_rounding([RATIONAL], 0, 255, largest)
    assert rounding.bits > 0
    assert rounding.missed == 0
    assert missed(rounding, RATIONAL, 0, sums).tolist() == []


def test_ties_that_no_sum_reaches_cost_nothing():
    rounding = faithful_rounding([RATIONAL], 0, 255, 17_000)
    assert (rounding.bits, rounding.missed) == (0, 0)
    assert missed(rounding, RATIONAL, 0, all_sums(17_000)).tolist() == []


@pytest.mark.parametrize("low", [-200, -128, -3, 0])
@pytest.mark.parametrize(
    "ratio", [2.0**-1, 2.0**-6, 2.0**-9, 5 * 2.0**-11, 51 * 2.0**-13, 1 / 6, 1 / 50, 7 / 1000]
)
def test_every_sum_of_a_ratio_with_many_ties_is_onnxruntimes(ratio: float, low: int):
    scale = np.float32(ratio)
    largest = int(300 / ratio)
    before = missed(plain(scale), scale, low, all_sums(largest))
    rounding = faithful_rounding([scale], low, low + 255, largest)
    assert before.size > 1
    assert rounding.bits > 0
    assert missed(rounding, scale, low, all_sums(largest)).tolist() == []


def test_two_rounds_that_help_little_are_not_taken():
    """Float32 takes but some of this ratio's ties for ties: those of 4.5, 16.5, 34.5, 37.5, and so on."""
    ratio, sums = np.float32(3 / 9998), all_sums(900_000)
    rounding = faithful_rounding([ratio], 0, 255, 900_000)
    assert rounding.bits == 0
    assert missed(rounding, ratio, 0, sums).size == 11


@pytest.mark.parametrize("ratio", [1.0, 1 / 9, 211 * 2.0**-16, 0.1234567, 2.0**-9 + 2.0**-21])
def test_a_ratio_with_few_ties_takes_one_rescale(ratio: float):
    scale = np.float32(ratio)
    largest = int(300 / ratio)
    rounding = faithful_rounding([scale], -128, 127, largest)
    assert rounding.bits == 0
    assert missed(rounding, scale, -128, all_sums(largest)).size <= 1


def test_the_share_that_is_said_to_be_missed_is_that_of_all_sums():
    draw, wrong = np.random.default_rng(11), 0
    for _ in range(60):
        ratio = np.float32((2 * draw.integers(1, 40) - 1) / (2 * draw.integers(20, 4000)))
        low, largest = -int(draw.integers(0, 256)), int(300 / ratio * 2.0 ** draw.uniform(0, 3))
        rounding = faithful_rounding([ratio], low, low + 255, largest)
        count = missed(rounding, ratio, low, all_sums(largest)).size
        assert count == round(rounding.missed * 255 / float(ratio))
        wrong += count
    assert wrong > 0


@pytest.mark.parametrize("ratio", [0.0, -1.0, np.inf, np.nan])
def test_ratios_that_no_multiplier_says(ratio: float):
    with pytest.raises(ValueError, match="rescale"):
        faithful_rounding([ratio], LOW, HIGH)


def sum_of(ratios: tuple[float, float], zeros: tuple[int, int, int], bits: int) -> npt.NDArray[np.int8]:
    """The integer profile's sum of every pair of bytes: terms in steps 2^-bits, then a rescale."""
    stored = np.arange(LOW, HIGH + 1).astype(np.int8)
    ends = -numerics.INT32_MAX - 1, numerics.INT32_MAX
    a, b = (
        numerics.rescale(stored, *numerics.rescale_factors(ratio * 2.0**bits), zero, 0, *ends, np.int32)
        for ratio, zero in zip(ratios, zeros, strict=False)
    )
    last = numerics.rescale_factors(2.0**-bits)
    return numerics.rescale(a[:, None] + b, *last, 0, zeros[2], LOW, HIGH, np.int8)


def onnxruntimes_sum(
    scales: tuple[np.float32, np.float32], zeros: tuple[int, int, int]
) -> npt.NDArray[np.int8]:
    """QLinearAdd of every pair of bytes, as u8, with a result of scale 1."""
    stored = np.arange(256).astype(np.uint8)
    a, b = np.repeat(stored, 256), np.tile(stored, 256)
    scalars = {"sa": scales[0], "sb": scales[1], "sy": np.float32(1)}
    scalars |= {name: np.uint8(zero + 128) for name, zero in zip(("za", "zb", "zy"), zeros, strict=True)}
    names = ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]
    graph = helper.make_graph(
        [helper.make_node("QLinearAdd", names, ["y"], domain="com.microsoft")],
        "sum",
        [helper.make_tensor_value_info(name, TensorProto.UINT8, [65536]) for name in "ab"],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [65536])],
        [numpy_helper.from_array(np.array(value), name) for name, value in scalars.items()],
    )
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=domains, ir_version=8)
    (result,) = run(model, {"a": a, "b": b})
    return (result.astype(np.int16) - 128).astype(np.int8).reshape(256, 256)


def test_sums_of_two_terms_are_onnxruntimes_but_for_few_pairs():
    draw, bits = np.random.default_rng(5), 18
    before = after = 0
    for _ in range(24):
        ratios = (np.float32(2.0 ** draw.uniform(-2, 1)), np.float32(2.0 ** draw.uniform(-2, 1)))
        first, second, last = (int(z) for z in draw.integers(-128, 100, 3))
        zeros = (first, second, last)
        moved = faithful_ratios(ratios, zeros, LOW - zeros[2], HIGH - zeros[2], bits)
        assert np.allclose(moved, ratios, rtol=2.0**-16, atol=0)
        expected = onnxruntimes_sum(ratios, zeros).astype(np.int16)
        plain, got = sum_of((float(ratios[0]), float(ratios[1])), zeros, bits), sum_of(moved, zeros, bits)
        assert np.abs(got - expected).max() <= 1
        before, after = before + int((plain != expected).sum()), after + int((got != expected).sum())
    assert after * 2 < before


def test_where_not_all_pairs_can_be_right_those_of_small_terms_are():
    """In steps of 2^-14, by how much a pair counts: a third for each 20 steps that its terms are away from 0."""
    draw, bits = np.random.default_rng(5), 14
    stored, before, after = np.arange(LOW, HIGH + 1.0), 0.0, 0.0
    for _ in range(6):
        ratios = (np.float32(2.0 ** draw.uniform(-2, 1)), np.float32(2.0 ** draw.uniform(-2, 1)))
        first, second, last = (int(z) for z in draw.integers(-128, 100, 3))
        zeros, plain = (first, second, last), (float(ratios[0]), float(ratios[1]))
        moved = faithful_ratios(ratios, zeros, LOW - last, HIGH - last, bits)
        expected = onnxruntimes_sum(ratios, zeros)
        far = np.abs((stored - first) * plain[0])[:, None] + np.abs((stored - second) * plain[1])
        before += float(np.exp(-far / 20)[sum_of(plain, zeros, bits) != expected].sum())
        after += float(np.exp(-far / 20)[sum_of(moved, zeros, bits) != expected].sum())
    assert after * 4 < before


@pytest.mark.parametrize("ratio", [0.5, 2.5, 100.5])
def test_a_sum_of_1_that_is_a_tie_goes_to_even(ratio: float):
    rounding = faithful_rounding([ratio], -128, 127, 1000)
    assert missed(rounding, np.float32(ratio), -128, all_sums(1000)).tolist() == []


def test_a_multiplier_goes_to_the_nearest_bound_of_most_weight():
    largest = 2**31 - 1

    def within(start: int, *bounds: tuple[int, int, float]) -> int:
        least, greatest, weights = (np.array(column) for column in zip(*bounds, strict=True))
        return nearest_multiplier(start, least, greatest, weights)

    assert within(2**30, (2**30 - 5, 2**30 + 5, 1.0)) == 2**30
    assert within(2**30, (2**30 + 3, 2**30 + 5, 1.0)) == 2**30 + 3
    assert within(2**30, (2**30 - 5, 2**30 - 2, 1.0)) == 2**30 - 2
    assert within(2**30, (2**30 + 3, 2**30 + 5, 1.0), (2**30 - 5, 2**30 - 2, 2.0)) == 2**30 - 2
    assert within(largest - 1, (largest, largest + 9, 1.0)) == largest
    assert within(largest - 1, (largest + 1, largest + 9, 1.0)) == largest - 1
    assert within(2**30, (2**30 + 256, 2**30 + 300, 1.0)) == 2**30 + 256
    assert within(2**30, (2**30 + 257, 2**30 + 300, 1.0)) == 2**30


@pytest.mark.parametrize("bits", [0, 3])
@pytest.mark.parametrize("sum", [1, -1, 7, -7, 100])
def test_bounds_of_a_multiplier_are_those_that_give_the_result(sum: int, bits: int):
    """The least and the greatest give it, the next ones do not; with bits, ties of the second rounding go to even."""
    shift, result = 20, 3 if sum > 0 else -4
    least, greatest = (
        int(end[0])
        for end in multiplier_bounds(
            np.array([sum]), np.array([float(result)]), np.array([shift], np.int8), bits
        )
    )

    def rounded(multiplier: int) -> int:
        fine = (sum * multiplier + (1 << shift - 1)) >> shift
        half = (1 << bits) >> 1
        up = (fine + half) >> bits
        return up - 1 if bits and up % 2 and (fine + half) % (1 << bits) == 0 else up

    assert [rounded(m) == result for m in (least - 1, least, greatest, greatest + 1)] == [
        False, True, True, False,
    ]  # fmt: skip
