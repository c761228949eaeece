"""Blocks: a type carries up to 4,096 scales, more stay with the op."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.context import Context

from qdialect.importer import import_model
from qdialect.promises.casts import MAX_BLOCK_PARAMETERS
from qdialect.remarks import remarks_of
from qdialect.transforms.raise_qdq import RaiseQdqPass


def blocked_weight(blocks: int) -> ModelProto:
    """DequantizeLinear of int4 in `blocks` blocks of 2."""
    weights = [
        helper.make_tensor("w", TensorProto.INT4, [2 * blocks, 1], np.zeros(2 * blocks, np.int8)),
        numpy_helper.from_array(np.full((blocks, 1), 0.5, np.float32), "s"),
    ]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["y"], "dequantize", axis=0, block_size=2)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2 * blocks, 1])]
    graph = helper.make_graph(nodes, "g", [], outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(
    ("blocks", "raised"), [(MAX_BLOCK_PARAMETERS, True), (MAX_BLOCK_PARAMETERS + 1, False)]
)
def test_blocks_that_a_type_carries(blocks: int, raised: bool):
    module = import_model(blocked_weight(blocks))
    RaiseQdqPass().apply(Context(), module)
    assert any(op.name == "quant.dcast" for op in module.walk()) == raised
    assert [r.blocked.id for r in remarks_of(module)] == ([] if raised else ["many-blocks"])
