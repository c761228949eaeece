"""
Latency in onnxruntime, original against compiled, and how far the outputs moved.

    python benchmarks/speed.py [MODEL.onnx ...]     # default: ResNet-50 in four dialects, generated

Needs about 10 s a model. A model of another input than one of f32 gets random numbers of its type.
"""

import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from models.catalog import write_resnets
from models.resnet50 import IMAGE, image

Feed = dict[str, npt.NDArray[Any]]

ALL = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
NONE = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
SECONDS = 3
LEAST_ROUNDS = 9


def session(path: Path, level: Any = ALL) -> Any:
    """onnxruntime on one thread."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = level
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def feed(model: Any) -> Feed:
    """One input: our image where it fits, else seeded random numbers; free dimensions are 1."""
    rng = np.random.default_rng(74)
    arrays: Feed = {}
    for value in model.get_inputs():
        shape = tuple(size if isinstance(size, int) else 1 for size in value.shape)
        match value.type:
            case "tensor(float)":
                numbers = rng.standard_normal(shape, np.float32)
                arrays[value.name] = image() if shape == IMAGE else numbers
            case "tensor(uint8)":
                arrays[value.name] = rng.integers(0, 256, shape, np.uint8)
            case "tensor(int8)":
                arrays[value.name] = rng.integers(-128, 128, shape, np.int8)
            case "tensor(int64)" | "tensor(int32)":
                arrays[value.name] = rng.integers(0, 2, shape).astype(value.type[7:-1])
            case other:
                sys.exit(f"{value.name}: no random numbers for {other}")
    return arrays


def latencies(sessions: Sequence[Any], inputs: Feed) -> list[float]:
    """Median milliseconds of each session, run in turn."""
    times: list[list[float]] = [[] for _ in sessions]
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < LEAST_ROUNDS:
        for each, taken in zip(sessions, times, strict=True):
            start = time.perf_counter()
            each.run(None, inputs)
            taken.append(1000 * (time.perf_counter() - start))
    return [statistics.median(taken) for taken in times]


def sqnr(expected: Sequence[npt.NDArray[Any]], got: Sequence[npt.NDArray[Any]]) -> float:
    """Signal to quantization noise of all outputs together, in dB; infinite where no element differs."""
    signal = noise = 0.0
    for e, g in zip(expected, got, strict=True):
        e, g = e.astype(np.float64), g.astype(np.float64)
        signal, noise = signal + float((e**2).sum()), noise + float(((e - g) ** 2).sum())
    return 10 * math.log10(signal / noise) if signal and noise else math.inf if not noise else -math.inf


def compare(original: Path, folder: Path) -> bool:
    """Print the row of one model; False if it was not compiled."""
    compiled = folder / "compiled.onnx"
    command = [sys.executable, "-m", "qdialect.cli", "compile", original, "-o", compiled, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{original.stem:28}{done.stderr.strip()}")
        return False
    sessions = [session(original), session(compiled)]
    inputs = feed(sessions[0])
    reference = session(original, NONE).run(None, inputs)
    before, after = latencies(sessions, inputs)
    noise = "".join(f"{sqnr(reference, each.run(None, inputs)):>12.1f}" for each in sessions)
    print(f"{original.stem:28}{before:>10.2f}{after:>10.2f}{before / after:>9.2f}x{noise}", flush=True)
    return True


def main(paths: Sequence[Path]) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'':28}{'before':>10}{'after':>10}{'':>10}{'SQNR, dB':>24}")
        print(f"{'':28}{'ms':>10}{'ms':>10}{'speedup':>10}{'before':>12}{'after':>12}", flush=True)
        done = [compare(path, folder) for path in paths or write_resnets(folder)]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
