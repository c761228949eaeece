"""Defaults of attributes of model-local functions hold where a call states none."""

import numpy as np
import pytest
from onnx.parser import parse_model

import qdialect
from qdialect.evaluation.session import run

MODEL = """
<ir_version: 9, opset_import: ["" : 17, "own" : 1]>
g(float[4] x, bool c) => (float[4] y, float[4] z) {
    a = own.Twice(x)
    y = own.Slope<alpha: float = 0.5>(a)
    z = If(c) <
        then_branch = t() => (float[4] b) { b = own.Slope(x) },
        else_branch = e() => (float[4] b) { b = Identity(x) }
    >
}
<domain: "own", opset_import: ["" : 17]>
Slope<alpha: float = 0.25>(x) => (y) { y = LeakyRelu<alpha: float = @alpha>(x) }
<domain: "own", opset_import: ["" : 17, "own" : 1]>
Twice(x) => (y) {
    d = own.Slope(x)
    y = Add(d, d)
}
"""


@pytest.mark.parametrize("exactness", ["exact", "close"])
def test_calls_take_the_defaults_that_they_do_not_state(exactness: str):
    model = parse_model(MODEL)
    before = model.SerializeToString()
    result = qdialect.to_model(qdialect.compile(model, exactness=exactness).module)
    assert model.SerializeToString() == before
    assert not result.functions
    x = np.array([-8, -4, 2, 4], np.float32)
    y, z = run(result, {"x": x, "c": np.array(True)})
    np.testing.assert_array_equal(y, [-2, -1, 4, 8])
    np.testing.assert_array_equal(z, [-2, -1, 2, 4])


PASSED_ON = """
<ir_version: 9, opset_import: ["" : 17, "own" : 1]>
g(float[4] x) => (float[4] y, float[4] z) {
    y = own.Outer(x)
    z = own.Outer<alpha: float = 0.5>(x)
}
<domain: "own", opset_import: ["" : 17, "own" : 1]>
Outer<alpha>(x) => (y) { y = own.Two<alpha: float = @alpha>(x) }
<domain: "own", opset_import: ["" : 17, "own" : 1]>
Two<alpha>(x) => (y) {
    a = own.Slope<alpha: float = @alpha>(x)
    b = Elu<alpha: float = @alpha>(x)
    y = Sub(a, b)
}
<domain: "own", opset_import: ["" : 17]>
Slope<alpha: float = 0.25>(x) => (y) { y = LeakyRelu<alpha: float = @alpha>(x) }
"""


def test_an_attribute_passed_on_but_not_stated_takes_the_default_of_each_callee():
    x = np.array([-8, -4, 2, 4], np.float32)
    model = parse_model(PASSED_ON)
    y, z = run(qdialect.to_model(qdialect.compile(model, exactness="exact").module), {"x": x})
    elu = np.minimum(np.expm1(x), 0) + np.maximum(x, 0)
    np.testing.assert_allclose(y, np.where(x < 0, 0.25 * x, x) - elu, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        z, np.where(x < 0, 0.5 * x, x) - np.where(x < 0, 0.5 * elu, elu), rtol=0, atol=1e-6
    )
    for expected, result in zip(run(model, {"x": x}), (y, z), strict=True):
        np.testing.assert_array_equal(result, expected)
