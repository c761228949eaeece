"""
Random graphs in linalg, each op of each by its class against the oracle: shared objects by mlir-opt and mlir-runner.

Each value of a graph is quantized; `--floats` leaves some as they are. A hundred graphs are one shared object, made and
called in a process of its own.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from graphs.children import Ended, Report, results
from graphs.quantized import Case, random_case
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from random_graphs import imported
from upstream import layers
from upstream.layers import Exposed
from upstream.models import Array
from upstream.tools import mlir_tools

CHUNK = 50
SHOWN = 500
"""After so many graphs, what has become of them is printed."""
LEAST = 25.0
"""dB, of a graph's outputs in linalg against the graph as drawn: what nothing but a wrong graph falls below."""


@dataclass
class Found:
    """What became of some graphs."""

    seeds: int = 0
    whole: int = 0
    integer: int = 0
    ops: int = 0
    """Ops that were judged, of the graphs that lower whole."""
    stays: Counter[str] = field(default_factory=Counter[str])
    problems: dict[int, str] = field(default_factory=dict[int, str])

    def __str__(self) -> str:
        return (
            f"{self.seeds} graphs: {self.whole} lower whole, {self.integer} of them compute with integers alone; "
            f"{self.ops} ops judged; {len(self.problems)} graphs beyond their class"
        )

    def add(self, other: Found) -> None:
        """Count what another knows too."""
        self.seeds, self.whole = self.seeds + other.seeds, self.whole + other.whole
        self.integer, self.ops = self.integer + other.integer, self.ops + other.ops
        self.stays += other.stays
        self.problems |= other.problems


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `benchmarks/mlir.py graphs`."""
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--floats", action="store_true", help="graphs that compute in float too")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")


def _decibels(expected: list[Array], got: list[Array]) -> float:
    signal = noise = 0.0
    for a, b in zip(expected, got, strict=True):
        signal += float(np.square(a.astype(np.float64)).sum())
        noise += float(np.square(a.astype(np.float64) - b.astype(np.float64)).sum())
    return np.inf if noise == 0 else 10 * float(np.log10(max(signal, 1e-30) / noise))


def _judged(case: Case, graph: Exposed, outputs: list[Array], tensors: list[Array]) -> str:
    """What is wrong with a graph; empty if nothing is."""
    if differences := layers.differences(graph, case.feeds, tensors):
        return f"{differences[0].op} '{differences[0].name}': {differences[0].detail}"
    if (decibels := _decibels(run(case.model, case.feeds), outputs)) < LEAST:
        return f"{decibels:.1f} dB"
    return ""


def chunk(
    first: int,
    without: frozenset[str] = frozenset(),
    begin: Report = lambda stage: None,
    *,
    size: int,
    floats: bool,
) -> Found:
    """What becomes of the graphs of `size` seeds."""
    counts, cases, graphs = Found(size), dict[int, Case](), dict[int, Exposed]()
    for seed in range(first, first + size):
        case = random_case(seed, integer=not floats)
        try:
            graph = layers.exposed(imported(case.model))
        except UserError as error:
            counts.problems[seed] = str(error)
            continue
        if isinstance(graph, list):
            counts.stays.update(set(graph))
        else:
            cases[seed], graphs[seed] = case, graph
    counts.whole, counts.integer = len(graphs), sum(graph.is_integer for graph in graphs.values())
    if not graphs:
        return counts
    begin("library")
    with tempfile.TemporaryDirectory() as folder:
        library = layers.library({f"f{s}": g for s, g in graphs.items()}, Path(folder) / "graphs.so", level=0)
        for seed, graph in graphs.items():
            begin(f"graph {seed}")
            outputs, tensors = layers.results(graph, library[f"f{seed}"], cases[seed].feeds)
            counts.ops += len(tensors)
            if problem := _judged(cases[seed], graph, outputs, tensors):
                counts.problems[seed] = problem
    return counts


def _safely(
    first: int,
    without: frozenset[str] = frozenset(),
    begin: Report = lambda stage: None,
    *,
    size: int,
    floats: bool,
) -> Found:
    """`chunk`; graph by graph if a tool refuses what all are together."""
    try:
        return chunk(first, without, begin, size=size, floats=floats)
    except UserError as error:
        if size == 1:
            return Found(1, problems={first: str(error)})
    counts = Found()
    for seed in range(first, first + size):
        counts.add(_safely(seed, without, begin, size=1, floats=floats))
    return counts


def main(options: argparse.Namespace) -> int:
    """Print what becomes of the graphs; 1 if one is beyond its class."""
    if not mlir_tools():
        print("left out: there is no mlir-opt, mlir-runner or gcc")
        return 1
    start, counts = time.monotonic(), Found()
    last = options.start + options.count
    work = partial(_safely, size=min(CHUNK, options.count), floats=options.floats)
    try:
        for first, _, one in results(work, range(options.start, last, CHUNK), options.jobs, set(), 1200):
            if isinstance(one, Ended):
                one = Found(CHUNK, problems={first: f"the process ends: {one.stage}"})
            counts.add(one)
            for seed, problem in one.problems.items():
                print(f"seed {seed}: {problem}", flush=True)
            if counts.seeds % SHOWN == 0:
                print(counts, flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(f"{counts}, in {time.monotonic() - start:.0f} s")
    for reason, count in counts.stays.most_common(12):
        print(f"  stays in {count}: {reason}")
    return 1 if counts.problems else 0
