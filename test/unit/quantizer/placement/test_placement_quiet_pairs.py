"""Pairs of casts stand where a layer gains by them, and a result of noise keeps the layers in float that make it."""

import numpy as np
from onnx import ModelProto, numpy_helper, parser

import qdialect
from qdialect.dialects.onnx_base import OnnxOp


def model(text: str, **arrays: np.ndarray) -> ModelProto:
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["": 13]> {text}')
    every = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()]
    proto.graph.initializer.extend(every)
    return proto


def test_sums_of_a_normalization_in_parts_have_no_pairs() -> None:
    """Steps of the largest variance ruin the small ones, and no runtime computes these parts in integers."""
    draw = np.random.default_rng(0)
    proto = model(
        """g (float[n,8,32] x) => (float[n,8,32] y) <float two = {2.0}, float eps = {0.00001}> {
        h = MatMul(x, w) a = Add(x, h) m = ReduceMean<axes = [-1]>(a) d = Sub(a, m) s = Pow(d, two)
        v = ReduceMean<axes = [-1]>(s) e = Add(v, eps) r = Sqrt(e) z = Div(d, r) y = MatMul(z, u) }""",
        w=draw.normal(size=(32, 32)) / 6,
        u=draw.normal(size=(32, 32)) / 6,
    )
    x = draw.normal(size=(16, 8, 32)) * 10.0 ** draw.uniform(-1, 0, size=(16, 8, 1))
    done = qdialect.quantize(proto, [{"x": x.astype(np.float32)}], form="qdq", range="minmax")
    assert done.integer == 2
    parts = {"ReduceMean", "Sub", "Pow", "Sqrt", "Div"}
    for op in done.module.walk():
        if (
            isinstance(op, OnnxOp)
            and op.op_type == "QuantizeLinear"
            and isinstance(op.operands[0].owner, OnnxOp)
        ):
            assert op.operands[0].owner.op_type not in parts - {"Div"}


def test_what_makes_the_noise_stays_in_float() -> None:
    """One channel is so large that in 8 bits all others are 0, and the product behind does not read it."""
    draw = np.random.default_rng(3)
    large, w, u, v = np.zeros(32), *(draw.normal(size=(32, 32)) for _ in range(3))
    large[3], u[3] = 1e5, 0.0
    proto = model(
        """g (float[n,32] x) => (float[n,32] y)
        { a = MatMul(x, w) b = Add(a, l) c = Relu(b) d = MatMul(c, u) y = MatMul(d, v) }""",
        l=large,
        w=w,
        u=u,
        v=v,
    )
    x = draw.normal(size=(16, 32)).astype(np.float32)
    done = qdialect.quantize(proto, [{"x": x}], form="qdq", range="minmax", rounding="nearest")
    assert done.integer == 2
    assert done.ratio > 25
    assert any(line.startswith("30dB holds with 1 node kept in float for it") for line in done.summary())


def test_ops_of_a_model_without_layers_have_pairs() -> None:
    """A BatchNormalization alone, in parts: each is quantized by its own profile."""
    proto = model(
        "g (float[n,3,4] x) => (float[n,3,4] y) { y = BatchNormalization(x, a, b, m, v) }",
        a=np.array([2.0, -3.0, 4.0]),
        b=np.array([1.0, 5.0, -9.0]),
        m=np.array([0.5, 0.0, -0.5]),
        v=np.ones(3),
    )
    x = np.random.default_rng(1).normal(size=(16, 3, 4)).astype(np.float32)
    done = qdialect.quantize(proto, [{"x": x}], form="qdq", decompose=["BatchNormalization"])
    ops = [op for op in done.module.walk() if isinstance(op, OnnxOp)]
    quantized = [op.operands[0].owner for op in ops if op.op_type == "QuantizeLinear"]
    assert {"Mul", "Add"} <= {one.op_type for one in quantized if isinstance(one, OnnxOp)}
