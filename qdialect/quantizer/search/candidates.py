"""
Search among candidates for an integer model, compared on held-out samples.

All share one profile and one set of Hessians.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.keep_float import keep_in_float
from qdialect.compiler.options import Options
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import fused_nodes
from qdialect.exactness import Exactness
from qdialect.ir.interface import main_of
from qdialect.ir.values import known_array
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.placement.placement import Placement, place
from qdialect.quantizer.rounding.embedding_tables import quantize_tables, tables_of
from qdialect.quantizer.rounding.rounding import (
    RoundedLayer,
    RoundedWeights,
    layer_number,
    number_layers,
    observed_waves,
    round_layers,
    shift_biases,
    shifts_of,
)
from qdialect.quantizer.rounding.sequential import work_of
from qdialect.quantizer.search.judging import AS_THEY_ARE, Judge, Places, least_ratio
from qdialect.quantizer.search.plan_check import left_in_float, planned_nodes
from qdialect.quantizer.search.trials import Choice, Trial, better
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Noise, Samples
from qdialect.reasons import Blocked
from qdialect.report.compilation import compile_as
from qdialect.report.provenance import Origin
from qdialect.report.report import Report
from qdialect.targets import target
from qdialect.transforms.insert_casts import bounds_of, elements_of, insert_casts


@dataclass
class Finished:
    """A compiled candidate."""

    module: ModuleOp
    report: Report
    ratio: float
    """Signal to noise on the judging samples, in dB."""
    share: float
    """Expected time as a fraction of the float model's."""
    noise: Noise | None = None
    """Noise on all measured samples, the judging ones first."""
    places: Places = AS_THEY_ARE
    """Indices of outputs whose decisive tensors `noise` is measured on."""
    missing: Mapping[str, Blocked] = field(default_factory=dict[str, "Blocked"])
    """Nodes that were planned in integers and are in float, by name, with the reason."""
    share_of_one: float = 0.0
    """Expected time of a batch of one as a fraction of the float model's; that of `share` unless the batch is open."""


def is_noisy(done: Finished) -> bool:
    """True if more noise is left than the time is worth."""
    return done.ratio < least_ratio(done.share)


