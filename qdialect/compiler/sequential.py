"""Trial of sequential bias correction on the best candidate, for small models."""

from __future__ import annotations

from dataclasses import replace

from qdialect.calibration.sequential import MOST_PRODUCTS, sequential_shifts
from qdialect.compiler.candidates import Candidates, Trial

SAMPLES = 32
LEAST_SAMPLES = 8


def corrected(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with sequentially corrected biases if that is better."""
    if best.noise is None or not best.integer:
        return best
    each = len(candidates.layers) * candidates.products
    rows = candidates.samples.steering[: min(SAMPLES, int(MOST_PRODUCTS / max(each, 1.0)))]
    if len(rows) < LEAST_SAMPLES:
        return best
    candidates.show("correcting biases")
    plain = replace(best.choice, bias=False)
    module, _ = candidates.build(plain)
    choice = replace(plain, sequential=True)
    candidates.shifts[choice] = sequential_shifts(candidates.module, module, rows)
    trial = candidates.attempt(choice)
    return trial if trial.beats(best) else best
