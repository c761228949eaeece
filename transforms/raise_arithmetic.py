"""
Raise quantization written as float arithmetic to casts. A Round is required: without it fractions remain.

    Cast(Clip(Round(Mul(x, m)) + z, lo, hi))  ->  scast(qcast(x)) : <lo:hi>, scale 1/m, zero point z
    Clip(Round(Mul(x, m)), lo, hi)            ->  dcast(scast(qcast(x))) with scale 1: floats that are integers
    Mul(Sub(Cast(q), z), s)                   ->  dcast(scast(q))     also where i32 are subtracted
    Sub(Cast(q), z)                           ->  dcast(scast(q))     scale 1, where integers multiply it; weights
    MatMul(Mul(Cast(q), s), dcast(w))         ->  Mul(MatMul(Cast(q), dcast(w)), s)     s for each row, of the run
    Clip(scast(qcast(x)), lo, hi)             ->  scast(qcast(x)) : <lo:hi>
    MatMul(Cast(q) - z, Cast(w)) : i32        ->  MatMulInteger(q, w, z)
    Cast(dcast(q)) : f16, qcast(Cast(x : f16))  ->  dcast(q) : f16, qcast(x)     with `half`, as raise-qdq does

Exact if m is a power of two, or if a Div replaces the Mul and a Mul the Div, and if the offset is added after the
Round; else x * m and x / (1/m) may round a tie differently, by one step. If the integers are read with a scale next
to 1/m, that scale is used for the quantize: m may be its rounded inverse. A float weight that such a Round has made
integer becomes int8 of scale 1, its bias int32. A scale of each row multiplies the sums in place of the integers,
which a kernel of integers sums then: close, as it rounds once less. With `constants`, only weights are raised, before
`fold-constants` makes them float, in models that quantize the activations that they multiply, or store integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, YieldOp, onnx_opset
from qdialect.dialects.onnx_types import element_of, quantized_of, shape_of, storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.ir.build import copied
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import constant_array, is_float32, rank_of, under, under_dequantize
from qdialect.ir.walking import operations
from qdialect.numerics import Array, folding
from qdialect.patterns.arithmetic_operands import (
    STORAGE_BITS,
    Constants,
    SumOfBytes,
    is_stored_weight,
    is_weight,
    multiplies_integers,
)
from qdialect.patterns.half_precision_casts import QuantizeInHalf, ReadInHalf
from qdialect.patterns.integral_weights import read_weights_above
from qdialect.patterns.reading import as_type, learn_shape
from qdialect.promises.arithmetic import (
    Bounds,
    Converts,
    Rounds,
    Scales,
    producer,
    scale_behind,
    shift,
    single_user,
    step_of,
    unwidened,
)
from qdialect.promises.casts import FIRST_CASTS, QuantizeForm
from qdialect.promises.fake_quantize import FakeQuantizes, uniform_type
from qdialect.promises.linear import Linear
from qdialect.promises.qoperator import storage_of
from qdialect.reasons import INEXACT_ARITHMETIC, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role

ONE = np.float32(1.0)
OLD_OPSET = Blocked("opset", f"casts came with opset {FIRST_CASTS}, to which the model is not raised")
UNBOUNDED = Blocked(
    "not-a-quantize", "no clamp limits the rounded values", "clip them to the range of the integers"
)


def _integral(array: Array) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.isfinite(array) & (array == np.rint(array))))


class _Steps(NamedTuple):
    """The function of a chain around a Round: clip(rint(x / scale) + zero_point, low, high)."""

    x: SSAValue
    scale: Array | None
    """Float32, () or of the multiplier's shape; None without multiplier."""
    zero_point: float
    low: float
    high: float
    last: OnnxOp
    exact: bool = True
    """True if a quantize is bit-identical; otherwise it may round near ties differently."""


class _Scaled(NamedTuple):
    x: SSAValue
    scale: Array
    exact: bool
    """True if x * factor equals x / scale, or the reverse, bit for bit."""


def _scale(op: OnnxOp, *, inverse: bool) -> _Scaled | None:
    """The operand of a multiplication and the scale: the factor's inverse for `inverse`, else the factor."""
    promise = op.get_trait(Scales)
    step = None if promise is None else step_of(op, ordered=promise.inverse)
    if promise is None or step is None or step.constant.dtype != np.float32:
        return None
    with np.errstate(all="ignore"):
        scale = step.constant if promise.inverse == inverse else np.asarray(ONE / step.constant)
    exact = promise.inverse == inverse or folding.is_power_of_two(step.constant)
    return _Scaled(step.value, scale, exact)


