"""Export of xDSL attributes and types to ONNX messages: the inverse of `import_attributes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnrankedTensorType,
    f32,
)
from xdsl.ir import Attribute, TypeAttribute

from qdialect.dialects.onnx_attributes import BytesStringAttr, ReferenceAttr, SparseTensorAttr, numbers
from qdialect.dialects.onnx_tensor import TensorAttr, TensorData
from qdialect.dialects.onnx_types import (
    ANY,
    BY_ATTRIBUTE,
    DYNAMIC,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    storage_element,
)
from qdialect.dialects.quant import UniformType
from qdialect.dialects.schemas import AttributeKind
from qdialect.errors import UserError

if TYPE_CHECKING:
    from onnx import AttributeProto, TensorProto, TypeProto

WriteTensor = Callable[[TensorData, "TensorProto", "int | None"], None]
"""
Writes an initializer: its bytes into the message, or elsewhere. The number is its index among the graph's initializers,
None in a subgraph.
"""

MIN_ASIDE_BYTES = 1024
"""Least size, in bytes, of initializers left out of the message: for smaller ones a piece of their own costs more."""


def write_raw(data: TensorData, proto: TensorProto, place: int | None = None) -> None:
    """A tensor with its bytes in the message."""
    write_shape(data, proto)
    if data.strings is not None:
        proto.string_data.extend(data.strings)
    else:
        proto.raw_data = bytes(data.raw)


def write_shape(data: TensorData, proto: TensorProto) -> None:
    """A tensor without its bytes."""
    proto.data_type = data.element.number
    proto.dims.extend(data.shape)


class LargeAside:
    """Writer that leaves the bytes of the graph's large initializers out of the message, for `wire.join`."""

    def __init__(self) -> None:
        self.large: dict[int, TensorData] = {}
        """Initializers whose bytes were left out, by index."""

    def __call__(self, data: TensorData, proto: TensorProto, place: int | None) -> None:
        """Write a tensor's type, and its bytes if it is small."""
        if place is None or data.strings is not None or data.nbytes < MIN_ASIDE_BYTES:
            write_raw(data, proto)
        else:
            write_shape(data, proto)
            self.large[place] = data


def _text(value: Attribute) -> bytes:
    return value.data if isinstance(value, BytesStringAttr) else value.data.encode()  # pyright: ignore


def _write_sparse(value: SparseTensorAttr, proto: Any) -> None:
    write_raw(value.values.data, proto.values)
    write_raw(value.indices.data, proto.indices)
    assert isinstance(value.dense, TensorType)
    proto.dims.extend(value.dense.get_shape())


def write_attribute(name: str, value: Attribute, kind: AttributeKind | None, proto: AttributeProto) -> None:
    """
    Write one attribute. `kind` is that of the schema; it determines the kind of an empty list.

    Raises UserError for an attribute that ONNX has no kind for.
    """
    proto.name = name
    match value:
        case ReferenceAttr():
            proto.ref_attr_name = value.attribute.data
            proto.type = int(value.kind)  # pyright: ignore
        case IntegerAttr():
            proto.type, proto.i = AttributeKind.INT, value.value.data  # pyright: ignore
        case FloatAttr():
            proto.type, proto.f = AttributeKind.FLOAT, value.value.data  # pyright: ignore
        case StringAttr() | BytesStringAttr():
            proto.type, proto.s = AttributeKind.STRING, _text(value)  # pyright: ignore
        case DenseArrayBase() if value.elt_type == f32:
            proto.type = AttributeKind.FLOATS  # pyright: ignore
            proto.floats.extend(float(v) for v in numbers(value))
        case DenseArrayBase():
            proto.type = AttributeKind.INTS  # pyright: ignore
            proto.ints.extend(int(v) for v in numbers(value))
        case TensorAttr():
            proto.type = AttributeKind.TENSOR  # pyright: ignore
            write_raw(value.data, proto.t)
        case SparseTensorAttr():
            proto.type = AttributeKind.SPARSE_TENSOR  # pyright: ignore
            _write_sparse(value, proto.sparse_tensor)
        case ArrayAttr():
            _write_list(value.data, kind, proto)
        case TypeAttribute():
            proto.type = AttributeKind.TYPE_PROTO  # pyright: ignore
            write_type(value, (), proto.tp)
        case _:
            raise UserError(f"attribute '{name}' is {value}, which ONNX cannot hold")


def _write_list(values: Sequence[Attribute], kind: AttributeKind | None, proto: AttributeProto) -> None:
    first = values[0] if values else None
    if isinstance(first, TensorAttr):
        kind = AttributeKind.TENSORS
    elif isinstance(first, SparseTensorAttr):
        kind = AttributeKind.SPARSE_TENSORS
    elif isinstance(first, TypeAttribute):
        kind = AttributeKind.TYPE_PROTOS
    elif first is not None:
        kind = AttributeKind.STRINGS
    proto.type = int(kind or AttributeKind.STRINGS)  # pyright: ignore
    for value in values:
        match value:
            case TensorAttr():
                write_raw(value.data, proto.tensors.add())
            case SparseTensorAttr():
                _write_sparse(value, proto.sparse_tensors.add())
            case TypeAttribute():
                write_type(value, (), proto.type_protos.add())
            case _:
                proto.strings.append(_text(value))


def write_type(type: Attribute, names: Sequence[str], proto: TypeProto) -> None:
    """Write a value's type, a quantized element as its storage type. names: of symbolic sizes."""
    match type:
        case TensorType() | UnrankedTensorType():
            _write_tensor_type(type, names, proto.tensor_type)
        case SparseTensorType():
            _write_tensor_type(type.dense, (), proto.sparse_tensor_type)
        case SequenceType():
            write_type(type.element, (), proto.sequence_type.elem_type)
        case OptionalType():
            write_type(type.element, (), proto.optional_type.elem_type)
        case MapType():
            proto.map_type.key_type = BY_ATTRIBUTE[type.key].number
            write_type(type.value, (), proto.map_type.value_type)
        case _:
            raise UserError(f"ONNX has no type for {type}")


LARGEST_SIZE = 2**63 - 1


def _write_tensor_type(type: Attribute, names: Sequence[str], proto: Any) -> None:
    element: Attribute = type.element_type  # pyright: ignore
    if isinstance(element, UniformType):
        element = storage_element(element)
    if element != ANY:
        if element not in BY_ATTRIBUTE:
            raise UserError(f"{element} is not an element type of ONNX")
        proto.elem_type = BY_ATTRIBUTE[element].number
    if not isinstance(type, TensorType):
        return
    proto.shape.SetInParent()
    for k, size in enumerate(type.get_shape()):
        if size > LARGEST_SIZE:
            raise UserError(f"a dimension of {size} does not fit into 64 bits", "ONNX has no larger one")
        dimension = proto.shape.dim.add()
        if size != DYNAMIC:
            dimension.dim_value = size
        elif k < len(names) and names[k]:
            dimension.dim_param = names[k]


def strings(value: Attribute | None) -> dict[str, str]:
    """A dictionary of strings; empty for None."""
    if not isinstance(value, DictionaryAttr):
        return {}
    return {k: v.data for k, v in value.data.items() if isinstance(v, StringAttr)}
