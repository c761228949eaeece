"""
Comparison of two models by output, which separates differences by the compiler from those by onnxruntime's optimizer.

The reference is the first model with optimization off. The second with optimization off shows the effect of the change
to the file; the first as it runs shows that of onnxruntime's fusions, and the second as it runs is the user's result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qdialect.data.labels import Labels
from qdialect.data.metrics import Evaluation, Metric, Score, change_text, metric_maker
from qdialect.data.preprocessing import Preprocessing
from qdialect.data.reading import paths_of
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.measuring.runner import Runner, paired_outputs, preprocessing_of, translate
from qdialect.numerics import Array

OPTIMIZATION_OFF, REFERENCE_AS_IT_RUNS, AS_IT_RUNS = "optimization_off", "reference_as_it_runs", "as_it_runs"
"""B without optimization; A with it; B with it."""
ROW_TITLES = {
    OPTIMIZATION_OFF: "B, optimization off",
    REFERENCE_AS_IT_RUNS: "A as it runs",
    AS_IT_RUNS: "B as it runs",
}
SAME_DECISIONS_DB, CHANGED_DECISIONS_DB = 30.0, 15.0
"""Signal to noise in dB above which a network's decisions rarely change, and below which they do."""


@dataclass(eq=False)
class Difference:
    """Difference of one output, over all batches so far."""

    name: str
    shape: tuple[int, ...] = ()
    largest: float = 0.0
    """The largest absolute difference."""
    signal: float = 0.0
    """The sum of the squares of the reference's finite numbers."""
    noise: float = 0.0
    """The sum of the squared differences; infinite where one model has an infinity or NaN and the other has not."""
    _agreeing: int = field(default=0, repr=False)
    _rows: int = field(default=0, repr=False)

    def add(self, a: Array, b: Array) -> Array:
        """Counts one batch and returns the differences, float64. UserError if the shapes differ."""
        if a.shape != b.shape:
            raise UserError(
                f"output '{self.name}' is {shape_text(a.shape)} in one model and {shape_text(b.shape)} in the other",
                "compare models with the same outputs",
            )
        self.shape = a.shape
        if a.ndim == 2 and 1 < a.shape[-1] and a.size:
            agreeing = np.argmax(a, -1) == np.argmax(b, -1)
            self._agreeing += int(agreeing.sum())
            self._rows += agreeing.size
        x, y = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore"):  # equal infinities do not differ
            difference = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, x - y)
        difference[np.isnan(difference)] = np.inf
        self.largest = max(self.largest, float(np.abs(difference).max(initial=0.0)))
        self.signal += float(np.square(x[np.isfinite(x)]).sum())
        self.noise += float(np.square(difference).sum())
        return difference

    @property
    def sqnr(self) -> float:
        """Signal to noise, 10 log10(sum a^2 / sum (a - b)^2), in dB; inf without differences."""
        return sqnr(self.signal, self.noise)

    @property
    def agreement(self) -> float | None:
        """
        The fraction of rows whose largest element has the same index; None unless the output has rank 2, a row of
        scores for each sample.
        """
        return self._agreeing / self._rows if self._rows else None

    def as_json(self) -> dict[str, Any]:
        """The figures as JSON values; null if not finite."""
        return {
            "identical": self.noise == 0,
            "max_abs_diff": finite(self.largest),
            "sqnr_db": finite(self.sqnr),
            "argmax_agreement": self.agreement,
        }


def sqnr(signal: float, noise: float) -> float:
    """10 log10(signal / noise) in dB, of sums of squares; inf without noise, -inf without signal."""
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0 and noise < math.inf else -math.inf


def finite(value: float) -> float | None:
    """A figure as a JSON value: null if it is not finite."""
    return value if math.isfinite(value) else None


def shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


