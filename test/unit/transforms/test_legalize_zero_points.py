"""Integer sums with more zero points than onnxruntime's kernels take: ONNX allows them, and sessions refuse them."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import qdialect
from qdialect.evaluation.session import run

Array = np.ndarray[Any, Any]
FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32
TARGETS: list[dict[str, Any]] = [
    {"target": "onnxruntime"},
    {"target": "onnxruntime", "exactness": "exact"},
    {"target": "onnxruntime", "form": "qdq"},
    {"target": "onnxruntime", "form": "integer"},
    {"target": "onnxruntime-avx2"},
    {"target": "generic"},
]


def _held(**arrays: Any) -> list[TensorProto]:
    return [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]


def _model(
    nodes: list[Any], inputs: dict[str, Any], held: list[TensorProto], result: int = FLOAT
) -> ModelProto:
    """inputs: arrays of the types and shapes of what is fed."""
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in inputs.items()
    ]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("y", result, None)], held)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _rescaled(op: str, attributes: dict[str, Any]) -> list[Any]:
    """An activation quantized at run time, its product with w, and the scales, as exporters write them."""
    quantize = helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])
    if op == "MatMulIntegerToFloat":
        inputs = ["q", "w", "s", "ws", "z", "wz"]
        return [quantize, helper.make_node(op, inputs, ["y"], domain="com.microsoft", **attributes)]
    if op == "DynamicQuantizeMatMul":
        return [helper.make_node(op, ["x", "w", "ws", "wz"], ["y"], domain="com.microsoft", **attributes)]
    return [
        quantize,
        helper.make_node(op, ["q", "w", "z", "wz"], ["i"], **attributes),
        helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
        helper.make_node("Mul", ["s", "ws"], ["t"]),
        helper.make_node("Mul", ["f", "t"], ["y"]),
    ]


def _check(model: ModelProto, feeds: dict[str, Array], right: Array, options: dict[str, Any]) -> ModelProto:
    module = qdialect.load(model.SerializeToString())
    qdialect.compile(module, **options)
    result = qdialect.to_model(module)
    for optimize in (False, True):
        (after,) = run(result, feeds, optimize=optimize)
        limit = 0 if right.dtype == np.int32 else 1e-5 * np.abs(right).max()
        assert np.abs(after.astype(float) - right).max() <= limit, optimize
    return result


ZEROS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Array]] = {
    "none": ((3, 4, 8), (3, 8, 5), np.zeros(5)),
    "equal": ((3, 4, 8), (3, 8, 5), np.full(5, 7)),
    "mixed": ((3, 4, 8), (3, 8, 5), np.array([1, 20, 0, 3, 11])),
    "one-row": ((3, 4, 8), (3, 8, 5), np.array([[1, 20, 0, 3, 11]])),
    "one-matrix": ((3, 4, 8), (3, 8, 5), np.array([[[1, 20, 0, 3, 11]]])),
    "of-each-matrix": ((3, 4, 8), (3, 8, 5), np.array([1, 20, 9]).reshape(3, 1, 1)),
    "four-axes": ((2, 3, 4, 8), (2, 3, 8, 5), np.array([1, 20, 0, 3, 11])),
    "batch-of-weights": ((4, 8), (3, 8, 5), np.array([1, 20, 0, 3, 11])),
    "batch-of-one": ((2, 4, 8), (1, 8, 5), np.array([1, 20, 0, 3, 11])),
    "no-batch": ((4, 8), (8, 5), np.array([1, 20, 0, 3, 11])),
}


@pytest.mark.parametrize("op", ["MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"])
@pytest.mark.parametrize("case", ZEROS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_zero_points_of_columns(op: str, case: str, dtype: Any):
    """`b zero point is not valid`: kernels take [N] for one matrix, and [D, 1, N] for D."""
    shape, weights, zeros = ZEROS[case]
    rng = np.random.default_rng(0)
    w = rng.integers(0, 100, weights).astype(dtype)
    x = rng.normal(size=shape).astype(np.float32)
    held = _held(w=w, wz=zeros.astype(dtype), ws=np.float32(0.01))
    one = _model(_rescaled(op, {}), {"x": x}, [*_held(wz=np.zeros((), dtype)), *held[::2]])
    model = _model(_rescaled(op, {}), {"x": x}, held)
    # what the zero points take away: their product with the sum of the activation
    two = _model(
        _rescaled(op, {}), {"x": x}, [*_held(w=np.ones(weights, dtype), wz=np.zeros((), dtype)), held[2]]
    )
    right = run(one, {"x": x})[0].astype(float) - run(two, {"x": x})[0].astype(float) * zeros
    for options in TARGETS:
        _check(model, {"x": x}, right, options)


@pytest.mark.parametrize(
    ("shape", "weights", "rows"),
    [
        ((4, 8), (8, 5), (4,)),
        ((4, 8), (8, 5), (4, 1)),
        ((4, 8), (8, 5), (1,)),
        ((3, 4, 8), (8, 5), (4, 1)),
        ((3, 4, 8), (8, 5), (3, 4, 1)),
        ((3, 4, 8), (3, 8, 5), (3, 4, 1)),
        ((3, 4, 8), (3, 8, 5), (4, 1)),
        ((4, 8), (3, 8, 5), (4, 1)),
    ],
)
@pytest.mark.parametrize("computed", ["", "xz", "w", "wz", "w wz xz"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_zero_points_of_rows(
    shape: tuple[int, ...], weights: tuple[int, ...], rows: tuple[int, ...], computed: str, dtype: Any
):
    """`input1 zero point must be a scalar`: ONNX allows one for each row of the activation."""
    rng = np.random.default_rng(0)
    arrays = {
        "x": rng.integers(0, 100, shape).astype(dtype),
        "w": rng.integers(-100, 100, weights).astype(np.int8),
        "xz": rng.integers(0, 100, rows).astype(dtype),
        "wz": rng.integers(-9, 9, weights[-1]).astype(np.int8),
    }
    feeds = {name: array for name, array in arrays.items() if name == "x" or name in computed.split()}
    held = {name: array for name, array in arrays.items() if name not in feeds}
    node = helper.make_node("MatMulInteger", list(arrays), ["y"])
    model = _model([node], feeds, _held(**held), INT32)
    wide = {name: array.astype(np.int32) for name, array in arrays.items()}
    zeros = wide["xz"].reshape(-1, 1) if len(rows) == 1 else wide["xz"]
    right = (wide["x"] - zeros) @ (wide["w"] - wide["wz"])
    for options in TARGETS:
        _check(model, feeds, right, options)


@pytest.mark.parametrize(
    ("weights", "attributes"),
    [
        ((4, 6, 3, 3), {}),
        ((4, 6, 3, 3), {"pads": [1, 1, 1, 1]}),
        ((4, 6, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
        ((4, 6, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
        ((4, 6, 2, 2), {"dilations": [2, 2], "kernel_shape": [2, 2]}),
        ((4, 6, 1, 1), {}),
        ((4, 3, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
        ((6, 1, 3, 3), {"group": 6}),
        ((12, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
    ],
)
@pytest.mark.parametrize("reach", ["full", "narrow", "equal"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("computed", ["", "wz", "w wz xz"])
def test_zero_points_of_channels(
    weights: tuple[int, ...], attributes: dict[str, Any], reach: str, dtype: Any, computed: str
):
    """`Non per-tensor quantization is not supported now`: ConvInteger with a zero point for each output channel."""
    rng = np.random.default_rng(0)
    bounds = np.iinfo(dtype)
    low, high = (bounds.min, bounds.max) if reach == "full" else (bounds.min + 100, bounds.max - 100)
    w = rng.integers(low, high + 1, weights).astype(dtype)
    w[:, 0, 0, 0], w[:, -1, -1, -1] = low, high
    middle = 0 if dtype == np.int8 else 128
    offsets = np.resize([20, -20, 5, -11, 0], weights[0]) if reach != "equal" else np.full(weights[0], 3)
    arrays = {
        "x": rng.integers(0, 255, (2, 6, 7, 6)).astype(np.uint8),
        "w": w,
        "xz": np.uint8(117),
        "wz": (middle + offsets).astype(dtype),
    }
    feeds = {name: np.asarray(a) for name, a in arrays.items() if name == "x" or name in computed.split()}
    held = {name: array for name, array in arrays.items() if name not in feeds}
    model = _model(
        [helper.make_node("ConvInteger", list(arrays), ["y"], **attributes)], feeds, _held(**held), INT32
    )
    values = {"x": arrays["x"].astype(float) - 117, "w": w - arrays["wz"].astype(float).reshape(-1, 1, 1, 1)}
    plain = _model(
        [helper.make_node("Conv", ["x", "w"], ["y"], **attributes)], values, [], TensorProto.DOUBLE
    )
    (right,) = ReferenceEvaluator(plain).run(None, values)
    for options in TARGETS:
        _check(model, feeds, np.rint(right).astype(np.int32), options)


@pytest.mark.parametrize("reach", [1, 20])
@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("bias", [False, True])
def test_convolutions_of_activations_quantized_at_run_time(reach: int, group: int, bias: bool):
    """The verdict said `integers: 100 %` of a file that no session loads."""
    rng = np.random.default_rng(0)
    w = rng.integers(-128, 128, (6, 3 // group, 3, 3)).astype(np.int8)
    w[:, 0, 0, :2] = -128, 127
    zeros = (reach * np.resize([1, -1, 0], 6)).astype(np.int8)
    x = rng.normal(size=(1, 3, 6, 6)).astype(np.float32)
    nodes, held = _rescaled("ConvInteger", {"group": group}), _held(w=w, wz=zeros, ws=np.float32(0.01))
    b = rng.normal(size=(1, 6, 1, 1)).astype(np.float32)
    if bias:
        nodes[-1].output[0] = "m"
        nodes.append(helper.make_node("Add", ["m", "b"], ["y"]))
        held += _held(b=b)
    (q, s, z) = run(
        helper.make_model(
            helper.make_graph(
                nodes[:1],
                "g",
                [helper.make_tensor_value_info("x", FLOAT, x.shape)],
                [
                    helper.make_tensor_value_info(name, kind, None)
                    for name, kind in (("q", TensorProto.UINT8), ("s", FLOAT), ("z", TensorProto.UINT8))
                ],
            ),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
        ),
        {"x": x},
    )
    values = {"x": q.astype(float) - z, "w": w - zeros.astype(float).reshape(-1, 1, 1, 1)}
    plain = _model([helper.make_node("Conv", ["x", "w"], ["y"], group=group)], values, [], TensorProto.DOUBLE)
    (sums,) = ReferenceEvaluator(plain).run(None, values)
    right = np.asarray(sums) * s * 0.01 + (b if bias else 0)
    for options in [*TARGETS, {"target": "openvino"}, {"target": "tensorrt"}]:
        _check(_model(nodes, {"x": x}, held), {"x": x}, right, options)


@pytest.mark.parametrize("weights", [(3, 8, 5), (2, 3, 8, 5), (8, 5)])
@pytest.mark.parametrize("scales", ["one", "columns"])
@pytest.mark.parametrize("zeros", ["one", "columns"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_columns_of_a_batch_of_quantized_matrices(
    weights: tuple[int, ...], scales: str, zeros: str, dtype: Any
):
    """At `exact` QLinearMatMul stays, whose kernel refuses [N] of a weight [D, K, N]."""
    rng = np.random.default_rng(0)
    w = rng.integers(0, 100, weights).astype(dtype)
    shape = (5,) if "columns" in (scales, zeros) else ()
    scale = np.broadcast_to(np.float32(0.02) * (np.arange(1, 6) if scales == "columns" else 1), shape or (5,))
    scale = scale.astype(np.float32) if shape else np.float32(0.02)
    zero = np.broadcast_to([50, 51, 40, 60, 3] if zeros == "columns" else 50, shape).astype(dtype)
    x = rng.integers(0, 255, (*weights[:-2], 4, 8)).astype(np.uint8)
    held = _held(
        w=w, xs=np.float32(0.02), xz=np.uint8(117), ws=scale, wz=zero, ys=np.float32(0.25), yz=np.uint8(120)
    )
    node = helper.make_node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])
    model = _model([node], {"x": x}, held, TensorProto.UINT8)
    sums = (x.astype(float) - 117) @ (w - zero.astype(float)) * (np.float32(0.02) * scale.astype(float))
    right = np.clip(np.rint(sums / 0.25) + 120, 0, 255)
    for options in TARGETS:
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, **options)
        for optimize in (False, True) if "onnxruntime" in options["target"] else (False,):
            (after,) = run(qdialect.to_model(module), {"x": x}, optimize=optimize)
            assert np.abs(after.astype(float) - right).max() <= 1, (options, optimize)
