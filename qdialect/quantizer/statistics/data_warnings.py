"""What is odd about calibration data though the model runs on it: a line each, for the user to judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from qdialect.evaluation.data import Input
from qdialect.numerics import Array
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Samples


@dataclass
class Doubts:
    """What was seen of the data before it took the types of the inputs."""

    in_bytes: set[str] = field(default_factory=set[str])
    """Float inputs whose data are bytes."""

    def look(self, sample: Mapping[str, Array], inputs: Sequence[Input]) -> None:
        """Count one sample."""
        real = [one.name for one in inputs if one.dtype.kind == "f" and one.name in sample]
        self.in_bytes.update(name for name in real if sample[name].dtype == np.uint8)

    def lines(self, profile: Profile, samples: Samples, inputs: Sequence[Input]) -> list[str]:
        """The warnings, with the statistics of the data and the samples kept."""
        lines = [
            f"warning: the data of input '{name}' is uint8, taken as the numbers 0 to 255;"
            " if the model takes others, as 0 to 1, scale it"
            for name in sorted(self.in_bytes)
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
