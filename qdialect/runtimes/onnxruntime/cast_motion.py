"""
Casts that a session moves, a DequantizeLinear down and a QuantizeLinear up past ops that only move elements, to places
where the model then fails or another output is rounded. A pair of casts of one type stops the move and changes no
number; so does a Sum of one operand.
"""
# Around the driver: the casts are written and no op changes its type: pairs and Sums are inserted between.

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue, Use
from xdsl.traits import IsTerminator

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import element_of, known_element, onnx_element, shape_of, with_element
from qdialect.dialects.quant import UniformType
from qdialect.ir.insertion import block_of
from qdialect.ir.names import QUANTIZED, location, node_name, wish
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.promises.casts import UNFOLDED, dequantize_type, quantize_type, written_dequantize
from qdialect.promises.clamping import are_alike
from qdialect.reasons import SCALE_VALUE, Blocked
from qdialect.runtimes.guards import part, summed
from qdialect.runtimes.onnxruntime.biases import I8, I32, TYPED_CASTS
from qdialect.runtimes.onnxruntime.casts import brought_dequantize, quantizes
from qdialect.targets import Target

MOVED = "_moved"
"""Suffix of the name of a value that a pair of casts reads."""


def part_captured(module: ModuleOp, session: Target) -> None:
    """Insert a Sum in front of subgraphs' uses of dequantized values that are moved, or quantized again."""
    captured: dict[OpResult, list[Use]] = {}
    for op in operations(module):
        for k, value in enumerate(op.operands):
            if isinstance(value, OpResult) and value.op.parent is not op.parent:
                captured.setdefault(value, []).append(Use(op, k))
    for value, uses in captured.items():
        if moved_cast(value, session) is not None:
            copy = summed(value, wish(value).removesuffix(MOVED))  # its name before a pair follows
            block_of(value.op).insert_ops_after([copy], value.op)
            for use in uses:
                use.operation.operands[use.index] = copy.results[0]
        elif isinstance(value.op, OnnxOp) and (first := first_moved(value.op, session)) is not None:
            for op in dict.fromkeys((first, value.op)):
                part(op, 0)


def first_moved(op: OnnxOp, session: Target) -> OnnxOp | None:
    """
    If `op` quantizes a dequantized value, possibly moved by ops in between, to its former type, signedness aside: the
    first op that moves it, or `op`; None otherwise.
    """
    if not quantizes(op) or (cast := brought_dequantize(op.operands[0], session)) is None:
        return None
    a, b = dequantize_type(cast), quantize_type(op)
    if isinstance(a, Blocked) or isinstance(b, Blocked) or not (a.is_per_tensor and b.is_per_tensor):
        return None
    while are_alike(a, b) and isinstance(above := op.operands[0].owner, OnnxOp):
        if above is cast:
            return op
        op = above
    return None


def pair_moved(module: ModuleOp, session: Target) -> None:
    """From opset 21 on, insert a pair of casts behind each op that moves dequantized i8, not for quantizes of it."""
    moves = session.moved_past
    for op in operations(module):
        if not isinstance(op, OnnxOp) or op.op_type not in moves or onnx_opset(op) < TYPED_CASTS:
            continue
        value = op.results[0]
        uses = [use for use in value.uses if not quantizes(use.operation)]
        cast = moved_cast(value, session)
        if uses and cast is not None and cast is op.operands[0].owner and _may_be_i8(cast.operands[0]):
            if isinstance(dequantize_type(cast), UniformType):
                _pair(value, cast, uses)
            else:  # a pair may change what it expresses
                part(op, 0)


def _may_be_i8(value: SSAValue) -> bool:
    """True for a tensor of i8, or of a type that an op which nobody describes gives its zero point."""
    return element_of(value.type) == I8 or onnx_element(value.type) is None


def part_outputs(module: ModuleOp, session: Target) -> None:
    """Insert a Sum between a float value that the graph returns and an op that moves its elements before a quantize."""
    moves = session.moved_past
    for op in operations(module):
        value = op.operands[0] if quantizes(op) else None
        while value is not None and isinstance(move := value.owner, OnnxOp) and move.op_type in moves:
            value = move.operands[0]
            returned = [use.operation.has_trait(IsTerminator) for use in value.uses]
            if returned.count(False) != 1 or written_dequantize(value) is not None:
                break  # a session moves no quantize in front of others' users
            if any(returned) and isinstance(value, OpResult):
                part(move, 0)
                break


def moved_i32(op: OnnxOp, session: Target) -> int | None:
    """0 for an op that moves dequantized i32: a session would quantize to i32 behind it."""
    cast = written_dequantize(op.operands[0]) if op.op_type in session.moved_past else None
    if cast is None or isinstance(cast.operands[0].owner, ConstantOp):
        return None
    return 0 if element_of(cast.operands[0].type) == I32 else None


def moved_cast(value: OpResult, session: Target) -> OnnxOp | None:
    """
    The DequantizeLinear, per tensor, that a session moves to `value` past at least one op; None if there is none.
    """
    cast = brought_dequantize(value, session)
    if cast is None or cast is value.op:
        return None
    type = dequantize_type(cast)
    known = isinstance(type, UniformType) and type.is_per_tensor and type.round_trips
    if type in (SCALE_VALUE, UNFOLDED):  # a session computes what depends on constants alone
        shape = shape_of(cast.operands[1].type)
        known = shape in ((), (1,)) or (shape is None and type == UNFOLDED)
    whole = len(cast.operands) == 3  # the zero point determines the type
    return cast if known and whole else None


def _pair(value: OpResult, cast: OnnxOp, uses: list[Use]) -> None:
    block, (integers, *parameters) = block_of(value.op), cast.operands
    # The name goes to the pair's result, which all other ops read.
    name = wish(value).removesuffix(MOVED)
    value.op.location = location(node_name(value.op), [name + MOVED])
    quantize = _quantized_beside(value, cast)
    if quantize is None:
        element = known_element(integers.type)
        quantize = op_named(cast.domain, "QuantizeLinear").build(
            [value, *parameters], [with_element(value.type, element)]
        )
        quantize.location = location(f"{name}_QuantizeLinear", [f"{name}{QUANTIZED}"])
    else:
        quantize.detach()
    again = cast.__class__.build([quantize.results[0], *parameters], [value.type])
    again.location = location(f"{name}_DequantizeLinear", [name])
    block.insert_ops_after([quantize, again], value.op)
    for use in uses:
        use.operation.operands[use.index] = again.results[0]


def _quantized_beside(value: OpResult, cast: OnnxOp) -> OnnxOp | None:
    """The first quantize of `value` in its block to the type of `cast`: another would be merged with it."""
    type = dequantize_type(cast)
    users = [use.operation for use in value.uses if use.operation.parent is value.op.parent]
    beside = [user for user in users if isinstance(user, OnnxOp) and quantizes(user)]
    alike: dict[Operation, OnnxOp] = {one: one for one in beside if quantize_type(one) == type}
    return next((alike[op] for op in block_of(value.op).ops if op in alike), None) if alike else None
