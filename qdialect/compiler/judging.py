"""What candidates are compared by: their outputs on samples kept apart, of a classifier what decides."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from qdialect.calibration.decisive import chosen, decided, let_out_what_decides, softened
from qdialect.calibration.samples import Noise, Samples, measure_noise
from qdialect.compiler.measured import outputs, simulated
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model

Places = frozenset[int]
"""The outputs that are compared by what decides (`calibration.decisive`)."""
AS_THEY_ARE = Places()
ENOUGH = 60.0
"""dB of signal to noise beyond which more is worth nothing."""


class Judge:
    """Measures what is made of a float module on samples, against what the module gives."""

    def __init__(self, module: ModuleOp, samples: Samples, target: str | Path, *, decisive: bool = True):
        """decisive: whether outputs that are shares of classes are compared by what decides."""
        self._module, self._samples, self._target = module, samples, target
        self._shares = decided(module) if decisive else AS_THEY_ARE
        self._choices = chosen(module)
        self.places = self._shares | self._choices
        self._sure: bool | None = None
        self._expected: dict[Places, list[list[Array]]] = {}

    def expected(self, places: Places | None = None) -> list[list[Array]]:
        """What the float module gives for each sample that is measured."""
        places = self.places if places is None else places
        if places not in self._expected:
            self._expected[places] = self._outputs(self._module, places)
        return self._expected[places]

    def _outputs(self, module: ModuleOp, places: Places) -> list[list[Array]]:
        module = let_out_what_decides(module.clone(), places) if places else module
        return outputs(export_model(module).SerializeToString(deterministic=True), self._samples.measured)

    def simulated(self, module: ModuleOp) -> list[list[Array]]:
        """What a module with casts gives for each; it is used up."""
        let_out_what_decides(module, self.places)
        return simulated(module, self._target, self._samples.measured)

    def simulate(self, module: ModuleOp) -> tuple[Noise, Noise | None]:
        """
        The noise of a module with casts, which is used up; of a classifier besides that of softened shares.

        If the first module that is judged has none to speak of in its shares, the softened ones are all that counts.
        """
        expected, results = self.expected(), self.simulated(module)
        if not self._shares:
            return measure_noise(expected, results), None
        noise, soft = (
            measure_noise(*softened(expected, results, self._shares, sure=sure)) for sure in (True, False)
        )
        if self._sure is None:
            self._sure = noise.ratio() < ENOUGH
        return (noise, soft) if self._sure else (soft, None)

    def run(self, compiled: ModuleOp) -> tuple[Noise, Noise, Places]:
        """
        The noise of a compiled module: of its outputs as they are, but for choices; and of the places that come third,
        all that decides if it is still in the module.
        """
        known = decided(compiled) | chosen(compiled)
        plain = self._choices & known
        noise = measure_noise(self.expected(plain), self._outputs(compiled, plain))
        if self.places == plain or self.places - known:
            return noise, noise, plain
        deciding = measure_noise(self.expected(), self._outputs(compiled, self.places))
        return noise, deciding, self.places
