"""
Time of each node of a model, by onnxruntime's profiler: medians over runs, which an interruption does not change.

The profiler itself takes some microseconds in each node. They are taken off, so that the nodes together take as long as
a run without it.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, median_grouped
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from qdialect.errors import UserError
from qdialect.evaluation.session import session
from qdialect.measuring.attribution import Origins, attributed
from qdialect.measuring.timing import alternate
from qdialect.numerics import Array

PROFILED_RUNS, WARM_UP_RUNS = 20, 3
SUFFIX = "_kernel_time"
MAX_OVERHEAD_SHARE = 0.9
"""Greatest fraction of a node's time that is taken for the profiler's."""


@dataclass(frozen=True)
class NodeTime:
    """One node of the graph that onnxruntime runs, which is not always one of the file."""

    node: str
    """Its name in the session, in which a node that is fused or added has a name of its own."""
    source: str | None
    """Name of the node of the file that it comes from; None if names do not tell."""
    kernel: str
    """Op type of the node."""
    inputs: Sequence[str]
    """Element types and shapes, as `uint8 1x3x8x8`."""
    outputs: Sequence[str]
    seconds: float
    """Median time of one run, without that of nodes in subgraphs and of the profiler."""
    share: float
    """Fraction of the time of all nodes."""

    @property
    def types(self) -> str:
        """The element types of its inputs and outputs, without duplicates."""
        sides = [dict.fromkeys(text.split()[0] for text in side) for side in (self.inputs, self.outputs)]
        return " -> ".join(", ".join(side) for side in sides)

    def as_json(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "source": self.source,
            "kernel": self.kernel,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "ms": 1e3 * self.seconds,
            "share": self.share,
        }


class RanNode(NamedTuple):
    """A node that a session ran."""

    node: str
    kernel: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Taken(NamedTuple):
    """The time of a node in one run."""

    micros: float
    """Median, of all calls in a run together."""
    calls: float
    """Mean number of calls in a run."""


def _described(tensors: Sequence[Mapping[str, Sequence[int]]]) -> tuple[str, ...]:
    return tuple(
        f"{type} {'x'.join(map(str, shape))}".strip() for one in tensors for type, shape in one.items()
    )


def _own_times(events: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], float]]:
    """The events of nodes with the microseconds of each, without those of the nodes in its subgraphs."""
    times: list[tuple[Mapping[str, Any], float]] = []
    around: list[tuple[float, int]] = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while around and around[-1][0] <= event["ts"]:
            around.pop()
        if around:
            outer, taken = times[around[-1][1]]
            times[around[-1][1]] = outer, max(taken - event["dur"], 0.0)
        around.append((event["ts"] + event["dur"], len(times)))
        times.append((event, float(event["dur"])))
    return times


def medians(events: Sequence[Mapping[str, Any]]) -> dict[RanNode, Taken]:
    """
    The time of each node over the runs after the warm-up. The profiler counts whole microseconds, between which the
    median is interpolated.
    """
    starts = sorted(e["ts"] for e in events if e.get("name") == "model_run")
    counted = len(starts) - WARM_UP_RUNS
    nodes = [e for e in events if e.get("cat") == "Node" and e["name"].endswith(SUFFIX)]
    runs: dict[RanNode, list[float]] = {}
    calls = Counter[RanNode]()
    for event, micros in _own_times(nodes):
        if (run := bisect_right(starts, event["ts"]) - 1 - WARM_UP_RUNS) < 0:
            continue
        details = event["args"]
        name, kernel = str(event["name"]).removesuffix(SUFFIX), str(details.get("op_name", ""))
        taken, results = (_described(details.get(f"{side}_type_shape", ())) for side in ("input", "output"))
        node = RanNode(name, kernel, taken, results)
        runs.setdefault(node, [0.0] * counted)[run] += micros
        calls[node] += 1
    return {k: Taken(max(median_grouped(times), 0.0), calls[k] / counted) for k, times in runs.items()}


def without_overhead(times: Mapping[RanNode, Taken], whole: float) -> dict[RanNode, float]:
    """
    The microseconds of each node less a constant for each call, so that all together take `whole` microseconds, or as
    they are if they take less. No node loses more than `MAX_OVERHEAD_SHARE` of its time.
    """

    def less(overhead: float) -> dict[RanNode, float]:
        least = 1 - MAX_OVERHEAD_SHARE
        return {k: max(one.micros - overhead * one.calls, least * one.micros) for k, one in times.items()}

    low, high = 0.0, max((one.micros for one in times.values()), default=0.0)
    if sum(less(low).values()) <= whole:
        return less(low)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(less(middle).values()) > whole else (low, middle)
    return less(high)


def profile(
    path: str, feeds: Mapping[str, Array], *, threads: int = 1, runs: int = PROFILED_RUNS
) -> list[NodeTime]:
    """
    The time of each node in onnxruntime with its optimizations, the slowest first.

    Raises UserError if onnxruntime refuses the model.
    """
    import onnx

    model = onnx.load(path, load_external_data=False)
    origins = Origins(model)
    with TemporaryDirectory(prefix="qdialect-") as folder:
        written = Path(folder) / "session.onnx"

        def started(write: Path | None) -> Any:
            return session(
                model,
                True,
                threads,
                name=path,
                folder=Path(path).parent,
                profile=str(Path(folder) / "profile"),
                write=write,
            )

        try:
            runner = started(written)
        except UserError:  # larger than a message
            runner = started(None)
        for _ in range(WARM_UP_RUNS + runs):
            runner.run(None, dict(feeds))
        events: list[Mapping[str, Any]] = json.loads(Path(runner.end_profiling()).read_text())
        (calls,) = alternate([lambda: runner.run(None, dict(feeds))], seconds=0.0, rounds=(runs, runs))
        graph = onnx.load(str(written), load_external_data=False) if written.exists() else None
    times = without_overhead(medians(events), 1e6 * median(calls))
    sources = attributed(origins, graph, {one.node: one.kernel for one in times})
    every = sum(times.values()) or 1.0
    rows = [
        NodeTime(
            origins.readable(one.node),
            origins.names[sources[one.node]] if one.node in sources else None,
            one.kernel,
            one.inputs,
            one.outputs,
            micros * 1e-6,
            micros / every,
        )
        for one, micros in times.items()
    ]
    return sorted(rows, key=lambda one: -one.seconds)


def seconds_by_node(path: str, feeds: Mapping[str, Array]) -> tuple[dict[str, float], float]:
    """
    The seconds of each node of a file in one run of one thread, by its name or else its first output's, as far as
    onnxruntime runs it, and the fraction of the time, 0 to 1, in nodes of the session that come from none of the file.

    Raises UserError if onnxruntime refuses the model.
    """
    seconds: dict[str, float] = {}
    elsewhere = 0.0
    for one in profile(path, feeds):
        if one.source is None:
            elsewhere += one.share
        else:
            seconds[one.source] = seconds.get(one.source, 0.0) + one.seconds
    return seconds, elsewhere
