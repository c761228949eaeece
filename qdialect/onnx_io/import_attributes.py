"""Import of ONNX attributes and value types as xDSL attributes and types."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnrankedTensorType,
    f32,
)
from xdsl.ir import Attribute, Operation, Region

from qdialect.dialects.onnx_attributes import (
    ReferenceAttr,
    SparseTensorAttr,
    float_attr,
    int_attr,
    ints_attr,
    numbers,
    string_attr,
)
from qdialect.dialects.onnx_tensor import TensorAttr, from_array
from qdialect.dialects.onnx_types import (
    ANY,
    BY_NUMBER,
    DYNAMIC,
    UNKNOWN,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    tensor_type,
)
from qdialect.dialects.schemas import AttributeKind
from qdialect.errors import UserError
from qdialect.onnx_io.import_tensors import tensor_data

if TYPE_CHECKING:
    from onnx import (
        AttributeProto,
        FunctionProto,
        GraphProto,
        NodeProto,
        OperatorSetIdProto,
        SparseTensorProto,
        StringStringEntryProto,
        TypeProto,
        ValueInfoProto,
    )


def check_text(value: str) -> None:
    """Raises UserError for a name or text that is not UTF-8, for which protobuf returns bytes."""
    if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UserError(f"a name in the model is not UTF-8: {value!r:.80}", "export the model again")


def string(value: str) -> StringAttr:
    """A name or text of the message. Raises UserError if it is not UTF-8."""
    check_text(value)
    return StringAttr(value)


def sparse_attribute(tensor: SparseTensorProto, folder: Path | None) -> SparseTensorAttr:
    values, indices = tensor_data(tensor.values, folder), tensor_data(tensor.indices, folder)
    dense = tensor_type(values.type.element_type, tuple(tensor.dims))
    return SparseTensorAttr(TensorAttr(values), TensorAttr(indices), dense)


def attribute_value(attribute: AttributeProto, folder: Path | None) -> Attribute:
    """
    The value of an attribute that is neither a graph nor a single tensor.

    Raises UserError if its type is none that ONNX has.
    """
    kind = attribute.type
    if attribute.ref_attr_name:
        return ReferenceAttr(attribute.ref_attr_name, AttributeKind(kind))
    match kind:
        case AttributeKind.INT:
            return int_attr(attribute.i)
        case AttributeKind.FLOAT:
            return float_attr(attribute.f)
        case AttributeKind.STRING:
            return string_attr(attribute.s)
        case AttributeKind.INTS:
            return ints_attr(tuple(attribute.ints))
        case AttributeKind.FLOATS:
            return DenseArrayBase.from_list(f32, list(attribute.floats))
        case AttributeKind.STRINGS:
            return ArrayAttr([string_attr(s) for s in attribute.strings])
        case AttributeKind.TENSORS:
            return ArrayAttr([TensorAttr(tensor_data(t, folder)) for t in attribute.tensors])
        case AttributeKind.SPARSE_TENSOR:
            return sparse_attribute(attribute.sparse_tensor, folder)
        case AttributeKind.SPARSE_TENSORS:
            return ArrayAttr([sparse_attribute(t, folder) for t in attribute.sparse_tensors])
        case AttributeKind.TYPE_PROTO:
            return value_type(attribute.tp)
        case AttributeKind.TYPE_PROTOS:
            return ArrayAttr([value_type(t) for t in attribute.type_protos])
        case _:
            raise UserError(f"attribute '{attribute.name}' has type {kind}, which ONNX does not define")


def value_type(proto: TypeProto) -> Attribute:
    """
    The type that a message states; symbolic sizes are `DYNAMIC`.

    Raises UserError for an element type that ONNX does not define.
    """
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return _tensor_type(proto.tensor_type.elem_type, proto.tensor_type)
    if kind == "sparse_tensor_type":
        return SparseTensorType(_tensor_type(proto.sparse_tensor_type.elem_type, proto.sparse_tensor_type))
    if kind == "sequence_type":
        return SequenceType(value_type(proto.sequence_type.elem_type))
    if kind == "optional_type":
        return OptionalType(value_type(proto.optional_type.elem_type))
    if kind == "map_type":
        key = BY_NUMBER.get(proto.map_type.key_type)
        if key is None:
            raise UserError(f"a map has key type {proto.map_type.key_type}, which ONNX does not define")
        return MapType(key.attribute, value_type(proto.map_type.value_type))
    return UNKNOWN


def _tensor_type(number: int, proto: TypeProto.Tensor | TypeProto.SparseTensor) -> Attribute:
    if number == 0:
        element: Attribute = ANY
    elif (known := BY_NUMBER.get(number)) is not None:
        element = known.attribute
    else:
        raise UserError(f"a value has element type {number}, which ONNX does not define")
    if not proto.HasField("shape"):
        return UnrankedTensorType(element)
    return tensor_type(element, tuple(_size(d) for d in proto.shape.dim))


def _size(dimension: TypeProto.Tensor.Shape.Dimension) -> int:  # pyright: ignore
    if not dimension.HasField("dim_value"):
        return DYNAMIC
    # onnxruntime reads -1 as an unknown size; other negative sizes have no meaning.
    return dimension.dim_value if dimension.dim_value >= 0 else DYNAMIC


def symbols(proto: TypeProto) -> tuple[str, ...]:
    """The names of a tensor type's symbolic sizes, empty where a size has none; () if it has none at all."""
    if proto.WhichOneof("value") != "tensor_type":
        return ()
    names = tuple(d.dim_param for d in proto.tensor_type.shape.dim)
    return names if any(names) else ()


