"""Models to lower, what they are fed with, and how alike two sets of outputs are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qdialect.evaluation.data import Input, batches, load_npz
from qdialect.evaluation.session import session

Array = npt.NDArray[Any]
Feeds = dict[str, Array]
MOST = 10_000
"""Samples of a model that are run."""


class Agreement(NamedTuple):
    """Elements that are as the reference's, of how many, and the largest difference of the others."""

    same: int
    total: int
    worst: float

    def __str__(self) -> str:
        return f"{self.same / max(self.total, 1):.6f} identical, largest difference {self.worst:g}"

    @property
    def is_identical(self) -> bool:
        """Whether no element differs."""
        return self.same == self.total


def agreement(rows: Iterable[tuple[Sequence[Array], Sequence[Array]]]) -> Agreement:
    """How alike pairs of outputs are."""
    same, count, worst = 0, 0, 0.0
    for got, expected in rows:
        for a, b in zip(got, expected, strict=True):
            equal = (a == b) | ((a != a) & (b != b))
            same, count = same + int(equal.sum()), count + b.size
            if not equal.all():
                worst = max(worst, float(np.abs(a.astype(np.float64) - b.astype(np.float64))[~equal].max()))
    return Agreement(same, count, worst)


def name_of(model: Path) -> str:
    """What a model is called: its file, or its folder where the file is `model.onnx`."""
    return model.parent.name if model.stem == "model" else model.stem


def inputs_of(model: Path) -> list[Input]:
    """The graph inputs, one row where the model leaves sizes open."""
    rows: list[Input] = []
    for one in session(str(model)).get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in one.shape]
        kind = one.type.removeprefix("tensor(").removesuffix(")")
        dtype: np.dtype[Any] = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
        rows.append(Input(one.name, shape, dtype))
    return rows


def drawn(inputs: Sequence[Input], seed: int) -> Feeds:
    """Random numbers for inputs: normal ones, or all that a byte holds."""
    draw, feeds = np.random.default_rng(seed), Feeds()
    for one in inputs:
        shape = [size or 1 for size in one.shape]
        if one.dtype.kind == "f":
            feeds[one.name] = draw.normal(0, 1, shape).astype(one.dtype)
        else:
            low, high = {"b": (0, 2), "u": (0, 256)}.get(one.dtype.kind, (-128, 128))
            feeds[one.name] = draw.integers(low, high, shape).astype(one.dtype)
    return feeds


def feeds_of(model: Path, data: Path | None, count: int) -> list[Feeds]:
    """All rows of `NAME.npz` in the folder `data`, keyed by graph input; without one, `count` random ones."""
    inputs = inputs_of(model)
    path = None if data is None else data / f"{name_of(model)}.npz"
    if path is None or not path.exists():
        return [drawn(inputs, seed) for seed in range(count)]
    rows = batches(load_npz(str(path)), inputs)
    return [row for _, row in zip(range(MOST), rows, strict=False)]
