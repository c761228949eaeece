"""
Fuse dequantize, op, quantize into the op on quantized types.

    qcast(op(dcast(a), dcast(b), ...))  ->  op(a, b, ...)
    op(a, b, ...) : T, all constant     ->  quantized constant

Exact: by the definition of ops on quantized types; onnxruntime computes the op of constants in float. A linear op is
fused without the quantize too, int8 in, float out, also if the quantize is per axis, which no integer kernel
supports.
"""

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, quantized_of, with_element
from qdialect.dialects.quant import DequantizeOp, Expressed, QuantizeOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name, result_names, tensor_name
from qdialect.ir.values import constant, under
from qdialect.patterns.cleanup import cast_patterns
from qdialect.patterns.fold_local_constants import ComputeQuantized
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.linear import Linear
from qdialect.reasons import NOT_QUANTIZED, OTHER_REGION, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.rewriting.uses import quantized_anyway, quantized_uses, read_sizes_of


def _is_float(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), Expressed)


class FuseQuantized(OnOp[OnnxOp]):
    """One op between casts."""

    def accepts(self, op_class: type[Operation]) -> bool:
        if not issubclass(op_class, OnnxOp) or op_class.SCHEMA is None or op_class.SCHEMA.domain:
            return False
        if op_class.SCHEMA.regions or any(op_class.get_trait(t) for t in (QuantizeForm, DequantizeForm)):
            return False
        return True

    def match(self, op: OnnxOp, rewriter: Rewriter, /) -> Blocked | None:
        promise = op.get_trait(Commutes)
        if promise is not None and len(promise.operands(op)) == 1:
            return None  # left to sink-dequantize and hoist-quantize
        operands = self._operands(op)
        if operands is None or isinstance(operands, Blocked):
            return operands
        result_types = unblocked(self._results(op))
        return self._build(op, operands, result_types, rewriter)

    def _operands(self, op: OnnxOp) -> list[SSAValue] | Blocked | None:
        """
        The operands without their casts; None if there is no cast at all. An op that was fused before, with a float
        result, may be followed by a quantize now.
        """
        linear = op.get_trait(Linear)
        operands: list[SSAValue] = []
        floats: list[int] = []
        for k, value in enumerate(op.operands):
            if (source := under(value, DequantizeOp)) is not None:
                operands.append(source)
                continue
            operands.append(value)
            if _is_float(value) and (constant(value) is None or (linear is not None and k < 2)):
                floats.append(k)
        is_read = any(quantized_of(value.type) is not None for value in op.operands)
        if not is_read and all(a is b for a, b in zip(operands, op.operands, strict=True)):
            return None
        if floats and not is_read:
            which = "weight" if linear is not None and floats == [1] else f"operand {floats[0]}"
            return Blocked("float-operand", f"the {which} is float", "quantize every operand")
        return operands

    def _results(self, op: OnnxOp) -> list[Attribute] | Blocked:
        types: list[Attribute] = []
        for result in op.results:
            if not _is_float(result):
                types.append(result.type)
                continue
            type, linear = quantized_uses(result), op.get_trait(Linear) is not None
            moves = op.get_trait(Commutes) is not None
            if linear and not (isinstance(type, UniformType) and type.is_per_tensor):
                types.append(result.type)
            elif moves and isinstance(type, UniformType) and not quantized_anyway(result):
                return OTHER_REGION
            elif isinstance(type, UniformType):
                types.append(with_element(result.type, type))
            else:
                return NOT_QUANTIZED if type is None else type
        return types

    def _build(
        self, op: OnnxOp, operands: list[SSAValue], result_types: list[Attribute], rewriter: Rewriter
    ) -> Blocked | None:
        linear = op.get_trait(Linear)
        if linear is not None:
            blocked = linear.check_operands(op, operands)
            if blocked is not None and linear.has_bias and len(operands) > 2:
                operands = [*operands[:2], op.operands[2]]  # the bias stays in float, for rescale-bias
                blocked = linear.check_operands(op, operands)
            if blocked is not None:
                return blocked
        if list(op.operands) == operands and list(op.result_types) == result_types:
            return None
        new = copied(op, operands, result_types)
        names = result_names(op)
        new.location = op.location
        rewriter.insert_before(op, [new])
        for old, result in zip(op.results, new.results, strict=True):
            casts = [use.operation for use in old.uses if isinstance(use.operation, QuantizeOp)]
            if old.type == result.type:
                rewriter.replace_uses(old, result)
                continue
            names[result.index] = tensor_name(casts[0])
            new.location = location(node_name(op), names)
            read_sizes_of(old, result, rewriter)
            for cast in casts:
                rewriter.replace(cast, [], [result])
        if op.parent is not None:
            rewriter.erase(op)
        return None


class FuseQuantizedPass(RewritePass):
    name = "fuse-quantized"
    exactness = Exactness.EXACT
    role = Role.FUSING
    reasons = (
        "activation-per-axis float-operand not-computable not-quantized other-parameters other-type "
        "second-consumer sides-differ too-large weight-axis"
    )
    rewrite = "qcast(op(dcast(a))) -> op(a) on quantized types: by definition"

    def patterns(self) -> Sequence[Pattern]:
        return [FuseQuantized(), ComputeQuantized(), *cast_patterns()]
