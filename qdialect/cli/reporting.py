"""`--report`: actions of a command, files read and written, and with data the measured noise and time."""

import argparse
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qdialect.compiler.options import ImageOptions, options_of
from qdialect.errors import UserError

if TYPE_CHECKING:
    from qdialect.data.metrics import Score
    from qdialect.evaluation.data import Arrays
    from qdialect.measuring.layers import Layers
    from qdialect.measuring.timing import Latency
    from qdialect.quantizer.quantize import Quantized
    from qdialect.report.page.data import Candidate, Circumstances, File, Histogram, Latencies, Task
    from qdialect.report.report import Report

MAX_NOISE_SAMPLES = 8
"""Number of samples for measuring noise, as batches, or in one batch if its size is open."""
MAX_BINS = 64
"""Greatest number of bins of a tensor's histogram in a report."""
MIN_MENTIONED_TIME_SHARE = 0.05
"""Fraction of the time below which nodes that onnxruntime added are not mentioned."""


class Reporting:
    """
    The report of one command. It inspects the model, and tries the data, before the work.

    Raises UserError if there is data, and the model does not run on it or would be overwritten.
    """

    def __init__(self, arguments: argparse.Namespace):
        self._arguments = arguments
        self._path: str | None = arguments.report
        self._read = [] if self._path is None else _files("input", arguments.input)
        self._feeds = self._samples() if self._path is not None and arguments.data else []

    def _samples(self) -> "list[Arrays]":
        from qdialect.data.preprocessing import given
        from qdialect.data.record import Record
        from qdialect.measuring.runner import Runner, preprocessing_of

        a = self._arguments
        if a.output is not None and Path(a.output).suffix.lower() != ".onnx":
            raise UserError(
                f"--report with --data runs the result in onnxruntime, which does not take '{a.output}'",
                "leave --data out",
            )
        if a.output is not None and Path(a.output).exists() and Path(a.output).samefile(a.input):
            raise UserError(
                "--report with --data compares the result with the model, which the output would replace",
                "write another file, or leave --data out",
            )
        runner = Runner(a.input, optimize=False)
        record = Record()
        images = preprocessing_of(given(options_of(ImageOptions, a)), [runner], record)
        free = {one.name for one in runner.inputs if one.shape and one.shape[0] is None}
        feeds = [
            {name: array[:MAX_NOISE_SAMPLES] if name in free else array for name, array in feed.items()}
            for feed in islice(runner.feeds(a.data, images, record), 1 if free else MAX_NOISE_SAMPLES)
        ]
        runner.run(feeds[0])
        return feeds

    def write(
        self, report: "Report", show: Callable[[str], None], quantized: "Quantized | None" = None
    ) -> Sequence[str]:
        """
        Write the requested report, if any, after the model, with what `quantize` tells; return lines with the
        measurements. Raises OSError.
        """
        if self._path is None:
            return ()
        from qdialect.files import atomic_write
        from qdialect.report.page.data import write_json
        from qdialect.report.page.html import write_html

        measured = self._measured(report, show) if self._feeds else {"findings": ()}
        lines: Sequence[str] = measured["findings"]
        if quantized is not None:
            said = quantized.summary()
            measured |= _of_quantized(quantized) | {"findings": (*said, *measured["findings"])}
        around = self._circumstances(measured)
        text = (
            write_json(report, around) if self._path.lower().endswith(".json") else write_html(report, around)
        )
        with atomic_write(self._path) as file:
            file.write(text.encode())
        return lines

    def _circumstances(self, measured: dict[str, Any]) -> "Circumstances":
        from qdialect.report.page.data import Circumstances

        files = (*self._read, *_files("output", self._arguments.output))
        command = shlex.join(["qdialect", *self._arguments.words])
        return Circumstances(command, files, **measured)

    def _measured(self, report: "Report", show: Callable[[str], None]) -> dict[str, Any]:
        """Noise by tensor, times by node, and their summaries; times are of one sample if the batch is open."""
        from qdialect.measuring.layers import compare_layers
        from qdialect.measuring.profiling import seconds_by_node
        from qdialect.measuring.runner import Runner, translate
        from qdialect.measuring.timing import measure
        from qdialect.report.page.data import TensorNoise

        before, after = self._arguments.input, self._arguments.output
        layers = compare_layers(before, after, self._feeds, show=show)
        first, second = (Runner(path, optimize=True, threads=1) for path in (before, after))
        free = {one.name for one in first.inputs if one.shape and one.shape[0] is None}
        feed = {name: array[:1] if name in free else array for name, array in self._feeds[0].items()}
        times = measure([before, after], data=feed, show=show)
        show("timing each node")
        by_node, elsewhere = seconds_by_node(after, translate(feed, first, second))
        by_node_before, _ = seconds_by_node(before, feed)
        findings = [*_speed(times), f"noise: {layers.verdict()}"]
        if elsewhere > MIN_MENTIONED_TIME_SHARE:
            share = f"{100 * elsewhere:.0f} %"
            findings.insert(-1, f"time: {share} is in nodes that onnxruntime added, which belong to no layer")
        noise = {one.name: TensorNoise(one.sqnr, one.steps) for one in layers.tensors}
        return {
            "latencies": _latencies(times),
            "sqnr": _sqnr(report, layers),
            "seconds": by_node,
            "seconds_before": by_node_before,
            "noise": noise,
            "findings": tuple(findings),
        }


