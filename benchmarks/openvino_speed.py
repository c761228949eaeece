"""
Processor time in OpenVINO's CPU plugin, of the original and of what `--target openvino` writes.

    python benchmarks/openvino_speed.py [--threads N] [--hint f32|bf16] FOLDER | MODEL.onnx ...
                                                             # needs OpenVINO: pip install '.[openvino]'

A folder stands for each `.onnx` file below it. `model.npz` beside `model.onnx` is its input, keyed by input name;
without it, random numbers. Each pair of models runs in a process of its own: the plugin may take its process with it.

The two run in blocks of a few milliseconds, each second time in the other order, as the one that runs behind finds
caches cold: a gain is the ratio of the medians, for each order. SQNR is against onnxruntime without optimization.
`default`: SQNR in the plugin's own choice of precision, `no` where it does not run. Status 1 if
a result does not run, or is slower than the original by more than the noise.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino  # pyright: ignore[reportMissingImports]

import qdialect
from openvino_layers import HEAVY, INT8, layers
from qdialect.measuring.runner import Runner
from qdialect.measuring.timing import inputs_for
from speed import sqnr

BLOCK = 0.004
"""Seconds of processor time that a model runs before the other one does."""
BLOCKS = 30
WARM_UP = 4
"""The part of a block that runs before it, not measured, so that it finds its own data in the caches."""
SLOWER = 0.97
"""A gain below this is a loss, not noise."""

Outputs = Sequence[Any]


def request_of(path: Path, hint: str | None, threads: int) -> tuple[Any, Any]:
    """A network of one stream, and a request to run it. `hint`: the precision of floats; None: the plugin's choice."""
    core: Any = openvino.Core()
    options: dict[str, Any] = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    if hint is not None:
        options["INFERENCE_PRECISION_HINT"] = hint
    network = core.compile_model(core.read_model(os.fspath(path)), "CPU", options)
    return network, network.create_infer_request()


def outputs(network: Any, request: Any, feed: dict[str, Any]) -> list[Any]:
    """Run once, with inputs bound to stay."""
    for port in network.inputs:
        name = next(n for n in feed if n in port.get_names())
        request.set_tensor(port, openvino.Tensor(np.ascontiguousarray(feed[name])))
    request.infer()
    return [np.array(request.get_tensor(port).data) for port in network.outputs]


def blocks(runs: Sequence[Callable[[], object]]) -> list[list[float]]:
    """Processor seconds of a call of each, block by block; odd blocks in the other order."""
    counts: list[int] = []
    for run in runs:
        run()
        start = time.process_time()
        run()
        counts.append(max(1, math.ceil(BLOCK / max(time.process_time() - start, 1e-6))))
    taken: list[list[float]] = [[] for _ in runs]
    for block in range(BLOCKS):
        order = range(len(runs)) if block % 2 == 0 else reversed(range(len(runs)))
        for k in order:
            for _ in range(math.ceil(counts[k] / WARM_UP)):
                runs[k]()
            start = time.process_time()
            for _ in range(counts[k]):
                runs[k]()
            taken[k].append((time.process_time() - start) / counts[k])
    return taken


def measured(paths: Sequence[Path], reference: Path, hint: str | None, threads: int) -> dict[str, Any]:
    """
    What the files do on equal inputs: microseconds in each order, SQNR, layers in integers; None where refused. Without
    a hint they are not timed.
    """
    runner = Runner(os.fspath(reference), optimize=False)
    data = reference.with_name(f"{reference.stem}.npz")
    feed = dict(np.load(data)) if data.exists() else inputs_for(runner, None, None)
    expected = runner.run(feed)
    rows: list[dict[str, Any] | None] = []
    runs: list[Callable[[], object]] = []
    for path in paths:
        try:
            network, request = request_of(path, hint, threads)
            got = outputs(network, request, feed)
        except RuntimeError:
            rows.append(None)
            continue
        heavy = [p in INT8 for t, p in layers(network) if t in HEAVY]
        rows.append({"sqnr": sqnr(expected, got), "integer": sum(heavy), "heavy": len(heavy)})
        runs.append(request.infer)
    present = [row for row in rows if row is not None and hint is not None]
    for row, taken in zip(present, blocks(runs) if present else [], strict=True):
        row["us"] = [1e6 * statistics.median(taken[k::2]) for k in (0, 1)]
    return {"rows": rows}


