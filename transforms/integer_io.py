"""
Make quantized graph inputs and outputs integer: the caller passes and receives stored integers.

    main(%x : f32), qcast(%x) : T   ->  main(%x : storage of T)
    return dcast(q)                 ->  return the integers of q

Scale and zero point are written to the model's metadata: the caller applies them.
Lossy by design: the same numbers inside, but another interface.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import OpResult

from qdialect.dialects.onnx_types import storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.interface import integer_interface, note_interface
from qdialect.ir.names import location
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, rewriting
from qdialect.rewriting.passes import Pass
from qdialect.rewriting.uses import quantized_uses

MIN_INTERFACE_BITS = 8
"""Fewest bits of integer inputs and outputs: no runtime copies narrower ones to an output."""
UNQUANTIZED_INPUT = Blocked(
    "float-interface",
    "not every consumer quantizes the input with the same parameters in 8 bits or more, so it stays float",
)
FLOAT_OUTPUT = Blocked(
    "float-interface", "the output is not the result of a dequantize of 8 bits or more, so it stays float"
)


def _inputs(func: FuncOp, rewriter: Rewriter) -> Blocked | None:
    """Give quantized inputs their storage type."""
    every, block = True, func.body.block
    for argument in list(block.args):
        type = quantized_uses(argument)
        if not isinstance(type, UniformType) or type.storage.width < MIN_INTERFACE_BITS:
            every &= type is None
            continue
        casts = [use.operation for use in argument.uses if isinstance(use.operation, QuantizeOp)]
        stored = with_element(argument.type, storage_element(type))
        read = StorageCastOp(
            rewriter.retype(argument, stored, is_same=False), with_element(argument.type, type)
        )
        read.location = location("")
        rewriter.insert_at_start(block, [read])
        for cast in casts:
            rewriter.replace(cast, [], read.results)
    return None if every else UNQUANTIZED_INPUT


def _outputs(end: ReturnOp, rewriter: Rewriter) -> Blocked | None:
    """Return stored integers instead of their dequantized values."""
    every = True
    for k, value in enumerate(list(end.operands)):
        cast = value.op if isinstance(value, OpResult) else None
        if not isinstance(cast, DequantizeOp) or cast.element_type.storage.width < MIN_INTERFACE_BITS:
            every = False
            continue
        source = cast.operands[0]
        integers = StorageCastOp(source, with_element(source.type, storage_element(cast.element_type)))
        integers.location = location("")
        rewriter.insert_before(end, [integers])
        rewriter.set_operand(end, k, integers.results[0])
    return None if every else FLOAT_OUTPUT


class IntegerIoPass(Pass):
    name = "integer-io"
    exactness = Exactness.LOSSY
    reasons = "float-interface"
    rewrite = "main(%x), qcast(%x) : T -> main(%x : storage of T): another interface, the same numbers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        before = integer_interface(op)
        with rewriting(op, self.name) as rewriter:
            for func in op.ops:
                if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp):
                    rewriter.attempt(func, "Inputs", _inputs)
                    rewriter.attempt(end, "Outputs", _outputs)
        note_interface(op, before)
