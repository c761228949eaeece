"""
GPTQ, against what popular implementations get wrong: a column where a row belongs, the inverse where its factor
belongs, one order for all groups.
"""

from typing import Any

import numpy as np
import pytest

from qdialect import numerics
from qdialect.promises.window import WindowAttributes
from qdialect.quantizer.rounding import hessian as hessians
from qdialect.quantizer.rounding.gptq import (
    Grid,
    blocked_codes,
    gptq,
    result_error,
    round_weight,
    weight_grid,
)
from qdialect.quantizer.rounding.hessian import Hessian, hessian_bytes, parts_of
from qdialect.quantizer.rounding.layers import LinearLayer


def textbook(w: Any, scale: Any, high: int, h: Any, damp: float = 0.01) -> Any:
    """GPTQ as its paper has it, for one group: errors go on by a row of the upper factor of the inverse."""
    h, w = h.copy(), w.astype(np.float64)
    h[np.diag_indices_from(h)] += damp * np.diag(h).mean()
    order = np.argsort(-np.diag(h), kind="stable")
    w, h = w[:, order], h[np.ix_(order, order)]
    u = np.linalg.cholesky(np.linalg.inv(h)).T
    q = np.empty_like(w)
    for j in range(len(h)):
        q[:, j] = numerics.quantize(w[:, j], scale, 0, -high, high, np.int8)
        real = numerics.dequantize(q[:, j].astype(np.int8), scale, 0)
        w[:, j + 1 :] -= np.outer((w[:, j] - real) / u[j, j], u[j, j + 1 :])
    codes = np.empty_like(q)
    codes[:, order] = q
    return codes


