"""
Workarounds for onnxruntime's own moves of casts, which fail at captured values and some other places.

When onnxruntime creates a session it moves a DequantizeLinear down past ops that only move elements, on each edge to a
consumer, and a QuantizeLinear up. A pair of casts of one type stops it and changes no number; so does a Sum of one
operand. These cases go wrong (onnxruntime 1.31, 1.32: measured):

- it misses edges into subgraphs, and the session aborts: `part_captured`, also of a quantize of a dequantize of the
  same type, signedness aside, which it drops, and with it moves between them that others undo;
- it makes a MatMulNBits of a product in a subgraph, and aborts if the integers, scales or zero points of the weight are
  captured: `_captured_weight`;
- from opset 21 on it writes the moved casts of i8 with a type that it then changes elsewhere, and rejects the model:
  `pair_moved`, or a Sum for a scale that is zero, negative or not finite;
- it moves a quantize in front of a Transpose, or several moves, and then returns rounded numbers if the unrounded ones
  are a graph output too: `part_outputs`;
- it moves a dequantize of i32 like any other, and rejects the model, since no quantize gives i32: `_moved_i32`;
- it fuses a MatMul and the Add of dequantized int32 into an integer Gemm, and takes the int32 for a bias in steps of
  x_scale * w_scale whatever its scale is: `_other_bias`;
- it fuses a Conv or Gemm of casts whatever axis the scales of the weight run along, as if along the outputs, and these
  and MatMul if the weight is i32, to kernels that take none: `_other_filter`;
- it turns a batched MatMul and the Add of a vector into a Gemm behind a Reshape, past which it also moves the cast,
  unless the Add has an operand of the result's rank: `widen_biases`.
"""
# Around the driver: the casts are written and no op changes its type: pairs and constants are inserted between.

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue, Use
from xdsl.traits import IsTerminator

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, known_element, shape_of, with_element
from qdialect.dialects.quant import UniformType
from qdialect.ir.names import QUANTIZED, location, node_name, wish
from qdialect.ir.place import block_of, insert_before, remove
from qdialect.ir.values import constant, rank_of
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.patterns.unfused import SESSION, brought_dequantize, moved_dequantize, part, summed
from qdialect.promises.casts import QuantizeForm, dequantize_type, quantize_type, written_dequantize
from qdialect.promises.clamping import are_alike
from qdialect.promises.elementwise import Adds
from qdialect.promises.linear import Linear, bias_matches
from qdialect.promises.weight_only import WeightOnly
from qdialect.promises.window import Window
from qdialect.reasons import SCALE_VALUE, Blocked
from qdialect.targets import target

MOVED = "_moved"
"""Suffix of the name of a value that a pair of casts reads."""
TYPED_CASTS = 21
"""The first opset whose QuantizeLinear has `output_dtype`, the type of its result."""
I8 = BY_NUMPY["int8"].attribute
BYTES = I8, BY_NUMPY["uint8"].attribute
I32 = BY_NUMPY["int32"].attribute


def part_captured(module: ModuleOp) -> None:
    """Insert a Sum in front of subgraphs' uses of dequantized values that are moved, or quantized again."""
    captured: dict[OpResult, list[Use]] = {}
    for op in operations(module):
        for k, value in enumerate(op.operands):
            if isinstance(value, OpResult) and value.op.parent is not op.parent:
                captured.setdefault(value, []).append(Use(op, k))
    for value, uses in captured.items():
        if _moved_cast(value) is not None:
            copy = summed(value, wish(value).removesuffix(MOVED))  # its name before a pair follows
            block_of(value.op).insert_ops_after([copy], value.op)
            for use in uses:
                use.operation.operands[use.index] = copy.results[0]
        elif isinstance(value.op, OnnxOp) and (first := _first_moved(value.op)) is not None:
            for op in dict.fromkeys((first, value.op)):
                part(op, 0)


def part_operands(module: ModuleOp) -> None:
    """Insert a Sum in front of each operand that a rule of `PARTED` names."""
    for op in operations(module):
        for place_of in PARTED:
            if isinstance(op, OnnxOp) and (place := place_of(op)) is not None:
                part(op, place)


