"""
Sensitivity analysis: attribution of a quantized model's noise to layers, and selection of layers to keep in float.

Sites of rounding are switched on one after the other, in the order of the graph, and each adds a step to the error of
the outputs: e = sum d_s. Switching on single sites would not do: rounding noisy values gives another error than
rounding clean ones, though of the same size. The noise |e|^2 is the sum of shares <d_s, e>, errors that cancel or
amplify one another included; the noise with some sites in float is about |sum of the others' steps|^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from qdialect.quantizer.rounding.layers import Array

MIN_NOISE = 1e-30
ELEMENTS_AT_ONCE = 1 << 16
"""Number of output elements whose products are summed together."""
MAX_PREDICTED_EXCESS = 1.25
"""Greatest excess factor of the predicted noise over the limit at which a layer is tried in integers again."""
MAX_TRIALS = 24


class Cause(StrEnum):
    """Cause of a site's error."""

    WEIGHT = "weight"
    ROUNDING = "rounding"
    """Rounding of an activation's elements inside its range."""
    CLIPPING = "clipping"
    """Clipping of an activation's elements beyond its range."""


@dataclass(frozen=True)
class RoundingSite:
    """A site of rounding in a model."""

    layers: tuple[str, ...]
    """The nodes that use the rounded tensor: with all of them in float, it is not rounded."""
    cause: Cause


@dataclass(frozen=True)
class Share:
    """A layer's share of the outputs' noise."""

    layer: str
    total: float
    """Fraction of the total noise; negative if the layer's error cancels that of others."""
    causes: Mapping[Cause, float]

    @property
    def cause(self) -> Cause:
        """The cause with the largest share."""
        return max(self.causes, key=lambda c: self.causes[c])


class Budget:
    """
    Products of the steps that the sites add to the error of the outputs, one site after the other.

    `add` takes them sample by sample. A noise of 1 is as much as the signal.
    """

    def __init__(self, sites: Iterable[RoundingSite]):
        self.sites = tuple(sites)
        self._products = np.zeros((len(self.sites), len(self.sites)))
        self._signal = 0.0
        self.samples = 0
        """Number of samples added."""

    def add(self, signal: Array, steps: Array) -> None:
        """Add one sample's outputs, flat and concatenated: signal (n,), the step of each site (sites, n)."""
        self.samples += 1
        for k in range(0, steps.shape[1], ELEMENTS_AT_ONCE):
            exact = steps[:, k : k + ELEMENTS_AT_ONCE].astype(np.float64, copy=False)
            self._products += exact @ exact.T
        self._signal += float(np.square(signal, dtype=np.float64).sum())

    @property
    def noise(self) -> float:
        """The noise with all sites, relative to the signal."""
        return float(self._products.sum()) / max(self._signal, MIN_NOISE)

    @property
    def layers(self) -> tuple[str, ...]:
        """Every layer that has a site, in the order of the sites."""
        return tuple(dict.fromkeys(layer for site in self.sites for layer in site.layers))

    def shares(self) -> list[Share]:
        """Each layer's share of the noise, the largest first; a site of several layers is split evenly."""
        parts: dict[str, dict[Cause, float]] = {layer: {} for layer in self.layers}
        rows = self._products.sum(axis=1) / max(float(self._products.sum()), MIN_NOISE)
        for site, row in zip(self.sites, rows, strict=True):
            for layer in site.layers:
                own = float(row) / len(site.layers)
                parts[layer][site.cause] = parts[layer].get(site.cause, 0.0) + own
        result = [Share(layer, sum(causes.values()), causes) for layer, causes in parts.items()]
        return sorted(result, key=lambda share: -share.total)

    def predict(self, kept: Iterable[str]) -> float:
        """The noise with the layers `kept` in float, relative to the signal: |sum of the other sites' steps|^2."""
        layers = frozenset(kept)
        active = np.array([not layers.issuperset(site.layers) for site in self.sites], np.bool_)
        part = float(self._products[np.ix_(active, active)].sum())
        return max(part, 0.0) / max(self._signal, MIN_NOISE)


@dataclass(frozen=True)
class MeasuredSet:
    """A measured set of float layers."""

    kept: tuple[str, ...]
    predicted: float
    measured: float


@dataclass(frozen=True)
class FloatPlan:
    """Layers to keep in float."""

    kept: tuple[str, ...]
    """Names of the layers, the most useful first."""
    reached: bool
    """True if the limit holds."""
    trials: tuple[MeasuredSet, ...]

    @property
    def flag(self) -> str:
        """Command-line option that gives the same result."""
        return f"--keep-float {','.join(self.kept)}" if self.kept else ""


class _Search:
    """Measurements so far, which correct predictions of the next."""

    def __init__(self, budget: Budget, limit: float, measure: Callable[[tuple[str, ...]], float]):
        self._budget, self.limit, self._measure = budget, limit, measure
        self.trials: list[MeasuredSet] = []
        self._ratio = 1.0
        self._passed = False

    def passes(self, kept: Iterable[str]) -> bool:
        """Measure a set and correct predictions by the result; True if the limit holds."""
        layers = tuple(kept)
        predicted = self.expect(layers)
        measured = self._measure(layers)
        self.trials.append(MeasuredSet(layers, predicted, measured))
        passes, noise = measured <= self.limit, self._budget.predict(layers)
        if measured > 0 and noise > 0 and (passes or not self._passed):
            self._ratio = measured / noise  # the ratio of a set also corrects its subsets
        self._passed = self._passed or passes
        return passes

    def expect(self, kept: Iterable[str]) -> float:
        """Corrected prediction of the measurement."""
        return self._ratio * self._budget.predict(kept)


def plan_floats(
    budget: Budget, costs: Mapping[str, float], limit: float, measure: Callable[[tuple[str, ...]], float]
) -> FloatPlan:
    """
    The cheapest layers to keep in float so that `measure(kept)` is at most `limit`.

    `measure` returns a noise, or a loss of a metric, assumed to grow with it; `costs` are the savings of a layer in
    integers compared with float (multiplications, say). Layers are added by predicted gain per cost until the
    prediction suffices, then measured; each measurement corrects the predictions. At the end each is removed again, the
    least useful first, where the limit still holds.
    """
    search = _Search(budget, limit, measure)
    kept: list[str] = []
    left = [layer for layer in budget.layers if layer in costs]
    reached = search.passes(kept)
    while not reached and left and len(search.trials) < MAX_TRIALS:
        while left:
            kept.append(_best(budget, kept, left, costs))
            left.remove(kept[-1])
            if search.expect(kept) <= limit:
                break
        reached = search.passes(kept)
    for layer in reversed(kept.copy()) if reached else ():
        fewer = [k for k in kept if k != layer]
        if (
            len(search.trials) < MAX_TRIALS
            and search.expect(fewer) <= limit * MAX_PREDICTED_EXCESS
            and search.passes(fewer)
        ):
            kept = fewer
    return FloatPlan(tuple(kept), reached, tuple(search.trials))


def _best(budget: Budget, kept: list[str], left: list[str], costs: Mapping[str, float]) -> str:
    now = budget.predict(kept)

    def worth(layer: str) -> float:
        gain = now - budget.predict([*kept, layer])
        cost = max(costs[layer], 1.0)
        return gain / cost if gain > 0 else gain * cost

    return max(left, key=worth)