def _latencies(times: "Sequence[Latency]") -> "Latencies | None":
    """The medians of both models in the first engine."""
    from qdialect.report.page.data import Latencies

    medians = [one.median for one in times if one.engine == times[0].engine]
    return Latencies(medians[0], medians[1], times[0].engine) if len(medians) == 2 else None


def _sqnr(report: "Report", layers: "Layers") -> float | None:
    """Signal to noise in dB of the output with the most noise; None if none was compared."""
    outputs = {end.tensor.name for end in report.account.origin.links.outputs}
    return min((one.sqnr for one in layers.tensors if one.name in outputs), default=None)


def _of_quantized(done: "Quantized") -> dict[str, Any]:
    """What `quantize` knows: the noise on held-out samples, the values of tensors, the candidates."""
    found: dict[str, Any] = {"histograms": _histograms(done), "candidates": _candidates(done)}
    if done.scores is not None:
        found["task"] = _task(*done.scores)
    return found if math.isnan(done.ratio) else found | {"sqnr": done.ratio}


def _task(before: "Score", after: "Score") -> "Task":
    """The scores of both models, shares in percent."""
    from qdialect.report.page.data import Task

    factor = 100.0 if after.unit == "%" else 1.0
    values = factor * before.value, factor * after.value
    return Task(after.metric, *values, after.unit, after.count, after.margin)


def _histograms(done: "Quantized") -> "dict[str, Histogram]":
    """The histograms of the tensors that the model as read computes or takes."""
    from qdialect.report.page.data import Histogram

    origin, found = done.report.account.origin, dict[str, Histogram]()
    names = [end.tensor.name for end in origin.links.inputs]
    names += [tensor.name for row in origin.rows for tensor in row.outputs]
    for name in names:
        one = done.profile.tensors.get(name)
        if one is not None and one.counts.size:
            found[name] = Histogram(float(one.low), float(one.high), *one.coarse(MAX_BINS))
    return found


def _candidates(done: "Quantized") -> "tuple[Candidate, ...]":
    from qdialect.report.page.data import Candidate

    chosen = None if done.floating else done.choice
    rows = (
        (str(one.choice), one.ratio, one.share, one.layers, one.choice == chosen)
        for one in done.tried
        if one.integer
    )
    return tuple(Candidate(*row) for row in rows)


def _speed(times: "Sequence[Latency]") -> Iterator[str]:
    """Lines with the latency of the model and of the result, in each engine that ran both."""
    for engine in dict.fromkeys(one.engine for one in times):
        medians = [1e3 * one.median for one in times if one.engine == engine]
        if len(medians) == 2:
            before, after = medians
            yield f"time: {before:.3g} ms -> {after:.3g} ms, {before / after:.2f}x, in {engine} on one thread"


def _files(role: str, path: str) -> "list[File]":
    from qdialect.report.page.data import File

    return [File.of(role, path)] if Path(path).is_file() else []
