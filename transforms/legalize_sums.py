"""
Change the signedness of integer sums of dynamically quantized activations to that of the target's fastest kernels.

    q, s, z = quantize_at_run_time(x)
    sum(q : u8, w, z, wz)  ->  sum(quantize(x, s, z - 128) : i8, w, z - 128, wz)     where that pays
    sum(q, w, z, wz)       ->  sum(q, w xor 0x80, z, wz xor 0x80)                    constant w

Exact: differences to the zero point are unchanged. The weight is changed at compile time. The activation takes a second
quantize in each run, so it is changed only if the kernel saves more, by the measured costs.
"""

import numpy as np
from xdsl.ir import OpResult

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, with_element
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import flipped_name, wish
from qdialect.ir.values import constant_array
from qdialect.patterns.convolution.step import priced
from qdialect.patterns.targeted import ForTarget, TargetPass
from qdialect.promises.arithmetic import QuantizesAtRunTime
from qdialect.promises.integer import IntegerProduct
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets.pricing import SIGNED, SUM, cost, signed_sum_cost

NUMPY = {"i8": "int8", "u8": "uint8"}


class LegalizeSum(OnTrait[IntegerProduct], ForTarget):
    """An op that sums products of integers minus their zero points."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        wanted = self._target.sums.get(op.op_type)
        if wanted is None:
            return None
        self._weight(op, wanted[1], rewriter)
        return self._activation(op, wanted[0], rewriter)

    def _weight(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> None:
        weight, zero = constant_array(op.operands[1]), op.input(3)
        zeros = np.zeros((), weight.dtype) if weight is not None and zero is None else constant_array(zero)
        if weight is None or zeros is None or weight.dtype.name == NUMPY[wanted]:
            return
        nodes, name = Nodes(), flipped_name(wish(op.operands[1]), wanted)
        flipped = nodes.constant(numerics.flip_signedness(weight), name=name)
        moved = nodes.constant(numerics.flip_signedness(np.asarray(zeros)), name=f"{name}_zero_point")
        inputs = [op.operands[0], flipped, op.input(2), moved]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])

    def _activation(self, op: OnnxOp, wanted: str, rewriter: Rewriter) -> Blocked | None:
        x, zero = op.operands[0], op.input(2)
        source = x.op if isinstance(x, OpResult) else None
        if op.parent is None or source is None or source.get_trait(QuantizesAtRunTime) is None:
            return None
        if wanted != "i8" or element_of(x.type) != BY_NUMPY["uint8"].attribute:
            return None
        if zero is None or zero is not source.results[2]:
            return Blocked("other-zero-point", "the zero point differs from that of the quantize")
        if not self._pays(op):
            return None
        nodes, int8, int32 = Nodes(op), BY_NUMPY["int8"], BY_NUMPY["int32"]
        half, wide_type = nodes.constant(128, np.int32, name="half"), with_element(zero.type, int32.attribute)
        wide = nodes.add("Cast", [zero], wide_type, {"to": int32.number})
        lower = nodes.add("Sub", [wide, half], wide_type)
        signed = nodes.add("Cast", [lower], with_element(zero.type, int8.attribute), {"to": int8.number})
        inputs = [source.operands[0], source.results[1], signed]
        again = nodes.add("QuantizeLinear", inputs, with_element(x.type, int8.attribute))
        inputs = [again, op.operands[1], signed, op.input(3)]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])
        return None

    def _pays(self, op: OnnxOp) -> bool:
        """True if the kernel saves more time than the second quantize takes."""
        window, costs = op.get_trait(Window), self._target.costs
        geometry = None if window is None else window.geometry(op)
        if not isinstance(geometry, Geometry) or geometry.groups > 1 or SIGNED not in costs:
            return False
        shape = priced(geometry)
        return signed_sum_cost(costs, shape) < cost(costs, SUM, shape)


class LegalizeSumsPass(TargetPass):
    """Integer sums take the fastest signedness."""

    name = "legalize-sums"
    exactness = Exactness.EXACT
    rewrite = (
        "sum(q : u8, w, z, wz) -> sum(q - 128 : i8, w xor 0x80, z - 128, wz xor 0x80): the same differences"
    )
    pattern_types = (LegalizeSum,)
