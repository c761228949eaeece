"""Outputs of models on samples in onnxruntime, and the required signal-to-noise ratio."""

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
from qdialect.oracle.parallel import parallel_map
from qdialect.oracle.session import blamed, session
from qdialect.rewriting.manager import PassManager
from qdialect.transforms.lower_to_qdq import LowerToQdqPass

LEAST_RATIO, RATIO_FOR_TIME = 10.0, 20.0
"""Required signal to noise in dB: at no time, and the increase up to the float model's time."""


def least_ratio(share: float) -> float:
    """Signal to noise in dB required of an integer model that takes `share` of the float model's time."""
    return LEAST_RATIO + RATIO_FOR_TIME * share


def outputs(model: bytes, rows: Sequence[Row]) -> list[list[Array]]:
    """
    The outputs of a model for each sample, without optimization if a default session refuses the model, as some that
    were read. Raises UserError if onnxruntime cannot run it.
    """
    try:
        runner = session(model, optimize=True)
    except UserError:
        runner = session(model)
    with blamed("onnxruntime cannot run the model"):
        return list(parallel_map(lambda row: [np.asarray(a) for a in runner.run(None, dict(row))], rows))


def simulated(module: ModuleOp, target: str | Path, rows: Sequence[Row]) -> list[list[Array]]:
    """The outputs of a module with casts for each sample; the module is lowered to QDQ form in place."""
    PassManager().run([LowerToQdqPass(target=str(target))], module)
    import_domains(module)
    return outputs(export_model(module).SerializeToString(deterministic=True), rows)
