"""
Metrics: how right a model's outputs are, by labels, with the interval of the estimate.

A metric makes a row of each sample, and a `Score` of all rows, so that outputs need not be kept. Outputs of a sample
are a dictionary by name, without the axis of the batch. Intervals are of 95 %: Wilson's for shares (Wilson 1927,
JASA 22, 209), normal for means, and the jackknife over groups of samples for what is no mean (Tukey 1958; Efron and
Stein 1981).
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import inf, log10, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect.errors import UserError
from qdialect.numerics import Array

Z = 1.959964
"""Quantile of the normal distribution for intervals of 95 %."""
JACKKNIFE_GROUPS = 20
MAX_PSNR_DB = 100.0
"""Peak signal to noise of a sample without error."""
IGNORED_CLASS = 255
"""Class of a mask's elements that do not count, as negative ones."""
OVERLAPS = np.linspace(0.5, 0.95, 10)
"""Intersections over unions at which a box counts as found: those of COCO."""
RECALLS = np.linspace(0, 1, 101)
"""Recalls at which COCO's average precision is interpolated."""

Outputs = Mapping[str, Array]
Evaluate = Callable[[Any, Any], Any]
"""A function of all outputs and labels that returns a number, or a number for each sample."""


@dataclass(frozen=True)
class Score:
    """The value of a metric on some samples."""

    metric: str
    value: float
    """A share from 0 to 1 where the unit is %."""
    count: int
    """Number of samples."""
    low: float | None = None
    """Lower end of the interval of 95 %; None if it is not known."""
    high: float | None = None
    unit: str = ""
    """`%`, `dB`, or empty."""
    larger_is_better: bool = True

    @property
    def margin(self) -> float | None:
        """Half the width of the interval, in percentage points where the unit is %."""
        if self.low is None or self.high is None:
            return None
        return self._factor * (self.high - self.low) / 2

    @property
    def _factor(self) -> float:
        return 100.0 if self.unit == "%" else 1.0

    def loss(self, other: Score) -> float:
        """
        What `other` loses against this: a difference of shares where the unit is %, else relative to this; 0 or less
        if it is no worse.
        """
        loss = self.value - other.value if self.larger_is_better else other.value - self.value
        if self.unit == "%" or loss == 0:
            return loss
        return loss / abs(self.value) if self.value else inf * loss

    def __str__(self) -> str:
        """`98.6 %`, `31.42 dB`, `0.0123`."""
        margin = self.margin
        if self.unit == "%":
            return f"{100 * self.value:.{1 if margin is None or margin >= 0.5 else 2}f} %"
        return f"{self.value:.2f} dB" if self.unit == "dB" else f"{self.value:.4g}"

    def as_json(self) -> dict[str, Any]:
        """The score as JSON values."""
        interval = None if self.low is None or self.high is None else [self.low, self.high]
        return {"metric": self.metric, "value": self.value, "interval": interval, "samples": self.count}


def score_text(score: Score, what: str = "samples") -> str:
    """`top-1 98.3 % (360 images, ±1.2)`."""
    return f"{score.metric} {score} {_of(score, what)}"


def change_text(before: Score, after: Score, what: str = "samples") -> str:
    """`top-1 98.6 % -> 98.3 % (360 images, ±1.2)`: the margin is that of `after`."""
    return f"{after.metric} {before} -> {after} {_of(after, what)}"


def _of(score: Score, what: str) -> str:
    margin = score.margin
    if margin is None:
        return f"({score.count} {what})"
    digits = f"{margin:.{1 if margin >= 0.5 else 2}f}" if score.unit == "%" else f"{margin:.2g}"
    return f"({score.count} {what}, ±{digits})"


def wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's interval of 95 % of a share of `count`: [(p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)]."""
    square = Z * Z / count
    middle, width = share + square / 2, Z * sqrt(share * (1 - share) / count + square / (4 * count))
    return (middle - width) / (1 + square), (middle + width) / (1 + square)


class Metric(ABC):
    """A metric; one object is used for one model."""

    name: str
    unit: str = ""
    larger_is_better: bool = True

    @abstractmethod
    def row(self, outputs: Outputs, label: Any) -> Any:
        """What is kept of one sample. Raises UserError if outputs or label do not fit the metric."""

    @abstractmethod
    def estimate(self, rows: Sequence[Any]) -> tuple[float, tuple[float, float] | None]:
        """The value on all rows, and its interval."""

    def score(self, rows: Sequence[Any]) -> Score:
        """The score of all rows. Raises UserError without any."""
        if not rows:
            raise UserError("there is no sample to measure on", "give more data")
        value, interval = self.estimate(rows)
        low, high = interval or (None, None)
        return Score(self.name, value, len(rows), low, high, self.unit, self.larger_is_better)


