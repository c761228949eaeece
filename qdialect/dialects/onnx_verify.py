"""
Verifier of ONNX operations: constraints O1 to O9 of docs/spec.md, against the schema version that the module's opset
selects. A quantized element verifies as its expressed type; further constraints on quantized operands are those of the
op's promises.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_attributes import BytesStringAttr, ReferenceAttr, SparseTensorAttr
from qdialect.dialects.onnx_segments import NodeOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import (
    ANY,
    element_of,
    expressed_of,
    quantized_of,
    shape_of,
    spelling,
    storage_element,
)
from qdialect.dialects.quant import UniformType, verify_quantized_tensor
from qdialect.dialects.schemas import AttributeKind, Parameter, Version

NEWEST = 1 << 30

ATTRIBUTE_CLASSES: dict[AttributeKind, tuple[type[Attribute], ...]] = {
    AttributeKind.FLOAT: (FloatAttr,),
    AttributeKind.INT: (IntegerAttr,),
    AttributeKind.STRING: (StringAttr, BytesStringAttr),
    AttributeKind.TENSOR: (TensorAttr,),
    AttributeKind.FLOATS: (DenseArrayBase,),
    AttributeKind.INTS: (DenseArrayBase,),
    AttributeKind.STRINGS: (ArrayAttr,),
    AttributeKind.TENSORS: (ArrayAttr,),
    AttributeKind.SPARSE_TENSOR: (SparseTensorAttr,),
    AttributeKind.SPARSE_TENSORS: (ArrayAttr,),
    AttributeKind.TYPE_PROTO: (TypeAttribute,),
    AttributeKind.TYPE_PROTOS: (ArrayAttr,),
}

WRITTEN = {
    AttributeKind.FLOAT: "0.5 : f32",
    AttributeKind.INT: "1 : i64",
    AttributeKind.STRING: '"text"',
    AttributeKind.TENSOR: "#onnx.tensor<[0.5] : tensor<1xf32>> or dense<0.5> : tensor<1xf32>",
    AttributeKind.FLOATS: "array<f32: 0.5>",
    AttributeKind.INTS: "array<i64: 1>",
    AttributeKind.STRINGS: '["text"]',
}
"""An example of each kind of attribute as text, for error messages."""


def _check_count(what: str, count: int, arity: tuple[int, int | None]) -> None:
    least, most = arity
    if count < least or (most is not None and count > most):  # O2
        bounds = str(least) if least == most else f"{least} to {'any number' if most is None else most}"
        raise VerifyException(f"expected {bounds} {what}, got {count}")


def _check_attributes(op: NodeOp, version: Version) -> None:
    attributes = op.onnx_attributes
    for name, value in attributes.items():
        schema = version.attributes.get(name)
        if schema is None:  # O3
            raise VerifyException(f"opset has no attribute '{name}' for {op.op_type}-{version.since}")
        if not isinstance(value, (*ATTRIBUTE_CLASSES.get(schema.kind, ()), ReferenceAttr)):  # O4
            written = WRITTEN.get(schema.kind, "")
            raise VerifyException(
                f"attribute '{name}' is {schema.kind.name}, got {value}{written and f'; write {written}'}"
            )
    for schema in version.attributes.values():
        if schema.required and schema.kind != AttributeKind.GRAPH and schema.name not in attributes:  # O5
            raise VerifyException(f"attribute '{schema.name}' is required")


@cache
def _allowed(type: Attribute, allowed: frozenset[str]) -> bool:
    text = spelling(type)
    return text is None or text in allowed


def _check_types(
    what: str,
    formals: Sequence[Parameter],
    values: Sequence[SSAValue | None],
    version: Version,
    bound: dict[str, Attribute],
) -> None:
    last = len(formals) - 1
    for k, value in enumerate(values):
        if value is None:
            if k <= last and formals[k].option == "S":  # O6
                raise VerifyException(f"{what} '{formals[k].name}' is required")
            continue
        type = value.type
        element = element_of(type)
        formal = formals[min(k, last)]
        if element == ANY:
            continue
        if not _allowed(type, version.types[formal.type_variable]):  # O7
            raise VerifyException(f"{what} '{formal.name}' cannot be {spelling(type)}")
        if formal.homogeneous or formal.option != "V":
            text = (
                type
                if element is None
                else (element.expressed if isinstance(element, UniformType) else element)
            )
            if bound.setdefault(formal.type_variable, text) != text:  # O8
                raise VerifyException(
                    f"{what} '{formal.name}' is {text}, but another of type {formal.type_variable} is "
                    f"{bound[formal.type_variable]}"
                )


def verify_quantized_values(op: Operation) -> bool:
    """True if an operand or a result is quantized. Raises VerifyException if a type does not fit its tensor."""
    quantized = [v.type for v in (*op.operands, *op.results) if quantized_of(v.type) is not None]
    for type in quantized:
        verify_quantized_tensor(type)
    return bool(quantized)


PERM = "perm"

_SOUND: set[Hashable] = set()
"""Signatures that have passed verification."""
MAX_SOUND_SIGNATURES = 1 << 16


def _kind(value: SSAValue | None) -> Hashable:
    """Key of a value in a signature: its expressed element type, or its type in a tuple if it is no tensor."""
    if value is None:
        return None
    expressed = expressed_of(value.type)
    return (value.type,) if expressed is None else expressed


def _signature(op: NodeOp, opset: int | None) -> Hashable:
    """Key of an operation that determines O1 to O8: a model has few distinct ones, however many operations."""
    attributes = tuple((name, type(value)) for name, value in op.properties.items())
    return type(op), opset, tuple(map(_kind, op.inputs)), tuple(map(_kind, op.outputs)), attributes


class Meaningless(VerifyException):
    """The operation means nothing in any opset, so that no runtime accepts it either."""


def verify_at(op: NodeOp, opset: int | None) -> None:
    """Raise VerifyException if the operation, not yet in a module, is none that opset number `opset` has."""
    signature = _signature(op, opset)
    if signature not in _SOUND:
        _verify_signature(op, opset)
        if len(_SOUND) < MAX_SOUND_SIGNATURES:
            _SOUND.add(signature)
    if PERM in op.properties:
        _check_perm(op)


def _check_perm(op: NodeOp) -> None:
    perm, x = op.properties[PERM], op.inputs[0] if op.inputs else None
    if not isinstance(perm, DenseArrayBase):
        return
    axes, shape = [int(axis) for axis in perm.iter_values()], None if x is None else shape_of(x.type)
    if sorted(axes) != list(range(len(axes) if shape is None else len(shape))):  # O13
        rank = "" if shape is None else f" of {len(shape)} axes"
        raise Meaningless(f"perm {axes} is no permutation{rank}")


def _verify_signature(op: NodeOp, opset: int | None) -> None:
    assert op.SCHEMA is not None
    version = op.SCHEMA.at(NEWEST if opset is None else opset)
    if version is None:  # O1
        since = op.SCHEMA.versions[0].since
        raise VerifyException(f"opset {opset} has no {op.op_type}; it came with {since}")
    _check_count("inputs", len(op.inputs), version.input_arity)
    _check_count("outputs", len(op.outputs), version.output_arity)
    _check_attributes(op, version)
    bound: dict[str, Attribute] = {}
    _check_types("input", version.inputs, op.inputs, version, bound)
    if not op.ANY_RESULT:
        _check_types("output", version.outputs, op.outputs, version, bound)


def verify_stored(value: TensorAttr | None, type: Attribute) -> None:
    """Raise VerifyException if a constant of `type` cannot store `value`."""
    if value is None:
        return
    element = quantized_of(type)
    stored = element_of(type) if element is None else storage_element(element)
    if stored != value.type.element_type or shape_of(type) != value.type.get_shape():  # O9
        raise VerifyException(f"a value of {value.type} cannot be stored as {type}")
