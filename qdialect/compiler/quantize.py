"""
From a float model to an integer one: simplify, profile, insert casts, compile; of several candidates the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.calibration.data import ImageOptions, checked, load_data, model_inputs
from qdialect.calibration.profile import Profile, load_profile
from qdialect.calibration.profiling import Profiler
from qdialect.calibration.state import sequences, stateful
from qdialect.compiler.candidates import Candidates, Choice
from qdialect.compiler.compilation import SIMPLER, Options, compile, keep_in_float, pipeline, run_passes
from qdialect.compiler.dropping import hold, parse_limit
from qdialect.compiler.report import Report
from qdialect.compiler.smoothed import smoothed
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.oracle.data import Input
from qdialect.oracle.feeds import fitting_feeds
from qdialect.targets import target
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]
Feeds = Mapping[str, Array]

QUANTIZED_OPSET = 13
"""The first opset whose QuantizeLinear and DequantizeLinear know a scale for each channel."""
COMPONENTS = ("Gemm", "BatchNormalization", "LSTM", "GRU", "RNN")
"""Ops taken apart where each part gets parameters of its own."""
RANDOM_SAMPLES = 8
NO_GAIN = 0.97
"""Of the float model's time: an integer model that is expected to take more is not worth its noise."""


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
    integer: int = 0
    """Layers in integers."""
    layers: int = 0
    """Layers with constant weights."""
    limit: list[str] = field(default_factory=list[str])
    """What keeps the limit that was asked for, and what to write for the same again."""

    def summary(self) -> list[str]:
        """What came of it, in a few lines."""
        lines: list[str] = []
        if self.profile.random:
            lines.append("warning: random data is no calibration, the result is not to be used")
        if not self.integer:
            return [*lines, f"all {self.layers} layers stay in float: integers are expected to be no faster"]
        noise = f"{self.ratio:.1f} dB signal to noise" if isfinite(self.ratio) else "noise not measured"
        lines.append(f"{self.integer} of {self.layers} layers in integers, {noise}: {self.choice}")
        return lines + self.limit


def _made(name: str, **options: Any) -> ModulePass:
    return get_all_passes()[name]()(**options)


def simplifying(options: Options, form: str) -> list[ModulePass]:
    """The passes that bring a float model into the form that is profiled."""
    passes = [] if options.keep_overridable else [_made("freeze")]
    passes += [*map(_made, SIMPLER), _made("raise-opset", to=QUANTIZED_OPSET)]
    passes += [_made("fold-batch-norm"), _made("fold-pad"), _made("fold-constants")]
    parts = options.decompose or (COMPONENTS if form == "qdq" else ())
    if parts:
        passes += [_made("decompose", ops=tuple(parts)), _made("fold-constants"), _made("fold-identity")]
    return passes


def prepare(module: ModuleOp, options: Options) -> None:
    """Simplify a float model in place, into what is profiled."""
    form = options.form or target(options.target).form
    lower_opsets(module)
    keep_in_float(module, options.keep_float)
    run_passes(module, simplifying(options, form))


def replace_module(module: ModuleOp, by: ModuleOp) -> None:
    """Let a module be what another one is."""
    module.attributes = dict(by.attributes)
    body = by.detach_region(0)
    module.detach_region(0)
    module.add_region(body)


@dataclass(frozen=True)
class Calibration:
    """What a quantization is made from, as the command line says it."""

    data: str | Iterable[Feeds] | None = None
    """A path, `module:function`, or feeds keyed by input name."""
    images: ImageOptions = ImageOptions()
    profiles: tuple[str, ...] = ()
    """Files of profiles that are added up."""
    save_profile: str | None = None
    memory: int = 1 << 30
    """Bytes of tensors to look at together."""
    random: bool = False
    state: Mapping[str, str] = field(default_factory=dict[str, str])
    """Output by input that it is fed to in the next sample."""
    weights: str = "int8"
    max_drop: str | None = None
    range: str | None = None
    rounding: str | None = None
    workers: int = 1
    scheduler: str | None = None


