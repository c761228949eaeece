"""`Record`: what a model was fed, counted while it is read, and said in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from qdialect.data.preprocessing import Preprocessing
from qdialect.evaluation.data import Input
from qdialect.numerics import Array

MAX_SAME_ASPECT_CHANGE = 0.01
"""Greatest change of the ratio of an image's sides that counts as none."""


@dataclass
class Moments:
    """Range, mean and standard deviation of the numbers of one input."""

    count: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: float = 0.0
    squares: float = 0.0

    def add(self, array: Array) -> None:
        """Count an array."""
        if not array.size:
            return
        values = array.astype(np.float64)
        self.count += values.size
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        self.total += float(values.sum())
        self.squares += float(np.square(values).sum())

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        return sqrt(max(self.squares / self.count - self.mean**2, 0.0)) if self.count else 0.0

    def __str__(self) -> str:
        return f"{self.low:.3g} to {self.high:.3g}, mean {self.mean:.3g}, deviation {self.deviation:.3g}"


@dataclass
class Record:
    """What was read of the data so far."""

    preprocessing: Preprocessing | None = None
    """Of the images; None if there is none among the data."""
    stated: str = ""
    """Where the preprocessing was stated, if it was not given."""
    files: int = 0
    samples: int = 0
    hidden: int = 0
    """Files that were left out since their names begin with a dot."""
    unknown: int = 0
    """Files of folders that hold no data."""
    modes: Counter[str] = field(default_factory=Counter[str])
    """Images by how they were decoded."""
    arrays: int = 0
    """Files of arrays, which have no preprocessing."""
    class_folders: set[str] = field(default_factory=set[str])
    """Names of the subfolders that hold images."""
    resized: int = 0
    stretched: int = 0
    """Images whose sides have another ratio than before."""
    least: tuple[int, int] = (0, 0)
    """Width and height of the image of the fewest pixels."""
    most: tuple[int, int] = (0, 0)
    sizes: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    """Sizes in which images are fed."""
    inputs: dict[str, Moments] = field(default_factory=dict[str, Moments])
    in_bytes: set[str] = field(default_factory=set[str])
    """Float inputs whose data are bytes."""

    def count_image(
        self, how: str, before: tuple[int, int], after: tuple[int, int], options: Preprocessing
    ) -> None:
        """Count an image. how: it was decoded; before, after: its width and height as read, and as fed."""
        self.preprocessing = options
        if not self.modes or before[0] * before[1] < self.least[0] * self.least[1]:
            self.least = before
        if before[0] * before[1] > self.most[0] * self.most[1]:
            self.most = before
        self.modes[how] += 1
        self.sizes.add(after)
        self.resized += before != after
        if not options.keeps_aspect:
            change = after[0] * before[1] / max(after[1] * before[0], 1)
            self.stretched += abs(change - 1) > MAX_SAME_ASPECT_CHANGE

    def count_feed(self, feed: Mapping[str, Array], inputs: Sequence[Input]) -> None:
        """Count what is run at once, in the types of the inputs: a sample, or several if the batch is open."""
        open_ = [len(feed[one.name]) for one in inputs if one.shape and one.shape[0] is None]
        self.samples += max(open_, default=1)
        for name, array in feed.items():
            if array.dtype.kind in "fiub":
                self.inputs.setdefault(name, Moments()).add(array)

    def look(self, sample: Mapping[str, Array], inputs: Sequence[Input]) -> None:
        """Count a sample before it takes the types of the inputs."""
        real = [one.name for one in inputs if one.dtype.kind == "f" and one.name in sample]
        self.in_bytes.update(name for name in real if sample[name].dtype == np.uint8)

    @property
    def what(self) -> str:
        """`images` or `samples`."""
        return "images" if self.preprocessing is not None and not self.arrays else "samples"

    def offer(self) -> list[str]:
        """A line if the data has class folders."""
        if len(self.class_folders) < 2:
            return []
        return [f"labels: {len(self.class_folders)} class folders; --labels folders measures top-1 by them"]

    def line(self) -> str:
        """What the model saw; empty if it saw nothing."""
        if not self.samples:
            return ""
        files = f" of {_count(self.files, 'file')}" if self.files else ""
        parts = [f"data: {_count(self.samples, 'sample')}{files}", *self._images(), *self._left_out()]
        inputs = [f"'{name}' in {one}" for name, one in self.inputs.items() if one.count]
        return "; ".join([*parts, *inputs])

    def _images(self) -> list[str]:
        if self.preprocessing is None:
            return []
        modes = ", ".join(f"{count} {mode}" for mode, count in sorted(self.modes.items()))
        parts = [f"images: {modes}", self._sizes()]
        stated = f" (as stated in {self.stated})" if self.stated else ""
        plain = (
            ""
            if self.stated or self.preprocessing != Preprocessing()
            else " (no --mean or --preprocess given)"
        )
        parts.append(f"{self.preprocessing}{stated}{plain}")
        return parts + ([f"{_count(self.arrays, 'file')} of arrays fed as they are"] if self.arrays else [])

    def _sizes(self) -> str:
        fed = _size(next(iter(self.sizes))) if len(self.sizes) == 1 else f"{len(self.sizes)} sizes"
        if not self.resized:
            return f"{fed} as they are"
        before = (
            _size(self.least) if self.least == self.most else f"{_size(self.least)} to {_size(self.most)}"
        )
        aspect = f", aspect changed in {self.stretched}" if self.stretched else ""
        how = "resized and cut" if self.preprocessing and self.preprocessing.keeps_aspect else "stretched"
        return f"{self.resized} {how} from {before} to {fed}{aspect} (width x height)"

    def _left_out(self) -> list[str]:
        parts = [f"{_count(self.hidden, 'hidden file')} left out"] if self.hidden else []
        return parts + ([f"{_count(self.unknown, 'file')} of other kinds left out"] if self.unknown else [])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"
