"""Smoothing: the same function, with channels that one scale suits."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Options
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.quantize import Calibration, quantize_module
from qdialect.quantizer.rounding.smoothing import (
    ChannelStatistics,
    ChannelSummary,
    Smoothed,
    expected_noise,
    factors,
    groups,
    smooth,
)
from qdialect.quantizer.search.noise_ablation import OutputRunner
from qdialect.quantizer.statistics.observer import Observer, observe_samples

CHANNELS = 24
DRAW = np.random.default_rng(4)
LOUD = np.where(np.arange(CHANNELS) == 5, 60.0, 1.0).astype(np.float32)
"""One channel is much larger than the others."""


def model(*, residual: bool, nodes_used: int = 7) -> ModuleOp:
    """LayerNormalization, two products of it, an activation that is no normalization, a Gemm; or the first of these."""
    draw = np.random.default_rng(5)
    initializers = {
        "g": LOUD,
        "b": draw.normal(size=CHANNELS).astype(np.float32),
        "w1": draw.normal(size=(CHANNELS, 16)).astype(np.float32),
        "w2": draw.normal(size=(CHANNELS, 16)).astype(np.float32),
        "w3": draw.normal(size=(8, 16)).astype(np.float32),
        "loud": np.where(np.arange(16) == 3, 90.0, 1.0).astype(np.float32),
    }
    nodes = [
        helper.make_node("LayerNormalization", ["x", "g", "b"], ["n"], "norm"),
        helper.make_node("MatMul", ["n", "w1"], ["p"], "first"),
        helper.make_node("MatMul", ["n", "w2"], ["q"], "second"),
        helper.make_node("Add", ["p", "q"], ["s"], "sum"),
        helper.make_node("Tanh", ["s"], ["t"], "tanh"),
        helper.make_node("Mul", ["t", "loud"], ["u"], "mul"),
        helper.make_node("Gemm", ["u", "w3"], ["y"], "third", transB=1),
    ]
    nodes = nodes[:nodes_used]
    names = [nodes[-1].output[0], *(["n"] if residual else [])]
    proto = onnx_model(nodes, {"x": ["n", CHANNELS]}, {n: None for n in names}, initializers)
    return import_model(onnx.shape_inference.infer_shapes(proto))


def samples() -> list[dict[str, Any]]:
    draw = np.random.default_rng(6)
    return [{"x": draw.normal(size=(1, CHANNELS)).astype(np.float32)} for _ in range(24)]


def smoothed(module: ModuleOp) -> list[Smoothed]:
    observer = Observer(module)
    seen = {group.value: ChannelStatistics() for group in groups(module)}
    observe_samples(observer, list(seen), samples(), lambda value, array: seen[value].update(array))
    return smooth(module, {v: s.channels for v, s in seen.items() if s.channels is not None})


@pytest.mark.parametrize("residual", [False, True])
def test_the_function_stays(residual: bool) -> None:
    module = model(residual=residual)
    changed = module.clone()
    done = smoothed(changed)
    assert [(one.layers, one.folded) for one in done] == [
        (("first", "second"), not residual),
        (("third",), False),
    ]
    assert all(one.gain > 3 for one in done)
    added = sum(isinstance(op, OnnxOp) and op.op_type == "Mul" for op in changed.walk())
    assert added == 1 + (2 if residual else 1)
    before, after = OutputRunner(module), OutputRunner(changed)
    for feeds in samples():
        expected = before.run(feeds)
        np.testing.assert_allclose(after.run(feeds), expected, atol=2e-5 * np.abs(expected).max())
    changed.verify()


def test_factors_have_the_least_expected_noise() -> None:
    x = DRAW.normal(size=(500, CHANNELS)) * LOUD
    weights = DRAW.normal(size=(16, CHANNELS))
    channels = ChannelSummary(x.min(axis=0), x.max(axis=0), np.square(x).mean(axis=0))
    s, exponent, gain = factors(channels, weights)
    assert exponent > 0
    assert gain > 6
    plain = expected_noise(channels, weights, np.ones(CHANNELS))
    assert 10 * np.log10(plain / expected_noise(channels, weights, s)) == pytest.approx(gain)
    assert s[5] > 3 * np.delete(s, 5).max()
    even = ChannelSummary(np.full(4, -1.0), np.ones(4), np.full(4, 0.3))
    assert factors(even, np.array([[0.5, -0.5, 0.5, 0.5], [0.3, 0.5, 0.5, 0.5]]))[2] < 0.5


def test_expected_noise_is_the_noise() -> None:
    """Rounded as a kernel would: one step for all of x, one for each output of w."""
    x = DRAW.normal(size=(4000, CHANNELS)) * LOUD**0.5
    weights = DRAW.normal(size=(16, CHANNELS))
    channels = ChannelSummary(x.min(axis=0), x.max(axis=0), np.square(x).mean(axis=0))
    step = (x.max() - x.min()) / 255
    steps = np.abs(weights).max(axis=1, keepdims=True) / 127
    rounded = (np.rint(x / step) * step) @ (np.rint(weights / steps) * steps).T
    error = float(np.square(rounded - x @ weights.T).mean(axis=0).sum())
    assert expected_noise(channels, weights, np.ones(CHANNELS)) == pytest.approx(error, rel=0.15)


def test_nothing_is_known_of_zeros() -> None:
    dead = ChannelSummary(np.zeros(3), np.zeros(3), np.zeros(3))
    s, exponent, gain = factors(dead, np.zeros((2, 3)))
    assert (s.tolist(), exponent, gain) == ([1.0] * 3, 0.0, 0.0)
    assert ChannelStatistics().channels is None


def test_it_is_chosen_where_it_pays() -> None:
    done = quantize_module(model(residual=False, nodes_used=2), samples(), Calibration(), Options(form="qdq"))
    assert any("smoothing" in line for line in done.log)
    assert done.choice.smooth
    # Nothing else is decided before it: one search, not one with and one without.
    tried = takewhile(lambda line: not line.startswith("candidates:"), done.log)
    assert [line.partition(":")[0] for line in tried if "smoothing" not in line] == ["minmax, gptq"]
