"""Integers that are read as another type: the two storage casts move below ops that move elements."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, storage_element, with_element
from qdialect.dialects.quant import StorageCastOp
from qdialect.ir.values import under
from qdialect.promises.base import Commutes
from qdialect.reasons import unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait


def cast_source(value: SSAValue, cast: type[Operation]) -> SSAValue | None:
    """The quantized value that `value` is cast from; None if it is not."""
    source = under(value, cast)
    return None if source is None or quantized_of(source.type) is None else source


class SinkReading(OnTrait[Commutes]):
    """Move a pair of storage casts, which read integers as another type, below an op that moves elements."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter) -> None:
        if not (promise.moves_storage and promise.results(op) and promise.moves(op)):
            return  # one of other types rounds
        sources = [_read_from(value) for value in promise.operand_values(op)]
        types = [t for s in sources if s is not None and (t := quantized_of(s.type)) is not None]
        if len(types) < len(sources):
            return
        moved = unblocked(promise.forward(op, types))
        new = promise.rebuilt(op, [s for s in sources if s is not None], moved)
        known = [value.type for value in promise.result_values(op)]
        plain = [
            StorageCastOp(value, with_element(old, storage_element(type)))
            for value, old, type in zip(promise.result_values(new), known, moved, strict=True)
        ]
        casts = [StorageCastOp(one.results[0], old) for one, old in zip(plain, known, strict=True)]
        rewriter.replace(op, [new, *plain, *casts], promise.read_by(new, casts))


def _read_from(value: SSAValue) -> SSAValue | None:
    """The quantized value whose integers `value` reads as another type; None if it is no such pair of casts."""
    integers = None if quantized_of(value.type) is None else under(value, StorageCastOp)
    return None if integers is None else cast_source(integers, StorageCastOp)
