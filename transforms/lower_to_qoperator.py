"""
Lower ops on quantized types to the target's integer kernels.

    op(a, b) : T             ->  QLinearOp(a, a_scale, a_zero_point, b, ..., scale, zero_point)
    f(q) : T,  f moves       ->  f on the stored integers
    affine(a : S) : T        ->  a read as T, if no stored integer changes
    op(a, b) : T             ->  op'(a, b') : T, if another op has the kernel: a - b as a + -b, a mean as a pool,
                                 HardSwish as a clamped line, times a
    join(qcast(dcast a)) : T ->  join(a) : T, if the kernel takes operands of any scales
    op(a) : T                ->  qcast(op(dcast a)), if the float kernel is faster than the integer one
    join(a, c : T) : T       ->  join(a, c', ...): a constant row is repeated, up to a few KiB
    kernel(a, b) + c         ->  kernel(a, b, c)      the kernel has a float result, c one float for each column
    linear(x, dcast(w))      ->  MatMulNBits(x, w, scales, zero points)      x in float

Close: an integer kernel sums without the float form's rounding and rounds once, so results differ by at most one step;
ops that move or select are exact. An op without a kernel is kept, with a remark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp, i64
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import (
    element_of,
    quantized_of,
    shape_of,
    storage_element,
    uniform_of,
    with_element,
)
from qdialect.dialects.quant import BYTE_BITS, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.casts import Parameters, clamped, stored
from qdialect.forms.kernel_substitutes import KernelOfAnother
from qdialect.forms.nodes import Nodes
from qdialect.forms.storage import StorageForm
from qdialect.forms.table import form_of
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import discard
from qdialect.ir.names import location, node_name, settle_names, tensor_names, wish
from qdialect.ir.values import constant, constant_array, real_constant
from qdialect.ops.generated import op_named
from qdialect.patterns.affine_kernels import AddInKernel, ReadRescaled
from qdialect.patterns.casts import FoldStorageCasts
from qdialect.patterns.concat_scales import TakeAnyScales, repeated_rows
from qdialect.patterns.copies import fold_saturated
from qdialect.patterns.float_kernels import LowerToFloat
from qdialect.patterns.region_casts import StoreAcross
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.patterns.weight_only import LowerWeightOnly
from qdialect.promises.base import Commutes
from qdialect.promises.kernels import Kernel, Kernels
from qdialect.promises.linear import EMPTY_SUM, Linear, bias_matches, largest_sums
from qdialect.promises.qoperator import storage_of
from qdialect.promises.window import Window
from qdialect.reasons import FLOAT_BIAS, Blocked, answer, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnForm, OnTrait
from qdialect.rewriting.passes import Role
from qdialect.targets import Target

MATRICES = Blocked(
    "weight-axis",
    "the kernel takes scales for the channels of one matrix, not of a batch of them",
    "quantize the weight per tensor, or leave out its axes of size 1",
)

OVERFLOW = Blocked(
    "scale-value",
    "x_scale * w_scale, by which the kernel multiplies, is no float32 number",
    "quantize the model again",
)


class LowerToKernel(OnTrait[Kernels]):
    """An op that computes, as the QOperator node of its promise."""

    def __init__(self, target: Target, parameters: Parameters):
        self._target, self._parameters = target, parameters

    def match(self, op: OnnxOp, kernels: Kernels, rewriter: Rewriter, /) -> Blocked | None:
        if all(quantized_of(value.type) is None for value in (*op.operands, *op.results)):
            return None
        result = quantized_of(op.results[0].type)
        if result is None and op.get_trait(Window) is not None:
            return None  # left to `choose-convolution-form`
        blocked = Blocked("no-kernel", f"{self._target.name} has no kernel with a float result")
        for kernel in kernels.forms:
            if kernel.float_result != (result is None):
                continue
            reason = self._guard(op, kernel, result)
            if reason is None:
                self._build(op, kernel, result, rewriter)
                return None
            blocked = reason
        return blocked

    def _guard(self, op: OnnxOp, kernel: Kernel, result: UniformType | None) -> Blocked | None:
        if (blocked := kernel.guard(op)) is not None:
            return blocked
        linear = op.get_trait(Linear)
        types: list[UniformType] = []
        for k in _quantized_places(op, kernel):
            type = quantized_of(op.operands[k].type)
            if type is None:
                return Blocked("float-operand", f"operand {k} is float", "quantize every operand")
            if not isinstance(type.expressed, Float32Type):
                return Blocked("expressed-type", f"the kernels compute in f32, not in {type.expressed}")
            if not type.is_per_tensor and linear is not None and k == 1 and not _fits(op, linear, type):
                return MATRICES
            if not type.is_per_tensor and (linear is None or k != 1):
                return Blocked(
                    "activation-per-axis", f"operand {k} has a scale for each channel, the kernel takes one"
                )
            types.append(type)
        if result is not None and not result.is_per_tensor:
            return Blocked(
                "activation-per-axis", "the result has a scale for each channel, the kernel takes one"
            )
        if linear is not None:
            if not np.isfinite(numerics.bias_scale(types[0].scales, types[1].scales)).all():
                return OVERFLOW
            blocked = _bias_guard(op, kernel, types) or sum_guard(op, types)
            if blocked is not None:
                return blocked
        names = [t.storage.name for t in types]
        written = "f32" if result is None else result.storage.name
        if not self._target.has_kernel(kernel.op_type, names, written):
            return Blocked(
                "no-kernel",
                f"{self._target.name} has no {kernel.op_type} for {', '.join(names)} -> {written}",
            )
        return None

    def _build(self, op: OnnxOp, kernel: Kernel, result: UniformType | None, rewriter: Rewriter) -> None:
        nodes, inputs = Nodes(), list[SSAValue | None]()
        adds = _adds_bias(op, kernel)
        for token in kernel.inputs.split():
            if adds and token == "2v":
                continue
            places = range(len(op.operands)) if token == "*" else [None if token[0] == "y" else int(token[0])]
            for place in places:
                for part in "vsz" if token == "*" else token[1]:
                    inputs.append(self._input(op, place, part, result, nodes))
        element = Float32Type() if result is None else storage_element(result)
        cls = op_named(kernel.domain, kernel.op_type)
        known = cls.SCHEMA.attribute_kinds if cls.SCHEMA else {}
        attributes = {k: v for k, v in op.onnx_attributes.items() if k in known}
        attributes = dict(sorted((attributes | kernel.extra(op)).items()))  # in one order, stated or not
        node = cls.build(inputs, [with_element(op.results[0].type, element)], attributes)
        node.location = op.location
        value = nodes.append(node)
        if adds:
            node.location = location(node_name(op))
            bias, known = op.operands[2], real_constant(op.operands[2])
            if known is not None and constant(bias) is None:  # dequantized, which each run would do again
                bias = nodes.append(constant_op(known, wish(bias)))
            nodes.add("Add", [value, bias], value.type)
            nodes.ops[-1].location = location(f"{node_name(op)}_bias", tensor_names(op))
        if result is not None:
            if clamp := clamped(value, result):
                nodes.ops += clamp
                value = clamp[-1].results[0]
            nodes.append(StorageCastOp(value, op.results[0].type))
        rewriter.replace(op, nodes.ops)

    def _input(
        self, op: OnnxOp, place: int | None, part: str, result: UniformType | None, nodes: Nodes
    ) -> SSAValue | None:
        if place is None:
            result_type = uniform_of(op.results[0].type)
            return self._parameters.of(result_type, op, op.results[0])["sz".index(part)]
        value = op.input(place)
        if value is None:
            return None
        if part != "v":
            return self._parameters.of(uniform_of(value.type), op, value)["sz".index(part)]
        if quantized_of(value.type) is None:
            return value
        if (rows := repeated_rows(op, place)) is not None:
            return nodes.append(constant_op(np.ascontiguousarray(rows), wish(value)))
        plain, reads = stored(value)
        nodes.ops += reads
        return plain


def _quantized_places(op: OnnxOp, kernel: Kernel) -> list[int]:
    if "*" in kernel.inputs:
        return list(range(len(op.operands)))
    return [int(token[0]) for token in kernel.inputs.split() if token[1] == "s" and token[0] != "y"]


def _fits(op: OnnxOp, linear: Linear, weight: UniformType) -> bool:
    """True if the weight's scales run along the kernel's columns: a batch of matrices has none."""
    axis = linear.weight_axis(op)
    return axis is not None and weight.axis == axis < 2


def _bias_guard(op: OnnxOp, kernel: Kernel, types: Sequence[UniformType]) -> Blocked | None:
    bias = op.input(2)
    if bias is None or _adds_bias(op, kernel):
        return None
    type = quantized_of(bias.type)
    if type is None or not bias_matches(types[0], types[1], type):
        return FLOAT_BIAS
    return None


def _adds_bias(op: OnnxOp, kernel: Kernel) -> bool:
    """True if the bias is float, like the kernel's result, so that it is added to that."""
    bias = op.input(2)
    return (
        kernel.float_result and "2v" in kernel.inputs and bias is not None and quantized_of(bias.type) is None
    )


