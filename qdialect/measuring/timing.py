"""Latency of models: run alternately, so that disturbances affect all equally; medians with their spread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from qdialect.data.preprocessing import Preprocessing
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input
from qdialect.evaluation.feeds import SIZES
from qdialect.measuring.runner import Runner, preprocessing_of, translate
from qdialect.numerics import Array

MIN_SECONDS = 2.0
"""Least total run time of one model, in seconds."""
MIN_AND_MAX_RUNS = 15, 5000
"""Least and greatest number of runs of each model."""
WARM_UP_RUNS = 3


@dataclass(frozen=True)
class Latency:
    """Latency of one model, over all rounds."""

    model: str
    engine: str
    """Name and version of the engine."""
    seconds: Sequence[float]

    @property
    def median(self) -> float:
        """Seconds."""
        return float(np.median(self.seconds))

    @property
    def spread(self) -> tuple[float, float]:
        """10th and 90th percentile, in seconds."""
        low, high = np.percentile(self.seconds, [10, 90])
        return float(low), float(high)

    def as_json(self) -> dict[str, Any]:
        """Latency as JSON values, in milliseconds."""
        low, high = self.spread
        return {
            "model": self.model,
            "engine": self.engine,
            "median_ms": 1e3 * self.median,
            "p10_ms": 1e3 * low,
            "p90_ms": 1e3 * high,
            "rounds": len(self.seconds),
        }


def alternate(
    runs: Sequence[Callable[[], object]],
    *,
    seconds: float = MIN_SECONDS,
    rounds: tuple[int, int] = MIN_AND_MAX_RUNS,
) -> list[list[float]]:
    """
    The wall time in seconds of each call of each function, called in turn for `seconds` each, and as many rounds as
    the two bounds allow.
    """
    for one in runs:
        for _ in range(WARM_UP_RUNS):
            one()
    times: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds * len(runs)
    least, most = rounds
    while (len(times[0]) < least or time.perf_counter() < end) and len(times[0]) < most:
        for one, taken in zip(runs, times, strict=True):
            start = time.perf_counter()
            one()
            taken.append(time.perf_counter() - start)
    return times


def _random_array(entry: Input, batch: int, size: int, generator: np.random.Generator) -> Array:
    sizes = [(size if k else batch) if s is None else s for k, s in enumerate(entry.shape)]
    if entry.dtype.kind == "f":
        return generator.standard_normal(sizes).astype(entry.dtype)
    if entry.dtype.kind == "b" or entry.dtype.itemsize > 1:  # indices, lengths and masks
        return generator.integers(0, 2, sizes).astype(entry.dtype)
    bounds = np.iinfo(entry.dtype.name)
    return generator.integers(bounds.min, bounds.max, sizes, endpoint=True).astype(entry.dtype)


def _check_batch(runner: Runner, batch: int) -> None:
    for one in runner.inputs:
        if one.shape and one.shape[0] not in (None, batch, 1):
            raise UserError(
                f"input '{one.name}' of '{runner.path}' has batch {one.shape[0]}, not {batch}",
                "leave --batch out",
            )
    if batch > 1 and not any(one.shape and one.shape[0] in (None, batch) for one in runner.inputs):
        raise UserError(f"'{runner.path}' takes one sample at a time", "export it with an open first axis")


def inputs_for(
    runner: Runner,
    data: Sequence[str] | str | None,
    batch: int | None,
    images: Preprocessing | None = None,
    record: Record | None = None,
) -> Arrays:
    """
    One feed: the first batch of `data`, or seeded random numbers, of the first open size that the model runs with.
    images: how they become inputs; None: as the file states it. record: counts what is read.

    Raises UserError if the data does not fit, the model takes no such batch, or no random numbers.
    """
    if batch is not None:
        _check_batch(runner, batch)
    if data:
        record = record or Record()
        read = runner.feeds(data, preprocessing_of(images, [runner], record), record)
        return _first_batch(runner, read, batch)
    error: UserError | None = None
    for size in SIZES:
        generator = np.random.default_rng(74)
        feed = {one.name: _random_array(one, batch or 1, size, generator) for one in runner.inputs}
        try:
            runner.run(feed)
        except UserError as refused:
            error = error or refused
            continue
        return feed
    raise UserError(f"the model does not run on random inputs: {error}", "give inputs: --data INPUTS.npz")


def _first_batch(runner: Runner, feeds: Iterator[Arrays], batch: int | None) -> Arrays:
    """The first feed; of a batch, as many samples of as many feeds as it has."""
    first = next(feeds)
    free = [one.name for one in runner.inputs if one.shape and one.shape[0] is None]
    if batch is None:
        return first
    while any(len(first[name]) < batch for name in free):
        if (further := next(feeds, None)) is None:
            raise UserError(f"the data has fewer than {batch} samples", "give more, or a smaller --batch")
        first = first | {name: np.concatenate([first[name], further[name]]) for name in free}
    return first | {name: first[name][:batch] for name in free}


Call = Callable[[], object]


def _in_onnxruntime(runner: Runner, feed: Arrays, _: int) -> tuple[str, Call]:
    import onnxruntime

    runner.run(feed)  # raises if onnxruntime cannot run the model
    return onnxruntime.__version__, lambda: runner.session.run(None, feed)


def _in_openvino(runner: Runner, feed: Arrays, threads: int) -> tuple[str, Call] | None:
    """OpenVINO's version, and a function that runs the model on its CPU plugin; None if unavailable."""
    if find_spec("openvino") is None:
        return None
    openvino: Any = import_module("openvino")
    options = {"PERFORMANCE_HINT": "LATENCY"} | ({"INFERENCE_NUM_THREADS": threads} if threads else {})
    try:
        request: Any = openvino.Core().compile_model(runner.path, "CPU", options).create_infer_request()
        request.infer(feed)
    except Exception:  # its exceptions share no base class
        return None
    infer: Call = partial(request.infer, feed)
    return str(openvino.get_version()).split("-")[0], infer


