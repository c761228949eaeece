"""Half precision beside an operand whose type nobody knows, since an op of another domain makes it."""

import numpy as np
import pytest
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

HALF = np.float16


def _model(op: str, weight_first: bool, of_scale: bool, opset: int) -> tuple[ModelProto, FunctionProto]:
    """A product of an activation behind an unknown op, or read by a scale of one, with a quantized weight."""
    rng = np.random.default_rng(5)
    shape = (2, 3, 3, 3) if op == "Conv" else (3, 3)
    tensors = {
        "w": rng.integers(-100, 100, shape).astype(np.int8),
        "ws": HALF(0.01),
        "xs": HALF(0.02),
        "xz": np.int8(3),
        "ys": HALF(0.05),
        "yz": np.uint8(128),
    }
    unknown = helper.make_node("Own", ["xs" if of_scale else "read"], ["own"], domain="own")
    inputs = ["q", "own" if of_scale else "xs", "xz"]
    reads = helper.make_node("DequantizeLinear", inputs, ["read"])
    nodes = [unknown, reads] if of_scale else [reads, unknown]
    x = "read" if of_scale else "own"
    product = helper.make_node(op, ["wd", x] if weight_first else [x, "wd"], ["m"])
    nodes += [
        helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"]),
        product,
        helper.make_node("QuantizeLinear", ["m", "ys", "yz"], ["y"]),
    ]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    sizes = [1, 3, 5, 5] if op == "Conv" else [3, 3]
    q = helper.make_tensor_value_info("q", TensorProto.INT8, sizes)
    y = helper.make_tensor_value_info("y", TensorProto.UINT8, None)
    graph = helper.make_graph(nodes, "g", [q], [y], held)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    inner: NodeProto = helper.make_node("Identity", ["a"], ["b"])
    function = helper.make_function("own", "Own", ["a"], ["b"], [inner], imports[:1])
    return helper.make_model(graph, opset_imports=imports, ir_version=10), function


def _whole(model: ModelProto, function: FunctionProto) -> ModelProto:
    whole = ModelProto()
    whole.CopyFrom(model)
    whole.functions.append(function)
    return whole


@pytest.mark.parametrize("of_scale", [False, True])
@pytest.mark.parametrize(
    ("op", "weight_first"),
    [
        ("MatMul", False),
        ("MatMul", True),
        ("Gemm", False),
        ("Gemm", True),
        ("Conv", False),
        ("Add", False),
        ("Mul", True),
    ],
)
@pytest.mark.parametrize("opset", [19, 21, 23])
def test_a_type_that_is_not_known(op: str, weight_first: bool, of_scale: bool, opset: int):
    """The weight became float32, its unknown partner stayed float16: no session loaded the result."""
    model, function = _model(op, weight_first, of_scale, opset)
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"q": np.random.default_rng(1).integers(-100, 100, sizes).astype(np.int8)}
    before = run(_whole(model, function), feeds)[0].astype(int)
    for target in ("onnxruntime", "generic"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, target=target)
        result = _whole(qdialect.to_model(module), function)
        for optimize in (False, True):
            after = run(result, feeds, optimize=optimize)[0].astype(int)
            assert np.abs(after - before).max() <= 1, (target, optimize)
