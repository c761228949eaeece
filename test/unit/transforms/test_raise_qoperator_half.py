"""MatMulIntegerToFloat whose scales are float16: so is its result, and what follows is computed in half precision."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.evaluation.session import run

HALF = np.float16


def _model(biased: bool, columns: bool, end: str, rank: int) -> ModelProto:
    rng = np.random.default_rng(2)
    count = (3,) if columns else ()
    tensors = {
        "w": rng.integers(-100, 100, (12, 3)).astype(np.int8),
        "xs": HALF(0.05),
        "ws": rng.uniform(0.004, 0.01, count).astype(HALF),
        "xz": np.uint8(120),
        "wz": np.zeros(count, np.int8),
        "b": rng.normal(size=3).astype(HALF),
        "k": rng.normal(size=3).astype(HALF),
        "ys": HALF(0.1),
        "yz": np.uint8(128),
    }
    inputs = ["q", "w", "xs", "ws", "xz", "wz", *(["b"] if biased else [])]
    nodes = [helper.make_node("MatMulIntegerToFloat", inputs, ["m"], domain="com.microsoft")]
    more = {"Add": ["m", "k"], "Relu": ["m"], "QuantizeLinear": ["m", "ys", "yz"], "Cast": ["m"]}
    if end:
        nodes.append(helper.make_node(end, more[end], ["y"]))
    if end == "Cast":
        nodes[-1].attribute.append(helper.make_attribute("to", TensorProto.FLOAT))
    kind = {"QuantizeLinear": TensorProto.UINT8, "Cast": TensorProto.FLOAT}.get(end, TensorProto.FLOAT16)
    q = helper.make_tensor_value_info("q", TensorProto.UINT8, [2, 12][-rank:] if rank < 3 else [2, 2, 12])
    y = helper.make_tensor_value_info("y" if end else "m", kind, None)
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in tensors.items()]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(
        helper.make_graph(nodes, "g", [q], [y], held), opset_imports=imports, ir_version=10
    )


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("end", ["", "Add", "Relu", "QuantizeLinear", "Cast"])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_a_result_in_half_precision(biased: bool, columns: bool, end: str, rank: int):
    """Its result was taken for float32: a VerifyException of every target."""
    model = _model(biased, columns, end, rank)
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feeds = {"q": np.random.default_rng(1).integers(0, 256, sizes).astype(np.uint8)}
    before = run(model, feeds)[0]
    for target in ("onnxruntime", "openvino"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, target=target)
        result = qdialect.to_model(module)
        for optimize in (False, True):
            after = run(result, feeds, optimize=optimize)[0]
            assert after.dtype == before.dtype
            allowed = 1 if end == "QuantizeLinear" else 2e-3 * np.abs(before.astype(float)).max()
            assert np.abs(after.astype(float) - before.astype(float)).max() <= allowed, (target, optimize)