def _captured_weight(op: OnnxOp) -> int | None:
    """Index of the dequantized weight, of captured constants, of a product in a subgraph."""
    promise = op.get_trait(WeightOnly)
    if promise is None or promise.guard(op) is not None:
        return None
    cast = written_dequantize(op.operands[1])
    if cast is None or cast.parent is not op.parent or not _captures(cast):
        return None
    activation = brought_dequantize(op.operands[0])
    is_integer = activation is not None and element_of(activation.operands[0].type) in BYTES
    is_quantized = any(_quantizes(use.operation) for use in op.results[0].uses)
    return 1 if not is_quantized and (not is_integer or cast.int_attr("block_size", 0)) else None


def _captures(op: Operation) -> bool:
    """True if `op` reads a constant of an outer graph."""
    owners = [value.owner for value in op.operands]
    return any(isinstance(owner, ConstantOp) and owner.parent is not op.parent for owner in owners)


def _first_moved(op: OnnxOp) -> OnnxOp | None:
    """
    If `op` quantizes a dequantized value, possibly moved by ops in between, to its former type, signedness aside: the
    first op that moves it, or `op`; None otherwise.
    """
    if not _quantizes(op) or (cast := brought_dequantize(op.operands[0])) is None:
        return None
    a, b = dequantize_type(cast), quantize_type(op)
    if isinstance(a, Blocked) or isinstance(b, Blocked) or not (a.is_per_tensor and b.is_per_tensor):
        return None
    while are_alike(a, b) and isinstance(above := op.operands[0].owner, OnnxOp):
        if above is cast:
            return op
        op = above
    return None


def pair_moved(module: ModuleOp) -> None:
    """From opset 21 on, insert a pair of casts behind each op that moves dequantized i8, not for quantizes of it."""
    moves = target(SESSION).moved_past
    for op in operations(module):
        if not isinstance(op, OnnxOp) or op.op_type not in moves or onnx_opset(op) < TYPED_CASTS:
            continue
        value = op.results[0]
        uses = [use for use in value.uses if not _quantizes(use.operation)]
        cast = _moved_cast(value)
        if (
            uses
            and cast is not None
            and cast is op.operands[0].owner
            and element_of(cast.operands[0].type) == I8
        ):
            if dequantize_type(cast) == SCALE_VALUE:  # a pair may change what it expresses
                part(op, 0)
            else:
                _pair(value, cast, uses)


def _quantizes(op: Operation) -> bool:
    return op.get_trait(QuantizeForm) is not None


def part_outputs(module: ModuleOp) -> None:
    """Insert a Sum between a float value that the graph returns and an op that moves its elements before a quantize."""
    moves = target(SESSION).moved_past
    for op in operations(module):
        value = op.operands[0] if _quantizes(op) else None
        while value is not None and isinstance(move := value.owner, OnnxOp) and move.op_type in moves:
            value = move.operands[0]
            returned = [use.operation.has_trait(IsTerminator) for use in value.uses]
            if returned.count(False) != 1 or written_dequantize(value) is not None:
                break  # a session moves no quantize in front of others' users
            if any(returned) and isinstance(value, OpResult):
                part(move, 0)
                break


def _moved_i32(op: OnnxOp) -> int | None:
    """0 for an op that moves dequantized i32: a session would quantize to i32 behind it."""
    cast = written_dequantize(op.operands[0]) if op.op_type in target(SESSION).moved_past else None
    if cast is None or isinstance(cast.operands[0].owner, ConstantOp):
        return None
    return 0 if element_of(cast.operands[0].type) == I32 else None


def _other_bias(op: OnnxOp) -> int | None:
    """Index of dequantized i32, not in steps of x_scale * w_scale, that is added to a product."""
    for place, value in enumerate(op.operands if op.get_trait(Adds) is not None else ()):
        cast, product = written_dequantize(value), op.operands[1 - place].owner
        linear = promise_of(product, Linear)
        if cast is None or linear is None or not isinstance(product, OnnxOp) or linear.has_bias:
            continue
        if element_of(cast.operands[0].type) == I32 and _has_other_steps(cast, product):
            return place
    return None


