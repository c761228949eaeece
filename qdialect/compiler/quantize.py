"""
From a float model to an integer one: simplify, profile, insert casts, compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.calibration.profile import Profile
from qdialect.calibration.profiling import Profiler
from qdialect.compiler.compilation import Options, compile, keep_in_float, run_passes
from qdialect.compiler.report import Report
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.onnx_io.raising import raise_opset
from qdialect.oracle.session import session
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.insert_casts import InsertCastsPass, annotate_from

Array = npt.NDArray[Any]
Feeds = Mapping[str, Array]


def _made(name: str, **options: Any) -> ModulePass:
    return get_all_passes()[name]()(**options)


COMPONENTS = ("Gemm", "BatchNormalization")
"""Ops taken apart where each part gets parameters of its own."""


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


def quantize(
    module: ModuleOp,
    data: Iterable[Feeds],
    *,
    target_name: str = "onnxruntime",
    form: str | None = None,
    method: str = "minmax",
    **more: Any,
) -> Report:
    """Quantize a float module in place."""
    options = Options(target_name, form, **more)
    prepare(module, options)
    profiler = Profiler(module)
    profiler.add(data)
    found = target(target_name)
    annotate_from(module, profiler.profile, method, found)
    InsertCastsPass(target=target_name, form=form or found.form).apply(None, module)  # pyright: ignore
    return compile(module, target_name, form, **more)
