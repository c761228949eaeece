"""
Outputs of models on held-out samples in onnxruntime, the signal-to-noise ratio required of an integer model, and
`Judge`, which compares candidates; classifiers are compared by decisive tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.errors import UserError
from qdialect.evaluation.feeds import retyped_feeds, retyped_outputs
from qdialect.evaluation.parallel import parallel_map
from qdialect.evaluation.session import blamed, session
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import import_domains
from qdialect.quantizer.search.logit_metric import chosen, decided, output_decisive_tensors, softened
from qdialect.quantizer.statistics.samples import Noise, Row, measure_noise
from qdialect.rewriting.manager import PassManager
from qdialect.targets import target as target_called
from qdialect.transforms.guard_session import GuardSessionPass
from qdialect.transforms.lower_to_qdq import LowerToQdqPass

SESSION = "onnxruntime"
"""The runtime, and its target, in whose sessions candidates are judged, whatever they are written for."""

Places = frozenset[int]
"""Indices of the outputs that are compared by their decisive tensors (`logit_metric`)."""
AS_THEY_ARE = Places()
MAX_USEFUL_DB = 60.0
"""Signal to noise in dB above which more has no value."""
MIN_RATIO_DB, RATIO_FOR_TIME_DB = 10.0, 20.0
"""Required signal to noise in dB: at no time, and the increase up to the float model's time."""


def least_ratio(share: float) -> float:
    """Signal to noise in dB required of an integer model that takes `share` of the float model's time."""
    return MIN_RATIO_DB + RATIO_FOR_TIME_DB * share


def outputs(model: bytes, rows: Sequence[Row]) -> list[list[Array]]:
    """
    The outputs of a model for each sample, without optimization if a default session refuses the model, as some that
    were read. Raises UserError if onnxruntime cannot run it.
    """
    try:
        runner = session(model, optimize=True)
    except UserError:
        runner = session(model)
    with blamed("onnxruntime cannot run the model"):
        return list(parallel_map(lambda row: [np.asarray(a) for a in runner.run(None, dict(row))], rows))


def simulated(module: ModuleOp, target: str | Path, rows: Sequence[Row]) -> list[list[Array]]:
    """The outputs of a module with casts for each sample; the module is lowered to QDQ form in place."""
    PassManager().run([LowerToQdqPass(target=str(target)), GuardSessionPass(_session(target))], module)
    import_domains(module)
    return outputs(export_model(module).SerializeToString(deterministic=True), rows)


def _session(name: str | Path) -> str:
    """The target whose sessions candidates for target `name` are run in."""
    return str(name) if target_called(name).session == SESSION else SESSION


def _runs_here(module: ModuleOp, name: str | Path) -> ModuleOp:
    """A compiled module, guarded for the session that judges it if it was written for another runtime."""
    if target_called(name).session == SESSION:
        return module
    module = module.clone()
    PassManager().run([GuardSessionPass()], module)
    return module


class Judge:
    """Measures modules derived from a float module against its outputs on samples."""

    def __init__(self, module: ModuleOp, rows: Sequence[Row], target: str | Path, *, decisive: bool = True):
        """rows: the samples to run on. decisive: True to compare class probabilities by their logits."""
        self._module, self._rows, self._target = module, rows, target
        self._shares = decided(module) if decisive else AS_THEY_ARE
        self._choices = chosen(module)
        self.places = self._shares | self._choices
        self._sure: bool | None = None
        self._expected: dict[Places, list[list[Array]]] = {}

    def expected(self, places: Places | None = None) -> list[list[Array]]:
        """The float module's outputs for each measured sample."""
        places = self.places if places is None else places
        if places not in self._expected:
            self._expected[places] = self._outputs(self._module, places)
        return self._expected[places]

    def _outputs(self, module: ModuleOp, places: Places) -> list[list[Array]]:
        module = output_decisive_tensors(module.clone(), places) if places else module
        rows = [retyped_feeds(module, row) for row in self._rows]
        results = outputs(export_model(module).SerializeToString(deterministic=True), rows)
        return [retyped_outputs(module, arrays) for arrays in results]

    def simulated(self, module: ModuleOp) -> list[list[Array]]:
        """The outputs of a module with casts for each measured sample; the module is consumed."""
        output_decisive_tensors(module, self.places)
        return simulated(module, self._target, self._rows)

    def simulate(self, module: ModuleOp) -> tuple[Noise, Noise | None]:
        """
        The noise of a module with casts, which is consumed; for a classifier also that of softened probabilities.

        If the first judged module has negligible noise in its probabilities, only the softened ones count.
        """
        expected, results = self.expected(), self.simulated(module)
        if not self._shares:
            return measure_noise(expected, results), None
        noise, soft = (
            measure_noise(*softened(expected, results, self._shares, sure=sure)) for sure in (True, False)
        )
        if self._sure is None:
            self._sure = noise.ratio() < MAX_USEFUL_DB
        return (noise, soft) if self._sure else (soft, None)

    def run(self, compiled: ModuleOp) -> tuple[Noise, Noise, Places]:
        """
        The noise of a compiled module's float outputs; the noise with the decisive tensors at the places returned
        as the third result, those that the module still contains.
        """
        compiled = _runs_here(compiled, self._target)
        known = decided(compiled) | chosen(compiled)
        plain = self._choices & known
        noise = measure_noise(self.expected(plain), self._outputs(compiled, plain))
        if self.places == plain or self.places - known:
            return noise, noise, plain
        deciding = measure_noise(self.expected(), self._outputs(compiled, self.places))
        return noise, deciding, self.places
