"""Cross-layer equalization: the same function, weights of even channels, and what one scale then loses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Options
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.ir.values import constant_array
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.preparing import prepare
from qdialect.quantizer.rounding.equalization import equalization_factors, equalize, pairs
from qdialect.quantizer.search.candidates import Candidates
from qdialect.quantizer.search.noise_ablation import OutputRunner
from qdialect.quantizer.search.space import Space
from qdialect.quantizer.search.trials import Choice
from qdialect.quantizer.statistics.profiling import Profiler

UNEVEN = (10.0 ** np.linspace(-2, 1, 6)).astype(np.float32)


def weight(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def model(middle: str = "Relu", extra: bool = False) -> ModuleOp:
    """Conv, an activation, a depthwise convolution, a pool, a transposed convolution, a product behind a mean."""
    arrays: dict[str, Any] = {
        "w0": weight(0, 6, 3, 3, 3) * UNEVEN.reshape(6, 1, 1, 1),
        "b0": weight(1, 6) * UNEVEN,
        "w1": weight(2, 6, 1, 3, 3) / UNEVEN.reshape(6, 1, 1, 1),
        "w2": weight(3, 6, 4, 2, 2),
        "b2": weight(4, 4),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first"),
        helper.make_node(middle, ["c0"], ["r0"], "middle"),
        helper.make_node("Conv", ["r0", "w1"], ["c1"], "second", group=6),
        helper.make_node("AveragePool", ["c1"], ["p1"], "pool", kernel_shape=[2, 2]),
        helper.make_node("ConvTranspose", ["p1", "w2", "b2"], ["y"], "third"),
    ]
    proto = onnx_model(
        nodes, {"x": ["n", 3, 9, 8]}, {n: None for n in ["y", *(["r0"] if extra else [])]}, arrays
    )
    return import_model(onnx.shape_inference.infer_shapes(proto))


@pytest.mark.parametrize("middle", ["Relu", "LeakyRelu"])
def test_the_function_stays_and_the_channels_are_even(middle: str) -> None:
    module = model(middle)
    changed = module.clone()
    assert [(p.first.op_type, p.second.op_type) for p in pairs(changed)] == [
        ("Conv", "Conv"),
        ("Conv", "ConvTranspose"),
    ]
    assert equalize(changed) == 2
    changed.verify()
    feeds = {"x": weight(9, 2, 3, 9, 8)}
    expected = OutputRunner(module).run(feeds)
    np.testing.assert_allclose(OutputRunner(changed).run(feeds), expected, atol=1e-5 * np.abs(expected).max())
    for before, after in zip(pairs(module), pairs(changed), strict=True):
        spreads = [_spread(constant_array(p.first.operands[1])) for p in (before, after)]
        assert spreads[1] < max(0.1 * spreads[0], 3)


def _spread(w: Any) -> float:
    rows = np.abs(w).reshape(w.shape[0], -1).max(axis=1)
    return float(rows.max() / rows.min())


@pytest.mark.parametrize("case", ["Sigmoid", "two users"])
def test_what_is_no_pair(case: str) -> None:
    module = model("Sigmoid") if case == "Sigmoid" else model(extra=True)
    assert [(p.first.op_type, p.second.op_type) for p in pairs(module)] == [("Conv", "ConvTranspose")]


def test_factors() -> None:
    s = equalization_factors(np.array([8.0, 1.0, 0.0, 2.0]), np.array([2.0, 4.0, 3.0, 0.0]))
    assert s.tolist() == [2.0, 0.5, 1.0, 1.0]


def test_a_target_of_one_scale_for_a_weight(tmp_path: Path) -> None:
    narrow = tmp_path / "narrow.toml"
    narrow.write_text(
        'name = "narrow"\nsummary = "one scale for a weight"\nform = "qdq"\nper_tensor_weights = true\n'
    )
    options = Options(str(narrow))
    module = model()
    prepare(module, options)
    profiler = Profiler(module)
    profiler.add([{"x": weight(k, 1, 3, 9, 8)} for k in range(8)])
    candidates = Candidates(Space(module, profiler.profile, profiler.samples, options))
    for rounding, bias in (("nearest", False), ("gptq", True)):
        trial = candidates.attempt(Choice("minmax", rounding, bias))
        assert trial.layers == 3
        assert trial.ratio > 30
        casts, _ = candidates.build(trial.choice)
        types = [quantized_of(op.results[0].type) for op in casts.walk() if isinstance(op, ConstantOp)]
        weights = [t for t in types if t is not None]
        assert len(weights) == 3
        assert all(t.is_per_tensor for t in weights)
