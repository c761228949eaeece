"""Bias correction, on numbers."""

from typing import Any

import numpy as np
import onnx.parser

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.interface import main_of
from qdialect.onnx_io.importer import import_model
from qdialect.promises.window import WindowAttributes
from qdialect.quantizer.placement.kernel_fusion import bias_behind, is_bias
from qdialect.quantizer.rounding.gptq import weight_grid
from qdialect.quantizer.rounding.hessian import Hessian
from qdialect.quantizer.rounding.layers import LinearLayer
from qdialect.quantizer.rounding.rounding import analytic_shift, confirmed


def results(layer: LinearLayer, x: Any, weight: Any) -> Any:
    """(samples and positions, channels) in float64."""
    patches = np.concatenate(list(layer.patches(x)), axis=1).astype(np.float64)
    y = patches @ layer.rows(weight).transpose(0, 2, 1).astype(np.float64)
    return y.transpose(1, 0, 2).reshape(y.shape[1], -1)


def test_shift_is_the_mean_error_of_the_result() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(1.5, 1.0, size=(5, 4, 9, 8)).astype(np.float32)
    weight = rng.normal(size=(6, 2, 3, 3)).astype(np.float32)
    layer = LinearLayer(weight.shape, 0, 2, WindowAttributes((3, 3), (2, 1), (1, 1), (1, 0, 1, 0)))
    hessian = Hessian(layer, 2.0**-11)
    hessian.update(x)
    grid = weight_grid(layer, weight, -7, 7, per_channel=True)
    stored = layer.weight(grid.quantize(layer, layer.rows(weight)))
    real = layer.weight(grid.dequantize(layer, layer.rows(stored)))
    shift = analytic_shift(layer, weight, grid, stored, hessian.mean())
    error = results(layer, x, weight) - results(layer, x, real)
    np.testing.assert_allclose(shift, error.mean(axis=0), atol=1e-3)
    assert np.abs(shift).min() > 0.005


def test_factors_of_gemm_count() -> None:
    weight = np.array([[0.3, 0.8, -0.4]], np.float32)
    layer = LinearLayer((1, 3), 0, weight_factor=3.0, bias_factor=0.5)
    grid = weight_grid(layer, weight, -2, 2, per_channel=True)
    stored = grid.quantize(layer, layer.rows(weight))[0]
    shift = analytic_shift(layer, weight, grid, stored, np.array([[1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(shift, [6 * (0.3 - 0.4 + 2 * 0.0 + 3 * 0.0)], atol=1e-6)


def test_confirmed_on_other_data() -> None:
    shift = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    held_out = np.array([0.9, 0.4, -0.1, -2.0, 0.2])
    assert confirmed(shift, held_out).tolist() == [True, False, False, True, False]


def test_a_sum_that_is_asked_for_its_bias_leaves_its_weight_one_user() -> None:
    """A second user, in no block, kept float weights beside the integers in what is written."""
    text = """<ir_version: 8, opset_import: ["" : 17]> agraph (float[N, 2] x) => (float[N, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {5, 6}> { p = MatMul(x, w)
        y = Add(p, b) }"""
    ops = [op for op in main_of(import_model(onnx.parser.parse_model(text))).body.block.ops if op.operands]
    [product, add] = [op for op in ops if isinstance(op, OnnxOp)]
    assert is_bias(add) is product
    assert bias_behind(product) is add
    assert all(operand.has_one_use() for op in (product, add) for operand in op.operands)
