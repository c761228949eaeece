"""
Candidates for an integer model, and which of them is the best on samples that none was made from.

All share one profile and one set of Hessians. A candidate is worth its signal-to-noise ratio less what its time costs;
a later one must be better by `LEAST_GAIN` than the plainer one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect.calibration.annotations import annotate
from qdialect.calibration.observer import Observer, observe_samples, value_names
from qdialect.calibration.placement import Placement, place
from qdialect.calibration.profile import Profile
from qdialect.calibration.rounding import (
    Moments,
    RoundedLayer,
    RoundedWeights,
    layer_number,
    number_layers,
    round_layers,
    shift_biases,
    shifts_of,
    waves_of,
)
from qdialect.calibration.samples import Noise, Samples
from qdialect.calibration.tables import quantize_tables, tables_of
from qdialect.compiler.compilation import compile_as, keep_in_float
from qdialect.compiler.judging import AS_THEY_ARE, ENOUGH, Judge, Places
from qdialect.compiler.measured import least_ratio
from qdialect.compiler.options import Options
from qdialect.compiler.provenance import Origin
from qdialect.compiler.report import Report
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.values import known_array
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.oracle.form import main_of
from qdialect.oracle.session import fused_nodes
from qdialect.targets import target
from qdialect.transforms.insert_casts import bounds_of, elements_of, insert_casts

LEAST_GAIN = 0.1
"""dB by which a candidate must be better than the one before it."""
WORTH = 0.3
"""dB that one percent of the float model's time is worth."""
DOUBT = 1.0
"""Standard errors by which a candidate must be better besides."""
CAUTION = {"99.999": 0.3, "99.99": 2.0}
"""dB that a percentile must gain besides: what it clips may matter in data that calibration has not seen."""
CLIPS, CAUTION_OF_FEW = ("mse", *CAUTION), 8.0
"""Ranges that clip what was seen, and dB that one must gain besides, of one sample; of several, as much less."""
NO_GAIN = 0.95
"""An integer model that is expected to take more than this part of the float model's time is not worth its noise."""


@dataclass(frozen=True)
class Choice:
    """What distinguishes one candidate from another."""

    range: str = "minmax"
    rounding: str = "nearest"
    """`nearest`, or `gptq`."""
    bias: bool = False
    """Whether biases take back what rounding shifts on average."""
    price: int = 100
    """What integer ops are taken to cost when they are placed, in percent."""
    static: bool = True
    """Whether tensors have ranges; else kernels quantize activations at run time, where there are such."""
    sequential: bool = False
    """Whether biases are corrected one layer after the other."""
    smooth: bool = False
    """Whether factors stand between activations and weights."""
    tables: bool = False
    """Whether tables that rows are taken from are in 8 bits."""
    kept: tuple[str, ...] = ()
    """Nodes that stay in float."""

    def __str__(self) -> str:
        """As the log says it."""
        parts = [self.range, self.rounding]
        parts += ["bias correction"] if self.bias else []
        parts += ["sequential bias correction"] if self.sequential else []
        parts += ["smoothing"] if self.smooth else []
        parts += ["tables in 8 bits"] if self.tables else []
        parts += [f"integers at {self.price} %"] if self.price != 100 else []
        parts += [] if self.static else ["ranges at run time"]
        parts += [f"{len(self.kept)} nodes in float"] if self.kept else []
        return ", ".join(parts)


