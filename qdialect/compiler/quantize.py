"""
From a float model to an integer one: simplify, profile, insert casts, compile; of several candidates the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.calibration.data import checked, model_inputs
from qdialect.calibration.profile import Profile
from qdialect.calibration.profiling import Profiler
from qdialect.compiler.candidates import Candidates, Choice
from qdialect.compiler.compilation import Options, keep_in_float, run_passes
from qdialect.compiler.report import Report
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.onnx_io.raising import raise_opset
from qdialect.targets import target
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]
Feeds = Mapping[str, Array]

COMPONENTS = ("Gemm", "BatchNormalization")
"""Ops taken apart where each part gets parameters of its own."""


@dataclass
class Quantized:
    """What `quantize` did."""

    report: Report
    choice: Choice
    ratio: float
    """Signal to noise of the result on samples kept apart, in dB."""
    profile: Profile
    log: list[str] = field(default_factory=list[str])
    """What was tried, in order."""


def _made(name: str, **options: Any) -> ModulePass:
    return get_all_passes()[name]()(**options)


def simplifying(options: Options, form: str) -> list[ModulePass]:
    """The passes that bring a float model into the form that is profiled."""
    passes = [] if options.keep_overridable else [_made("freeze")]
    passes += [_made("fold-identity"), _made("fold-constants")]
    passes += [_made("fold-batch-norm"), _made("fold-pad"), _made("fold-constants")]
    parts = options.decompose or (COMPONENTS if form == "qdq" else ())
    if parts:
        passes.append(_made("decompose", ops=tuple(parts)))
    return passes


def prepare(module: ModuleOp, options: Options) -> None:
    """Simplify a float model in place, into what is profiled."""
    form = options.form or target(options.target).form
    lower_opsets(module)
    raise_opset(module)
    keep_in_float(module, options.keep_float)
    run_passes(module, simplifying(options, form))


def replace_module(module: ModuleOp, by: ModuleOp) -> None:
    """Let a module be what another one is."""
    module.attributes = dict(by.attributes)
    body = by.detach_region(0)
    module.detach_region(0)
    module.add_region(body)


def quantize(
    module: ModuleOp,
    data: Iterable[Feeds],
    *,
    options: Options | None = None,
    choice: Choice | None = None,
    memory: int = 1 << 30,
    show: Callable[[str], None] = lambda text: None,
) -> Quantized:
    """Quantize a float module in place."""
    options = options or Options()
    prepared = module.clone()
    prepare(prepared, options)
    profiler = Profiler(prepared, memory=memory)
    profiler.add(checked(data, model_inputs(prepared)), lambda count: show(f"profiling, {count} samples"))
    candidates = Candidates(prepared, profiler.profile, profiler.samples, options, memory=memory, show=show)
    best = candidates.attempt(choice) if choice is not None else candidates.best(Choice())
    replace_module(module, best.module)
    return Quantized(best.report, best.choice, best.ratio, profiler.profile, candidates.log)
