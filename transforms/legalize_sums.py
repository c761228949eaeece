"""
Give integer sums whose activations are quantized at run time the signedness that the target's kernels are made for.

    q, s, z = quantize_at_run_time(x)
    sum(q : u8, w, z, wz)  ->  sum(quantize(x, s, z - 128) : i8, w, z - 128, wz)     where that pays
    sum(q, w, z, wz)       ->  sum(q, w xor 0x80, z, wz xor 0x80)                    constant w

Exact: differences to the zero point stay what they are. The weight is turned when the model is compiled. The activation
takes a second quantize in each run, so it is turned only where the kernel saves more, by the costs that were measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, with_element
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import constant_array, static_shape
from qdialect.ops.generated import op_named
from qdialect.patterns.im2col import shape_of_conv
from qdialect.promises.arithmetic import IntegerProduct, QuantizesAtRunTime
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import QUANTIZE, SIGNED, SUM, cost

NUMPY = {"i8": "int8", "u8": "uint8"}
ONNX_INT8, ONNX_INT32 = 3, 6


class LegalizeSum(Pattern):
    """An op that sums products of integers less their zero points."""

    def __init__(self, target: Target):
        self._target = target

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class.get_trait(IntegerProduct) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        wanted = self._target.sums.get(op.op_type)
        if wanted is None:
            return None
        self._weight(op, NUMPY[wanted[1]], rewriter)
        return self._activation(op, wanted[0], rewriter)

    def _weight(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> None:
        weight, zero = constant_array(op.operands[1]), op.input(3)
        zeros = np.zeros((), weight.dtype) if weight is not None and zero is None else constant_array(zero)
        if weight is None or zeros is None or weight.dtype.name == wanted or weight.dtype.itemsize > 1:
            return
        made: list[Operation] = []
        for array, old in ((weight, op.operands[1]), (zeros, zero)):
            new = ConstantOp.of(from_array(numerics.flip_signedness(np.asarray(array))))
            name = tensor_name(old.owner) if isinstance(old, OpResult) else "zero_point"
            new.location = location("", [f"{name}_{new.results[0].type.get_element_type()}"])  # pyright: ignore
            made.append(new)
        inputs: list[SSAValue | None] = [op.operands[0], made[0].results[0], op.input(2), made[1].results[0]]
        rewriter.replace(op, [*made, _again(op, inputs)])

    def _activation(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> Blocked | None:
        x, zero = op.operands[0], op.input(2)
        source = x.op if isinstance(x, OpResult) else None
        if op.parent is None or source is None or source.get_trait(QuantizesAtRunTime) is None:
            return None
        if wanted != "i8" or element_of(x.type) != BY_NUMPY["uint8"].attribute:
            return None
        if zero is None or zero is not source.results[2]:
            return Blocked("other-zero-point", "the zero point is not that of the quantize")
        if not self._pays(op):
            return None
        made: list[Operation] = []

        def add(name: str, inputs: list[SSAValue], like: SSAValue, numpy: str, **given: int) -> SSAValue:
            type = with_element(like.type, BY_NUMPY[numpy].attribute)
            new = op_named("", name).build([*inputs], [type], {k: int_attr(v) for k, v in given.items()})
            new.location = location(f"{node_name(op)}_signed")
            made.append(new)
            return new.results[0]

        half = ConstantOp.of(from_array(np.array(128, np.int32)))
        half.location = location("", ["half"])
        made.append(half)
        wide = add("Cast", [zero], zero, "int32", to=ONNX_INT32)
        lower = add("Sub", [wide, half.results[0]], zero, "int32")
        signed = add("Cast", [lower], zero, "int8", to=ONNX_INT8)
        real = source.operands[0]
        again = add("QuantizeLinear", [real, source.results[1], signed], x, "int8")
        rewriter.replace(op, [*made, _again(op, [again, op.operands[1], signed, op.input(3)])])
        return None

    def _pays(self, op: OnnxOp) -> bool:
        """Whether the kernel saves more than the second quantize takes."""
        weight, costs = static_shape(op.operands[1]), self._target.costs
        if weight is None or len(weight) < 3 or SIGNED not in costs or op.int_attr("group", 1) != 1:
            return False
        shape, quantize = shape_of_conv(op, weight, symmetric=False), costs[QUANTIZE]
        read = shape.images * shape.pixels * shape.inputs * prod(shape.strides)
        return cost(costs, SIGNED, shape) + read * quantize["read"] + quantize["call"] < cost(
            costs, SUM, shape
        )


def _again(op: OnnxOp, inputs: list[SSAValue | None]) -> OnnxOp:
    new = op.__class__.build(inputs, list(op.result_types), op.onnx_attributes)
    new.location = op.location
    return new


@dataclass(frozen=True)
class LegalizeSumsPass(RewritePass):
    """Sums of integers take the signedness that is the fastest."""

    name = "legalize-sums"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "sum(q : u8, w, z, wz) -> sum(q - 128 : i8, w xor 0x80, z - 128, wz xor 0x80): the same differences"
    )

    target: str = "onnxruntime"

    def patterns(self) -> Sequence[Pattern]:
        return [LegalizeSum(target(self.target))]
