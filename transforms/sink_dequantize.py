"""
Move dequantizes below ops that move or select elements, which then run on integers.

    f(dcast(q), ...)  ->  dcast(f(q, ...))
    f(scast(q), ...)  ->  scast(f(q, ...))      f moves stored elements
    f(scast(scast(q)) : T)  ->  scast(scast(f(q))) : T      integers that are read as another type
    max(scast(q), z)  ->  scast(relu(q))        likewise Clip, Min and Pad of integers
    f(DequantizeLinear(c, s, z))  ->  DequantizeLinear(f(c), s', z')        constants in many blocks
    If(yield dcast(a), yield dcast(b))  ->  dcast(If(yield a, yield b))     both of one type; likewise scast, Loop, Scan

Exact: f computes nothing, so each element keeps its scale and zero point; per-axis parameters follow their axis.
"""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import quantized_of, storage_element, uniform_of, with_element
from qdialect.dialects.quant import DequantizeOp, StorageCastOp, UniformType
from qdialect.exactness import Exactness
from qdialect.forms.casts import Parameters, cast_op
from qdialect.forms.storage import StorageReading
from qdialect.ir.names import location, node_name, tensor_name
from qdialect.ir.values import constant
from qdialect.patterns.cleanup import cleanups
from qdialect.patterns.reading import SinkReading, cast_source
from qdialect.patterns.region_casts import SinkAcross
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm, described_type
from qdialect.reasons import OTHER_OPERAND, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnForm, OnTrait
from qdialect.rewriting.passes import RewritePass, Role

CAST_OPS = (DequantizeOp, StorageCastOp)
AMBIGUOUS = Blocked(
    "equal-elements", "two stored integers may dequantize to one float, so the op may select another element"
)


class SinkCast(OnTrait[Commutes]):
    """Rebuild an op on the integers under its operands' casts."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter) -> Blocked | None:
        places = promise.operands(op)
        cast = next((c for p in places for c in CAST_OPS if cast_source(op.operands[p], c) is not None), None)
        integers = cast is StorageCastOp
        if cast is None or (integers and not (promise.moves_storage and promise.results(op))):
            return None  # nothing but integers reaches it already
        sources = [cast_source(op.operands[p], cast) for p in places]
        if integers:
            sources = _constants_alike(promise.operand_values(op), sources, op, rewriter)
        if any(s is None for s in sources):
            return OTHER_OPERAND
        types = [t for s in sources if s is not None and (t := quantized_of(s.type)) is not None]
        if promise.points(op) and not all(t.round_trips for t in types):
            return AMBIGUOUS
        moved = unblocked(promise.forward(op, types))
        _rebuild(op, promise, [s for s in sources if s is not None], moved, cast, rewriter)
        return None


def _constants_alike(
    operands: Sequence[SSAValue], sources: Sequence[SSAValue | None], op: OnnxOp, rewriter: Rewriter
) -> list[SSAValue | None]:
    """Sources of the operands, with integer constants read as the common per-tensor type of the others."""
    types = {quantized_of(s.type) for s in sources if s is not None}
    type = types.pop()
    if types or type is None or not type.is_per_tensor or not type.storage.is_full_range:
        return list(sources)
    constants: list[SSAValue | None] = []
    for operand, source in zip(operands, sources, strict=True):
        if source is None and (tensor := constant(operand)) is not None:
            read = ConstantOp.of(tensor, with_element(operand.type, type))
            read.location = operand.owner.location if isinstance(operand.owner, ConstantOp) else read.location
            rewriter.insert_before(op, [read])
            source = read.results[0]
        constants.append(source)
    return constants


class ReadStorage(OnForm[StorageReading]):
    """A clamp or Pad of the integers under a storage cast, as the op on their type."""

    def match(self, op: OnnxOp, form: StorageReading, rewriter: Rewriter) -> None:
        sources = [s for o in op.operands if (s := cast_source(o, StorageCastOp)) is not None]
        if len(sources) != 1:
            return
        type = uniform_of(sources[0].type)
        built = unblocked(form.build(op, sources[0], type))
        new = built.ops[-1]
        new.location = op.location
        integers = with_element(op.results[0].type, storage_element(type))  # the model may leave it unknown
        rewriter.replace(op, [*built.ops, StorageCastOp(new.results[0], integers)])


class SinkNode(OnTrait[Commutes]):
    """An op on a dequantized constant that has more blocks than a type in the IR carries."""

    def match(self, op: OnnxOp, promise: Commutes, rewriter: Rewriter) -> None:
        values = promise.operand_values(op)
        source = values[0].owner if len(values) == 1 else None
        if not isinstance(source, OnnxOp) or source.get_trait(DequantizeForm) is None:
            return
        if not promise.moves_storage or any(constant(o) is None for o in source.operands):
            return
        type = described_type(source)
        if isinstance(type, Blocked) or not type.blocks:
            return
        moved = unblocked(promise.forward(op, [type]))
        new = promise.rebuilt(op, [source.operands[0]], [storage_element(t) for t in moved])
        name = tensor_name(source)
        new.location = location(node_name(op), [f"{name}_moved" if name else ""])
        casts: list[Operation] = []
        for place, one in zip(promise.results(op), moved, strict=True):
            casts.append(cast_op(False, new.results[place], one, Parameters(), op, name))
            casts[-1].location = location(node_name(source), [tensor_name(op, place)])
        rewriter.replace(op, [new, *casts], promise.read_by(new, casts))


def _rebuild(
    op: OnnxOp,
    promise: Commutes,
    sources: Sequence[SSAValue],
    types: Sequence[UniformType],
    cast: type[Operation],
    rewriter: Rewriter,
) -> None:
    new = promise.rebuilt(op, sources, types)
    if cast is StorageCastOp:
        new.location = op.location  # the name belongs to the integer tensor
    values = zip(promise.result_values(new), promise.result_values(op), types, strict=True)
    casts = [
        DequantizeOp(value)
        if cast is DequantizeOp
        else StorageCastOp(value, with_element(old.type, storage_element(type)))
        for value, old, type in values
    ]
    rewriter.replace(op, [new, *casts], promise.read_by(new, casts))


class SinkDequantizePass(RewritePass):
    name = "sink-dequantize"
    exactness = Exactness.EXACT
    role = Role.SINKING
    reasons = (
        "activation-per-axis block-size bound-outside computed-parameter empty-tensor equal-elements "
        "float-operand interpolates invalid-op invalid-parameters mixed-scales not-a-quantize "
        "scales-along-axis sides-differ slope too-large training-mode unknown-shape value-rounds "
        "zero-point"
    )
    rewrite = "f(dcast(q)) -> dcast(f(q)) for f that moves or selects: no element is computed anew"

    def patterns(self) -> Sequence[Pattern]:
        return [ReadStorage(), SinkCast(), SinkReading(), SinkNode(), SinkAcross(), *cleanups()]
