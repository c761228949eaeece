"""
Candidates for an integer model, and which of them is the best on samples that none was made from.

All share one profile and one set of Hessians. A candidate is worth its signal-to-noise ratio less what its time costs; a
later one must be better by `LEAST_GAIN` than the plainer one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from qdialect.calibration.observer import Observer, observe_samples, value_names
from qdialect.calibration.placement import Placement, place
from qdialect.calibration.profile import Profile
from qdialect.calibration.rounding import (
    Moments,
    RoundedWeights,
    layer_number,
    number_layers,
    round_layers,
    shift_biases,
    shifts_of,
    waves_of,
)
from qdialect.calibration.samples import Row, Samples, noise_ratio
from qdialect.compiler.compilation import Options, compile
from qdialect.compiler.report import Report
from qdialect.errors import UserError
from qdialect.onnx_io.exporter import export_model
from qdialect.oracle.session import session
from qdialect.targets import target
from qdialect.transforms.insert_casts import annotate_from, insert_casts

Array = npt.NDArray[Any]

LEAST_GAIN = 0.1
"""dB by which a candidate must be better than the one before it."""
WORTH = 0.3
"""dB that one percent of the float model's time is worth."""
ENOUGH = 60.0
"""dB beyond which more is worth nothing."""


@dataclass(frozen=True)
class Choice:
    """What distinguishes one candidate from another."""

    range: str = "minmax"
    rounding: str = "nearest"
    """`nearest`, or `gptq`."""
    bias: bool = False
    """Whether biases take back what rounding shifts on average."""
    price: int = 100
    """What integer ops are taken to cost when they are placed, in percent."""
    dynamic: bool = True
    """Whether kernels may quantize activations at run time."""

    def __str__(self) -> str:
        parts = [self.range, self.rounding]
        parts += ["bias correction"] if self.bias else []
        parts += [f"integers at {self.price} %"] if self.price != 100 else []
        parts += [] if self.dynamic else ["no ranges at run time"]
        return ", ".join(parts)


@dataclass
class Trial:
    """One candidate that was built and measured."""

    choice: Choice
    ratio: float
    """Signal to noise on the samples that judge, in dB."""
    time: float
    """Expected nanoseconds."""
    value: float
    module: ModuleOp
    report: Report
    integer: int
    """Linear ops in integers."""


