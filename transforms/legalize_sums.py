"""
Change the signedness of integer sums to that of the target's fastest kernels.

    sum(move(quantize(x, s, z)) : i8, w, z)  ->  sum(move(quantize(x, s, z + 128)) : u8, w, z + 128)
    sum(q : i8, w, z)                        ->  sum(quantize(dequantize(q, 1, 0), 1, 128) : u8, w, z + 128)
                                                                                      where that pays
    q, s, z = quantize_at_run_time(x)
    sum(q : u8, w, z, wz)  ->  sum(quantize(x, s, z - 128) : i8, w, z - 128, wz)     where that pays
    sum(q, w, z, wz)       ->  sum(q, w xor 0x80, z, wz xor 0x80)                    constant w

Exact: differences to the zero point are unchanged. A weight is changed at compile time, and so is a quantize that such
sums alone read, behind ops that move its elements. Where others read the same integers, or where they come from is not
known, the activation takes more casts in each run, so it is changed only if the kernel saves more, by the measured
costs. The first two lines are for products of matrices.
"""

from math import prod

import numpy as np
from xdsl.ir import SSAValue, Use

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, known_element, shape_of, with_element
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import flipped_name, wish
from qdialect.ir.values import constant_array
from qdialect.patterns.convolution.step import priced
from qdialect.patterns.flipped import OTHER, Flipped, Source, half, moved_zero_point, source_of
from qdialect.patterns.targeted import ForTarget, TargetPass
from qdialect.promises.arithmetic import QuantizesAtRunTime
from qdialect.promises.integer import IntegerProduct
from qdialect.promises.window import Geometry, Window
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import QUANTIZE, SIGNED, SIGNED_PRODUCT, SUM, WORTH, cost, signed_sum_cost

NUMPY = {"i8": "int8", "u8": "uint8"}


class LegalizeSum(OnTrait[IntegerProduct], ForTarget):
    """An op that sums products of integers minus their zero points."""

    def __init__(self, target: Target):
        super().__init__(target)
        self._flipped = Flipped()
        self._shared: set[SSAValue] = set()
        """Activations that others read too, in the signedness that they have."""

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        wanted = self._target.sums.get(op.op_type)
        types = [element_of(value.type) for value in op.operands[:2]]
        if wanted is None or types == [BY_NUMPY[NUMPY[name]].attribute for name in wanted]:
            return None
        if self._target.largest_weight is not None and wanted[1] == "i8":
            return Blocked("may-saturate", f"{self._target.name} adds products of u8 and i8 in 16 bits")
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
        x, above = op.operands[0], op.operands[0].owner
        if op.parent is None or element_of(x.type) != OTHER[BY_NUMPY[NUMPY[wanted]].attribute]:
            return None
        if isinstance(above, OnnxOp) and above.get_trait(QuantizesAtRunTime) is not None:
            return self._again(op, above, wanted, rewriter)
        if isinstance(above, ConstantOp) or op.get_trait(Window) is not None:
            return None
        source = source_of(x)
        is_free = x in self._flipped or self._is_free(x, source)
        if not is_free and not self._product_pays(op, 1 if source is not None else 2):
            return Blocked(
                "does-not-pay", "the casts that change the signedness take longer than the kernel saves"
            )
        zero, element = op.input(2), OTHER[known_element(x.type)]
        flipped = self._flipped
        new = flipped.requantized(x, rewriter) if source is None else flipped.quantized(source, rewriter)
        nodes = half(element) if zero is None else Nodes()
        moved = nodes.ops[0].results[0] if zero is None else flipped.zero_point(zero, rewriter)
        inputs = [new, op.operands[1], moved, op.input(3)]
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])
        return None

    def _is_free(self, x: SSAValue, source: Source | None) -> bool:
        """True if all that read what `source` gives are sums that want the other signedness."""
        if source is None or x in self._shared:
            return False
        if source.read_by(self._agrees):
            return True
        self._shared.add(x)  # asked once: a value has many readers
        return False

    def _agrees(self, use: Use) -> bool:
        """True if a sum reads the value as its activation, and wants the other signedness."""
        op = use.operation
        wanted = self._target.sums.get(op.op_type) if isinstance(op, OnnxOp) else None
        if wanted is None or use.index != 0 or op.get_trait(Window) is not None:
            return False
        return element_of(op.operands[0].type) != BY_NUMPY[NUMPY[wanted[0]]].attribute

    def _again(self, op: OnnxOp, source: OnnxOp, wanted: str, rewriter: Rewriter) -> Blocked | None:
        """The activation, quantized at run time by `source`, quantized again."""
        x, zero = op.operands[0], op.input(2)
        if zero is None or zero is not source.results[2]:
            return Blocked("other-zero-point", "the zero point differs from that of the quantize")
        if not self._pays(op):
            return None
        nodes, int8 = Nodes(op), BY_NUMPY[NUMPY[wanted]].attribute
        signed = moved_zero_point(zero, int8, nodes)
        inputs = [source.operands[0], source.results[1], signed]
        again = nodes.add("QuantizeLinear", inputs, with_element(x.type, int8))
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

    def _product_pays(self, op: OnnxOp, casts: int) -> bool:
        """True if the kernel saves more than so many more casts of the activation; sizes that are not known are 1."""
        costs = self._target.costs
        x, y = (shape_of(value.type) for value in (op.operands[0], op.results[0]))
        if not x or not y or SIGNED_PRODUCT not in costs:
            return False
        read, columns = prod(max(size, 1) for size in x), max(y[-1], 1)
        more = casts * (read * costs[QUANTIZE]["read"] + costs[QUANTIZE]["call"])
        return more < WORTH * read * columns * costs[SIGNED_PRODUCT]["product"]


class LegalizeSumsPass(TargetPass):
    name = "legalize-sums"
    exactness = Exactness.EXACT
    rewrite = (
        "sum(q : u8, w, z, wz) -> sum(q - 128 : i8, w xor 0x80, z - 128, wz xor 0x80): the same differences"
    )
    pattern_types = (LegalizeSum,)
