"""
`--max-drop`: the fewest layers in float with which the noise, or the decisions that change, stay within a limit.

A noise budget of the best candidate gives each layer's share; a plan is derived from it before anything is compiled,
then measured and corrected. Of the measured sets of layers that keep the limit, the fastest is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log10, prod

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.errors import UserError
from qdialect.ir.names import called
from qdialect.numerics import Array
from qdialect.quantizer.rounding.layers import layer_of
from qdialect.quantizer.search.candidates import Candidates, Finished
from qdialect.quantizer.search.judging import output_decisive_tensors
from qdialect.quantizer.search.noise_ablation import BudgetRunner, steps_of, with_switches
from qdialect.quantizer.search.sensitivity import Budget, FloatPlan, Share, plan_floats
from qdialect.quantizer.search.trials import Trial
from qdialect.quantizer.statistics.samples import measure_noise

MAX_BUDGET_SAMPLES = 16
"""Greatest number of samples for a noise budget."""
MAX_BUDGET_PRODUCTS = 1e11
"""Greatest number of multiply-adds of a noise budget, one run per sample and site; one sample is always used."""
MAX_NAMED_LAYERS, MIN_NAMED_SHARE = 10, 0.005
"""Greatest number of layers that a noise report names, and the share below which none is named."""
MAX_EQUAL_TIME_DIFFERENCE = 0.02
"""Difference of expected times, as a fraction of the float model's, below which they count as equal."""


@dataclass(frozen=True)
class Limit:
    """A limit of the loss of accuracy."""

    text: str
    noise: float | None = None
    """Noise, relative to the signal."""
    changed: float | None = None
    """Fraction of the samples whose largest output changes."""
    lost: float | None = None
    """Loss of a metric: a difference of shares, else relative to the float model's."""

    def loss(self, expected: list[list[Array]], results: list[list[Array]]) -> float:
        """What of results is limited: their noise, or the share of decisions that change."""
        if self.changed is not None:
            return changed_share(expected, results)
        ratio = measure_noise(expected, results).ratio()
        return 10 ** (-ratio / 10) if isfinite(ratio) else 0.0 if ratio > 0 else inf

    @property
    def most(self) -> float:
        """The greatest loss that is allowed."""
        return next((one for one in (self.lost, self.changed, self.noise) if one is not None), 0.0)

    def shown(self, loss: float) -> str:
        """A loss, as the limit is written."""
        return _shown(loss, self)


QUIET_LIMIT = Limit("30dB", noise=1e-3)
"""The limit for a candidate of which too much noise is left."""


def parse_limit(text: str, *, of_metric: bool = False) -> Limit:
    """
    A limit as `40dB` (signal to noise) or `1%`: of the decisions, or, if accuracy is measured, of its metric.
    UserError for anything else.
    """
    match = re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+) *(dB|db|%)", str(text).strip())
    number = 0.0 if match is None else float(match[1])
    if match is None or (match[2] == "%" and number > 100):
        fix = "give a signal to noise such as 40dB, or a share of changed decisions such as 1%"
        raise UserError(f"'{text}' is not a limit", fix)
    if match[2] == "%":
        return Limit(text, lost=number / 100) if of_metric else Limit(text, changed=number / 100)
    return Limit(text, noise=10 ** (-number / 10))


@dataclass(frozen=True)
class Held:
    """A candidate within a limit, or the nearest one."""

    trial: Trial
    plan: FloatPlan
    shares: Sequence[Share]
    """Each layer's share of the noise of the model with no layer in float."""

    def summary(self, limit: Limit) -> list[str]:
        """Lines with the layers in float, the reasons, and the flag that gives the same result."""
        causes = {share.layer: share for share in self.shares}
        if not self.plan.reached:
            return [f"{limit.text} is not reached with any layer in integers that was tried"]
        if not self.plan.kept:
            return [f"{limit.text} holds without a layer kept in float for it"]
        count = f"{len(self.plan.kept)} node{'s' if len(self.plan.kept) > 1 else ''}"
        lines = [f"{limit.text} holds with {count} kept in float for it: {self.plan.flag}"]
        for name in self.plan.kept:
            share = causes[name]
            lines.append(f"  {name}: {100 * share.total:.0f} % of the noise, mostly {share.cause}")
        return lines


def noise_budget(candidates: Candidates, trial: Trial, places: Iterable[int] = ()) -> Budget:
    """
    The noise budget of a candidate, on some of the measured samples, the judging ones first;
    places: indices of the outputs that are measured by their decisive tensors.
    """
    module, _ = candidates.build(trial.choice)
    floating = candidates.space.module.clone()
    for one in floating, module:
        output_decisive_tensors(one, places)
    runner = BudgetRunner(with_switches(floating, module), candidates.space.memory)
    each = len(runner.budget.sites) * candidates.work.products
    most = max(1, min(MAX_BUDGET_SAMPLES, int(MAX_BUDGET_PRODUCTS / max(each, 1.0))))
    for count, row in enumerate(candidates.measured[:most]):
        candidates.space.show(f"noise budget, {count} samples")
        runner.add(row)
    return runner.budget


