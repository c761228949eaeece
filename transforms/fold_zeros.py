"""
Drop optional operands that equal their default of zero, and unused optional trailing results.

    LSTM(x, W, R, b, _, zeros, zeros)  ->  LSTM(x, W, R, b)      likewise GRU, RNN, DynamicQuantizeLSTM
    y, indices = MaxPool(x)            ->  y = MaxPool(x)        each op with optional results

Exact: the same numbers. Zeros of a size unknown until run time cost a chain of shape ops in each run; a runtime
that has no fast kernel with all results takes a slow one.
"""

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, opset_of
from qdialect.exactness import Exactness
from qdialect.ir.names import location, node_name, tensor_names
from qdialect.patterns.filled import filled_with
from qdialect.promises.defaults import AllResults, ZeroByDefault
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnOp, OnTrait
from qdialect.rewriting.passes import RewritePass

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


class LeaveOutResults(OnOp[OnnxOp]):
    """An op whose last results are optional and unused."""

    def accepts(self, op_class: type[Operation]) -> bool:
        schema = op_class.SCHEMA if issubclass(op_class, OnnxOp) else None
        return schema is not None and any(p.option == "O" for v in schema.versions for p in v.outputs)

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> None:
        opset, outputs = opset_of(op, op.domain), op.outputs
        version = op.SCHEMA.at(LATEST if opset is None else opset) if op.SCHEMA is not None else None
        every = op.get_trait(AllResults)
        if version is None or op.regions or (every is not None and every.applies(op)):
            return
        while len(outputs) > 1 and version.outputs[len(outputs) - 1].option == "O":
            if (last := outputs[-1]) is not None and last.first_use is not None:
                break
            outputs.pop()
        if len(outputs) == len(op.outputs):
            return
        types = [None if value is None else value.type for value in outputs]
        new = type(op).build(op.inputs, types, op.onnx_attributes)
        new.location = location(node_name(op), tensor_names(op)[: len(new.results)])
        rewriter.replace(op, [new], [*new.results, *op.results[len(new.results) :]])


def _is_zero(value: SSAValue | None) -> bool:
    return value is not None and filled_with(value) == 0


class FoldZerosPass(RewritePass):
    """Optional operands that are zero by default, and unused optional results, are dropped."""

    name = "fold-zeros"
    exactness = Exactness.EXACT
    rewrite = "LSTM(x, W, R, b, _, zeros, zeros) -> LSTM(x, W, R, b): zeros are the default"
    pattern_types = (LeaveOutZeros, LeaveOutResults)
