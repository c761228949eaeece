"""Linear layers as rows and patches: patches @ rows is what onnxruntime computes for the op."""

from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

from qdialect.promises.window import WindowAttributes
from qdialect.quantizer.rounding.hessian import Hessian, grid_step, rows_per_sample
from qdialect.quantizer.rounding.layers import LinearLayer, spread


def reference(op_type: str, x: Any, w: Any, **attributes: Any) -> Any:
    node = helper.make_node(op_type, ["x", "w"], ["y"], **attributes)
    model = onnx_model(
        [node],
        {n: (TensorProto.FLOAT, a.shape) for n, a in (("x", x), ("w", w))},
        [helper.make_empty_tensor_value_info("y")],
    )
    return ort.InferenceSession(model.SerializeToString()).run(None, {"x": x, "w": w})[0]


def product(layer: LinearLayer, x: Any, w: Any) -> Any:
    """[groups, positions, outputs of a group]."""
    patches = np.concatenate(list(layer.patches(x)), axis=1)
    return patches @ layer.rows(w).transpose(0, 2, 1)


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed + sum(shape)).normal(size=shape).astype(np.float32)


CONVOLUTIONS = {
    "plain": (1, (2, 3), (1, 1), (1, 1), (0, 0, 0, 0)),
    "strided": (1, (3, 2), (2, 3), (1, 1), (1, 0, 2, 1)),
    "dilated": (1, (3, 2), (1, 2), (2, 3), (2, 1, 0, 3)),
    "grouped": (2, (3, 2), (2, 1), (1, 1), (1, 1, 1, 1)),
    "depthwise": (4, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_conv(name: str) -> None:
    group, kernel, strides, dilations, pads = CONVOLUTIONS[name]
    x, w = random(2, 4, 11, 9), random(8, 4 // group, *kernel)
    layer = LinearLayer(w.shape, 0, group, WindowAttributes(kernel, strides, dilations, pads))
    y = reference("Conv", x, w, group=group, strides=strides, dilations=dilations, pads=pads)
    wanted = y.reshape(2, group, 8 // group, -1).transpose(1, 0, 3, 2).reshape(group, -1, 8 // group)
    np.testing.assert_allclose(product(layer, x, w), wanted, atol=1e-5)
    np.testing.assert_array_equal(layer.weight(layer.rows(w)), w)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("stride", [1, 2])
def test_conv_auto_pad(auto_pad: str, stride: int) -> None:
    x, w = random(1, 2, 8, 7), random(3, 2, 4, 3)
    strides = (stride, stride + 1)
    layer = LinearLayer(w.shape, 0, 1, WindowAttributes((4, 3), strides, (1, 1), (0, 0, 0, 0), auto_pad))
    y = reference("Conv", x, w, strides=strides, auto_pad=auto_pad)
    np.testing.assert_allclose(product(layer, x, w), y.reshape(1, 3, -1).transpose(0, 2, 1), atol=1e-5)


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("added", [0, 1])
def test_conv_transpose(name: str, added: int) -> None:
    group, kernel, strides, dilations, pads = CONVOLUTIONS[name]
    output_padding = tuple(min(added, s - 1) for s in strides)
    x, w = random(2, 4, 5, 6), random(4, 3, *kernel)
    window = WindowAttributes(kernel, strides, dilations, pads, output_padding=output_padding)
    layer = LinearLayer(w.shape, 1, group, window, transposed=True)
    settings = {"strides": strides, "dilations": dilations, "pads": pads, "output_padding": output_padding}
    y = reference("ConvTranspose", x, w, group=group, **settings)
    wanted = y.reshape(2, group, 3, -1).transpose(1, 0, 3, 2).reshape(group, -1, 3)
    np.testing.assert_allclose(product(layer, x, w), wanted, atol=1e-5)
    np.testing.assert_array_equal(layer.weight(layer.rows(w)), w)


@pytest.mark.parametrize("auto_pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
def test_conv_transpose_output_shape(auto_pad: str) -> None:
    x, w = random(1, 2, 5, 6), random(2, 3, 4, 3)
    window = WindowAttributes((4, 3), (2, 3), (1, 1), (0, 0, 0, 0), auto_pad, (), (11, 17))
    layer = LinearLayer(w.shape, 1, 1, window, transposed=True)
    y = reference("ConvTranspose", x, w, strides=(2, 3), auto_pad=auto_pad, output_shape=(11, 17))
    assert y.shape[2:] == (11, 17)
    np.testing.assert_allclose(product(layer, x, w), y.reshape(1, 3, -1).transpose(0, 2, 1), atol=1e-5)


def test_one_and_three_spatial_axes() -> None:
    for sizes, kernel in (((9,), (3,)), ((4, 5, 6), (2, 3, 1))):
        x, w = random(2, 2, *sizes), random(3, 2, *kernel)
        ones, pads = (1,) * len(sizes), (1, 0, 0, 1, 1, 0)[: 2 * len(sizes)]
        layer = LinearLayer(w.shape, 0, 1, WindowAttributes(kernel, ones, ones, pads))
        y = reference("Conv", x, w, pads=pads).reshape(2, 3, -1).transpose(0, 2, 1).reshape(1, -1, 3)
        np.testing.assert_allclose(product(layer, x, w), y, atol=1e-5)


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_gemm(trans_a: int, trans_b: int) -> None:
    x, w = random(*((5, 4) if trans_a else (4, 5))), random(*((3, 5) if trans_b else (5, 3)))
    layer = LinearLayer(w.shape, 0 if trans_b else 1, transposed_input=bool(trans_a))
    y = reference("Gemm", x, w, transA=trans_a, transB=trans_b)
    np.testing.assert_allclose(product(layer, x, w)[0], y, atol=1e-5)
    np.testing.assert_array_equal(layer.weight(layer.rows(w)), w)


def test_matmul() -> None:
    x, w = random(2, 4, 5), random(5, 3)
    layer = LinearLayer(w.shape, 1)
    np.testing.assert_allclose(product(layer, x, w)[0], (x @ w).reshape(-1, 3), atol=1e-5)
    np.testing.assert_array_equal(layer.weight(layer.rows(w)), w)
    vector = random(5)
    np.testing.assert_allclose(
        product(LinearLayer((5,), None), x, vector)[0, :, 0], (x @ vector).ravel(), atol=1e-5
    )


@pytest.mark.parametrize(
    "lead", [((7, 2), (7, 2)), ((7, 2), (2,)), ((7, 2), (7, 1)), ((1,), (3,)), ((), (2, 3))]
)
def test_matmul_with_leading_axes(lead: Any) -> None:
    x, w = random(*lead[0], 4, 5), random(*lead[1], 5, 3)
    layer = LinearLayer(w.shape, w.ndim - 1)
    y = product(layer, x, w)
    assert y.shape[0] == np.prod(lead[1])
    wanted = x @ w
    assert y.size == wanted.size
    np.testing.assert_allclose(np.sort(y, axis=None), np.sort(wanted, axis=None), atol=1e-5)
    np.testing.assert_array_equal(layer.weight(layer.rows(w)), w)


def test_limited_patches_are_some_of_all_and_do_not_depend_on_the_batch() -> None:
    x = random(3, 2, 9, 8)
    layer = LinearLayer((5, 2, 3, 2), 0, 1, WindowAttributes((3, 2), (1, 2), (1, 1), (1, 0, 1, 0)))
    every = {p.tobytes() for p in np.concatenate(list(layer.patches(x)), axis=1)[0]}
    some = np.concatenate(list(layer.patches(x, 7)), axis=1)
    assert some.shape == (1, 21, 12)
    assert {p.tobytes() for p in some[0]} <= every
    apart = [p for k in range(3) for p in layer.patches(x[k : k + 1], 7)]
    np.testing.assert_array_equal(np.concatenate(apart, axis=1), some)


@pytest.mark.parametrize(("count", "limit"), [(1, 1), (10, 3), (1024, 200), (97, 97)])
def test_spread(count: int, limit: int) -> None:
    taken = spread(count, limit)
    assert len(set(taken.tolist())) == limit
    assert taken.min() >= 0
    assert taken.max() < count
    if limit > 1:
        assert np.diff(taken).max() <= 4 * count / limit


def test_hessian_does_not_depend_on_batches_or_order() -> None:
    x = random(12, 4, 7, 6) * np.float32(3.7)
    layer = LinearLayer((8, 2, 3, 3), 0, 2, WindowAttributes((3, 3), (1, 1), (1, 1), (1, 1, 1, 1)))
    step = grid_step(float(np.abs(x).max()))

    def summed(order: list[int], batch: int) -> Hessian:
        hessian = Hessian(layer, step, limit=11)
        for k in range(0, len(order), batch):
            hessian.update(x[order[k : k + batch]])
        return hessian

    first = summed(list(range(12)), 12)
    for other in (summed(list(range(12)), 1), summed(list(range(11, -1, -1)), 5)):
        assert other.matrix().tobytes() == first.matrix().tobytes()
        assert other.mean().tobytes() == first.mean().tobytes()
    halves, second = summed(list(range(5)), 7), summed(list(range(5, 12)), 2)
    halves.merge(second)
    assert halves.matrix().tobytes() == first.matrix().tobytes()
    patches = np.concatenate(list(layer.patches(x, 11)), axis=1).astype(np.float64)
    wanted = patches.transpose(0, 2, 1) @ patches / patches.shape[1]
    np.testing.assert_allclose(first.matrix(), wanted, atol=1e-3 * wanted.max())
    np.testing.assert_allclose(first.mean(), patches.mean(axis=1), atol=1e-3)


def test_hessians_of_another_step_do_not_merge() -> None:
    layer = LinearLayer((3, 2), 0)
    with pytest.raises(ValueError, match="cannot be added"):
        Hessian(layer, 0.5).merge(Hessian(layer, 0.25))


def test_grid_step() -> None:
    assert grid_step(0.0) == 1.0
    for largest in (1e-3, 0.999, 1.0, 6.0, 1e5):
        assert 2**13 <= largest / grid_step(largest) < 2**14
    assert rows_per_sample(LinearLayer((3, 5), 0), 64) == 63
