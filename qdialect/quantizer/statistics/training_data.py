"""
Signs that a model is fed other data than it was trained on: warnings, by what the model itself says of its inputs.

A normalization that is still in the file holds the mean and variance that each channel had in training: where the data
has others, the preprocessing is another one. A classifier without any decides clearly on what it was trained on. It is
run again as if the images had been preprocessed in the usual other ways, which are affine, so that nothing is read
again. How sure it is says nothing: larger inputs make larger logits, and any network certain (Hein et al. 2019, CVPR).
So `Decisions` do not depend on the scale of logits, and fall where all samples get one class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect.data.images import Place, place_of
from qdialect.data.preprocessing import PRESETS, Preprocessing
from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.errors import UserError
from qdialect.evaluation.data import Input
from qdialect.evaluation.feeds import model_inputs, retyped_feeds
from qdialect.evaluation.session import blamed, session
from qdialect.ir.interface import main_of
from qdialect.ir.names import node_name
from qdialect.ir.values import real_constant
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.promises.affine import AffineMap, RunningStatistics, affine_map
from qdialect.quantizer.statistics.observer import Observer
from qdialect.quantizer.statistics.samples import Row

Float64 = npt.NDArray[np.float64]
Run = Callable[[Row], Mapping[str, Array]]

MAX_TRIED_SAMPLES = 48
MIN_TRIED_SAMPLES = 16
"""Samples with which decisions are compared: fewer say nothing of their diversity."""
MAX_NORMALIZATIONS = 4
"""Normalizations that are compared with the data, the first of the graph."""
MAX_DISTANCE = 2.0
"""Distance of the first normalization from its data that is named whatever fits better; 0.8 at most was seen."""
MIN_DISTANCE, NEARER = 0.1, 3.0
"""Distance from which other preprocessing is tried, and the factor by which it must be nearer."""
MIN_CLARITY, CLEARER, CLEARER_OF_FEW = 0.4, 1.25, 1.5
"""
Clarity that other preprocessing must reach, and its ratio to that of the given one, with `FEW_CLASSES` and more, and
with fewer. On 27 classifiers the right one was at worst 1.09 times less clear than another; with classes put together
to few, 1.35 times.
"""
MIN_DIVERSITY = 0.85
"""Diversity that other preprocessing must reach: right decisions on samples of one class have none, wrong ones some."""
FEW_CLASSES = 8
MIN_LOGITS = 5
"""Fewer numbers that do not sum to 1 may be no classes: coordinates, angles."""


@dataclass(frozen=True)
class Images:
    """The input that takes images, and how they became its values."""

    input: Input
    place: Place
    given: Preprocessing

    def as_if(self, other: Preprocessing, rows: Sequence[Row]) -> list[dict[str, Array]]:
        """The rows as they were if images had the mean, std, range and order of channels of `other`."""
        axis = self.place.layout.index("C")
        shape = [-1 if k == axis else 1 for k in range(4)]

        def wide(numbers: tuple[float, ...]) -> Float64:
            return np.array(numbers, np.float64).reshape(shape)

        def changed(array: Array) -> Array:
            pixels = (array * wide(self.given.std) + wide(self.given.mean)) / self.given.range
            if other.bgr != self.given.bgr:
                pixels = np.flip(pixels, axis)
            values = (pixels * other.range - wide(other.mean)) / wide(other.std)
            return values.astype(array.dtype)

        name = self.input.name
        return [{**row, name: changed(row[name])} for row in rows]

    def others(self) -> Iterator[Preprocessing]:
        """The usual other ways, and the given one with channels swapped."""
        for one in (*PRESETS.values(), swapped(self.given)):
            if len(one.mean) in (1, self.place.channels):
                other = replace(self.given, mean=one.mean, std=one.std, range=one.range, bgr=one.bgr)
                if self.place.channels == 1:
                    other = replace(other, bgr=False)
                if other != self.given:
                    yield other

    def told(self, other: Preprocessing) -> str:
        """The other way in words."""
        names = [
            name
            for name, one in PRESETS.items()
            if (one.mean, one.std, one.range, one.bgr) == (other.mean, other.std, other.range, other.bgr)
        ]
        order = " in the order RGB" if self.given.bgr and not other.bgr else ""
        return f"images with {other}{order}" + (f", as '{names[0]}' has it" if names else "")


def swapped(one: Preprocessing) -> Preprocessing:
    """With the order of channels reversed, and mean and std in that order."""
    return replace(one, bgr=not one.bgr, mean=one.mean[::-1], std=one.std[::-1])


def images_of(module: ModuleOp, rows: Sequence[Row], stated: Preprocessing | None) -> Images | None:
    """
    The input of images, and their preprocessing: as stated, or, of arrays, by the range of their values. None if the
    model takes none, or if the range says nothing.
    """
    inputs = model_inputs(module)
    if len(inputs) != 1 or inputs[0].dtype.kind != "f" or not rows:
        return None
    try:
        place = place_of(inputs[0], None if stated is None else stated.layout)
    except UserError:
        return None
    given = stated if stated is not None else _of_range([row[inputs[0].name] for row in rows], place)
    return None if given is None else Images(inputs[0], place, given)


def _of_range(arrays: Sequence[Array], place: Place) -> Preprocessing | None:
    """The preprocessing after which images have the range of these arrays; None if it is none of the usual."""
    low, high = min(float(one.min()) for one in arrays), max(float(one.max()) for one in arrays)
    if low >= 0 and 0.5 < high <= 1:
        return PRESETS["unit"]
    if low >= 0 and 127 < high <= 255:
        return PRESETS["bytes"]
    if -1 <= low < -0.5 and 0.5 < high <= 1:
        return PRESETS["tf"]
    return None


def signs(module: ModuleOp, rows: Sequence[Row], images: Images | None) -> list[str]:
    """
    A warning if a float module, as it was read, was not trained on such samples: at most one. rows: samples in an order
    of chance.
    """
    rows = rows[:MAX_TRIED_SAMPLES]
    try:
        normalized = Normalizations(module)
        own = normalized.distances(rows)
        if own and max(own) < MIN_DISTANCE:
            return []
        found = normalized.signs(rows, own, images)
        return found or ([] if images is None else by_decisions(_runs(module), rows, images))
    except UserError:  # other preprocessing may overflow, and what does not run here is told elsewhere
        return []


# --- normalizations with the moments of training


class Normalizations:
    """The first ops of a module that hold mean and variance of their operand in training."""

    def __init__(self, module: ModuleOp):
        self._module = module.clone()
        lower_opsets(self._module)
        self._known: list[tuple[str, SSAValue, Float64, Float64]] = []
        for op in main_of(self._module).body.block.ops:
            if len(self._known) < MAX_NORMALIZATIONS and (moments := _moments(op)) is not None:
                self._known.append((node_name(op), op.operands[0], *moments))
        self._observer: Observer | None = None

    def distances(self, rows: Sequence[Row]) -> list[float]:
        """
        Of each op, the median over channels of |mean - mean in training| / deviation in training, plus that of
        |log2(deviation / deviation in training)|.
        """
        if not self._known:
            return []
        self._observer = self._observer or Observer(self._module)
        values = [value for _, value, _, _ in self._known]
        seen: list[list[Float64]] = [[] for _ in values]
        for row in rows:
            for one, array in zip(seen, self._observer.run(values, row), strict=True):
                channels = np.moveaxis(array.astype(np.float64), 1, 0).reshape(array.shape[1], -1)
                one.append(np.stack([channels.mean(1), np.square(channels).mean(1)]))
        found: list[float] = []
        for one, (_, _, mean, deviation) in zip(seen, self._known, strict=True):
            first, square = np.mean(one, axis=0)
            spread = np.sqrt(np.maximum(square - first**2, 0)) + 1e-3 * deviation
            shift = np.abs(first - mean) / deviation
            found.append(float(np.median(shift) + np.median(np.abs(np.log2(spread / deviation)))))
        return found

    def signs(self, rows: Sequence[Row], own: Sequence[float], images: Images | None) -> list[str]:
        """A warning, if the data has other moments. own: its distances."""
        if not own:
            return []
        if images is not None:
            tried = {other: self.distances(images.as_if(other, rows)) for other in images.others()}
            best = min(tried, key=lambda other: _mean(tried[other]))
            if _mean(tried[best]) * NEARER < _mean(own):
                return [
                    f"warning: the running means and variances of BatchNormalization fit {images.told(best)} far better"
                    f" (distance {_mean(tried[best]):.2g} against {_mean(own):.2g}): was the model trained so?"
                ]
        if own[0] < MAX_DISTANCE:
            return []
        return [
            "warning: the data is not what the model was trained on: in front of"
            f" '{self._known[0][0]}' it is far from the running mean and variance (distance {own[0]:.2g});"
            " check how the inputs are scaled"
        ]


def _mean(numbers: Sequence[float]) -> float:
    return float(np.mean(numbers))


def _moments(op: Any) -> tuple[Float64, Float64] | None:
    """Mean and deviation of each channel in training, that an op has as constants; None if it has none."""
    promise = promise_of(op, RunningStatistics)
    if promise is None or not isinstance(op, OnnxOp) or not isinstance(affine_map(op.results[0]), AffineMap):
        return None
    mean, variance = (real_constant(op.operands[k]) for k in (promise.mean, promise.variance))
    if mean is None or variance is None or not (variance > 0).any():
        return None
    deviation = np.sqrt(variance.astype(np.float64))
    return mean.astype(np.float64), np.maximum(deviation, 1e-3 * deviation.max())


# --- decisions of a classifier


class Decisions(NamedTuple):
    """How a network decides on some samples; both numbers do not depend on the scale of logits."""

    margin: float
    """Median over samples of the distance of the two highest logits, in deviations of all logits of a sample."""
    diversity: float
    """Entropy of the decisions as a fraction of the greatest possible."""

    @property
    def clarity(self) -> float:
        return self.margin * self.diversity


def decisions(logits: Float64) -> Decisions:
    """The decisions of logits (samples, classes), two or more of each."""
    samples, classes = logits.shape
    centred = logits - logits.mean(1, keepdims=True)
    deviation = float(np.sqrt(np.square(centred).mean()))
    if not np.isfinite(deviation) or not deviation:
        return NOTHING
    two = np.partition(logits, classes - 2, axis=1)[:, -2:]
    chosen = np.unique(logits.argmax(1), return_counts=True)[1] / samples
    entropy = float(np.abs(chosen * np.log(chosen)).sum())
    margin = float(np.median(two[:, 1] - two[:, 0])) / deviation
    return Decisions(margin, entropy / float(np.log(min(samples, classes))))


NOTHING = Decisions(0.0, 0.0)


def logits_of(outputs: Sequence[Mapping[str, Array]]) -> Float64 | None:
    """
    Logits (samples, classes) of the first output that is a row of numbers for each sample: the numbers, or the
    logarithms of shares that sum to 1. None if there is none, or if the numbers are too few to be classes.
    """
    for name, array in outputs[0].items():
        is_row = array.dtype.kind == "f" and array.ndim > 1 and array.shape[0] == 1
        if not is_row or array.size < 2 or array.size != max(array.shape):
            continue
        rows = np.stack([one[name].reshape(-1) for one in outputs]).astype(np.float64)
        if (rows >= 0).all() and np.allclose(rows.sum(1), 1, atol=1e-3):
            return np.log(np.maximum(rows, 1e-30))
        return rows if rows.shape[1] >= MIN_LOGITS else None
    return None


def by_decisions(run: Run, rows: Sequence[Row], images: Images) -> list[str]:
    """
    A warning, if a classifier decides far more clearly on images that were preprocessed otherwise. run: gives a model's
    outputs by name. rows: samples in an order of chance.
    """
    rows = rows[:MAX_TRIED_SAMPLES]
    if len(rows) < MIN_TRIED_SAMPLES or logits_of([run(rows[0])]) is None:
        return []

    def decided(rows: Sequence[Row]) -> tuple[Decisions, int]:
        logits = logits_of([run(row) for row in rows])
        return (NOTHING, 0) if logits is None else (decisions(logits), logits.shape[1])

    own, classes = decided(rows)
    tried = {other: decided(images.as_if(other, rows))[0] for other in images.others()}
    best = max(tried, key=lambda other: tried[other].clarity)
    clearer = CLEARER if classes >= FEW_CLASSES else CLEARER_OF_FEW
    if tried[best].diversity < MIN_DIVERSITY:
        return []
    if tried[best].clarity < max(MIN_CLARITY, clearer * own.clarity):
        return []
    return [
        f"warning: the model decides far more clearly on {images.told(best)} (clarity {tried[best].clarity:.2f} against"
        f" {own.clarity:.2f}): was it trained so?"
    ]


def _runs(module: ModuleOp) -> Run:
    """Runs a module as it was read. Raises UserError if onnxruntime refuses it."""
    runner = session(export_model(module).SerializeToString(deterministic=True), optimize=True)
    names: list[str] = [one.name for one in runner.get_outputs()]

    def run(row: Row) -> Mapping[str, Array]:
        with blamed("onnxruntime cannot run the model"):
            results = runner.run(None, retyped_feeds(module, row))
        return dict(zip(names, map(np.asarray, results), strict=True))

    return run
