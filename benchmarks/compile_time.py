"""
`make bench`: how long and how much memory a whole compilation takes, against onnxruntime's offline optimizer.

    python benchmarks/compile_time.py [MODEL.onnx]      # default: a generated ResNet-50 in QDQ form

This process imports nothing large and runs everything in children: on Linux, a child's peak memory counts
what its parent held when it was started. Bytecode is cached, as it is where a package is installed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

RUNS = 7
HERE = Path(__file__).parent
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # getrusage(2): bytes there, kilobytes elsewhere

GENERATE = (
    "import sys, pathlib; from models.catalog import resnet50_qdq; resnet50_qdq(pathlib.Path(sys.argv[1]))"
)

ONNXRUNTIME = """
import sys
import onnxruntime as ort
options = ort.SessionOptions()
options.log_severity_level = 3
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
options.optimized_model_filepath = sys.argv[2]
ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
"""

# What the command does, step by step. Loading a module counts as imports, whichever step asks for it.
PHASES = """
import importlib, json, sys, time
phases, running, since = {}, ["python"], [time.perf_counter(), time.process_time()]
find_and_load = importlib._bootstrap._find_and_load

def switch():
    "Add what has passed to the innermost phase."
    now = time.perf_counter(), time.process_time()
    spent = phases.setdefault(running[-1], [0.0, 0.0])
    spent[:] = [total + b - a for total, a, b in zip(spent, since, now)]
    since[:] = now

def phase(name, work, *arguments):
    switch()
    running.append(name)
    try:
        return work(*arguments)
    finally:
        switch()
        running.pop()

importlib._bootstrap._find_and_load = lambda *arguments: phase("imports", find_and_load, *arguments)
import qdialect
from qdialect.report.compilation import Compilation
from qdialect.compiler.options import Options
module = phase("read", qdialect.load, sys.argv[1])
compilation = phase("options", Compilation, module, Options())
for one in compilation.passes:
    phase("passes", compilation.step, one)
phase("verify", compilation.finish)
phase("write", qdialect.save, module, sys.argv[2])
del phases["python"]
print(json.dumps(phases))
"""


class Run(NamedTuple):
    """One process: wall seconds, seconds of the processor, peak memory in MB."""

    seconds: float
    processor: float
    peak: float


def measure(command: Sequence[str | Path], environment: Mapping[str, str]) -> Run:
    """Run a whole process."""
    with tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: status {process.returncode}\n{errors.read()}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT / 1e6)


def python(code: str, *arguments: Path) -> list[str | Path]:
    return [sys.executable, "-c", code, *arguments]


def phases(model: Path, output: Path, environment: Mapping[str, str]) -> dict[str, list[float]]:
    """Wall seconds and seconds of the processor of each phase, in a process of its own."""
    done = subprocess.run(python(PHASES, model, output), capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def with_bytecode(folder: Path) -> dict[str, str]:
    """The environment, with a place for bytecode whatever it says of that, filled by the first run."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def report(model: Path, folder: Path) -> None:
    ours, theirs = folder / "qdialect.onnx", folder / "onnxruntime.onnx"
    commands: dict[str, tuple[list[str | Path], Path]] = {
        "onnxruntime": (python(ONNXRUNTIME, model, theirs), theirs),
        "qdialect": ([sys.executable, "-m", "qdialect.cli", "compile", model, "-o", ours, "--quiet"], ours),
    }
    environment = with_bytecode(folder)
    for command, _ in commands.values():
        measure(command, environment)
    results: dict[str, list[Run]] = {name: [] for name in commands}
    in_phases: list[dict[str, list[float]]] = []
    for _ in range(RUNS):
        for name, (command, _) in commands.items():
            results[name].append(measure(command, environment))
        in_phases.append(phases(model, folder / "phases.onnx", environment))

    print(f"{model.name}, {model.stat().st_size / 1e6:.1f} MB: whole processes in turn, best of {RUNS}\n")
    print(f"{'':14}{'seconds':>10}{'median':>10}{'processor':>11}{'peak MB':>10}{'written MB':>12}")
    columns: dict[str, list[float]] = {}
    for name, runs in results.items():
        seconds = [run.seconds for run in runs]
        columns[name] = [
            min(seconds),
            median(seconds),
            min(r.processor for r in runs),
            min(r.peak for r in runs),
        ]
        best, middle, processor, peak = columns[name]
        size = commands[name][1].stat().st_size / 1e6
        print(f"{name:14}{best:>10.3f}{middle:>10.3f}{processor:>11.3f}{peak:>10.0f}{size:>12.1f}")
    ratios = [a / b for a, b in zip(columns["qdialect"], columns["onnxruntime"], strict=True)]
    print(f"{'ratio':14}{ratios[0]:>9.2f}x{ratios[1]:>9.2f}x{ratios[2]:>10.2f}x{ratios[3]:>9.2f}x")

    report_phases(in_phases)


def report_phases(runs: Sequence[Mapping[str, list[float]]]) -> None:
    """Print the best of each phase, and what is left without imports."""
    best = {
        phase: [min(column) for column in zip(*(run[phase] for run in runs), strict=True)]
        for phase in runs[0]
    }
    total = sum(seconds for seconds, _ in best.values())
    print(f"\n{'inside':14}{'seconds':>10}{'share':>10}{'processor':>11}")
    for phase, (seconds, processor) in best.items():
        print(f"{phase:14}{seconds:>10.3f}{seconds / total:>10.0%}{processor:>11.3f}")
    seconds, processor = (sum(column) for column in zip(*best.values(), strict=True))
    seconds, processor = seconds - best["imports"][0], processor - best["imports"][1]
    print(f"{'after imports':14}{seconds:>10.3f}{seconds / total:>10.0%}{processor:>11.3f}")


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
