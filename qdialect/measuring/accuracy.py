"""How right models are on labelled data, as they run in onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qdialect.data.labels import Labels
from qdialect.data.metrics import Evaluation, Score, metric_maker
from qdialect.data.preprocessing import Preprocessing
from qdialect.data.reading import paths_of
from qdialect.data.record import Record
from qdialect.measuring.runner import Runner, preprocessing_of, translate


def measure_accuracy(
    paths: Sequence[str],
    data: str | Sequence[str],
    labels: str,
    metric: str | None = None,
    *,
    images: Preprocessing | None = None,
    record: Record | None = None,
    threads: int = 1,
    show: Callable[[str], None] = lambda _: None,
) -> list[Score]:
    """
    The score of each model file of one task on all of the data, in a default session. labels, metric: as
    `measuring.outputs.compare` takes them. images, record: as `measuring.timing.inputs_for`.

    Raises UserError if a file cannot be loaded or run, and if data or labels do not fit.
    """
    record = record or Record()
    runners = [Runner(path, optimize=True, threads=threads) for path in paths]
    preprocessing = preprocessing_of(images, runners, record)
    make = metric_maker(metric)
    evaluations = [Evaluation(make()) for _ in runners]
    read = runners[0].labelled(data, preprocessing, record, Labels(labels, paths_of(data)))
    for count, (feeds, right) in enumerate(read, 1):
        show(f"accuracy, batch {count}")
        assert right is not None
        for runner, evaluation in zip(runners, evaluations, strict=True):
            outputs = runner.run(translate(feeds, runners[0], runner))
            evaluation.add(runner.real_outputs(outputs), right)
    return [one.score() for one in evaluations]
