"""
The order of decisions: which candidates are tried, and which of them becomes the result.

    best      the best over smoothing, then ranges, rounding, biases and prices, one after the other   (`_best`)
    compiled  that, or one that is faster or less noisy once it is compiled                            (`compile_best`)
    found     the one whose planned nodes are in integers indeed                                       (`find`)

Smoothed activations (`rounding.smoothing`), sequential bias correction and 8-bit embedding tables are kept if they are
better; rounding to nearest takes the place of GPTQ that may have won by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.quantizer.placement.op_costs import BATCH_OF_ONE, elements_of
from qdialect.quantizer.placement.placement import DEQUANTIZE_NS, PlacementKey
from qdialect.quantizer.rounding.embedding_tables import Table, tables_of
from qdialect.quantizer.rounding.smoothing import ChannelStatistics, groups, smooth
from qdialect.quantizer.search.candidates import Candidates, Finished
from qdialect.quantizer.search.judging import exported, least_ratio, seconds_of
from qdialect.quantizer.search.max_drop import QUIET_LIMIT, Held, Limit, hold
from qdialect.quantizer.search.space import Space
from qdialect.quantizer.search.trials import (
    ALL_INTEGER_PERCENT,
    DB_PER_PERCENT_TIME,
    MAX_TIME_SHARE_OF_ONE,
    Choice,
    Trial,
    better,
    is_slow,
)
from qdialect.quantizer.statistics.observer import Observer, observe_samples, value_names
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Row
from qdialect.reasons import Blocked

MAX_FURTHER_COMPILED = 2
"""Greatest number of further candidates that are compiled, if the best takes longer than was expected."""
MAX_MEASURED = 4
"""Greatest number of further candidates that are compiled to measure their times."""
MAX_FURTHER_PLANS = 4
"""Greatest number of further plans, each without the nodes that the one before had no integer form of."""
MAX_SMOOTHING_SAMPLES = 32
"""Greatest number of samples for smoothing factors."""
MIN_CORRECTION_SAMPLES = 8
"""Fewest samples for sequential bias correction."""
DB_PER_PERCENT_BYTES = 0.04
"""dB that one percent of the float model's constants is worth."""
PLENTY_DB = 40.0
"""Signal to noise in dB above which file size outweighs noise, which changes no decision then."""


@dataclass(frozen=True)
class Found:
    """The best candidate, compiled, and what it is the best of."""

    candidates: Candidates
    best: Trial
    done: Finished
    held: Held | None
    """The candidate within the limit that was asked for; None without a limit."""
    lines: Sequence[str]
    """Lines on layers in float."""
    missing: Mapping[str, Blocked]
    """Nodes that a plan expected in integers, and that have no integer form, by name, with the reason."""


def find(candidates: Candidates, calibration: Calibration, limit: Limit | None) -> Found:
    """
    The best candidate whose planned nodes are compiled to integers. Nodes that were planned and stay in float are left
    in float by the next plan, since neither their casts nor those around them were priced.
    """
    missing: dict[str, Blocked] = {}
    found = _find(candidates, calibration, limit)
    for _ in range(MAX_FURTHER_PLANS):
        new = {name: reason for name, reason in found.missing.items() if name not in missing}
        if not new:
            break
        missing |= new
        candidates.log.extend(f"'{name}' compiled to float: {new[name].message}" for name in new)
        candidates = candidates.without(new)
        found = _find(candidates, calibration, limit)
    return replace(found, missing=missing | dict(found.missing))


def _find(candidates: Candidates, calibration: Calibration, limit: Limit | None) -> Found:
    """The best candidate, compiled, within a limit if one is given."""
    candidates, best = _best(candidates, calibration)
    if limit is None:
        best, done, lines = compile_best(candidates, best)
        return Found(candidates, best, done, held=None, lines=lines, missing=done.missing)
    held = hold(candidates, best, limit) if best.integer else None
    best = best if held is None else held.trial
    done = candidates.finish(best.choice)
    lines = [] if held is None else held.summary(limit)
    return Found(candidates, best, done, held=held, lines=lines, missing=done.missing)


