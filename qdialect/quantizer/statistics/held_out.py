"""
`HeldOut`: labelled samples that neither calibrate nor choose between candidates, on which accuracy is measured.

Half of the samples, by their hashes: independent of their order, and the same with a saved profile of the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from qdialect.data.labels import Labels, labelled, rows_of
from qdialect.data.preprocessing import Preprocessing
from qdialect.data.reading import Data, Sample, checked, feeds_of, load_data, paths_of
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input
from qdialect.numerics import Array
from qdialect.quantizer.statistics.profiling import sample_hash

MAX_KEPT_BYTES = 512 << 20
"""Bytes of held-out samples that are kept; more are read again each time."""

Labelled = tuple[Arrays, Sequence[Any] | Array]
"""A feed, and the labels of its samples; None for each without labels."""


def read_labelled(
    data: Data | None,
    inputs: Sequence[Input],
    images: Preprocessing,
    labels: str | Sequence[Any] | Array | None,
    record: Record,
) -> Iterator[Labelled]:
    """The data as feeds, of one sample each where the batch is open. Raises UserError as its parts do."""
    paths = paths_of(data)
    known = None if labels is None else Labels(labels, paths)
    read = load_data(paths, inputs, images, record) if paths else map(Sample, feeds_of(data))
    for sample in read:
        feeds = checked([sample.arrays], inputs, record=record)
        if known is None:
            pairs: Iterator[Labelled] = ((feed, [None] * rows_of(feed, inputs)) for feed in feeds)
        else:
            pairs = labelled(sample, feeds, inputs, known)
        for feed, right in pairs:
            yield from _apart(feed, right, inputs)
    if known is not None:
        known.finish()


def _apart(feed: Arrays, right: Sequence[Any] | Array, inputs: Sequence[Input]) -> Iterator[Labelled]:
    """The samples of a feed one by one, if the batch is open."""
    free = [one.name for one in inputs if one.shape and one.shape[0] is None]
    if not free or len(right) < 2:
        yield feed, right
        return
    for k in range(len(right)):
        yield feed | {name: feed[name][k : k + 1] for name in free}, right[k : k + 1]


class HeldOut:
    """The held-out samples of some data. They are known when `calibrating` has been read."""

    def __init__(self, read: Callable[[Record], Iterator[Labelled]], *, is_read_once: bool):
        """read: begins to read all data. is_read_once: True if it can do so only once."""
        self._read, self._is_read_once = read, is_read_once
        self._kept: list[Labelled] | None = []
        self.count = self.calibrated = 0
        """Numbers of samples that are held out, and of the others."""

    def calibrating(self, record: Record) -> Iterator[Arrays]:
        """
        The other samples, which calibrate.

        Raises UserError if one half is empty, or if the held-out half neither fits in memory nor can be read again.
        """
        size = 0
        for feed, right in self._read(record):
            if not _is_held_out(feed):
                self.calibrated += len(right)
                yield feed
                continue
            self.count += len(right)
            size += sum(array.nbytes for array in feed.values())
            if self._kept is not None and size <= MAX_KEPT_BYTES:
                self._kept.append(({name: array.copy() for name, array in feed.items()}, right))
                continue
            if self._is_read_once:
                raise UserError(
                    "accuracy is measured on more data than memory is used for, and they can be read only once",
                    "give a list, a path, or module:function",
                )
            self._kept = None
        if not (self.count and self.calibrated):
            raise UserError(
                f"of {self.count + self.calibrated} samples, one half has to calibrate and the other to measure"
                " accuracy, and one is empty",
                "give more samples",
            )

    def __iter__(self) -> Iterator[Labelled]:
        if self._kept is not None:
            return iter(self._kept)
        return (pair for pair in self._read(Record()) if _is_held_out(pair[0]))


def _is_held_out(feed: Arrays) -> bool:
    return sample_hash(feed) % 2 == 1