@dataclass
class Comparison:
    """Two models on the same data."""

    batches: int
    differences: Mapping[str, list[Difference]]
    """Differences by row of `ROW_TITLES`, without rows that onnxruntime cannot run; outputs in A's order."""
    record: Record = field(default_factory=Record)
    """What was read of the data."""
    scores: tuple[Score, Score] | None = None
    """Of A and of B as they run; None without labels."""

    def worst(self, row: str) -> Difference:
        """The output with the least signal to noise."""
        return min(self.differences[row], key=lambda one: one.sqnr)

    def is_identical(self, row: str) -> bool:
        return all(one.noise == 0 for one in self.differences[row])

    def as_json(self) -> dict[str, Any]:
        """For each output the figures of B as it runs, and those of the other rows in objects of their own."""
        outputs = [
            {"name": one.name, "shape": list(one.shape), **one.as_json()}
            | {row: rows[k].as_json() for row, rows in self.differences.items() if row != AS_IT_RUNS}
            for k, one in enumerate(self.differences[AS_IT_RUNS])
        ]
        said: dict[str, Any] = {"data": self.record.line(), "verdict": self.verdict()}
        if self.scores is not None:
            before, after = self.scores
            said = {"accuracy": {"a": before.as_json(), "b": after.as_json()}} | said
        return {"batches": self.batches, "outputs": outputs, **said}

    def verdict(self) -> str:
        """One sentence: how right both are, with labels, how close B is to A, and the cause of the difference."""
        if self.scores is None:
            return self._closeness()
        return f"{change_text(*self.scores, self.record.what)}; {self._closeness()}"

    def _closeness(self) -> str:
        runs, changed = self.worst(AS_IT_RUNS), self.worst(OPTIMIZATION_OFF)
        if self.is_identical(AS_IT_RUNS) and self.is_identical(OPTIMIZATION_OFF):
            return "identical: every output has the same numbers, with onnxruntime's optimizer and without"
        if self.is_identical(OPTIMIZATION_OFF):
            return (
                f"exact: B computes the numbers of A with optimization off; the {decibels(runs.sqnr)} of B as it runs"
                " are onnxruntime's own fusions, which no --exactness governs"
            )
        word = (
            "close"
            if runs.sqnr >= SAME_DECISIONS_DB
            else "noisy"
            if runs.sqnr >= CHANGED_DECISIONS_DB
            else "far"
        )
        parts = [f"{word}: {decibels(runs.sqnr)} on '{runs.name}' as it runs"]
        parts.append(f"{decibels(changed.sqnr)} with optimization off")
        agreements = [d.agreement for d in self.differences[AS_IT_RUNS] if d.agreement is not None]
        if agreements:
            parts.append(f"{100 * min(agreements):.2f} % of decisions agree")
        if REFERENCE_AS_IT_RUNS in self.differences and self.worst(REFERENCE_AS_IT_RUNS).sqnr < changed.sqnr:
            parts.append("onnxruntime's optimizer moves A itself by more than the compiler did")
        return ", ".join(parts) + ("" if word == "close" else "; --layers says where it begins")


def decibels(value: float) -> str:
    return "no noise" if value == math.inf else f"{value:.1f} dB"


def compare(
    reference: str,
    other: str,
    data: str | Sequence[str],
    *,
    images: Preprocessing | None = None,
    labels: str | None = None,
    metric: str | None = None,
    show: Callable[[str], None] = lambda _: None,
) -> Comparison:
    """
    Run two model files on the batches of `data` (see `data.reading.load_data`), each with and without onnxruntime's
    optimizer. images: how they become inputs; None: as a file states it. labels: as `data.labels.Labels` takes them, to
    measure both as they run by `metric`, a name that `data.metrics.metric_maker` takes. show: progress callback.

    Raises UserError if a file cannot be loaded or run, the models have other inputs or outputs, or the data does not
    fit.
    """
    show("loading the models")
    base = Runner(reference, optimize=False)
    runners = {OPTIMIZATION_OFF: Runner(other, optimize=False), AS_IT_RUNS: Runner(other, optimize=True)}
    try:
        runners[REFERENCE_AS_IT_RUNS] = Runner(reference, optimize=True)
    except UserError:  # onnxruntime's optimizer breaks some models; the other rows can still be compared
        pass
    rows = [row for row in ROW_TITLES if row in runners]
    differences = {row: [Difference(name) for name in base.outputs] for row in rows}
    count = 0
    record = Record()
    preprocessing = preprocessing_of(images, [base, runners[OPTIMIZATION_OFF]], record)
    wanted_labels = None if labels is None else Labels(labels, paths_of(data))
    make: Callable[[], Metric] = metric_maker(metric)
    evaluations = {row: Evaluation(make()) for row in (REFERENCE_AS_IT_RUNS, AS_IT_RUNS)}
    read = base.labelled(data, preprocessing, record, wanted_labels)
    for count, (feeds, right) in enumerate(read, 1):
        show(f"batch {count}")
        wanted = base.run(feeds)
        if right is not None and REFERENCE_AS_IT_RUNS not in runners:
            evaluations[REFERENCE_AS_IT_RUNS].add(base.real_outputs(wanted), right)
        for row in rows:
            runner = runners[row]
            got = runner.run(translate(feeds, base, runner))
            if right is not None and row in evaluations:
                evaluations[row].add(runner.real_outputs(got), right)
            pairs = paired_outputs(base, wanted, runner, got)
            for one, (a, b) in zip(differences[row], pairs, strict=True):
                one.add(a, b)
    scores = (
        None
        if labels is None
        else (evaluations[REFERENCE_AS_IT_RUNS].score(), evaluations[AS_IT_RUNS].score())
    )
    return Comparison(count, differences, record, scores)
