"""Constant folding without kernels: casts of constants, lists in place of numbers, and If with a constant condition."""
# Around the driver: the chosen branch is moved out of a region that is erased with its If, which the driver replaces.

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import Pure

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import TensorAttr, from_array
from qdialect.dialects.onnx_types import expressed_type, onnx_element, quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.errors import UserError
from qdialect.ir.build import copied
from qdialect.ir.names import location, tensor_name
from qdialect.ir.values import constant, constant_array, is_constant, real_constant, static_shape
from qdialect.onnx_io.shapes import infer
from qdialect.ops.generated import op_named
from qdialect.patterns.constant_folding import MAX_GROWTH, foldable, quantized_constant, run_beside
from qdialect.promises.arithmetic import ConvertsLike
from qdialect.promises.control import Carries
from qdialect.promises.defaults import TakesNumbers
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait


class QuantizeConstant(OnOp[QuantizeOp]):
    """A quantize of a float constant."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        tensor = constant(op.operands[0])
        if tensor is None:
            return
        rewriter.replace(op, [ConstantOp.of(quantized_constant(tensor, op.element_type), op.results[0].type)])


class RequantizeConstant(OnOp[QuantizeOp]):
    """A quantize of a dequantized constant: of operands that a join needs on another type."""

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> None:
        real = op.operands[0].owner
        if not isinstance(real, DequantizeOp) or (tensor := constant(real.operands[0])) is None:
            return
        floats = from_array(np.asarray(real.element_type.dequantize(tensor.array())))
        rewriter.replace(op, [ConstantOp.of(quantized_constant(floats, op.element_type), op.results[0].type)])


def _real(value: SSAValue) -> TensorAttr:
    """The real numbers of a constant, or its elements if its type is not quantized."""
    tensor = constant(value) if quantized_of(value.type) is None else None
    return tensor or from_array(np.asarray(real_constant(value)))


class ComputeQuantized(OnOp[OnnxOp]):
    """An op with quantized results that depends on constants alone: quantized constants."""

    def accepts(self, op_class: type[Operation]) -> bool:
        if not issubclass(op_class, OnnxOp) or op_class.SCHEMA is None or op_class.SCHEMA.domain:
            return False
        return not op_class.SCHEMA.regions and op_class.has_trait(Pure)

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> Blocked | None:
        types = [type for result in op.results if (type := quantized_of(result.type)) is not None]
        is_known = bool(op.operands) and all(map(is_constant, op.operands))
        if not is_known or not types or len(types) < len(op.results):
            return None
        if any(not isinstance(type.expressed, Float32Type) for type in types):
            return None  # kernels of half precision differ
        unblocked(foldable(op, MAX_GROWTH))
        operands = [ConstantOp.of(_real(value)) for value in op.operands]
        real = copied(op, [one.results[0] for one in operands], [expressed_type(r.type) for r in op.results])
        try:
            arrays = run_beside(op, [*operands, real], real.results)
        except UserError as error:
            return Blocked("not-computable", str(error))
        stored = [quantized_constant(from_array(a), type) for a, type in zip(arrays, types, strict=True)]
        constants = [ConstantOp.of(t, r.type) for t, r in zip(stored, op.results, strict=True)]
        rewriter.replace(op, constants, [one.results[0] for one in constants])
        return None


class ReadConstant(OnOp[StorageCastOp]):
    """A storage cast of a constant: a constant of the other type, with the same bytes."""

    def match(self, op: StorageCastOp, rewriter: Rewriter, /) -> None:
        source = op.operands[0]
        tensor = constant(source)
        if tensor is None or not isinstance(source, OpResult) or static_shape(op.results[0]) is None:
            return
        new = ConstantOp.of(tensor, op.results[0].type)
        new.location = location("", [tensor_name(source.op) or tensor_name(op)])
        rewriter.replace(op, [new])


class ReadNumber(OnTrait[TakesNumbers]):
    """An op that takes numbers and is given constant lists of one."""

    def match(self, op: OnnxOp, promise: TakesNumbers, rewriter: Rewriter, /) -> None:
        lists = {v: t for v in op.operands if (t := constant(v)) is not None and t.type.get_shape() == (1,)}
        if not lists:
            return
        numbers = {value: ConstantOp.of(from_array(t.array().reshape(()))) for value, t in lists.items()}
        rewriter.insert_before(op, list(numbers.values()))
        for place, value in enumerate(op.operands):
            if value in numbers:
                rewriter.set_operand(op, place, numbers[value].results[0])
        infer(op)


class ConvertTo(OnTrait[ConvertsLike]):
    """A conversion to the element type of a value: one to that type, which does not read the value."""

    def match(self, op: OnnxOp, promise: ConvertsLike, rewriter: Rewriter, /) -> None:
        element = onnx_element(expressed_type(op.operands[promise.place].type))
        if element is None:
            return
        attributes = {**op.onnx_attributes, "to": int_attr(element.number)}
        new = op_named("", "Cast").build([op.operands[0]], [op.results[0].type], attributes)
        new.location = op.location
        rewriter.replace(op, [new])


class FoldBranch(OnTrait[Carries]):
    """An If with a constant condition: its branch in line."""

    def wants(self, promise: Carries, /) -> bool:
        return promise.branches

    def match(self, op: OnnxOp, promise: Carries, rewriter: Rewriter, /) -> None:
        chosen = constant_array(op.operands[0])
        if chosen is None or chosen.size != 1:
            return
        block = op.regions[op.region_names.index("then_branch" if chosen.all() else "else_branch")].block
        end = block.last_op
        if end is None or len(end.operands) != len(op.results):
            return
        yielded, inside = list(end.operands), [one for one in block.ops if one is not end]
        end.detach()
        end.drop_all_references()
        for one in inside:
            one.detach()
        rewriter.replace(op, inside, yielded)
