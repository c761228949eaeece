"""
Outputs of models on held-out samples in onnxruntime, the signal-to-noise ratio required of an integer model, and
`Judge`, which compares candidates.

Classifiers are compared by their decisive tensors: the operand of a final Softmax, whose results saturate at 0 and 1.
On a few samples of a confident classifier, the results have no noise whatever is rounded, or that of a single uncertain
sample. The logits have noise in every sample, but also that of irrelevant classes: so they are compared after another
Softmax, at a temperature at which no sample is certain (Hinton et al. 2015, arXiv 1503.02531, section 2). For a model
that returns only the index of the largest class, the operand of its ArgMax or TopK is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import shape_of
from qdialect.errors import UserError
from qdialect.evaluation.feeds import retyped_feeds, retyped_outputs
from qdialect.evaluation.parallel import parallel_map
from qdialect.evaluation.session import blamed, session
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import main_of
from qdialect.ir.values import is_float32
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import import_domains
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import KnownRange
from qdialect.quantizer.statistics.samples import Noise, Row, measure_noise
from qdialect.rewriting.manager import PassManager
from qdialect.targets import target as target_called
from qdialect.transforms.guard_session import GuardSessionPass
from qdialect.transforms.lower_to_qdq import LowerToQdqPass

SESSION = "onnxruntime"
"""The runtime, and its target, in whose sessions candidates are judged, whatever they are written for."""

Places = frozenset[int]
"""Indices of the outputs that are compared by their decisive tensors (`decided`, `chosen`)."""
AS_THEY_ARE = Places()
SECONDS_OF_EACH, MIN_RUNS = 0.5, 16
"""How long each model runs to be measured, and the least number of runs."""
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


def exported(module: ModuleOp) -> bytes:
    """The ONNX model of a module."""
    return export_model(module).SerializeToString(deterministic=True)


def seconds_of(models: Sequence[bytes], row: Row) -> list[float]:
    """Median seconds of processor time that each model takes for a sample, run in turn on one thread."""
    sessions = [session(model, optimize=True) for model in models]
    taken: list[list[float]] = [[] for _ in models]
    end = perf_counter() + SECONDS_OF_EACH * len(models)
    while len(taken[0]) < MIN_RUNS or perf_counter() < end:
        for each, times in zip(sessions, taken, strict=True):
            start = thread_time()
            each.run(None, dict(row))
            times.append(thread_time() - start)
    return [median(times[1:]) for times in taken]


def simulated(module: ModuleOp, target: str | Path, rows: Sequence[Row]) -> list[list[Array]]:
    """The outputs of a module with casts for each sample; the module is lowered to QDQ form in place."""
    lowered = lowered_to_pairs(module, target)
    return outputs(export_model(lowered).SerializeToString(deterministic=True), rows)


def lowered_to_pairs(module: ModuleOp, target: str | Path) -> ModuleOp:
    """A module with casts in QDQ form, in place, as sessions run it; returns the module."""
    PassManager().run([LowerToQdqPass(target=str(target)), GuardSessionPass(_session(target))], module)
    import_domains(module)
    return module


def _session(name: str | Path) -> str:
    """The target whose sessions candidates for target `name` are run in."""
    return str(name) if target_called(name).session == SESSION else SESSION


def runs_here(module: ModuleOp, name: str | Path) -> ModuleOp:
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
        compiled = runs_here(compiled, self._target)
        known = decided(compiled) | chosen(compiled)
        plain = self._choices & known
        noise = measure_noise(self.expected(plain), self._outputs(compiled, plain))
        if self.places == plain or self.places - known:
            return noise, noise, plain
        deciding = measure_noise(self.expected(), self._outputs(compiled, self.places))
        return noise, deciding, self.places


# --- decisive tensors


def decided(module: ModuleOp) -> frozenset[int]:
    """Indices of graph outputs that are class probabilities: one row for each sample."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_row_of_shares(value))


def chosen(module: ModuleOp) -> frozenset[int]:
    """Indices of graph outputs that are indices of the largest elements of a float tensor."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_choice(value))


def _is_choice(value: SSAValue) -> bool:
    op = value.owner
    promise = promise_of(op, Commutes)
    if promise is None or not isinstance(op, OnnxOp) or not promise.selects or promise.results(op):
        return False
    return list(promise.operands(op)) == [0] and is_float32(op.operands[0])


def _is_row_of_shares(value: SSAValue) -> bool:
    op = value.owner
    known = promise_of(op, KnownRange)
    if known is None or not known.shares or not is_float32(value) or not is_float32(op_operand(value)):
        return False
    shape = shape_of(value.type)
    return shape is not None and sum(size != 1 for size in shape[1:]) == 1


def op_operand(value: SSAValue) -> SSAValue:
    """The first operand of the operation that defines a value. TypeError for an argument."""
    if not isinstance(value.owner, OnnxOp):
        raise TypeError("an argument is made by no operator")
    return value.owner.operands[0]


def output_decisive_tensors(module: ModuleOp, places: Iterable[int]) -> ModuleOp:
    """Replace outputs `places`, probabilities or indices, by their decisive tensors, in place; returns the module."""
    func = main_of(module)
    end = end_of(func.body.block, ReturnOp)
    for k in places:
        end.operands[k] = op_operand(end.operands[k])
    func.update_function_type()
    return module


def softened(
    expected: Sequence[Sequence[Array]],
    results: Sequence[Sequence[Array]],
    places: Iterable[int],
    *,
    sure: bool = False,
) -> list[list[list[Array]]]:
    """
    Two models' outputs for some samples, with the logits at `places` replaced by softened probabilities.

    The temperature is the standard deviation of the expected logits within rows, (classes,) each; sure: 1, as
    in the model.
    """
    both = [[list(row) for row in rows] for rows in (expected, results)]
    for k in places:
        centred = [_centred(row[k]) for row in expected]
        squares = sum(float(np.square(rows).sum()) for rows in centred)
        deviation = np.sqrt(squares / max(sum(rows.size for rows in centred), 1))
        temperature = 1.0 if sure else deviation or 1.0
        for rows in both:
            for row in rows:
                hot = _centred(row[k]) / temperature
                powers = np.exp(hot - hot.max(axis=1, keepdims=True))
                row[k] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return both


def _centred(array: Array) -> Array:
    rows = array.reshape(array.shape[0], -1).astype(np.float64)
    return rows - rows.mean(axis=1, keepdims=True)
