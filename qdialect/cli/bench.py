"""`qdialect bench`: latency of models side by side; with --profile, the time of each node."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from qdialect.cli.display import progress, table
from qdialect.cli.inputs import model_file
from qdialect.cli.status import DONE
from qdialect.compiler.options import ImageOptions, options_of

if TYPE_CHECKING:
    from qdialect.data.metrics import Score
    from qdialect.data.preprocessing import Preprocessing
    from qdialect.data.record import Record
    from qdialect.measuring.profiling import NodeTime
    from qdialect.measuring.timing import Latency

MAX_PROFILE_ROWS = 30
"""Greatest number of nodes in the table of --profile; --json has all."""


def run(arguments: argparse.Namespace) -> int:
    """Prints the latency of each model, and a verdict against the first."""
    with ExitStack() as stack:
        paths = [stack.enter_context(model_file(path)) for path in arguments.models]
        from qdialect.data.preprocessing import given
        from qdialect.data.record import Record
        from qdialect.measuring.timing import measure, verdict

        images, record = given(options_of(ImageOptions, arguments)), Record()
        scores: list[Score] = []
        with progress() as show:
            if arguments.labels is not None:
                scores = _scores(paths, arguments, images, record, show)
            measured = measure(
                paths,
                data=arguments.data,
                images=images,
                record=Record() if scores else record,
                threads=arguments.threads,
                batch=arguments.batch,
                show=show,
            )
            profiles = _profiles(paths, arguments, images) if arguments.profile else {}
    names = dict(zip(paths, arguments.models, strict=True))
    measured = [replace(one, model=names[one.model]) for one in measured]
    profiles = {names[path]: rows for path, rows in profiles.items()}
    if arguments.json:
        layers = {path: [one.as_json() for one in rows] for path, rows in profiles.items()}
        latencies = [one.as_json() for one in measured]
        said = {"threads": arguments.threads, "batch": arguments.batch, "verdict": verdict(measured)}
        if scores:
            each = zip(arguments.models, scores, strict=True)
            said |= {"accuracy": [{"model": model, **score.as_json()} for model, score in each]}
        said |= {"data": record.line()} if record.line() else {}
        print(json.dumps({"models": latencies, **said} | ({"profile": layers} if layers else {}), indent=2))
        return DONE
    lines = [line for path, rows in profiles.items() for line in (path, *_profile(rows), "")]
    by_model = dict(zip(arguments.models, scores, strict=True)) if scores else {}
    lines += [*_latencies(measured, arguments, by_model), *([record.line()] if record.line() else [])]
    lines += [] if scores else record.offer()
    text = "; ".join(one for one in (*_changes(scores, record.what), verdict(measured)) if one)
    print("\n".join([*lines, *([f"verdict: {text}"] if text else [])]))
    return DONE


def _scores(
    paths: Sequence[str],
    arguments: argparse.Namespace,
    images: "Preprocessing | None",
    record: "Record",
    show: Callable[[str], None],
) -> "list[Score]":
    from qdialect.measuring.accuracy import measure_accuracy

    labels, metric, threads = arguments.labels, arguments.metric, arguments.threads
    return measure_accuracy(
        paths, arguments.data, labels, metric, images=images, record=record, threads=threads, show=show
    )


def _changes(scores: "Sequence[Score]", what: str) -> list[str]:
    """The score of the only model, or what each becomes of the first."""
    from qdialect.data.metrics import change_text, score_text

    if len(scores) == 1:
        return [score_text(scores[0], what)]
    return [change_text(scores[0], one, what) for one in scores[1:]]


def _profiles(
    paths: Sequence[str], arguments: argparse.Namespace, images: "Preprocessing | None"
) -> "dict[str, list[NodeTime]]":
    from qdialect.data.record import Record
    from qdialect.measuring.profiling import profile
    from qdialect.measuring.runner import Runner, preprocessing_of, translate
    from qdialect.measuring.timing import inputs_for

    runners = [Runner(path, optimize=True, threads=arguments.threads) for path in paths]
    first, record = runners[0], Record()
    images = preprocessing_of(images, runners, record)
    feed = inputs_for(first, arguments.data, arguments.batch, images, record)
    return {
        path: profile(path, translate(feed, first, runner), threads=arguments.threads)
        for path, runner in zip(paths, runners, strict=True)
    }


def _latencies(
    latencies: "Sequence[Latency]", arguments: argparse.Namespace, scores: "Mapping[str, Score]"
) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("model", "runs in", "median ms", "10 to 90 %", "rounds", "against the first")
    ]
    rows[0] += tuple({one.metric for one in scores.values()})
    first: Mapping[str, Latency] = {one.engine: one for one in reversed(latencies)}
    for one in latencies:
        low, high = one.spread
        ratio = "" if one is first[one.engine] else f"{first[one.engine].median / one.median:.2f}x"
        spread = f"{1e3 * low:.3f} to {1e3 * high:.3f}"
        rows.append((one.model, one.engine, f"{1e3 * one.median:.3f}", spread, f"{len(one.seconds)}", ratio))
        if scores:  # they are onnxruntime's
            rows[-1] += (str(scores[one.model]) if one.engine.startswith("onnxruntime") else "",)
    threads = f"{arguments.threads} thread{'' if arguments.threads == 1 else 's'}"
    said = [threads if arguments.threads else "all cores"]
    said += [f"batch {arguments.batch}"] if arguments.batch else []
    names = ", ".join(arguments.data)
    said.append((names if arguments.batch else f"the first batch of {names}") if names else "random inputs")
    ran = {(one.model, one.engine) for one in latencies}
    refused = [
        f"{engine} does not run '{model}'; compile it with --target {engine.partition(' ')[0]}"
        for engine in first
        for model in dict.fromkeys(one.model for one in latencies)
        if (model, engine) not in ran
    ]
    return [*table(rows), ", ".join(said), *refused]


def _profile(rows: "Sequence[NodeTime]") -> list[str]:
    """Lines with the slowest nodes, what belongs to no node of the file, and the total time of each kernel."""
    cells: list[tuple[str, ...]] = [("ms", "share", "kernel", "types", "result", "node")]
    for one in rows[:MAX_PROFILE_ROWS]:
        shape = one.outputs[0].partition(" ")[2] if one.outputs else ""
        named = one.node if one.source is None else one.source
        cells.append((*_time(one.seconds, one.share), one.kernel, one.types, shape, named))
    lines = table(cells)
    if others := rows[MAX_PROFILE_ROWS:]:
        lines.append(f"and {len(others)} more, {100 * sum(one.share for one in others):.1f} %")
    if added := sum(one.share for one in rows if one.source is None):
        lines.append(
            f"{100 * added:.1f} % in nodes that onnxruntime added, which belong to no node of the file"
        )
    by_kernel: dict[str, list[NodeTime]] = {}
    for one in rows:
        by_kernel.setdefault(one.kernel, []).append(one)
    kernels = [
        (sum(one.seconds for one in nodes), sum(one.share for one in nodes), kernel, len(nodes))
        for kernel, nodes in by_kernel.items()
    ]
    cells = [("ms", "share", "kernel", "nodes")]
    for seconds, share, kernel, count in sorted(kernels, reverse=True):
        cells.append((*_time(seconds, share), kernel, f"{count}"))
    return [*lines, "", *table(cells)]


def _time(seconds: float, share: float) -> tuple[str, str]:
    return f"{1e3 * seconds:.3f}", f"{100 * share:.1f} %"
