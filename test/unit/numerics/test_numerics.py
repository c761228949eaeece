"""The arithmetic is ONNX's as onnxruntime computes it: not one value differs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

from qdialect import numerics
from qdialect.dialects.quant import Storage
from qdialect.numerics import sums

Array = npt.NDArray[Any]

STORAGES = ["i8", "u8", "i16", "u16"]


def run(
    nodes: list[onnx.NodeProto], inputs: dict[str, Array], constants: Mapping[str, npt.ArrayLike]
) -> Array:
    """What onnxruntime computes for `y`, with no graph optimization."""
    model = onnx_model(
        nodes,
        {name: (helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in inputs.items()},
        [onnx.ValueInfoProto(name="y")],
        constants,
        opset=21,
    )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    (y,) = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)
    return np.asarray(y)


# --- The vectors that define quantize ---


@pytest.mark.parametrize(
    ("x", "scale", "zero_point", "expected"),
    [
        ([2.5, 3.5, -2.5, -3.5], 1.0, 0, [2, 4, -2, -4]),  # half to even
        ([0.25, 0.75], 0.5, 3, [3, 5]),  # the zero point after the rounding: StableHLO gives [4, 4]
        ([0.2, 0.3, -0.2, -0.3, 100, -100], 0.5, 3, [3, 4, 3, 2, 127, -128]),  # saturation
        ([np.nan, np.inf, -np.inf], 0.5, 3, [-128, 127, -128]),
        ([3.4e38, -3.4e38], 1e-45, 3, [127, -128]),  # the quotient overflows
    ],
)
def test_quantize_vectors(x: list[float], scale: float, zero_point: int, expected: list[int]):
    q = numerics.quantize(np.array(x, np.float32), np.float32(scale), zero_point, -128, 127, np.int8)
    assert q.dtype == np.int8
    np.testing.assert_array_equal(q, expected)


def test_quantize_computes_in_float32():
    x, scale = np.float32(-99999.85), np.float32(0.1)
    (q,) = numerics.quantize([x], scale, 0, -(2**31), 2**31 - 1, np.int32)
    assert q == -999998
    assert np.rint(np.float64(x) / np.float64(scale)) == -999999


def test_quantize_clamps_to_bounds_that_float32_cannot_hold():
    q = numerics.quantize(np.array([1e30, -1e30, 2.0**31], np.float32), 1.0, 0, -(2**31), 2**31 - 1, np.int32)
    np.testing.assert_array_equal(q, [2**31 - 1, -(2**31), 2**31 - 1])


def test_quantize_to_a_narrow_range():
    q = numerics.quantize(np.array([-64, 0.5, 64], np.float32), 0.5, 1, -127, 100, np.int8)
    np.testing.assert_array_equal(q, [-127, 2, 100])


def test_quantize_leaves_its_input_alone():
    x = np.array([1.5, 2.5], np.float32)
    numerics.quantize(x, 0.5, 1, -128, 127, np.int8)
    np.testing.assert_array_equal(x, [1.5, 2.5])


def test_scalars_keep_their_shape():
    q = numerics.quantize(np.float32(1.5), 0.5, 1, -128, 127, np.int8)
    assert q.shape == ()
    assert numerics.dequantize(q, 0.5, 1).shape == ()
    assert numerics.requantize(np.int32(7), 0.5, 1, -128, 127, np.int8).shape == ()


# --- Against onnxruntime's kernels ---

LAYOUTS: dict[str, tuple[tuple[int, ...], int | None, tuple[tuple[int, int], ...] | None]] = {
    "tensor": ((), None, None),
    "axis": ((6,), 1, None),
    "blocks": ((5, 2, 7), None, ((1, 3),)),
    "short last block": ((5, 2, 7), None, ((1, 4),)),
}
SHAPE = (5, 6, 7)


def attributes(axis: int | None, blocks: tuple[tuple[int, int], ...] | None) -> dict[str, Any]:
    if blocks:
        return {"axis": blocks[0][0], "block_size": blocks[0][1]}
    return {} if axis is None else {"axis": axis}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", STORAGES)
@pytest.mark.parametrize("real", [np.float32, np.float16])
def test_casts_are_onnxruntimes(name: str, layout: str, real: type[np.floating]):
    shape, axis, blocks = LAYOUTS[layout]
    storage = Storage.of(name)
    rng = np.random.default_rng([*name.encode(), len(layout)])
    scale = np.asarray(rng.uniform(0.001, 0.05, shape)).astype(real)
    zero_point = np.asarray(rng.integers(storage.low, storage.high + 1, shape)).astype(storage.dtype)
    x = (rng.normal(size=SHAPE) * 2.0 ** rng.integers(-5, 8, SHAPE)).astype(real)
    x[0, 0] = np.float32(scale.flat[0]) * (np.arange(7) - 3 + real(0.5))  # near ties

    constants, options = {"s": scale, "z": zero_point}, attributes(axis, blocks)
    expected = run(
        [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["y"], **options)], {"x": x}, constants
    )
    q = numerics.quantize(x, scale, zero_point, storage.low, storage.high, storage.dtype, axis, blocks)
    np.testing.assert_array_equal(q, expected, strict=True)

    node = helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], **options)
    expected = run([node], {"q": q}, constants)
    actual = numerics.dequantize(q, scale, zero_point, real, axis, blocks)
    np.testing.assert_array_equal(actual, expected, strict=True)


@pytest.mark.parametrize(("name", "to"), [("i4", TensorProto.INT4), ("u4", TensorProto.UINT4)])
def test_four_bit_casts_are_onnxruntimes(name: str, to: int):
    storage = Storage.of(name)
    rng = np.random.default_rng(4)
    scale = rng.uniform(0.01, 0.5, 6).astype(np.float32)
    zero_point = rng.integers(storage.low, storage.high + 1, 6).astype(storage.dtype)
    x = rng.normal(size=SHAPE).astype(np.float32)
    wide = TensorProto.INT8 if storage.signed else TensorProto.UINT8
    zero_point_4 = helper.make_tensor("z", to, (6,), zero_point.tolist())
    constant = helper.make_node("Constant", [], ["z"], value=zero_point_4)
    cast = helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1)

    widen = helper.make_node("Cast", ["q"], ["y"], to=wide)
    expected = run([constant, cast, widen], {"x": x}, {"s": scale})
    q = numerics.quantize(x, scale, zero_point, storage.low, storage.high, storage.dtype, 1)
    np.testing.assert_array_equal(q, expected, strict=True)

    back = helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)
    expected = run([constant, cast, back], {"x": x}, {"s": scale})
    np.testing.assert_array_equal(numerics.dequantize(q, scale, zero_point, axis=1), expected, strict=True)


def test_dequantize_int32_is_onnxruntimes():
    q = np.random.default_rng(0).integers(-(2**31), 2**31, 1000).astype(np.int32)
    scale = np.float32(0.0123)
    node = helper.make_node("DequantizeLinear", ["q", "s"], ["y"])
    np.testing.assert_array_equal(numerics.dequantize(q, scale, 0), run([node], {"q": q}, {"s": scale}))


@pytest.mark.parametrize("name", ["i8", "u8"])
def test_dequantize_takes_all_values_with_all_zero_points(name: str):
    """The difference needs nine bits, and no value wraps."""
    storage = Storage.of(name)
    q = np.arange(storage.low, storage.high + 1).astype(storage.dtype)
    for zero_point in range(storage.low, storage.high + 1):
        real = numerics.dequantize(q, 0.25, np.array(zero_point, storage.dtype))
        np.testing.assert_array_equal(real, [(int(v) - zero_point) * 0.25 for v in q])


@pytest.mark.parametrize("name", STORAGES)
def test_quantize_undoes_dequantize(name: str):
    """All 8-bit values (some 16-bit ones) times zero points times scales."""
    storage = Storage.of(name)
    rng = np.random.default_rng(8)
    step = 1 if storage.width == 8 else 97
    q = np.arange(storage.low, storage.high + 1, step).astype(storage.dtype)
    zero_points = rng.integers(storage.low, storage.high + 1, 40).astype(storage.dtype)
    zero_points[:3] = storage.low, 1, storage.high
    for scale in (10.0 ** rng.uniform(-40, 30, 60)).astype(np.float32):
        real = numerics.dequantize(q[None], scale, zero_points[:, None])
        again = numerics.quantize(real, scale, zero_points[:, None], storage.low, storage.high, storage.dtype)
        np.testing.assert_array_equal(again, np.broadcast_to(q, again.shape))


@pytest.mark.parametrize("name", ["i8", "u8"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_requantize_is_qlinearconvs(name: str, per_channel: bool):
    storage = Storage.of(name)
    rng = np.random.default_rng(3)
    x = rng.integers(storage.low, storage.high + 1, (1, 3, 12, 13)).astype(storage.dtype)
    w = rng.integers(-127, 128, (5, 3, 3, 3)).astype(np.int8)
    bias = rng.integers(-5000, 5000, 5).astype(np.int32)
    x_scale, y_scale = np.float32(0.0173), np.float32(0.0911)
    w_scale = rng.uniform(0.001, 0.01, 5 if per_channel else ()).astype(np.float32)
    x_zp, y_zp = storage.low + 77, storage.low + 101
    constants = {
        "xs": x_scale,
        "xz": np.array(x_zp, storage.dtype),
        "w": w,
        "ws": w_scale,
        "wz": np.zeros(w_scale.shape, np.int8),
        "ys": y_scale,
        "yz": np.array(y_zp, storage.dtype),
        "b": bias,
    }
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"])
    expected = run([node], {"x": x}, constants)

    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int32) - x_zp, (3, 3), (2, 3))
    acc = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int32)) + bias.reshape(-1, 1, 1)
    multiplier = numerics.requantize_multiplier(x_scale, w_scale, y_scale)
    y = numerics.requantize(
        acc, multiplier, y_zp, storage.low, storage.high, storage.dtype, 1 if per_channel else None
    )
    np.testing.assert_array_equal(y, expected, strict=True)
    assert 1 < np.unique(y).size


def test_requantize_is_qlinearmatmuls():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 256, (200, 30)).astype(np.uint8)
    b = rng.integers(-128, 128, (30, 70)).astype(np.int8)
    scales = {"as": 0.0317, "bs": 0.0071, "ys": 0.0443}
    constants: dict[str, Any] = {name: np.array(s, np.float32) for name, s in scales.items()}
    constants |= {"b": b, "az": np.uint8(131), "bz": np.int8(-3)}
    constants["yz"] = np.uint8(117)
    node = helper.make_node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])
    acc = (a.astype(np.int32) - 131) @ (b.astype(np.int32) + 3)
    multiplier = numerics.requantize_multiplier(constants["as"], constants["bs"], constants["ys"])
    y = numerics.requantize(acc, multiplier, 117, 0, 255, np.uint8)
    np.testing.assert_array_equal(y, run([node], {"a": a}, constants), strict=True)


# --- Bias and accumulator ---


def test_bias_is_in_steps_of_the_product_of_scales():
    w_scale = np.array([0.01, 0.02, 0.04], np.float32)
    bias, overflow = numerics.quantize_bias(
        np.array([1.0, -3.0, 0.005], np.float32), np.float32(0.5), w_scale
    )
    assert bias.dtype == np.int32
    np.testing.assert_array_equal(bias, [200, -300, 0])
    assert not overflow.any()
    np.testing.assert_array_equal(numerics.bias_scale(0.5, w_scale), np.float32(0.5) * w_scale)


def test_bias_that_does_not_fit_is_reported_not_clipped():
    real = np.array([2.0**31 - 1, 2.0**31, -(2.0**31) + 1, -(2.0**31), np.nan, np.inf])
    bias, overflow = numerics.quantize_bias(real, 1.0, 1.0)
    np.testing.assert_array_equal(overflow, [False, True, False, True, True, True])
    np.testing.assert_array_equal(bias, [2**31 - 1, 0, -(2**31) + 1, 0, 0, 0])


def test_bias_keeps_integers_that_float32_cannot_hold():
    bias, _ = numerics.quantize_bias(np.array([2.0**30 + 1]), 1.0, 1.0)
    assert bias == 2**30 + 1


@pytest.mark.parametrize("output_axis", [0, 1])
def test_accumulator_bound_is_the_worst_sum(output_axis: int):
    rng = np.random.default_rng(1)
    w = rng.integers(-128, 128, (3, 4, 2)).astype(np.int8)
    channels = w.shape[output_axis]
    w_zp = rng.integers(-128, 128, channels)
    bound = numerics.accumulator_bound(w, 0, 255, 100, w_zp, output_axis)
    rows = np.moveaxis(w, output_axis, 0).reshape(channels, -1).astype(int)
    expected = [sum(abs(v - z) for v in row) * 155 for row, z in zip(rows, w_zp, strict=True)]
    np.testing.assert_array_equal(bound, expected)


def test_accumulator_bound_counts_both_ends_of_a_signed_activation():
    w = np.array([[[3], [-5]], [[1], [1]]], np.int8)
    np.testing.assert_array_equal(numerics.accumulator_bound(w, -128, 127, 7), [8 * 135, 2 * 135])
    np.testing.assert_array_equal(numerics.accumulator_bound(w, -128, 127, -9), [8 * 136, 2 * 136])


def test_accumulator_bound_does_not_wrap():
    w = np.full((1, 10**5), -128, np.int8)
    assert numerics.accumulator_bound(w, 0, 255, 0)[0] == 10**5 * 128 * 255 > numerics.INT32_MAX


# --- Helpers ---


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16"])
def test_flipped_signedness_is_the_same_real_value(name: str):
    storage = Storage.of(name)
    other = Storage.of(("u" if storage.signed else "i") + name[1:])
    q = np.arange(storage.low, storage.high + 1).astype(storage.dtype)
    flipped = numerics.flip_signedness(q)
    assert flipped.dtype == other.dtype
    np.testing.assert_array_equal(flipped, np.arange(other.low, other.high + 1))
    np.testing.assert_array_equal(numerics.flip_signedness(flipped), q, strict=True)


def test_expanded_parameters():
    p = np.array([[1, 2], [3, 4]])
    expanded = numerics.expand_parameters(p, (2, 5), blocks=((1, 3),))
    np.testing.assert_array_equal(expanded, [[1, 1, 1, 2, 2], [3, 3, 3, 4, 4]])  # repeated, not tiled
    assert numerics.expand_parameters([1, 2, 3], (2, 3, 4), axis=-2).shape == (1, 3, 1)
    assert numerics.expand_parameters(5, (2, 3)).shape == ()


@pytest.mark.parametrize(
    ("precision", "largest", "real"), [(24, 3.4e38, np.float32), (11, 65504.0, np.float16)]
)
def test_round_trip_claims_hold(precision: int, largest: float, real: type[np.floating]):
    """Where the bound says exact, every value survives; and it is not so cautious as to say no to 8 bits."""
    rng = np.random.default_rng(2)
    q = np.arange(-(2**11), 2**11).astype(np.int16)
    claims = 0
    for _ in range(300):
        high = int(2 ** rng.uniform(1, 11))
        zero_point = int(rng.integers(-high, high))
        scale = real(10 ** rng.uniform(-6, 4))
        values = q[(q >= -high) & (q <= high)]
        with np.errstate(over="ignore"):
            back = numerics.dequantize(values, scale, zero_point, real)
        survives = (numerics.quantize(back, scale, zero_point, -high, high, np.int16) == values).all()
        claim = numerics.round_trip_is_exact(-high, high, scale, zero_point, precision, largest)
        assert survives or not claim
        claims += claim
    assert claims > 100
    assert numerics.round_trip_is_exact(-128, 127, 0.01, 127, precision, largest)


def test_eight_bits_do_not_survive_bfloat16():
    assert not numerics.round_trip_is_exact(0, 255, 1.0078125, 0, 8, 3.3e38)
    assert numerics.round_trip_is_exact(-127, 127, 1.0078125, 0, 8, 3.3e38)


def test_largest_pair_sum_bounds_every_pair():
    draw = np.random.default_rng(3)
    for shape, axis in (((4, 5), 0), ((5, 4), 1), ((3, 2, 2, 2), 0), ((6, 1), 0)):
        w = draw.integers(-128, 128, shape).astype(np.int8)
        rows = np.moveaxis(w, axis, 0).reshape(shape[axis], -1).astype(int)
        pairs = [
            max(abs(a * x + b * y) for a in (0, 255) for b in (0, 255))
            for row in rows
            for k, x in enumerate(row)
            for y in (row[k + 1 :] if row.size > 1 else [0])
        ]
        assert numerics.largest_pair_sum(w, 255, axis) == max(pairs)
    assert numerics.largest_pair_sum(np.array([[9, -2, -7, -3]], np.int8), 255) == 10 * 255
    assert numerics.largest_pair_sum(np.array([[19, -2, -7, -3]], np.int8), 255) == 19 * 255  # of 0 and 255
    assert numerics.largest_pair_sum(np.full((2, 8), 64, np.int8), 255) <= 2**15 - 1
    assert numerics.largest_pair_sum(np.full((2, 8), -65, np.int8), 255) > 2**15


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_a_weight_less_its_zero_point_in_two_parts(dtype: Any):
    bounds = np.iinfo(dtype)
    every = np.arange(bounds.min, bounds.max + 1).astype(dtype)
    weight = np.broadcast_to(every, (256, 256))

    low, excess = numerics.less_zero_point(weight, every, axis=0)

    assert low.dtype == np.int8
    difference = weight.astype(int) - every.astype(int)[:, None]
    assert np.array_equal(low.astype(int) + excess, difference)
    assert np.array_equal(excess != 0, (difference < -128) | (difference > 127))


def test_the_scale_of_a_sum_is_not_zero():
    """A channel without weights has any scale; read again, a factor of 0 would be none."""
    scales = numerics.sum_scale(np.float32(0.02), np.array([0.5, 1e-38, 2.0**-149], np.float32))
    np.testing.assert_array_equal(scales, np.array([0.01, 2.0**-126, 2.0**-126], np.float32))
    assert scales.dtype == np.float32


def test_symmetric_scales_reach_what_they_are_to() -> None:
    scales = numerics.symmetric_scales(np.array([127.0, 0.5, 0.0, 1e-40], np.float32), 127)
    np.testing.assert_array_equal(scales, np.array([1, np.float32(0.5 / 127), 1, 1], np.float32))
    assert float(numerics.symmetric_scales(3.5, 7)) == 0.5


def test_a_dead_channel_keeps_the_scale_of_its_product():
    """Read and written again: 2^-126 / x_scale has few bits where it is subnormal."""
    tiny = np.finfo(np.float32).tiny
    x_scales = np.random.default_rng(7).uniform(1, 1000, 500).astype(np.float32)
    read = sums.weight_scale(np.full(500, tiny), x_scales)
    assert (read > 0).all()
    assert (read < tiny).all()
    np.testing.assert_array_equal(numerics.sum_scale(x_scales, read), tiny)
    np.testing.assert_array_equal(sums.weight_scale([0.25, 0.5], 0.5), [0.5, 1.0])
