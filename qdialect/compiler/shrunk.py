"""Trial of 8-bit embedding tables (`calibration.tables`) on the best candidate."""

from __future__ import annotations

from dataclasses import replace

from qdialect.calibration.expected import elements_of
from qdialect.calibration.placement import DEQUANTIZE
from qdialect.calibration.tables import Table, tables_of
from qdialect.compiler.candidates import WORTH, Candidates, Trial
from qdialect.dialects.onnx_base import ConstantOp

WORTH_OF_BYTES = 0.04
"""dB that one percent of the float model's constants is worth."""
PLENTY = 40.0
"""Signal to noise in dB above which file size outweighs noise, which changes no decision then."""


def shrunk(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with 8-bit tables if the saved bytes are worth the noise and time."""
    kernels = candidates.form != "qdq" and "Placement" in candidates.target.costs
    if best.noise is None or not best.integer or not kernels:
        return best
    tables = tables_of(candidates.module, candidates.target)
    if not tables:
        return best
    trial = candidates.attempt(replace(best.choice, tables=True))
    if trial.noise is None:
        return best
    saved = sum(table.saved for table in tables) / max(_bytes(candidates), 1)
    time = sum(_nanoseconds(candidates, table) for table in tables) / max(best.float_time, 1.0)
    gain = min(trial.ratio, PLENTY) - min(best.ratio, PLENTY)
    value = gain + 100 * (WORTH_OF_BYTES * saved - WORTH * time)
    return trial if value > 0 else best


def _bytes(candidates: Candidates) -> int:
    constants = (op for op in candidates.module.walk() if isinstance(op, ConstantOp) and op.value is not None)
    return sum(op.value.data.nbytes for op in constants if op.value is not None)


def _nanoseconds(candidates: Candidates, table: Table) -> float:
    """Nanoseconds for dequantizing the rows gathered from a table."""
    call = candidates.target.costs["Placement"]["call"]
    return sum(call + elements_of(op.results[0]) * DEQUANTIZE for op in table.takers)
