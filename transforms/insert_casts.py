"""
Quantize a float model: casts where the target computes in integers, with parameters from calibrated ranges.

    y = linear(x, w)   ->  y = linear(dcast(qcast(x) : T), dcast(w' : W))       w' = qcast(w), a scale for each channel
    y = f(x)           ->  dcast(qcast(f(dcast(qcast(x) : T))) : U)             f with a kernel, or that moves elements
    linear(x, w)       ->  DynamicQuantizeMatMul(x, w')                         where no static type pays
    LSTM(x, W, R)      ->  DynamicQuantizeLSTM(x, W', R')                       where that is faster
    max(y : T, 0)      ->  y : U                                                with `weights=false`, U from zero up

Lossy: 8 bits. Ranges are attributes of operations (`qdialect.range`), or come from a profile. The placement of casts
has the least cost by measurements on the target; ops that only move or select have one type on both sides.
"""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, tensor_type, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import constant_op
from qdialect.ir.insertion import behind
from qdialect.ir.names import QUANTIZED, location, node_name, tensor_name, tensor_names, value_name
from qdialect.ir.values import constant
from qdialect.numerics import Array
from qdialect.patterns.recurrent import QuantizeRecurrent
from qdialect.promises.base import Commutes
from qdialect.promises.clamping import Clamp
from qdialect.promises.linear import Linear
from qdialect.quantizer.placement.annotations import annotate, clear
from qdialect.quantizer.placement.existing_quantization import (
    followers,
    is_finer,
    own_type,
    quantizes,
    takes_another,
)
from qdialect.quantizer.placement.placement import Placement, place, ranges, reason_for_float
from qdialect.quantizer.rounding.rounding import (
    RoundedWeights,
    round_to_nearest,
    rounded_layer,
    symmetric_type,
)
from qdialect.quantizer.statistics.profile import Profile, load_profile
from qdialect.quantizer.statistics.ranges import METHODS, find_range
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter, apply_patterns
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass, Role
from qdialect.targets import Target, target


def activation_type(bounds: tuple[float, float], target: Target) -> UniformType:
    """The 8-bit type for reals in `bounds`, with the target's storage and symmetry."""
    name = target.activations or ("i8" if target.symmetric_activations else "u8")
    storage = Storage.of(name)
    low, high = bounds
    if max(-low, high) < float(np.finfo(np.float32).tiny) * 1e6:
        low, high = 0.0, 1.0
    scale, zero_point = numerics.range_parameters(low, high, storage.low, storage.high)
    return UniformType.per_tensor(storage, scale, zero_point)


def types_of(placement: Placement, target: Target) -> dict[SSAValue, UniformType]:
    """
    The type of each value with a pair, shared by its group: from the range; or an existing type that a value is
    quantized to or dequantized from, unless the former is finer and all users accept it.
    """
    bounds = ranges(placement)
    types = {placement.group_of(value): activation_type(bounds[value], target) for value in placement.pairs}
    for value in dict.fromkeys((*placement.pairs, *placement.groups, *placement.groups.values())):
        group, own = placement.group_of(value), own_type(value)
        if own is None or group not in types:
            continue
        free = value in placement.pairs and all(map(takes_another, quantizes(value)))
        if not free or not is_finer(types[group], own):
            types[group] = own
    return {value: types[placement.group_of(value)] for value in placement.pairs}


class QuantizeUses(Pattern):
    """An op with uses to quantize, or with a result to quantize for all users."""

    def __init__(self, types: dict[SSAValue, UniformType], placement: Placement):
        self._types, self._placement = types, placement
        self._dequantized: dict[SSAValue, SSAValue] = {}

    def accepts(self, op_class: type[Operation]) -> bool:
        return not issubclass(op_class, ConstantOp | QuantizeOp | DequantizeOp | YieldOp)

    def rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for k, value in enumerate(op.operands):
            type = self._types.get(value)
            if type is None:
                continue
            uses = self._placement.pairs[value]
            if uses is None or (op, k) in uses:
                rewriter.set_operand(op, k, self._pair(value, type, rewriter))

    def _pair(self, value: SSAValue, type: UniformType, rewriter: Rewriter) -> SSAValue:
        known = self._dequantized.get(value)
        if known is None or known.owner.parent is None:  # erased with the ops that read it
            there = quantizes(value)
            cast = QuantizeOp(value, type)
            real = DequantizeOp(cast.results[0])
            name = tensor_name(value.op, value.index) if isinstance(value, OpResult) else ""
            cast.location = (
                there[0].location if there else location("", [f"{name}{QUANTIZED}" if name else ""])
            )
            real.location = location("")
            rewriter.insert_before(behind(value), [cast, real])
            self._dequantized[value] = real.results[0]
            for one in there:
                _take_over(one, cast, rewriter)
        return self._dequantized[value]


