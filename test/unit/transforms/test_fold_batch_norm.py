"""Folding factors and shifts holds its bounds against float64, whatever the statistics are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from guard_cases import Case, ops_of, parsed, text
from onnx import TensorProto, helper, numpy_helper
from onnx.parser import parse_model
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect import numerics
from qdialect.api import compile
from qdialect.dialects.quant import QuantizeOp
from qdialect.evaluation import session as oracle
from qdialect.numerics import folding
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.fold_batch_norm import FoldBatchNormPass

Array = npt.NDArray[Any]

DRAWS = 10_000
HALF_ULP = 2.0**-24
TINY = 2.0**-126


def statistics(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array, Array]:
    """gamma, beta, mean and variance: ordinary ones, and negative, zero, 1e-9 and 1e9 among them."""
    gamma = rng.normal(0, 1, n) * rng.choice([1, 1, 1, 1e-9, 1e9, 0], n)
    beta, mean = rng.normal(0, 1, n), rng.normal(0, 1, n) * rng.choice([1, 1, 100], n)
    variance = rng.uniform(0.1, 2, n) * rng.choice([1, 1, 1e-9, 1e9], n)
    return tuple(a.astype(np.float32) for a in (gamma, beta, mean, variance))  # pyright: ignore[reportReturnType]


def factors(rng: np.random.Generator, n: int) -> Array:
    gamma, _, _, variance = (a.astype(np.float64) for a in statistics(rng, n))
    return gamma / np.sqrt(variance + 1e-5)


# --- The arithmetic ---


@pytest.mark.parametrize(
    ("low", "high", "dtype"), [(-128, 127, np.int8), (0, 255, np.uint8), (-8, 7, np.int8)]
)
def test_folded_weights_are_the_real_ones_times_the_factor(low: int, high: int, dtype: type[np.integer[Any]]):
    rng = np.random.default_rng(1)
    stored = rng.integers(low, high + 1, (DRAWS, 6)).astype(dtype)
    scales = rng.uniform(1e-4, 1, DRAWS).astype(np.float32)
    zeros = rng.integers(low, high + 1, DRAWS).astype(np.int32)
    factor = factors(rng, DRAWS)
    new = folding.fold_affine_weight(stored, scales, zeros, factor, 0, low, high)

    assert (new.scales > 0).all()
    assert not new.clamped.any()
    assert new.stored.min() >= low
    assert new.stored.max() <= high
    assert new.zero_points.min() >= low
    assert new.zero_points.max() <= high
    before = (stored.astype(np.int64) - zeros[:, None]) * scales.astype(np.float64)[:, None]
    after = (new.stored.astype(np.int64) - new.zero_points[:, None]) * new.scales.astype(np.float64)[:, None]
    wanted = before * factor[:, None]
    np.testing.assert_array_less(
        np.abs(after - wanted), np.abs(wanted) * HALF_ULP * 1.0001 + TINY * (high - low + 1)
    )


def test_integers_stay_where_no_factor_is_negative_or_zero():
    stored = np.array([[1, -128], [127, 3]], np.int8)
    new = folding.fold_affine_weight(stored, np.float32(0.5), 3, np.array([2.0, 1e-9]), 1, -128, 127)
    assert new.stored is stored
    np.testing.assert_array_equal(new.zero_points, [3, 3])


def test_every_weight_has_an_exact_negative():
    q = np.arange(-128, 128, dtype=np.int8)
    for zero_point in (-128, -7, 0, 5, 127):
        new = folding.fold_affine_weight(
            q[None], np.float32(0.25), zero_point, np.array([-1.0]), 0, -128, 127
        )
        np.testing.assert_array_equal(
            new.stored[0].astype(int) - new.zero_points[0], zero_point - q.astype(int)
        )


def test_zero_points_that_must_stay_cost_one_step_and_are_reported():
    q = np.array([[-128, 5], [-127, 5]], np.int8)
    factor = np.array([-1.0, -1.0])
    new = folding.fold_affine_weight(q, np.float32(0.25), 0, factor, 0, -128, 127, keep_zero_points=True)
    np.testing.assert_array_equal(new.stored, [[127, -5], [127, -5]])
    np.testing.assert_array_equal(new.zero_points, [0, 0])
    np.testing.assert_array_equal(new.clamped, [True, False])


def test_a_channel_as_weight_keeps_the_factor():
    factor = factors(np.random.default_rng(2), DRAWS)
    stored, scales = folding.channel_as_weight(factor)
    assert (scales > 0).all()
    error = np.abs(stored * scales.astype(np.float64) - factor)
    np.testing.assert_array_less(error, np.abs(factor) * HALF_ULP * 1.0001 + TINY * 127)


def test_a_widened_weight_lets_the_bias_in_and_moves_little():
    rng = np.random.default_rng(3)
    n, x_scale = 500, np.float32(0.02)
    stored = rng.integers(-128, 128, (n, 72)).astype(np.int8)
    scales = (10.0 ** rng.uniform(-14, -7, n)).astype(np.float32)
    bias = rng.normal(0, 1, n).astype(np.float32)
    _, overflow = numerics.quantize_bias(bias, x_scale, scales)
    assert 100 < overflow.sum() < n
    new = folding.widen_for_bias(stored, scales, 0, bias, x_scale, overflow, 0, -128, 127)
    steps, still = numerics.quantize_bias(bias, x_scale, new.scales)
    assert not still.any()
    assert (np.abs(steps[overflow].astype(np.int64)) <= folding.MAX_FOLDED_BIAS).all()
    np.testing.assert_array_equal(new.stored[~overflow], stored[~overflow])
    np.testing.assert_array_equal(new.scales[~overflow], scales[~overflow])
    x = rng.integers(-255, 256, (72, 50)) * x_scale.astype(np.float64)
    before = (stored * scales.astype(np.float64)[:, None]) @ x
    after = (new.stored * new.scales.astype(np.float64)[:, None]) @ x
    assert (np.abs(after - before) <= 1e-4 * np.abs(bias[:, None]))[overflow].all()
    assert (new.moved[~overflow] == 0).all()


# --- Whole models, original against compiled ---

KINDS = ["Conv", "ConvTranspose", "Gemm", "MatMul"]
X_SCALE, X_ZERO = 0.02, 117


def weight(kind: str, rng: np.random.Generator, inputs: int, channels: int) -> tuple[Array, int]:
    """Stored weights and the axis of their output channels."""
    shape, axis = {
        "Conv": ((channels, inputs, 3, 2), 0),
        "ConvTranspose": ((inputs, channels, 3, 2), 1),
        "Gemm": ((channels, inputs), 0),
        "MatMul": ((inputs, channels), 1),
    }[kind]
    return rng.integers(-128, 128, shape).astype(np.int8), axis


def model(
    kind: str, seed: int, quantized: float | None, *, coarse: bool = False
) -> tuple[onnx.ModelProto, Array]:
    """x -> Q -> DQ -> linear op on int8 weights -> BatchNormalization [-> Q], and an input."""
    rng = np.random.default_rng(seed)
    inputs, channels = 5, 48
    stored, axis = weight(kind, rng, inputs, channels)
    per_axis = bool(rng.integers(2))
    gamma, beta, mean, variance = statistics(rng, channels)
    if quantized and not coarse:  # an accumulator step is less than a step of the result
        gamma, variance = np.clip(gamma, -4, 4), np.maximum(variance, np.float32(0.05))
    constants = {
        "xs": np.float32(X_SCALE), "xz": np.uint8(X_ZERO), "w": stored,
        "ws": rng.uniform(1e-3, 1e-2, channels if per_axis else ()).astype(np.float32),
        "wz": np.zeros(channels if per_axis else (), np.int8),
        "gamma": gamma, "beta": beta, "mean": mean, "variance": variance,
        "ys": np.float32(quantized or 1), "yz": np.uint8(120),
    }  # fmt: skip
    operands = ["x_real", "w_real"]
    if kind != "MatMul" and rng.integers(2):
        constants["b"] = rng.normal(0, 1, channels).astype(np.float32)
        operands.append("b")
    linear = helper.make_node(kind, operands, ["c"])
    if kind == "Gemm":
        factors_of_its_own = {"transB": 1, "alpha": 0.5, "beta": 2.0}
        linear.attribute.extend(helper.make_attribute(k, v) for k, v in factors_of_its_own.items())
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["x_real"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["w_real"], axis=axis),
        linear,
        helper.make_node("BatchNormalization", ["c", "gamma", "beta", "mean", "variance"], ["y"]),
        helper.make_node("QuantizeLinear", ["y", "ys", "yz"], ["q"]),
    ]
    x_shape = [2, inputs, 6, 5] if stored.ndim == 4 else [7, inputs]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    q = helper.make_tensor_value_info("q", TensorProto.UINT8, None)
    proto = onnx_model(
        nodes if quantized else nodes[:-1],
        {"x": (TensorProto.FLOAT, x_shape)},
        [q if quantized else y],
        constants,
    )
    return onnx.shape_inference.infer_shapes(proto), rng.uniform(-2.3, 2.7, x_shape).astype(np.float32)


def taken(proto: onnx.ModelProto) -> ModuleOp:
    """The module of a model whose message is needed again."""
    return import_model(onnx.ModelProto.FromString(proto.SerializeToString()))


def real_result(proto: onnx.ModelProto, x: Array) -> tuple[Array, Array, Array]:
    """
    What the model gives in float64, and for each channel the largest magnitude of anything summed in it and half a step
    of its accumulator.
    """
    constants = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in proto.graph.initializer}
    kept = onnx.ModelProto()
    kept.CopyFrom(proto)
    kept.graph.output.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, None))
    y, c = oracle.run(kept, {"x": x})
    shape = [1, -1] + [1] * (c.ndim - 2)
    gamma, beta, mean, variance = (constants[k] for k in ("gamma", "beta", "mean", "variance"))
    factor = gamma / np.sqrt(variance + 1e-5)
    exact = c.astype(np.float64) * factor.reshape(shape) + (beta - mean * factor).reshape(shape)
    summed = np.abs(c * factor.reshape(shape)).max(axis=tuple(k for k in range(c.ndim) if k != 1))
    bias = np.abs(constants["b"]) if "b" in constants else np.zeros_like(beta)
    size = np.maximum(
        np.maximum(summed, np.abs(bias * factor)), np.maximum(np.abs(beta), np.abs(mean * factor))
    )
    del y
    half_step = 0.5 * X_SCALE * constants["ws"] * np.where(factor == 0, 1, np.abs(factor))
    return exact, size.reshape(shape), half_step.reshape(shape)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["generic", "onnxruntime"])
def test_float_results_are_close(kind: str, target: str):
    for seed in range(4):
        proto, x = model(kind, seed, None)
        module = taken(proto)
        compile(module, target)
        compiled = export_model(module)
        assert all(n.op_type != "BatchNormalization" for n in compiled.graph.node)
        (got,) = oracle.run(compiled, {"x": x})
        exact, size, half_step = real_result(proto, x)
        # An integer kernel's bias may lie half a step beside; it is the same in every other bit.
        allowed = 1e-4 * size + (half_step if target == "onnxruntime" else 0) + 1e-30
        assert (np.abs(got - exact) <= allowed).all(), seed


@pytest.mark.parametrize("kind", ["Conv", "Gemm"])
def test_integer_results_differ_by_one_step_at_most(kind: str):
    for seed in range(10, 18):
        proto, x = model(kind, seed, 0.031)
        module = taken(proto)
        compile(module, "onnxruntime")
        compiled = export_model(module)
        types = [n.op_type for n in compiled.graph.node]
        assert "BatchNormalization" not in types
        assert types.count("QLinearConv") + types.count("QGemm") == 1, list(remarks_of(module))
        (expected,), (got,) = oracle.run(proto, {"x": x}), oracle.run(compiled, {"x": x})
        difference = np.abs(expected.astype(int) - got.astype(int))
        assert difference.max() <= 1, seed
        assert (difference != 0).mean() < 0.005


def channels_last(proto: onnx.ModelProto, squeezed: bool) -> onnx.ModelProto:
    """The model with a Transpose behind its Conv, and factor and shift as Mul and Add behind that."""
    constants = {i.name: numpy_helper.to_array(i) for i in proto.graph.initializer}
    gamma, beta, mean, variance = (constants[k] for k in ("gamma", "beta", "mean", "variance"))
    factor = (gamma / np.sqrt(variance + 1e-5)).astype(np.float32)
    new = {"factor": factor, "shift": (beta - mean * factor).reshape(1, -1), "axes": np.array([0])}
    nodes = [n for n in proto.graph.node if n.op_type != "BatchNormalization"]
    at = next(k for k, n in enumerate(nodes) if n.op_type == "Conv") + 1
    nodes[at:at] = [
        helper.make_node("Transpose", ["c"], ["t"], perm=[0, 2, 3, 1]),
        helper.make_node("Unsqueeze" if squeezed else "Identity", ["t", "axes"][: 1 + squeezed], ["u"]),
        helper.make_node("Mul", ["u", "factor"], ["m"]),
        helper.make_node("Add", ["shift", "m"], ["y"]),
    ]
    tensors = [*proto.graph.initializer, *(numpy_helper.from_array(v, k) for k, v in new.items())]
    graph = helper.make_graph(nodes, "g", proto.graph.input, proto.graph.output, tensors)
    graph.output[0].type.tensor_type.ClearField("shape")
    return helper.make_model(graph, opset_imports=proto.opset_import, ir_version=8)


@pytest.mark.parametrize("squeezed", [False, True])
def test_factors_behind_moves_are_folded(squeezed: bool):
    for seed in range(20, 24):
        proto, x = model("Conv", seed, 0.031)
        proto = channels_last(proto, squeezed)
        module = taken(proto)
        compile(module, "onnxruntime")
        compiled = export_model(module)
        assert {"QLinearConv", "Transpose"} <= {n.op_type for n in compiled.graph.node}
        assert not {"Mul", "Add"} & {n.op_type for n in compiled.graph.node}
        (expected,), (got,) = oracle.run(proto, {"x": x}), oracle.run(compiled, {"x": x})
        difference = np.abs(expected.astype(int) - got.astype(int))
        assert difference.max() <= 1, seed
        assert (difference != 0).mean() < 0.005


@pytest.mark.parametrize("kind", ["Conv", "Gemm"])
def test_a_bias_that_accumulator_steps_lose_keeps_the_sums_in_float(kind: str):
    proto, x = model(kind, 10, 0.031, coarse=True)
    module = taken(proto)
    compile(module, "onnxruntime")
    assert "bias-range" in {remark.blocked.id for remark in remarks_of(module)}
    compiled = export_model(module)
    assert kind in [n.op_type for n in compiled.graph.node]
    (expected,), (got,) = oracle.run(proto, {"x": x}), oracle.run(compiled, {"x": x})
    assert np.abs(expected.astype(int) - got.astype(int)).max() <= 1


def test_a_product_that_is_scaled_is_another_tensor():
    constants = {
        "w": np.array([[1, -2], [3, 5], [-7, 4]], np.float32),
        "b": np.array([0.5, -1], np.float32),
        "f": np.array([2, -3], np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Add", ["product", "b"], ["sum"]),
        helper.make_node("Mul", ["sum", "f"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 2])
    held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    compile(module, "generic", feeds=[{"x": np.ones((4, 3), np.float32)}])
    written = export_model(module).graph
    assert [n.op_type for n in written.node] == ["MatMul", "Add"]
    assert "product" not in written.node[0].output


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("largest", [1, 3, 7, 31, 63, 127])
def test_weights_in_finer_steps_are_the_same_numbers(largest: int, axis: int | None):
    rng = np.random.default_rng(largest)
    stored = rng.integers(-largest, largest, (5, 6), endpoint=True).astype(np.int8)
    channels = () if axis is None else (stored.shape[axis],)
    zeros = rng.integers(-3, 3, channels)
    scales = np.asarray(rng.uniform(0.01, 1, channels), np.float32)
    which = np.asarray(rng.random(channels) < 0.7)
    across = channels + (1,) * (axis == 0)
    new = folding.finer_weight(stored, scales, zeros, which, axis)
    old_real, real = (
        (q - zeros.reshape(across)) * s.reshape(across).astype(np.float64)
        for q, s in ((stored.astype(int), scales), (new.stored, new.scales))
    )
    np.testing.assert_array_equal(real, old_real)
    distance = np.abs(new.stored - zeros.reshape(across))
    assert (
        distance[np.broadcast_to(new.scales.reshape(across) < scales.reshape(across), (5, 6))].max(initial=0)
        <= 63
    )
    assert not (new.scales < scales)[~which].any()
    if largest <= 3:  # with a zero point of 3, six steps at most
        assert ((new.scales <= scales / 8) | ~which).all()


def test_a_scale_next_to_the_least_is_not_made_finer():
    least = np.float32(2.0**-126)
    weight = np.array([[1, -1]], np.int8)
    for k in (0, 2):
        scale = np.asarray(least * np.float32(2**k))
        new = folding.finer_weight(weight, scale, np.zeros((), int), np.array(True), None)
        assert new.scales == least


@pytest.mark.parametrize(("sizes", "folded"), [("[4]", True), ("[4,1]", False)])
def test_columns_of_an_open_batch_are_the_last_axis(sizes: str, folded: bool):
    """Rows and columns are as many, and a matrix of two axes has its columns where this one has its rows."""
    proto = parse_model(
        f"""<ir_version: 10, opset_import: ["" : 17]>
        g (float[n,4,3] x) => (float[n,4,4] y)
        <float s = {{0.02}}, uint8 z = {{120}}, int8[3,4] w = {{1,-20,35,-47,51,-6,7,-8,90,10,-11,120}},
         float v = {{0.01}}, int8 o = {{0}}, float{sizes} k = {{0.5, 3.0, 7.0, 19.0}}> {{
          q = QuantizeLinear(x, s, z)
          d = DequantizeLinear(q, s, z)
          f = DequantizeLinear(w, v, o)
          m = MatMul(d, f)
          y = Mul(m, k)
        }}"""
    )
    x = {"x": np.random.default_rng(5).normal(size=(2, 4, 3)).astype(np.float32)}
    module = taken(proto)
    compile(module, "onnxruntime")
    compiled = export_model(module)
    assert ("Mul" not in [n.op_type for n in compiled.graph.node]) is folded
    (expected,), (got,) = oracle.run(proto, x), oracle.run(compiled, x)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shift", "zero"), [(121.0, 255), (121.5, None), (-6.5, 0), (-7.0, None), (0.5, 14)])
def test_a_shift_moves_the_zero_point_within_its_storage(shift: float, zero: int | None):
    """Steps of 0.5 from 13 on: as much as 242 above, and 13 below."""
    context, module = parsed(text(Case("", "", f"""
        x: 2x3xf32
        k = [{shift}] : f32
        m = Add(x, k) : 2x3xf32
        y = qcast m : 2x3x!half_steps""")).replace("!half_steps", "!quant.uniform<u8:f32, 0.5:13>"))  # fmt: skip
    FoldBatchNormPass(lossy=True).apply(context, module)
    casts = [op.element_type for op in module.walk() if isinstance(op, QuantizeOp)]
    assert [(float(c.scale), int(c.zero_point)) for c in casts] == [(0.5, 13 if zero is None else zero)]
    assert ("Add" in ops_of(module)) is (zero is None)


@pytest.mark.parametrize(("factor", "reason"), [("1.0e+30", "scale-value"), ("-1.0", "unfoldable-factor")])
def test_a_factor_leaves_a_scale_above_zero(factor: str, reason: str):
    source = text(Case("", "", f"""
        x: 2x3xf32
        k = [{factor}] : f32
        m = Mul(x, k) : 2x3xf32
        y = qcast m : 2x3x!tiny"""))  # fmt: skip
    context, module = parsed(f"!tiny = !quant.uniform<u8:f32, 1.0e-30:13>\n{source}")
    FoldBatchNormPass(lossy=True).apply(context, module)
    assert ops_of(module) == "Mul qcast"
    assert reason in [r.blocked.id for r in remarks_of(module)]
