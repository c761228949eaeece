"""`Runner`: a model file in onnxruntime, with real-valued inputs and outputs even if its interface is integer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from qdialect.data.labels import Labels, labelled
from qdialect.data.preprocessing import KEY, PLAIN, Preprocessing, from_text
from qdialect.data.reading import Sample, checked, load_data
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input, one_line, read_inputs, unlike_rows
from qdialect.evaluation.session import session
from qdialect.ir.interface import IntegerInterface, read_interface
from qdialect.numerics import Array


class Runner:
    """
    One model file in an onnxruntime session on the CPU.

    threads: of an operator; 0 for all cores. model: bytes to load instead of the file, derived from it. Raises
    UserError if onnxruntime refuses the model, or its metadata on integer inputs and outputs cannot be read.
    """

    def __init__(self, path: str, *, optimize: bool, threads: int = 0, model: bytes | None = None):
        self.path = path
        folder = Path(path).parent if model is not None else None
        self.session = session(path if model is None else model, optimize, threads, name=path, folder=folder)
        inputs = {i.name: (i.shape, i.type) for i in self.session.get_inputs()}
        self.inputs = read_inputs(inputs)
        self.outputs: list[str] = [o.name for o in self.session.get_outputs()]
        metadata = self.session.get_modelmeta().custom_metadata_map
        self.interface = read_interface(metadata)
        self.preprocessing = from_text(metadata[KEY], f"'{path}'") if KEY in metadata else None
        """How images become inputs, as the file states it."""
        for one, (_, type_) in zip(self.inputs, inputs.values(), strict=True):
            if one.dtype.kind == "O":
                raise UserError(
                    f"input '{one.name}' of '{path}' is {type_}", "only numeric tensors can be inputs here"
                )

    def run(self, feeds: Mapping[str, Array]) -> list[Any]:
        """The outputs, in order. Raises UserError if onnxruntime cannot run the model on these inputs."""
        return list(self.run_all(feeds, self.outputs).values())

    def run_all(self, feeds: Mapping[str, Array], outputs: Collection[str]) -> dict[str, Any]:
        """Some of the outputs, by name. Raises UserError if onnxruntime cannot run the model."""
        try:
            return dict(zip(outputs, self.session.run(list(outputs), dict(feeds)), strict=True))
        except Exception as error:  # onnxruntime's exceptions share no base class
            refused = f"onnxruntime cannot run '{self.path}', {one_line(error)}"
            raise unlike_rows(feeds) or UserError(refused, "check model and data") from error

    def feeds(
        self, source: str | Sequence[str], images: Preprocessing = PLAIN, record: Record | None = None
    ) -> Iterator[Arrays]:
        """
        The batches of data, as `data.reading.load_data` takes it. An integer input with known parameters takes real
        numbers as well. record: counts what is read.

        Raises UserError for wrong keys, shapes or types, NaN, infinity, or no sample.
        """
        return (feed for feed, _ in self.labelled(source, images, record or Record(), None))

    def labelled(
        self, source: str | Sequence[str], images: Preprocessing, record: Record, labels: Labels | None
    ) -> Iterator[tuple[Arrays, Sequence[Any] | Array | None]]:
        """The batches of data as `feeds`, each with the labels of its samples. Raises UserError as `Labels.of` too."""
        empty = True
        for sample in load_data(source, [self._real(one) for one in self.inputs], images, record):
            feeds = self._cut(sample, record)
            pairs = (
                ((feed, None) for feed in feeds)
                if labels is None
                else labelled(sample, feeds, self.inputs, labels)
            )
            for pair in pairs:
                empty = False
                yield pair
        if empty:
            raise UserError("the data is empty", "give at least one sample")
        if labels is not None:
            labels.finish()

    def real_outputs(self, outputs: Sequence[Any]) -> dict[str, Array]:
        """Outputs by name as real numbers. Raises UserError for one that is no tensor of numbers."""
        real: dict[str, Array] = {}
        for name, one in zip(self.outputs, outputs, strict=True):
            array, known = np.asarray(one), self.interface.get(name)
            if array.dtype.kind in "OUS":
                raise UserError(
                    f"output '{name}' is not a numeric tensor", "measure models with numeric outputs"
                )
            is_stored = known is not None and array.dtype.kind in "iu"
            real[name] = known.dequantize(array) if known is not None and is_stored else array
        return real

    def _cut(self, sample: Sample, record: Record) -> Iterator[Arrays]:
        """The batches of one sample."""
        arrays = sample.arrays
        real = [one for one in self.inputs if self._is_real(arrays, one)]
        inputs = [self._real(one) if one in real else one for one in self.inputs]
        for feed in checked([arrays], inputs, strict=True, record=record):
            yield feed | {
                one.name: self.interface[one.name].quantize(feed[one.name], one.dtype) for one in real
            }

    def _real(self, one: Input) -> Input:
        """The real numbers that an integer input with known parameters stands for; other inputs as they are."""
        return replace(one, dtype=np.dtype(np.float32)) if one.name in self.interface else one

    def _is_real(self, feed: Mapping[str, Array], one: Input) -> bool:
        """True if the data has real numbers for an integer input with known scale and zero point."""
        return (
            one.name in self.interface and one.name in feed and np.asarray(feed[one.name]).dtype.kind == "f"
        )


def _pairs(a: Sequence[str], b: Sequence[str], what: str) -> list[str]:
    """For each of `a` its partner in `b`: of equal name if all have one, else of equal index."""
    if len(a) != len(b):
        raise UserError(
            f"one model has {len(a)} {what}, the other {len(b)}",
            "compare models with the same inputs and outputs",
        )
    return list(a) if set(a) == set(b) else list(b)


def _as_stored(
    name: str, array: Array, known: IntegerInterface | None, wanted: Input, wants: IntegerInterface | None
) -> Array:
    """An input of one model converted for another: the same real numbers as float or stored integers."""
    if array.ndim != len(wanted.shape) or any(
        size not in (None, have) for size, have in zip(wanted.shape, array.shape, strict=True)
    ):
        have, takes = (
            "x".join("?" if n is None else str(n) for n in sizes) for sizes in (array.shape, wanted.shape)
        )
        raise UserError(
            f"input '{name}' is {have}, the other model takes {takes}",
            "compare models with the same inputs",
        )
    if array.dtype.kind != "f" and known is not None and (wanted.dtype.kind == "f" or wants is not None):
        array = known.dequantize(array)
    if array.dtype.kind == "f" and wanted.dtype.kind in "iu" and wants is not None:
        return wants.quantize(array, wanted.dtype)
    if array.dtype.kind != wanted.dtype.kind and "f" in (array.dtype.kind, wanted.dtype.kind):
        raise UserError(
            f"input '{name}' is {array.dtype} in one model and {wanted.dtype} in the other, whose metadata"
            " does not say scale and zero point",
            "compile it again with --integer-io",
        )
    return array.astype(wanted.dtype, copy=False)


def translate(feeds: Mapping[str, Array], source: Runner, other: Runner) -> Arrays:
    """
    The feeds of one model converted for another of the same task, to its names and types.

    Raises UserError if the numbers of inputs differ, or parameters of an integer input are unknown.
    """
    names = _pairs([i.name for i in source.inputs], [i.name for i in other.inputs], "inputs")
    wanted = {i.name: i for i in other.inputs}
    return {
        name: _as_stored(
            one.name, feeds[one.name], source.interface.get(one.name), wanted[name], other.interface.get(name)
        )
        for one, name in zip(source.inputs, names, strict=True)
    }


def paired_outputs(
    a: Runner, left: Sequence[Any], b: Runner, right: Sequence[Any]
) -> Iterator[tuple[Array, Array]]:
    """
    Pairs of outputs of two models, in the order of the first, converted to the same kind of number.

    Raises UserError if the numbers of outputs differ, one is not a numeric tensor, or one is integer and the other
    float without parameters in the metadata.
    """
    by_name = dict(zip(b.outputs, right, strict=True))
    for name, one, partner in zip(a.outputs, left, _pairs(a.outputs, b.outputs, "outputs"), strict=True):
        x, y = np.asarray(one), np.asarray(by_name[partner])
        if x.dtype.kind in "OUS" or y.dtype.kind in "OUS":
            raise UserError(f"output '{name}' is not a numeric tensor", "compare models with numeric outputs")
        known, wants = a.interface.get(name), b.interface.get(partner)
        if known is not None and x.dtype.kind in "iu" and (wants is not None or y.dtype.kind == "f"):
            x = known.dequantize(x)
        if wants is not None and y.dtype.kind in "iu" and (known is not None or x.dtype.kind == "f"):
            y = wants.dequantize(y)
        if (x.dtype.kind == "f") != (y.dtype.kind == "f"):
            raise UserError(
                f"output '{name}' is {x.dtype} in one model and {y.dtype} in the other, and no metadata says"
                " scale and zero point",
                "compile it again with --integer-io",
            )
        yield x, y


def preprocessing_of(asked: Preprocessing | None, runners: Sequence[Runner], record: Record) -> Preprocessing:
    """
    How images become inputs: as asked, else as the files state it, which `record` says.

    Raises UserError if nothing is asked and two files state different ones.
    """
    if asked is not None:
        return asked
    stated = {one.path: one.preprocessing for one in runners if one.preprocessing is not None}
    if not stated:
        return PLAIN
    if len(set(stated.values())) > 1:
        raise UserError(
            f"the files {', '.join(map(repr, stated))} state different preprocessing of images",
            "say which with --preprocess",
        )
    path, own = next(iter(stated.items()))
    record.stated = f"'{path}'"
    return own