class QuantizeFromZero(OnTrait[Clamp]):
    """
    A clamp at zero in front of products: its type, for numbers of both signs, becomes one of equal scale from zero up.

        y : T = f(x); z : T = max(y, 0); conv(z)    ->   y : U = f(x); conv(y)       the least integer of U stands for 0
        z = max(y, 0); conv(qcast(z) : T)           ->   z = max(y, 0); conv(qcast(z) : U)

    The lower end of U's storage range is the clamp. U reaches twice as far up as T, so numbers that T clipped are kept;
    all others are equal. Ops that move or select elements may stand between the clamp and the products.
    """

    def __init__(self, storage: Storage):
        self._storage = storage

    def match(self, op: OnnxOp, promise: Clamp, rewriter: Rewriter, /) -> None:
        value, result = op.operands[0], op.results[0]
        if quantized_of(value.type) is None:
            for cast in quantizes(result):
                self._retype(cast.results[0], op, promise, cast, rewriter)
            return
        maker = value.owner
        free = isinstance(maker, QuantizeOp) or (
            isinstance(maker, OnnxOp) and maker.get_trait(Commutes) is None
        )
        if free and value.has_one_use() and value.type == result.type:
            new = self._retype(value, op, promise, op, rewriter)
            if new is not None:
                rewriter.replace(op, [], [new])

    def _retype(
        self, value: SSAValue, op: OnnxOp, promise: Clamp, read: Operation, rewriter: Rewriter
    ) -> SSAValue | None:
        """`value` in type U; None if its type is not one of 8 bits, or a user of the result of `read` needs it."""
        type = quantized_of(value.type)
        if type is None or not type.is_per_tensor or type.storage.width != self._storage.width:
            return None
        from_zero = UniformType.per_tensor(self._storage, float(type.scale), self._storage.low)
        if type == from_zero or not promise.is_at_zero(op, type) or (moved := followers(read)) is None:
            return None
        for one in moved:
            rewriter.retype(one, with_element(one.type, from_zero), is_same=False)
        return rewriter.retype(value, with_element(value.type, from_zero), is_same=False)


def _take_over(there: QuantizeOp, cast: QuantizeOp, rewriter: Rewriter) -> None:
    """Redirect the users of a cast to another one of the same value, of equal type or of one that all users accept."""
    if there.results[0].type == cast.results[0].type:
        rewriter.replace(there, [], [cast.results[0]])
    elif takes_another(there):
        rewriter.replace_uses(there.results[0], cast.results[0])
        rewriter.erase(there)


def quantized_weight(
    op: OnnxOp, levels: int, *, per_tensor: bool = False
) -> tuple[Array, UniformType] | None:
    """
    The stored integers and the type of an op's constant weight, rounded to nearest, symmetric, a scale for each output
    channel; None if it is not constant.
    """
    linear, tensor = op.get_trait(Linear), constant(op.operands[1])
    axis = None if linear is None else linear.weight_axis(op)
    if tensor is None or axis is None:
        return None
    return round_to_nearest(tensor.array(), None if per_tensor else axis, levels)


class QuantizeWeight(OnTrait[Linear]):
    """A linear op with a float constant as weight."""

    def __init__(self, placement: Placement, levels: int, weights: RoundedWeights, *, per_tensor: bool):
        self._ops, self._dynamic = set[Operation](placement.linear), set[Operation](placement.dynamic)
        self._placement = placement
        self._levels, self._weights, self._per_tensor = levels, weights, per_tensor

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        if op not in self._ops and op not in self._dynamic:
            return reason_for_float(op, self._placement)
        quantized = self._rounded(op) or quantized_weight(op, self._levels, per_tensor=self._per_tensor)
        if quantized is None:
            return None
        stored, type = quantized
        if op in self._dynamic:
            self._at_run_time(op, promise, stored, type, rewriter)
            return None
        self._ops.discard(op)
        constant = constant_op(stored, f"{value_name(op.operands[1])}{QUANTIZED}", type)
        real = DequantizeOp(constant.results[0])
        rewriter.insert_before(op, [constant, real])
        rewriter.set_operand(op, 1, real.results[0])
        return None

    def _rounded(self, op: OnnxOp) -> tuple[np.ndarray, UniformType] | None:
        """The weight as rounded before, in the form of `quantized_weight`; None if it was not."""
        known, linear = rounded_layer(self._weights, op), op.get_trait(Linear)
        if known is None or linear is None:
            return None
        return known.stored, symmetric_type(known.grid.scales, linear.weight_axis(op))

    def _at_run_time(
        self, op: OnnxOp, linear: Linear, stored: np.ndarray, type: UniformType, rewriter: Rewriter
    ) -> None:
        """Write the op as the dynamically quantized kernel, with one scale for the activation."""
        shape = stored.shape
        if linear.weight_axis(op) == 0:
            stored = np.ascontiguousarray(stored.reshape(shape[:2]).T)
        name, nodes, x, result = value_name(op.operands[1]), Nodes(), op.operands[0], op.results[0].type
        weight = nodes.constant(stored, name=f"{name}{QUANTIZED}")
        scales = nodes.constant(type.scales.astype(np.float32), name=f"{name}_scale")
        is_image = len(shape) > 2  # 1x1: the channels of a pixel are a row
        rows = nodes.reshape(x, (-1, shape[1]), (DYNAMIC, shape[1])) if is_image else x
        inputs = [rows, weight, scales, None]
        if linear.has_bias and op.input(2) is not None:
            inputs.append(op.operands[2])
        row = tensor_type(Float32Type(), (DYNAMIC, shape[0])) if is_image else result
        product = nodes.add("DynamicQuantizeMatMul", inputs, row, domain=MICROSOFT)
        if is_image:
            nodes.ops[-1].location = location(node_name(op))
            nodes.reshape(product, (-1, shape[0], *shape[2:]), result)
        name = f"{node_name(op)}_pixel" if is_image else node_name(op)
        nodes.ops[-1].location = location(name, tensor_names(op))
        rewriter.replace(op, nodes.ops)


