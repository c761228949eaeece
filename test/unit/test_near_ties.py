"""Multipliers by which results near a tie fall as onnxruntime's float32 has them."""

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from qdialect import numerics
from qdialect.numerics.near_ties import Factors, faithful_factors, faithful_ratios
from qdialect.oracle.session import run

Ints = npt.NDArray[np.int64]
LOW, HIGH = -128, 127
PLAIN_RATIO = np.float32(0.0048845904)
"""51,079 of these are 249.5 less 7e-6, which float32 takes for a tie."""


def sums_at_ties(ratio: np.float32, zero_point: int) -> Ints:
    ties = np.arange(LOW - zero_point, HIGH - zero_point) + 0.5
    nearest = np.rint(ties / float(ratio))
    return np.unique(np.add.outer(nearest, [-1, 0, 1])).astype(np.int64)


def missed(factors: Factors, ratio: np.float32, zero_point: int) -> Ints:
    """The sums next to ties of which the results are not onnxruntime's."""
    sums = sums_at_ties(ratio, zero_point)
    got = numerics.rescale(sums, factors[0][0], factors[1][0], 0, zero_point, LOW, HIGH, np.int8)
    return sums[got != numerics.requantize(sums, ratio, zero_point, LOW, HIGH, np.int8)]


def test_a_sum_that_float32_takes_for_a_tie_goes_to_even():
    plain = numerics.rescale_factors([PLAIN_RATIO])
    assert missed(plain, PLAIN_RATIO, LOW).tolist() == [51079]
    assert missed(faithful_factors([PLAIN_RATIO], 0, 255), PLAIN_RATIO, LOW).tolist() == []


def test_each_ratio_gets_a_multiplier_of_its_own_within_the_error_of_float32():
    ratios = np.float32(10.0) ** np.random.default_rng(0).uniform(-3, -0.5, 300).astype(np.float32)
    plain, shift = numerics.rescale_factors(ratios)
    faithful, same = faithful_factors(ratios, -100, 155)
    assert (shift == same).all()
    moved = np.abs(faithful.astype(np.int64) - plain) / plain
    assert 0 < np.count_nonzero(moved) < ratios.size
    assert moved.max() <= 2.0**-22
    before, after = (
        sum(missed((m[k : k + 1], shift[k : k + 1]), r, -28).size for k, r in enumerate(ratios))
        for m in (plain, faithful)
    )
    assert after * 3 < before


def test_where_ties_want_opposite_multipliers_the_first_decides():
    ratio = np.float32(
        0.0029049297
    )  # 33 / 11360: all odd multiples of 5,680 are ties, which go up and down in turn
    assert missed(numerics.rescale_factors([ratio]), ratio, LOW).tolist() == [5680, 28400, 51120]
    assert missed(faithful_factors([ratio], 0, 255), ratio, LOW).tolist() == [
        17040,
        39760,
        62480,
        73840,
        85200,
    ]


@pytest.mark.parametrize("ratio", [0.0, -1.0, np.inf, np.nan])
def test_ratios_that_no_multiplier_says(ratio: float):
    with pytest.raises(ValueError, match="rescale"):
        faithful_factors([ratio], LOW, HIGH)


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
