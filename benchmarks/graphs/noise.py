"""What became of a graph on a target, and how far two results are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto

from graphs.drawing import Array

LEAST = 25.0
"""dB: what every graph must have."""


@dataclass
class Outcome:
    """What became of one graph on one target."""

    problem: str = ""
    """What was wrong, in one line; empty if nothing was."""
    kind: str = ""
    """The same for all problems of a kind."""
    sqnr: float = np.inf
    """Of all outputs together, in dB."""
    worst: float = np.inf
    """Of the worst output: 25 dB is one step in one of three elements that are ten steps large."""
    integer: int = 0
    """QOperator nodes in the result."""
    aborts: bool = False
    """Whether a session ends the process by the original: the result is run in none that has its optimizations then."""


def energies(reference: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> tuple[float, float]:
    """
    The sums a^2 and (a - b)^2, where a is a number; infinite noise where b is not the same infinity, or none where a is
    finite.
    """
    a, b = (values.reshape(-1).astype(np.float64) for values in (reference, other))
    known = ~(np.isnan(a) | (a == b))
    noise = np.square(a[known] - b[known]).sum()
    return float(np.square(a[np.isfinite(a)]).sum()), np.inf if np.isnan(noise) else float(noise)


def same(a: Array, b: Array) -> bool:
    """Whether two tensors are equal, NaN to NaN."""
    return a.dtype == b.dtype and a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def indices(model: ModelProto) -> set[str]:
    """The tensors that are made of indices alone, which are no signal: a step makes another element the largest."""
    constants = {tensor.name for tensor in model.graph.initializer}
    integers: set[str] = set()
    for node in model.graph.node:
        taken = [name for name in selected(node) if name and name not in constants]
        if node.op_type in ("ArgMax", "ArgMin") or (taken and integers.issuperset(taken)):
            integers.update(node.output)
        elif not taken:
            constants.update(node.output)
    return integers


def selected(node: NodeProto) -> list[str]:
    """The tensors of the outer graph whose elements a node computes with; of an If, without its condition."""
    if node.op_type != "If":
        return list(node.input)
    nodes = [inner for attribute in node.attribute for inner in attribute.g.node]
    own = {name for inner in nodes for name in inner.output}
    own.update(tensor.name for attribute in node.attribute for tensor in attribute.g.initializer)
    return [name for inner in nodes for name in selected(inner) if name not in own]


def sqnr(signal: float, noise: float) -> float:
    """10 log10(signal / noise) of two energies, in dB; infinite without noise."""
    return np.inf if noise == 0 else 10 * float(np.log10(max(signal, 1e-30) / noise))