def _mean(values: npt.NDArray[np.float64]) -> tuple[float, tuple[float, float] | None]:
    value, count = float(values.mean()), values.size
    if count < 2:
        return value, None
    width = Z * float(values.std(ddof=1)) / sqrt(count)
    return value, (value - width, value + width)


class MeanMetric(Metric):
    """A metric that is the mean of a number of each sample."""

    def estimate(self, rows: Sequence[Any]) -> tuple[float, tuple[float, float] | None]:
        return _mean(np.array(rows, np.float64))


def _scores(outputs: Outputs) -> Array:
    """The scores of classes, (classes,), or the class, (): the first output that can be either."""
    for array in outputs.values():
        flat = array.reshape([size for size in array.shape if size != 1])
        if (flat.ndim == 1 and array.dtype.kind == "f") or (flat.ndim == 0 and array.dtype.kind in "iu"):
            return flat
    shapes = ", ".join(f"'{name}' {_shape(array)}" for name, array in outputs.items())
    raise UserError(f"no output is a score for each class: {shapes}", "choose another --metric")


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "scalar"


def _class(label: Any) -> int:
    array = np.asarray(label)
    if array.size != 1 or array.dtype.kind not in "iu":
        raise UserError(
            f"a label is {array.dtype} {_shape(array)}, not the number of a class", "choose another --metric"
        )
    return int(array.reshape(())[()])


class TopK(Metric):
    """
    Share of samples whose class is among the k highest scores.

    Output: float (classes,), axes of one element apart; for k = 1 also the class itself, an integer. Label: integer,
    the index of the class. Of equal scores the first is the highest, as numpy's argmax has it.
    """

    unit = "%"

    def __init__(self, k: int):
        self.k, self.name = k, f"top-{k}"
        self.classes = 0
        """Number of scores seen."""

    def row(self, outputs: Outputs, label: Any) -> bool:
        scores, wanted = _scores(outputs), _class(label)
        if not scores.ndim:
            if self.k > 1:
                raise UserError("the model returns the class, no scores", "choose --metric top1")
            return int(scores) == wanted
        self.classes = scores.size
        if not 0 <= wanted < scores.size:
            raise UserError(f"a label is {wanted}, the model has {scores.size} classes", "check the labels")
        own = scores[wanted]
        above = int((scores > own).sum()) + int((scores[:wanted] == own).sum())
        return above < self.k and not bool(np.isnan(own))

    def estimate(self, rows: Sequence[Any]) -> tuple[float, tuple[float, float] | None]:
        share = sum(rows) / len(rows)
        return share, wilson(share, len(rows))


def _pair(outputs: Outputs, label: Any) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The first output of the label's shape, axes of one element apart, and the label."""
    wanted = np.asarray(label, np.float64)
    shape = [size for size in wanted.shape if size != 1]
    for array in outputs.values():
        if [size for size in array.shape if size != 1] == shape:
            return array.astype(np.float64).reshape(wanted.shape), wanted
    shapes = ", ".join(f"'{name}' {_shape(array)}" for name, array in outputs.items())
    raise UserError(f"a label is {_shape(wanted)}, no output has its shape: {shapes}", "check the labels")


class Mse(MeanMetric):
    """Mean over samples of the mean of (output - label)^2; the output is the first of the label's shape."""

    name = "mse"
    larger_is_better = False

    def row(self, outputs: Outputs, label: Any) -> float:
        output, wanted = _pair(outputs, label)
        return float(np.square(output - wanted).mean())


class Psnr(MeanMetric):
    """
    Mean over samples of the peak signal to noise, 10 log10(peak^2 / mean((output - label)^2)), in dB.

    The peak is 1 if no label is above 1, else 255. A sample without error counts as `MAX_PSNR_DB`.
    """

    name, unit = "psnr", "dB"

    def row(self, outputs: Outputs, label: Any) -> float:
        output, wanted = _pair(outputs, label)
        peak = 255.0 if np.abs(wanted).max(initial=0) > 1 else 1.0
        error = float(np.square(output - wanted).mean())
        return min(10 * log10(peak * peak / error), MAX_PSNR_DB) if error else MAX_PSNR_DB


