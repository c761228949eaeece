"""fold-constants computes the QuantizeLinear of a constant itself: what onnxruntime computes, without its copies."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from guard_cases import Case, ops_of, parsed, text
from onnx import helper
from onnx_models import onnx_model
from xdsl.context import Context

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.evaluation import session as oracle
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.driver import apply_patterns
from qdialect.transforms.fold_constants import ComputeTable, FoldConstantsPass

RANDOM = np.random.default_rng(5)
VALUES = np.concatenate([RANDOM.normal(0, 3, 60), [0.05, -0.05, 0.15, 1e30, -1e30, np.inf, -np.inf]])


def model(scales: np.ndarray, zero_points: np.ndarray) -> onnx.ModelProto:
    x = np.stack([VALUES, VALUES[::-1]]).astype(np.float32)
    arrays = {"x": x, "s": scales.astype(np.float32), "z": zero_points}
    node = helper.make_node("QuantizeLinear", list(arrays), ["y"], axis=0)
    return onnx_model(
        [node], [], {"y": (helper.np_dtype_to_tensor_dtype(zero_points.dtype), x.shape)}, arrays, opset=21
    )


@pytest.mark.parametrize(
    ("scales", "zero_points"),
    [
        (np.array(0.1), np.array(3, np.int8)),
        (np.array(0.1), np.array(128, np.uint8)),
        (np.array([0.1, 0.03]), np.array([0, -7], np.int8)),
        (np.array([0.1, 1e-4]), np.array([0, 40000], np.uint16)),
    ],
)
def test_a_quantized_constant(scales: np.ndarray, zero_points: np.ndarray, monkeypatch: pytest.MonkeyPatch):
    proto = model(scales, zero_points)
    [expected] = oracle.run(proto, {})
    monkeypatch.delattr(oracle, "evaluate")
    module = import_model(proto)
    FoldConstantsPass().apply(Context(), module)
    [constant] = [op for op in module.walk() if isinstance(op, ConstantOp)]
    assert constant.value is not None
    np.testing.assert_array_equal(constant.value.array(), expected)


@pytest.mark.parametrize(("op", "computed"), [("Tanh", True), ("Softmax", False)])
def test_only_the_same_function_of_each_element_is_computed_of_a_table(op: str, computed: bool):
    _, module = parsed(text(Case("", "", f"""
        i: 5xi64
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 2x3xf32
        t = Gather(w, i) : 5x3xf32
        y = {op}(t) : 5x3xf32""")))  # fmt: skip
    apply_patterns(module, "any", [ComputeTable()])
    assert ops_of(module) == (f"{op} Gather" if computed else f"Gather {op}")