def _best(candidates: Candidates, calibration: Calibration) -> tuple[Candidates, Trial]:
    """The best candidate over all unspecified choices, with smoothing and bias correction if they help."""
    ways, rounding = calibration.range, calibration.rounding
    first = candidates.attempt(Choice(ways or "minmax", rounding or "gptq"))
    if not first.integer:
        return candidates, first
    if first.share_of_one > MAX_TIME_SHARE_OF_ONE:
        first = better(first, [candidates.attempt(replace(first.choice, batch=BATCH_OF_ONE))])
    candidates, first = smoothed(candidates, first)
    best = candidates.best(first.choice, fixed_range=ways, fixed_rounding=rounding)
    if rounding is None:
        best = best_beyond_chance(candidates, corrected(candidates, best), ways)
    return candidates, shrunk(candidates, best)


def compile_best(candidates: Candidates, best: Trial) -> tuple[Trial, Finished, list[str]]:
    """
    `best`, compiled, and lines on layers in float. In place of one that takes too long with all of its nodes, the best
    of the trials that do not; of one of which too much noise is left, that with the layers in float that make most of
    it.
    """
    done = candidates.finish(best.choice)
    if not best.integer:
        return best, done, []
    if candidates.space.measure and candidates.measured and not done.is_noisy:
        return *measured_best(candidates, best, done), []
    if is_slow(done.share, done.share_of_one):
        others = placed_otherwise(candidates.tried.values(), best)[:MAX_FURTHER_COMPILED]
        if done.share_of_one > MAX_TIME_SHARE_OF_ONE:  # last: the others gain more at larger batches
            for_one = candidates.attempt(replace(best.choice, batch=BATCH_OF_ONE, sequential=False))
            others += [for_one] if for_one.integer else []
        for other in others:
            again = candidates.finish(other.choice)
            if not is_slow(again.share, again.share_of_one) and not again.is_noisy:
                return other, again, []
    elif done.is_noisy and isfinite(done.ratio):
        held = hold(candidates, best, QUIET_LIMIT)
        other, lines = (held.trial if held.trial.layers else best), held.summary(QUIET_LIMIT)
        if other is not best and not (again := candidates.finish(other.choice)).is_noisy:
            return other, again, lines
    return best, done, []


def measured_best(candidates: Candidates, best: Trial, done: Finished) -> tuple[Trial, Finished]:
    """Of `best` and the best trials of other placements, compiled, the best by the times they take here, in turn."""
    tried = list(candidates.tried.values())
    others = placed_otherwise(tried, best)[:MAX_MEASURED]
    everything = [t for t in tried if t.choice.price == ALL_INTEGER_PERCENT and t.integer]
    others += [
        t for t in everything[:1] if t.placement not in (best.placement, *(o.placement for o in others))
    ]
    compiled = [(best, done), *((other, candidates.finish(other.choice)) for other in others)]
    candidates.space.show("measuring")
    models = [candidates.space.module, *(one.module for _, one in compiled)]
    before, *taken = seconds_of([exported(module) for module in models], candidates.measured[0])
    results = list[tuple[float, Trial, Finished]]()
    for (trial, one), seconds in zip(compiled, taken, strict=True):
        share = seconds / before
        candidates.log.append(
            f"{trial.choice}: {one.ratio:.1f} dB, {100 * share:.0f} % of the float time measured"
        )
        value = trial.value_at(share) if one.ratio >= least_ratio(share) else -inf
        results.append((value, trial, replace(one, share=share, share_of_one=share)))
    _, trial, one = max(results, key=lambda result: result[0])
    return trial, one


def placed_otherwise(trials: Collection[Trial], best: Trial) -> list[Trial]:
    """The best trial of each other placement that pays, the best first."""
    others: dict[PlacementKey | None, Trial] = {}
    for trial in sorted(trials, key=Trial.value, reverse=True):
        if trial.integer and trial.pays:
            others.setdefault(trial.placement, trial)
    others.pop(best.placement, None)
    return list(others.values())


# --- refinements, each kept if it is better


