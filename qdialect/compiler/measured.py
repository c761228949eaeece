"""What models give for samples, as onnxruntime runs them, and how near they must come."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.calibration.samples import Row
from qdialect.errors import UserError
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import import_domains
from qdialect.oracle.session import session
from qdialect.oracle.side_by_side import side_by_side
from qdialect.rewriting.manager import PassManager
from qdialect.transforms.lower_to_qdq import LowerToQdqPass

LEAST_RATIO, RATIO_FOR_TIME = 10.0, 20.0
"""Signal to noise that must be left, in dB, for no time at all, and more for all of it: a slow model must be good."""


def least_ratio(share: float) -> float:
    """Signal to noise, in dB, that an integer model must have which takes that share of the float model's time."""
    return LEAST_RATIO + RATIO_FOR_TIME * share


def outputs(model: bytes, rows: Sequence[Row]) -> list[list[Array]]:
    """What a model gives for each sample. Raises UserError if onnxruntime does not run it."""
    runner = session(model, optimize=True)
    try:
        return list(side_by_side(lambda row: [np.asarray(a) for a in runner.run(None, dict(row))], rows))
    except Exception as error:  # onnxruntime's exceptions share no base class
        line = str(error).strip().splitlines()[0]
        raise UserError(f"onnxruntime cannot run the model: {line}") from None


def simulated(module: ModuleOp, target: str | Path, rows: Sequence[Row]) -> list[list[Array]]:
    """What a module with casts gives for each sample; its casts are written out in place."""
    PassManager().run([LowerToQdqPass(target=str(target))], module)
    import_domains(module)
    return outputs(export_model(module).SerializeToString(deterministic=True), rows)
