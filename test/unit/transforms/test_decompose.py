"""`decompose`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from guard_cases import Case, parsed, text
from quantized_models import (
    Array,
    Shape,
    assert_close,
    constants,
    inputs,
    model,
    ops,
    pair,
    passed,
    rng,
)

from qdialect.api import compile
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes


@pytest.mark.parametrize(("opset", "stated"), [(17, False), (18, True)])
def test_a_split_states_the_number_of_its_parts_from_opset_18_on(opset: int, stated: bool):
    case = Case("decompose", "", """
        x: 5x3x4xf32
        w: 1x6x4xf32
        r: 1x6x2xf32
        y = GRU(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("GRU",)}, opset)  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    splits = [op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Split"]
    assert splits
    assert [op.int_attr("num_outputs", 0) for op in splits] == [
        len(op.results) if stated else 0 for op in splits
    ]


@pytest.mark.parametrize(("opset", "written"), [(12, "axes = array<i64: 1>"), (13, ", %")])
def test_axes_are_an_operand_from_opset_13_on(opset: int, written: str):
    case = Case("decompose", "", """
        x: 5x3x4xf32
        w: 1x2x4xf32
        r: 1x2x2xf32
        y = RNN(x, w, r) {hidden_size = 2 : i64} : 5x1x3x2xf32""", {"ops": ("RNN",)}, opset)  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()[case.rewrite]()(**case.options).apply(context, module)
    (line,) = [line for line in str(module).splitlines() if "onnx.Unsqueeze" in line]
    assert written in line.partition(" : (")[0]


def gemm(c: Array | None, **attributes: Any) -> tuple[onnx.ModelProto, list[Array]]:
    """x -> pair -> Gemm on int8 weights, 5 x 6 by 6 x 4."""
    x_shape = (6, 5) if attributes.get("transA") else (5, 6)
    w_shape = (4, 6) if attributes.get("transB") else (6, 4)
    tensors = constants(w=rng().integers(-128, 128, w_shape).astype(np.int8))
    operands = ["r", "v"]
    if c is not None:
        tensors["c"] = c
        operands.append("c")
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("Gemm", operands, ["y"], **attributes),
    ]
    return model(nodes, tensors, [x_shape], ["y"]), inputs(x_shape)


GEMMS: list[tuple[Shape | None, dict[str, Any], dict[str, int]]] = [
    (None, {"beta": 3.0}, {"MatMul": 1}),
    ((4,), {}, {"MatMul": 1, "Add": 1}),
    ((5, 1), {"transA": 1, "alpha": 0.3}, {"MatMul": 1, "Add": 1, "Mul": 1, "Transpose": 1}),
    ((1, 4), {"transB": 1, "beta": -1.7}, {"MatMul": 1, "Add": 1, "Mul": 1, "Transpose": 1}),
    ((), {"transA": 1, "transB": 1, "alpha": 0.3, "beta": 2.5}, {"MatMul": 1, "Add": 1, "Mul": 2, "Transpose": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "attributes", "parts"), GEMMS)
def test_a_decomposed_gemm_is_close(shape: Shape | None, attributes: dict[str, Any], parts: dict[str, int]):
    c = None if shape is None else rng().uniform(-3, 3, shape).astype(np.float32)
    proto, feeds = gemm(c, **attributes)
    after = passed(proto, "decompose", ops=("Gemm",))
    casts = {"QuantizeLinear": 1, "DequantizeLinear": 2}
    assert {k: v for k, v in ops(after).items() if k != "Constant"} == {**parts, **casts}
    assert_close(proto, after, feeds)
    assert ops(passed(proto, "decompose", ops=("BatchNormalization",)))["Gemm"] == 1


@pytest.mark.parametrize(("parts", "adds"), [((), 0), (("Gemm",), 1)])
def test_what_was_taken_apart_stays_apart(parts: tuple[str, ...], adds: int):
    case, feeds = gemm(rng().uniform(-3, 3, 4).astype(np.float32))
    module = import_model(case)
    compile(module, decompose=parts)
    compiled = export_model(module)
    assert ops(compiled).get("Add", 0) == adds
    assert_close(case, compiled, feeds)


def test_a_decomposed_normalization_is_close():
    draw = rng()
    tensors = constants(
        gamma=draw.normal(0, 1, 3).astype(np.float32),
        beta=draw.normal(0, 1, 3).astype(np.float32),
        mean=draw.normal(0, 1, 3).astype(np.float32),
        variance=np.array([1e-9, 0.5, 7], np.float32),
    )
    node = oh.make_node(
        "BatchNormalization", ["x", "gamma", "beta", "mean", "variance"], ["y"], epsilon=0.003
    )
    proto = model([node], tensors, [(2, 3, 4, 5)], ["y"])
    after = passed(proto, "decompose", ops=("BatchNormalization",))
    assert ops(after) == {"Mul": 1, "Add": 1}
    assert_close(proto, after, inputs((2, 3, 4, 5)))
