"""Rows that are taken are bit for bit those that a product with one-hot vectors makes, beyond the depth too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from guard_cases import Case, ops_of, parsed, text
from onnx import TensorProto, helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

import qdialect
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.evaluation.session import session
from qdialect.ir.values import constant_array
from qdialect.transforms import get_all_passes

NUMBERS = np.array([[0, 6, -7, 3, -1], [7, 100, -8, 2, 5]])
"""Within the depth of 7, from the end, and beyond on both sides."""


def model(dynamic: bool, dtype: Any) -> onnx.ModelProto:
    rng = np.random.default_rng(4)
    constants: dict[str, Any] = {
        "d": np.array([7], dtype),
        "v": np.array([0, 1], np.float32),
        "to": np.array([-1, 7], np.int64),
        "w": rng.integers(0, 256, (7, 4)).astype(np.uint8)
        if dynamic
        else rng.normal(size=(7, 4)).astype("f4"),
        "z": np.array(117, np.uint8),
        "s": np.array(0.013, np.float32),
    }
    node = helper.make_node
    nodes = [node("OneHot", ["i", "d", "v"], ["o"], "o"), node("Reshape", ["o", "to"], ["r"], "r")]
    if dynamic:
        nodes += [
            node("DynamicQuantizeLinear", ["r"], ["q", "qs", "qz"], "q"),
            node("Mul", ["qs", "s"], ["f"], "f"),
            node("MatMulInteger", ["q", "w", "qz", "z"], ["m"], "m"),
            node("Cast", ["m"], ["c"], "c", to=TensorProto.FLOAT),
            node("Mul", ["c", "f"], ["y"], "y"),
        ]
    else:
        nodes += [node("MatMul", ["r", "w"], ["y"], "y")]
    return onnx_model(
        nodes, {"i": (helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), ["N", 5])}, {"y": ["M", 4]}, constants
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("rows", [slice(None), slice(1, 2)])
def test_rows_are_the_same(dynamic: bool, dtype: Any, rows: slice, tmp_path: Path):
    original, path = model(dynamic, dtype), tmp_path / "model.onnx"
    onnx.save(original, path)
    module = qdialect.load(path)
    qdialect.compile(module)
    done = qdialect.to_model(module)
    ops = [node.op_type for node in done.graph.node]
    assert "Gather" in ops
    assert not {"OneHot", "MatMul", "MatMulInteger", "DynamicQuantizeLinear"} & set(ops)
    feed = {"i": NUMBERS[rows].astype(dtype)}
    before, after = (
        np.asarray(session(each.SerializeToString()).run(None, feed)[0]) for each in (original, done)
    )
    assert np.unique(before).size > 4
    np.testing.assert_array_equal(after, before)


def test_numbers_beyond_the_depth_alone(tmp_path: Path):
    original, path = model(True, np.int64), tmp_path / "model.onnx"
    onnx.save(original, path)
    module = qdialect.load(path)
    qdialect.compile(module)
    done, feed = qdialect.to_model(module), {"i": np.full((1, 5), 70)}
    before, after = (session(each.SerializeToString()).run(None, feed)[0] for each in (original, done))
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(("most", "ops"), [(6, "Gather"), (5, "OneHot MatMul")])
def test_a_table_has_so_many_elements_at_most(most: int, ops: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("qdialect.transforms.fold_one_hot.MAX_TABLE_ELEMENTS", most)
    case = Case("", "", """
        i: 5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        o = OneHot(i, d, v) : 5x3xf32
        y = MatMul(o, w) : 5x2xf32""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["fold-one-hot"]()().apply(context, module)
    assert ops_of(module).endswith(ops)


@pytest.mark.parametrize(("batch", "rows"), [("4", "20"), ("?", "?")])
def test_rows_taken_of_a_table_are_as_many_as_the_indices(batch: str, rows: str):
    """Flat rows, of vectors that a Reshape put below each other."""
    case = Case("", "", f"""
        i: {batch}x5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : 3x2xf32
        to = [-1, 3] : 2xi64
        o = OneHot(i, d, v) : {batch}x5x3xf32
        r = Reshape(o, to) : {rows}x3xf32
        y = MatMul(r, w) : {rows}x2xf32""")  # fmt: skip
    context, module = parsed(text(case))
    get_all_passes()["fold-one-hot"]()().apply(context, module)
    module.verify()
    assert ops_of(module).endswith("Gather Reshape")
    (reshape,) = (op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Reshape")
    assert str(reshape.results[0].type) == f"tensor<{rows}x2xf32>"


def applied(rewrite: Any, body: str, aliases: str = "") -> ModuleOp:
    context, module = parsed(aliases + text(Case("", "", body)))
    rewrite.apply(context, module)
    module.verify()
    return module


def test_rows_of_integers_without_zero_points():
    """A weight whose zero point is left out has zero point 0."""
    source = """
        i: 5xi64
        d = [3] : i64
        v = [0.0, 1.0] : 2xf32
        w = [1, -2, 3, 4, 5, 6] : 3x2xi8
        o = OneHot(i, d, v) : 5x3xf32
        q, s, z = DynamicQuantizeLinear(o) : 5x3xui8, f32, ui8
        y = MatMulInteger(q, w, z) : 5x2xi32"""
    tables = list[Any]()
    for zero in ("", "k = [1] : i8\n"):
        body = source.replace("o = One", f"{zero}o = One").replace("w, z)", "w, z, k)" if zero else "w, z)")
        module = applied(get_pass("fold-one-hot"), body)
        assert "Gather" in ops_of(module)
        tables += [
            array
            for op in module.walk()
            if isinstance(op, ConstantOp)
            and (array := constant_array(op.results[0])) is not None
            and array.shape == (4, 2)
        ]
    assert len(tables) == 2
    assert (tables[0][:3] - tables[1][:3] == 255).all()
    assert tables[0][:3].tolist() == [[255, -510], [765, 1020], [1275, 1530]]
    assert not tables[0][3].any()


def get_pass(name: str) -> Any:
    return get_all_passes()[name]()()