@dataclass
class Trial:
    """One candidate that was built and measured."""

    choice: Choice
    noise: Noise | None
    share: float
    """Expected time as a part of the float model's."""
    layers: int
    """Linear ops in integers."""
    casts: int
    """Tensors that are quantized."""
    float_time: float = 0.0
    """Nanoseconds that the float model is expected to take."""
    softened: Noise | None = None
    """Noise of a classifier's softmax at a temperature at which no sample is sure."""

    @property
    def integer(self) -> bool:
        """Whether anything is in integers."""
        return self.layers + self.casts > 0

    @property
    def ratio(self) -> float:
        """Signal to noise on all samples that are measured, in dB."""
        return self.noise.ratio() if self.noise is not None else float("nan")

    @property
    def pays(self) -> bool:
        """Whether the candidate would not be given up for the float model in the end."""
        return self.noise is not None and self.share <= NO_GAIN and self.ratio >= least_ratio(self.share)

    def value(self, count: int | None = None) -> float:
        """Signal to noise on the first `count` samples, less what the time costs, in dB."""
        caution, ratio = CAUTION.get(self.choice.range, 0.0), 0.0
        if self.noise is not None:
            ratio = self.noise.ratio(count)
            caution += CAUTION_OF_FEW / self.noise.noise.size if self.choice.range in CLIPS else 0.0
        return min(ratio, ENOUGH) - WORTH * 100 * self.share - caution

    def __str__(self) -> str:
        """As the log says it."""
        ratio = "nothing measured" if self.noise is None else f"{self.ratio:.1f} dB"
        return f"{self.choice}: {ratio}, {100 * self.share:.0f} % of the float time expected"

    def beats(self, other: Trial, count: int | None = None) -> bool:
        """Whether this is better than the plainer `other` by more than chance gives."""
        if self.noise is None or other.noise is None:
            return False
        if self.softened is not None and other.softened is not None:  # its shares may hang on one sample
            if self.softened.ratio(count) < other.softened.ratio(count):
                return False
        doubt = self.noise.doubt(other.noise, count)
        return self.value(count) >= other.value(count) + max(LEAST_GAIN, DOUBT * doubt)


def better(now: Trial, trials: Sequence[Trial], count: int | None = None) -> Trial:
    """The best trial, or `now`, on the first `count` samples: one that pays before any that does not."""
    paying = [trial for trial in trials if trial.pays]
    if paying or now.pays:
        trials = paying
    best = max(trials, key=lambda t: t.value(count), default=now)
    return best if best.pays > now.pays or best.beats(now, count) else now


@dataclass
class Finished:
    """A candidate as it will be written."""

    module: ModuleOp
    report: Report
    ratio: float
    """Signal to noise on the samples that judge, in dB."""
    share: float
    """Expected time as a part of the float model's."""
    noise: Noise | None = None
    """On all samples that are measured, those that judge first."""
    places: Places = AS_THEY_ARE
    """The outputs that `noise` is measured of by what decides."""


