"""
Decomposition of LSTM, GRU and RNN: one product with the input of all steps, and a Scan over the steps.

    gates[t] = x[t] W' + h[t-1] R' + b      x W' + b for all t at once, h R' inside
    LSTM     c[t] = f * c[t-1] + i * g      h[t] = o * tanh(c[t])
    GRU      h[t] = (1 - z) * n + z * h[t-1]                     n from r * h[t-1], or from r * (h[t-1] R' + b)
    RNN      h[t] = tanh(gates)

Each product, gate and state is a tensor with a name of its own, so that it can have quantization parameters of its own.
The formulas and the order of the gates are those of the operators' definitions in ONNX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from qdialect.dialects.onnx_attributes import int_attr, ints_attr
from qdialect.dialects.onnx_base import OnnxOp, YieldOp, onnx_opset
from qdialect.dialects.onnx_types import (
    BY_NUMPY,
    DYNAMIC,
    element_of,
    known_element,
    known_shape,
    shape_of,
    tensor_type,
)
from qdialect.forms.activations import Activation, activations_of
from qdialect.forms.builder import Builder
from qdialect.forms.cells import KINDS, Cell, Kind, Product, by_matrix
from qdialect.forms.composition import Decomposed, Decomposes
from qdialect.ir.values import constant_array, static_shape
from qdialect.reasons import UNKNOWN_RANK, Blocked, unblocked

FLOAT = BY_NUMPY["float32"].attribute
FIRST_SCAN = 9
"""The first opset whose Scan has no batches of its own."""
FIRST_RANGE = 11
"""The first opset with Range; ReverseSequence is older."""
DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
PEEPHOLES = Blocked("recurrent-form", "the LSTM has peephole weights", "export without peepholes")


class RecurrentLayer(NamedTuple):
    """A recurrent op as read: its kind, operands, functions, and sizes (DYNAMIC if unknown); time is the first axis."""

    op: OnnxOp
    kind: Kind
    build: Builder
    steps: int
    batch: int
    hidden: int
    reverse: Sequence[bool]
    activations: Sequence[Sequence[Activation]]
    lengths: SSAValue | None = None
    resets_last: bool = False
    """GRU: True if the reset gate follows the product (`linear_before_reset`)."""

    @property
    def batch_first(self) -> bool:
        """True if the batch is the first axis of operands and results."""
        return self.op.int_attr("layout", 0) == 1

    def cell(
        self, build: Builder, direction: int, products: Sequence[Product], bias: SSAValue | None = None
    ) -> Cell:
        """Parameters of a step of one direction, built by `build`. bias: of the products, if not of the input's."""
        clip, coupled = self.op.float_attr("clip", 0.0), self.op.int_attr("input_forget", 0) == 1
        return Cell(build, products, bias, self.activations[direction], clip, coupled)

    @property
    def roles(self) -> list[str]:
        """Names of the directions."""
        return ["reverse" if back else "forward" for back in self.reverse]


def read_layer(op: OnnxOp, kind: Kind) -> RecurrentLayer | Blocked:
    """The layer of `op`, or `Blocked` for unsupported attributes, types or shapes."""
    opset = onnx_opset(op)
    x, weight, recurrent = shape_of(op.operands[0].type), op.input(1), op.input(2)
    if op.input(7) is not None:
        return PEEPHOLES
    if element_of(op.operands[0].type) != FLOAT:
        return Blocked("expressed-type", f"only {op.op_type} in f32 is decomposed")
    if opset < FIRST_SCAN:
        return Blocked("opset", f"Scan over steps needs opset {FIRST_SCAN}", "raise the model's opset")
    if x is None or len(x) != 3:
        return UNKNOWN_RANK
    known = static_shape(recurrent) if recurrent is not None else None
    if weight is None or static_shape(weight) is None or known is None or len(known) != 3:
        return Blocked("unknown-shape", "the sizes of the weights are not known")
    reverse = DIRECTIONS.get(op.str_attr("direction", "forward"))
    if reverse is None or known[:2] != (len(reverse), len(kind.gates) * known[2]):
        return Blocked(
            "invalid-op",
            f"a recurrent weight of {known} does not have one part for each gate",
            "check the model",
        )
    activations = unblocked(activations_of(op, kind.activations, len(reverse)))
    steps, batch = (x[1], x[0]) if op.int_attr("layout", 0) == 1 else (x[0], x[1])
    lengths = op.input(4)
    if lengths is not None and steps != DYNAMIC and (counts := constant_array(lengths)) is not None:
        lengths = None if (counts == steps).all() else lengths
    if lengths is not None and opset < FIRST_RANGE:
        return Blocked(
            "opset", f"sequences of several lengths need opset {FIRST_RANGE}", "raise the model's opset"
        )
    last = bool(op.int_attr("linear_before_reset", 0))
    return RecurrentLayer(op, kind, Builder(op), steps, batch, known[2], reverse, activations, lengths, last)


