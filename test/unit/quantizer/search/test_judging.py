"""A classifier is judged by what enters its Softmax: the shares of a sure one hold no noise to judge by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration, Options
from qdialect.evaluation.session import session
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.preparing import prepare
from qdialect.quantizer.quantize import quantize_module
from qdialect.quantizer.search.candidates import Candidates
from qdialect.quantizer.search.judging import MAX_USEFUL_DB, chosen, decided, output_decisive_tensors
from qdialect.quantizer.search.max_drop import hold, parse_limit
from qdialect.quantizer.search.space import Space
from qdialect.quantizer.search.trials import Choice, Trial
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Noise

SIZES, CLASSES = (48, 64), 6


def weights() -> list[npt.NDArray[np.float32]]:
    draw = np.random.default_rng(1)
    return [draw.normal(size=s).astype(np.float32) for s in (SIZES, (SIZES[1], CLASSES))]


def classifier(
    last: str = "Softmax", shape: tuple[int | str, ...] = ("n", CLASSES), size: float = 1.0
) -> ModuleOp:
    """Two products; the larger the logits, the surer is every sample."""
    w = weights()
    w[1] *= np.float32(size)
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
    proto = onnx_model(nodes, [x], [y], {f"w{k}": a for k, a in enumerate(w)})
    return import_model(onnx.shape_inference.infer_shapes(proto))


def samples(count: int = 24) -> list[dict[str, npt.NDArray[np.float32]]]:
    """Such as have one class far above the others."""
    draw, (hidden, out) = np.random.default_rng(2), weights()
    rows = draw.normal(size=(40 * count, SIZES[0])).astype(np.float32)
    logits = np.sort(np.maximum(rows @ hidden, 0) @ out)
    clear = logits[:, -1] - logits[:, -2] > 0.7 * logits.std()
    return [{"x": row[None]} for row in rows[clear][:count]]


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


def choosing() -> ModuleOp:
    """The same, which gives out the place of the largest logit alone."""
    proto = export_model(classifier("Relu"))
    del proto.graph.node[-1]
    del proto.graph.output[:]
    proto.graph.node.append(helper.make_node("ArgMax", ["l"], ["y"], "choice", axis=1, keepdims=0))
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.INT64, ["n"]))
    return import_model(proto)


def test_a_model_of_choices_alone_is_judged_by_what_they_are_made_from() -> None:
    assert chosen(choosing()) == {0}
    assert not decided(choosing())
    assert not chosen(classifier())
    done = quantize_module(choosing(), samples(), Calibration(budget=True), Options(form="qdq"))
    assert 25 < done.ratio < 60
    assert all("inf dB" not in line for line in done.log)
    assert done.budget is not None
    assert done.budget.shares == pytest.approx(done.budget.measured, abs=0.45)
    limit = f"{done.ratio - 3:.0f}dB"
    held = quantize_module(choosing(), samples(), Calibration(max_drop=limit), Options(form="qdq"))
    assert held.limit == [f"{limit} holds without a layer kept in float for it"]


def test_what_decides_is_let_out_in_its_place() -> None:
    module = output_decisive_tensors(classifier(), {0})
    model = export_model(module).SerializeToString()
    (logits,) = session(model).run(None, samples(1)[0])
    (shares,) = session(export_model(classifier()).SerializeToString()).run(None, samples(1)[0])
    powers = np.exp(np.asarray(logits, np.float64) - np.max(logits))
    np.testing.assert_allclose(powers / powers.sum(), shares, atol=1e-6)


def candidates(size: float = 1.0) -> Candidates:
    module = classifier(size=size)
    prepare(module, Options(form="qdq"))
    profiler = Profiler(module)
    profiler.add(samples())
    return Candidates(Space(module, profiler.profile, profiler.samples, Options(form="qdq")))


def test_shares_that_say_something_are_judged_as_they_are() -> None:
    both = candidates(size=0.05)
    trial, plain = both.attempt(Choice()), both.by_outputs().attempt(Choice())
    assert trial.ratio == pytest.approx(plain.ratio, abs=0.01)


def test_a_sure_classifier_is_judged_where_no_sample_is_sure() -> None:
    both = candidates(size=40.0)
    trial, plain = both.attempt(Choice()), both.by_outputs().attempt(Choice())
    assert trial.noise is not None
    assert plain.ratio > MAX_USEFUL_DB
    assert trial.ratio < 50
    # Every sample has noise, none has nearly all.
    assert trial.noise.noise.max() / trial.noise.noise.sum() < 0.5
    assert trial.noise.noise.min() > 0


def test_what_wins_by_a_sample_must_not_lose_where_none_is_sure() -> None:
    def trial(gain: float, soft: float) -> Trial:
        noise, softened = (Noise(np.ones(8), np.full(8, 1e-4 * 10 ** (-g / 10))) for g in (gain, soft))
        return Trial(Choice(), noise, 0.5, 1, 1, softened=softened)

    assert trial(3, 0.1).beats(trial(0, 0))
    assert not trial(3, -0.1).beats(trial(0, 0))
    assert not trial(-1, 3).beats(trial(0, 0))


def test_a_limit_is_one_of_the_outputs() -> None:
    both = candidates(size=40.0)
    trial, outputs = both.attempt(Choice()), both.by_outputs().attempt(Choice())
    held = hold(both, trial, parse_limit("60dB"))
    assert held.plan.reached
    assert not held.plan.kept
    assert held.trial.ratio == pytest.approx(outputs.ratio)


def test_clipping_by_few_samples_must_win_clearly() -> None:
    def trial(method: str, gain: float, count: int) -> Trial:
        signal, noise = np.ones(count), np.full(count, 1e-4 * 10 ** (-gain / 10))
        return Trial(Choice(range=method), Noise(signal, noise), 0.5, 1, 1)

    for gain, count, wins in ((1.0, 2, False), (5.0, 2, True), (0.2, 16, False), (1.0, 16, True)):
        assert trial("mse", gain, count).beats(trial("minmax", 0, count)) == wins
    assert trial("minmax", 1, 2).beats(trial("minmax", 0, 2))


def test_the_budget_is_held_against_the_logits() -> None:
    done = quantize_module(classifier(), samples(), Calibration(budget=True), Options(form="qdq"))
    assert done.budget is not None
    assert done.budget.shares == pytest.approx(done.budget.measured, abs=0.45)