ENGINES = {"onnxruntime": _in_onnxruntime, "openvino": _in_openvino}
"""Engines, by name."""


def measure(
    paths: Sequence[str],
    *,
    data: str | Sequence[str] | Arrays | None = None,
    images: Preprocessing | None = None,
    record: Record | None = None,
    threads: int = 1,
    batch: int | None = None,
    show: Callable[[str], None] = lambda _: None,
) -> list[Latency]:
    """
    The latency of model files of one task in onnxruntime, and in OpenVINO where that is installed, on equal inputs.

    data: see `data.reading.load_data`, or the first model's feed; None for random numbers. images, record: as
    `inputs_for`. threads: of an operator, 0 for all cores. batch: samples in a run, if the first axis is open.

    Raises UserError if a file cannot be loaded or run, or the data does not fit. OpenVINO's failures are omitted.
    """
    show("loading the models")
    runners = [Runner(path, optimize=True, threads=threads) for path in paths]
    if isinstance(data, dict):
        first = data
    else:
        record = record or Record()
        first = inputs_for(runners[0], data, batch, preprocessing_of(images, runners, record), record)
    feeds = [translate(first, runners[0], runner) for runner in runners]
    latencies: list[Latency] = []
    for engine, prepared in ENGINES.items():
        show(f"running in {engine}")
        ready = [(r.path, prepared(r, feed, threads)) for r, feed in zip(runners, feeds, strict=True)]
        named = [(path, one[0], one[1]) for path, one in ready if one is not None]
        times = alternate([call for _, _, call in named]) if named else []
        latencies += [
            Latency(path, f"{engine} {version}", seconds)
            for (path, version, _), seconds in zip(named, times, strict=True)
        ]
    return latencies


def verdict(latencies: Sequence[Latency]) -> str:
    """Speedup of each model over the first in its engine, and whether it is significant; empty for one model."""
    lines: list[str] = []
    for engine in dict.fromkeys(one.engine for one in latencies):
        base, *others = [one for one in latencies if one.engine == engine]
        lines += [_against(base, other) for other in others]
    return "; ".join(lines)


def _against(base: Latency, other: Latency) -> str:
    ratio = base.median / other.median
    apart = base.spread[0] > other.spread[1] or other.spread[0] > base.spread[1]
    where = other.engine.split()[0]
    if not apart and 0.95 < ratio < 1 / 0.95:
        return f"'{other.model}' takes as long as '{base.model}' in {where}"
    word, factor = ("faster", ratio) if ratio >= 1 else ("slower", 1 / ratio)
    doubt = "" if apart else ", though the spreads overlap"
    return f"'{other.model}' is {factor:.2f}x {word} than '{base.model}' in {where}{doubt}"
