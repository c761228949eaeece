"""`fold-activation` on numbers: what goes would have changed no integer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from guard_cases import Case, ops_of, parsed, text
from onnx.parser import parse_model
from promise_cases import Feeds, module, outputs, parameters, quantized, stored_values
from xdsl.context import Context

from qdialect.cli import main
from qdialect.rewriting.driver import apply_patterns
from qdialect.transforms.fold_activation import FoldActivationPass, ReadBound

KEEPING = {
    "Abs": "",
    "Elu": "",
    "LeakyRelu": "",
    "ThresholdedRelu": " {alpha = 0.01 : f32}",
    "Shrink": " {lambd = 0.01 : f32}",
    "HardSigmoid": " {alpha = 1.0 : f32, beta = 0.0 : f32}",
    "Relu": "",
}


@pytest.mark.parametrize("op", KEEPING)
def test_an_activation_that_goes_changes_no_bit(op: str):
    """Between casts of one type, for all types of the table."""
    body, results = "", dict[str, str]()
    arguments = {"u8": "tensor<256xui8>", "i8": "tensor<256xi8>"}
    feeds: Feeds = {storage: stored_values(storage, (256,), 0) for storage in arguments}
    for n, (storage, zero_point, scale) in enumerate(
        [*parameters(None), ("u8", 0, 1 / 255), ("i8", -128, 1e-3)]
    ):
        type, plain = f"tensor<256x{quantized(storage, None, (256,), scale, zero_point)}>", arguments[storage]
        body += f"%q{n} = quant.scast %{storage} : {plain} to {type}\n"
        body += f"%y{n} = onnx.{op}(%q{n}){KEEPING[op]} : ({type}) -> {type}\n"
        body += f"%z{n} = quant.scast %y{n} : {type} to {plain}\n"
        results[f"z{n}"] = plain
    before = module(arguments, body, results)
    after = before.clone()
    FoldActivationPass().apply(Context(), after)
    left = [sum(o.name == f"onnx.{op}" for o in m.walk()) for m in (before, after)]
    assert 0 < left[1] < left[0] or (op == "HardSigmoid" and left[1] == left[0] - 1)
    for a, b in zip(outputs(before, feeds, False), outputs(after, feeds, False), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "bounds", [((None, 0.9), (None, 0.7)), ((-0.4, 0.7), (-0.5, 0.9)), ((0.0, None), (-0.2, None))]
)
def test_the_wider_of_two_clamps_changes_no_bit(bounds: tuple[tuple[float | None, float | None], ...]):
    """On all integers of all types of the table, in both orders."""
    body, results = "", dict[str, str]()
    arguments = {"u8": "tensor<256xui8>", "i8": "tensor<256xi8>"}
    feeds: Feeds = {storage: stored_values(storage, (256,), 0) for storage in arguments}
    for n, (storage, zero_point, scale) in enumerate(
        [*parameters(None), ("u8", 40, 0.01), ("i8", -40, 0.01)]
    ):
        type, plain = f"tensor<256x{quantized(storage, None, (256,), scale, zero_point)}>", arguments[storage]
        for order in (bounds, bounds[::-1]):
            last = f"q{n}_{len(results)}"
            body += f"%{last} = quant.scast %{storage} : {plain} to {type}\n"
            for k, pair in enumerate(order):
                names = [f"%{last}"]
                for which, bound in zip("lh", pair, strict=True):
                    name = "_" if bound is None else f"%{last}_{which}"
                    names.append(name)
                    if bound is not None:
                        value = f"{{value = #onnx.tensor<[{bound}] : tensor<f32>>}}"
                        body += f"{name} = onnx.Constant() {value} : () -> tensor<f32>\n"
                types = ", ".join([type, *("tensor<f32>" for name in names[1:] if name != "_")])
                body += f"%{last}_{k} = onnx.Clip({', '.join(names)}) : ({types}) -> {type}\n"
                last = f"{last}_{k}"
            result = f"z{len(results)}"
            body += f"%{result} = quant.scast %{last} : {type} to {plain}\n"
            results[result] = plain
    before = module(arguments, body, results)
    after = before.clone()
    FoldActivationPass().apply(Context(), after)
    clamps = [sum(o.name in ("onnx.Clip", "onnx.Relu") for o in m.walk()) for m in (before, after)]
    assert clamps[1] <= clamps[0] // 2
    for a, b in zip(outputs(before, feeds, False), outputs(after, feeds, False), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_a_dropped_clamp_gave_is_no_other_tensor(tmp_path: Path):
    """The wider clamp goes, and its tensor with it: the check took the numbers in front of it for that tensor's."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1,2,5,4] x) => (uint8[1,2,4,3] y)
        <float s = {0.0157}, uint8 z = {128}, float least = {0.157}, float most = {1.256},
         float t = {0.01}, int8 o = {0}, int8[2,2,2,2] w = {3, -4, 5, 16, -7, 8, -9, 10, 1, 2, 33, -14, 5, -6, 17, 8}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            f = DequantizeLinear(w, t, o)
            v = Conv(d, f)
            r = Relu(v)
            p = QuantizeLinear(r, s, z)
            e = DequantizeLinear(p, s, z)
            c = Clip(e, least, most)
            y = QuantizeLinear(c, s, z)
        }""")
    path, result = tmp_path / "model.onnx", tmp_path / "result.onnx"
    onnx.save(model, path)
    assert main(["compile", str(path), "-o", str(result), "--check-numerics"]) == 0
    assert "Relu" not in [node.op_type for node in onnx.load(result).graph.node]


@pytest.mark.parametrize("low", [-0.37, 0.0, 0.21])
def test_a_clamp_of_what_the_next_type_saturates_changes_no_bit(low: float):
    """On all integers, to types whose least number is below the bound, at it, half a step above it and beyond."""
    body, results = "", dict[str, str]()
    arguments = {"u8": "tensor<256xui8>", "i8": "tensor<256xi8>"}
    feeds: Feeds = {storage: stored_values(storage, (256,), 0) for storage in arguments}
    steps = [(0.04, 0), (0.04, 3), (0.017, 128), (0.03, 255), (0.42, 0), (0.74, 1)]
    body += f"%low = onnx.Constant() {{value = #onnx.tensor<[{low}] : tensor<f32>>}} : () -> tensor<f32>\n"
    for n, (scale, zero_point) in enumerate(steps):
        for storage, offset in (("u8", 0), ("i8", 128)):
            type = f"tensor<256x!quant.uniform<{storage}:f32, 0.013:{120 - offset}>>"
            last = f"tensor<256x!quant.uniform<{storage}:f32, {scale}:{zero_point - offset}>>"
            name, plain = f"{storage}{n}", arguments[storage]
            body += f"%q_{name} = quant.scast %{storage} : {plain} to {type}\n"
            body += f"%c_{name} = onnx.Clip(%q_{name}, %low) : ({type}, tensor<f32>) -> {type}\n"
            body += f"%r_{name} = quant.dcast %c_{name} : {type} to tensor<256xf32>\n"
            body += f"%y_{name} = quant.qcast %r_{name} : tensor<256xf32> to {last}\n"
            body += f"%z_{name} = quant.scast %y_{name} : {last} to {plain}\n"
            results[f"z_{name}"] = plain
    before = module(arguments, body, results)
    after = before.clone()
    FoldActivationPass().apply(Context(), after)
    left = sum(o.name in ("onnx.Clip", "onnx.Relu") for o in after.walk())
    assert 0 < left < 2 * len(steps)
    for a, b in zip(outputs(before, feeds, False), outputs(after, feeds, False), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_a_normalization_takes_over_is_no_other_tensor(tmp_path: Path):
    """The normalization gives what the product gave: the check took it for what had been normalized before."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,3] y)
        <float[3] g = {1.0, 2.0, 4.0}, float[3] k = {3.0, 0.5, 2.0}> {
            n = LayerNormalization(x, g)
            m = Mul(n, k)
            y = Tanh(m)
        }""")
    path, result = tmp_path / "model.onnx", tmp_path / "result.onnx"
    onnx.save(model, path)
    assert main(["compile", str(path), "-o", str(result), "--check-numerics"]) == 0
    nodes = onnx.load(result).graph.node
    assert [(node.op_type, node.output[0]) for node in nodes] == [("LayerNormalization", "m"), ("Tanh", "y")]


@pytest.mark.parametrize(("opset", "op"), [(12, "Clip"), (11, "Clip"), (10, "Max")])
def test_a_bound_of_integers_is_a_clamp_from_opset_11_on(opset: int, op: str):
    _, module = parsed(text(Case("", "", """
        x: 2x3x!s
        k = [5] : i8 as !s
        y = Max(x, k) : 2x3x!s""", opset=opset)))  # fmt: skip
    apply_patterns(module, "any", [ReadBound()])
    assert ops_of(module) == op
