"""Guards that no text of a reasonable size, or that verifies, can reach."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute
from xdsl.utils.test_value import create_ssa_value

from qdialect.api import compile
from qdialect.dialects.onnx_types import tensor_type
from qdialect.dialects.quant import MAX_BLOCK_PARAMETERS, Storage, UniformType
from qdialect.onnx_io.importer import import_model
from qdialect.ops.generated import op_named
from qdialect.promises.linear import Linear
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes

X = UniformType.per_tensor(Storage.of("u8"), np.float32(0.02), 13)
W = UniformType.per_axis(Storage.of("i8"), 0, np.array([0.5, 0.25], np.float32), np.array([3, -7], np.int32))


def bias(*scales: float) -> UniformType:
    return UniformType.per_axis(Storage.of("i32"), 0, np.array(scales, np.float32))


@pytest.mark.parametrize(
    ("x", "w", "b", "reason"),
    [
        (X, W, bias(0.01, 0.005), None),
        (X, W, bias(0.01, 0.006), "bias-scale"),
        (f32, W, bias(0.01, 0.005), "float-operand"),
        (X, f32, bias(0.01, 0.005), "float-operand"),
    ],
)
def test_a_quantized_bias_belongs_to_its_operands(
    x: Attribute, w: Attribute, b: UniformType, reason: str | None
):
    """The verifier gives these as errors, and fuse-quantized takes such a bias in float."""
    operands = [tensor_type(x, (1, 4, 5, 6)), tensor_type(w, (2, 4, 3, 2)), tensor_type(b, (2,))]
    conv = op_named("", "Conv").build(
        [create_ssa_value(t) for t in operands], [tensor_type(f32, (1, 2, 3, 5))]
    )
    linear = conv.get_trait(Linear)
    assert linear is not None
    blocked = linear.check(conv)
    assert (blocked and blocked.id) == reason


@pytest.mark.parametrize("rows", [MAX_BLOCK_PARAMETERS // 64, MAX_BLOCK_PARAMETERS // 64 + 1])
def test_no_type_carries_more_scales_than_fit(rows: int):
    """Columns of 64, each of two blocks of 32."""
    scales = np.linspace(0.01, 0.09, rows * 64, dtype=np.float32).reshape(2, rows * 32)
    stored = np.arange(64 * rows * 32, dtype=np.int64).reshape(64, rows * 32).astype(np.int8)
    node = oh.make_node("DequantizeLinear", ["q", "s"], ["y"], axis=0, block_size=32, name="n")
    proto = onnx_model([node], [], {"y": (1, stored.shape)}, {"q": stored, "s": scales}, opset=21)
    onnx.checker.check_model(proto)
    module = import_model(proto)
    get_all_passes()["raise-qdq"]()().apply(Context(), module)
    wanted = [] if scales.size <= MAX_BLOCK_PARAMETERS else [("n", "block-size")]
    assert [(r.node, r.blocked.id) for r in remarks_of(module)] == wanted


@pytest.mark.parametrize(("inputs", "is_blocked"), [(65_000, False), (70_000, True)])
def test_sums_beyond_int32_stay_in_float(inputs: int, is_blocked: bool):
    """255 * 127 * 66,312 is the first product beyond; no bias is there for rescale-bias to look at."""
    constants = {
        "s": np.float32(0.02), "z": np.uint8(0), "t": np.float32(0.03),
        "w": np.full((inputs, 1), 127, np.int8), "u": np.float32(900), "v": np.uint8(7),
    }  # fmt: skip
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        oh.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        oh.make_node("DequantizeLinear", ["w", "t"], ["wd"]),
        oh.make_node("MatMul", ["xd", "wd"], ["m"], "product"),
        oh.make_node("QuantizeLinear", ["m", "u", "v"], ["y"]),
    ]
    tensors = [onh.from_array(np.asarray(v), k) for k, v in constants.items()]
    x = oh.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, inputs])
    y = oh.make_tensor_value_info("y", onnx.TensorProto.UINT8, [2, 1])
    model = oh.make_model(oh.make_graph(nodes, "g", [x], [y], tensors), ir_version=8)
    model.opset_import[0].version = 17
    module = import_model(model)
    compile(module)
    kernels = [op.name for op in module.walk() if op.name == "onnx.QLinearMatMul"]
    ids = {remark.blocked.id for remark in remarks_of(module)}
    assert (not kernels, "accumulator-overflow" in ids) == (is_blocked, is_blocked)