class Cosine(MeanMetric):
    """Mean over samples of the cosine of the angle between output and label: sum(a b) / sqrt(sum a^2 sum b^2)."""

    name = "cosine"

    def row(self, outputs: Outputs, label: Any) -> float:
        output, wanted = _pair(outputs, label)
        norm = sqrt(float(np.square(output).sum()) * float(np.square(wanted).sum()))
        return float((output * wanted).sum()) / norm if norm else 0.0


class PooledMetric(Metric):
    """A metric of all samples together, which is no mean of theirs."""

    @abstractmethod
    def total(self, rows: Sequence[Any]) -> float:
        """The value on these rows."""

    def estimate(self, rows: Sequence[Any]) -> tuple[float, tuple[float, float] | None]:
        value, count = self.total(rows), min(len(rows), JACKKNIFE_GROUPS)
        if count < 2:
            return value, None
        left_out = [self.total([r for n, r in enumerate(rows) if n % count != k]) for k in range(count)]
        spread = np.array(left_out) - np.mean(left_out)
        width = Z * sqrt((count - 1) / count * float(np.square(spread).sum()))
        return value, (value - width, value + width)


class MeanIou(PooledMetric):
    """
    Mean over classes of intersection over union, of all samples together (Long et al. 2015).

    Output: float (classes, H, W), (H, W, classes), or integer (H, W). Label: integer (H, W), the class of each element;
    255 and negative ones do not count. Classes that neither has do not count.
    """

    name, unit = "mIoU", "%"

    def row(self, outputs: Outputs, label: Any) -> npt.NDArray[np.int64]:
        """Elements in the intersection and in the union of each class, (2, classes)."""
        wanted = np.squeeze(np.asarray(label))
        if wanted.ndim != 2 or wanted.dtype.kind not in "iub":
            raise UserError(
                f"a label is {wanted.dtype} {_shape(wanted)}, not a class for each element of an image",
                "give masks of integers, (height, width)",
            )
        found, classes = self._found(outputs, wanted.shape)
        wanted = wanted.astype(np.int64)
        counted = (wanted >= 0) & (wanted != IGNORED_CLASS)
        wanted, found = wanted[counted], found[counted].astype(np.int64)
        classes = max([classes, *(int(one.max()) + 1 for one in (wanted, found) if one.size)])
        both = np.bincount(wanted[wanted == found], minlength=classes)
        either = np.bincount(wanted, minlength=classes) + np.bincount(found, minlength=classes) - both
        return np.stack([both, either])

    @staticmethod
    def _found(outputs: Outputs, shape: tuple[int, ...]) -> tuple[Array, int]:
        """The class of each element, and the number of classes."""
        for array in outputs.values():
            if array.dtype.kind in "iu" and tuple(s for s in array.shape if s != 1) == shape:
                return array.reshape(shape), 0
            if array.ndim == 3 and array.dtype.kind == "f":
                axis = 0 if array.shape[1:] == shape else 2 if array.shape[:2] == shape else None
                if axis is not None and array.shape[axis] > 1:
                    return array.argmax(axis), array.shape[axis]
        shapes = ", ".join(f"'{name}' {_shape(array)}" for name, array in outputs.items())
        raise UserError(
            f"no output is a score for each class and element of a mask of {shape[0]}x{shape[1]}: {shapes}",
            "give masks of the size of the output",
        )

    def total(self, rows: Sequence[Any]) -> float:
        classes = max(row.shape[1] for row in rows)
        padded = [np.pad(row, ((0, 0), (0, classes - row.shape[1]))) for row in rows]
        both, either = np.sum(padded, axis=0)
        return float((both[either > 0] / either[either > 0]).mean()) if (either > 0).any() else 0.0


@dataclass(frozen=True)
class Boxes:
    """The boxes found in one sample, the highest score first, and which of them are right."""

    classes: npt.NDArray[np.int64]
    """(boxes,)"""
    scores: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    """At each of `OVERLAPS`, (overlaps, boxes)."""
    wanted: npt.NDArray[np.int64]
    """The classes of the labels' boxes, (labels,)."""


