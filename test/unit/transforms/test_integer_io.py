"""`integer-io`: what it takes, the last case and the first that it leaves."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from quantized_models import (
    X_SCALE,
    X_ZERO,
    Y_SCALE,
    Y_ZERO,
    compiled,
    constants,
    inputs,
    model,
    ops,
    pair,
    results,
    rng,
)

from graphs.structure import difference
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from qdialect.ir.interface import read_interface


def test_integers_in_and_out_are_those_of_the_casts():
    tensors = constants(w=rng().integers(-128, 128, (6, 4)).astype(np.int8))
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["r", "v"], ["p"]),
        *pair("p", "y", "y"),
    ]
    proto, feeds = model(nodes, tensors, [(5, 6)], ["y"]), inputs((5, 6))
    stored = np.clip(np.rint(feeds[0] / np.float32(X_SCALE)) + X_ZERO, 0, 255).astype(np.uint8)
    wanted = np.rint(results(proto, feeds)[0] / np.float32(Y_SCALE)) + Y_ZERO
    assert np.ptp(wanted) > 100
    for form in ("qdq", "qoperator", "integer"):
        after = compiled(proto, form=form, integer_io=True)
        types = [v.type.tensor_type.elem_type for v in (*after.graph.input, *after.graph.output)]
        assert types == [onnx.TensorProto.UINT8] * 2
        (integers,) = run(after, {"x": stored})
        assert integers.dtype == np.uint8
        assert np.abs(integers.astype(int) - wanted).max() <= (form != "qdq")
        metadata = {entry.key: json.loads(entry.value) for entry in after.metadata_props}
        assert metadata == {
            "qdialect.quantization.x": {"scale": X_SCALE, "zero_point": X_ZERO},
            "qdialect.quantization.y": {"scale": Y_SCALE, "zero_point": Y_ZERO},
        }
        interface = read_interface({entry.key: entry.value for entry in after.metadata_props})
        assert np.array_equal(interface["x"].quantize(feeds[0], stored.dtype), stored)
        assert np.allclose(interface["y"].dequantize(integers), (integers.astype(int) - Y_ZERO) * Y_SCALE)
    assert ops(compiled(proto, integer_io=True)) == {"QLinearMatMul": 1}
    assert not compiled(proto).metadata_props


def test_what_the_caller_applies_stays_when_a_factor_moves_into_the_scale():
    """An input that is integers keeps the metadata of the file: the scale inside is that of the product by then."""
    factor = {"k": np.float32(0.5), "ms": np.float32(X_SCALE / 2), "mz": np.uint8(X_ZERO)}
    tensors = constants(**factor, w=rng().integers(-128, 128, (6, 4)).astype(np.int8))
    nodes = [
        *pair("x", "r"),
        oh.make_node("Mul", ["r", "k"], ["m"]),
        *pair("m", "t", "m"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["t", "v"], ["p"]),
        *pair("p", "y", "y"),
    ]
    first = compiled(model(nodes, tensors, [(5, 6)], ["y"]), integer_io=True)
    assert [node.op_type for node in first.graph.node] == ["QLinearMatMul"]
    for again in (compiled(first, integer_io=True), compiled(first)):
        assert not difference(first, again)


@pytest.mark.parametrize("text", ["0.02:3", "[1]", '{"scale": 0.02}', '{"scale": "x", "zero_point": 0}'])
def test_metadata_that_is_no_scale_is_said(text: str):
    with pytest.raises(UserError, match="is not scale and zero point"):
        read_interface({"qdialect.quantization.x": text, "author": "somebody"})
