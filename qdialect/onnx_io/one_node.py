"""onnx's shape inference of one op's results, from the types and constants of its operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import expressed_of, quantized_of, with_element
from qdialect.ir.symbols import size_names
from qdialect.ir.values import constant
from qdialect.onnx_io import parts as onnx_parts
from qdialect.onnx_io.export_attributes import write_attribute, write_raw, write_type
from qdialect.onnx_io.import_attributes import symbols, value_type
from qdialect.onnx_io.pools import EXACT_POOLS

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, TypeProto

SMALL = 1024
"""Greatest number of elements of constants that inference reads as shapes, axes or repeats."""

Typed = tuple["list[Attribute | None]", list[tuple[str, ...]]]
"""Types of results, None where inference fails, and the names of their symbolic sizes."""


def _proto(type: Attribute, names: Sequence[str]) -> TypeProto:
    proto: TypeProto = onnx_parts.messages().TypeProto()
    element = expressed_of(type)
    real = type if element is None or quantized_of(type) is None else with_element(type, element)
    write_type(real, names, proto)
    return proto


def infer_results(
    op: OnnxOp,
    outputs: Sequence[SSAValue | None],
    real: Mapping[SSAValue, Attribute] | None = None,
    opset: int = 0,
) -> Typed:
    """What inference knows of the present results; `real` overrides operand types."""
    messages = onnx_parts.messages()
    opset = max(opset or onnx_opset(op), EXACT_POOLS if op.int_attr("ceil_mode", 0) else 0)
    names = {v: f"i{k}" for k, v in enumerate(op.operands)}
    node: NodeProto = messages.NodeProto(op_type=op.op_type)
    node.input.extend("" if v is None else names[v] for v in op.inputs)
    node.output.extend("" if v is None else f"o{k}" for k, v in enumerate(outputs))
    kinds = op.SCHEMA.attribute_kinds if op.SCHEMA else {}
    for name, value in op.onnx_attributes.items():
        write_attribute(name, value, kinds.get(name), node.attribute.add())
    types = {name: _proto((real or {}).get(v, v.type), size_names(v)) for v, name in names.items()}
    constants: dict[str, TensorProto] = {}
    for value, name in names.items():
        tensor = constant(value)
        if tensor is not None and value not in (real or {}) and tensor.data.count <= SMALL:
            write_raw(tensor.data, constants.setdefault(name, messages.TensorProto()))
    present = [f"o{k}" for k, v in enumerate(outputs) if v is not None]
    try:
        inferred = onnx_parts.infer_node(node, types, constants, opset)
    except Exception:  # inference fails on operands of unknown types
        return [None] * len(present), [()] * len(present)
    read = messages.TypeProto.FromString
    protos = [None if (raw := inferred.get(name)) is None else read(raw) for name in present]
    typed = [None if one is None else value_type(one) for one in protos]
    return typed, [() if one is None else symbols(one) for one in protos]