class MeanAveragePrecision(PooledMetric):
    """
    Average precision as COCO has it: the mean over overlaps of 0.5 to 0.95 and over classes of the precision
    interpolated at 101 recalls (Lin et al. 2014). Sizes of boxes are not told apart, and all boxes count.

    Outputs, after suppression of overlapping boxes: boxes (n, 4), x1 y1 x2 y2, beside scores (n, classes), or scores
    (n,) and integer classes (n,); or one output (n, 6): x1 y1 x2 y2 score class. Scores of 0 or less are no boxes.
    Label: (m, 5), class x1 y1 x2 y2 in the units of the output; a negative class is no box.
    """

    name, unit = "mAP", "%"

    def row(self, outputs: Outputs, label: Any) -> Boxes:
        wanted = np.asarray(label, np.float64)
        if wanted.ndim != 2 or wanted.shape[1] != 5:
            raise UserError(
                f"a label is {_shape(wanted)}, not boxes of (n, 5): class x1 y1 x2 y2", "check the labels"
            )
        wanted = wanted[wanted[:, 0] >= 0]
        corners, scores, classes = _detections(outputs)
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] > 0]
        corners, scores, classes = corners[order], scores[order], classes[order].astype(np.int64)
        own = wanted[:, 0].astype(np.int64)
        overlaps = np.where(classes[:, None] == own[None], _overlaps(corners, wanted[:, 1:]), 0.0)
        right = np.stack([_matched(overlaps, least) for least in OVERLAPS])
        return Boxes(classes, scores, right, own)

    def total(self, rows: Sequence[Any]) -> float:
        classes = np.concatenate([row.classes for row in rows])
        scores = np.concatenate([row.scores for row in rows])
        right = np.concatenate([row.right for row in rows], axis=1)
        wanted = np.concatenate([row.wanted for row in rows])
        order = np.argsort(-scores, kind="stable")
        classes, right = classes[order], right[:, order]
        each = [
            _average_precision(right[:, classes == one], int((wanted == one).sum()))
            for one in np.unique(wanted)
        ]
        return float(np.mean(each)) if each else 0.0


def _detections(outputs: Outputs) -> tuple[Array, Array, Array]:
    """Corners (n, 4), scores (n,) and classes (n,) of the outputs of one sample."""
    if all(array.ndim < 2 for array in outputs.values()):  # one box, whose axis was taken for the batch's
        outputs = {name: array[None] for name, array in outputs.items()}
    boxes = next(
        (a for a in outputs.values() if a.ndim == 2 and a.shape[1] == 4 and a.dtype.kind == "f"), None
    )
    rows = [
        a for a in outputs.values() if boxes is not None and a is not boxes and a.shape[:1] == boxes.shape[:1]
    ]
    if boxes is not None:
        scores = next((a for a in rows if a.ndim == 1 and a.dtype.kind == "f"), None)
        classes = next((a for a in rows if a.ndim == 1 and a.dtype.kind in "iu"), None)
        table = next((a for a in rows if a.ndim == 2 and a.dtype.kind == "f"), None)
        if scores is not None and classes is not None:
            return boxes, scores, classes
        if table is not None:
            count = table.shape[1]
            return np.repeat(boxes, count, axis=0), table.reshape(-1), np.tile(np.arange(count), len(boxes))
    whole = next((a for a in outputs.values() if a.ndim == 2 and a.shape[1] == 6), None)
    if boxes is None and whole is not None:
        return whole[:, :4], whole[:, 4], whole[:, 5]
    shapes = ", ".join(f"'{name}' {_shape(array)}" for name, array in outputs.items())
    raise UserError(
        f"the outputs are no boxes (n, 4) beside scores: {shapes}", "decode them in --metric module:function"
    )


def _overlaps(found: Array, wanted: Array) -> npt.NDArray[np.float64]:
    """Intersection over union of each found box with each wanted one, (found, wanted)."""
    a, b = found[:, None].astype(np.float64), wanted[None].astype(np.float64)
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = np.prod(np.maximum(sides, 0), axis=-1)
    areas = [np.prod(np.maximum(one[..., 2:] - one[..., :2], 0), axis=-1) for one in (a, b)]
    union = areas[0] + areas[1] - both
    return np.divide(both, union, out=np.zeros_like(both), where=union > 0)


def _matched(overlaps: npt.NDArray[np.float64], least: float) -> npt.NDArray[np.bool_]:
    """Which found boxes, the best first, get a wanted box of their own: the free one of the greatest overlap."""
    right, left = np.zeros(len(overlaps), bool), overlaps.copy()
    for k in range(len(overlaps) if overlaps.shape[1] else 0):
        best = int(left[k].argmax())
        if left[k, best] >= least:
            right[k] = True
            left[:, best] = -1
    return right


