"""What a prepared float model does on the caller's data: its profile, the samples kept, warnings about the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration
from qdialect.data.preprocessing import PLAIN, Preprocessing, from_text, given, stated
from qdialect.data.reading import Data, checked, feeds_of, load_data, paths_of
from qdialect.data.record import Record
from qdialect.evaluation.data import Input
from qdialect.evaluation.feeds import fitting_feeds, model_inputs
from qdialect.numerics import Array
from qdialect.quantizer.statistics.held_out import HeldOut, read_labelled
from qdialect.quantizer.statistics.profile import Profile, load_profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Samples
from qdialect.quantizer.statistics.stateful_models import sequences, stateful
from qdialect.quantizer.statistics.workers import add_with_cluster, add_with_workers

Feeds = Mapping[str, Array]

RANDOM_SAMPLES = 8


@dataclass(frozen=True)
class Calibrated:
    """What is known of a module from its data."""

    profile: Profile
    samples: Samples
    """The samples kept; none if a saved profile stands for them."""
    record: Record
    """What was read of the data."""
    held_out: HeldOut | None
    """Labelled samples that are not in the profile; None if no accuracy is measured."""
    doubts: list[str]
    """Warnings about the data."""


def calibrate(module: ModuleOp, data: Data | None, calibration: Calibration) -> Calibrated:
    """
    Run a prepared module on its data. The profile is saved if requested, also on interrupt.

    Raises UserError for data that the model does not accept, and for a profile of another model.
    """
    record, profiles = Record(), {str(path): load_profile(str(path)) for path in calibration.profiles}
    images = _images(module, calibration, profiles, record)
    profiler, held_out = Profiler(module, memory=calibration.memory, random=calibration.random), None
    try:
        if data is not None or calibration.random or not calibration.profiles:
            if calibration.measures_accuracy:
                held_out = _held_out(model_inputs(module), data, calibration, images)
            read = (
                _feeds(module, data, calibration, images, record)
                if held_out is None
                else held_out.calibrating(record)
            )
            _add(profiler, read, calibration)
    except KeyboardInterrupt:
        count, path = profiler.profile.samples, calibration.save_profile
        if path is None or not count:
            raise
        raise KeyboardInterrupt(f"{count} samples are counted in '{path}', go on with --profile") from None
    finally:
        profile = profiler.profile
        if record.preprocessing is not None:
            profile.preprocessing = record.preprocessing.as_text()
        for one in profiles.values():
            profile.merge(one)
        if calibration.save_profile is not None and profile.samples:
            profile.save(str(calibration.save_profile))
    warnings = doubts(record, profile, profiler.samples, model_inputs(module))
    return Calibrated(profile, profiler.samples, record, held_out, warnings)


def _held_out(
    inputs: Sequence[Input], data: Data | None, calibration: Calibration, images: Preprocessing
) -> HeldOut:
    return HeldOut(
        lambda record: read_labelled(data, inputs, images, calibration.labels, record),
        is_read_once=not paths_of(data) and iter(feeds_of(data)) is data,
    )


def _add(profiler: Profiler, feeds: Iterable[Feeds], calibration: Calibration) -> None:
    """Count all samples, in the requested number of processes."""

    def done(count: int) -> None:
        calibration.progress(f"profiling, {count} samples")

    if calibration.scheduler is not None:
        add_with_cluster(profiler, feeds, calibration.scheduler, calibration.memory, done)
    elif calibration.workers > 1:
        add_with_workers(profiler, feeds, calibration.workers, calibration.memory, done)
    else:
        profiler.add(feeds, done)


def _feeds(
    module: ModuleOp, data: Data | None, calibration: Calibration, images: Preprocessing, record: Record
) -> Iterable[Feeds]:
    """The samples, checked; `record` counts them."""
    inputs = model_inputs(module)
    if calibration.random:
        return [fitting_feeds(module, seed=seed) for seed in range(RANDOM_SAMPLES)]
    paths = paths_of(data)
    read = (one.arrays for one in load_data(paths, inputs, images, record)) if paths else feeds_of(data)
    if calibration.state:
        streams = ([one] for one in read) if paths else sequences(read)
        return stateful(module, calibration.state, inputs, streams, record)
    return checked(read, inputs, record=record)


def _images(
    module: ModuleOp, calibration: Calibration, profiles: Mapping[str, Profile], record: Record
) -> Preprocessing:
    """How images become samples: as asked, else as the first profile, or the model, states it."""
    if (asked := given(calibration)) is not None:
        return asked
    for path, profile in profiles.items():
        if profile.preprocessing:
            record.stated = f"'{path}'"
            return from_text(profile.preprocessing, record.stated)
    if (own := stated(module)) is None:
        return PLAIN
    record.stated = "the model"
    return own


def doubts(record: Record, profile: Profile, samples: Samples, inputs: Sequence[Input]) -> list[str]:
    """The warnings, by what was read, the statistics of the data, and the samples kept."""
    lines = [
        f"warning: the data of input '{name}' is uint8, taken as the numbers 0 to 255;"
        " if the model takes others, as 0 to 1, scale it"
        for name in sorted(record.in_bytes)
    ]
    known = [profile.tensors.get(one.name) for one in inputs if one.dtype.kind == "f"]
    counted = [one for one in known if one is not None and one.count > profile.samples]
    values = {number for one in counted for number in (one.low + 0.0, one.high + 0.0)}
    if len(counted) == len(inputs) and len(values) == 1:
        lines.append(
            f"warning: the data is {values.pop():g} throughout, which says nothing of ranges;"
            " the result is not to be used"
        )
    elif samples.distinct < MIN_SAMPLES <= samples.count:
        lines.append(
            f"warning: {samples.distinct} of {samples.count} samples are distinct: too few to calibrate with,"
            " or to measure noise on; 100 are enough"
        )
    return lines