@dataclass
class Candidates:
    """Builds candidates of one prepared float module and compares them by what decides (`calibration.decisive`)."""

    module: ModuleOp
    """Simplified."""
    profile: Profile
    samples: Samples
    options: Options
    original: bytes = b""
    """The ONNX model as it came; empty: it is the module's."""
    levels: int = 127
    memory: int = 1 << 30
    show: Callable[[str], None] = lambda text: None
    log: list[str] = field(default_factory=list[str])
    origin: Origin | None = None
    """The nodes of the model as it came, after which the report names layers; None: the module's."""
    decisive: bool = True
    """Whether outputs that are shares of classes are compared by what decides."""

    def __post_init__(self) -> None:
        self.target = target(self.options.target)
        self.form = self.options.form or self.target.form
        self.levels = min(self.levels, self.target.largest_weight or self.levels)
        self.layers = number_layers(self.module)
        self._rounded: dict[str, RoundedWeights] = {}
        self._known: dict[str, dict[int, RoundedLayer]] = {}
        # What is decomposed and what is kept in float is done, and marked, in the prepared module.
        self.marked = replace(self.options, decompose=(), keep_float=())
        self.judge = Judge(self.module, self.samples, self.options.target, decisive=self.decisive)
        self._bounds: dict[str, dict[str, tuple[float, float]]] = {}
        self._tried: dict[Choice, Trial] = {}
        self.shifts: dict[Choice, dict[int, Array]] = {}
        """Corrections of biases by layer, for choices that correct one layer after the other."""
        self._same: dict[tuple[Choice, int], Trial] = {}

    def _weights(self, choice: Choice) -> RoundedWeights:
        if not self._rounded:
            self._round_all()
        return self._rounded[choice.rounding]

    def take_weights(self, other: Candidates) -> None:
        """Take from another module, of which this is a clone, what was rounded of the weights that are the same."""
        same = {k for k, op in self.layers.items() if _same_weight(op, other.layers[k])}
        self._known = {
            rounding: {k: row for k, row in rounded.layers.items() if k in same}
            for rounding, rounded in other._rounded.items()
        }

    def by_outputs(self) -> Candidates:
        """These candidates, judged by the outputs themselves."""
        if not self.judge.places:
            return self
        other = replace(self, decisive=False)
        other._rounded, other.shifts = self._rounded, self.shifts
        return other

    def _round_all(self) -> None:
        """Round every layer in each way, in waves that memory holds."""
        self._rounded = {r: RoundedWeights(dict(self._known.get(r, {}))) for r in ("nearest", "gptq")}
        observer, largest = Observer(self.module), _largest(self.module, self.profile)
        unknown = {k: op for k, op in self.layers.items() if k not in self._rounded["gptq"].layers}
        layers = {k: op for k, op in unknown.items() if observer.is_visible(op.operands[0])}
        rows = self.samples.steering
        for wave in waves_of(layers, self.memory):
            self.show(f"rounding {len(wave)} layers")
            moments = Moments(wave, largest, len(rows))
            observe_samples(observer, moments.values, rows, moments.look, memory=self.memory)
            for rounding, rounded in self._rounded.items():
                done = round_layers(
                    wave,
                    moments,
                    self.levels,
                    per_channel=not self.target.per_tensor_weights,
                    nearest=rounding == "nearest",
                )
                rounded.layers.update(done.layers)

    def placed(self, module: ModuleOp, choice: Choice) -> Placement:
        """The placement of an annotated module."""
        kernels, bias = self.form != "qdq", choice.price / 100
        placement = place(main_of(module), self.target, kernels=kernels, bias=bias, static=choice.static)
        if not kernels:
            placement.dynamic.clear()
        return placement

    def build(self, choice: Choice) -> tuple[ModuleOp, Placement]:
        """The module of a candidate, with casts, not compiled yet."""
        module, placement, weights = self._prepared(choice)
        self._cast(module, placement, weights, choice)
        return module, placement

    def _cast(self, module: ModuleOp, placement: Placement, weights: RoundedWeights, choice: Choice) -> None:
        insert_casts(module, self.target, placement, weights, self.levels)
        if choice.tables:
            quantize_tables(module, tables_of(module, self.target))

    def _prepared(self, choice: Choice) -> tuple[ModuleOp, Placement, RoundedWeights]:
        """What `build` inserts casts into: ranges and biases are a candidate's."""
        module = self.module.clone()
        keep_in_float(module, choice.kept)
        if choice.range not in self._bounds:
            symmetric = self.target.symmetric_activations
            self._bounds[choice.range] = bounds_of(self.profile, choice.range, symmetric=symmetric)
        annotate(module, self._bounds[choice.range], elements_of(self.profile))
        placement = self.placed(module, choice)
        weights = RoundedWeights()
        if choice.rounding != "nearest" or choice.bias:
            weights = self._weights(choice)
        if choice.bias:
            chosen = [layer_number(op) for op in (*placement.linear, *placement.dynamic)]
            shift_biases(module, shifts_of(weights, [k for k in chosen if k is not None]))
            placement = self.placed(module, choice)
        if choice.sequential:
            shift_biases(module, self.shifts[replace(choice, kept=(), tables=False)])
            placement = self.placed(module, choice)
        return module, placement, weights

    def attempt(self, choice: Choice) -> Trial:
        """Build and measure a candidate, its casts written out: what compiling makes of it differs by a step."""
        if (known := self._tried.get(choice)) is not None:
            return known
        self.show(f"trying {choice}")
        module, placement, weights = self._prepared(choice)
        key = replace(choice, price=100), _signature(placement)
        if (same := self._same.get(key)) is not None:
            self._tried[choice] = same
            return same
        count = len(placement.linear) + len(placement.dynamic)
        noise = soft = None
        if self.samples.measured and (count or placement.pairs):
            self._cast(module, placement, weights, choice)
            noise, soft = self.judge.simulate(module)
        share = placement.cost / max(placement.float_cost, 1e-9)
        trial = Trial(choice, noise, share, count, len(placement.pairs), placement.float_cost, soft)
        self.log.append(str(trial))
        self._tried[choice] = self._same[key] = trial
        return trial

    def found(self, choice: Choice) -> list[list[Array]]:
        """What a candidate gives for the samples that are measured."""
        return self.judge.simulated(self.build(choice)[0])

    def finish(self, choice: Choice) -> Finished:
        """Build and compile a candidate."""
        self.show("compiling")
        module, placement = self.build(choice)
        report = compile_as(module, self.marked, origin=self.origin)
        model = export_model(module).SerializeToString(deterministic=True)
        ratio, noise, places = float("nan"), None, AS_THEY_ARE
        if judges := len(self.samples.judging):
            result, noise, places = self.judge.run(module)
            ratio = result.ratio(judges)
        share = self._time(model, placement) / max(placement.float_cost, 1e-9)
        return Finished(module, report, ratio, share, noise, places)

    @cached_property
    def float_nodes(self) -> tuple[int, int]:
        """How many nodes onnxruntime runs of the model as it came, and of the simplified one."""
        simple = fused_nodes(export_model(self.module).SerializeToString(deterministic=True))
        return (fused_nodes(self.original) if self.original else simple), simple

    def _time(self, model: bytes, placement: Placement) -> float:
        """
        Expected nanoseconds: the placement's, and a call for each node beyond those of the float model and the casts,
        after onnxruntime's own fusions, some of which only fit float nodes.
        """
        if "Placement" not in self.target.costs:
            return placement.cost
        more = fused_nodes(model) - min(self.float_nodes) - placement.casts
        return placement.cost + more * self.target.costs["Placement"]["call"]

    def best(
        self, first: Choice, *, fixed_range: str | None = None, fixed_rounding: str | None = None
    ) -> Trial:
        """The best of all, looked for one decision after the other; what is fixed is not decided."""
        now = self.attempt(first)
        if not now.integer or now.noise is None:
            return now
        judges = len(self.samples.judging)
        for prices in (100,), PRICES:
            ways = [replace(now.choice, price=p) for p in prices]
            now = self._better(
                now, [*ways, replace(now.choice, static=False)] if len(ways) > 1 else ways, None
            )
            if fixed_rounding is None:
                others = [("gptq", True), ("gptq", False), ("nearest", True), ("nearest", False)]
                now = self._better(now, [replace(now.choice, rounding=r, bias=b) for r, b in others], judges)
            if fixed_range is None:
                now = self._better(now, [replace(now.choice, range=r) for r in RANGES], None)
        return now

    def _better(self, now: Trial, ways: Sequence[Choice], count: int | None) -> Trial:
        """The best of several, or what there is, on the first `count` samples."""
        return better(now, [trial for way in ways if (trial := self.attempt(way)).integer], count)


RANGES = ("mse", "99.999", "99.99")
PRICES = (110, 125, 150)


def _largest(module: ModuleOp, profile: Profile) -> Callable[[SSAValue], float]:
    """The largest magnitude that was seen of a value; 1 if nothing was."""
    names = value_names(module)

    def largest(value: SSAValue) -> float:
        seen = profile.tensors.get(names.get(value, ""))
        return 1.0 if seen is None or not seen.counts.size else max(-seen.low, seen.high)

    return largest


def _same_weight(one: OnnxOp, other: OnnxOp) -> bool:
    return np.array_equal(known_array(one.operands[1]), known_array(other.operands[1]))


def _signature(placement: Placement) -> int:
    """Equal for placements of one module that are the same."""
    numbers = [layer_number(op) or 0 for op in placement.linear]
    others = [layer_number(op) or 0 for op in placement.dynamic]
    return hash((tuple(numbers), tuple(others), len(placement.pairs), round(placement.cost)))