def sum_guard(op: OnnxOp, types: Sequence[UniformType]) -> Blocked | None:
    """`Blocked` for a constant weight whose sums exceed int32; `rescale-bias` makes the bias fit."""
    if 0 in (shape_of(op.operands[1].type) or ()):
        return EMPTY_SUM
    largest = largest_sums(op, types[0], types[1], constant_array(op.operands[1]))
    worst = 0 if largest is None else int(largest.max(initial=0))
    if worst <= numerics.INT32_MAX:
        return None
    return Blocked(
        "accumulator-overflow", f"sums can reach {worst}, int32 holds at most {numerics.INT32_MAX}"
    )


class LowerToAnother(OnForm[KernelOfAnother], ForTarget):
    """An op without a kernel, written as ops that have one."""

    def match(self, op: OnnxOp, form: KernelOfAnother, rewriter: Rewriter, /) -> Blocked | None:
        result = quantized_of(op.results[0].type)
        types = [quantized_of(o.type) for o in op.operands if element_of(o.type) != i64]
        known = [type for type in types if type is not None]
        if not known:
            return None
        if result is None or len(known) < len(types):
            return Blocked("float-operand", "not all operands and the result are quantized")
        if not all(type.is_per_tensor for type in (*known, result)):
            return Blocked("activation-per-axis", "there is a scale for each channel, the kernel takes one")
        if not all(isinstance(type.expressed, Float32Type) for type in (*known, result)):
            return Blocked("expressed-type", "the kernels compute in f32")
        names, stored = [type.storage.name for type in known], result.storage.name
        names += names[:1] * form.constants
        opset = onnx_opset(op)
        runs = all(self._target.runs_on_storage(o, stored, opset) for o in form.on_integers(op))
        if not (runs and self._target.has_kernel(form.kernel, names, stored)):
            return Blocked(
                "no-kernel",
                f"{self._target.name} has no {form.kernel} for {', '.join(names)} -> {stored} in this opset",
            )
        parts = unblocked(form.parts(op))
        if (blocked := _kernels_guard(parts)) is not None:
            discard(parts)
            return blocked
        node = node_name(op)
        for part in parts[:-1]:  # the last part has the names
            if isinstance(part, OnnxOp):
                name = f"{node}_{part.op_type}" if node else ""
                part.location = location(name, [name or part.op_type])
        rewriter.replace(op, parts)
        fold_saturated(parts[-1].results[0], rewriter)  # as a second compilation would
        return None


