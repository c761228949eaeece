"""One step of LSTM, GRU and RNN as ONNX ops: new states from the input's product and the old states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_types import known_shape
from qdialect.forms.activations import Activation, clipped
from qdialect.forms.builder import Builder

Product = Callable[[Builder, SSAValue, str], SSAValue]
"""Builds the product of rows with a weight, from a builder, the rows and the role of the result."""


def by_matrix(weight: SSAValue) -> Product:
    """Products with a matrix."""

    def product(build: Builder, rows: SSAValue, role: str) -> SSAValue:
        shape = (*known_shape(rows.type)[:1], known_shape(weight.type)[1])
        return build.one("MatMul", [rows, weight], shape, role)

    return product


class Cell(NamedTuple):
    """Parameters of one direction of a layer, for building one step."""

    build: Builder
    """Builds the body; names begin with the direction."""
    recurrent: Sequence[Product]
    """Products with the recurrent weight, [hidden, gates * hidden], or with its parts that are multiplied apart."""
    bias: SSAValue | None
    """Bias added to the recurrent product; None if it is part of the input's product."""
    activations: Sequence[Activation]
    clip: float
    coupled: bool
    """True if the forget gate is 1 - input gate (`input_forget`)."""

    def gate(self, x: SSAValue, function: int, role: str) -> SSAValue:
        """Activation `function` of `x`, clipped before."""
        return self.activations[function].apply(self.build, clipped(self.build, x, self.clip), role)

    def product(self, h: SSAValue, weight: int, role: str) -> SSAValue:
        """State `h` times recurrent weight `weight`."""
        return self.recurrent[weight](self.build, h, role)


CellStep = Callable[[Cell, SSAValue, Sequence[SSAValue]], list[SSAValue]]
"""Builds the new states, the hidden state first, from the input's product and the old states."""


class Kind(NamedTuple):
    """A recurrent operator."""

    gates: Sequence[str]
    states: Sequence[str]
    activations: Sequence[str]
    step: CellStep


def _lstm(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    build, (h, c) = cell.build, states
    total = build.one("Add", [x, cell.product(h, 0, "hidden_product")], role="gates")
    i, o, f, g = build.split(total, 4, 1, ("input_sum", "output_sum", "forget_sum", "cell_sum"))
    i = cell.gate(i, 0, "input_gate")
    f = _complement(build, i, "forget_gate") if cell.coupled else cell.gate(f, 0, "forget_gate")
    g = cell.gate(g, 1, "cell_gate")
    kept, new = build.one("Mul", [f, c], role="kept_cell"), build.one("Mul", [i, g], role="new_cell")
    after = build.one("Add", [kept, new], role="cell")
    shown = cell.activations[2].apply(build, after, "cell_activation")
    return [build.one("Mul", [cell.gate(o, 0, "output_gate"), shown], role="hidden"), after]


def _complement(build: Builder, x: SSAValue, role: str) -> SSAValue:
    return build.one("Sub", [build.constant(np.array(1, np.float32)), x], known_shape(x.type), role)


def _gru(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    build, h = cell.build, states[0]
    xz, xr, xn = build.split(x, 3, 1, ("update_input", "reset_input", "hidden_input"))
    product = cell.product(h, 0, "hidden_product")
    if cell.bias is not None:
        product = build.one("Add", [product, cell.bias])
    last = len(cell.recurrent) == 1
    parts = build.split(
        product, 3 if last else 2, 1, ("update_product", "reset_product", "new_product")[: 3 if last else 2]
    )
    z = cell.gate(build.one("Add", [xz, parts[0]], role="update_sum"), 0, "update_gate")
    r = cell.gate(build.one("Add", [xr, parts[1]], role="reset_sum"), 0, "reset_gate")
    if last:
        reset = build.one("Mul", [r, parts[2]], role="reset_product_sum")
    else:
        reset = cell.product(build.one("Mul", [r, h], role="reset_hidden"), 1, "reset_hidden_product")
    n = cell.gate(build.one("Add", [xn, reset], role="hidden_sum"), 1, "hidden_gate")
    new = build.one("Mul", [_complement(build, z, "update_rest"), n], role="new_hidden")
    return [build.one("Add", [new, build.one("Mul", [z, h], role="kept_hidden")], role="hidden")]


def _rnn(cell: Cell, x: SSAValue, states: Sequence[SSAValue]) -> list[SSAValue]:
    total = cell.build.one("Add", [x, cell.product(states[0], 0, "hidden_product")], role="hidden_sum")
    return [cell.gate(total, 0, "hidden")]


KINDS = {
    "LSTM": Kind(
        ("input", "output", "forget", "cell"), ("hidden", "cell"), ("Sigmoid", "Tanh", "Tanh"), _lstm
    ),
    "GRU": Kind(("update", "reset", "hidden"), ("hidden",), ("Sigmoid", "Tanh"), _gru),
    "RNN": Kind(("hidden",), ("hidden",), ("Tanh",), _rnn),
}
