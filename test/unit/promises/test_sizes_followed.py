"""Sizes that follow from those of the operands, against the shapes that onnxruntime makes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.shape_inference
import onnxruntime as ort
import pytest
from onnx import helper
from onnx_models import onnx_model

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.walking import operations
from qdialect.promises.shapes import SHAPED
from qdialect.promises.sizes import Symbol
from qdialect.transforms.fold_shapes import Sizes

SIZES = {"N": 2, "M": 3}
CASES: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("Relu", [("N", 4)], {}, ["N", 4]),
    ("Softmax", [("N", "M")], {}, ["N", "M"]),
    ("Add", [("N", 1, 4), (5, 1)], {}, ["N", 5, 4]),
    ("Add", [("N", 4), ("M", 1, 1)], {}, ["M", "N", 4]),
    ("Mul", [("N", 4), ("N", 4)], {}, ["N", 4]),
    ("Transpose", [("N", 4, "M")], {"perm": [2, 0, 1]}, ["M", "N", 4]),
    ("Transpose", [("N", 4, "M")], {}, ["M", 4, "N"]),
    ("MatMul", [("N", 4, "M"), ("M", 6)], {}, ["N", 4, 6]),
    ("MatMul", [(4, "M"), ("N", "M", 6)], {}, ["N", 4, 6]),
    ("MatMul", [("N", 3, "M", 5), ("N", 1, 5, "M")], {}, ["N", 3, "M", "M"]),
    ("Concat", [("N", 4), ("N", "M")], {"axis": 1}, ["N", None]),
    ("Concat", [("N", "M", 2), ("N", 3, 2)], {"axis": -1}, ["N", 3, 4]),
    ("Unsqueeze", [("N", 4), [0, -1]], {}, [1, "N", 4, 1]),
    ("Slice", [("N", 4, "M"), [1], [3], [1]], {}, ["N", 2, "M"]),
    ("Slice", [("N", "M"), [0], [1], [-1]], {}, ["N", None]),
    ("Gather", [("N", 4, "M"), [1, 2, 3]], {"axis": 1}, ["N", 3, "M"]),
    ("Reshape", [("N", 6, "M"), [0, 2, 3, -1]], {}, ["N", 2, 3, "M"]),
    ("Reshape", [("N", 6, 4), [0, -1, 8]], {}, ["N", 3, 8]),
    ("Reshape", [("N", 6, 4), [-1, 12]], {}, [None, 12]),
    ("Reshape", [("N", 6, "M"), [0, -1]], {}, ["N", None]),
    ("Expand", [("N", 1), [3, 1, 4]], {}, [3, "N", 4]),
    ("Conv", [("N", 1, "M", 4), (2, 1, 1, 1)], {}, ["N", 2, None, 4]),
    ("GlobalAveragePool", [("N", 2, "M", 4)], {}, ["N", 2, 1, 1]),
    ("Where", [("N", 1), (1, 4), ("N", 4)], {}, ["N", 4]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), CASES)
def test_sizes_are_followed(
    op: str, inputs: list[Any], attributes: dict[str, Any], expected: list[Any], tmp_path: Path
):
    values, constants, feed = list[Any](), list[Any](), dict[str, Any]()
    for name, shape in zip("abcd", inputs, strict=False):
        if isinstance(shape, list):
            constants.append(onnx.numpy_helper.from_array(np.array(shape, np.int64), name))
            continue
        dtype = bool if (op, name) == ("Where", "a") else np.float32
        values.append(helper.make_tensor_value_info(name, 9 if dtype is bool else 1, shape))
        feed[name] = np.ones([SIZES[size] if size in SIZES else size for size in shape], dtype)
    names = [*"abcd"[: len(inputs)]]
    nodes = [helper.make_node(op, names, ["x"], **attributes), helper.make_node("Shape", ["x"], ["y"])]
    model = onnx_model(nodes, values, {"y": (7, [len(expected)])}, constants)
    onnx.save(onnx.shape_inference.infer_shapes(model), tmp_path / "m.onnx")
    session = ort.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    made = np.asarray(session.run(None, feed)[0])
    sizes = Sizes()
    (one,) = (
        o for o in operations(qdialect.load(tmp_path / "m.onnx")) if isinstance(o, OnnxOp) and o.op_type == op
    )
    one.attributes.clear()  # which name the sizes that onnx has followed
    sizes.visit(one)
    got = sizes.sizes(one.results[0])
    assert got is not None
    keys = [size.key if isinstance(size, Symbol) else size for size in got]
    assert [None if isinstance(key, tuple) else key for key in keys] == expected
    assert [SIZES.get(str(key), key) for key in keys if not isinstance(key, tuple)] == [
        size for size, key in zip(made, keys, strict=True) if not isinstance(key, tuple)
    ]


def test_what_is_followed_is_an_operator():
    assert all(onnx.defs.has(name, domain) for domain, name in SHAPED if not domain)
