"""What is odd about calibration data though the model runs on it: a line each, for the user to judge."""

from __future__ import annotations

from collections.abc import Sequence

from qdialect.data.record import Record
from qdialect.evaluation.data import Input
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Samples


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
