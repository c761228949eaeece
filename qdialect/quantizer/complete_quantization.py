"""
Completion of partly quantized models: float tensors whose quantization pays get parameters from samples.

An export of quantization-aware training often quantizes operands of convolutions and nothing else, so that residual
additions and means stay in float. Float weights are not quantized: that is for `quantize`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.compiler.keep_float import keep_in_float
from qdialect.compiler.options import ImageOptions, Options
from qdialect.compiler.pipeline import PHASES_BEFORE_CASTS, phases
from qdialect.data.preprocessing import PLAIN, given, stated
from qdialect.data.reading import Data, checked, feeds_of, load_data, paths_of
from qdialect.data.record import Record
from qdialect.evaluation.feeds import model_inputs
from qdialect.ir.interface import main_of
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.placement.existing_quantization import is_integer
from qdialect.quantizer.search.judging import least_ratio, outputs, simulated
from qdialect.quantizer.statistics.calibration import doubts
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Noise, Row, measure_noise
from qdialect.report.compilation import FurtherCasts
from qdialect.rewriting.manager import PassManager
from qdialect.targets import target
from qdialect.transforms.insert_casts import InsertCastsPass, bounds_of, elements_of

RANGES = ("minmax", "mse")
MAX_COMPLETED_TIME_SHARE = 0.98
"""Greatest ratio of expected times with and without further casts at which they are inserted."""


@dataclass
class Completion(FurtherCasts):
    """Ranges for tensors that a quantized model leaves in float; as a hook, it writes them where casts are inserted."""

    tensors: int = 0
    """Number of further quantized tensors; 0 if that does not pay."""
    reason: str = ""
    """Reason why none is."""
    share: float = 1.0
    """Expected time as a fraction of that without the casts."""
    noise: Noise | None = None
    """Noise of the result against the model as it was read."""
    without: Noise | None = None
    samples: int = 0
    doubts: list[str] = field(default_factory=list[str])
    """Warnings about the data, and the line on what was read."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    elements: Mapping[str, int] = field(default_factory=dict[str, int])

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        if isinstance(one, InsertCastsPass) and not one.weights:
            annotate(module, self.ranges, self.elements)

    def __str__(self) -> str:
        """A line for the verdict, and those about the data."""
        return "\n".join([self._use(), *self.doubts])

    def _use(self) -> str:
        if not self.tensors or self.noise is None or self.without is None:
            return f"further tensors: none in 8 bits, {self.reason}"
        return (
            f"further tensors: {self.tensors} in 8 bits, with ranges of {self.samples} samples;"
            f" {100 * self.share:.0f} % of the time is expected; {decibels_of(self.noise)} signal to noise against the"
            f" model as it was read, {decibels_of(self.without)} without them"
        )


def decibels_of(noise: Noise) -> str:
    return f"{noise.ratio():.1f} dB" if noise.noise.any() else "no noise"


def complete(module: ModuleOp, data: Data, options: Options) -> Completion:
    """
    The tensors of a module to quantize in addition; the module is not modified.

    Raises UserError for invalid options, and data that the model does not accept.
    """
    inputs = model_inputs(module)
    record, paths = Record(), paths_of(data)
    images = given(options) if isinstance(options, ImageOptions) else None
    if images is None and (images := stated(module)) is not None:
        record.stated = "the model"
    feeds = (
        (one.arrays for one in load_data(paths, inputs, images or PLAIN, record)) if paths else feeds_of(data)
    )
    form = options.form or target(options.target).form
    original = export_model(module).SerializeToString(deterministic=True)
    ready = _moved(module, options)
    casts = InsertCastsPass(target=str(options.target), form=form, weights=False, dynamic=False)
    if not any(is_integer(op) for op in main_of(ready).body.block.ops):
        return Completion(reason="since the model has no quantized one")
    profiler = Profiler(ready, model="")
    profiler.add(checked(feeds, inputs, record=record))
    done = _best(ready, casts, profiler, original)
    done.doubts = [*doubts(record, profiler.profile, profiler.samples, inputs), record.line()]
    return done


def _best(ready: ModuleOp, casts: InsertCastsPass, profiler: Profiler, original: bytes) -> Completion:
    """The completion by the ranges that leave least noise; one with a reason if none pays."""
    profile, rows, runtime = profiler.profile, profiler.samples.measured, target(casts.target)
    expected = outputs(original, rows)
    without = measure_noise(expected, simulated(ready.clone(), casts.target, rows))
    best = Completion(reason="since no op in float would be faster in integers")
    for method in RANGES:
        ranges = bounds_of(profile, method, symmetric=runtime.symmetric_activations)
        tried = Completion(
            ranges=ranges, elements=elements_of(profile), without=without, samples=profile.samples
        )
        _try(tried, ready.clone(), casts, expected, rows)
        if tried.share > MAX_COMPLETED_TIME_SHARE or not tried.tensors:
            return best
        if best.noise is None or (tried.noise is not None and tried.noise.ratio() > best.noise.ratio()):
            best = tried
    return best if _is_good(best) else Completion(reason=_too_much(best))


def _moved(module: ModuleOp, options: Options) -> ModuleOp:
    """A clone in the state before the passes that insert casts: quantization raised, casts moved."""
    ready = module.clone()
    keep_in_float(ready, options.keep_float)
    lower_opsets(ready)
    stages = [stage for phase in phases(options)[:PHASES_BEFORE_CASTS] for stage in phase.stages]
    PassManager().run([stage.step for stage in stages], ready)
    return ready


def _try(
    tried: Completion,
    module: ModuleOp,
    casts: InsertCastsPass,
    expected: list[list[Array]],
    rows: Sequence[Row],
) -> None:
    """Measure the effect of the ranges on a module, which is consumed."""
    annotate(module, tried.ranges, tried.elements)
    placement = casts.placed(module)
    tried.tensors = len(placement.pairs)
    tried.share = placement.cost / max(placement.float_cost, 1e-9)
    if tried.tensors and tried.share <= MAX_COMPLETED_TIME_SHARE:
        PassManager().run([casts], module)
        tried.noise = measure_noise(expected, simulated(module, casts.target, rows))


def _is_good(best: Completion) -> bool:
    """True if the signal-to-noise ratio is worth the time, or no lower than without completion."""
    if best.noise is None or best.without is None:
        return False
    return best.noise.ratio() >= min(least_ratio(best.share), best.without.ratio())


def _too_much(best: Completion) -> str:
    left = "no signal" if best.noise is None else f"{best.noise.ratio():.1f} dB signal to noise"
    return f"as {left} would be left for {100 * best.share:.0f} % of the time"
