"""
Change the expressed type of quantized ops from f16 or bf16 to f32, as integer kernels compute.

    op(a, ...) : q<i8:f16>  ->  scast(op(scast a : q<i8:f32>, ...) : q<i8:f32>)

Close: the same scales and integers; the result is no longer rounded to half precision before it is quantized, which
changes it by less than half a step of 8 bits. For more bits it would be several steps: such a result stays in half
precision. Casts to storage and back do nothing; `fold-casts` drops them between two ops.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import (
    AnyElementType,
    element_of,
    expressed_of,
    quantized_of,
    uniform_of,
    with_element,
)
from qdialect.dialects.quant import BYTE_BITS, Half
from qdialect.exactness import Exactness
from qdialect.ir.build import copied, read_as
from qdialect.ir.values import constant_array
from qdialect.patterns.cleanup import cleanups
from qdialect.promises.kernels import Kernels
from qdialect.promises.window import Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp
from qdialect.rewriting.passes import RewritePass, Role


def _is_half(type: Attribute) -> bool:
    return isinstance(expressed_of(type), Half)


def _operand(value: SSAValue, new: list[Operation]) -> SSAValue:
    """`value` with expressed type f32, its casts appended to `new`; unchanged if not in half precision."""
    if not _is_half(value.type):
        return value
    type = quantized_of(value.type)
    wide = with_element(value.type, f32 if type is None else type.replace(expressed=f32))
    if isinstance(source := value.owner, ConstantOp) and (tensor := source.value) is not None:
        if type is None:
            tensor = from_array(tensor.array().astype(np.float32))
        new.append(ConstantOp.of(tensor, wide))
        new[-1].location = source.location
    else:
        new += read_as(value, wide)
    return new[-1].results[0]


class ComputeInF32(OnOp[OnnxOp]):
    """An op that has an integer kernel, itself or in another form, on quantized types of half precision."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(Kernels) is not None or op_class.get_trait(Window) is not None

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> Blocked | None:
        half = [v for v in (*op.operands, *op.results) if _is_half(v.type)]
        quantized = [t for v in half if (t := quantized_of(v.type)) is not None]
        if not quantized:
            return None
        if any(t.blocks for t in quantized):
            return Blocked("block-scales", "no integer kernel takes a scale for each block")
        if any(quantized_of(r.type) is None for r in op.results):
            return Blocked(
                "float-result", "the result is in half precision, integer kernels return f32", "quantize it"
            )
        if any(uniform_of(r.type).storage.width > BYTE_BITS for r in op.results):
            return Blocked(
                "storage-type",
                "rounding to half precision spans several steps of this type, so f32 would give another result",
            )
        if any(isinstance(element_of(v.type), AnyElementType) for v in op.operands):
            return Blocked(
                "unknown-shape",
                "the element type of an operand is not known, and may be half precision",
                "run ONNX shape inference on the model",
            )
        if any(quantized_of(v.type) is None and constant_array(v) is None for v in half):
            return Blocked("float-operand", "an operand is float", "quantize every operand")
        if (blocked := _no_kernel(op)) is not None:
            return blocked
        self._build(op, rewriter)
        return None

    def _build(self, op: OnnxOp, rewriter: Rewriter) -> None:
        new: list[Operation] = []
        operands = [_operand(v, new) for v in op.operands]
        wider = [with_element(r.type, uniform_of(r.type).replace(expressed=f32)) for r in op.results]
        wide = copied(op, operands, wider)
        wide.location = op.location
        new.append(wide)
        results: list[SSAValue] = []
        for result, type in zip(wide.results, op.result_types, strict=True):
            new += read_as(result, type)
            results.append(new[-1].results[0])
        rewriter.replace(op, new, results)


def _no_kernel(op: OnnxOp) -> Blocked | None:
    """The reason why no kernel computes the op, which then stays as it is; None if one does, or another form."""
    kernels = op.get_trait(Kernels)
    if kernels is None or op.get_trait(Window) is not None:
        return None
    reasons = [kernel.guard(op) for kernel in kernels.forms if not kernel.float_result]
    return reasons[0] if None not in reasons else None


class LegalizeExpressedPass(RewritePass):
    name = "legalize-expressed"
    exactness = Exactness.CLOSE
    role = Role.LEGALIZING
    reasons = "block-scales float-operand float-result product-form storage-type unknown-shape"
    rewrite = "op : q<i8:f16> -> op : q<i8:f32>: less than half a step of 8 bits is no longer rounded"

    def patterns(self) -> Sequence[Pattern]:
        return [ComputeInF32(), *cleanups()]
