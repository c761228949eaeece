"""
Casts behind what only moves, where onnxruntime cannot put them itself.

onnxruntime moves a DequantizeLinear down past ops that only move elements, on each edge to a consumer. An edge into a
subgraph it does not see, and the session aborts; from opset 21 on it writes the casts of i8 with a type that it then
changes elsewhere, and refuses the model (1.31: measured). Behind a pair of the same type, which changes no number, it
stops.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue, Use

from qdialect.dialects.onnx_base import OnnxOp, opset_of
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, known_element, with_element
from qdialect.dialects.quant import UniformType
from qdialect.ir.names import location
from qdialect.ir.place import block_of
from qdialect.ir.values import rank_of
from qdialect.ir.walking import operations
from qdialect.ops.generated import op_named
from qdialect.promises.base import Commutes
from qdialect.promises.casts import DequantizeForm, QuantizeForm, dequantize_type
from qdialect.targets import target

SESSION = "onnxruntime"
TYPED_CASTS = 21
"""The first opset whose QuantizeLinear states the type of its result."""
I8 = BY_NUMPY["int8"].attribute


def pair_captured(module: ModuleOp) -> None:
    """Let subgraphs read what was dequantized and then moved behind a pair of casts of its own."""
    captured: dict[OpResult, list[Use]] = {}
    for op in operations(module):
        for k, value in enumerate(op.operands):
            if isinstance(value, OpResult) and value.op.parent is not op.parent:
                captured.setdefault(value, []).append(Use(op, k))
    for value, uses in captured.items():
        cast = _moved_cast(value)
        if cast is not None:
            _pair(value, cast, uses)


def pair_moved(module: ModuleOp) -> None:
    """Behind each op that moves dequantized i8, from opset `TYPED_CASTS` on: a pair of casts for who is no quantize."""
    moves = target(SESSION).moved_past  # sessions of onnxruntime load what is written for others too
    for op in operations(module):
        if not isinstance(op, OnnxOp) or op.op_type not in moves or (opset_of(op, "") or 13) < TYPED_CASTS:
            continue
        value = op.results[0]
        uses = [use for use in value.uses if use.operation.get_trait(QuantizeForm) is None]
        cast = _moved_cast(value)
        if (
            uses
            and cast is not None
            and cast is op.operands[0].owner
            and element_of(cast.operands[0].type) == I8
        ):
            _pair(value, cast, uses)


def _moved_cast(value: OpResult) -> OnnxOp | None:
    """The DequantizeLinear, per tensor, whose elements `value` is, moved by one op or more; None if there is none."""
    source: SSAValue = value
    while isinstance(source, OpResult) and isinstance(source.op, OnnxOp):
        promise = source.op.get_trait(Commutes)
        if promise is None:
            break
        places = promise.operands(source.op)
        if len(places) != 1:
            break
        source = source.op.operands[places[0]]
    cast = source.owner
    if source is value or not isinstance(cast, OnnxOp) or cast.get_trait(DequantizeForm) is None:
        return None
    type = dequantize_type(cast)
    known = isinstance(type, UniformType) and type.is_per_tensor and type.round_trips
    whole = len(cast.operands) == 3  # the zero point says the type
    return cast if known and whole and rank_of(source) is not None else None


def _pair(value: OpResult, cast: OnnxOp, uses: list[Use]) -> None:
    block, (integers, *parameters) = block_of(value.op), cast.operands
    element = known_element(integers.type)
    quantize: OnnxOp = op_named(cast.domain, "QuantizeLinear").build(
        [value, *parameters], [with_element(value.type, element)]
    )
    again = cast.__class__.build([quantize.results[0], *parameters], [value.type])
    made: list[Operation] = [quantize, again]
    for op in made:
        op.location = location("")
    block.insert_ops_after(made, value.op)
    for use in uses:
        use.operation.operands[use.index] = again.results[0]