@dataclass
class Candidates:
    """Builds candidates of one prepared float module and compares them by decisive tensors (`logit_metric`)."""

    module: ModuleOp
    """The simplified float module."""
    profile: Profile
    samples: Samples
    options: Options
    original: bytes = b""
    """The ONNX model as read, but for slow functions; empty if equal to the module's."""
    levels: int = 127
    memory: int = 1 << 30
    show: Callable[[str], None] = lambda text: None
    log: list[str] = field(default_factory=list[str])
    origin: Origin | None = None
    """The nodes of the model as read, which name the report's layers; None: the module's."""
    decisive: bool = True
    """True to compare class probabilities by their logits."""
    unable: Mapping[str, Blocked] = field(default_factory=dict[str, Blocked])
    """Nodes that stay in float, as a compiled candidate had no integer form of them, by name, with the reason."""

    def __post_init__(self) -> None:
        self.target = target(self.options.target)
        self.form = self.options.form or self.target.form
        self.levels = min(self.levels, self.target.largest_weight or self.levels)
        self.layers = number_layers(self.module)
        self._rounded: dict[str, dict[int, RoundedLayer]] = {}
        self._known: dict[str, dict[int, RoundedLayer]] = {}
        # The prepared module is already decomposed, and its kept nodes are marked.
        self.marked = replace(self.options, decompose=(), keep_float=())
        self.work = work_of(self.module, elements_of(self.profile))
        self.measured = self.samples.measured[: max(MIN_SAMPLES, self.work.samples())]
        """The samples that candidates run on, the judging ones first."""
        self.judge = Judge(self.module, self.measured, self.options.target, decisive=self.decisive)
        self._bounds: dict[str, dict[str, tuple[float, float]]] = {}
        self.tried: dict[Choice, Trial] = {}
        self.shifts: dict[Choice, dict[int, Array]] = {}
        """Bias corrections by layer, for choices with sequential correction."""
        self._same: dict[tuple[Choice, int], Trial] = {}

    def _weights(self, choice: Choice) -> RoundedWeights:
        if not self._rounded:
            self._round_all()
        return self._rounded[choice.rounding]

    def take_weights(self, other: Candidates) -> None:
        """Copy the rounded weights of equal layers from the candidates of another module, of which this is a clone."""
        same = {k for k, op in self.layers.items() if _same_weight(op, other.layers[k])}
        self._known = {
            rounding: {k: row for k, row in rounded.items() if k in same}
            for rounding, rounded in other._rounded.items()
        }

    def by_outputs(self) -> Candidates:
        """These candidates, judged by the outputs themselves."""
        if not self.judge.places:
            return self
        other = replace(self, decisive=False)
        other._rounded, other.shifts = self._rounded, self.shifts
        return other

    def without(self, nodes: Mapping[str, Blocked]) -> Candidates:
        """Candidates in which the nodes of these names stay in float, too, for the reasons given."""
        other = replace(self, unable={**self.unable, **nodes})
        other._rounded, other._known = self._rounded, self._known
        return other

    def _round_all(self) -> None:
        """Round every layer in each way, in waves that memory holds."""
        self._rounded = {r: dict(self._known.get(r, {})) for r in ("nearest", "gptq")}
        unknown = {k: op for k, op in self.layers.items() if k not in self._rounded["gptq"]}
        rows = self.samples.steering
        waves = observed_waves(self.module, unknown, self.profile, rows, self.memory, self.show)
        for wave, moments in waves:
            for rounding, rounded in self._rounded.items():
                done = round_layers(
                    wave,
                    moments,
                    self.levels,
                    per_channel=not self.target.per_tensor_weights,
                    nearest=rounding == "nearest",
                )
                rounded.update(done)

    def placed(self, module: ModuleOp, choice: Choice) -> Placement:
        """The placement of an annotated module."""
        kernels, exact = self.form != "qdq", Exactness(self.options.exactness) is Exactness.EXACT
        moves = {"static": choice.static, "hoists": not exact, "ends": self.options.integer_io}
        bias, batch = choice.price / 100, choice.batch
        placement = place(main_of(module), self.target, kernels=kernels, bias=bias, batch=batch, **moves)
        if not kernels:
            placement.dynamic.clear()
        return placement

    def build(self, choice: Choice) -> tuple[ModuleOp, Placement]:
        """The module of a candidate with casts, not compiled."""
        module, placement, weights = self._prepared(choice)
        self._cast(module, placement, weights, choice)
        return module, placement

    def _cast(self, module: ModuleOp, placement: Placement, weights: RoundedWeights, choice: Choice) -> None:
        insert_casts(module, self.target, placement, weights, self.levels)
        if choice.tables:
            quantize_tables(tables_of(module, self.target))

    def _prepared(self, choice: Choice) -> tuple[ModuleOp, Placement, RoundedWeights]:
        """The module in which `build` inserts casts, with the candidate's ranges and biases."""
        module = self.module.clone()
        keep_in_float(module, choice.kept, NOISY_LAYER)
        for name, reason in self.unable.items():
            keep_in_float(module, [name], reason)
        if choice.range not in self._bounds:
            symmetric = self.target.symmetric_activations
            self._bounds[choice.range] = bounds_of(self.profile, choice.range, symmetric=symmetric)
        annotate(module, self._bounds[choice.range], elements_of(self.profile))
        placement = self.placed(module, choice)
        weights: RoundedWeights = {}
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
        """Build and measure a candidate in QDQ form, from which its compiled form differs by at most a step."""
        if (known := self.tried.get(choice)) is not None:
            return known
        self.show(f"trying {choice}")
        module, placement, weights = self._prepared(choice)
        key = replace(choice, price=100), _signature(placement)
        if (same := self._same.get(key)) is not None:
            self.tried[choice] = same
            return same
        count = len(placement.linear) + len(placement.dynamic)
        noise = soft = None
        if self.measured and (count or placement.pairs):
            self._cast(module, placement, weights, choice)
            noise, soft = self.judge.simulate(module)
        share, share_of_one = placement.shares()
        trial = Trial(
            choice, noise, share, count, len(placement.pairs), placement.float_cost, share_of_one, soft
        )
        self.log.append(str(trial))
        self.tried[choice] = self._same[key] = trial
        return trial

    def outputs_of(self, choice: Choice) -> list[list[Array]]:
        """The outputs of a candidate for the measured samples."""
        return self.judge.simulated(self.build(choice)[0])

    def finish(self, choice: Choice, feeds: Sequence[Mapping[str, Array]] = ()) -> Finished:
        """Build and compile a candidate. feeds: samples on which each pass is checked."""
        self.show("compiling")
        module, placement, weights = self._prepared(choice)
        if choice.price != 100:
            fast = self.placed(module, replace(choice, price=100))
            placement.quieter = set(fast.linear) - set(placement.linear)
        planned = planned_nodes(module, placement, self.origin or Origin(self.module))
        self._cast(module, placement, weights, choice)
        report = compile_as(module, self.marked, feeds, origin=self.origin)
        model = export_model(module).SerializeToString(deterministic=True)
        ratio, noise, places = float("nan"), None, AS_THEY_ARE
        if judges := len(self.samples.judging):
            result, noise, places = self.judge.run(module)
            ratio = result.ratio(judges)
        share, share_of_one = placement.shares(_more_time(self, model, placement))
        missing = left_in_float(planned, report)
        return Finished(module, report, ratio, share, noise, places, missing, share_of_one)

    @cached_property
    def float_nodes(self) -> tuple[int, int]:
        """Numbers of nodes that onnxruntime runs of the model as read, and of the simplified one."""
        simple = fused_nodes(export_model(self.module).SerializeToString(deterministic=True))
        return (fused_nodes(self.original) if self.original else simple), simple

    def best(
        self, first: Choice, *, fixed_range: str | None = None, fixed_rounding: str | None = None
    ) -> Trial:
        """The best candidate of a greedy search over one decision after another, except fixed ones."""
        now = self.attempt(first)
        if not now.integer or now.noise is None:
            return now
        judges = len(self.samples.judging)
        for prices in (100,), PRICES_PERCENT:
            ways = [replace(now.choice, price=p) for p in prices]
            now = self._better(
                now, [*ways, replace(now.choice, static=False)] if len(ways) > 1 else ways, None
            )
            if fixed_rounding is None:
                others = [("gptq", True), ("gptq", False), ("nearest", True), ("nearest", False)]
                now = self._better(now, [replace(now.choice, rounding=r, bias=b) for r, b in others], judges)
            if fixed_range is None:
                now = self._better(now, [replace(now.choice, range=r) for r in FURTHER_RANGES], None)
        return now

    def _better(self, now: Trial, ways: Sequence[Choice], count: int | None) -> Trial:
        """The best of several choices, or `now`, on the first `count` samples."""
        return better(now, [trial for way in ways if (trial := self.attempt(way)).integer], count)


NOISY_LAYER = Blocked(
    "noisy-layer", "in integers it makes more noise than is allowed, so it is kept in float"
)
FURTHER_RANGES = ("mse", "99.999", "99.99")
PRICES_PERCENT = (110, 125, 150)


def _more_time(candidates: Candidates, model: bytes, placement: Placement) -> float:
    """
    Nanoseconds beside those of a placement: a call for each node in excess of the float model's and the casts, after
    onnxruntime's own fusions, some of which only fit float nodes.
    """
    if "Placement" not in candidates.target.costs:
        return 0.0
    more = fused_nodes(model) - min(candidates.float_nodes) - placement.casts
    return more * candidates.target.costs["Placement"]["call"]


def _same_weight(one: OnnxOp, other: OnnxOp) -> bool:
    return np.array_equal(known_array(one.operands[1]), known_array(other.operands[1]))


def _signature(placement: Placement) -> int:
    """A hash of a placement, equal for equal placements of one module."""
    numbers = [layer_number(op) or 0 for op in placement.linear]
    others = [layer_number(op) or 0 for op in placement.dynamic]
    return hash((tuple(numbers), tuple(others), len(placement.pairs), round(placement.cost)))
