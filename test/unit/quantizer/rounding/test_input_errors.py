"""Rounding that knows the error of a layer's inputs, against all integers tried and against plain GPTQ."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.onnx_io.importer import import_model
from qdialect.promises.window import WindowAttributes
from qdialect.quantizer.rounding.gptq import blocked_codes
from qdialect.quantizer.rounding.hessian import CrossMoments, Hessian, grid_step
from qdialect.quantizer.rounding.input_errors import InputMoments, Pairs, best_target
from qdialect.quantizer.rounding.layers import LinearLayer
from qdialect.quantizer.rounding.rounding import number_layers
from qdialect.quantizer.rounding.sequential import numbered
from qdialect.quantizer.rounding.walk import Walk
from qdialect.quantizer.statistics.observer import Observer

STEP = grid_step(8.0)
WINDOW = WindowAttributes(kernel=(3, 3), strides=(1, 1), dilations=(1, 1), pads=(1, 1, 1, 1))
LAYERS = {
    "MatMul": (LinearLayer((5, 4), 1), (40, 5)),
    "Gemm": (LinearLayer((4, 5), 0), (40, 5)),
    "Conv": (LinearLayer((4, 2, 3, 3), 0, window=WINDOW), (6, 2, 5, 6)),
    "depthwise": (LinearLayer((4, 1, 3, 3), 0, groups=4, window=WINDOW), (6, 4, 5, 6)),
}


def inputs(shape: tuple[int, ...], seed: int = 0) -> tuple[Any, Any]:
    """An activation on the Hessians' grid, and the same with an error that is in part a function of it."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=shape)
    error = 0.1 * np.roll(x, 1, axis=1) + 0.05 * draw.normal(size=shape)
    x, other = (np.rint(a / STEP) * STEP for a in (x, x + error))
    return x.astype(np.float32), other.astype(np.float32)


def moments(layer: LinearLayer, x: Any, other: Any) -> InputMoments:
    seen = InputMoments(layer, STEP)
    seen.update(x, other)
    return seen


def rows_of(layer: LinearLayer, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=layer.rows_shape).astype(np.float32)


def patches(layer: LinearLayer, x: Any) -> Any:
    return np.concatenate(list(layer.patches(x)), axis=1).astype(np.float64)


@pytest.mark.parametrize("kind", LAYERS)
def test_the_error_is_that_of_the_results(kind: str) -> None:
    layer, shape = LAYERS[kind]
    x, other = inputs(shape)
    w, q = rows_of(layer), rows_of(layer, 2)
    difference = q @ patches(layer, other).transpose(0, 2, 1) - w @ patches(layer, x).transpose(0, 2, 1)
    expected = np.square(difference).mean(axis=2).sum()
    assert moments(layer, x, other).error_of(w).of(q) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", LAYERS)
def test_the_target_is_the_least_squares_solution(kind: str) -> None:
    layer, shape = LAYERS[kind]
    x, other = inputs(shape)
    w = rows_of(layer)
    found = moments(layer, x, other).error_of(w).target(1e-12)
    for group, rows in enumerate(w):
        results = patches(layer, x)[group] @ rows.T
        expected = np.linalg.lstsq(patches(layer, other)[group], results, rcond=None)[0]
        np.testing.assert_allclose(found[group], expected.T, rtol=1e-6, atol=1e-7)


def test_the_best_integers_are_those_nearest_to_the_target_in_the_metric_of_the_inputs() -> None:
    layer, summed = LinearLayer((1, 4), 0), 4
    x, other = inputs((60, summed))
    error = moments(layer, x, other).error_of(w := rows_of(layer))
    target = error.target(1e-12)
    every = np.array(list(product(range(-3, 4), repeat=summed))) * 0.7
    asked = np.array([error.of(q[None, None]) for q in every])
    away = every - target[0, 0]
    metric = np.einsum("ij,jk,ik->i", away, error.hessian[0], away)
    np.testing.assert_allclose(asked - metric, asked[0] - metric[0], atol=1e-9)
    direct = np.square(other @ every.T - x @ w[0].T).mean(axis=0)
    assert asked.argmin() == metric.argmin() == direct.argmin()