def _above(op: OnnxOp) -> _Steps:
    """The steps that lead to a Round: Mul or Div, an integer offset, integer bounds."""
    x, low, high, zero_point = op.operands[0], -np.inf, np.inf, 0.0
    while (at := producer(x)) is not None and (bounds := _integer_bounds(at)) is not None:
        x, low, high = bounds[0], max(low, bounds[1]), min(high, bounds[2])
    added = shift(at := producer(x))
    if added is not None and added.constant.size == 1 and _integral(added.constant):
        x, zero_point = added.value, float(added.constant.reshape(-1)[0])
        at = producer(x)
    scaled = None if at is None else _scale(at, inverse=True)
    whole = zero_point == 0  # an offset before the Round may itself round, and an odd one reverses ties
    if scaled is None:
        return _Steps(x, None, zero_point, low, high, op, whole)
    if not scaled.exact and (read := scale_behind(op.results[0])) is not None:
        scaled = scaled._replace(scale=folding.near_scale(scaled.scale, read))
    return _Steps(scaled.x, scaled.scale, zero_point, low, high, op, whole and scaled.exact)


def _integer_bounds(op: OnnxOp) -> tuple[SSAValue, float, float] | None:
    """The operand and bounds of a clamp whose bounds are integers or infinite."""
    promise = op.get_trait(Bounds)
    limits = None if promise is None else promise.step(op)
    if limits is None:
        return None
    bounds = np.array(limits[1:])
    return limits if _integral(bounds[np.isfinite(bounds)]) else None


def _steps(op: OnnxOp) -> _Steps:
    """All steps around a Round, up to the last clamp behind it."""
    steps = _above(op)
    user = single_user(op.results[0])
    added = shift(user)
    if user is not None and added is not None and added.constant.size == 1 and _integral(added.constant):
        z = float(added.constant.reshape(-1)[0])
        steps = _Steps(*steps[:2], steps.zero_point + z, steps.low + z, steps.high + z, user, steps.exact)
        user = single_user(user.results[0])
    while user is not None and (bounds := _integer_bounds(user)) is not None:
        low, high = (min(max(b, bounds[1]), bounds[2]) for b in (steps.low, steps.high))
        steps = _Steps(*steps[:3], low, high, user, steps.exact)
        user = single_user(user.results[0])
    return steps


def _smallest(low: float, high: float) -> Storage | Blocked:
    """The narrowest storage of 8 or 16 bits for a range of integers; unsigned where it fits."""
    if not (np.isfinite(low) and np.isfinite(high)):
        return UNBOUNDED
    for width in STORAGE_BITS:
        for signed in (False, True):
            least = -(1 << (width - 1)) if signed else 0
            if least <= low < high < least + (1 << width):
                return Storage.make(width, signed, int(low), int(high))
    return Blocked("storage-type", f"no 8-bit or 16-bit type holds [{low:g}, {high:g}]")


def _within(storage: Storage, low: float, high: float) -> Storage | Blocked:
    """The storage of a Cast, narrowed to the range: beyond its own bounds a Cast wraps, a quantize saturates."""
    if not storage.low <= low < high <= storage.high:
        return UNBOUNDED
    return Storage.make(storage.width, storage.signed, int(low), int(high))


def quantizes(op: Operation, constants: Constants) -> bool:
    """True if an op quantizes a value that is computed at run time, or reads a weight of stored integers."""
    if op.get_trait(Converts) is not None and is_stored_weight(op.results[0], op.operands[0]):
        return True
    if not isinstance(op, OnnxOp) or not any(op.get_trait(k) for k in (QuantizeForm, FakeQuantizes, Rounds)):
        return False
    return (_above(op).x if op.get_trait(Rounds) is not None else op.operands[0]) not in constants


@dataclass(frozen=True)
class RaiseRounding(OnTrait[Rounds]):
    """A Round among steps that quantize."""

    exact: bool
    constants: Constants | None = None
    """Of the module, to raise weights computed of constants alone; None to raise everything."""

    def match(self, op: OnnxOp, promise: Rounds, rewriter: Rewriter, /) -> Blocked | None:
        if constant_array(op.operands[0]) is not None or not is_float32(op.operands[0]):
            return None
        steps = _steps(op)
        if self.constants is not None and not is_weight(op.results[0], steps.x, self.constants):
            return None
        cast = single_user(steps.last.results[0])
        element = (
            None if cast is None or cast.get_trait(Converts) is None else element_of(cast.results[0].type)
        )
        if isinstance(element, IntegerType) and element.width.data not in STORAGE_BITS:
            return Blocked("other-type", f"the values are cast to {element}, as indices are")
        stored = storage_of(element)
        storage = unblocked(_smallest(*steps[3:5]) if stored is None else _within(stored, *steps[3:5]))
        type = unblocked(
            uniform_type(
                storage, np.asarray(ONE) if steps.scale is None else steps.scale, steps.zero_point, steps.x
            )
        )
        if self.exact and not steps.exact:
            return INEXACT_ARITHMETIC
        quantize = QuantizeOp(steps.x, type)
        integers = with_element(steps.x.type, storage_element(type))
        if stored is not None and cast is not None:
            rewriter.replace(cast, [quantize, StorageCastOp(quantize.results[0], integers)])
            return None
        if not storage.low <= 0 <= storage.high:
            return Blocked("invalid-parameters", "0 is not one of the integers, so they have no scale 1")
        one = UniformType.per_tensor(storage, ONE)
        parts: list[QuantizeOp | StorageCastOp] = [quantize]
        if type != one:  # between equal types, storage casts would hide that the bounds of both are one
            plain = StorageCastOp(quantize.results[0], integers)
            parts += [plain, StorageCastOp(plain.results[0], with_element(steps.x.type, one))]
        rewriter.replace(steps.last, [*parts, DequantizeOp(parts[-1].results[0])])
        read_weights_above(steps.x, rewriter)
        return None


