"""Transposes that move blocks: every order of five axes, some of which are one."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.parser
import pytest
from geometries import runtime
from guard_cases import last_op
from onnx_models import onnx_model

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.evaluation import session as oracle
from qdialect.transforms.collapse_transpose import (
    MOVES,
    CollapseRows,
    CollapseTranspose,
    collapsed,
    moves_one_axis,
    was_last,
)


@pytest.mark.parametrize("shape", [(2, 3, 5, 7, 4), (1, 3, 5, 7, 4), (2, 1, 5, 1, 4), (1, 3, 1, 7, 1)])
def test_groups_in_their_order_are_the_axes_in_theirs(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape)).reshape(shape)
    for order in permutations(range(len(shape))):
        groups = collapsed(order, shape)
        blocks = x.reshape([int(np.prod([shape[axis] for axis in group])) for group in sorted(groups)])
        turned = blocks.transpose([sorted(groups).index(group) for group in groups])
        np.testing.assert_array_equal(turned.reshape(-1), x.transpose(order).reshape(-1))


def test_one_axis_moves() -> None:
    assert all(moves_one_axis(order) for order in [(0, 2, 3, 1), (2, 0, 1), (1, 0), (0, 1, 2)])
    assert not any(moves_one_axis(order) for order in [(2, 1, 0), (2, 3, 0, 1), (0, 3, 1, 4, 2)])


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_what_is_compiled_moves_blocks(dtype: type[np.generic], tmp_path: Path) -> None:
    x = np.random.default_rng(2).integers(0, 256, (1, 40, 1, 3, 32)).astype(dtype)
    order = (2, 0, 3, 4, 1)
    kind = oh.np_dtype_to_tensor_dtype(x.dtype)
    model = onnx_model(
        [oh.make_node("Transpose", ["x"], ["y"], "turn", perm=order)],
        {"x": (kind, x.shape)},
        {"y": (kind, None)},
    )
    module = qdialect.load(onnx.shape_inference.infer_shapes(model))
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "after.onnx")
    after = onnx.load(tmp_path / "after.onnx").graph
    assert [node.op_type for node in after.node] == ["Reshape", "Transpose", "Reshape"]
    assert after.node[-1].name == "turn"
    np.testing.assert_array_equal(oracle.run(str(tmp_path / "after.onnx"), {"x": x})[0], x.transpose(order))


@pytest.mark.parametrize("order", [(2, 0, 3, 4, 1), (0, 3, 2, 4, 1), (0, 3, 4, 2, 1)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_what_is_cut_into_slices_is_turned_slice_by_slice(
    order: tuple[int, ...], dtype: type[np.generic], tmp_path: Path
) -> None:
    x = np.random.default_rng(4).integers(0, 256, (2, 40, 3, 4, 32)).astype(dtype)
    kind, parts, axis = oh.np_dtype_to_tensor_dtype(x.dtype), ["a", "b", "c"], order.index(2)
    model = onnx_model(
        [
            oh.make_node("Transpose", ["x"], ["t"], "turn", perm=order),
            oh.make_node("Split", ["t"], ["p", "q", "r"], "cut", axis=axis),
            *(oh.make_node("Squeeze", [part, "axis"], [y]) for part, y in zip("pqr", parts, strict=True)),
        ],
        {"x": (kind, ("batch", *x.shape[1:]))},
        {y: (kind, None) for y in parts},
        {"axis": np.array([axis], np.int64)},
    )
    path = tmp_path / "after.onnx"
    module = qdialect.load(model)
    qdialect.compile(module)
    qdialect.save(module, path)
    after = onnx.load(path).graph
    assert after.node[0].op_type == "Split"
    assert [node.op_type for node in after.node].count("Transpose") == 3
    for batch in (2, 1):
        results = oracle.run(str(path), {"x": x[:batch]})
        for k, result in enumerate(results):
            np.testing.assert_array_equal(result, x[:batch].transpose(order).take(k, axis))


@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
def test_a_softmax_over_channels_is_of_three_axes(kind: str, tmp_path: Path) -> None:
    x = np.random.default_rng(3).standard_normal((2, 16, 12, 30)).astype(np.float32)
    model = onnx_model(
        [oh.make_node(kind, ["x"], ["y"], "over", axis=1)],
        {"x": (onnx.TensorProto.FLOAT, x.shape)},
        {"y": (onnx.TensorProto.FLOAT, x.shape)},
    )
    expected = oracle.run(model.SerializeToString(), {"x": x})[0]
    for _ in range(2):
        module = qdialect.load(model)
        qdialect.compile(module)
        model = qdialect.to_model(module)
        assert [node.op_type for node in model.graph.node] == ["Reshape", kind, "Reshape"]
    np.testing.assert_array_equal(oracle.run(model.SerializeToString(), {"x": x})[0], expected)


@pytest.mark.parametrize("second", ["", "e = Erf(d)"])
def test_casts_around_a_softmax_stand_where_they_are_read(second: str) -> None:
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,16,12,30] x) => (float[2,16,12,30] s{", float[2,16,12,30] e" if second else ""})
        <float scale = {{0.02}}, uint8 zero = {{100}}> {{
            q = QuantizeLinear(x, scale, zero)
            d = DequantizeLinear(q, scale, zero)
            {second}
            s = Softmax<axis = 1>(d)
        }}""")
    for node in model.graph.node:
        node.name = f"{node.op_type}_node"
    x = np.random.default_rng(4).standard_normal((2, 16, 12, 30)).astype(np.float32)
    expected = oracle.run(model.SerializeToString(), {"x": x})
    texts: list[str] = []
    for _ in range(2):
        module = qdialect.load(model)
        qdialect.compile(module)
        model = qdialect.to_model(module)
        texts.append(str(model))
    assert texts[0] == texts[1]
    assert "Reshape" in {node.op_type for node in model.graph.node}
    for one, other in zip(oracle.run(model.SerializeToString(), {"x": x}), expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("0, 2, 1", "0, 2, 1", True), ("0, 2, 1", "1, 2, 0", False), ("1, 0, 2", "0, 2, 1", False)],
)
def test_an_axis_that_was_the_last_and_will_be(before: str, after: str, expected: bool):
    end = last_op(f"""
        x: 3x3x3xf32
        t = Transpose(x) {{perm = array<i64: {before}>}} : 3x3x3xf32
        s = Softmax(t) {{axis = 1 : i64}} : 3x3x3xf32
        y = Transpose(s) {{perm = array<i64: {after}>}} : 3x3x3xf32""")
    softmax = end.operands[0].owner
    assert isinstance(softmax, OnnxOp)
    assert was_last(softmax, 1) is expected


