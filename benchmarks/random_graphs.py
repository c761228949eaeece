"""
Compile random quantized graphs and hold each pass, and the whole, against the oracle.

    python benchmarks/random_graphs.py --count 1000 --start 0 [--state FILE]

Each graph is compiled for onnxruntime (QOperator) and for generic (QDQ), each tenth for tensorrt and openvino besides.
What a pass changed is verified and judged per op by the pass's class. The whole is run with optimization off: SQNR
against the model it was made from, of all outputs but indices together, and of each. Compiling it again must change
nothing. With `--state`, each graph's outcome is written down; graphs that are in the file already are not compiled
again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from graphs.quantized import Case, random_case
from graphs.structure import difference
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import pipeline
from qdialect.onnx_io import messages
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.oracle.checking import check_passes
from qdialect.oracle.session import Array, run
from qdialect.rewriting.manager import PassManager

TARGETS = ("onnxruntime", "generic")
OTHERS = ("tensorrt", "openvino")
"""Targets for every `EVERY`th graph."""
EVERY = 10
MEDIAN, LEAST = 40.0, 25.0
"""dB: what the median and every graph must have."""


@dataclass
class Outcome:
    """What became of one graph on one target."""

    problem: str = ""
    """What was wrong, in one line; empty if nothing was."""
    kind: str = ""
    """The same for all problems of a kind."""
    sqnr: float = np.inf
    """Of all outputs together, in dB."""
    worst: float = np.inf
    """Of the worst output: 25 dB is one step in one of three elements that are ten steps large."""
    integer: int = 0
    """QOperator nodes in the result."""


def energies(reference: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> tuple[float, float]:
    """The sums a^2 and (a - b)^2."""
    a, b = reference.astype(np.float64), other.astype(np.float64)
    return float(np.square(a).sum()), float(np.square(a - b).sum())


def indices(model: ModelProto) -> set[str]:
    """The tensors that are made of indices alone, which are no signal: a step makes another element the largest."""
    constants = {tensor.name for tensor in model.graph.initializer}
    found: set[str] = set()
    for node in model.graph.node:
        taken = [name for name in node.input if name and name not in constants]
        if node.op_type in ("ArgMax", "ArgMin") or (taken and found.issuperset(taken)):
            found.update(node.output)
        elif not taken:
            constants.update(node.output)
    return found


def sqnr(signal: float, noise: float) -> float:
    """10 log10(signal / noise) of two energies, in dB; infinite without noise."""
    return np.inf if noise == 0 else 10 * float(np.log10(max(signal, 1e-30) / noise))


def imported(model: ModelProto) -> ModuleOp:
    """The module of a model, which stays as it is."""
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    return import_model(source)


def compiled(module: ModuleOp, target: str, feeds: Mapping[str, Array] | None) -> str:
    """Compile in place; with feeds, verify and judge each pass, and say what was wrong with one."""
    passes, found = pipeline(Options(target)), ""
    if feeds is None:
        PassManager().run(passes, module)
    else:
        found = str(check_passes(module, passes, [feeds], verify=True) or "")
    module.verify()
    return found


def outcome(
    case: Case, target: str, *, passes: bool = True, before: Sequence[Array] | None = None
) -> Outcome:
    """
    Compile one graph and look at it; `passes`: judge each pass, which takes half of the time. `before`: what the model
    gives, if that is known.
    """
    try:
        module = imported(case.model)
        finding = compiled(module, target, case.feeds if passes else None)
        if finding:
            return Outcome(finding, " ".join(finding.split()[:2]))
        result = export_model(module)
        before = run(case.model, case.feeds) if before is None else before
        names, places = [output.name for output in case.model.graph.output], indices(case.model)
        rows = zip(names, before, run(result, case.feeds), strict=True)
        pairs = [energies(a, b) for name, a, b in rows if name not in places]
        whole = sqnr(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))
        worst = min((sqnr(*pair) for pair in pairs), default=np.inf)
        integer = sum("QLinear" in n.op_type or n.op_type == "QGemm" for n in result.graph.node)
        again = imported(result)
        compiled(again, target, None)
        if other := difference(result, export_model(again)):
            return Outcome(f"not idempotent: {other}", "not idempotent", whole, worst, integer)
        if whole < LEAST:
            return Outcome(f"{whole:.1f} dB", "noise", whole, worst, integer)
        return Outcome("", "", whole, worst, integer)
    except Exception as error:  # any error is what this program looks for
        return Outcome(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", type(error).__name__)


def outcomes(seed: int, *, passes: bool = True, forms: bool = True) -> dict[str, Outcome]:
    """What becomes of a seed's graph on each target."""
    case = random_case(seed, forms)
    before = run(case.model, case.feeds)
    targets = TARGETS + (OTHERS if seed % EVERY == 0 else ())
    return {target: outcome(case, target, passes=passes, before=before) for target in targets}


