"""What a shared object or an IREE module computes, and how long IREE takes."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from qdialect.upstream.binaries import tool
from upstream.models import Array, Feeds

WORKER = Path(__file__).with_name("iree_worker.py")
TIME = re.compile(r"_median\s+[\d.]+ us\s+([\d.]+) us")
"""Of processor time, which other work on the machine does not lengthen."""


def called(library: Path, feeds: Sequence[Feeds], like: Sequence[Array]) -> list[list[Array]]:
    """The outputs of a shared object for each feed; like: arrays of their shapes and types."""
    model, rows = ctypes.CDLL(str(library)).model, list[list[Array]]()
    for feed in feeds:
        outs = [np.zeros_like(one) for one in like]
        every = [np.ascontiguousarray(a) for a in (*feed.values(), *outs)]
        model(*(a.ctypes.data_as(ctypes.c_void_p) for a in every))
        rows.append(every[len(feed) :])
    return rows


def stored(array: Array) -> Array:
    """An array as upstream MLIR has it: integers without a sign of their own."""
    signless = {"uint8": np.int8, "uint16": np.int16, "uint32": np.int32, "uint64": np.int64}
    return array.view(signless.get(array.dtype.name, array.dtype))


def through_iree(
    python: Path, module: Path, feeds: Sequence[Feeds], like: Sequence[Array]
) -> list[list[Array]]:
    """The outputs of an IREE module for each feed. python: an interpreter that has `iree.runtime`."""
    inputs, outputs = module.with_suffix(".in.npz"), module.with_suffix(".out.npz")
    rows = {f"{k}.{q}": stored(a) for k, feed in enumerate(feeds) for q, a in enumerate(feed.values())}
    np.savez(inputs, allow_pickle=False, **rows)
    words = [str(module), str(inputs), str(outputs), str(len(feeds)), str(len(feeds[0]))]
    subprocess.run([str(python), str(WORKER), *words], check=True, capture_output=True)
    with np.load(outputs) as out:
        return [[out[f"{k}.{q}"].view(one.dtype) for q, one in enumerate(like)] for k in range(len(feeds))]


def iree_milliseconds(modules: Sequence[tuple[Path, str, Sequence[str]]], rounds: int = 3) -> list[float]:
    """The median processor time of a call on one thread; modules: file, function, what `--input=` says of each."""
    program = tool("iree-benchmark-module")
    times: list[list[float]] = [[] for _ in modules]
    for _ in range(rounds):
        for (path, function, inputs), taken in zip(modules, times, strict=True):
            words = [f"--module={path}", f"--function={function}", "--device=local-sync"]
            words += ["--benchmark_repetitions=5", "--benchmark_min_time=0.1s"]
            words += [f"--input={one}" for one in inputs]
            command = [str(program), *words, "--time_unit=us"]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            match = TIME.search(said)
            if match is None:
                raise ValueError(f"iree-benchmark-module gives no median: {said[:200]}")
            taken.append(float(match[1]) / 1000)
    return [float(np.median(taken)) for taken in times]
