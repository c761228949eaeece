"""
Refinements of the best candidate, each kept if it is better: smoothed activations (`rounding.smoothing`), sequential
bias correction, 8-bit embedding tables (`rounding.embedding_tables`); and rounding to nearest if GPTQ may have
won by chance.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.quantizer.placement.op_costs import elements_of
from qdialect.quantizer.placement.placement import DEQUANTIZE_NS
from qdialect.quantizer.rounding.embedding_tables import Table, tables_of
from qdialect.quantizer.rounding.sequential import sequential_shifts
from qdialect.quantizer.rounding.smoothing import ChannelStatistics, groups, smooth
from qdialect.quantizer.search.candidates import Candidates
from qdialect.quantizer.search.trials import DB_PER_PERCENT_TIME, Choice, Trial, better
from qdialect.quantizer.statistics.observer import Observer, observe_samples, value_names
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Row

MAX_REFINING_SAMPLES = 32
"""Greatest number of samples for smoothing factors, and for sequential bias correction."""
MIN_CORRECTION_SAMPLES = 8
"""Fewest samples for sequential bias correction."""
DB_PER_PERCENT_BYTES = 0.04
"""dB that one percent of the float model's constants is worth."""
PLENTY_DB = 40.0
"""Signal to noise in dB above which file size outweighs noise, which changes no decision then."""


def smoothed(candidates: Candidates, plain: Trial) -> tuple[Candidates, Trial]:
    """
    `plain` with smoothing if that is better, with its candidates; else both unchanged.

    Decided before the other choices, so that there is one search, not two. The smoothed clone has its own
    profile: that of the module, except for new or scaled tensors.
    """
    rows = candidates.samples.steering
    if not rows or plain.noise is None:
        return candidates, plain
    module = candidates.module.clone()
    observer = Observer(module)
    values = [g.value for g in groups(module) if observer.is_visible(g.value)]
    seen = {value: ChannelStatistics() for value in values}
    observe_samples(
        observer, values, rows[:MAX_REFINING_SAMPLES], lambda value, array: seen[value].update(array)
    )
    names = value_names(module)
    done = smooth(module, {v: s.channels for v, s in seen.items() if s.channels is not None})
    if not done:
        return candidates, plain
    scaled = {names[one.value] for one in done if one.folded}
    others = replace(candidates, module=module, profile=_profile(candidates, module, rows, scaled))
    others.take_weights(candidates)
    first = others.attempt(replace(plain.choice, smooth=True))
    return (others, first) if first.beats(plain) else (candidates, plain)


def _profile(
    candidates: Candidates, module: ModuleOp, rows: Sequence[Row], scaled: Collection[str]
) -> Profile:
    """The profile of the smoothed module; unchanged tensors keep their statistics over all data."""
    profiler = Profiler(module, memory=candidates.memory)
    profiler.add(rows)
    tensors = dict(candidates.profile.tensors)
    for name, statistics in profiler.profile.tensors.items():
        if name in scaled or name not in tensors or name.startswith("%"):  # a position instead of a name
            tensors[name] = statistics
    return replace(candidates.profile, tensors=tensors)


def corrected(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with sequentially corrected biases if that is better."""
    if best.noise is None or not best.integer:
        return best
    rows = candidates.samples.steering[
        : min(MAX_REFINING_SAMPLES, candidates.work.kept_samples(candidates.memory))
    ]
    if len(rows) < MIN_CORRECTION_SAMPLES:
        return best
    candidates.show("correcting biases")
    plain = replace(best.choice, bias=False)
    module, _ = candidates.build(plain)
    choice = replace(plain, sequential=True)
    candidates.shifts[choice] = sequential_shifts(candidates.module, module, rows)
    trial = candidates.attempt(choice)
    return trial if trial.beats(best) else best


def shrunk(candidates: Candidates, best: Trial) -> Trial:
    """`best`, or the same with 8-bit tables if the saved bytes are worth the noise and time."""
    kernels = candidates.form != "qdq" and "Placement" in candidates.target.costs
    if best.noise is None or not best.integer or not kernels:
        return best
    tables = tables_of(candidates.module, candidates.target)
    if not tables:
        return best
    trial = candidates.attempt(replace(best.choice, tables=True))
    if trial.noise is None:
        return best
    saved = sum(table.saved for table in tables) / max(_bytes(candidates), 1)
    time = sum(_nanoseconds(candidates, table) for table in tables) / max(best.float_time, 1.0)
    gain = min(trial.ratio, PLENTY_DB) - min(best.ratio, PLENTY_DB)
    value = gain + 100 * (DB_PER_PERCENT_BYTES * saved - DB_PER_PERCENT_TIME * time)
    return trial if value > 0 else best


def _bytes(candidates: Candidates) -> int:
    constants = (op for op in candidates.module.walk() if isinstance(op, ConstantOp) and op.value is not None)
    return sum(op.value.data.nbytes for op in constants if op.value is not None)


def _nanoseconds(candidates: Candidates, table: Table) -> float:
    """Nanoseconds for dequantizing the rows gathered from a table."""
    call = candidates.target.costs["Placement"]["call"]
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