def moves(call: float, scattered: float) -> dict[str, Any]:
    return {MOVES: {"scattered": scattered, "moved": 1.0}, "Placement": {"call": call}}


@pytest.mark.parametrize(
    ("groups", "shape", "scattered", "call"),
    [
        # 120 elements: scattered one by one, or in rows of 20 or, of unknown size, of 5
        (((0,), (3,), (1, 2)), (2, 3, 4, 5), 3.0, 120.0),
        (((1,), (0,), (2, 3)), (2, 3, 4, 5), 60.0, 120.0),
        (((1,), (0,), (2, 3)), (DYNAMIC, 3, 4, 5), 60.0, 60.0),
        (((1,), (0,), (2, 3)), (2, 3, DYNAMIC, 5), 15.0, 30.0),
    ],
)
def test_a_transpose_of_blocks_gains_more_than_two_calls(
    groups: Any, shape: tuple[int, ...], scattered: float, call: float
):
    assert not CollapseTranspose(runtime(moves(call, scattered))).pays(groups, shape)
    assert CollapseTranspose(runtime(moves(call - 0.5, scattered))).pays(groups, shape)


@pytest.mark.parametrize(("shape", "call"), [((2, 3, 4, 5), 240.0), ((DYNAMIC, 3, 4, 5), 120.0)])
def test_rows_in_place_gain_more_than_two_calls(shape: tuple[int, ...], call: float):
    assert not CollapseRows(runtime(moves(call, 3.0))).pays(shape)
    assert CollapseRows(runtime(moves(call - 0.5, 3.0))).pays(shape)
