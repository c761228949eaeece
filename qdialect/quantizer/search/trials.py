"""
A candidate's decisions, its measurement, and which of two candidates is better.

The value of a candidate is its signal-to-noise ratio minus a price for its time; a later one must be better by
`MIN_GAIN_DB` than the simpler one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qdialect.quantizer.placement.op_costs import OPEN_BATCH
from qdialect.quantizer.placement.placement import PlacementKey
from qdialect.quantizer.search.judging import MAX_USEFUL_DB, least_ratio
from qdialect.quantizer.statistics.samples import Noise

MIN_GAIN_DB = 0.1
"""dB by which a candidate must be better than the one before it."""
DB_PER_PERCENT_TIME = 0.3
"""dB that one percent of the float model's time is worth."""
MIN_GAIN_STANDARD_ERRORS = 1.0
"""Standard errors by which a candidate must also be better."""
CAUTION_DB = {"99.999": 0.3, "99.99": 2.0}
"""Additional dB that a percentile must gain: clipped values may matter in data that calibration has not seen."""
CLIPPING_RANGES, CAUTION_DB_TIMES_SAMPLES = ("mse", *CAUTION_DB), 20 / float(np.log(10))
"""Ranges fitted to seen values, and their optimism on n samples in dB, times n: 2 / n in ln(noise) (Akaike 1974)."""
MAX_TIME_SHARE = 0.95
"""Greatest fraction of the float model's expected time at which an integer model is worth its noise."""
MAX_TIME_SHARE_OF_ONE = 1.0
"""Greatest fraction of the float model's expected time on a batch of one, if the batch is open."""


def is_slow(share: float, share_of_one: float) -> bool:
    """True if an integer model gains too little time, or loses some on a batch of one."""
    return share > MAX_TIME_SHARE or share_of_one > MAX_TIME_SHARE_OF_ONE


@dataclass(frozen=True)
class Choice:
    """The decisions that distinguish candidates."""

    range: str = "minmax"
    rounding: str = "nearest"
    """`nearest`, or `gptq`."""
    bias: bool = False
    """True if biases are corrected for the mean error of rounding."""
    price: int = 100
    """Factor on the cost of integer ops in placement, in percent."""
    static: bool = True
    """True for static ranges; otherwise only dynamically quantized kernels are used."""
    sequential: bool = False
    """True if biases are corrected sequentially, layer by layer."""
    smooth: bool = False
    """True if activations are smoothed (SmoothQuant)."""
    tables: bool = False
    """True if embedding tables are in 8 bits."""
    kept: tuple[str, ...] = ()
    """Names of nodes kept in float."""
    batch: int = OPEN_BATCH
    """Batch size for which an open batch is placed."""

    def __str__(self) -> str:
        """As the log says it."""
        parts = [self.range, self.rounding]
        parts += ["bias correction"] if self.bias else []
        parts += ["sequential bias correction"] if self.sequential else []
        parts += ["smoothing"] if self.smooth else []
        parts += ["tables in 8 bits"] if self.tables else []
        parts += [f"integers at {self.price} %"] if self.price != 100 else []
        parts += [] if self.static else ["ranges at run time"]
        parts += [f"placed for a batch of {self.batch}"] if self.batch != OPEN_BATCH else []
        parts += [f"{len(self.kept)} nodes in float"] if self.kept else []
        return ", ".join(parts)


@dataclass
class Trial:
    """A candidate, built and measured."""

    choice: Choice
    noise: Noise | None
    share: float
    """Expected time as a fraction of the float model's."""
    layers: int
    """Number of linear ops in integers."""
    casts: int
    """Number of quantized tensors."""
    float_time: float = 0.0
    """Expected nanoseconds of the float model."""
    share_of_one: float = 0.0
    """Expected time of a batch of one as a fraction of the float model's; that of `share` unless the batch is open."""
    softened: Noise | None = None
    """Noise of a classifier's Softmax at a temperature at which no sample is certain."""
    placement: PlacementKey | None = None
    """What is in integers."""

    @property
    def integer(self) -> bool:
        """True if anything is in integers."""
        return self.layers + self.casts > 0

    @property
    def ratio(self) -> float:
        """Signal to noise on all measured samples, in dB."""
        return self.noise.ratio() if self.noise is not None else float("nan")

    @property
    def pays(self) -> bool:
        """True if the candidate is good enough not to be discarded for the float model."""
        if self.noise is None or is_slow(self.share, self.share_of_one):
            return False
        return self.ratio >= least_ratio(self.share)

    def value(self, count: int | None = None) -> float:
        """Signal to noise on the first `count` samples minus the price of its time, in dB."""
        caution, ratio = CAUTION_DB.get(self.choice.range, 0.0), 0.0
        if self.noise is not None:
            ratio = self.noise.ratio(count)
            caution += (
                CAUTION_DB_TIMES_SAMPLES / self.noise.noise.size
                if self.choice.range in CLIPPING_RANGES
                else 0.0
            )
        return min(ratio, MAX_USEFUL_DB) - DB_PER_PERCENT_TIME * 100 * self.share - caution

    def __str__(self) -> str:
        """As the log says it."""
        ratio = "nothing measured" if self.noise is None else f"{self.ratio:.1f} dB"
        return f"{self.choice}: {ratio}, {100 * self.share:.0f} % of the float time expected"

    def beats(self, other: Trial, count: int | None = None) -> bool:
        """True if this is significantly better than the simpler `other`."""
        if self.noise is None or other.noise is None:
            return False
        if self.softened is not None and other.softened is not None:  # one sample may decide
            if self.softened.ratio(count) < other.softened.ratio(count):
                return False
        doubt = self.noise.doubt(other.noise, count)
        return self.value(count) >= other.value(count) + max(MIN_GAIN_DB, MIN_GAIN_STANDARD_ERRORS * doubt)


def better(now: Trial, trials: Sequence[Trial], count: int | None = None) -> Trial:
    """The best trial, or `now`, on the first `count` samples; any that pays is preferred to all that do not."""
    paying = [trial for trial in trials if trial.pays]
    if paying or now.pays:
        trials = paying
    best = max(trials, key=lambda t: t.value(count), default=now)
    return best if best.pays > now.pays or best.beats(now, count) else now
