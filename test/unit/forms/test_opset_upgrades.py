"""Ops of old opsets under a newer one, on numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from built_ops import names, numbers
from guard_cases import last_op
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type

import qdialect
from qdialect.dialects.onnx_types import DYNAMIC, element_of, shape_of
from qdialect.evaluation.session import run
from qdialect.forms.opset_upgrades import NEWER
from qdialect.reasons import answer
from qdialect.transforms.raise_opset import RaiseOpsetPass

# opset, op, attributes, further inputs, shape of the first
CASES: list[tuple[int, str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (7, "Pad", {"pads": [0, 1, 2, 0, 0, 3], "value": 0.5}, {}, (2, 3, 4)),
    (9, "Pad", {"pads": [0, 0, 1, 2], "mode": "reflect"}, {}, (3, 5)),
    (7, "Clip", {"min": -0.3, "max": 0.4}, {}, (2, 3)),
    (8, "Clip", {"max": 0.4}, {}, (2, 3)),
    (9, "Slice", {"starts": [1, -2], "ends": [3, 100], "axes": [2, 1]}, {}, (2, 3, 5)),
    (9, "Slice", {"starts": [1], "ends": [3]}, {}, (4, 3)),
    (9, "TopK", {"k": 2}, {}, (3, 5)),
    (11, "Squeeze", {"axes": [1, 3]}, {}, (2, 1, 3, 1)),
    (11, "Squeeze", {}, {}, (2, 1, 3)),
    (12, "Unsqueeze", {"axes": [0, 2]}, {}, (2, 3)),
    (11, "ReduceSum", {"axes": [1], "keepdims": 0}, {}, (2, 3, 4)),
    (11, "ReduceSum", {}, {}, (2, 3, 4)),
    (7, "Softmax", {}, {}, (2, 3, 4)),
    (11, "Softmax", {"axis": -1}, {}, (2, 3, 4)),
    (11, "LogSoftmax", {"axis": 2}, {}, (2, 3, 4)),
    (12, "LogSoftmax", {"axis": 0}, {}, (2, 3, 4)),
    (7, "Upsample", {"scales": [1.0, 1.0, 2.0, 3.0]}, {}, (1, 2, 3, 4)),
    (9, "Upsample", {"mode": "linear"}, {"s": np.array([1, 1, 2, 2], np.float32)}, (1, 2, 3, 4)),
    (10, "Resize", {}, {"s": np.array([1, 1, 2, 1.5], np.float32)}, (1, 2, 3, 4)),
    (7, "Dropout", {"ratio": 0.3}, {}, (2, 3)),
    (9, "Scatter", {"axis": 1}, {"i": np.array([[2, 0]]), "u": np.array([[7, 8]], np.float32)}, (2, 3)),
    (7, "Crop", {"border": [1, 2, 0, 1]}, {}, (1, 2, 6, 5)),
    (9, "Crop", {"border": [1, 2, 0, 0], "scale": [3, 2]}, {}, (1, 2, 6, 5)),
    (7, "ImageScaler", {"scale": 0.5, "bias": [1.0, -2.0]}, {}, (1, 2, 3, 4)),
    (7, "Affine", {"alpha": 0.5, "beta": 3.0}, {}, (2, 3)),
]
LATER: list[tuple[int, str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (11, "Split", {"axis": 1, "split": [1, 3]}, {}, (2, 4)),
    (12, "Split", {"axis": 1}, {}, (2, 4)),
    (13, "Split", {"axis": 1}, {}, (2, 4)),
    (13, "ReduceMean", {"axes": [-1]}, {}, (2, 4)),
]


def model(opset: int, op: str, attributes: dict[str, Any], more: dict[str, Any], shape: tuple[int, ...]):
    outputs = ["y", "z"] if op in ("Split", "TopK") else ["y"]
    node = oh.make_node(op, ["x", *more], outputs, "the node", **attributes)
    return onnx_model(
        [node],
        {"x": (1, shape)},
        {k: (7 if k == "z" and op == "TopK" else 1, None) for k in outputs},
        more,
        opset=opset,
        ir_version=6,
    )


@pytest.mark.parametrize(
    ("case", "to"),
    [*((c, 13) for c in (*CASES, *LATER) if c[0] < 13), *((c, 18) for c in (*LATER, *CASES))],
    ids=str,
)
def test_the_same_numbers(case: Any, to: int, tmp_path: Path) -> None:
    proto = model(*case)
    onnx.save(proto, tmp_path / "old.onnx")
    module = qdialect.load(tmp_path / "old.onnx")
    RaiseOpsetPass(to=to).apply(Context(), module)
    module.verify()
    qdialect.save(module, tmp_path / "new.onnx")
    after = onnx.load(tmp_path / "new.onnx")
    assert [entry.version for entry in after.opset_import] == [to]
    assert after.graph.node[-1].name.startswith("the node")
    x = np.random.default_rng(3).normal(size=case[4]).astype(np.float32)
    for a, b in zip(run(proto, {"x": x}), run(str(tmp_path / "new.onnx"), {"x": x}), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("op", "axis", "sizes", "shape", "opset"),
    [
        ("Softmax", 1, ("n", 3, "m"), (2, 3, 0), 14),
        ("LogSoftmax", 0, ("n", 3, 2), (0, 3, 2), 14),
        ("Hardmax", 2, (2, "n", "m", 3), (2, 0, 2, 3), 14),
        ("Softmax", 1, ("n", 3, 2), (0, 3, 2), 13),
        ("Softmax", 2, ("n", 3, "m"), (2, 3, 0), 13),
    ],
)
def test_a_softmax_of_open_sizes_takes_no_elements(
    op: str, axis: int, sizes: tuple[int | str, ...], shape: tuple[int, ...], opset: int, tmp_path: Path
) -> None:
    """A Reshape before opset 14 writes no size of 0 that is not in its operand."""
    proto = onnx_model(
        [oh.make_node(op, ["x"], ["y"], axis=axis)], {"x": (1, sizes)}, {"y": (1, sizes)}, {}, opset=9
    )
    onnx.save(proto, tmp_path / "old.onnx")
    module = qdialect.load(tmp_path / "old.onnx")
    RaiseOpsetPass().apply(Context(), module)
    module.verify()
    qdialect.save(module, tmp_path / "new.onnx")
    assert [entry.version for entry in onnx.load(tmp_path / "new.onnx").opset_import] == [opset]
    for size in (0, 2):
        x = np.random.default_rng(3).normal(size=[n or size for n in shape]).astype(np.float32)
        np.testing.assert_array_equal(run(str(tmp_path / "new.onnx"), {"x": x})[0], run(proto, {"x": x})[0])


def newer(body: str, opset: int) -> Any:
    """The first newer form of the last op."""
    op = last_op(body, opset)
    return answer(NEWER["", op.op_type][0].parts, op)


def dropped(op_type: str, attributes: str) -> str:
    """A call of an op that no opset in use has."""
    return f'Custom(x) {{domain = "", op_type = "{op_type}", attrs = {{{attributes}}}}}'


NORMAL = "x: 1x2x3xf32\na: 2xf32\n{} = BatchNormalization(x, a, a, a, a) : {}"


def test_a_normalization_with_one_result_is_that_of_inference():
    five = ", ".join(["1x2x3xf32", *["2xf32"] * 4])
    assert names(newer(NORMAL.format("y", "1x2x3xf32"), 7)) == ["BatchNormalization"]
    assert names(newer(NORMAL.format("y, m, v, o, p", five), 7)) == ["training-mode"]


@pytest.mark.parametrize(
    ("shape", "sizes", "flat"),
    [("2x3x4", None, (2, 12)), ("?x3x4", 3, (DYNAMIC, DYNAMIC)), ("*", DYNAMIC, (DYNAMIC, DYNAMIC))],
)
def test_an_old_softmax_is_one_of_rows_that_are_as_many_as_known(
    shape: str, sizes: int | None, flat: tuple[int, int]
):
    """sizes: the number of them that a Shape gives, DYNAMIC if unknown; None for constants."""
    parts = newer(f"x: {shape}xf32\ny = Softmax(x) : {shape}xf32", 11)
    *_, softmax, last = [op for op in parts if op.op_type in ("Flatten", "Softmax", "Reshape")]
    assert shape_of(softmax.results[0].type) == flat
    assert softmax.int_attr("axis", 9) == 1
    if sizes is None:
        assert numbers(last, 1) == [2, 3, 4]
    else:
        assert shape_of(last.operands[1].type) == (sizes,)
        (counted,) = [op for op in parts if op.op_type == "Shape"]
        assert counted.operands[0] is parts[0].operands[0]


@pytest.mark.parametrize(
    ("how", "ends", "result"),
    [
        ("border = array<i64: 1, 2, 0, 0>, scale = array<i64: 3, 2>", [5, 3], (1, 2, 3, 2)),
        ("border = array<i64: 1, 2, 0, 3>", [-3, 2**63 - 1], (1, 2, 2, 4)),
    ],
)
def test_a_crop_ends_behind_what_it_keeps(how: str, ends: list[int], result: tuple[int, ...]):
    (*_, cut) = newer(f"x: 1x2x7x5xf32\ny = {dropped('Crop', how)} : *xf32", 7)
    assert [numbers(cut, place) for place in (1, 2, 3)] == [[2, 1], ends, [2, 3]]
    assert shape_of(cut.results[0].type) == result


@pytest.mark.parametrize("shape", ["*x", "7x5x"])
def test_a_crop_of_what_is_no_image_is_of_unknown_sizes(shape: str):
    (*_, cut) = newer(f"x: {shape}f32\ny = {dropped('Crop', 'border = array<i64: 1, 2, 0, 3>')} : *xf32", 7)
    assert shape_of(cut.results[0].type) is None


def test_an_old_resize_says_what_keeps_it():
    sides = newer(f"x: 1x2x3x4xf32\ny = {dropped('Upsample', 'height_scale = 2.0 : f32')} : *xf32", 1)
    assert "height and width" in sides.message
    smaller = newer("x: 1x2x3x4xf32\ns = [1.0, 1.0, 0.5, 2.0] : 4xf32\ny = Resize(x, s) : *xf32", 10)
    assert "downsamples" in smaller.message
    assert names(newer("x: 1x2x3x4xf32\ns = [1.0, 1.0, 1.0, 2.0] : 4xf32\ny = Resize(x, s) : *xf32", 10)) == [
        "Resize"
    ]


def test_an_image_has_a_shift_for_each_channel():
    how = "scale = 0.5 : f32, bias = array<f32: 1.0, -2.0>"
    parts = newer(f"x: 1x2x3x4xf32\ny = {dropped('ImageScaler', how)} : 1x2x3x4xf32", 7)
    (product, added) = [op for op in parts if op.op_type in ("Mul", "Add")]
    assert numbers(product, 1) == 0.5
    assert numbers(added, 1) == [[[1.0]], [[-2.0]]]


@pytest.mark.parametrize("stated", ["3x4xf32", "*x!onnx.any"])
def test_an_affine_has_a_type(stated: str):
    body = f"x: 3x4xf32\ny = {dropped('Affine', 'alpha = 0.5 : f32, beta = 3.0 : f32')} : {stated}"
    (product, added) = [op for op in newer(body, 7) if op.op_type in ("Mul", "Add")]
    assert element_of(product.results[0].type) == element_of(added.results[0].type) == Float32Type()
    assert (numbers(product, 1), numbers(added, 1)) == (0.5, 3.0)
