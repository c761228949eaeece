"""Time of each node of a model, by onnxruntime's profiler."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from qdialect.evaluation.session import session
from qdialect.numerics import Array

PROFILED_RUNS, WARM_UP_RUNS = 20, 3
SUFFIX = "_kernel_time"


@dataclass(frozen=True)
class NodeTime:
    """One node of the graph that onnxruntime runs, which is not always one of the file."""

    node: str
    kernel: str
    """Op type of the node."""
    inputs: Sequence[str]
    """Element types and shapes, as `uint8 1x3x8x8`."""
    outputs: Sequence[str]
    seconds: float
    """Mean time of one run."""
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
            "kernel": self.kernel,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "ms": 1e3 * self.seconds,
            "share": self.share,
        }


class _Node(NamedTuple):
    node: str
    kernel: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def _described(tensors: Sequence[Mapping[str, Sequence[int]]]) -> tuple[str, ...]:
    return tuple(
        f"{type} {'x'.join(map(str, shape))}".strip() for one in tensors for type, shape in one.items()
    )


def _timed(events: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The events of nodes in the runs after the warm-up."""
    runs = sorted(e["ts"] for e in events if e.get("name") == "model_run")
    start = runs[WARM_UP_RUNS] if len(runs) > WARM_UP_RUNS else 0
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith(SUFFIX) and event["ts"] >= start:
            yield event


def profile(
    path: str,
    feeds: Mapping[str, Array],
    *,
    threads: int = 1,
    runs: int = PROFILED_RUNS,
    model: bytes | None = None,
) -> list[NodeTime]:
    """
    The time of each node in onnxruntime with its optimizations, the slowest first. model: bytes to load instead
    of the file, derived from it.

    Raises UserError if onnxruntime refuses the model.
    """
    with TemporaryDirectory(prefix="qdialect-") as folder:
        runner = session(
            path if model is None else model,
            True,
            threads,
            name=path,
            folder=None if model is None else Path(path).parent,
            profile=str(Path(folder) / "profile"),
        )
        for _ in range(WARM_UP_RUNS + runs):
            runner.run(None, dict(feeds))
        events: list[Mapping[str, Any]] = json.loads(Path(runner.end_profiling()).read_text())
    totals: dict[_Node, float] = defaultdict(float)
    for event in _timed(events):
        details = event["args"]
        node, kernel = str(event["name"]).removesuffix(SUFFIX), str(details.get("op_name", ""))
        taken, results = (_described(details.get(f"{side}_type_shape", ())) for side in ("input", "output"))
        totals[_Node(node, kernel, taken, results)] += event["dur"]
    every = sum(totals.values()) or 1.0
    rows = [NodeTime(*key, micros * 1e-6 / runs, micros / every) for key, micros in totals.items()]
    return sorted(rows, key=lambda one: -one.seconds)


def seconds_by_node(path: str, feeds: Mapping[str, Array]) -> tuple[dict[str, float], float]:
    """
    The seconds of each node of a file in one run of one thread, by its name or else its first output's, as far as
    onnxruntime runs it, and the fraction of the time, 0 to 1, in nodes that onnxruntime inserts.

    Raises UserError if onnxruntime refuses the model.
    """
    import onnx

    model = onnx.load(path, load_external_data=False)
    called = [node.name or next(filter(None, node.output), "") for node in model.graph.node]
    for k, node in enumerate(
        model.graph.node
    ):  # nodes that onnxruntime derives from a node keep the start of its name
        node.name = f"node{k}_"
    seconds: dict[str, float] = {}
    elsewhere = 0.0
    for one in profile(path, feeds, model=model.SerializeToString()):
        if (place := re.match(r"node(\d+)_", one.node)) is None:
            elsewhere += one.share
        else:
            name = called[int(place[1])]
            seconds[name] = seconds.get(name, 0.0) + one.seconds
    return seconds, elsewhere