def report(found: Mapping[int, Mapping[str, Outcome]]) -> bool:
    """Print the distributions; whether all is well."""
    well = bool(found)
    for target in TARGETS + OTHERS:
        rows = {seed: row[target] for seed, row in found.items() if target in row}
        if not rows:
            continue
        noise = np.array([o.sqnr for o in rows.values()])
        finite = noise[np.isfinite(noise)]
        spread = (
            ", ".join(f"{p}%: {np.percentile(finite, p):.1f}" for p in (1, 25, 50)) if finite.size else "-"
        )
        median, least = float(np.median(noise)), float(noise.min())
        worst = np.array([o.worst for o in rows.values()])
        print(
            f"{target}: {len(rows)} graphs, {int(np.isinf(noise).sum())} identical, "
            f"{sum(o.integer for o in rows.values())} integer kernels; SQNR median {median:.1f} dB, "
            f"least {least:.1f} dB, {int((noise < LEAST).sum())} below {LEAST:g} dB; of those that differ: {spread}; "
            f"of single outputs the least {worst.min():.1f} dB, {int((worst < LEAST).sum())} below {LEAST:g} dB"
        )
        kinds = Counter(o.kind for o in rows.values() if o.problem)
        for kind, count in kinds.most_common():
            seeds = [seed for seed, o in rows.items() if o.problem and o.kind == kind]
            print(f"  {count} x {kind}: {', '.join(map(str, seeds[:20]))}{', ...' if count > 20 else ''}")
        well &= median >= MEDIAN and not kinds
    return well


def read_state(path: Path) -> dict[int, dict[str, Outcome]]:
    """The outcomes in a file, by seed and target."""
    found: dict[int, dict[str, Outcome]] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            found[row["seed"]] = {target: Outcome(**one) for target, one in row["targets"].items()}
    return found


def write_state(path: Path, seed: int, row: Mapping[str, Outcome]) -> None:
    """Add one graph's outcomes to a file."""
    with path.open("a") as file:
        file.write(json.dumps({"seed": seed, "targets": {t: asdict(o) for t, o in row.items()}}) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compile random quantized graphs and judge them by the oracle."
    )
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--start", type=int, default=0, help="the seed of the first; the others follow")
    parser.add_argument(
        "--whole", action="store_true", help="judge only the whole, not each pass: twice as fast"
    )
    parser.add_argument(
        "--qdq", action="store_true", help="graphs of QuantizeLinear and DequantizeLinear alone"
    )
    parser.add_argument("--state", type=Path, help="a file for outcomes, to stop and to continue")
    arguments = parser.parse_args()
    messages.APART = False  # these models are our own
    seeds = range(arguments.start, arguments.start + arguments.count)
    found = {} if arguments.state is None else read_state(arguments.state)
    found = {seed: row for seed, row in found.items() if seed in seeds}
    start = time.monotonic()
    for seed in seeds:
        if seed in found:
            continue
        found[seed] = outcomes(seed, passes=not arguments.whole, forms=not arguments.qdq)
        if arguments.state is not None:
            write_state(arguments.state, seed, found[seed])
        for target, one in found[seed].items():
            if one.problem:
                print(f"seed {seed} {target}: {one.problem}", flush=True)
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