def _input_weight(layer: RecurrentLayer) -> SSAValue:
    """W of all directions, transposed: [inputs, directions * gates]."""
    build, weight = layer.build, layer.op.operands[1]
    directions, gates, inputs = known_shape(weight.type)
    if directions == 1:
        return build.transpose(build.pick(weight, 0), (1, 0))
    columns = build.constant(np.array([inputs, directions * gates]))
    return build.one("Reshape", [build.transpose(weight, (2, 0, 1)), columns], (inputs, directions * gates))


def _projected(layer: RecurrentLayer, x: SSAValue) -> tuple[list[SSAValue], list[SSAValue | None]]:
    """x W' + b of all steps in one product, by direction; and the biases to add to the recurrent products."""
    build, count = layer.build, len(layer.reverse)
    right = _input_weight(layer)
    columns = known_shape(right.type)[1]
    total = build.one("MatMul", [x, right], (layer.steps, layer.batch, columns), "input_product")
    inner: list[SSAValue | None] = [None] * count
    if (bias := layer.op.input(3)) is not None:
        outer, recurrent = build.split(bias, 2, 1)
        if layer.resets_last:
            inner = [build.pick(recurrent, k) for k in range(count)]
        else:
            outer = build.one("Add", [outer, recurrent])
        flat = build.one("Reshape", [outer, build.constant(np.array([columns]))], (columns,))
        total = build.one("Add", [total, flat], role="input_sum")
    return build.split(total, count, 2, [f"{role}/input" for role in layer.roles]), inner


def _recurrent_weights(layer: RecurrentLayer, direction: int) -> list[SSAValue]:
    """R transposed, [hidden, gates * hidden]; for a GRU whose reset gate comes first, the new gate's part apart."""
    build, weight = layer.build, layer.op.operands[2]
    whole = build.transpose(build.pick(weight, direction), (1, 0))
    if layer.kind is not KINDS["GRU"] or layer.resets_last:
        return [whole]
    update, reset, new = build.split(whole, 3, 1)
    both = build.one("Concat", [update, reset], (layer.hidden, 2 * layer.hidden), axis=int_attr(1))
    return [both, new]


def _shape_of(build: Builder, value: SSAValue, axis: int) -> SSAValue:
    """One size of a tensor, as a list of one integer."""
    rank = len(known_shape(value.type))
    listed = build.one("Shape", [value], (rank,), element=i64)
    place = build.constant(np.array([axis]))
    return build.one("Gather", [listed, place], (1,), axis=int_attr(0))


def _initial(layer: RecurrentLayer, x: SSAValue) -> list[list[SSAValue]]:
    """Initial states by direction, [batch, hidden], zero if the op has none."""
    build, rows = layer.build, [list[SSAValue]() for _ in layer.reverse]
    zero: SSAValue | None = None
    for place, _ in enumerate(layer.kind.states, 5):
        initial = layer.op.input(place)
        if initial is None and zero is None:
            zero = _zeros(layer, x)
        if initial is not None:
            initial = _typed(initial, layer, len(layer.reverse))
            initial = build.transpose(initial, (1, 0, 2)) if layer.batch_first else initial
        for k, states in enumerate(rows):
            state = zero if initial is None else build.pick(initial, k)
            assert state is not None
            states.append(state)
    return rows


