"""
Candidates: built from a choice, measured on held-out samples in QDQ form, and compiled.

A choice becomes a module in four steps, the first of which two candidates may share: ranges (`annotate`), placement
(`place`), rounded weights and corrected biases, casts (`insert_casts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.keep_float import keep_in_float
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import fused_nodes
from qdialect.exactness import Exactness
from qdialect.ir.interface import main_of
from qdialect.ir.values import known_array
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.placement.annotations import annotate
from qdialect.quantizer.placement.placement import Placement, PlacementKey, place, placement_key
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
from qdialect.quantizer.rounding.sequential import sequential_shifts, work_of
from qdialect.quantizer.search.judging import AS_THEY_ARE, Judge, Places, least_ratio
from qdialect.quantizer.search.plan_check import left_in_float, planned_nodes
from qdialect.quantizer.search.space import Cache, Rounded, Space
from qdialect.quantizer.search.trials import ALL_INTEGER_PERCENT, Choice, Trial, better
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Noise, Row
from qdialect.reasons import Blocked
from qdialect.report.compilation import compile_as
from qdialect.report.provenance import Origin
from qdialect.report.report import Report
from qdialect.transforms.insert_casts import bounds_of, elements_of, insert_casts

NOISY_LAYER = Blocked(
    "noisy-layer", "in integers it makes more noise than is allowed, so it is kept in float"
)
FURTHER_RANGES = ("mse", "99.999", "99.99")
PRICES_PERCENT = (110, 125, 150)
MAX_CORRECTION_SAMPLES = 32
"""Greatest number of samples for sequential bias correction."""


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

    @property
    def is_noisy(self) -> bool:
        """True if more noise is left than the time is worth."""
        return self.ratio < least_ratio(self.share)


class Candidates:
    """The candidates of a space: each is built and measured once."""

    def __init__(self, space: Space, cache: Cache | None = None, log: list[str] | None = None):
        """cache, log: those of the candidates of another space, if any."""
        self.space = space
        self.log: list[str] = [] if log is None else log
        """A line for each trial, in order."""
        self.layers = number_layers(space.module)
        """The linear ops whose weights are rounded, by a number that clones of the module keep."""
        self.work = work_of(space.module, elements_of(space.profile))
        self.measured = space.samples.measured[: max(MIN_SAMPLES, self.work.samples())]
        """The samples that candidates run on, the judging ones first."""
        self.judge = Judge(space.module, self.measured, space.options.target, decisive=space.by_logits)
        self.tried: dict[Choice, Trial] = {}
        """The trials, in order."""
        self._cache = Cache() if cache is None else cache
        self._placed: dict[tuple[Choice, PlacementKey], Trial] = {}
        """The trials by all that their modules depend on, which differs from choice to choice less often."""

    def over(self, space: Space) -> Candidates:
        """The candidates of another space of the same model, none of them tried yet."""
        return Candidates(space, self._cache, self.log)

    def by_outputs(self) -> Candidates:
        """These candidates, judged by the outputs themselves."""
        return self.over(replace(self.space, by_logits=False)) if self.judge.places else self

    def without(self, nodes: Mapping[str, Blocked]) -> Candidates:
        """Candidates in which the nodes of these names stay in float, too, for the reasons given."""
        return self.over(replace(self.space, in_float={**self.space.in_float, **nodes}))

    # --- what a choice asks for

    def _bounds(self, choice: Choice) -> dict[str, tuple[float, float]]:
        """The range of each tensor, by name."""
        space, symmetric = self.space, self.space.target.symmetric_activations
        return self._cache.bounds.get(
            (space.module, choice.range), lambda: bounds_of(space.profile, choice.range, symmetric=symmetric)
        )

    def _weights(self, choice: Choice) -> RoundedWeights:
        """The rounded weights of all layers."""
        return self._cache.weights.get(self.space.module, self._round_all)[choice.rounding]

    def _round_all(self) -> Rounded:
        """Round every layer in each way, in waves that memory holds; layers that smoothing left as they were, once."""
        space, known = self.space, None
        if space.unsmoothed is not None:
            known = self._cache.weights.peek(space.unsmoothed)
        done = {rounding: dict[int, RoundedLayer]() for rounding in ("nearest", "gptq")}
        if known is not None and space.unsmoothed is not None:
            others = number_layers(space.unsmoothed)
            same = {k for k, op in self.layers.items() if _same_weight(op, others[k])}
            done = {way: {k: one for k, one in known[way].items() if k in same} for way in done}
        left = {k: op for k, op in self.layers.items() if k not in done["gptq"]}
        rows = space.samples.steering
        for wave, moments in observed_waves(
            space.module, left, space.profile, rows, space.memory, space.show
        ):
            for way, rounded in done.items():
                new = round_layers(
                    wave,
                    moments,
                    space.levels,
                    per_channel=not space.target.per_tensor_weights,
                    nearest=way == "nearest",
                )
                rounded.update(new)
        return done

    @property
    def correcting(self) -> Sequence[Row]:
        """The samples for sequential bias correction: those of which memory holds all that layers still read."""
        most = min(MAX_CORRECTION_SAMPLES, self.work.kept_samples(self.space.memory))
        return self.space.samples.steering[:most]

    def _shifts(self, choice: Choice) -> Mapping[int, Array]:
        """Sequential bias corrections by layer, for the choice with all layers that it places in integers."""
        choice = replace(choice, kept=(), tables=False)

        def corrected() -> Mapping[int, Array]:
            module, _ = self.build(replace(choice, sequential=False))
            return sequential_shifts(self.space.module, module, self.correcting)

        return self._cache.shifts.get((*self.space.built, choice), corrected)

    # --- the module of a choice

    def build(self, choice: Choice) -> tuple[ModuleOp, Placement]:
        """The module of a candidate with casts, not compiled."""
        module, placement, weights = self._prepared(choice)
        self._cast(module, placement, weights, choice)
        return module, placement

    def _prepared(self, choice: Choice) -> tuple[ModuleOp, Placement, RoundedWeights]:
        """The module in which `build` inserts casts, with the candidate's ranges and biases."""
        module = self.space.module.clone()
        keep_in_float(module, choice.kept, NOISY_LAYER)
        for name, reason in self.space.in_float.items():
            keep_in_float(module, [name], reason)
        annotate(module, self._bounds(choice), elements_of(self.space.profile))
        placement = self._place(module, choice)
        weights: RoundedWeights = {}
        if choice.rounding != "nearest" or choice.bias:
            weights = self._weights(choice)
        if choice.bias:
            chosen = [layer_number(op) for op in (*placement.linear, *placement.dynamic)]
            shift_biases(module, shifts_of(weights, [k for k in chosen if k is not None]))
            placement = self._place(module, choice)
        if choice.sequential:
            shift_biases(module, self._shifts(choice))
            placement = self._place(module, choice)
        return module, placement, weights

    def _place(self, module: ModuleOp, choice: Choice) -> Placement:
        """The placement of an annotated module."""
        kernels, options = self.space.form != "qdq", self.space.options
        placement = place(
            main_of(module),
            self.space.target,
            kernels=kernels,
            bias=choice.price / 100,
            static=choice.static,
            hoists=Exactness(options.exactness) is not Exactness.EXACT,
            ends=options.integer_io,
            batch=choice.batch,
        )
        if not kernels:
            placement.dynamic.clear()
        return placement

    def _cast(self, module: ModuleOp, placement: Placement, weights: RoundedWeights, choice: Choice) -> None:
        insert_casts(module, self.space.target, placement, weights, self.space.levels)
        if choice.tables:
            quantize_tables(tables_of(module, self.space.target))

    # --- measuring and compiling it

    def attempt(self, choice: Choice) -> Trial:
        """Build and measure a candidate in QDQ form, from which its compiled form differs by at most a step."""
        if (known := self.tried.get(choice)) is not None:
            return known
        self.space.show(f"trying {choice}")
        module, placement, weights = self._prepared(choice)
        key = placement_key(main_of(module), placement)
        same = replace(choice, price=100), key
        if same not in self._placed:
            self._placed[same] = self._measure(choice, module, placement, weights, key)
            self.log.append(str(self._placed[same]))
        self.tried[choice] = self._placed[same]
        return self.tried[choice]

    def _measure(
        self,
        choice: Choice,
        module: ModuleOp,
        placement: Placement,
        weights: RoundedWeights,
        key: PlacementKey,
    ) -> Trial:
        """The trial of a module, which is consumed."""
        count = len(placement.linear) + len(placement.dynamic)
        noise = soft = None
        if self.measured and (count or placement.pairs):
            self._cast(module, placement, weights, choice)
            noise, soft = self.judge.simulate(module)
        share, share_of_one = placement.shares()
        return Trial(
            choice=choice,
            noise=noise,
            share=share,
            layers=count,
            casts=len(placement.pairs),
            float_time=placement.float_cost,
            share_of_one=share_of_one,
            softened=soft,
            placement=key,
            prefer=self.space.prefer,
        )

    def outputs_of(self, choice: Choice) -> list[list[Array]]:
        """The outputs of a candidate for the measured samples."""
        return self.judge.simulated(self.build(choice)[0])

    def finish(self, choice: Choice, feeds: Sequence[Mapping[str, Array]] = ()) -> Finished:
        """Build and compile a candidate. feeds: samples on which each pass is checked."""
        space = self.space
        space.show("compiling")
        module, placement, weights = self._prepared(choice)
        if choice.price > 100:
            fast = self._place(module, replace(choice, price=100))
            placement.quieter = set(fast.linear) - set(placement.linear)
        planned = planned_nodes(module, placement, space.origin or Origin(space.module))
        self._cast(module, placement, weights, choice)
        report = compile_as(module, space.marked, feeds, origin=space.origin)
        model = export_model(module).SerializeToString(deterministic=True)
        ratio, noise, places = float("nan"), None, AS_THEY_ARE
        if judges := len(space.samples.judging):
            result, noise, places = self.judge.run(module)
            ratio = result.ratio(judges)
        share, share_of_one = placement.shares(self._more_time(model, placement))
        return Finished(
            module=module,
            report=report,
            ratio=ratio,
            share=share,
            noise=noise,
            places=places,
            missing=left_in_float(planned, report),
            share_of_one=share_of_one,
        )

    def _more_time(self, model: bytes, placement: Placement) -> float:
        """
        Nanoseconds beside those of a placement: a call for each node in excess of the float model's and the casts,
        after onnxruntime's own fusions, some of which only fit float nodes.
        """
        if "Placement" not in self.space.target.costs:
            return 0.0
        more = fused_nodes(model) - min(self.space.float_nodes) - placement.casts
        return more * self.space.target.costs["Placement"]["call"]

    def best(
        self, first: Choice, *, fixed_range: str | None = None, fixed_rounding: str | None = None
    ) -> Trial:
        """The best candidate of a greedy search over one decision after another, except fixed ones."""
        now = self.attempt(first)
        if not now.integer or now.noise is None:
            return now
        judges = len(self.space.samples.judging)
        self._attempt_everything(now.choice)
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

    def _attempt_everything(self, choice: Choice) -> None:
        """
        Try all in integers that has a kernel. No placement takes less expected time than the cheapest, so this one wins
        by measured times alone.
        """
        if self.space.form != "qdq" and "Placement" in self.space.target.costs:
            self.attempt(replace(choice, price=ALL_INTEGER_PERCENT))

    def _better(self, now: Trial, ways: Sequence[Choice], count: int | None) -> Trial:
        """The best of several choices, or `now`, on the first `count` samples."""
        return better(now, [trial for way in ways if (trial := self.attempt(way)).integer], count)


def _same_weight(one: OnnxOp, other: OnnxOp) -> bool:
    return np.array_equal(known_array(one.operands[1]), known_array(other.operands[1]))