@dataclass(frozen=True)
class InsertCastsPass(RewritePass):
    name = "insert-casts"
    exactness = Exactness.LOSSY
    role = Role.PLACING
    reasons = "computed-parameter float-faster no-range noisy-layer"
    rewrite = (
        "y = linear(x, w) -> dcast(qcast(linear(dcast(qcast(x)), dcast(w')))): 8 bits, by calibrated ranges"
    )

    target: str = "onnxruntime"
    form: str = ""
    """`qoperator`, `qdq` or `integer`; empty: the target's own."""
    profile: str = ""
    """Path of a profile; empty: ranges are attributes."""
    range: str = "minmax"
    """Method for ranges from the profile: `minmax`, `mse`, or a percentile as `99.99`."""
    levels: int = 127
    """Greatest integer of a weight: 127 for 8 bits, 63 for 7."""
    dynamic: bool = True
    """True to allow kernels that quantize activations at run time."""
    weights: bool = True
    """True to quantize float weights; otherwise only tensors between existing integers."""
    price: int = 100
    """Factor on the cost of integer ops, in percent: more than 100 keeps more of the model in float."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        runtime = target(self.target)
        if self.profile:
            self.annotate(op, runtime)
        insert_casts(op, runtime, self.placed(op), {}, self.levels)
        if not self.weights:
            _from_zero(op, runtime)

    def placed(self, module: ModuleOp) -> Placement:
        """The placement of casts in a module with ranges."""
        runtime, whole = target(self.target), Placement()
        kernels = (self.form or runtime.form) != "qdq"
        for func in [one for one in module.ops if isinstance(one, FuncOp)]:
            bias = self.price / 100
            whole.add(place(func, runtime, kernels=kernels, bias=bias, weights=self.weights))
        if not self.dynamic or not kernels:
            whole.dynamic.clear()
        return whole

    def annotate(self, module: ModuleOp, runtime: Target) -> None:
        if self.range not in METHODS and not self.range.replace(".", "").isdigit():
            raise UserError(f"there is no range '{self.range}'", f"choose from {', '.join(METHODS)}")
        profile = load_profile(self.profile)
        annotate_from(module, profile, self.range, runtime)


def insert_casts(
    module: ModuleOp, runtime: Target, placement: Placement, weights: RoundedWeights, levels: int
) -> None:
    """Apply a placement: insert casts, and quantize weights as in `weights`, or rounded to nearest."""
    types = types_of(placement, runtime)
    linear = QuantizeWeight(placement, levels, weights, per_tensor=runtime.per_tensor_weights)
    recurrent = QuantizeRecurrent(runtime, only=set[Operation](placement.dynamic))
    apply_patterns(module, InsertCastsPass.name, [QuantizeUses(types, placement), linear, recurrent])
    clear(module)


def _from_zero(module: ModuleOp, runtime: Target) -> None:
    """Write the clamps of a quantized model as the ends of storage ranges, where zero points are free."""
    if not runtime.symmetric_activations:
        storage = Storage.of(runtime.activations or "u8")
        apply_patterns(module, InsertCastsPass.name, [QuantizeFromZero(storage)])


def annotate_from(module: ModuleOp, profile: Profile, method: str, runtime: Target) -> None:
    """Annotate the operations with the ranges from a profile."""
    annotate(
        module, bounds_of(profile, method, symmetric=runtime.symmetric_activations), elements_of(profile)
    )


def bounds_of(profile: Profile, method: str, *, symmetric: bool) -> dict[str, tuple[float, float]]:
    """The range of each tensor by name."""
    return {n: find_range(s, method, 255, symmetric) for n, s in profile.tensors.items() if s.counts.size}


def elements_of(profile: Profile) -> dict[str, int]:
    """Number of elements of each tensor for one sample, by name."""
    return {n: s.count // max(profile.samples, 1) for n, s in profile.tensors.items()}