def _average_precision(right: npt.NDArray[np.bool_], count: int) -> float:
    """The mean over overlaps of the interpolated precision; `right` is (overlaps, boxes), `count` boxes are wanted."""
    found = np.cumsum(right, axis=1)
    precision = found / np.arange(1, right.shape[1] + 1)
    # The precision at a recall is the greatest at that recall or a higher one.
    precision = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    if not right.shape[1]:
        return 0.0
    values: list[float] = []
    for recall, line in zip(found / count, precision, strict=True):
        at = np.searchsorted(recall, RECALLS, side="left")
        values.append(float(np.append(line, 0.0)[at].mean()))
    return float(np.mean(values))


class CalledMetric(Metric):
    """
    A function of all outputs and labels.

    It is called once, with the outputs stacked, (samples, ...), a dictionary by name if there are several, and the
    labels, (samples, ...), lists where shapes differ; it returns a number, of which larger is better, or one for each
    sample, whose mean counts.
    """

    def __init__(self, function: Evaluate, name: str):
        self._function, self.name = function, name

    def row(self, outputs: Outputs, label: Any) -> tuple[dict[str, Array], Any]:
        return {name: np.array(array) for name, array in outputs.items()}, label

    def estimate(self, rows: Sequence[Any]) -> tuple[float, tuple[float, float] | None]:
        stacked = {name: _stacked([outputs[name] for outputs, _ in rows]) for name in rows[0][0]}
        labels = None if rows[0][1] is None else _stacked([label for _, label in rows])
        outputs = next(iter(stacked.values())) if len(stacked) == 1 else stacked
        try:
            result = np.asarray(self._function(outputs, labels), np.float64)
        except UserError:
            raise
        except Exception as error:
            raise UserError(
                f"the metric '{self.name}' raises {type(error).__name__}: {error}", "correct it"
            ) from error
        if result.size not in (1, len(rows)) or not np.isfinite(result).all():
            said = f"the metric '{self.name}' returns {result!s:.60}"
            raise UserError(said, "return a number, or one for each sample")
        if result.size == 1:
            return float(result.reshape(())[()]), None
        return _mean(result.reshape(-1))


def _stacked(arrays: Sequence[Any]) -> Any:
    same = len({np.shape(one) for one in arrays}) == 1
    return np.stack([np.asarray(one) for one in arrays]) if same else list(arrays)


METRICS: Mapping[str, Callable[[], Metric]] = {
    "top1": lambda: TopK(1),
    "top5": lambda: TopK(5),
    "mse": Mse,
    "psnr": Psnr,
    "cosine": Cosine,
    "miou": MeanIou,
    "map": MeanAveragePrecision,
}
"""Metrics by the name that `--metric` has."""


def metric_maker(named: str | Evaluate | None) -> Callable[[], Metric]:
    """
    What makes the metric of a name of `METRICS`, of `module:function`, or of a function; None: top1.

    Raises UserError for another name, and for a function that cannot be imported.
    """
    if named is None:
        return METRICS["top1"]
    if not isinstance(named, str):
        function = named
        return lambda: CalledMetric(function, getattr(function, "__name__", "evaluate"))
    if named in METRICS:
        return METRICS[named]
    module, _, name = named.partition(":")
    if not name:
        raise UserError(
            f"there is no metric '{named}'", f"choose from {', '.join(METRICS)}, or module:function"
        )
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        imported: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"cannot import metric '{named}': {error}", "give module:function") from None
    if not callable(imported):
        raise UserError(
            f"metric '{named}' is {type(imported).__name__}, not a function", "give module:function"
        )
    return lambda: CalledMetric(imported, name)


@dataclass
class Evaluation:
    """The rows of one model's outputs, feed by feed."""

    metric: Metric
    rows: list[Any] = field(default_factory=list[Any])

    def add(self, outputs: Outputs, labels: Sequence[Any] | Array) -> None:
        """
        Count the outputs of one feed, with the labels of its samples. Raises UserError if the outputs are not of so
        many samples, or do not fit the metric.
        """
        count = len(labels)
        for k, label in enumerate(labels):
            parts = {name: _part(name, array, k, count) for name, array in outputs.items()}
            self.rows.append(self.metric.row(parts, label))

    def score(self) -> Score:
        """The score of all samples. Raises UserError without any."""
        return self.metric.score(self.rows)


def _part(name: str, array: Array, k: int, count: int) -> Array:
    """The part of an output that is sample k's."""
    if array.ndim and array.shape[0] == count:
        return array[k]
    if count == 1:
        return array
    raise UserError(f"output '{name}' is {_shape(array)} for {count} samples", "give data of one sample each")