def in_child(paths: Sequence[Path], reference: Path, hint: str | None, threads: int) -> list[Any]:
    """The rows of `measured`; a process that dies with the first of two models is started again without it."""
    request = json.dumps([[os.fspath(p) for p in paths], os.fspath(reference), hint, threads])
    done = subprocess.run(
        [sys.executable, __file__, "--child", request], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])["rows"]
    if done.returncode > 0:
        sys.stderr.write(done.stderr)
    return [None, *in_child(paths[1:], reference, hint, threads)] if len(paths) > 1 else [None]


def text(row: dict[str, Any] | None) -> tuple[str, str, str]:
    """Microseconds, SQNR and layers of one model."""
    if row is None:
        return "refused", "", ""
    return (
        f"{statistics.mean(row['us']):.0f}",
        f"{row['sqnr']:.1f}",
        f"{row['integer']}+{row['heavy'] - row['integer']}",
    )


def gains(before: dict[str, Any], after: dict[str, Any]) -> list[float]:
    """Of each order."""
    return [a / b for a, b in zip(before["us"], after["us"], strict=True)]


def row_of(original: Path, hint: str, threads: int) -> tuple[list[float] | None, bool]:
    """Print the row of one model; its gains, and whether it runs in both precisions."""
    name = original.stem if original.stem != "model" else original.parent.name
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "openvino.onnx"
        module = qdialect.load(original)
        qdialect.compile(module, target="openvino")
        qdialect.save(module, written)
        before, after = in_child([original, written], original, hint, threads)
        default = in_child([original, written], original, None, threads)
    gain = gains(before, after) if before and after else None
    shown = f"{gain[0]:8.2f}{gain[1]:8.2f}" if gain else f"{'':16}"
    (t0, n0, l0), (t1, n1, l1) = text(before), text(after)
    own = " -> ".join("no" if one is None else f"{one['sqnr']:.1f}" for one in default)
    print(f"{name[:32]:32}{t0:>9}{t1:>9}{shown}{n0:>8}{n1:>8}{l0:>9}{l1:>9}   {own}", flush=True)
    return gain, after is not None and default[1] is not None


def models(paths: Sequence[Path]) -> list[Path]:
    """The files; those of a folder in order."""
    return [p for path in paths for p in (sorted(path.rglob("*.onnx")) if path.is_dir() else [path])]


def main(arguments: Sequence[str]) -> int:
    """Print a line for each model, and the geometric mean of all that ran before and after."""
    if arguments[:1] == ["--child"]:
        paths, reference, hint, threads = json.loads(arguments[1])
        print(json.dumps(measured([Path(p) for p in paths], Path(reference), hint, threads)))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hint", default="f32", choices=["f32", "bf16"])
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    print(f"{'':32}{'us':>18}{'gain':>16}{'SQNR, dB':>16}{'integer+float':>18}   default, dB")
    print(
        f"{'':32}{'before':>9}{'after':>9}{'A B':>8}{'B A':>8}{'before':>8}{'after':>8}{'before':>9}{'after':>9}"
    )
    rows = [row_of(path, options.hint, options.threads) for path in models(options.paths)]
    gains = [gain for gain, _ in rows if gain is not None]
    if gains:
        means = [math.exp(statistics.mean(map(math.log, column))) for column in zip(*gains, strict=True)]
        lowest = [min(column) for column in zip(*gains, strict=True)]
        print(
            f"{len(gains)} models: geomean {means[0]:.2f}, {means[1]:.2f}; lowest {lowest[0]:.2f}, {lowest[1]:.2f}"
        )
    slower = any(max(gain) < SLOWER for gain in gains)
    return int(slower or not all(runs for _, runs in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
