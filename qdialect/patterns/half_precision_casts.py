"""Casts of f32 around what computes in half precision: read as quantized types of half precision, and written again."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, ModuleOp, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import element_of, quantized_of, storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.dialects.quant_parameters import FORMATS
from qdialect.forms.casts import converted, written_type
from qdialect.ir.build import read_as
from qdialect.ir.names import location, wish
from qdialect.ir.values import constant, under
from qdialect.ir.walking import operations
from qdialect.patterns.reading import as_type
from qdialect.promises.arithmetic import Converts
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait

HALVES = Float16Type | BFloat16Type
CASTS_OF_HALVES = 19
"""The first opset whose casts take and give half precision."""


def with_expressed(type: UniformType, expressed: Attribute) -> UniformType | None:
    """`type` with another expressed type; None if that has no numbers of the size of its scales."""
    limits = FORMATS[expressed.__class__]
    if type.scales.min() < limits.smallest or type.scales.max() > limits.largest:
        return None
    return type.replace(expressed=expressed)


class ReadInHalf(OnTrait[Converts]):
    """A Cast to half precision of a dcast of f32: dcast rounds what it multiplies in f32."""

    def match(self, op: OnnxOp, promise: Converts, rewriter: Rewriter, /) -> None:
        element, cast = element_of(op.results[0].type), op.operands[0].owner
        if not isinstance(element, HALVES) or not isinstance(cast, DequantizeOp):
            return
        q, old = cast.operands[0], cast.element_type
        type = with_expressed(old, element) if isinstance(old.expressed, Float32Type) else None
        if type is None:
            return
        new, stored = list[Operation](), under(q, StorageCastOp) or q
        if stored is q and constant(q) is None:
            new.append(StorageCastOp(q, with_element(q.type, storage_element(type))))
            stored = new[0].results[0]
        reads, source = as_type(stored, type, rewriter)
        rewriter.replace(op, [*new, *reads, DequantizeOp(source)])


class QuantizeInHalf(OnOp[QuantizeOp]):
    """qcast of a Cast from half precision to f32, which is exact."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        cast, old = op.operands[0].owner, op.element_type
        if not isinstance(cast, OnnxOp) or cast.get_trait(Converts) is None:
            return
        element = element_of(cast.operands[0].type)
        type = with_expressed(old, element) if isinstance(element, HALVES) else None
        if type is None or not isinstance(old.expressed, Float32Type):
            return
        new = QuantizeOp(cast.operands[0], type)
        new.location = op.location
        rewriter.replace(op, [new, *read_as(new.results[0], op.results[0].type)])


def widen_casts(module: ModuleOp, rewriter: Rewriter) -> bool:
    """
    Casts whose scales are no numbers of their half precision, or all in an opset that has none of half precision, as
    casts of f32 with a Cast beside them.

    No op of the module is on quantized types any more. The inverse of the patterns above; True if there are such casts.
    """
    halves: dict[tuple[SSAValue, Block | None], SSAValue] = {}
    any_widened = False
    for op in operations(module):
        if not isinstance(op, QuantizeOp | DequantizeOp):
            continue
        type = op.element_type
        wide = written_type(type)
        if onnx_opset(op) < CASTS_OF_HALVES:
            wide = wide.replace(expressed=f32)
        if wide == type:
            continue
        any_widened = True
        if isinstance(op, QuantizeOp):
            real = converted(op.operands[0], f32)
            real.location = location(f"{wish(op.results[0])}_Cast", [f"{wish(op.results[0])}_real"])
            cast = QuantizeOp(real.results[0], wide)
            cast.location = op.location
            rewriter.replace(op, [real, cast, *read_as(cast.results[0], op.results[0].type)])
        elif (known := halves.get((op.operands[0], op.parent))) is not None:
            rewriter.replace(op, [], [known])
        else:
            sources, source = read_as_wide(op.operands[0], wide)
            read = DequantizeOp(source)
            half = converted(read.results[0], type.expressed)
            halves[op.operands[0], op.parent] = half.results[0]
            rewriter.replace(op, [*sources, read, half])
    for op in reversed(operations(module)) if any_widened else ():
        if isinstance(op, StorageCastOp) and op.parent is not None and op.results[0].first_use is None:
            rewriter.erase(op)
    return any_widened


def read_as_wide(value: SSAValue, wide: UniformType) -> tuple[Sequence[Operation], SSAValue]:
    """`value`, of half precision, as elements of `wide`, and the new storage casts that this takes."""
    plain = under(value, StorageCastOp)
    source = None if plain is None else under(plain, StorageCastOp)
    if source is not None and quantized_of(source.type) == wide:  # a quantize that has been widened
        return [], source
    read = with_element(value.type, wide)
    new = read_as(value, read) if plain is None else [StorageCastOp(plain, read)]
    return new, new[-1].results[0]
