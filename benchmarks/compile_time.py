"""
`make bench`: how long and how much memory a whole compilation takes, against onnxruntime's offline optimizer.

    python benchmarks/compile_time.py [MODEL.onnx]      # default: a generated ResNet-50 in QDQ form

This process imports nothing large and runs everything in children: on Linux, a child's peak memory counts
what its parent held when it was started.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

RUNS = 5
HERE = Path(__file__).parent
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes there, kilobytes elsewhere

GENERATE = "import sys, pathlib, models; models.resnet50_qdq(pathlib.Path(sys.argv[1]))"

ONNXRUNTIME = """
import sys
import onnxruntime as ort
options = ort.SessionOptions()
options.log_severity_level = 3
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.optimized_model_filepath = sys.argv[2]
ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
"""

# The API, step by step. The command line may do better: it may import less, and need not free what it made.
PHASES = """
import json, sys, time
times = [time.perf_counter()]
import qdialect
import qdialect.cli
times.append(time.perf_counter())
module = qdialect.load(sys.argv[1])
times.append(time.perf_counter())
qdialect.compile(module, target="onnxruntime")
times.append(time.perf_counter())
qdialect.save(module, sys.argv[2])
times.append(time.perf_counter())
phases = ("imports", "read", "passes", "write")
print(json.dumps({phase: b - a for phase, a, b in zip(phases, times, times[1:])}))
"""


def measure(command: Sequence[str | Path]) -> tuple[float, float]:
    """Wall time in seconds and peak memory in MB of a whole process."""
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: status {process.returncode}\n{errors.read()}")
    return seconds, usage.ru_maxrss * RSS_UNIT / 1e6


def python(code: str, *arguments: Path) -> list[str | Path]:
    return [sys.executable, "-c", code, *arguments]


def phases(model: Path, output: Path) -> dict[str, float]:
    """Seconds of each phase, in a process of its own."""
    done = subprocess.run(python(PHASES, model, output), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def report(model: Path, folder: Path) -> None:
    ours, theirs = folder / "qdialect.onnx", folder / "onnxruntime.onnx"
    commands: dict[str, tuple[list[str | Path], Path]] = {
        "onnxruntime": (python(ONNXRUNTIME, model, theirs), theirs),
        "qdialect": ([sys.executable, "-m", "qdialect.cli", "compile", model, "-o", ours, "--quiet"], ours),
    }
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    in_phases: list[dict[str, float]] = []
    for _ in range(RUNS):
        for name, (command, _) in commands.items():
            results[name].append(measure(command))
        in_phases.append(phases(model, folder / "phases.onnx"))

    best = {name: [min(column) for column in zip(*runs, strict=True)] for name, runs in results.items()}
    print(f"{model.name}, {model.stat().st_size / 1e6:.1f} MB: whole processes in turn, best of {RUNS}\n")
    print(f"{'':14}{'seconds':>10}{'peak MB':>10}{'written MB':>12}")
    for name, (seconds, peak) in best.items():
        print(f"{name:14}{seconds:>10.3f}{peak:>10.0f}{commands[name][1].stat().st_size / 1e6:>12.1f}")
    time_ratio, memory_ratio = (a / b for a, b in zip(best["qdialect"], best["onnxruntime"], strict=True))
    print(f"{'ratio':14}{time_ratio:>9.2f}x{memory_ratio:>9.2f}x")

    fastest = min(in_phases, key=lambda phase: sum(phase.values()))
    total = sum(fastest.values())
    print(f"\n{'inside':14}{'seconds':>10}{'share':>10}")
    for phase, seconds in fastest.items():
        print(f"{phase:14}{seconds:>10.3f}{seconds / total:>10.0%}")


def main(arguments: Sequence[str]) -> None:
    if len(arguments) > 1:
        sys.exit("usage: python benchmarks/compile_time.py [MODEL.onnx]")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments:
            model = Path(arguments[0])
        else:
            model = folder / "resnet50_qdq.onnx"
            subprocess.run(python(GENERATE, model), check=True, env={**os.environ, "PYTHONPATH": str(HERE)})
        report(model, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
