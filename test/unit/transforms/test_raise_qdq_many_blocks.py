"""Blocks: a type carries up to 4,096 scales, more stay with the op."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx_models import onnx_model
from xdsl.context import Context

from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.promises.casts import MAX_BLOCK_PARAMETERS
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.raise_qdq import RaiseQdqPass


def blocked_weight(blocks: int) -> ModelProto:
    """DequantizeLinear of int4 in `blocks` blocks of 2."""
    weights = [
        helper.make_tensor("w", TensorProto.INT4, [2 * blocks, 1], np.zeros(2 * blocks, np.int8)),
        numpy_helper.from_array(np.full((blocks, 1), 0.5, np.float32), "s"),
    ]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["y"], "dequantize", axis=0, block_size=2)]
    return onnx_model(nodes, [], {"y": [2 * blocks, 1]}, weights, opset=21)


@pytest.mark.parametrize(
    ("blocks", "raised"), [(MAX_BLOCK_PARAMETERS, True), (MAX_BLOCK_PARAMETERS + 1, False)]
)
def test_blocks_that_a_type_carries(blocks: int, raised: bool):
    module = import_model(blocked_weight(blocks))
    RaiseQdqPass().apply(Context(), module)
    assert any(op.name == "quant.dcast" for op in module.walk()) == raised
    assert [r.blocked.id for r in remarks_of(module)] == ([] if raised else ["block-size"])


@pytest.mark.parametrize("outputs", [6, 1400])  # 1400 * 3 are more than a type carries
@pytest.mark.parametrize("kind", [TensorProto.INT4, TensorProto.UINT4])
def test_a_transposed_weight_of_four_bits_is_one_constant(outputs: int, kind: int):
    """DequantizeLinear, Transpose, MatMul, as a linear layer of PyTorch is exported."""
    draw, low = np.random.default_rng(9), -8 if kind == TensorProto.INT4 else 0
    stored, zeros = (draw.integers(low, low + 16, shape) for shape in ((outputs, 48), (outputs, 3)))
    scales = draw.uniform(0.01, 0.1, (outputs, 3)).astype(np.float32)
    weights = [
        helper.make_tensor("w", kind, stored.shape, stored.flatten().tolist()),
        helper.make_tensor("z", kind, zeros.shape, zeros.flatten().tolist()),
        numpy_helper.from_array(scales, "s"),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["r"], "dequantize", axis=1, block_size=16),
        helper.make_node("Transpose", ["r"], ["t"], "turn", perm=[1, 0]),
        helper.make_node("MatMul", ["x", "t"], ["y"], "product"),
    ]
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [3, 48]), ("y", [3, outputs]))
    ]
    before = onnx_model(nodes, values[:1], values[1:], weights, opset=21)
    feeds = {"x": draw.normal(0, 1, (3, 48)).astype(np.float32)}
    wanted = run(before, feeds)[0]
    for target in ("generic", "onnxruntime"):
        module = import_model(ModelProto.FromString(before.SerializeToString()))
        compile(module, target)
        after = export_model(module)
        ops = [n.op_type for n in after.graph.node if n.op_type != "Constant"]
        node = target == "onnxruntime"
        assert ops == (["MatMulNBits"] if node else ["DequantizeLinear", "MatMul"])
        for optimize in (
            (False, True) if node else (False,)
        ):  # of the others a session makes one that rounds x
            result = run(after, feeds, optimize=optimize)[0]
            np.testing.assert_allclose(result, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())
