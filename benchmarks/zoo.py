"""
Speed of networks that nothing here was fitted to: built, quantized as people do, compiled, run in turn.

    python benchmarks/zoo.py FOLDER [--only SUBSTRING ...] [--quantizers u8s8,nncf] [--batches 1,8] [--threads 1]
                             [--again] [--json FILE] [--options "--target onnxruntime"]

Models are written to FOLDER once and kept; compiled ones anew each time with `--again`. A ratio is the processor time
of the original over that of the compiled one, medians of runs in turn. Needs the extra `zoo` for NNCF.
"""

import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort

from architectures import images, sequences
from architectures.net import Net
from architectures.quantizers import KEEPS_NORMS, QUANTIZERS, Feed
from speed import sqnr

ARCHITECTURES: dict[str, Callable[[Net], list[str]]] = {**images.NETWORKS, **sequences.NETWORKS}
SECONDS, LEAST_ROUNDS, MOST_ROUNDS = 1.0, 8, 200


def network(name: str, normalized: bool) -> tuple[Net, onnx.ModelProto]:
    """The float network of that name."""
    net = Net(name, normalized=normalized)
    outputs = ARCHITECTURES[name](net)
    return net, net.model(*outputs)


def quantized(name: str, quantizer: str, folder: Path) -> Path:
    """The model of an architecture by a quantizer, written unless it is there."""
    path = folder / f"{name}--{quantizer}.onnx"
    if not path.exists():
        net, model = network(name, quantizer in KEEPS_NORMS)
        plain = folder / f"{name}--{quantizer}.float.onnx"
        onnx.save(model, str(plain))
        QUANTIZERS[quantizer](plain, [net.feed(2, seed) for seed in range(4)], path)
        plain.unlink()
    return path


def session(path: Path, threads: int = 1, level: Any = ort.GraphOptimizationLevel.ORT_ENABLE_ALL) -> Any:
    """onnxruntime on so many threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.graph_optimization_level = level
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def in_turn(sessions: Sequence[Any], feed: Feed, threads: int) -> list[float]:
    """
    Median microseconds of each session, run in turn in both orders: of the thread's processor time, or with several
    threads on the clock.
    """
    clock = time.thread_time if threads == 1 else time.perf_counter
    taken: list[list[float]] = [[] for _ in sessions]
    pairs = list(zip(sessions, taken, strict=True))
    for each, _ in pairs:
        each.run(None, feed)
    end = time.perf_counter() + SECONDS
    while len(taken[0]) < MOST_ROUNDS and (time.perf_counter() < end or len(taken[0]) < LEAST_ROUNDS):
        for each, times in pairs if len(taken[0]) % 2 else pairs[::-1]:
            start = clock()
            each.run(None, feed)
            times.append(clock() - start)
    return [1e6 * statistics.median(times) for times in taken]


def measured(name: str, quantizer: str, args: argparse.Namespace) -> dict[str, Any]:
    """The row of one model: ratios by batch, noise against the original without optimization, or what went wrong."""
    row: dict[str, Any] = {"model": f"{name}--{quantizer}"}
    try:
        original = quantized(name, quantizer, args.folder)
    except Exception as error:
        return row | {"error": f"not quantized: {str(error).splitlines()[:1]}"}
    compiled = original.with_suffix(".compiled.onnx")
    if args.again or not compiled.exists():
        command = [sys.executable, "-m", "qdialect.cli", "compile", original, "-o", compiled, "--quiet"]
        done = subprocess.run([*command, *shlex.split(args.options)], capture_output=True, text=True)
        if done.returncode:
            return row | {"error": done.stderr.strip()[-300:]}
    try:
        sessions = [session(original, args.threads), session(compiled, args.threads)]
    except Exception as error:
        return row | {"error": f"not loaded: {error}"[:300]}
    net, _ = network(name, quantizer in KEEPS_NORMS)
    for batch in map(int, args.batches.split(",")):
        before, after = in_turn(sessions, net.feed(batch, 99), args.threads)
        row |= {f"before{batch}": before, f"after{batch}": after, f"ratio{batch}": before / after}
    feed = net.feed(2, 98)
    plain = session(original, 1, ort.GraphOptimizationLevel.ORT_DISABLE_ALL).run(None, feed)
    row["sqnr"] = [sqnr(plain, each.run(None, feed)) for each in sessions]
    return row


def report(rows: Sequence[dict[str, Any]], batches: Sequence[int]) -> None:
    """Geometric means over all, by quantizer, and the lowest."""
    good = [row for row in rows if "error" not in row]
    for batch in batches:
        by: dict[str, list[float]] = {}
        for row in good:
            for key in ("all", row["model"].split("--")[1]):
                by.setdefault(key, []).append(row[f"ratio{batch}"])
        means = [
            f"{key} {math.exp(statistics.fmean(map(math.log, ratios))):.2f} (least {min(ratios):.2f}, {len(ratios)})"
            for key, ratios in by.items()
        ]
        print(f"batch {batch}: {'; '.join(means)}")


def _cell(row: dict[str, Any], batch: int) -> str:
    return f"{row[f'after{batch}']:9.0f} us {row[f'ratio{batch}']:6.2f}"


def main() -> int:
    """Measure each, print a row of it and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--quantizers", default=",".join(QUANTIZERS))
    parser.add_argument("--batches", default="1,8")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--options", default="")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("TQDM_DISABLE", "1")
    batches, rows = [int(each) for each in args.batches.split(",")], list[dict[str, Any]]()
    for name in ARCHITECTURES:
        for quantizer in args.quantizers.split(","):
            if not any(each in f"{name}--{quantizer}" for each in args.only):
                continue
            row = measured(name, quantizer, args)
            rows.append(row)
            cells = "" if "error" in row else "".join(_cell(row, batch) for batch in batches)
            noise = "".join(f"{each:8.1f}" for each in row.get("sqnr", []))
            print(f"{row['model']:24}{cells}{noise} {row.get('error', '')}", flush=True)
    report(rows, batches)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