def _has_other_steps(bias: OnnxOp, product: OnnxOp) -> bool:
    """True if a dequantized bias is not known to be in steps of x_scale * w_scale of a dequantized product."""
    casts = [moved_dequantize(value) for value in product.operands[:2]]
    x, w, b = (None if cast is None else dequantize_type(cast) for cast in (*casts, bias))
    if x is None or w is None:
        return False
    if not (isinstance(x, UniformType) and isinstance(w, UniformType) and isinstance(b, UniformType)):
        return True
    return not bias_matches(x, w, b)


def _other_filter(op: OnnxOp) -> int | None:
    """
    Index of a linear op's dequantized weight if it is i32, or has scales along another axis than the outputs: products
    without bias aside, which `keep_unfused` knows more of.
    """
    linear, window = op.get_trait(Linear), op.get_trait(Window)
    if linear is None or (window is not None and not window.gathers):
        return None
    cast = written_dequantize(op.operands[1])
    if cast is None or brought_dequantize(op.operands[0]) is None:
        return None
    type = dequantize_type(cast)
    is_turned = isinstance(type, UniformType) and type.axis not in (None, linear.weight_axis(op))
    return 1 if (is_turned and linear.has_bias) or element_of(cast.operands[0].type) == I32 else None


PARTED = (_captured_weight, _moved_i32, _other_bias, _other_filter)
"""Rules for an operand that a Sum parts from its op, each with the index of that operand."""


def widen_biases(module: ModuleOp) -> None:
    """
    Reshape the vector added to an i8 matrix product to the result's rank, from opset `TYPED_CASTS` on; a Sum parts a
    dequantized one from the product, or one of a product's own rank.
    """
    for op in operations(module):
        if not isinstance(op, OnnxOp) or op.get_trait(Adds) is None or onnx_opset(op) < TYPED_CASTS:
            continue
        bias, product = sorted(op.operands, key=_is_product_of_i8)
        rank, tensor = rank_of(product), constant(bias)
        if rank is None or rank_of(bias) != 1 or not _is_product_of_i8(product):
            continue
        if tensor is None or rank == 1:
            if tensor is not None or written_dequantize(bias) is not None:
                part(op, list(op.operands).index(product))
            continue
        wide = ConstantOp.of(from_array(tensor.array().reshape([1] * (rank - 1) + [-1])))
        if isinstance(bias.owner, Operation) and bias.has_one_use():
            wide.location = bias.owner.location
        insert_before(op, wide)
        op.operands[0], op.operands[1] = [wide.results[0] if v is bias else v for v in op.operands]
        if bias.first_use is None and isinstance(bias.owner, Operation):
            remove(bias.owner)


def _is_product_of_i8(value: SSAValue) -> bool:
    """True if `value` is a product, without a bias, of dequantized i8 that is no matrix."""
    product = value.owner
    if not isinstance(product, OnnxOp):
        return False
    linear = product.get_trait(Linear)
    if linear is None or linear.has_bias:
        return False
    first = product.operands[0]
    cast, rank = written_dequantize(first), rank_of(first)
    return cast is not None and element_of(cast.operands[0].type) == I8 and rank != 2


def _moved_cast(value: OpResult) -> OnnxOp | None:
    """
    The DequantizeLinear, per tensor, that a session moves to `value` past at least one op; None if there is none.
    """
    cast = brought_dequantize(value)
    if cast is None or cast is value.op:
        return None
    type = dequantize_type(cast)
    known = isinstance(type, UniformType) and type.is_per_tensor and type.round_trips
    if type == SCALE_VALUE:
        known = shape_of(cast.operands[1].type) in ((), (1,))
    whole = len(cast.operands) == 3  # the zero point determines the type
    return cast if known and whole else None


def _pair(value: OpResult, cast: OnnxOp, uses: list[Use]) -> None:
    block, (integers, *parameters) = block_of(value.op), cast.operands
    # For the pair's result, which is the value when the model is read again, but for another quantize of it.
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
    quantizes = [user for user in users if isinstance(user, OnnxOp) and _quantizes(user)]
    alike: dict[Operation, OnnxOp] = {one: one for one in quantizes if quantize_type(one) == type}
    return next((alike[op] for op in block_of(value.op).ops if op in alike), None) if alike else None
