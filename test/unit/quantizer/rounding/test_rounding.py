"""Rounded weights and shifted biases in a module, and where its noise comes from, as onnxruntime computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.errors import UserError
from qdialect.evaluation.oracle_form import oracle_form
from qdialect.evaluation.session import session_for
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.rounding.layers import layer_of
from qdialect.quantizer.rounding.rounding import (
    Moments,
    RoundedLayer,
    bias_place,
    layer_number,
    number_layers,
    round_layers,
    shift_biases,
    shifts_of,
    waves_of,
)
from qdialect.quantizer.search.noise_ablation import BudgetRunner, OutputRunner, with_switches
from qdialect.quantizer.search.sensitivity import Budget, Cause, RoundingSite
from qdialect.quantizer.statistics.observer import Observer, observe_samples, value_names
from qdialect.transforms.insert_casts import InsertCastsPass

RNG = np.random.default_rng(0)
SAMPLES = [
    {"x": np.cumsum(RNG.normal(0.1, 0.3, size=(1, 4, 9, 10)), axis=3).astype(np.float32)} for _ in range(12)
]


def weight(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def model() -> ModuleOp:
    """A grouped convolution, one without bias, a transposed one, a product with an addition, a Gemm that scales."""
    initializers = {
        "w1": weight(6, 2, 3, 3), "b1": weight(6), "w2": weight(5, 6, 2, 1), "w3": weight(5, 3, 2, 2),
        "b3": weight(3), "w4": weight(3, 7), "b4": weight(1, 7), "w5": weight(2, 7), "b5": weight(1, 2),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "first", group=2, pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], "relu"),
        helper.make_node("Conv", ["r1", "w2"], ["c2"], "second", strides=[2, 2]),
        helper.make_node("ConvTranspose", ["c2", "w3", "b3"], ["c3"], "third", strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["c3"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "w4"], ["m"], "fourth"),
        helper.make_node("Add", ["b4", "m"], ["a"], "add"),
        helper.make_node("Gemm", ["a", "w5", "b5"], ["y"], "fifth", transB=1, alpha=0.5, beta=2.0),
    ]
    proto = onnx_model(nodes, {"x": ["n", 4, 9, 10]}, {n: None for n in ("y", "c2")}, initializers)
    return import_model(onnx.shape_inference.infer_shapes(proto))


def outputs(module: ModuleOp) -> Any:
    runner = OutputRunner(module)
    return np.stack([runner.run(feeds) for feeds in SAMPLES])


def moments_of(module: ModuleOp, layers: dict[int, OnnxOp]) -> Moments:
    observer = Observer(module)
    moments = Moments(layers, lambda value: 8.0, len(SAMPLES))
    observe_samples(observer, moments.values, SAMPLES, moments.look)
    return moments


def put_weights(module: ModuleOp, rounded: Sequence[RoundedLayer], layers: dict[int, OnnxOp]) -> None:
    """The dequantized integers as float weights."""
    for number, one in enumerate(rounded):
        op = layers[number]
        grid = one.grid
        layer = layer_of(op)
        assert layer is not None
        real = layer.weight(grid.dequantize(layer, layer.rows(one.stored)))
        new = ConstantOp.of(from_array(real))
        block = op.parent
        assert block is not None
        block.insert_op_before(new, op)
        op.operands[1] = new.results[0]


def numbered(module: ModuleOp) -> dict[int, OnnxOp]:
    by_number = {layer_number(op): op for op in module.walk() if isinstance(op, OnnxOp)}
    return {k: op for k, op in by_number.items() if k is not None}


def test_layers_are_numbered_and_clones_keep_the_numbers() -> None:
    module = model()
    layers = number_layers(module)
    assert [op.op_type for op in layers.values()] == ["Conv", "Conv", "ConvTranspose", "MatMul", "Gemm"]
    assert list(numbered(module.clone())) == [0, 1, 2, 3, 4]
    assert [list(wave) for wave in waves_of(layers, 1)] == [[0], [1], [2], [3], [4]]
    assert [list(wave) for wave in waves_of(layers, 1 << 30)] == [[0, 1, 2, 3, 4]]


def test_gptq_lowers_the_noise_of_every_layer_and_of_the_outputs() -> None:
    module = model()
    layers = number_layers(module)
    moments = moments_of(module, layers)
    wanted = outputs(module)
    noise: list[float] = []
    for nearest, shifted in ((True, False), (False, False), (False, True)):
        rounded = round_layers(layers, moments, 15, nearest=nearest)
        candidate = module.clone()
        if shifted:
            shift_biases(candidate, shifts_of(rounded))
        put_weights(candidate, list(rounded.values()), numbered(candidate))
        noise.append(float(np.square(outputs(candidate) - wanted).sum()))
        if not nearest:
            assert all(one.gain >= 0 for one in rounded.values())
            assert sum(one.moved > 0 for one in rounded.values()) >= 4
    assert max(noise[1:]) < 0.95 * noise[0]


@pytest.mark.parametrize("number", range(5))
def test_a_shift_moves_the_result_of_its_layer(number: int) -> None:
    module = model()
    layers = number_layers(module)
    place = bias_place(layers[number])
    assert place is not None
    assert place.op.op_type == ("Add" if number == 3 else layers[number].op_type)
    channels = [6, 5, 3, 7, 2][number]
    shift = np.arange(1.0, channels + 1)
    observed = place.op.results[0]
    observer, names = Observer(module), value_names(module)
    before = observer.run([observed], SAMPLES[0])[0]
    changed = module.clone()
    assert shift_biases(changed, {number: shift}) == 1
    name = names[observed]
    value = next(v for v, n in value_names(changed).items() if n == name)
    after = Observer(changed).run([value], SAMPLES[0])[0]
    factor = 2.0 if number == 4 else 1.0
    along = shift.reshape(1, -1, *[1] * (before.ndim - 2)) * factor
    np.testing.assert_allclose(after - before, np.broadcast_to(along, before.shape), atol=1e-4)


def quantized(module: ModuleOp) -> ModuleOp:
    """Casts wherever they can be, with ranges that clip a little."""
    observer, names = Observer(module), value_names(module)
    values = [v for v in names if observer.is_visible(v)]
    ranges: dict[str, tuple[float, float]] = {}
    for value in values:
        seen = np.concatenate([observer.run([value], feeds)[0].reshape(-1) for feeds in SAMPLES])
        ranges[names[value]] = (0.9 * min(float(seen.min()), 0.0), 0.9 * max(float(seen.max()), 0.0))
    result = module.clone()
    annotate(result, ranges, dict.fromkeys(ranges, 100))
    InsertCastsPass(target="generic").apply(Context(), result)
    return result


def test_the_budget_is_the_noise_and_adds_up() -> None:
    module = model()
    number_layers(module)
    casts = quantized(module)
    switches = with_switches(module, casts)
    runner = OutputRunner(switches.module)
    off = {name: np.array(False) for name in switches.names}
    on = {name: np.array(True) for name in switches.names}
    plain, whole = OutputRunner(module), OutputRunner(casts)
    noise = BudgetRunner(switches)
    error = signal = 0.0
    for feeds in SAMPLES:
        np.testing.assert_array_equal(runner.run({**feeds, **off}), plain.run(feeds))
        np.testing.assert_allclose(runner.run({**feeds, **on}), whole.run(feeds), atol=1e-4)
        noise.add(feeds)
        signal += float(np.square(plain.run(feeds)).sum())
        error += float(np.square(whole.run(feeds) - plain.run(feeds)).sum())
    budget = noise.budget
    assert budget.noise == pytest.approx(error / signal, rel=1e-3)
    shares = budget.shares()
    assert sum(share.total for share in shares) == pytest.approx(1)
    assert {cause for share in shares for cause in share.causes} >= {Cause.WEIGHT, Cause.ROUNDING}
    assert sum(share.causes.get(Cause.CLIPPING, 0.0) for share in shares) > 0.1
    assert {share.layer for share in shares} >= {"first", "second", "third"}
    assert budget.predict(budget.layers) == 0


def test_the_budget_of_a_model_without_casts_outside_of_loops_is_empty() -> None:
    module = model()
    number_layers(module)
    noise = BudgetRunner(with_switches(module, module.clone()))
    noise.add(SAMPLES[0])
    assert noise.budget.noise == 0
    assert not noise.budget.shares()


def test_a_budget_of_little_memory_looks_at_a_part_of_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = model()
    number_layers(module)
    switches = with_switches(module, quantized(module))
    size = OutputRunner(module).run(SAMPLES[0]).size
    whole, part = (
        BudgetRunner(switches),
        BudgetRunner(switches, memory=16 * len(switches.sites) * (size // 3)),
    )
    looked: list[int] = []

    def looking(self: Budget, signal: Any, steps: Any) -> None:
        looked.append(steps.shape[1])
        add(self, signal, steps)

    add = Budget.add
    monkeypatch.setattr(Budget, "add", looking)
    for feeds in SAMPLES:
        whole.add(feeds)
        part.add(feeds)
    assert set(looked) == {size, size // 3}
    assert sum(share.total for share in part.budget.shares()) == pytest.approx(1)
    assert part.budget.noise == pytest.approx(whole.budget.noise, rel=0.5)


def test_products_of_many_elements_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    steps, signal = draw.normal(size=(4, 1000)).astype(np.float32), draw.normal(size=1000)
    sites = [RoundingSite((str(k),), Cause.WEIGHT) for k in range(4)]
    whole, parts = Budget(sites), Budget(sites)
    whole.add(signal, steps)
    monkeypatch.setattr("qdialect.quantizer.search.sensitivity.ELEMENTS_AT_ONCE", 64)
    parts.add(signal, steps)
    assert parts.noise == pytest.approx(whole.noise)
    assert parts.noise == pytest.approx(
        np.square(steps.sum(axis=0)).sum() / np.square(signal).sum(), rel=1e-5
    )


def test_what_nobody_asks_for_is_no_output() -> None:
    proto = export_model(oracle_form(model()).module)
    for names in (["o0"], ["o0", "o1"]):
        assert [one.name for one in session_for(proto, names).get_outputs()] == names
    assert len(proto.graph.output) > 2


def test_what_an_output_does_not_need_is_not_run() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "seven"], ["fails"]),
        helper.make_node("Neg", ["x"], ["captured"]),
        helper.make_node("If", ["yes"], ["y"], then_branch=_branch("captured"), else_branch=_branch("x")),
    ]
    proto = onnx_model(
        nodes,
        {"x": ["n"], "yes": (TensorProto.BOOL, [])},
        {name: ["m"] for name in ("fails", "y")},
        {"seven": np.array([7])},
    )
    before = proto.SerializeToString(deterministic=True)
    ones = np.ones(3, np.float32)
    assert np.array_equal(session_for(proto, ["y"]).run(None, {"x": ones, "yes": np.array(True)})[0], -ones)
    assert proto.SerializeToString(deterministic=True) == before


def _branch(name: str) -> onnx.GraphProto:
    out = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["k"])
    return helper.make_graph([helper.make_node("Identity", [name], ["z"])], "b", [], [out])


def test_another_graph_has_no_switches() -> None:
    module = model()
    other = quantized(module)
    relu = next(op for op in other.walk() if isinstance(op, OnnxOp) and op.op_type == "Relu")
    relu.results[0].replace_all_uses_with(relu.operands[0])
    relu.detach()
    relu.erase()
    with pytest.raises(UserError, match="other operations"):
        with_switches(module, other)


@pytest.mark.parametrize("shape", [(2, 1), (2, 2)])
def test_a_bias_of_each_row_is_not_corrected_by_channel(shape: tuple[int, int]) -> None:
    """It has as many elements as there are channels, or more: the shift of a channel went to a row, or nowhere."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3, 2], np.arange(6))
    bias = helper.make_tensor("b", TensorProto.FLOAT, shape, np.arange(np.prod(shape)))
    module = import_model(
        onnx_model(
            [helper.make_node("Gemm", ["x", "w", "b"], ["y"])], {"x": [2, 3]}, {"y": [2, 2]}, [weight, bias]
        )
    )
    number_layers(module)
    assert shift_biases(module, {0: np.array([1.0, 2.0])}) == 0


def test_an_input_that_nobody_feeds_is_observed_as_its_default() -> None:
    default = numpy_helper.from_array(np.array([2, -1, 0.5], np.float32), "w")
    module = import_model(
        onnx_model(
            [helper.make_node("Mul", ["x", "w"], ["y"])], {n: [3] for n in "xw"}, {"y": [3]}, [default]
        )
    )
    fed = np.ones(3, np.float32)
    arguments = list(main_of(module).body.block.args)
    x, w = Observer(module).run(arguments, {"x": fed})
    assert np.array_equal(x, fed)
    assert np.array_equal(w, numpy_helper.to_array(default))
    assert np.array_equal(Observer(module).run(arguments, {"x": fed, "w": 3 * fed})[1], 3 * fed)
