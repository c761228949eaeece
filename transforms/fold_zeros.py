"""
Drop optional operands that equal their default of zero, unused optional trailing results, and zero points beside one.

    LSTM(x, W, R, b, _, zeros, zeros)  ->  LSTM(x, W, R, b)      likewise GRU, RNN, DynamicQuantizeLSTM
    y, indices = MaxPool(x)            ->  y = MaxPool(x)        ops whose results do not depend on which are there
    ConvInteger(x, w, z, [a, b, ..])   ->  ConvInteger(x, w - [a, b, ..] + c, z, c)   where the type of w holds that

Exact: the same numbers, the same differences to the zero point. Zeros of a size unknown until run time cost a chain of
shape ops in each run; a runtime that has no fast kernel with all results takes a slow one, and onnxruntime has no
ConvInteger with a zero point for each channel, as its own dynamic quantization per channel writes it.
"""

from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, opset_of
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, node_name, tensor_names, wish
from qdialect.ir.values import constant_array
from qdialect.numerics.sums import with_one_zero_point
from qdialect.promises.defaults import IndependentResults, ZeroByDefault
from qdialect.promises.linear import IntegerProduct
from qdialect.promises.sizes import filled_with
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

LATEST = 1 << 30
"""Opset of text that states none: the newest version of each operator."""


class LeaveOutZeros(OnTrait[ZeroByDefault]):
    """An op with optional operands whose default is zero."""

    def match(self, op: OnnxOp, promise: ZeroByDefault, rewriter: Rewriter, /) -> None:
        inputs = list(op.inputs)
        zeros = [k for k in promise.places if k < len(inputs) and _is_zero(inputs[k])]
        if not zeros:
            return
        for place in zeros:
            inputs[place] = None
        types = [None if value is None else value.type for value in op.outputs]
        rewriter.replace(op, [type(op).build(inputs, types, op.onnx_attributes)])


class LeaveOutResults(OnTrait[IndependentResults]):
    """An op whose last results are optional and unused, and which promises that the others are the same without."""

    def match(self, op: OnnxOp, promise: IndependentResults, rewriter: Rewriter, /) -> None:
        opset, outputs = opset_of(op, op.domain), op.outputs
        version = op.SCHEMA.at(LATEST if opset is None else opset) if op.SCHEMA is not None else None
        if version is None or op.regions:
            return
        needed = max(promise.needed(op), 1)
        while len(outputs) > needed and version.outputs[len(outputs) - 1].option == "O":
            if (last := outputs[-1]) is not None and last.first_use is not None:
                break
            outputs.pop()
        if len(outputs) == len(op.outputs):
            return
        types = [None if value is None else value.type for value in outputs]
        new = type(op).build(op.inputs, types, op.onnx_attributes)
        new.location = location(node_name(op), tensor_names(op)[: len(new.results)])
        rewriter.replace(op, [new], [*new.results, *op.results[len(new.results) :]])


class MergeZeroPoints(OnTrait[IntegerProduct]):
    """A sum of products with a zero point of the weight for each channel, where kernels take one."""

    def wants(self, promise: IntegerProduct, /) -> bool:
        return promise.one_zero_point

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        weight, zeros = constant_array(op.operands[1]), constant_array(op.input(3))
        if weight is None or zeros is None or zeros.size < 2 or zeros.size != weight.shape[0]:
            return None
        merged = with_one_zero_point(weight, zeros)
        if merged is None:
            return Blocked(
                "zero-point",
                "the zero points of the weight differ too much for one common zero point",
            )
        nodes, inputs = Nodes(), list(op.inputs)
        if (merged[0] != weight).any():
            inputs[1] = nodes.constant(merged[0], name=wish(op.operands[1]))
        inputs[3] = nodes.constant(merged[1], name=wish(op.operands[3]))
        rewriter.replace(op, [*nodes.ops, type(op).build(inputs, op.result_types, op.onnx_attributes)])
        return None


def _is_zero(value: SSAValue | None) -> bool:
    return value is not None and filled_with(value) == 0


class FoldZerosPass(RewritePass):
    name = "fold-zeros"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "zero-point"
    rewrite = "LSTM(x, W, R, b, _, zeros, zeros) -> LSTM(x, W, R, b): zeros are the default"
    pattern_types = (LeaveOutZeros, LeaveOutResults, MergeZeroPoints)
