"""
Compile random QDQ graphs and hold each pass, and the whole, against the oracle.

    python benchmarks/random_graphs.py --count 1000 --seed 0

Each graph is compiled for onnxruntime (QOperator) and for generic (QDQ). After each pass the module is verified and
judged per op by the pass's class. The whole is run with optimization off: SQNR against the model it was made from.
Compiling the result again must leave as many ops of each type.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from onnx import ModelProto
from quantized_graphs import Case, random_case
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.checking import check_passes
from qdialect.compiler import Options, pipeline
from qdialect.exporter import export_model
from qdialect.importer import import_model
from qdialect.oracle import Array, run

TARGETS = ("onnxruntime", "generic")
MEDIAN, LEAST = 40.0, 25.0
"""dB: what the median and every graph must have."""


@dataclass
class Outcome:
    """What became of one graph on one target."""

    problem: str = ""
    """What was wrong, in one line; empty if nothing was."""
    sqnr: float = np.inf
    """Of the worst output, in dB."""
    integer: int = 0
    """QOperator nodes in the result."""


def sqnr(reference: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> float:
    """10 log10(sum a^2 / sum (a - b)^2), in dB; infinite if nothing differs."""
    a, b = reference.astype(np.float64), other.astype(np.float64)
    noise = float(np.square(a - b).sum())
    return np.inf if noise == 0 else 10 * float(np.log10(max(float(np.square(a).sum()), 1e-30) / noise))


def compiled(model: ModelProto, target: str, feeds: Mapping[str, Array] | None) -> tuple[ModuleOp, str]:
    """A model compiled, each pass verified and, with feeds, judged; and what was wrong with one."""
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    module, context = import_model(source), Context()

    def apply(one: ModulePass) -> None:
        one.apply(context, module)
        module.verify()

    if feeds is not None:
        return module, str(check_passes(module, pipeline(Options(target)), [feeds], apply) or "")
    for one in pipeline(Options(target)):
        apply(one)
    return module, ""


def op_counts(model: ModelProto) -> Counter[str]:
    """How many nodes there are of each type."""
    return Counter(f"{n.domain}::{n.op_type}" for n in model.graph.node)


def outcome(case: Case, target: str, *, passes: bool = True) -> Outcome:
    """Compile one graph and look at it; `passes`: judge each pass, which takes most of the time."""
    try:
        module, finding = compiled(case.model, target, case.feeds if passes else None)
        if finding:
            return Outcome(finding)
        result = export_model(module)
        before, after = run(case.model, case.feeds), run(result, case.feeds)
        worst = min((sqnr(a, b) for a, b in zip(before, after, strict=True)), default=np.inf)
        again, _ = compiled(result, target, None)
        first, second = op_counts(result), op_counts(export_model(again))
        found = Outcome(
            "", worst, sum("QLinear" in n.op_type or n.op_type == "QGemm" for n in result.graph.node)
        )
        if first != second:
            found.problem = f"not idempotent: {dict(second - first)} more, {dict(first - second)} fewer"
        return found
    except Exception as error:  # any error is what this program looks for
        return Outcome(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def report(outcomes: Mapping[str, list[Outcome]]) -> bool:
    """Print the distributions; whether all is well."""
    well = True
    for target, found in outcomes.items():
        noise = np.array([o.sqnr for o in found if not o.problem])
        if not noise.size:
            return False
        finite = noise[np.isfinite(noise)]
        identical = int(np.isinf(noise).sum())
        median, least = float(np.median(noise)), float(noise.min())
        low = (
            ""
            if not finite.size
            else ", ".join(f"{p}%: {np.percentile(finite, p):.1f}" for p in (1, 5, 25, 50, 75))
        )
        print(
            f"{target}: {len(found)} graphs, {sum(bool(o.problem) for o in found)} problems, {identical} identical, "
            f"{sum(o.integer for o in found)} integer kernels; SQNR median {median:.1f} dB, least {least:.1f} dB, "
            f"{int((noise < LEAST).sum())} below {LEAST:g} dB; of those that differ: {low}"
        )
        well &= median >= MEDIAN and least >= LEAST and not any(o.problem for o in found)
    return well


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile random QDQ graphs and judge them by the oracle.")
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first; the others follow")
    parser.add_argument(
        "--whole", action="store_true", help="judge only the whole, not each pass: five times faster"
    )
    arguments = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = {target: [] for target in TARGETS}
    start = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        case = random_case(seed)
        for target in TARGETS:
            found = outcome(case, target, passes=not arguments.whole)
            outcomes[target].append(found)
            if found.problem or found.sqnr < LEAST:
                print(f"seed {seed} {target}: {found.problem or f'{found.sqnr:.1f} dB'}", flush=True)
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if report(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
