"""`Accuracy`: a metric of models on held-out labelled samples, as they run in onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration
from qdialect.data.metrics import Evaluation, Metric, Score, metric_maker, score_text
from qdialect.data.preprocessing import Preprocessing
from qdialect.errors import UserError
from qdialect.evaluation.feeds import retyped_feeds, retyped_outputs
from qdialect.evaluation.parallel import parallel_map
from qdialect.evaluation.session import blamed, session
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.search.judging import lowered_to_pairs, runs_here
from qdialect.quantizer.statistics.held_out import HeldOut, Labelled
from qdialect.quantizer.statistics.training_data import Images

FIRST_TRIED, MAX_TRIED = 48, 200
"""Samples on which all other preprocessing is tried, and on which the best is measured."""


class Accuracy:
    """Measures models against labels. Raises UserError where outputs or labels do not fit the metric."""

    def __init__(
        self,
        held_out: HeldOut,
        make: Callable[[], Metric],
        as_read: ModuleOp,
        target: str | Path,
        show: Callable[[str], None],
    ):
        """make: a new metric. as_read: the float model. target: of the result."""
        self.held_out, self._make, self._target, self._show = held_out, make, target, show
        self._as_read = as_read
        self.before = self._score(as_read)
        """The score of the model as it was read."""

    def after(self, compiled: ModuleOp) -> Score:
        """The score of a compiled module."""
        return self._score(runs_here(compiled, self._target))

    def loss(self, module: ModuleOp) -> float:
        """What a candidate with casts, which is consumed, loses: as `Score.loss`, and 0 if it gains."""
        return max(self.before.loss(self._score(lowered_to_pairs(module, self._target))), 0.0)

    def signs(self, images: Images) -> list[str]:
        """A warning if the float model is better on images preprocessed in another way, by more than the interval."""
        first = {one: self._score_as_if(one, images, FIRST_TRIED) for one in (images.given, *images.others())}
        best = min(first, key=lambda one: first[images.given].loss(first[one]))
        if best == images.given:
            return []
        own, score = (self._score_as_if(one, images, MAX_TRIED) for one in (images.given, best))
        if score.low is None or score.high is None or own.loss(score) >= 0:
            return []
        if abs(score.value - own.value) <= (score.high - score.low) / 2:
            return []
        return [
            f"warning: the model is better on {images.told(best)}, {score_text(score)} against {own}:"
            " was it trained so?"
        ]

    def _score_as_if(self, other: Preprocessing, images: Images, most: int) -> Score:
        """
        The score of the float model on at most `most` samples, as if images were preprocessed in another way. They are
        spread over the data, whose first samples may be of one class.
        """
        pairs = islice(self.held_out, 0, None, -(-self.held_out.count // most))
        return self._score(self._as_read, ((images.as_if(other, [feed])[0], right) for feed, right in pairs))

    def _score(self, module: ModuleOp, pairs: Iterable[Labelled] | None = None) -> Score:
        """The score on labelled feeds, by default on all held-out ones."""
        model = export_model(module).SerializeToString(deterministic=True)
        try:
            runner = session(model, optimize=True)
        except UserError:  # some models as they were read
            runner = session(model)
        names: list[str] = [one.name for one in runner.get_outputs()]
        evaluation = Evaluation(self._make())

        def run(pair: Labelled) -> tuple[dict[str, Array], Labelled]:
            with blamed("onnxruntime cannot run the model"):
                results = runner.run(None, retyped_feeds(module, pair[0]))
            arrays = retyped_outputs(module, [np.asarray(one) for one in results])
            return dict(zip(names, arrays, strict=True)), pair

        read = self.held_out if pairs is None else pairs
        for count, (outputs, (_, right)) in enumerate(parallel_map(run, read), 1):
            self._show(f"accuracy, {count} samples")
            evaluation.add(outputs, right)
        return evaluation.score()


def accuracy_of(
    as_read: ModuleOp, held_out: HeldOut | None, calibration: Calibration, target: str | Path
) -> Accuracy | None:
    """
    What measures accuracy; None without held-out samples. The float model is measured at once: labels that do not fit
    end the work before it begins.
    """
    if held_out is None:
        return None
    make = metric_maker(calibration.evaluate or calibration.metric)
    return Accuracy(held_out, make, as_read, target, calibration.progress)
