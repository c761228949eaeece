"""
Give 8-bit values the signedness that the target reads, and biases the form that it takes.

    q : i8, zero point z    ->  q xor 0x80 : u8, zero point z + 128    an activation, where activations are u8
    w : u8, zero point z    ->  w xor 0x80 : i8, zero point z - 128    a constant weight of a linear op
    q : u8, zero point 128  ->  q xor 0x80 : i8, zero point 0          any value, where zero points must be 0
    b : i32 of a linear op  ->  dequantize(b)                          where biases are float, or b is in other steps

Exact: the same real numbers under another reading of the byte; a bias as the numbers that its dequantize makes. Where
integers come in or go out as they are, a pair of casts stands at the boundary, and behind a result with a scale for
each channel, which sessions would try to fuse with operands of its type. A depthwise weight stays u8 unless its zero
point becomes 0: it would be slower. Where zero points must be 0, a u8 of any other stays, with a remark.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, quantized_of, storage_element, with_element
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, StorageCastOp, UniformType
from qdialect.ir.names import location, tensor_name
from qdialect.ir.values import real_constant
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.rewriting.driver import KEEP_FLOAT, refresh_signatures
from qdialect.rewriting.passes import Exactness
from qdialect.targets import target

HALF = 128
BIAS = 2
"""A linear op's operand."""