def _typed(value: SSAValue, layer: RecurrentLayer, directions: int) -> SSAValue:
    """An initial state with the sizes of the layer in its type, by a copy if its own type lacks them."""
    shape = (directions, layer.batch, layer.hidden)
    if layer.batch_first:
        shape = (layer.batch, directions, layer.hidden)
    return (
        value if shape_of(value.type) == shape else layer.build.one("Identity", [value], shape, element=FLOAT)
    )


def _zeros(layer: RecurrentLayer, x: SSAValue) -> SSAValue:
    build = layer.build
    if layer.batch != DYNAMIC:
        return build.constant(np.zeros((layer.batch, layer.hidden), np.float32))
    parts = [_shape_of(build, x, 1), build.constant(np.array([layer.hidden]))]
    shape = build.one("Concat", parts, (2,), axis=int_attr(0))
    return build.one("ConstantOfShape", [shape], (DYNAMIC, layer.hidden), element=FLOAT)


def _counts(layer: RecurrentLayer) -> SSAValue:
    """The lengths of the sequences as i64."""
    assert layer.lengths is not None
    return layer.build.one("Cast", [layer.lengths], (layer.batch,), element=i64, to=int_attr(7))


def _mask(layer: RecurrentLayer, x: SSAValue) -> SSAValue:
    """Mask of the steps within each sequence's length, booleans [steps, batch, 1]."""
    build, steps = layer.build, layer.steps
    if steps != DYNAMIC:
        times = build.constant(np.arange(steps).reshape(-1, 1))
    else:
        count = build.one(
            "Gather", [_shape_of(build, x, 0), build.constant(np.array(0))], (), axis=int_attr(0)
        )
        ends = [build.constant(np.array(0)), count, build.constant(np.array(1))]
        times = build.unsqueeze(build.one("Range", ends, (steps,)), 1, (steps, 1))
    is_there = build.one("Less", [times, _counts(layer)], (steps, layer.batch), element=IntegerType(1))
    return build.unsqueeze(is_there, 2, (steps, layer.batch, 1))


def _or_zero(layer: RecurrentLayer, state: SSAValue) -> SSAValue:
    """A last state, zero for a sequence without steps: onnxruntime returns zero, not the initial state."""
    build, batch, whole = layer.build, layer.batch, _counts(layer)
    is_there = build.one("Less", [build.constant(np.array(0)), whole], (batch,), element=IntegerType(1))
    column = build.unsqueeze(is_there, 1, (batch, 1))
    zero = build.constant(np.array(0, np.float32))
    return build.one("Where", [column, state, zero], (batch, layer.hidden), element=FLOAT)


def _directed(layer: RecurrentLayer, values: Sequence[SSAValue]) -> list[SSAValue]:
    """Values [steps, batch, ...] by direction; each sequence reversed for the reverse one, if Scan cannot."""
    first, second = int_attr(0), int_attr(1)
    return [
        layer.build.one("ReverseSequence", [value, _counts(layer)], time_axis=first, batch_axis=second)
        if back and layer.lengths is not None
        else value
        for value, back in zip(values, layer.reverse, strict=True)
    ]


class Loop(NamedTuple):
    """Operands of the Scan and arguments of its body, by direction."""

    states: Sequence[Sequence[SSAValue]]
    inputs: Sequence[SSAValue]
    mask: SSAValue | None


def _row(value: SSAValue) -> Attribute:
    """The type of a slice along the first axis."""
    return tensor_type(known_element(value.type), known_shape(value.type)[1:])


def _body(
    layer: RecurrentLayer, loop: Loop, inner: Sequence[SSAValue | None], weights: Sequence[Sequence[SSAValue]]
) -> Region:
    """One step of every direction: states in, inputs in; states out, outputs out."""
    state = tensor_type(FLOAT, (layer.batch, layer.hidden))
    flat = [state for states in loop.states for _ in states]
    scanned = [value for value in (*loop.inputs, loop.mask) if value is not None]
    rows = [_row(v) for v in scanned]
    block = Block(arg_types=[*flat, *rows])
    places = iter(block.args)
    before = [[next(places) for _ in states] for states in loop.states]
    x, mask = [next(places) for _ in loop.inputs], next(places, None)
    body = layer.build.within()
    ends, outputs = list[SSAValue](), list[SSAValue]()
    for k, role in enumerate(layer.roles):
        build = layer.build.within(role)
        cell = layer.cell(build, k, [by_matrix(weight) for weight in weights[k]], inner[k])
        after = layer.kind.step(cell, x[k], before[k])
        output = after[0]
        if mask is not None:
            zero = build.constant(np.array(0, np.float32))
            output = build.one("Where", [mask, after[0], zero], state.get_shape(), element=FLOAT)
            pairs = zip(after, before[k], strict=True)
            after = [
                build.one("Where", [mask, new, old], state.get_shape(), element=FLOAT) for new, old in pairs
            ]
        ends += after
        outputs.append(output)
        body.ops += build.ops
    block.add_ops([*body.ops, YieldOp.create(operands=[*ends, *outputs])])
    return Region(block)