def smoothed(candidates: Candidates, plain: Trial) -> tuple[Candidates, Trial]:
    """
    `plain` with smoothing if that is better, with its candidates; else both unchanged.

    Decided before the other choices, so that there is one search, not two. The smoothed clone has its own
    profile: that of the module, except for new or scaled tensors.
    """
    space = candidates.space
    rows = space.samples.steering
    if not rows or plain.noise is None:
        return candidates, plain
    module = space.module.clone()
    observer = Observer(module)
    values = [g.value for g in groups(module) if observer.is_visible(g.value)]
    seen = {value: ChannelStatistics() for value in values}
    observe_samples(
        observer, values, rows[:MAX_SMOOTHING_SAMPLES], lambda value, array: seen[value].update(array)
    )
    names = value_names(module)
    done = smooth(module, {v: s.channels for v, s in seen.items() if s.channels is not None})
    if not done:
        return candidates, plain
    scaled = {names[one.value] for one in done if one.folded}
    profile = _profile(space, module, rows, scaled)
    others = candidates.over(replace(space, module=module, profile=profile, unsmoothed=space.module))
    first = others.attempt(replace(plain.choice, smooth=True))
    return (others, first) if first.beats(plain) else (candidates, plain)


def _profile(space: Space, module: ModuleOp, rows: Sequence[Row], scaled: Collection[str]) -> Profile:
    """The profile of the smoothed module; unchanged tensors keep their statistics over all data."""
    profiler = Profiler(module, memory=space.memory)
    profiler.add(rows)
    tensors = dict(space.profile.tensors)
    for name, statistics in profiler.profile.tensors.items():
        if name in scaled or name not in tensors or name.startswith("%"):  # a position instead of a name
            tensors[name] = statistics
    return replace(space.profile, tensors=tensors)


def corrected(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with sequentially corrected biases if that is better."""
    if best.noise is None or not best.integer or len(candidates.correcting) < MIN_CORRECTION_SAMPLES:
        return best
    candidates.space.show("correcting biases")
    trial = candidates.attempt(replace(best.choice, bias=False, sequential=True))
    return trial if trial.beats(best) else best


def shrunk(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with 8-bit tables if the saved bytes are worth the noise and time."""
    module, target = candidates.space.module, candidates.space.target
    kernels = candidates.space.form != "qdq" and "Placement" in target.costs
    if best.noise is None or not best.integer or not kernels:
        return best
    tables = tables_of(module, target)
    if not tables:
        return best
    trial = candidates.attempt(replace(best.choice, tables=True))
    if trial.noise is None:
        return best
    saved = sum(table.saved for table in tables) / max(_bytes(module), 1)
    time = sum(_nanoseconds(table, target.costs["Placement"]["call"]) for table in tables)
    gain = min(trial.ratio, PLENTY_DB) - min(best.ratio, PLENTY_DB)
    worth = DB_PER_PERCENT_BYTES * saved - DB_PER_PERCENT_TIME[candidates.space.prefer] * (
        time / max(best.float_time, 1.0)
    )
    return trial if gain + 100 * worth > 0 else best


def _bytes(module: ModuleOp) -> int:
    constants = (op for op in module.walk() if isinstance(op, ConstantOp) and op.value is not None)
    return sum(op.value.data.nbytes for op in constants if op.value is not None)


def _nanoseconds(table: Table, call: float) -> float:
    """Nanoseconds for dequantizing the rows gathered from a table. call: those of a call."""
    return sum(call + elements_of(op.results[0]) * DEQUANTIZE_NS for op in table.takers)


def best_beyond_chance(candidates: Candidates, best: Trial, range: str | None) -> Trial:
    """
    `best` if it beats the same placement rounded to nearest on all measured samples; else the latter.

    The measured samples include those that steered the rounding of `best`, which favours it. If it is no better even
    on these, the few judging samples may have preferred it by chance. Rounding to nearest then gets the placement that
    is best for it, not the one found for `best`. range: the requested one, None if open.
    """
    if best.noise is None or not best.integer:
        return best
    plain = Choice(range or "minmax", price=best.choice.price, static=best.choice.static)
    plain = replace(plain, smooth=best.choice.smooth)
    if best.choice == plain:
        return best
    taken = better(candidates.attempt(plain), [best])
    if taken is best:
        return best
    taken = candidates.best(taken.choice, fixed_range=plain.range, fixed_rounding=plain.rounding)
    candidates.log.append(f"{best.choice}: not better than {plain} by more than chance")
    return taken