@dataclass
class Candidates:
    """Builds candidates of one prepared float module and compares them."""

    module: ModuleOp
    profile: Profile
    samples: Samples
    options: Options
    levels: int = 127
    memory: int = 1 << 30
    show: Callable[[str], None] = lambda text: None
    log: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.target = target(self.options.target)
        self.form = self.options.form or self.target.form
        self.layers = number_layers(self.module)
        self._rounded: dict[tuple[str, bool], RoundedWeights] = {}
        self._expected: list[list[Array]] | None = None
        self._tried: dict[Choice, Trial] = {}

    # --- What candidates share ---

    def _weights(self, choice: Choice) -> RoundedWeights:
        key = choice.rounding, choice.bias
        if key not in self._rounded:
            self._round_all()
        return self._rounded[key]

    def _round_all(self) -> None:
        """Round every layer in each way, in waves that memory holds."""
        keys = [(rounding, bias) for rounding in ("nearest", "gptq") for bias in (False, True)]
        for key in keys:
            self._rounded[key] = RoundedWeights()
        observer, names = Observer(self.module), value_names(self.module)

        def largest(value: Any) -> float:
            seen = self.profile.tensors.get(names.get(value, ""))
            return 1.0 if seen is None or not seen.counts.size else max(-seen.low, seen.high)

        layers = {k: op for k, op in self.layers.items() if observer.is_visible(op.operands[0])}
        rows = self.samples.steering
        for wave in waves_of(layers, self.memory):
            self.show(f"rounding {len(wave)} layers")
            moments = Moments(wave, largest, len(rows))
            observe_samples(observer, moments.values, rows, moments.look, memory=self.memory)
            for rounding, bias in keys:
                done = round_layers(wave, moments, self.levels, nearest=rounding == "nearest", centered=bias)
                self._rounded[rounding, bias].layers.update(done.layers)

    def expected(self) -> list[list[Array]]:
        """What the float model gives for the samples that judge."""
        if self._expected is None:
            model = export_model(self.module).SerializeToString(deterministic=True)
            self._expected = outputs(model, self.samples.judging)
        return self._expected

    # --- Candidates ---

    def placed(self, module: ModuleOp, choice: Choice) -> Placement:
        """The placement of an annotated module."""
        kernels = self.form != "qdq"
        found = place(module, self.target, kernels=kernels, bias=choice.price / 100)
        if not kernels or not choice.dynamic:
            found.dynamic.clear()
        return found

    def build(self, choice: Choice) -> tuple[ModuleOp, Placement]:
        """The module of a candidate, with casts, not compiled yet."""
        module = self.module.clone()
        annotate_from(module, self.profile, choice.range, self.target)
        placement = self.placed(module, choice)
        weights = RoundedWeights()
        if choice.rounding != "nearest" or choice.bias:
            weights = self._weights(choice)
        if choice.bias:
            chosen = [layer_number(op) for op in (*placement.linear, *placement.dynamic)]
            shift_biases(module, shifts_of(weights, [k for k in chosen if k is not None]))
            placement = self.placed(module, choice)
        insert_casts(module, self.target, placement, weights, self.levels)
        return module, placement

    def attempt(self, choice: Choice) -> Trial:
        """Build, compile and measure a candidate."""
        if choice in self._tried:
            return self._tried[choice]
        self.show(f"trying {choice}")
        module, placement = self.build(choice)
        count = len(placement.linear) + len(placement.dynamic)
        o = self.options
        report = compile(
            module,
            o.target,
            o.form,
            o.exactness,
            keep_overridable=o.keep_overridable,
            integer_io=o.integer_io,
            float_weights=o.float_weights,
        )
        model = export_model(module).SerializeToString(deterministic=True)
        rows = self.samples.judging
        ratio = noise_ratio(self.expected(), outputs(model, rows)) if rows else float("nan")
        share = placement.cost / max(placement.float_cost, 1e-9)
        value = min(ratio, ENOUGH) - WORTH * 100 * share
        trial = Trial(choice, ratio, placement.cost, value, module, report, count)
        self.log.append(f"{choice}: {ratio:.1f} dB, {100 * share:.0f} % of the float time expected")
        self._tried[choice] = trial
        return trial

    def best(
        self, first: Choice, *, fixed_range: str | None = None, fixed_rounding: str | None = None
    ) -> Trial:
        """The best of all, looked for one decision after the other; what is fixed is not decided."""
        now = self.attempt(first)
        if not now.integer or not self.samples.judging:
            return now
        ranges = () if fixed_range is not None else RANGES
        roundings = (fixed_rounding,) if fixed_rounding is not None else ("nearest", "gptq")
        for decide in (_ranges, _roundings, _prices, _ranges):
            ways = decide(now.choice, ranges, roundings)
            found = max((now, *(self.attempt(way) for way in ways)), key=lambda t: t.value)
            if found.value >= now.value + LEAST_GAIN:
                now = found
        return now


RANGES = ("mse", "99.999", "99.99")
PRICES = (110, 125, 150)


def _ranges(choice: Choice, ranges: Sequence[str], roundings: Sequence[str]) -> list[Choice]:
    return [replace(choice, range=r) for r in ranges]


def _roundings(choice: Choice, ranges: Sequence[str], roundings: Sequence[str]) -> list[Choice]:
    return [replace(choice, rounding=r, bias=b) for r in roundings for b in (False, True)]


def _prices(choice: Choice, ranges: Sequence[str], roundings: Sequence[str]) -> list[Choice]:
    return [replace(choice, price=p) for p in PRICES]


def outputs(model: bytes, rows: Sequence[Row]) -> list[list[Array]]:
    """What a model gives for each sample, as onnxruntime runs it."""
    runner = session(model, optimize=True)
    try:
        return [[np.asarray(a) for a in runner.run(None, dict(row))] for row in rows]
    except Exception as error:  # onnxruntime's exceptions share no base class
        line = str(error).strip().splitlines()[0]
        raise UserError(f"onnxruntime cannot run the model: {line}") from None