def signed(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers; None if `type` is not u8."""
    storage = type.storage
    if storage.width != 8 or storage.signed or type.blocks:
        return None
    return _reread(type, Storage.make(8, True, storage.low - HALF, storage.high - HALF), -HALF)


def unsigned(type: UniformType) -> UniformType | None:
    """The u8 type of the same real numbers; None if `type` is not i8."""
    storage = type.storage
    if storage.width != 8 or not storage.signed or type.blocks:
        return None
    return _reread(type, Storage.make(8, False, storage.low + HALF, storage.high + HALF), HALF)


def _reread(type: UniformType, storage: Storage, offset: int) -> UniformType:
    zero_points = type.zero_points + offset
    if type.axis is None:
        return UniformType.per_tensor(storage, type.scale, zero_points.item(), type.expressed)
    return UniformType.per_axis(storage, type.axis, type.scales, zero_points, type.expressed)


def _retype(value: SSAValue, type: UniformType) -> SSAValue:
    return Rewriter.replace_value_with_new_type(value, with_element(value.type, type))


def _requantize(value: SSAValue, type: UniformType, before: Operation) -> SSAValue:
    """`value` in another type of the same real numbers, by a pair of casts in front of `before`."""
    real = DequantizeOp(value)
    cast = QuantizeOp(real, type)
    assert before.parent is not None
    for op in (real, cast):
        op.location = location("")
    before.parent.insert_ops_before([real, cast], before)
    return cast.results[0]


def symmetric(type: UniformType) -> UniformType | None:
    """The i8 type of the same real numbers whose zero points are 0; None if there is none."""
    moved = signed(type)
    return None if moved is None or moved.zero_points.any() else moved


Change = Callable[[UniformType], UniformType | None]
"""The type of the same real numbers that the target reads; None where that is the one there is."""


def _enter(op: StorageCastOp, type: UniformType) -> None:
    """Integers that come in as they are: everybody but a dequantize takes them as the target reads them."""
    result = op.results[0]
    users = [use for use in result.uses if not isinstance(use.operation, DequantizeOp)]
    if not users or op.next_op is None:
        return
    moved = _requantize(result, type, op.next_op)
    for use in users:
        if not (isinstance(use.operation, StorageCastOp)):
            use.operation.operands[use.index] = moved


def _leave(op: StorageCastOp) -> None:
    """Integers that go out as they were."""
    now = quantized_of(op.operands[0].type)
    if now is None or storage_element(now) == element_of(op.results[0].type):
        return
    before = signed(now) or unsigned(now)
    if before is not None and storage_element(before) == element_of(op.results[0].type):
        op.operands[0] = _requantize(op.operands[0], before, op)


def _keep_apart(module: ModuleOp, change: Change, other: Change) -> set[SSAValue]:
    """
    The values with a scale for each channel that have to stay as they are now: of another type than the operands of
    the op that makes them, where those become what `change` gives. Sessions that fuse operands and a result of one
    type refuse such a result. `other`: the type that a result takes for that, if it is not of it already.
    """
    kept: set[SSAValue] = set()
    for op in list(module.walk()):
        maker = op.operands[0].owner if isinstance(op, QuantizeOp) else op
        if not isinstance(maker, OnnxOp) or maker.get_trait(Kernels) is None:
            continue
        changes = any(change(t) is not None for o in maker.operands if (t := _read_type(o)) is not None)
        for result in list(op.results):
            type = quantized_of(result.type)
            if type is None or type.is_per_tensor or not (changes or change(type)):
                continue
            moved = None if change(type) else other(type)
            kept.add(_apart(result if moved is None else _retype(result, moved), change, op))
    return kept


def _apart(value: SSAValue, change: Change, maker: Operation) -> SSAValue:
    """`value`, which who reads its integers takes by way of a pair of casts, as what they will be."""
    type, readers = quantized_of(value.type), (DequantizeOp, StorageCastOp)
    users = [use for use in value.uses if not isinstance(use.operation, readers)]
    moved = None if type is None else change(type)
    if users and moved is not None and maker.next_op is not None:
        again = _requantize(value, moved, maker.next_op)
        for use in users:
            use.operation.operands[use.index] = again
    return value


def _read_type(value: SSAValue) -> UniformType | None:
    """What an operand is quantized to, or dequantized from."""
    cast = value.owner
    return quantized_of((cast.operands[0] if isinstance(cast, DequantizeOp) else value).type)


def _only_leaves(value: SSAValue) -> bool:
    return all(isinstance(use.operation, StorageCastOp) for use in value.uses)


def _is_weight(op: Operation, index: int) -> bool:
    return op.get_trait(Linear) is not None and index > 0


def _flipped(
    value: SSAValue, source: ConstantOp, type: UniformType, done: dict[SSAValue, SSAValue]
) -> SSAValue:
    """A constant under the other reading of its bytes."""
    if value not in done:
        assert source.value is not None
        values = numerics.flip_signedness(source.value.array())
        new = ConstantOp.of(from_array(values), with_element(value.type, type))
        new.location = location("", [f"{tensor_name(source)}_{type.storage.name}"])
        block = source.parent
        assert block is not None
        block.insert_op_after(new, source)
        done[value] = new.results[0]
    return done[value]


def _constants(op: Operation, change: Change, weights: bool, done: dict[SSAValue, SSAValue]) -> None:
    """Constants among activations are read as activations are; so are weights, or they keep their own type."""
    for k, operand in enumerate(op.operands):
        source = operand.owner
        type = quantized_of(operand.type)
        if type is None or not isinstance(source, ConstantOp) or source.value is None:
            continue
        rows = k == 0 and op.get_trait(Linear) is not None and not type.is_per_tensor  # a weight on the left
        moved = None if (_is_weight(op, k) or rows) and not weights else change(type)
        if moved is not None:
            op.operands[k] = _flipped(operand, source, moved, done)


def _read_again(op: StorageCastOp, change: Change) -> bool:
    """
    Retype integers that leave one type only to be read as others, and whatever reads them, if each may change.

    What makes them is retyped as any value is.
    """
    before, maker = quantized_of(op.operands[0].type), op.operands[0].owner
    readers = [use.operation for use in op.results[0].uses]
    if not isinstance(maker, OnnxOp | QuantizeOp) or isinstance(maker, ConstantOp):
        return False
    if not op.operands[0].has_one_use() or not readers:
        return False
    moved = None if before is None else change(before)
    into = [quantized_of(r.results[0].type) if isinstance(r, StorageCastOp) else None for r in readers]
    changed = [None if type is None else change(type) for type in into]
    if moved is None or None in changed:
        return False
    Rewriter.replace_value_with_new_type(
        op.results[0], with_element(op.results[0].type, storage_element(moved))
    )
    for reader, type in zip(readers, changed, strict=True):
        assert type is not None
        _retype(reader.results[0], type)
    return True


def _retype_values(module: ModuleOp, change: Change, kept: set[SSAValue], *, weights: bool) -> None:
    """Every value but the `kept` that `change` has another type for; `weights`: those of linear ops too."""
    leaving: list[StorageCastOp] = []
    returned = [(op, op.operand_types) for op in module.walk() if isinstance(op, ReturnOp)]
    done: dict[SSAValue, SSAValue] = {}
    read_again = {
        op.operands[0]
        for op in list(module.walk())
        if isinstance(op, StorageCastOp) and _read_again(op, change)
    }
    for op in list(module.walk()):
        if isinstance(op, ConstantOp):
            continue
        if isinstance(op, StorageCastOp) and quantized_of(op.operands[0].type) is not None:
            leaving.append(op)
            continue
        if isinstance(op, OnnxOp) or (weights and isinstance(op, DequantizeOp)):
            _constants(op, change, weights, done)
        for argument in (
            [a for region in op.regions for a in region.block.args] if isinstance(op, OnnxOp) else ()
        ):
            type = quantized_of(argument.type)
            if type is not None and (moved := change(type)) is not None:
                _retype(argument, moved)
        for result in list(op.results):
            type = quantized_of(result.type)
            moved = None if type is None or result in kept else change(type)
            if moved is None:
                continue
            if isinstance(op, StorageCastOp):
                _enter(op, moved)
            elif isinstance(op, OnnxOp) or (
                isinstance(op, QuantizeOp) and (result in read_again or not _only_leaves(result))
            ):
                _retype(result, moved)
    for op in leaving:
        if quantized_of(op.operands[0].type) is not None:
            _leave(op)
    for op, types in returned:
        for k, (value, type) in enumerate(zip(list(op.operands), types, strict=True)):
            if value.type != type and (old := quantized_of(type)) is not None:
                op.operands[k] = _requantize(value, old, op)


def _to_signed_weights(module: ModuleOp, change: Change) -> None:
    done: dict[SSAValue, SSAValue] = {}
    for op in list(module.walk()):
        linear = op.get_trait(Linear)
        if linear is None or not isinstance(op, OnnxOp) or KEEP_FLOAT in op.attributes:
            continue
        x, w = (quantized_of(o.type) for o in op.operands[:2])
        source, groups = op.operands[1].owner, op.int_attr("group", 1)
        if x is None or w is None or not isinstance(source, ConstantOp) or source.value is None:
            continue
        moved = change(w)
        if moved is None or (groups > 1 and linear.is_depthwise(op, groups) and moved.zero_points.any()):
            continue
        op.operands[1] = _flipped(op.operands[1], source, moved, done)


def _bias_constant(op: OnnxOp, index: int, every: bool) -> ConstantOp | None:
    """
    The quantized constant that an operand is, or is dequantized from, if it is a bias.

    Not `every`: only one that is not in steps of x_scale * w_scale, which has not become an operand itself.
    """
    value, linear = op.operands[index], op.get_trait(Linear)
    source = value.owner.operands[0].owner if isinstance(value.owner, DequantizeOp) else value.owner
    if not isinstance(source, ConstantOp) or source.value is None:
        return None
    type = quantized_of(source.results[0].type)
    if type is None or (not every and source is value.owner):
        return None
    if linear is not None and linear.has_bias and index == BIAS:
        return source
    # i32 is a bias too where an addition of its own adds it.
    return source if every and type.storage.name == "i32" else None


def _to_float_biases(module: ModuleOp, *, every: bool) -> None:
    done: dict[Operation, SSAValue] = {}
    for op in list(module.walk()):
        for k in range(len(op.operands)) if isinstance(op, OnnxOp) else ():
            assert isinstance(op, OnnxOp)
            source = _bias_constant(op, k, every)
            if source is None:
                continue
            if source not in done:
                done[source] = _real(source)
            op.operands[k] = done[source]


def _real(source: ConstantOp) -> SSAValue:
    """What a dequantize of a quantized constant makes, as a constant beside it."""
    type, array = quantized_of(source.results[0].type), real_constant(source.results[0])
    assert type is not None
    assert array is not None
    values = array.astype(BY_ATTRIBUTE[type.expressed].dtype)
    new = ConstantOp.of(from_array(values), with_element(source.results[0].type, type.expressed))
    new.location = location("", [f"{tensor_name(source)}_real"])
    assert source.parent is not None
    source.parent.insert_op_after(new, source)
    return new.results[0]


@dataclass(frozen=True)
class LegalizePass(ModulePass):
    """Types become what the target's kernels are made for."""

    name = "legalize"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = "q : i8, z -> q xor 0x80 : u8, z + 128: the same real numbers"

    target: str = "onnxruntime"
    weights: bool = True
    """Whether weights and biases become the target's too: its integer sums want weights of the other signedness."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = target(self.target)
        if found.bias == "i32" or (self.weights and found.bias is not None):
            _to_float_biases(op, every=found.bias == "float")
        if self.weights and found.weights == "i8":
            _to_signed_weights(op, symmetric if found.symmetric_weights else signed)
        if found.activations == "i8":
            _retype_values(op, symmetric, set(), weights=self.weights)
        if found.activations == "u8":
            kept = _keep_apart(op, unsigned, signed)
            _retype_values(op, unsigned, kept, weights=False)
        refresh_signatures(op)
