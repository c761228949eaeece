"""
Let the graph take and give the stored integers where it quantizes its inputs and dequantizes its outputs.

    main(%x : f32), qcast(%x) : T   ->  main(%x : storage of T)
    return dcast(q)                 ->  return the integers of q

Lossy on purpose: the same numbers inside, but another interface.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, OpResult
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from qdialect.dialects.onnx_types import storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.ir.names import location
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import refresh_signatures
from qdialect.rewriting.passes import Exactness
from qdialect.rewriting.remarks import remarks_of
from qdialect.rewriting.uses import quantized_uses

LEAST_WIDTH = 8
"""Bits of integers that go in and out: of fewer no runtime copies one to an output."""
NOT_QUANTIZED = Blocked(
    "float-input", "an input is not quantized to 8 bits or more by every user alike, so it stays float"
)
NOT_DEQUANTIZED = Blocked(
    "float-output", "an output is not made by a dequantize of 8 bits or more, so it stays float"
)


def _inputs(block: Block) -> bool:
    """Give quantized inputs their storage type; False if one stays as it is."""
    every = True
    for argument in list(block.args):
        type = quantized_uses(argument)
        if not isinstance(type, UniformType) or type.storage.width < LEAST_WIDTH:
            every &= type is None
            continue
        casts = [use.operation for use in argument.uses if isinstance(use.operation, QuantizeOp)]
        quantized = with_element(argument.type, type)
        integers = Rewriter.replace_value_with_new_type(
            argument, with_element(argument.type, storage_element(type))
        )
        read = StorageCastOp(integers, quantized)
        read.location = location("")
        first = block.first_op
        assert first is not None
        block.insert_op_before(read, first)
        for cast in casts:
            cast.results[0].replace_all_uses_with(read.results[0])
            cast.detach()
            cast.erase()
    return every


def _outputs(end: ReturnOp) -> bool:
    """Return integers instead of what is dequantized from them; False if an output stays as it is."""
    every = True
    block = end.parent
    assert block is not None
    for k, value in enumerate(list(end.operands)):
        cast = value.op if isinstance(value, OpResult) else None
        if not isinstance(cast, DequantizeOp) or cast.element_type.storage.width < LEAST_WIDTH:
            every = False
            continue
        source = cast.operands[0]
        integers = StorageCastOp(source, with_element(source.type, storage_element(cast.element_type)))
        integers.location = location("")
        block.insert_op_before(integers, end)
        end.operands[k] = integers.results[0]
        if not cast.results[0].first_use:
            cast.detach()
            cast.erase()
    return every


@dataclass(frozen=True)
class IntegerIoPass(ModulePass):
    """Quantized inputs and outputs of the graph become integers."""

    name = "integer-io"
    exactness: ClassVar[Exactness] = Exactness.LOSSY
    rewrite: ClassVar[str] = (
        "main(%x), qcast(%x) : T -> main(%x : storage of T): another interface, the same numbers"
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp):
                if not _inputs(func.body.block):
                    remarks_of(op).add(self.name, func, NOT_QUANTIZED)
                if not _outputs(end):
                    remarks_of(op).add(self.name, func, NOT_DEQUANTIZED)
        refresh_signatures(op)