@pytest.mark.parametrize("kind", LAYERS)
def test_inputs_without_an_error_give_plain_gptq(kind: str) -> None:
    layer, shape = LAYERS[kind]
    x, _ = inputs(shape)
    w, plain = rows_of(layer), Hessian(layer, STEP)
    plain.update(x)
    error = moments(layer, x, x).error_of(w)
    assert error.own == 0.0
    np.testing.assert_array_equal(error.hessian, plain.matrix())
    target = best_target(error, error)
    np.testing.assert_array_equal(target, w)
    for ridge in (1e-5, 1.0):
        np.testing.assert_array_equal(error.target(ridge), w)
    for one, other in zip(
        blocked_codes(target[0], error.hessian[:1], 16, -8, 7, np.int8),
        blocked_codes(w[0], plain.matrix()[:1], 16, -8, 7, np.int8),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_a_target_that_held_out_samples_do_not_confirm_is_the_weight() -> None:
    layer = LinearLayer((30, 3), 1)
    steering, judging = (moments(layer, *inputs((count, 30), seed)) for seed, count in ((0, 8), (1, 400)))
    x, _ = inputs((8, 30), 5)
    unrelated = moments(layer, x, x + np.random.default_rng(9).normal(size=x.shape).astype(np.float32))
    w = rows_of(layer)
    found = best_target(unrelated.error_of(w), judging.error_of(w))
    assert judging.error_of(w).of(found) <= judging.error_of(w).own
    better = best_target(judging.error_of(w), steering.error_of(w))
    assert steering.error_of(w).of(better) < steering.error_of(w).own


@pytest.mark.parametrize("kind", LAYERS)
def test_moments_are_the_same_for_every_batch_and_merge(kind: str) -> None:
    layer, shape = LAYERS[kind]
    x, other = (a + np.float32(0.001) for a in inputs(shape))
    whole, halves = CrossMoments(layer, STEP), [CrossMoments(layer, STEP) for _ in range(2)]
    whole.update(x, other)
    for k in reversed(range(len(x))):
        halves[k % 2].update(x[k : k + 1], other[k : k + 1])
    halves[0].merge(halves[1])
    assert whole.count == halves[0].count
    np.testing.assert_array_equal(whole.matrix(), halves[0].matrix())
    with pytest.raises(ValueError, match="another layer"):
        whole.merge(CrossMoments(layer, 2 * STEP))


# --- layer after layer

ROWS = [{"x": np.random.default_rng(k).normal(size=(1, 6)).astype(np.float32)} for k in range(12)]


def chain() -> ModuleOp:
    """Three products, of which the last two have the same input."""
    draw = np.random.default_rng(3)
    arrays = {name: draw.normal(size=(6, 6)).astype(np.float32) for name in ("a", "b", "c")}
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"], "first"),
        helper.make_node("Relu", ["p"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "b"], ["q"], "second"),
        helper.make_node("MatMul", ["r", "c"], ["s"], "third"),
        helper.make_node("Add", ["q", "s"], ["y"], "sum"),
    ]
    return import_model(onnx_model(nodes, {"x": [1, 6]}, {"y": [1, 6]}, arrays))


def test_a_walk_gives_the_inputs_of_each_layer() -> None:
    module = chain()
    number_layers(module)
    walk, observer = Walk(module, ROWS), Observer(module)
    layers = numbered(module)
    assert walk.inputs(layers[0]) == []  # the graph's own
    for number in (1, 2):
        found = walk.inputs(layers[number])
        for row, array in zip(ROWS, found, strict=True):
            np.testing.assert_array_equal(array, observer.run([layers[number].operands[0]], row)[0])


def test_a_layer_has_the_moments_of_what_the_rounded_ones_before_it_give() -> None:
    module = chain()
    layers = number_layers(module)
    pairs = Pairs(module, ROWS, dict.fromkeys(layers, 8.0), 1 << 30)
    assert pairs.of(0) is None
    weight = np.round(np.random.default_rng(3).normal(size=(6, 6))).astype(np.float32)
    pairs.put(0, weight)
    pair, same = pairs.of(1), pairs.of(2)
    assert pair is not None
    assert same is not None
    assert same.steering is pair.steering
    assert same.op is layers[2]
    x, expected = Observer(module), InputMoments(pair.steering.layer, grid_step(8.0))
    for k, row in enumerate(ROWS, start=1):
        if k % 3:
            expected.update(x.run([layers[1].operands[0]], row)[0], np.maximum(row["x"] @ weight, 0))
    w = rows_of(LinearLayer((6, 6), 1))
    assert pair.steering.error_of(w).own == pytest.approx(expected.error_of(w).own, rel=1e-4)


def test_moments_beyond_memory_are_not_taken() -> None:
    module = chain()
    pairs = Pairs(module, ROWS, dict.fromkeys(number_layers(module), 8.0), 1000)
    pairs.put(0, np.zeros((6, 6), np.float32))
    assert [pairs.of(number) for number in pairs.numbers] == [None, None, None]
