"""
Raise integer products with explicit scaling to the op on real numbers between casts.

    Mul(Cast(ConvInteger(x, w, xz, wz) [+ b]), m) [+ c]  ->  Conv(dcast(scast(x)), dcast(w), dcast(b) or c)

Close: the integer sum is exact, the float form rounds. m is x_scale * w_scale: x_scale is that of the cast of x if
known, else 1.0, and the weight's is m / x_scale. Products with a scale or zero point that is
computed at run time (DynamicQuantizeLinear) are not raised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import element_of, quantized_of
from qdialect.dialects.quant import QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import onnx_op
from qdialect.ir.names import location, node_name, tensor_names, wish
from qdialect.ir.values import constant_array, is_float32, rank_of, under
from qdialect.numerics import Array, sums
from qdialect.numerics.signs import Repaired, has_odd, with_positive_scales
from qdialect.ops.generated import op_named
from qdialect.patterns.reading import as_type, dequantize_operands
from qdialect.promises.arithmetic import Converts, along, multiplier, shift, single_user
from qdialect.promises.base import Commutes
from qdialect.promises.casts import EMPTY_AXIS, RUN_TIME
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import BIAS_TOLERANCE, IntegerProduct, Linear
from qdialect.promises.qoperator import storage_of
from qdialect.reasons import SCALE_VALUE, UNKNOWN_STORAGE, Blocked, required, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role


class _Chain(NamedTuple):
    """The ops after an integer product, up to the last one of the rescale."""

    last: OnnxOp
    factor: Array
    """x_scale * w_scale: float32, shape () or (channels,)."""
    integer_bias: Array | None
    """int32 (channels,)."""
    float_bias: Array | None
    """float32 (channels,)."""
    bias_name: str
    """Name of the bias tensor."""

    @property
    def bias(self) -> Array | None:
        """The bias that was added, integer or float."""
        return self.float_bias if self.integer_bias is None else self.integer_bias


def _constant_name(op: OnnxOp | None) -> str:
    """Name of an op's constant operand; empty if it has none."""
    return (
        next((wish(v) for v in op.operands if isinstance(v.owner, ConstantOp)), "") if op is not None else ""
    )


def _chain(op: OnnxOp, axis: int) -> _Chain | Blocked:
    rank, value = rank_of(op.results[0]), op.results[0]
    user, integer_bias = single_user(value), None
    bias_name = _constant_name(user)
    if user is not None and (added := shift(user)) is not None:
        integer_bias = along(added.constant, rank, axis)
        if integer_bias is None:
            return Blocked("bias-shape", "the integer bias does not have one value for each channel")
        user = single_user(user.results[0])
    if user is None:
        return Blocked("second-consumer", "the integer sum has a second consumer, or none that is known")
    if user.get_trait(Converts) is None or not is_float32(user.results[0]):
        return Blocked(
            "run-time-scale", "no Cast to float32 and multiplication by a constant follow the integer sum"
        )
    scaled = unblocked(_factors(user, rank, axis, several=isinstance(op.operands[1].owner, ConstantOp)))
    last, factor = scaled
    float_bias, added = None, shift(user := single_user(last.results[0]))
    if integer_bias is None and user is not None and added is not None:
        float_bias = along(added.constant, rank, axis)
        last = last if float_bias is None else user
    bias_name = bias_name if integer_bias is not None else _constant_name(user)
    return _Chain(last, factor, integer_bias, float_bias, bias_name)


def _factors(cast: OnnxOp, rank: int | None, axis: int, *, several: bool) -> tuple[OnnxOp, Array] | Blocked:
    """
    The last multiplication by a constant behind a Cast, and the product of all. Without `several` only the first: a
    factor that belongs to no weight's scale is kept as an op.
    """
    last, factor = cast, None
    while (
        (several or factor is None)
        and (step := multiplier(user := single_user(last.results[0]))) is not None
        and user is not None
    ):
        factors = along(step.constant, rank, axis)
        if factors is None:
            return Blocked("weight-axis", "the factor is not one for each output channel")
        last, factor = user, factors if factor is None else numerics.bias_scale(factor, factors)
    if not (whole := required(factor, RUN_TIME)).size:
        return EMPTY_AXIS
    return last, whole


def _known_type(value: SSAValue) -> UniformType | None:
    """
    The per-tensor type whose stored integers `value` is; None if unknown. In f32, as the rescaled sum is, also of
    integers that a cast in half precision gives: of the same scale.
    """
    source = under(value, StorageCastOp)
    type = None if source is None else quantized_of(source.type)
    return type.replace(expressed=f32) if type is not None and type.is_per_tensor else None


