"""Constant folding without kernels: casts of constants, lists in place of numbers, and If with a constant condition."""
# Around the driver: the chosen branch is moved out of a region that is erased with its If, which the driver replaces.

from __future__ import annotations

import numpy as np
from xdsl.ir import OpResult

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.names import location, tensor_name
from qdialect.ir.values import constant, constant_array, static_shape
from qdialect.onnx_io.shapes import infer
from qdialect.patterns.computing import quantized_constant
from qdialect.promises.control import Carries
from qdialect.promises.defaults import TakesNumbers
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
