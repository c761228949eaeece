"""
A candidate's decisions, its measurement, and which of two candidates is better.

The value of a candidate is its signal-to-noise ratio minus a price for its time; a later one must be better by
`MIN_GAIN_DB` than the simpler one before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from qdialect.quantizer.placement.op_costs import OPEN_BATCH
from qdialect.quantizer.placement.placement import PlacementKey
from qdialect.quantizer.search.judging import MAX_USEFUL_DB, least_ratio
from qdialect.quantizer.statistics.samples import Noise

MIN_GAIN_DB = 0.1
"""dB by which a candidate must be better than the one before it."""
DB_PER_PERCENT_TIME = {"speed": 3.0, "balance": 0.3, "accuracy": 0.05}
"""dB that one percent of the float model's time is worth, by what is preferred."""
ALL_INTEGER_PERCENT = 0
"""Price at which all that has an integer kernel is in integers."""
MIN_FASTER_RATIO = 0.9
"""Fraction of the result's time up to which a rejected candidate is named."""
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
        everything = "all in integers" if self.price == ALL_INTEGER_PERCENT else f"integers at {self.price} %"
        parts += [everything] if self.price != 100 else []
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
    prefer: str = "balance"
    """What is preferred: a key of `DB_PER_PERCENT_TIME`."""

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
        """Signal to noise on the first `count` samples minus the price of its expected time, in dB."""
        return self.value_at(self.share, count)

    def value_at(self, share: float, count: int | None = None) -> float:
        """As `value`, if it takes `share` of the float model's time."""
        caution, ratio = CAUTION_DB.get(self.choice.range, 0.0), 0.0
        if self.noise is not None:
            ratio = self.noise.ratio(count)
            caution += (
                CAUTION_DB_TIMES_SAMPLES / self.noise.noise.size
                if self.choice.range in CLIPPING_RANGES
                else 0.0
            )
        return min(ratio, MAX_USEFUL_DB) - DB_PER_PERCENT_TIME[self.prefer] * 100 * share - caution

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


def table(trials: Collection[Trial], chosen: Trial, layers: int) -> list[str]:
    """The trials that were measured, the fastest first: a line of each. layers: number of linear ops of the model."""
    known = {id(trial): trial for trial in trials if trial.noise is not None}.values()
    lines = ["candidates: layers in integers, expected time of the float model's, signal to noise"]
    for trial in sorted(known, key=lambda t: (t.share, -t.ratio)):
        mark = "  <- chosen" if trial.choice == chosen.choice else ""
        share = f"{100 * trial.share:.0f} %"
        lines.append(f"{trial.layers:5} of {layers}{share:>8}{trial.ratio:8.1f} dB  {trial.choice}{mark}")
    return lines


def faster_line(trials: Collection[Trial], chosen: Trial) -> list[str]:
    """The line on the fastest candidate that was rejected for its noise, if it is much faster."""
    others = [t for t in trials if t.pays and t.share < MIN_FASTER_RATIO * chosen.share]
    if not others or not chosen.integer:
        return []
    other = min(others, key=lambda t: (t.share, -t.ratio))
    what = other.choice if other.choice.price == ALL_INTEGER_PERCENT else f"{other.layers} layers in integers"
    ratio = other.share / chosen.share
    return [f"faster: {what}, {ratio:.2f} of the time, {other.ratio:.1f} dB: --prefer speed"]