def _zero_points(value: SSAValue | None) -> Array | None:
    """
    Constant zero points: (), (channels,), or with more axes if they differ along others than the last; 0 if omitted,
    None if computed.
    """
    array = np.zeros((), np.int32) if value is None else constant_array(value)
    if array is None:
        return None
    array = array.astype(np.int32)
    if array.ndim > 1 and array.size:  # [..., 1, N], those of each matrix of a batch: often all have the same
        last = array[(0,) * (array.ndim - 1)]
        last = last[:1] if (last == last[0]).all() else last
        array = last if (array == last).all() else array
    return array.reshape(()) if array.size == 1 else array


def _types(
    op: OnnxOp, linear: Linear | None, factor: Array, w_zero: Array
) -> tuple[UniformType, UniformType] | Blocked:
    """x's type and w's, of zero points `w_zero`: their scales multiply to `factor`."""
    x_zero = required(_zero_points(op.input(2)), RUN_TIME)
    storages = (required(storage_of(element_of(value.type)), UNKNOWN_STORAGE) for value in op.operands[:2])
    x_storage, w_storage = storages
    if x_zero.ndim:
        return Blocked("activation-per-axis", "the activation has a zero point for each row")
    known_x, known_w = _known_type(op.operands[0]), _known_type(op.operands[1])
    x_scale = np.float32(1.0) if known_x is None else known_x.scale
    x = UniformType.per_tensor(x_storage, x_scale, int(x_zero))
    if known_x is not None and known_x.zero_point == int(x_zero):
        x = known_x
    if w_zero.ndim > 1:
        return Blocked("zero-point", "the weights of a batch have zero points of their own")
    scales = sums.weight_scale(factor, x_scale)
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        return SCALE_VALUE
    if not scales.ndim and not w_zero.ndim:
        if known_w is not None and abs(known_w.scale - scales) <= 2 * BIAS_TOLERANCE * scales:
            return x, known_w.replace(zero_points=w_zero)
        return x, UniformType.per_tensor(w_storage, np.float32(scales), int(w_zero))
    axis = None if linear is None else linear.weight_axis(op)
    if axis is None:
        if rank_of(op.operands[1]) == 1:
            return Blocked("weight-axis", "the weight is a vector, which has one scale for all products")
        return Blocked("unknown-shape", "the rank of the weight is not known")
    count = max(scales.size, w_zero.size)
    return x, UniformType.along(
        w_storage, axis, np.broadcast_to(scales, count), np.broadcast_to(w_zero, count)
    )


def _quantize_follows(value: SSAValue) -> bool:
    """True if `value` is quantized in its block, directly or after ops that move or select."""
    for use in value.uses:
        op = use.operation
        if isinstance(value.owner, Operation) and op.parent is not value.owner.parent:
            continue
        if isinstance(op, QuantizeOp):
            return True
        if isinstance(op, OnnxOp) and op.get_trait(Commutes) is not None and _quantize_follows(op.results[0]):
            return True
    return False


