"""Models as text, compiled for each target, and what sessions of onnxruntime with and without optimizations give."""

from __future__ import annotations

from typing import Any

import onnx
import onnxruntime as ort
from onnx import parser

import qdialect
from qdialect.compiler.options import FORMS
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import target as target_called
from qdialect.targets import target_names

ONNX_TARGETS = [name for name in target_names() if target_called(name).form in FORMS]
"""The targets that take ONNX."""


def compiled(body: str, opset: int = 17, **options: Any) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {body}')
    for node in model.graph.node:  # the text has no room for the axis of each
        if node.op_type == "DequantizeLinear" and node.input[0] == "w" and not node.attribute:
            node.attribute.append(onnx.helper.make_attribute("axis", 1))
    module = import_model(model)
    qdialect.compile(module, **options)
    return model, export_model(module)


def run(model: onnx.ModelProto, feeds: dict[str, Any], level: Any) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, level
    session: Any = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)[0]


LEVELS: tuple[Any, ...] = (
    ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
)


def levels(options: dict[str, Any]) -> tuple[Any, ...]:
    """The levels at which a session gives the model's numbers: only what is written for a session is guarded for it."""
    guarded = target_called(options.get("target", "onnxruntime")).session
    return LEVELS if guarded else LEVELS[:1]
