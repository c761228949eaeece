"""`--max-drop`: limits, and a model that keeps one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Options
from qdialect.errors import UserError
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.preparing import prepare
from qdialect.quantizer.quantize import Calibration, quantize_module
from qdialect.quantizer.search.candidates import Candidates
from qdialect.quantizer.search.max_drop import hold, noise_budget, parse_limit
from qdialect.quantizer.search.space import Space
from qdialect.quantizer.search.trials import Choice
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.report.report import op_counts

LAYERS = 4


def model(named: str = "conv") -> ModuleOp:
    """A row of convolutions, `named` and a number; the second has weights that 8 bits hardly hold."""
    draw = np.random.default_rng(1)
    nodes: list[onnx.NodeProto] = []
    initializers: list[onnx.TensorProto] = []
    value = "x"
    for k in range(LAYERS):
        w = draw.normal(size=(16, 16, 3, 3)).astype(np.float32) / 12
        if k == 1:
            w[:, 0, 0, 0] *= 60
        initializers.append(numpy_helper.from_array(w, f"w{k}"))
        nodes.append(helper.make_node("Conv", [value, f"w{k}"], [f"c{k}"], f"{named}{k}", pads=[1, 1, 1, 1]))
        value = f"c{k}"
    proto = onnx_model(nodes, {"x": ["n", 16, 12, 13]}, {value: ["n", 16, 12, 13]}, initializers)
    return import_model(onnx.shape_inference.infer_shapes(proto))


def data() -> list[dict[str, Any]]:
    draw = np.random.default_rng(2)
    return [{"x": draw.normal(size=(1, 16, 12, 13)).astype(np.float32)} for _ in range(12)]


@pytest.mark.parametrize("text", ["", "40", "dB", "40 watts", "-1%", "1%%", "200%"])
def test_what_is_no_limit(text: str) -> None:
    with pytest.raises(UserError, match="is not a limit"):
        parse_limit(text)


def test_a_limit_is_decibels_or_percent() -> None:
    assert parse_limit("40dB").noise == pytest.approx(1e-4)
    assert parse_limit("0.5 %").changed == pytest.approx(0.005)


def test_the_limit_holds_and_the_flag_says_how() -> None:
    module = model()
    prepare(module, Options())
    profiler = Profiler(module)
    profiler.add(data())
    candidates = Candidates(Space(module, profiler.profile, profiler.samples, Options()))
    plain = candidates.attempt(Choice())
    limit = parse_limit(f"{plain.ratio + 4:.1f}dB")
    held = hold(candidates, plain, limit)
    assert held.plan.reached
    assert held.trial.ratio >= plain.ratio + 3.9
    assert 0 < len(held.plan.kept) < LAYERS
    assert held.plan.flag.startswith("--keep-float conv")
    text = "\n".join(held.summary(limit))
    assert held.plan.flag in text
    assert "% of the noise, mostly" in text
    assert sum(share.total for share in held.shares) == pytest.approx(1)


def test_a_node_with_the_name_of_a_constant_is_kept() -> None:
    done = quantize_module(model("w"), data(), Calibration(max_drop="35dB"), Options())
    assert done.limit[0].startswith("35dB holds with")
    assert done.choice.kept
    assert all(name.startswith("w") for name in done.choice.kept)


def test_a_pixel_that_is_quantized_at_run_time_has_a_noise_budget() -> None:
    """The convolution is three ops then, of which the float model has one."""
    draw = np.random.default_rng(4)
    weight, bias = (draw.normal(size=s).astype(np.float32) / 16 for s in ((512, 256, 1, 1), 512))
    nodes = [
        helper.make_node("Erf", ["x"], ["e"], "erf"),
        helper.make_node("Conv", ["e", "w", "b"], ["y"], "pixel"),
    ]
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", (1, 256, 1, 1)), ("y", (1, 512, 1, 1)))
    ]
    proto = onnx_model(nodes, ends[:1], ends[1:], {"w": weight, "b": bias})
    module = import_model(onnx.shape_inference.infer_shapes(proto))
    prepare(module, Options())
    profiler = Profiler(module)
    profiler.add([{"x": draw.normal(size=(1, 256, 1, 1)).astype(np.float32)} for _ in range(4)])
    candidates = Candidates(Space(module, profiler.profile, profiler.samples, Options()))
    trial = candidates.attempt(Choice(static=False))
    assert op_counts(candidates.build(trial.choice)[0]) == {
        "DynamicQuantizeMatMul": 1,
        "Erf": 1,
        "Reshape": 2,
    }
    budget = noise_budget(candidates, trial)
    assert [site.layers for site in budget.sites] == [("pixel",)]
    assert -10 * np.log10(budget.noise) == pytest.approx(trial.ratio, abs=1e-3)


def test_of_the_command() -> None:
    module = model()
    done = quantize_module(module, data(), Calibration(max_drop="50%"), Options())
    assert done.limit == ["50% holds without a layer kept in float for it"]


def test_a_limit_that_no_integers_keep_is_the_reason_for_float() -> None:
    done = quantize_module(model(), data(), Calibration(max_drop="150dB"), Options())
    assert done.floating == "with a layer in integers 150dB does not hold"


@pytest.mark.parametrize("limit", ["25dB", "1%"])
def test_a_limit_where_no_layer_is_faster_in_integers(limit: str) -> None:
    weight = helper.make_tensor("w", TensorProto.FLOAT, (3, 2), [0.5, -1.0, 2.0, 0.25, 1.5, -0.75])
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", (5, 3)), ("y", (5, 2)))]
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "small")
    small = import_model(onnx_model([node], ends[:1], ends[1:], [weight]))
    draw = np.random.default_rng(3)
    rows = [{"x": draw.normal(size=(5, 3)).astype(np.float32)} for _ in range(6)]
    done = quantize_module(small, rows, Calibration(max_drop=limit), Options())
    assert (done.integer, done.floating) == (0, "no op is faster in integers")


def test_a_limit_needs_samples() -> None:
    module = model()
    profiler = Profiler(module)
    profiler.add(data())
    candidates = Candidates(Space(module, profiler.profile, type(profiler.samples)(), Options()))
    trial = candidates.attempt(Choice())
    with pytest.raises(UserError, match="give --data"):
        hold(candidates, trial, parse_limit("40dB"))