class RaiseIntegerProduct(OnTrait[IntegerProduct]):
    """ConvInteger or MatMulInteger and the rescale behind it."""

    def __init__(self, float_results: bool):
        self._float_results = float_results

    def match(self, op: OnnxOp, promise: IntegerProduct, rewriter: Rewriter, /) -> Blocked | None:
        chain = unblocked(_chain(op, promise.channel_axis))
        if chain.bias is None:
            return self._raise(op, promise.name, chain, rewriter)
        if promise.with_bias == promise.name or [rank_of(o) for o in op.operands[:2]] == [2, 2]:
            return self._raise(op, promise.with_bias, chain, rewriter)
        return self._without_bias(op, promise, chain, rewriter)

    def _without_bias(
        self, op: OnnxOp, promise: IntegerProduct, chain: _Chain, rewriter: Rewriter
    ) -> Blocked | None:
        """Rewrite a batch of matrices, whose op has no bias operand: the bias is an Add, in float."""
        plain = chain._replace(integer_bias=None, float_bias=None)
        if chain.integer_bias is not None:
            bias = numerics.dequantize(chain.integer_bias, chain.factor, 0)
            return self._raise(op, promise.name, plain, rewriter, constant_op(bias, chain.bias_name))
        before = next(o.owner for o in chain.last.operands if not isinstance(o.owner, ConstantOp))
        return self._raise(op, promise.name, plain._replace(last=onnx_op(before)), rewriter)

    def _raise(
        self, op: OnnxOp, name: str, chain: _Chain, rewriter: Rewriter, added: ConstantOp | None = None
    ) -> Blocked | None:
        """added: what is added behind the op."""
        cls = op_named("", name)
        kernels = cls.get_trait(Kernels)
        has_kernel = kernels is not None and any(k.float_result for k in kernels.forms)
        if not (self._float_results or has_kernel or _quantize_follows(chain.last.results[0])):
            return Blocked("float-result", "no quantize follows, so the integer product stays as it is")
        linear = cls.get_trait(Linear)
        weight, zeros = op.operands[1], required(_zero_points(op.input(3)), RUN_TIME)
        reads: list[Operation] = []
        if has_odd(chain.factor):
            new, chain = required(_with_positive_factor(op, linear, chain, zeros), SCALE_VALUE)
            if new.zero_points is not None:
                zeros = new.zero_points.astype(np.int32)
            reads.append(constant_op(new.stored, wish(weight)))
            weight = reads[0].results[0]
        types = unblocked(_types(op, linear, chain.factor, zeros))
        channels = None if linear is None else linear.output_channels(op)
        if reads:
            rewriter.insert_before(op, reads)
            reads = []
        operands: list[SSAValue] = []
        for value, type in zip((op.operands[0], weight), types, strict=True):
            casts, read = as_type(value, type, rewriter)
            reads += casts
            operands.append(read)
        if chain.bias is not None:
            if channels is None:
                return Blocked("unknown-shape", "the number of output channels is not known")
            bias = _bias(chain, np.broadcast_to(chain.bias, (channels,)), *types)
            reads.append(bias)
            operands.append(bias.results[0])
        new = cls.build(operands, [chain.last.results[0].type], op.onnx_attributes)
        new.location = location(node_name(op) or node_name(chain.last), tensor_names(chain.last))
        behind: list[Operation] = []
        if added is not None:
            behind = [
                added,
                op_named("", "Add").build([new.results[0], added.results[0]], [new.results[0].type]),
            ]
        rewriter.replace(chain.last, [*reads, *dequantize_operands(new), new, *behind])
        return None


def _with_positive_factor(
    op: OnnxOp, linear: Linear | None, chain: _Chain, zeros: Array
) -> tuple[Repaired, _Chain] | None:
    """
    Another constant weight, and the chain, where every factor is positive: a sum that is multiplied by 0 is one of
    zeros, and one that is multiplied by -m the negative of one that is by m. None if there is none.
    """
    stored, storage = constant_array(op.operands[1]), storage_of(element_of(op.operands[1].type))
    axis = None if linear is None else linear.weight_axis(op)
    if stored is None or storage is None or axis is None:
        return None
    count = max(chain.factor.size, zeros.size)
    shape = () if count == 1 else (count,)
    if count not in (1, stored.shape[axis]):
        return None
    under, points = np.broadcast_to(chain.factor, shape), np.broadcast_to(zeros, shape)
    low, high = storage.low, storage.high
    new = with_positive_scales(stored, under, points, low, high, axis if count > 1 else None)
    bias = chain.integer_bias
    signed = None if bias is None else (bias * np.sign(under)).astype(bias.dtype)
    return new, chain._replace(factor=new.scales, integer_bias=signed)


def _bias(chain: _Chain, bias: Array, x: UniformType, w: UniformType) -> ConstantOp:
    """The bias (channels,) as operand: int32 in steps of x_scale * w_scale, or float as it was."""
    if chain.integer_bias is None:
        return constant_op(bias.copy(), chain.bias_name)
    type = UniformType.along(Storage.of("i32"), 0, numerics.bias_scale(x.scales, w.scales))
    return constant_op(bias.astype(np.int32), chain.bias_name, type)


@dataclass(frozen=True)
class RaiseIntegerPass(RewritePass):
    name = "raise-integer"
    exactness = Exactness.CLOSE
    role = Role.RAISING
    reasons = (
        "activation-per-axis bias-shape empty-tensor float-result run-time-scale scale-value "
        "second-consumer storage-type unknown-shape weight-axis zero-point"
    )
    rewrite = "Mul(Cast(ConvInteger(x, w)), m) -> Conv(dcast(x), dcast(w)): floats to 1e-4"

    float_results: bool = True
    """True to raise products with a float result that no QOperator kernel computes."""

    def patterns(self) -> Sequence[Pattern]:
        return [RaiseIntegerProduct(self.float_results)]