class NoRound(OnTrait[Bounds]):
    """A multiplication and a clamp to integers without a Round: blocked, with the reason."""

    def match(self, op: OnnxOp, promise: Bounds, rewriter: Rewriter, /) -> Blocked | None:
        limits = _integer_bounds(op)
        if limits is None or not all(np.isfinite(limits[1:])) or not is_float32(op.operands[0]):
            return None
        at = producer(limits[0])
        scaled = None if at is None else _scale(at, inverse=True)
        user = single_user(op.results[0])
        if scaled is None or (user is not None and user.get_trait(Rounds) is not None):
            return None
        return Blocked(
            "not-a-quantize",
            "a multiplication and a clamp without a Round keep fractions",
            "round in between",
        )


@dataclass(frozen=True)
class RaiseScaling(Pattern):
    """Integers cast to float, minus a zero point, times a scale; or floats that are integers."""

    exact: bool
    constants: Constants | None = None
    """Of the module, to raise weights computed of constants alone; None to raise everything."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is DequantizeOp or op_class.get_trait(Converts) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        source, known = self._integers(op)
        if source is None or not is_float32(op.results[0]):
            return None
        if onnx_opset(op) < FIRST_CASTS:
            return OLD_OPSET
        if self.constants is not None and not is_weight(op.results[0], source, self.constants):
            return None
        last, zero_point = op, unwidened(op.operands[0]).constant
        user = single_user(op.results[0])
        added = shift(user)
        if user is not None and added is not None:
            if not _integral(added.constant):
                return None
            zero_point, last, user = zero_point - added.constant, user, single_user(user.results[0])
        scaled = None if user is None else _scale(user, inverse=False)
        if user is None or scaled is None:
            real = last.results[0]
            if isinstance(last, DequantizeOp) or not (
                is_stored_weight(real, source) or multiplies_integers(real)
            ):
                return None
            scaled = _Scaled(last.results[0], np.asarray(ONE), exact=True)
        else:
            last, after = user, single_user(user.results[0])
            if after is not None and after.get_trait(Rounds) is not None:
                return None  # a multiplication in front of a Round belongs to the quantizer
        type = unblocked(uniform_type(known, scaled.scale, zero_point, source))
        if self.exact and not scaled.exact:
            return INEXACT_ARITHMETIC
        reads, value = as_type(learn_shape(source, last, rewriter), type, rewriter)
        rewriter.replace(last, [*reads, DequantizeOp(value)])
        return None

    def _integers(self, op: Operation) -> tuple[SSAValue | None, Storage]:
        """The integers that an op converts to float, and their storage type; None if it converts none."""
        none = None, Storage.of("u8")
        source = unwidened(op.operands[0]).value
        integers = under(source, StorageCastOp)
        if isinstance(op, DequantizeOp):
            type = op.element_type
            if integers is None or not type.is_per_tensor or type.scale != ONE or type.zero_point:
                return none
            return integers, type.storage
        storage = storage_of(element_of(source.type))
        if storage is None or storage.width not in STORAGE_BITS:
            return none
        known = None if integers is None else quantized_of(integers.type)
        if known is not None:
            storage = known.storage
        return source, storage


class RowScale(OnTrait[Scales]):
    """A scale of each row, computed at run time, of integers that a product multiplies: it scales the sums."""

    def match(self, op: OnnxOp, promise: Scales, rewriter: Rewriter, /) -> Blocked | None:
        product = single_user(op.results[0])
        sums = None if product is None else product.get_trait(Linear)
        if promise.inverse or product is None or sums is None or not sums.inputs_last:
            return None
        weight = under_dequantize(product.operands[1])
        type, rank = quantized_of(weight.type), rank_of(product.operands[1])
        is_factor = product.operands[0] is op.results[0] and product.operands[1] is not op.results[0]
        if not is_factor or type is None or type.blocks or rank != 2 or len(product.operands) != 2:
            return None
        if not type.is_per_tensor and type.axis != rank - 1:
            return None
        for integers, scale in (op.operands, reversed(op.operands)):
            maker, shape = producer(integers), shape_of(scale.type)
            if maker is None or maker.get_trait(Converts) is None or constant_array(scale) is not None:
                continue
            stored = storage_of(element_of(maker.operands[0].type))
            if (
                stored is None
                or stored.width != STORAGE_BITS[0]
                or rank_of(integers) != rank_of(op.results[0])
            ):
                continue
            if shape is None or (shape and shape[-1] != 1) or not is_float32(scale):
                continue
            part = copied(product, [integers, product.operands[1]], product.result_types)
            whole = copied(op, [part.results[0], scale], product.result_types)
            rewriter.replace(product, [part, whole])
            return None
        return None


class NarrowStorage(OnTrait[Bounds]):
    """A clamp of the integers of a quantize, as a narrower storage range."""

    def match(self, op: OnnxOp, promise: Bounds, rewriter: Rewriter, /) -> Blocked | None:
        limits = _integer_bounds(op)
        stored = None if limits is None else under(limits[0], StorageCastOp)
        if limits is None or stored is None:
            return None
        quantize = stored.owner
        users = [use.operation for use in op.results[0].uses]
        if not isinstance(quantize, QuantizeOp) or any(isinstance(user, YieldOp) for user in users):
            return None  # a subgraph yields the clamp, which sink-dequantize reads
        if not (limits[0].has_one_use() and quantize.results[0].has_one_use()):
            return Blocked("second-consumer", "the integers in front of the clamp have other users")
        type = quantize.element_type
        low, high = (int(min(max(b, limits[1]), limits[2])) for b in (type.storage.low, type.storage.high))
        if not (low < high and (type.zero_points >= low).all() and (type.zero_points <= high).all()):
            return Blocked("invalid-parameters", "the zero point lies outside the range of the clamp")
        if low > type.storage.low and (type.zero_points == low).any():
            return None  # a clamp at the zero point is an activation, which sink-dequantize reads
        narrow = type.replace(storage=Storage.make(type.storage.width, type.storage.signed, low, high))
        cast = QuantizeOp(quantize.operands[0], narrow)
        cast.location = location(node_name(quantize))  # the name belonged to the tensor before the clamp
        plain = StorageCastOp(cast.results[0], op.results[0].type)
        rewriter.replace(op, [cast, plain])
        # For the clamp it becomes, and the quantize above that.
        names = [tensor_name(cast), node_name(op), tensor_name(quantize)]
        cast.location = location(node_name(quantize), names)
        for user in users:
            wide = quantized_of(user.results[0].type) if isinstance(user, StorageCastOp) else None
            fits = wide is not None and (wide.zero_points >= low).all() and (wide.zero_points <= high).all()
            if (
                wide is not None
                and fits
                and all(isinstance(u.operation, DequantizeOp) for u in user.results[0].uses)
            ):
                storage = Storage.make(wide.storage.width, wide.storage.signed, low, high)
                reads, value = as_type(plain.results[0], wide.replace(storage=storage), rewriter)
                rewriter.replace(user, reads, [value])
        return None


@dataclass(frozen=True)
class RaiseArithmeticPass(RewritePass):
    name = "raise-arithmetic"
    exactness = Exactness.CLOSE
    role = Role.RAISING
    reasons = (
        "empty-tensor inexact-arithmetic invalid-parameters not-a-quantize opset other-type scale-value "
        "second-consumer storage-type weight-axis"
    )
    rewrite = (
        "Clip(Round(Mul(x, m)) + z) -> qcast(x) of scale 1/m: one step at near-ties, exact for powers of two"
    )

    exact: bool = False
    """True to raise bit-identical cases only: divisions, powers of two, offsets behind the Round."""
    constants: bool = False
    """True to raise weights that are computed of constants, if the model quantizes anything at run time."""
    half: bool = False
    """True to absorb Casts between half precision and the casts of f32 that arithmetic becomes, as raise-qdq does."""

    def patterns(self) -> Sequence[Pattern]:
        if self.constants:
            constants = Constants()
            return [RaiseRounding(self.exact, constants), RaiseScaling(self.exact, constants)]
        return [
            RaiseRounding(self.exact),
            *([] if self.exact else [RowScale()]),
            NarrowStorage(),
            NoRound(),
            RaiseScaling(self.exact),
            SumOfBytes(),
            *([ReadInHalf(), QuantizeInHalf()] if self.half else []),
        ]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constants = Constants()
        if not self.constants or any(quantizes(one, constants) for one in operations(op)):
            super().apply(ctx, op)
