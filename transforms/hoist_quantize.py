"""
Move quantizes above ops that move or select elements, towards the op that computes them.

    qcast(f(x, ...))  ->  f(qcast(x), ...)
    qcast(If(yield a, yield b))  ->  If(yield qcast(a), yield qcast(b))     likewise stacked results of Loop, Scan
    scast(f(x, ...))  ->  f(scast(x), ...)      integers of graph inputs, read as a quantized type
    qcast(constant)  ->  quantized constant

Exact: f computes nothing, so rounding before it or after it is the same. Never more work: not if the operand has more
elements than the result and no op above would absorb the cast, unless f is far slower in float (in QOperator form a
MaxPool, and an activation of a sum that is computed in float), nor if the float result has other users.
Quantizes in every branch of an If become one outside. An activation of a float op's result keeps its place in front of
the quantize, unless `activations`; one of a graph input always does, unless the storage range is the same clamp.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, with_element
from qdialect.dialects.quant import BYTE_BITS, DequantizeOp, QuantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.kernel_substitutes import KernelOfAnother
from qdialect.forms.storage import StorageForm
from qdialect.forms.table import form_of
from qdialect.ir.names import location, node_name, result_names, tensor_name
from qdialect.ir.values import rank_of
from qdialect.patterns.cast_normal_form import OTHER_RESULT_TYPE, Hoisting
from qdialect.patterns.cleanup import cleanups, silent
from qdialect.patterns.fold_local_constants import QuantizeConstant, ReadConstant, RequantizeConstant
from qdialect.patterns.region_casts import HoistAcross
from qdialect.promises.base import Commutes, sometimes
from qdialect.promises.clamping import Clamp
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear
from qdialect.promises.window import Window
from qdialect.reasons import OTHER_REGION, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnOp
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.uses import has_kernel, quantized_anyway, quantized_uses, read_sizes_of

IMAGE_RANK = 4
"""Rank of a batch of images."""


def _is_rewritten(op: OnnxOp) -> bool:
    """True if an integer kernel computes the op: its own, or that of the ops it is written as."""
    return (
        has_kernel(op) or op.get_trait(Window) is not None or form_of(type(op), KernelOfAnother) is not None
    )


def _is_slow_in_float(op: OnnxOp) -> bool:
    form = form_of(type(op), StorageForm)
    if form is None or rank_of(op.operands[0]) != IMAGE_RANK:
        return False
    return form.slow_in_float or _clamps_sum(op)


def _clamps_sum(op: OnnxOp) -> bool:
    """
    True if an op clamps the sum of a quantized product's float result and a computed tensor, for 8-bit quantizes.

    No kernel of a quantized product applies such a clamp, unlike those of float products. In float it is a pass of its
    own over four times the memory that it takes on bytes.
    """
    above = op.operands[0].owner
    types = [u.element_type for use in op.results[0].uses if isinstance(u := use.operation, QuantizeOp)]
    if op.get_trait(Clamp) is None or any(t.storage.width != BYTE_BITS or not t.is_per_tensor for t in types):
        return False
    if not isinstance(above, OnnxOp) or above.get_trait(Adds) is None:
        return False
    owners = [value.owner for value in above.operands]
    products = [o for o in owners if isinstance(o, OnnxOp) and o.get_trait(Linear) is not None]
    quantized = all(isinstance(product.operands[0].owner, DequantizeOp) for product in products)
    return bool(products) and quantized and not any(isinstance(o, ConstantOp) for o in owners)


class HoistQuantize(OnOp[QuantizeOp]):
    """Rebuild the op under a quantize on quantized operands."""

    def __init__(self, activations: bool = False, rewritten: bool = False, selects: bool = True):
        is_integer = _is_rewritten if rewritten else has_kernel
        wanted = _is_slow_in_float if rewritten else sometimes
        self._hoisting = Hoisting(activations, is_integer, selects, wanted)

    def match(self, op: QuantizeOp, rewriter: Rewriter, /) -> Blocked | None:
        source = op.operands[0]
        if not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        below = source.op
        promise = below.get_trait(Commutes)
        if promise is None or source.index not in promise.results(below):
            return None
        if not quantized_anyway(source):
            return OTHER_REGION
        types = unblocked(_result_types(below, promise))
        moved = unblocked(self._hoisting.above(below, promise, types))
        unread = any(value.first_use is None for value in promise.result_values(below))
        if unread and promise.forward(below, moved) != types:
            return OTHER_RESULT_TYPE
        _rebuild(below, promise, types, moved, rewriter)
        return None


def _result_types(op: OnnxOp, promise: Commutes) -> list[UniformType] | Blocked:
    """The types to which all users quantize the results; an unused result takes the type of the others."""
    types: list[UniformType | None] = []
    for value in promise.result_values(op):
        type = unblocked(quantized_uses(value))
        if type is None and value.first_use is not None:
            return Blocked("second-consumer", "another result of the op is used in float")
        types.append(type)
    known = [type for type in types if type is not None]
    return [type or known[0] for type in types]


class HoistStorage(OnOp[StorageCastOp]):
    """Move storage casts above an op that moves integers, if all users of each of its results read one type."""

    def match(self, op: StorageCastOp, rewriter: Rewriter, /) -> Blocked | None:
        source, type = op.operands[0], quantized_of(op.results[0].type)
        if type is None or not (isinstance(source, OpResult) and isinstance(source.op, OnnxOp)):
            return None
        below = source.op
        promise = below.get_trait(Commutes)
        if promise is None or not promise.moves_storage or below.parent is not op.parent:
            return None
        if source.index not in promise.results(below):
            return None
        types = unblocked(_read_types(promise.result_values(below)))
        moved = unblocked(promise.backward(below, types))
        if len(types) > 1 and promise.forward(below, moved) != types:
            return OTHER_RESULT_TYPE
        _rebuild(below, promise, types, moved, rewriter, StorageCastOp)
        return None


def _read_types(values: Sequence[SSAValue]) -> list[UniformType] | Blocked:
    """The types as which all users read integers; an unused result takes the type of the others."""
    types: list[UniformType | None] = []
    for value in values:
        users = [use.operation for use in value.uses]
        if not all(isinstance(user, StorageCastOp) for user in users):
            return Blocked("second-consumer", "the integers have a second consumer")
        read = {quantized_of(user.results[0].type) for user in users}
        if len(read) > 1:
            return Blocked("other-parameters", "the integers are read as two types")
        types += read or {None}
    known = [type for type in types if type is not None]
    return [type or known[0] for type in types]


def _rebuild(
    op: OnnxOp,
    promise: Commutes,
    types: Sequence[UniformType],
    above: Sequence[UniformType],
    rewriter: Rewriter,
    cast_class: type[QuantizeOp | StorageCastOp] = QuantizeOp,
) -> None:
    casts = [
        StorageCastOp(v, with_element(v.type, type)) if cast_class is StorageCastOp else QuantizeOp(v, type)
        for v, type in zip(promise.operand_values(op), above, strict=True)
    ]
    new = promise.rebuilt(op, [cast.results[0] for cast in casts], types)
    users = [use.operation for value in promise.result_values(op) for use in value.uses]
    rewriter.insert_before(op, [*casts, new])
    names = result_names(op)
    for place in promise.results(op):
        read_sizes_of(op.results[place], new.results[place], rewriter)
        mine = [u for u in users if isinstance(u, cast_class) and u.operands[0] is op.results[place]]
        if cast_class is QuantizeOp:  # the name of an unused one belonged to the real numbers
            names[place] = tensor_name(mine[0]) if mine else ""
        for cast in mine:
            rewriter.replace(cast, [], [new.results[place]])
    for place, value in enumerate(op.results):  # indices or a mask: otherwise the op would run twice
        if place not in promise.results(op) and value.first_use is not None:
            rewriter.replace_uses(value, new.results[place])
    new.location = location(node_name(op), names)


@dataclass(frozen=True)
class HoistQuantizePass(RewritePass):
    name = "hoist-quantize"
    exactness = Exactness.EXACT
    reasons = (
        "activation-per-axis block-size computed-parameter does-not-pay equal-elements interpolates "
        "mixed-scales not-a-number other-parameters other-type quantizer-between scales-along-axis "
        "second-consumer sides-differ slope unknown-shape zero-point"
    )
    rewrite = "qcast(f(x)) -> f(qcast(x)) for f that moves or selects: rounding commutes with moving"

    activations: bool = False
    """True to move above an activation of a float op's result too: lowering to QDQ moves the activation back."""
    rewritten: bool = False
    """True to count kernels of the ops that an op is written as, in QOperator form, as integer kernels."""

    selects: bool = True
    """True to move above ops that select or clamp, which changes the treatment of NaN and nothing else."""

    def patterns(self) -> Sequence[Pattern]:
        hoist = HoistQuantize(self.activations, self.rewritten, self.selects)
        constants = silent([QuantizeConstant(), RequantizeConstant(), ReadConstant()])
        return [hoist, HoistStorage(), HoistAcross(), *cleanups(), *constants]
