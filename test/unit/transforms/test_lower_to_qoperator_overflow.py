"""Layers whose x_scale * w_scale is no float32 number, though each scale is one."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run


def _model(op: str, x_scale: float, w_scale: float, channels: bool, quantized: bool) -> ModelProto:
    rng = np.random.default_rng(3)
    shape = (5, 3, 2, 2) if op == "Conv" else (3, 5)
    weight = rng.integers(-100, 100, shape).astype(np.int8)
    weight[..., 0] = 0
    count = (5,) if channels else ()
    tensors = {
        "xs": np.float32(x_scale),
        "xz": np.uint8(91),
        "w": weight,
        "ws": np.full(count, w_scale, np.float32),
        "ys": np.float32(1e4),
        "yz": np.uint8(128),
    }
    cast = helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"])
    if channels:
        cast.attribute.append(helper.make_attribute("axis", 0 if op == "Conv" else 1))
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["x"]),
        cast,
        helper.make_node(op, ["x", "wd"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "ys", "yz"], ["y"]),
    ]
    sizes = [1, 3, 4, 4] if op == "Conv" else [4, 3]
    q = helper.make_tensor_value_info("q", TensorProto.UINT8, sizes)
    kind = TensorProto.UINT8 if quantized else TensorProto.FLOAT
    y = helper.make_tensor_value_info("y" if quantized else "m", kind, None)
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    graph = helper.make_graph(nodes[: 4 if quantized else 3], "g", [q], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("op", ["MatMul", "Gemm", "Conv"])
@pytest.mark.parametrize(("x_scale", "w_scale"), [(4e4, 1e35), (1e35, 3e4), (2e20, 2e20)])
@pytest.mark.parametrize("channels", [False, True])
@pytest.mark.parametrize("quantized", [False, True])
def test_a_product_of_scales_beyond_float32(
    op: str, x_scale: float, w_scale: float, channels: bool, quantized: bool
):
    """The kernel multiplied sums of 0 by infinity."""
    model = _model(op, x_scale, w_scale, channels, quantized)
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).integers(0, 256, sizes).astype(np.uint8)
    x.reshape(-1)[:6] = 91  # zeros, whose product is 0
    (before,) = run(model, {"q": x})
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module)
    (after,) = run(qdialect.to_model(module), {"q": x})
    np.testing.assert_array_equal(after, before)
