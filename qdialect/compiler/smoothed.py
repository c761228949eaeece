"""Trial of smoothed activations (`calibration.smoothing`), if a layer is expected to gain."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from qdialect.calibration.observer import Observer, observe_samples, value_names
from qdialect.calibration.profile import Profile
from qdialect.calibration.profiling import Profiler
from qdialect.calibration.samples import Row
from qdialect.calibration.smoothing import ChannelStatistics, groups, smooth
from qdialect.compiler.candidates import Candidates, Trial

SAMPLES = 32
"""Greatest number of samples from which factors are computed."""


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
    observe_samples(observer, values, rows[:SAMPLES], lambda value, array: seen[value].update(array))
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