def _kernels_guard(parts: Sequence[Operation]) -> Blocked | None:
    """The reason why one of the ops that an op is written as has no kernel; None if each has."""
    kernels = [
        (part, k) for part in parts if isinstance(part, OnnxOp) and (k := part.get_trait(Kernels)) is not None
    ]
    reasons = (kernel.guard(part) for part, forms in kernels for kernel in forms.forms)
    return next((reason for reason in reasons if reason is not None), None)


def _type_of_bytes(op: OnnxOp, promise: Commutes) -> UniformType | None:
    """A type of the bytes that an op moves or selects without casts, whatever their scale; None of other elements."""
    storage = storage_of(element_of(op.operands[0].type)) if promise.moves_storage else None
    if storage is None or storage.width != BYTE_BITS:
        return None
    type = UniformType.per_tensor(storage, np.float32(1))
    return type if promise.forward(op, [type]) == [type] else None


class LowerToStorage(OnTrait[Commutes], ForTarget):
    """An op that moves or selects, on the integers themselves; without casts it may have a faster form too."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter, /) -> Blocked | None:
        form = form_of(type(op), StorageForm)
        head = promise.types(op).operands[0]
        if head is None:
            if form is not None and (plain := _type_of_bytes(op, promise)) is not None:
                self._form(op, form, plain, rewriter)
            return None  # what is float or plain integers stays so: no integer kernel is missed
        if not promise.moves(op):
            return None  # mixed scales: left to the kernel
        if form is not None:
            blocked = self._form(op, form, head, rewriter)
            if blocked is None or not promise.moves_storage:
                return blocked
        if not promise.moves_storage:
            return Blocked("no-kernel", f"{op.op_type} has no form on stored integers")
        unblocked(self._runs(op, op.listed, head))
        self._on_storage(op, promise, rewriter)
        return None

    def _runs(self, op: OnnxOp, kernel: str, type: UniformType) -> Blocked | None:
        if self._target.runs_on_storage(kernel, type.storage.name, onnx_opset(op)):
            return None
        return Blocked(
            "no-kernel", f"{self._target.name} has no {kernel} on {type.storage.name} in this opset"
        )

    def _form(self, op: OnnxOp, form: StorageForm, type: UniformType, rewriter: Rewriter) -> Blocked | None:
        source = op.operands[0]
        x, reads = (source, []) if quantized_of(source.type) is None else stored(source)
        built = answer(form.build, op, x, type)
        blocked = built if isinstance(built, Blocked) else self._runs(op, built.kernel, type)
        if isinstance(built, Blocked) or blocked is not None:
            discard([*reads, *(() if isinstance(built, Blocked) else built.ops)])
            return blocked
        last, node = built.ops[-1], node_name(op)
        for one in built.ops:  # the node's name belongs to the kernel
            helper = one.op_type if isinstance(one, OnnxOp) and one.op_type != built.kernel else ""
            one.location = location(f"{node}_{helper}" if node and helper else node)
        last.location = location(node_name(last), tensor_names(op))
        if quantized_of(op.results[0].type) is None:
            rewriter.replace(op, [*reads, *built.ops])
        else:
            rewriter.replace(op, [*reads, *built.ops, StorageCastOp(last.results[0], op.results[0].type)])
        return None

    def _on_storage(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter) -> None:
        operands = [stored(value) for value in promise.operand_values(op)]
        types = [t for t in promise.types(op).results if t is not None]
        new = promise.rebuilt(op, [plain for plain, _ in operands], [storage_element(t) for t in types])
        new.location = op.location
        values = zip(promise.result_values(new), promise.result_values(op), strict=True)
        casts = [StorageCastOp(value, old.type) for value, old in values]
        reads = [one for _, ops in operands for one in ops]
        rewriter.replace(op, [*reads, new, *casts], promise.read_by(new, casts))


@dataclass(frozen=True)
class LowerToQoperatorPass(TargetPass):
    name = "lower-to-qoperator"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = (
        "accumulator-overflow activation-per-axis bias-scale bias-shape block-scales block-size "
        "bound-outside computed-parameter does-not-pay empty-tensor expressed-type float-faster "
        "float-operand inexact-arithmetic made-by-session mixed-scales no-kernel opset product-form "
        "scale-value second-consumer too-large unknown-shape weight-axis window-form zero-point"
    )
    rewrite = "op(a, b) : T -> QLinearOp(a, scale, zero point, b, ...): one step at most"

    exact: bool = False
    """True to lower only ops that move or select."""
    joins: bool = True
    """True to fold an added bias into a kernel with a float result."""

    def patterns(self) -> Sequence[Pattern]:
        runtime = self.runtime
        if self.exact:
            return [StoreAcross(runtime), ReadRescaled(), LowerToStorage(runtime), FoldStorageCasts()]
        return [
            StoreAcross(runtime),
            TakeAnyScales(),
            ReadRescaled(),
            LowerToStorage(runtime),
            LowerToAnother(runtime),
            LowerToFloat(runtime),
            LowerToKernel(runtime, Parameters()),
            LowerWeightOnly(runtime),
            *([AddInKernel()] if self.joins else []),
            FoldStorageCasts(),
        ]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        settle_names(op)  # names of new values derive from existing ones
        super().apply(ctx, op)