def problem(seed: int, outputs: int = 6, summed: int = 40, groups: int = 1) -> tuple[Any, Any]:
    """A random weight [groups, outputs, summed] and the Hessian of correlated inputs."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(groups, outputs, summed)).astype(np.float32)
    mix = rng.normal(size=(groups, summed, summed // 2))
    x = rng.normal(size=(groups, 4 * summed, summed // 2)) @ mix.transpose(0, 2, 1)
    x += 0.3 * rng.normal(size=x.shape)
    return w, x.transpose(0, 2, 1) @ x / x.shape[1]


def total(layer: LinearLayer, weight: Any, grid: Grid, codes: Any, h: Any) -> float:
    return float(result_error(layer, weight, grid, codes, h).sum())


@pytest.mark.parametrize("high", [127, 64, 7])
def test_codes_are_those_of_the_paper(high: int) -> None:
    for seed in range(10):
        w, h = problem(seed)
        layer = LinearLayer(w[0].shape, 0)
        grid = weight_grid(layer, w[0], -high, high, per_channel=True)
        codes = gptq(layer, w[0], grid, h)
        np.testing.assert_array_equal(codes[0], textbook(w[0], grid.scales, high, h[0]))


def test_codes_depend_on_the_hessian() -> None:
    w, h = problem(1)
    layer = LinearLayer(w[0].shape, 0)
    grid = weight_grid(layer, w[0], -127, 127, per_channel=True)
    plain = gptq(layer, w[0], grid, np.eye(40)[None])
    np.testing.assert_array_equal(plain, grid.quantize(layer, layer.rows(w[0])))
    for act_order in (False, True):
        assert np.mean(gptq(layer, w[0], grid, h, act_order=act_order) != plain) > 0.1


@pytest.mark.parametrize("high", [127, 64, 7])
@pytest.mark.parametrize("per_channel", [False, True])
def test_error_is_below_that_of_nearest(high: int, per_channel: bool) -> None:
    better, gains = 0, []
    for seed in range(60):
        w, h = problem(seed)
        layer = LinearLayer(w[0].shape, 0)
        grid = weight_grid(layer, w[0], -high, high, per_channel=per_channel)
        nearest = total(layer, w[0], grid, grid.quantize(layer, layer.rows(w[0])), h)
        error = total(layer, w[0], grid, gptq(layer, w[0], grid, h), h)
        better += error <= nearest
        gains.append(10 * np.log10(nearest / error))
    assert better >= 57
    assert np.median(gains) > 2


def test_groups_are_layers_of_their_own() -> None:
    w, h = problem(2, outputs=4, summed=18, groups=3)
    weight = w.reshape(12, 2, 3, 3)
    window = WindowAttributes((3, 3), (1, 1), (1, 1), (0, 0, 0, 0))
    layer = LinearLayer(weight.shape, 0, 3, window)
    grid = weight_grid(layer, weight, -7, 7, per_channel=True)
    codes = gptq(layer, weight, grid, h)
    for g in range(3):
        part = weight[4 * g : 4 * g + 4]
        alone = LinearLayer(part.shape, 0, 1, window)
        own = weight_grid(alone, part, -7, 7, per_channel=True)
        np.testing.assert_array_equal(gptq(alone, part, own, h[g : g + 1])[0], codes[g])


@pytest.mark.parametrize("act_order", [False, True])
def test_cutting_columns_into_blocks_changes_nothing(act_order: bool) -> None:
    w, h = problem(3, summed=70)
    layer = LinearLayer(w[0].shape, 0)
    grid = weight_grid(layer, w[0], -7, 7, per_channel=True)
    whole = gptq(layer, w[0], grid, h, block=70, act_order=act_order)
    for block in (1, 16, 33, 128):
        cut = gptq(layer, w[0], grid, h, block=block, act_order=act_order)
        np.testing.assert_array_equal(cut, whole)


def test_each_depthwise_channel_is_rounded_by_its_own_inputs() -> None:
    rng = np.random.default_rng(4)
    x = np.cumsum(rng.normal(size=(6, 5, 12, 13)), axis=3).astype(np.float32)
    weight = rng.normal(size=(5, 1, 3, 3)).astype(np.float32)
    layer = LinearLayer(weight.shape, 0, 5, WindowAttributes((3, 3), (1, 1), (1, 1), (1, 1, 1, 1)))
    assert layer.rows_shape == (5, 1, 9)
    hessian, held_out = Hessian(layer, 2.0**-9), Hessian(layer, 2.0**-9)
    hessian.update(x[:4])
    held_out.update(x[4:])
    for per_channel in (False, True):
        grid = weight_grid(layer, weight, -127, 127, per_channel=per_channel)
        rounded = round_weight(layer, weight, grid, hessian, held_out)
        assert rounded.stored.shape == weight.shape
        assert rounded.error < 0.5 * rounded.nearest_error
        assert rounded.moved > 0


def test_transposed_convolution_shares_scales_between_groups() -> None:
    w, h = problem(5, outputs=3, summed=18, groups=2)
    layer = LinearLayer(
        (4, 3, 3, 3), 1, 2, WindowAttributes((3, 3), (2, 2), (1, 1), (0, 0, 0, 0)), transposed=True
    )
    weight = layer.weight(w)
    grid = weight_grid(layer, weight, -127, 127, per_channel=True)
    assert grid.scales.shape == (3,)
    codes = gptq(layer, weight, grid, h)
    nearest = grid.quantize(layer, layer.rows(weight))
    assert total(layer, weight, grid, codes, h) < total(layer, weight, grid, nearest, h)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("groups", [1, 3])
def test_very_long_rows_are_rounded_in_parts(
    groups: int, per_channel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hessians, "MAX_SUMMED", 31)
    w, _ = problem(17, summed=54, groups=groups)
    layer = LinearLayer(
        (6 * groups, 54, 1, 1), 0, groups, WindowAttributes((1, 1), (1, 1), (1, 1), (0, 0, 0, 0))
    )
    x = np.random.default_rng(18).normal(size=(20, 54 * groups, 3, 2)).cumsum(axis=1).astype(np.float32)
    hessian = Hessian(layer, 2.0**-9)
    hessian.update(x)
    matrix = hessian.matrix()
    assert (hessian.parts, matrix.shape) == (
        6,
        (6 * groups, 9, 9),
    )  # 54 * 54 / 6 is within 31 * 31, and 4 or 5 are no divisors
    weight = layer.weight(w)
    grid = weight_grid(layer, weight, -7, 7, per_channel=per_channel)
    codes = gptq(layer, weight, grid, matrix)
    for g in range(groups):
        for part in range(6):
            rows = np.ascontiguousarray(w[g, :, 9 * part : 9 * part + 9])
            scales = grid.scales[6 * g : 6 * g + 6] if per_channel else grid.scales
            own = Grid(scales, np.zeros(scales.shape, np.int32), -7, 7, np.int8)
            alone = gptq(LinearLayer(rows.shape, 0), rows, own, matrix[6 * g + part][None])
            np.testing.assert_array_equal(alone[0], codes[g, :, 9 * part : 9 * part + 9])
    nearest = grid.quantize(layer, layer.rows(weight))
    assert total(layer, weight, grid, codes, matrix) < 0.7 * total(layer, weight, grid, nearest, matrix)


@pytest.mark.parametrize("summed", [0, 1, 6143, 6144, 6151, 9216, 14336, 25088, 150528])
def test_a_hessian_has_a_bound(summed: int) -> None:
    parts = parts_of(summed)
    assert summed % parts == 0
    assert parts == 1 or summed > hessians.MAX_SUMMED
    assert hessian_bytes(LinearLayer((10, summed), 0)) <= 8 * (hessians.MAX_SUMMED**2 + summed)


def test_zero_points_and_storage_bounds() -> None:
    w, h = problem(6)
    weight, layer = np.abs(w[0]) - np.float32(0.5), LinearLayer(w[0].shape, 0)
    largest = weight.max(axis=1)
    scales = ((largest + 0.5) / 15).astype(np.float32)
    grid = Grid(scales, np.full(6, 3, np.int32), 0, 15, np.uint8)
    codes = gptq(layer, weight, grid, h)
    assert codes.dtype == np.uint8
    assert codes.max() <= 15
    nearest = grid.quantize(layer, layer.rows(weight))
    assert total(layer, weight, grid, codes, h) < total(layer, weight, grid, nearest, h)


def test_inputs_that_were_never_seen_keep_their_weights() -> None:
    w, h = problem(7)
    h[:, 3], h[:, :, 3] = 0, 0
    layer = LinearLayer(w[0].shape, 0)
    grid = weight_grid(layer, w[0], -127, 127, per_channel=True)
    codes = gptq(layer, w[0], grid, h)
    np.testing.assert_array_equal(codes[0, :, 3], grid.quantize(layer, layer.rows(w[0]))[0, :, 3])
    assert codes[0, :, 3].any()


@pytest.mark.parametrize("h", [np.zeros((1, 5, 5)), np.full((1, 5, 5), np.nan), np.ones((1, 5, 5))])
def test_degenerate_hessians(h: Any) -> None:
    weight = np.random.default_rng(8).normal(size=(3, 5)).astype(np.float32)
    layer = LinearLayer(weight.shape, 0)
    grid = weight_grid(layer, weight, -127, 127, per_channel=True)
    assert np.abs(gptq(layer, weight, grid, h).astype(int) - grid.quantize(layer, weight[None])).max() <= 64
    assert weight_grid(layer, weight * 0, -127, 127, per_channel=True).scales.tolist() == [1.0] * 3


def test_guard_keeps_the_nearest_codes() -> None:
    """Steered by patches that have nothing to do with those that judge."""
    w, _ = problem(9)
    layer = LinearLayer(w[0].shape, 0)
    rng = np.random.default_rng(10)
    steering, judging = Hessian(layer, 2.0**-9), Hessian(layer, 2.0**-9)
    steering.update((rng.normal(size=(200, 3)) @ rng.normal(size=(3, 40))).astype(np.float32))
    judging.update((rng.normal(size=(200, 40))).astype(np.float32))
    grid = weight_grid(layer, w[0], -127, 127, per_channel=True)
    rounded = round_weight(layer, w[0], grid, steering, judging)
    assert rounded.moved == 0
    np.testing.assert_array_equal(rounded.stored, grid.quantize(layer, layer.rows(w[0]))[0])
    assert round_weight(layer, w[0], grid, steering).moved > 0


def test_blocks_in_parts() -> None:
    w, h = problem(19, summed=96)
    parts = np.stack([h[0, :48, :48], h[0, 48:, 48:]])
    codes, scales = blocked_codes(w[0], parts, 16, -8, 7, np.int8)
    for k in range(2):
        own = blocked_codes(w[0][:, 48 * k : 48 * k + 48], parts[k : k + 1], 16, -8, 7, np.int8)
        np.testing.assert_array_equal(codes[:, 48 * k : 48 * k + 48], own[0])
        np.testing.assert_array_equal(scales[:, 3 * k : 3 * k + 3], own[1])


def test_blocks_have_less_error_than_rounding_to_nearest() -> None:
    gains: list[float] = []
    for seed in range(20):
        w, h = problem(seed, summed=72)
        codes, scales = blocked_codes(w[0], h, 32, -8, 7, np.int8)
        assert codes.shape == (6, 72)
        assert scales.shape == (6, 3)

        def error(codes: Any, scales: Any, w: Any = w, h: Any = h) -> float:
            e = w[0] - codes * np.repeat(scales, 32, axis=1)[:, :72]
            return float(np.einsum("nk,kl,nl->", e, h[0], e))

        plain = np.stack([np.abs(w[0][:, k : k + 32]).max(axis=1) / 7 for k in range(0, 72, 32)], axis=1)
        nearest = np.clip(np.rint(w[0] / np.repeat(plain, 32, axis=1)[:, :72]), -8, 7)
        gains.append(10 * np.log10(error(nearest, plain) / error(codes, scales)))
    assert min(gains) > 0
    assert np.median(gains) > 1.5
