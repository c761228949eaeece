"""What is added to integer sums with a scale of the run, and has other columns than the weight."""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
import pytest
from onnx import parser

import qdialect
from qdialect.evaluation.session import run

# x, weight, what is added
SHAPES = {
    "vector": ([3, 4], [4], [3]),
    "vector, batch": ([2, 3, 4], [4], [3]),
    "vector, one row of two axes": ([2, 3, 4], [4], [1, 3]),
    "two vectors": ([4], [4], [3]),
    "square": ([4, 4], [4], [4]),
    "one column": ([3, 4], [4, 1], [3]),
    "one column, batch": ([2, 3, 4], [4, 1], [5]),
    "one column of each matrix": ([3, 4], [2, 4, 1], [3]),
    "one row": ([1, 4], [4], [6]),
    "vector, one element": ([3, 4], [4], [1]),
    "matrix": ([3, 4], [4, 3], [3]),
    "matrix, every row": ([3, 4], [4, 3], [3, 3]),
}


def model_of(
    shapes: tuple[list[int], list[int], list[int]], storage: str, added_first: bool
) -> onnx.ModelProto:
    x, w, b = shapes
    rng = np.random.default_rng(7)
    low, high = (-100, 100) if storage == "int8" else (0, 200)
    integers = ", ".join(map(str, rng.integers(low, high, prod(w))))
    floats = ", ".join(map(str, rng.normal(size=prod(b)).round(3)))
    add = "Add(b, m)" if added_first else "Add(m, b)"
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]> g (float{x} x) => (float[N] y)
    <{storage}{w} w = {{{integers}}}, float s = {{0.02}}, float{b} b = {{{floats}}}> {{
      q, r, z = DynamicQuantizeLinear(x)
      i = MatMulInteger(q, w, z)
      c = Cast<to = 1>(i)
      p = Mul(r, s)
      m = Mul(c, p)
      y = {add}
    }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    return model


@pytest.mark.parametrize("added_first", [False, True])
@pytest.mark.parametrize("storage", ["int8", "uint8"])
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_a_session_runs_what_is_added_to_rows_of_integer_sums(
    shapes: tuple[list[int], list[int], list[int]], storage: str, added_first: bool
):
    """A session makes it the bias of a product that refuses it: not one element for each column."""
    model = model_of(shapes, storage, added_first)
    x = np.random.default_rng(3).normal(size=shapes[0]).astype(np.float32)
    want = run(model, {"x": x})[0]
    for form in ("qoperator", "qdq", "integer"):
        module = qdialect.load(model.SerializeToString())
        qdialect.compile(module, form=form)
        result = qdialect.to_model(module)
        for optimize in (False, True):
            got = run(result, {"x": x}, optimize=optimize)[0]
            assert got.shape == want.shape
            assert np.allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["vector, one element", "matrix", "matrix, every row"])
def test_a_bias_that_fits_the_columns_is_not_parted(name: str):
    module = qdialect.load(model_of(SHAPES[name], "int8", added_first=False).SerializeToString())
    qdialect.compile(module)
    assert "Sum" not in {node.op_type for node in qdialect.to_model(module).graph.node}
