"""At `exact`, a float product of one row whose weight becomes a constant is named: a session packs the weight."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

import qdialect

WEIGHT = np.random.default_rng(1).normal(0, 1, (64, 32)).astype(np.float32)


def model(kind: str, product: str, rows: Any) -> onnx.ModelProto:
    """x @ w, w an initializer, one that is also an input, or a Transpose or Reshape of one."""
    nodes = [
        helper.make_node(product, ["x", "m" if kind in ("Transpose", "Reshape") else "w"], ["y"], "product")
    ]
    held: dict[str, Any] = {"w": WEIGHT}
    if kind == "Transpose":
        held, nodes = {"w": WEIGHT.T.copy()}, [helper.make_node("Transpose", ["w"], ["m"]), *nodes]
    if kind == "Reshape":
        held |= {"w": WEIGHT.reshape(-1), "n": np.array([64, 32], np.int64)}
        nodes = [helper.make_node("Reshape", ["w", "n"], ["m"]), *nodes]
    inputs: dict[str, Any] = {"x": [rows, 64]}
    return onnx_model(nodes, inputs | ({"w": [64, 32]} if kind == "input" else {}), {"y": [rows, 32]}, held)


def named(one: onnx.ModelProto, **options: Any) -> tuple[list[str], str]:
    report = qdialect.compile(qdialect.load(one), **options)
    return [r.node for r in report.remarks if r.blocked.id == "packed-weight"], str(report)


@pytest.mark.parametrize("rows", [1, "N", 4])
@pytest.mark.parametrize("product", ["MatMul", "Gemm"])
@pytest.mark.parametrize("kind", ["input", "Transpose", "Reshape", "constant"])
def test_a_product_of_one_row_is_named_where_its_weight_becomes_a_constant(
    kind: str, product: str, rows: Any
):
    nodes, verdict = named(model(kind, product, rows), exactness="exact")
    assert len(nodes) == (kind != "constant" and rows != 4)
    assert ("float products of one row, 1: " in verdict) == bool(nodes)


@pytest.mark.parametrize(
    "options", [{}, {"exactness": "exact", "target": "openvino"}], ids=["close", "openvino"]
)
def test_no_such_product_is_named_where_no_bits_are_promised(options: dict[str, str]):
    assert named(model("input", "MatMul", 1), **options)[0] == []


def test_a_weight_that_stays_an_input_is_not_packed():
    assert named(model("input", "MatMul", 1), exactness="exact", keep_overridable=True)[0] == []