@dataclass(frozen=True)
class Budgeted:
    """A noise budget compared with the measured noise."""

    shares: float
    """Signal to noise in dB, with the sum of all layers' shares as noise."""
    measured: float
    """Signal to noise in dB of the written result, on the same samples."""

    def __str__(self) -> str:
        return f"noise budget: shares add up to {self.shares:.1f} dB, {self.measured:.1f} dB measured"


def budget_lines(budget: Budget) -> list[str]:
    """Lines with the largest shares of a candidate's noise: layer, causes, expected effect of `--keep-float`."""
    lines: list[str] = []
    for share in budget.shares()[:MAX_NAMED_LAYERS]:
        causes = sorted(share.causes.items(), key=lambda pair: -pair[1])
        said = ", ".join(
            f"{cause} {100 * part:.0f} %" for cause, part in causes if abs(part) >= MIN_NAMED_SHARE
        )
        left = budget.predict([share.layer])
        expected = "no noise" if left == 0 else f"{-10 * log10(left):.1f} dB"
        lines.append(
            f"noise {100 * share.total:.0f} % ({said}): --keep-float {share.layer}, {expected} expected"
        )
    return lines


def held_against(candidates: Candidates, trial: Trial, done: Finished) -> Budgeted | None:
    """
    Log the noise budget of a candidate, and the measured noise of its result `done`; None without samples, or
    if nothing is in integers.
    """
    if not candidates.space.samples.judging or not trial.integer or done.noise is None:
        return None
    try:
        budget = noise_budget(candidates, trial, done.places)
    except UserError as error:
        candidates.log.append(f"no noise budget: {error}")
        return None
    shares = -10 * log10(budget.noise) if budget.noise > 0 else inf
    budgeted = Budgeted(shares, done.noise.ratio(budget.samples))
    candidates.log += [*budget_lines(budget), str(budgeted)]
    return budgeted


def hold(candidates: Candidates, best: Trial, limit: Limit) -> Held:
    """
    The candidate `best` with the fewest layers in float that keep the limit.

    Raises UserError if there are no samples to measure on.
    """
    if not candidates.space.samples.judging:
        raise UserError("--max-drop needs samples to measure on", "give --data as well as the profile")
    if limit.noise is not None:
        candidates = candidates.by_outputs()
    budget = noise_budget(candidates, best, candidates.by_outputs().judge.places)
    trials: dict[tuple[str, ...], Trial] = {}
    accuracy = candidates.space.accuracy

    def measure(kept: tuple[str, ...]) -> float:
        trial = candidates.attempt(replace(best.choice, kept=kept))
        trials[kept] = trial
        if limit.lost is not None and accuracy is not None:
            return accuracy.loss(candidates.build(trial.choice)[0])
        if limit.changed is not None:
            return changed_share(candidates.judge.expected(), candidates.outputs_of(trial.choice))
        return 10 ** (-trial.ratio / 10) if np.isfinite(trial.ratio) else 0.0 if trial.ratio > 0 else 1e9

    allowed = limit.most
    plan = plan_floats(budget, _costs(candidates), allowed, measure)
    for step in plan.trials:
        candidates.log.append(
            f"{len(step.kept)} nodes in float: {_shown(step.predicted, limit)} predicted, "
            f"{_shown(step.measured, limit)} measured"
        )
    holding = [step.kept for step in plan.trials if step.measured <= allowed] or [plan.kept]
    # Float layers between integer ones cost casts: fewer of them may be slower than more.
    fastest = min(trials[names].share for names in holding)
    kept = min((k for k in holding if trials[k].share <= fastest + MAX_EQUAL_TIME_DIFFERENCE), key=len)
    return Held(trials[kept], replace(plan, kept=kept), budget.shares())


def _shown(value: float, limit: Limit) -> str:
    if limit.noise is None:
        return f"{100 * value:.{1 if limit.lost is None else 2}f} %"
    return f"{-10 * log10(value):.1f} dB" if value > 0 else "no noise"


def changed_share(expected: Sequence[Sequence[Array]], results: Sequence[Sequence[Array]]) -> float:
    """Fraction of the samples whose largest element of the first float output differs from the expected one's."""
    changed = count = 0
    for one, other in zip(expected, results, strict=True):
        pair = next(((x, y) for x, y in zip(one, other, strict=True) if x.dtype.kind == "f"), None)
        if pair is None:
            continue
        first, second = (_decisions(a) for a in pair)
        changed += int((first != second).sum())
        count += first.size
    return changed / max(count, 1)


def _decisions(output: Array) -> Array:
    return output.reshape(-1, output.shape[-1] if output.ndim else 1).argmax(axis=1)


def _costs(candidates: Candidates) -> Mapping[str, float]:
    """Cost of keeping each layer in float: its multiplications, or elements of a non-linear op's result."""
    costs: dict[str, float] = {}
    for op in steps_of(candidates.space.module):
        assert isinstance(op, OnnxOp)
        shape = shape_of(op.results[0].type) if op.results else None
        elements = prod(max(size, 1) for size in shape or ())
        layer = layer_of(op)
        cost = float(elements) if layer is None else float(elements * layer.rows_shape[2])
        costs[called(op)] = costs.get(called(op), 0.0) + cost
    return costs
