"""A classifier is judged by what enters its Softmax: the shares of a sure one hold no noise to judge by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from qdialect.calibration.decisive import decided, let_out_what_decides
from qdialect.calibration.profiling import Profiler
from qdialect.compiler.candidates import Candidates, Choice
from qdialect.compiler.dropping import hold, parse_limit
from qdialect.compiler.options import Calibration, Options
from qdialect.compiler.quantize import prepare, quantize_module
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.oracle.session import session

SIZES, CLASSES = (48, 64), 6


def classifier(last: str = "Softmax", shape: tuple[int | str, ...] = ("n", CLASSES)) -> ModuleOp:
    """Two products; the logits are so far apart that nearly every sample is sure."""
    draw = np.random.default_rng(1)
    w = [draw.normal(size=s).astype(np.float32) for s in (SIZES, (SIZES[1], CLASSES))]
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["h"], "hidden"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "w1"], ["l"], "logits"),
        helper.make_node(last, ["l"], ["y"], "last"),
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
        for name, sizes in (("x", [*shape[:-1], SIZES[0]]), ("y", list(shape)))
    )
    constants = [numpy_helper.from_array(a, f"w{k}") for k, a in enumerate(w)]
    graph = helper.make_graph(nodes, "g", [x], [y], constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return import_model(onnx.shape_inference.infer_shapes(proto))


def samples(count: int = 24) -> list[dict[str, npt.NDArray[np.float32]]]:
    draw = np.random.default_rng(2)
    return [{"x": draw.normal(size=(1, SIZES[0])).astype(np.float32)} for _ in range(count)]


@pytest.mark.parametrize(
    ("last", "shape", "places"),
    [
        ("Softmax", ("n", CLASSES), {0}),
        ("Softmax", (1, 1, CLASSES), {0}),
        ("Softmax", (1, 40, CLASSES), set[int]()),
        ("Sigmoid", ("n", CLASSES), set[int]()),
        ("Relu", ("n", CLASSES), set[int]()),
    ],
)
def test_one_row_of_shares_is_decided(last: str, shape: tuple[int | str, ...], places: set[int]) -> None:
    assert decided(classifier(last, shape)) == places


def test_what_decides_is_let_out_in_its_place() -> None:
    module = let_out_what_decides(classifier(), {0})
    model = export_model(module).SerializeToString()
    (logits,) = session(model).run(None, samples(1)[0])
    (shares,) = session(export_model(classifier()).SerializeToString()).run(None, samples(1)[0])
    powers = np.exp(np.asarray(logits, np.float64) - np.max(logits))
    np.testing.assert_allclose(powers / powers.sum(), shares, atol=1e-6)


def candidates() -> Candidates:
    module = classifier()
    prepare(module, Options(form="qdq"))
    profiler = Profiler(module)
    profiler.add(samples())
    return Candidates(module, profiler.profile, profiler.samples, Options(form="qdq"))


def test_a_sure_classifier_is_judged_by_its_logits() -> None:
    both = candidates()
    trial, plain = both.attempt(Choice()), both.by_outputs().attempt(Choice())
    assert trial.noise is not None
    assert plain.noise is not None
    # The logits of all samples have about as much noise; of the shares, a few samples have nearly all.
    for noise, most in ((trial.noise, 0.3), (plain.noise, 1.1)):
        assert noise.noise.max() / noise.noise.sum() < most
    assert plain.noise.noise.max() / plain.noise.noise.sum() > 0.4


def test_a_limit_is_one_of_the_outputs() -> None:
    both = candidates()
    trial, outputs = both.attempt(Choice()), both.by_outputs().attempt(Choice())
    assert trial.ratio != pytest.approx(outputs.ratio, abs=1)
    held = hold(both, trial, parse_limit(f"{outputs.ratio - 0.5:.1f}dB"))
    assert held.plan.reached
    assert not held.plan.kept
    assert held.trial.ratio == pytest.approx(outputs.ratio)


def test_the_budget_is_held_against_the_logits() -> None:
    done = quantize_module(classifier(), samples(), Calibration(budget=True), Options(form="qdq"))
    assert done.budget is not None
    assert done.budget.shares == pytest.approx(done.budget.measured, abs=0.45)