def opset_imports(imports: Iterable[OperatorSetIdProto]) -> DictionaryAttr:
    """Opset versions by domain; the default domain is spelled `ai.onnx`."""
    return DictionaryAttr({string(i.domain).data or "ai.onnx": int_attr(i.version) for i in imports})


def string_dictionary(entries: Iterable[StringStringEntryProto]) -> DictionaryAttr:
    """A dictionary attribute of string entries."""
    return DictionaryAttr({string(e.key).data: string(e.value) for e in entries})


def described(value: ValueInfoProto) -> dict[str, Attribute]:
    """Attributes of a graph's input or output: name, symbolic sizes, documentation, metadata."""
    attributes: dict[str, Attribute] = {"onnx.name": string(value.name)}
    if names := symbols(value.type):
        attributes["onnx.dims"] = ArrayAttr([string(n) for n in names])
    if value.doc_string:
        attributes["onnx.doc"] = string(value.doc_string)
    if value.metadata_props:
        attributes["onnx.metadata"] = string_dictionary(value.metadata_props)
    if value.type.denotation:
        attributes["onnx.denotation"] = string(value.type.denotation)
    return attributes


def constant_value(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """A Constant node's attributes with the value as a tensor, in whichever attribute it was."""
    match attributes:
        case {"value_float": FloatAttr() as number}:
            value: npt.NDArray[Any] = np.array(number.value.data, np.float32)
        case {"value_int": IntegerAttr() as number}:
            value = np.array(number.value.data, np.int64)
        case {"value_floats": DenseArrayBase() as listed}:
            value = np.array(numbers(listed), np.float32)
        case {"value_ints": DenseArrayBase() as listed}:
            value = np.array(numbers(listed), np.int64)
        case _:
            return attributes
    return {"value": from_array(value)}


def custom_properties(
    domain: str, node: NodeProto, attributes: dict[str, Attribute], regions: dict[str, list[Region]]
) -> dict[str, Attribute]:
    """The properties of an operator without a schema in the snapshot."""
    properties: dict[str, Attribute] = {"domain": string(domain), "op_type": string(node.op_type)}
    if attributes:
        properties["attrs"] = DictionaryAttr(attributes)
    if node.overload:
        properties["overload"] = string(node.overload)
    if regions:
        names = [string(name) for name, group in regions.items() for _ in group]
        properties["region_names"] = ArrayAttr(names)
    return properties


def describe(op: Operation, proto: NodeProto | GraphProto | FunctionProto) -> None:
    """Copy documentation and metadata to `op`."""
    if proto.doc_string:
        op.attributes["onnx.doc"] = string(proto.doc_string)
    if proto.metadata_props:
        op.attributes["onnx.metadata"] = string_dictionary(proto.metadata_props)
