"""Fast import of the two parts of the onnx package in use: the protobuf messages and the C++ extension."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

MESSAGES = "onnx.onnx_ml_pb2"
CODE = "onnx.onnx_cpp2py_export"


def _part(name: str) -> ModuleType:
    return sys.modules.get(name) or import_module(name)


def messages() -> Any:
    """The module of protobuf messages: ModelProto, GraphProto, ..."""
    return _part(MESSAGES)


def infer_node(
    node: Any, types: Mapping[str, Any], constants: Mapping[str, Any], opset: int
) -> dict[str, bytes]:
    """
    The serialized types of a node's results by name, from the types and the constants among its inputs.

    As `onnx.shape_inference.infer_node_outputs`, which imports the whole package. Raises onnx's errors if it fails.
    Versions of functions that say no shape but by their bodies, as GreaterOrEqual before opset 16, are inferred as the
    op's newest.
    """
    given = [{name: one.SerializeToString() for name, one in some.items()} for some in (types, constants)]

    def infer(schema: Any, opset: int) -> dict[str, bytes]:
        return schema._infer_node_outputs(node.SerializeToString(), *given, {}, {"": opset})

    schema = _part(CODE).defs.get_schema(node.op_type, opset, "")
    inferred = infer(schema, opset)
    if schema.has_function and not all(map(_says_shape, inferred.values())):
        newest = _part(CODE).defs.get_schema(node.op_type)
        return infer(newest, newest.since_version)
    return inferred


def is_node_of(node: Any, opset: int) -> bool:
    """True if a node of ONNX's own is one of `opset` too, by its number of inputs and the names of its attributes."""
    if not _part(CODE).defs.has_schema(node.op_type, opset, ""):
        return False
    schema = _part(CODE).defs.get_schema(node.op_type, opset, "")
    is_count = schema.min_input <= len(node.input) <= schema.max_input
    return is_count and all(a.name in schema.attributes for a in node.attribute)


def _says_shape(type: bytes) -> bool:
    return messages().TypeProto.FromString(type).tensor_type.HasField("shape")