def quantize_pipeline(options: Options) -> list[ModulePass]:
    """The passes that run, in order; the profile is made in front of `insert-casts`."""
    form = options.form or target(options.target).form
    casts = _made("insert-casts", target=options.target, form=form)
    return [*simplifying(options, form), casts, *pipeline(options)]


def _feeds(module: ModuleOp, calibration: Calibration) -> Iterable[Feeds]:
    """The samples, checked."""
    inputs = model_inputs(module)
    if calibration.random:
        return [fitting_feeds(module, seed=seed) for seed in range(RANDOM_SAMPLES)]
    if calibration.state:
        return stateful(module, calibration.state, inputs, _sequences(calibration, inputs))
    if isinstance(calibration.data, str):
        return checked(load_data(calibration.data, inputs, calibration.images), inputs)
    return checked(calibration.data or (), inputs)


def _sequences(calibration: Calibration, inputs: Sequence[Input]) -> Iterable[Iterable[Feeds]]:
    """What keeps its state from one sample to the next: a file, or the samples of the caller."""
    if isinstance(calibration.data, str):
        return ([one] for one in load_data(calibration.data, inputs, calibration.images))
    return sequences(calibration.data or ())


def _profile(module: ModuleOp, calibration: Calibration, show: Callable[[str], None]) -> Profiler:
    """A profile of the prepared module; saved if asked for, also where the user stops it."""
    profiler = Profiler(module, memory=calibration.memory, random=calibration.random)
    try:
        if calibration.data is not None or calibration.random:
            profiler.add(
                _feeds(module, calibration),
                lambda count: show(f"profiling, {count} samples"),
            )
    finally:
        for path in calibration.profiles:
            profiler.profile.merge(load_profile(path))
        if calibration.save_profile is not None and profiler.profile.samples:
            profiler.profile.save(calibration.save_profile)
    return profiler


def quantize_module(
    module: ModuleOp,
    calibration: Calibration,
    options: Mapping[str, Any],
    *,
    show: Callable[[str], None] = lambda text: None,
) -> Quantized:
    """
    Quantize a float module in place.

    Raises UserError for data that the model does not take, a profile of another model, and wrong options.
    """
    asked = Options(**options)
    original = export_model(module).SerializeToString(deterministic=True)
    prepared = module.clone()
    prepare(prepared, asked)
    profiler = _profile(prepared, calibration, show)
    candidates = Candidates(
        prepared, profiler.profile, profiler.samples, asked, original, memory=calibration.memory, show=show
    )
    first = Choice(calibration.range or "minmax", calibration.rounding or "gptq")
    limit = None if calibration.max_drop is None else parse_limit(calibration.max_drop)
    best = candidates.best(first, fixed_range=calibration.range, fixed_rounding=calibration.rounding)
    if best.integer:
        candidates, best = smoothed(
            candidates, best, fixed_range=calibration.range, fixed_rounding=calibration.rounding
        )
    held = None if limit is None else hold(candidates, best, limit)
    best = best if held is None else held.trial
    if not best.integer:
        return _stay_float(module, prepared, candidates, profiler.profile)
    done = candidates.finish(best.choice)
    if done.share > NO_GAIN and asked.form is None:
        return _stay_float(module, prepared, candidates, profiler.profile)
    replace_module(module, done.module)
    layers = len(candidates.layers)
    return Quantized(
        done.report,
        best.choice,
        done.ratio,
        profiler.profile,
        candidates.log,
        best.integer,
        layers,
        [] if held is None or limit is None else held.summary(limit),
    )


def _stay_float(module: ModuleOp, prepared: ModuleOp, candidates: Candidates, profile: Profile) -> Quantized:
    """The float model, simplified if that leaves onnxruntime no more to run."""
    o = candidates.options
    given, simple = candidates.float_nodes
    if simple < given:
        replace_module(module, prepared)
    report = compile(module, o.target, o.form, o.exactness, keep_overridable=o.keep_overridable)
    candidates.log.append("integers are expected to be no faster: the model stays in float")
    return Quantized(report, Choice(), inf, profile, candidates.log, 0, len(candidates.layers))
