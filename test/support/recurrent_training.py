"""Small recurrent classifiers, trained here: gradients by a tape, ONNX's weights and order of gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
ROUNDS, RATE = 50, 0.02


class Number:
    """An array and, behind `differentiate`, the gradient of a loss by it."""

    def __init__(self, value: Array, *parents: tuple[Number, Callable[[Array], Array]]):
        self.value, self.parents = value, parents
        self.gradient = np.zeros_like(value)

    def __add__(self, other: Number) -> Number:
        def summed(to: Number) -> Callable[[Array], Array]:
            return lambda g: (
                g if g.shape == to.value.shape else g.sum(0)
            )  # a bias is the same for each sample

        return Number(self.value + other.value, (self, summed(self)), (other, summed(other)))

    def __mul__(self, other: Number) -> Number:
        return Number(
            self.value * other.value, (self, lambda g: g * other.value), (other, lambda g: g * self.value)
        )

    def times(self, weight: Number) -> Number:
        """x w^T"""
        return Number(
            self.value @ weight.value.T,
            (self, lambda g: g @ weight.value),
            (weight, lambda g: g.T @ self.value),
        )

    def part(self, k: int, size: int) -> Number:
        """One gate's columns."""

        def spread(g: Array) -> Array:
            whole = np.zeros_like(self.value)
            whole[:, k * size : (k + 1) * size] = g
            return whole

        return Number(self.value[:, k * size : (k + 1) * size], (self, spread))

    def sigmoid(self) -> Number:
        y = 1 / (1 + np.exp(-self.value))
        return Number(y, (self, lambda g: g * y * (1 - y)))

    def tanh(self) -> Number:
        y = np.tanh(self.value)
        return Number(y, (self, lambda g: g * (1 - y * y)))

    def differentiate(self, gradient: Array) -> None:
        """Let every number that this one is made of have its gradient."""
        order: list[Number] = []
        seen: set[int] = set()

        def visit(one: Number) -> None:
            if id(one) not in seen:
                seen.add(id(one))
                for parent, _ in one.parents:
                    visit(parent)
                order.append(one)

        visit(self)
        self.gradient = gradient
        for one in reversed(order):
            for parent, back in one.parents:
                parent.gradient = parent.gradient + back(one.gradient)


def _step(kind: str, x: Number, h: Number, c: Number, weights: Sequence[Number]) -> tuple[Number, Number]:
    """One step of a cell: the next h and c. A GRU resets behind the product."""
    w, r, wb, rb = weights
    size = h.value.shape[1]
    a, b = x.times(w) + wb, h.times(r) + rb
    if kind == "RNN":
        return (a + b).tanh(), c
    if kind == "LSTM":
        i, o, f, n = ((a + b).part(k, size) for k in range(4))
        c = f.sigmoid() * c + i.sigmoid() * n.tanh()
        return o.sigmoid() * c.tanh(), c
    z, reset = ((a.part(k, size) + b.part(k, size)).sigmoid() for k in range(2))
    new = (a.part(2, size) + reset * b.part(2, size)).tanh()
    minus = Number(np.full_like(new.value, -1.0))
    return new + z * (h + minus * new), c


def train(kind: str, directions: int, x: Array, labels: Array, hidden: int) -> dict[str, Array]:
    """`w`, `r`, `b` as ONNX's op takes them, `c` [classes, directions * hidden] of a classifier behind its last h."""
    draw = np.random.default_rng(7)
    count, steps, inputs = x.shape
    classes, rows = int(labels.max()) + 1, GATES[kind] * hidden
    shapes = [(rows, inputs), (rows, hidden), (rows,), (rows,)] * directions + [
        (classes, hidden)
    ] * directions
    weights = [Number(draw.normal(size=s) / np.sqrt(s[-1]) if len(s) > 1 else np.zeros(s)) for s in shapes]
    moments = [(np.zeros(s), np.zeros(s)) for s in shapes]
    for round in range(1, ROUNDS + 1):
        logits = Number(np.zeros((count, classes)))
        for d in range(directions):
            h = c = Number(np.zeros((count, hidden)))
            for t in range(steps) if d == 0 else range(steps - 1, -1, -1):
                h, c = _step(kind, Number(x[:, t].astype(np.float64)), h, c, weights[4 * d : 4 * d + 4])
            logits = logits + h.times(weights[4 * directions + d])
        shifted = np.exp(logits.value - logits.value.max(1, keepdims=True))
        logits.differentiate((shifted / shifted.sum(1, keepdims=True) - np.eye(classes)[labels]) / count)
        for one, (first, second) in zip(weights, moments, strict=True):  # Adam
            first += 0.1 * (one.gradient - first)
            second += 0.01 * (one.gradient**2 - second)
            scale = np.sqrt(second / (1 - 0.99**round)) + 1e-8
            one.value = one.value - RATE * first / (1 - 0.9**round) / scale
            one.gradient = np.zeros_like(one.value)
    values = [one.value.astype(np.float32) for one in weights]
    each = [values[4 * d : 4 * d + 4] for d in range(directions)]
    return {
        "w": np.stack([row[0] for row in each]),
        "r": np.stack([row[1] for row in each]),
        "b": np.stack([np.concatenate(row[2:]) for row in each]),
        "c": np.concatenate(values[4 * directions :], axis=1),
    }