def _scanned(
    layer: RecurrentLayer, loop: Loop, region: Region
) -> tuple[list[list[SSAValue]], list[SSAValue]]:
    """The states after the last step, and the hidden states of all steps, by direction."""
    count = len(layer.reverse)
    state = tensor_type(FLOAT, (layer.batch, layer.hidden))
    rows = tensor_type(FLOAT, (layer.steps, layer.batch, layer.hidden))
    directed = [int(back and layer.lengths is None) for back in layer.reverse]
    masks = [] if loop.mask is None else [loop.mask]
    attributes: dict[str, Attribute] = {"num_scan_inputs": int_attr(count + len(masks))}
    if any(directed):
        attributes["scan_input_directions"] = ints_attr((*directed, *[0] * len(masks)))
        attributes["scan_output_directions"] = ints_attr(tuple(directed))
    roles = [f"{role}/last_{name}" for role in layer.roles for name in layer.kind.states]
    results = layer.build.all(
        "Scan",
        [*(state for states in loop.states for state in states), *loop.inputs, *masks],
        [*[state] * len(roles), *[rows] * count],
        attributes,
        [*roles, *(f"{role}/steps" for role in layer.roles)],
        [region],
    )
    each = len(layer.kind.states)
    return [results[k * each : (k + 1) * each] for k in range(count)], results[count * each :]


def _stacked(layer: RecurrentLayer, values: Sequence[SSAValue], axis: int, role: str) -> SSAValue:
    """The directions stacked along a new axis."""
    build, shape = layer.build, list(known_shape(values[0].type))
    shape.insert(axis, 1)
    apart = [build.unsqueeze(value, axis, shape) for value in values]
    if len(apart) > 1:
        shape[axis] = len(apart)
        apart = [build.one("Concat", apart, shape, role, axis=int_attr(axis))]
    return apart[0]


def _results(
    layer: RecurrentLayer, last: Sequence[Sequence[SSAValue]], steps: Sequence[SSAValue]
) -> list[SSAValue]:
    """Y, Y_h and Y_c, as far as the op has them."""
    results = list[SSAValue]()
    for place, output in enumerate(layer.op.outputs):
        if output is None:
            continue
        if place == 0:
            whole, batch_first = _stacked(layer, steps, 1, "outputs"), (2, 0, 1, 3)
        else:
            whole, batch_first = (
                _stacked(layer, [states[place - 1] for states in last], 0, "states"),
                (1, 0, 2),
            )
        results.append(layer.build.transpose(whole, batch_first) if layer.batch_first else whole)
    return results


def _decomposed(op: OnnxOp) -> Decomposed | Blocked:
    layer = unblocked(read_layer(op, KINDS[op.op_type]))
    build = layer.build
    x = build.transpose(op.operands[0], (1, 0, 2)) if layer.batch_first else op.operands[0]
    inputs, inner = _projected(layer, x)
    weights = [_recurrent_weights(layer, k) for k in range(len(layer.reverse))]
    inputs = _directed(layer, inputs)
    mask = None if layer.lengths is None else _mask(layer, x)
    loop = Loop(_initial(layer, x), inputs, mask)
    last, steps = _scanned(layer, loop, _body(layer, loop, inner, weights))
    steps = _directed(layer, steps)
    if layer.lengths is not None:
        last = [[_or_zero(layer, state) for state in states] for states in last]
    return Decomposed(build.ops, _results(layer, last, steps))


RECURRENT = {("", name): Decomposes(_decomposed, loops=True) for name in KINDS}
