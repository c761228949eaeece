"""ONNX quantization annotations: nothing rounds for one, so they are kept where they hold, and reported where alone."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest

import qdialect
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model


def annotated(zero_point: np.ndarray) -> onnx.ModelProto:
    """A pair around Relu, then Exp: the input, the integers, what Relu makes and the output are annotated."""
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quantize"),
        oh.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="dequantize"),
        oh.make_node("Exp", ["d"], ["e"], name="exp"),
        oh.make_node("Neg", ["e"], ["y"], name="neg"),
    ]
    x, y = (oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [3, 4]) for n in "xy")
    constants = [onh.from_array(np.array(0.02, np.float32), "s"), onh.from_array(zero_point, "z")]
    proto = oh.make_model(
        oh.make_graph(nodes, "g", [x], [y], constants), opset_imports=[oh.make_opsetid("", 17)], ir_version=8
    )
    for name in ("x", "q", "e"):
        note = proto.graph.quantization_annotation.add(tensor_name=name)
        for key, value in (("SCALE_TENSOR", "s"), ("ZERO_POINT_TENSOR", "z")):
            note.quant_parameter_tensor_names.add(key=key, value=value)
    return proto


@pytest.mark.parametrize(
    ("target", "zero_point", "kept"),
    [
        ("generic", np.array(13, np.uint8), {"x", "q", "e"}),
        ("generic", np.array(-3, np.int8), {"x", "q", "e"}),
        ("onnxruntime", np.array(13, np.uint8), {"x", "q", "e"}),
        # These bytes are read as u8 now, so the zero point that was stated holds no more.
        ("onnxruntime", np.array(-3, np.int8), {"x", "e"}),
    ],
)
def test_an_annotation_stays_while_it_holds(target: str, zero_point: np.ndarray, kept: set[str]):
    module = import_model(annotated(zero_point))
    report = qdialect.compile(module, target=target)
    after = export_model(module)
    onnx.checker.check_model(after)
    values = {t.name: onh.to_array(t) for t in after.graph.initializer}
    assert {n.tensor_name for n in after.graph.quantization_annotation} == kept
    for note in after.graph.quantization_annotation:
        parameters = {e.key: values[e.value] for e in note.quant_parameter_tensor_names}
        assert parameters == {"SCALE_TENSOR": np.float32(0.02), "ZERO_POINT_TENSOR": zero_point}
    assert [r.node for r in report.remarks if r.blocked.id == "annotation-only"] == ["exp"]
