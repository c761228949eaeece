"""
Compile random graphs and hold what comes out against what goes in.

    python benchmarks/random_graphs.py --count 1000 --start 0 [--jobs 2] [--state FILE] [--keep FOLDER]

By default, graphs of everything that can be drawn (`any_case` in `graphs/quantized.py`), as a user compiles them: for
onnxruntime, and for one other target, form or level in turn (`graphs/files.py`). The file must load, keep the names,
types and shapes of outputs, and give the numbers of the model with optimization off: the same bits at `exact`, 25 dB at
`close`, 10 dB at `lossy`. What is written for onnxruntime must not be noisier in a session with all optimizations than
the model is in one, nor below 25 dB there if a scale is odd, whatever the model gives. The verdict names each op that
the target does not read. A second compilation gives the same ops and types.

With `--guards`, random graphs for tensorrt, openvino and generic: what is written has no guard against a session of
onnxruntime, a Sum of one operand or a pair directly behind a pair of equal parameters, that the graph did not have.

With `--forms`, `--qdq`, `--wide`, `--odd` or `--open`, graphs of a narrower draw: each is compiled for onnxruntime
(QOperator), for generic (QDQ), and for one other target, form or level. What a pass changed is verified and judged per
op by the pass's class. The whole is run with optimization off: SQNR against the model it was made from, of all outputs
but indices together, and of each; and in a session with all of its optimizations, which must take what it took and give
it as little noise. Compiling it again must change no byte.

Graphs are judged in `--jobs` child processes: onnxruntime aborts the process for some, which are counted, and judged
without its optimizer if the model itself is such a one; not at all if it aborts or is refused with optimizations off
too. With `--state`, each graph's outcome is written down; graphs that are in the file already are not compiled again.
With `--keep`, graphs that show something wrong are written to a folder.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto
from xdsl.dialects.builtin import ModuleOp

from graphs import files
from graphs.children import Ended, Report, results
from graphs.noise import LEAST, Outcome, energies, indices, same, sqnr
from graphs.quantized import Case, any_case, odd_case, random_case, with_open_sizes
from graphs.shared_prefix import Together
from graphs.structure import difference, first_change
from qdialect.compiler.options import Options
from qdialect.errors import UserError
from qdialect.evaluation.session import Array, remembered, run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

TARGETS = ("onnxruntime", "generic")
EXACT = ("onnxruntime//exact", "generic//exact")
FURTHER = ("tensorrt", "openvino", "onnxruntime/qdq", "onnxruntime/integer", *EXACT)
"""Each graph is compiled for one of these besides."""
OTHER_RUNTIMES = ("tensorrt", "openvino", "generic")
"""What is written for these has no guard against onnxruntime's sessions."""
MEDIAN = 40.0
"""dB: what the median must have."""
ORIGINAL = "the original's session"
"""What a child has begun when onnxruntime's optimizer may end it by the model itself."""
PLAIN = "the original alone"
"""What it has begun when onnxruntime may end it by the model itself with optimizations off, or refuse that."""


def imported(model: ModelProto) -> ModuleOp:
    """The module of a model, which stays as it is."""
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    return import_model(source)


def options(label: str) -> Options:
    """Of a target, or a target, a form and a level, each behind a slash."""
    target, form, level = [*label.split("/"), "", ""][:3]
    return Options(target, form or None, level or "close")


def alone(model: ModelProto, target: str) -> ModelProto:
    """What a model is compiled to, without judging the passes."""
    module = Together(partial(imported, model), [options(target)], None).run(0)
    module.verify()
    return export_model(module)


def optimized(model: ModelProto, case: Case) -> list[Array] | str:
    """What a session with all of its optimizations gives, or why it refuses."""
    try:
        return run(model, case.feeds, optimize=True)
    except UserError as error:
        return str(error)


def in_session(case: Case, result: ModelProto, before: Sequence[Array], was: list[Array] | str) -> str:
    """
    What a session with all of its optimizations makes worse of the result than of the model, which gave `was` there;
    empty if nothing.
    """
    if isinstance(was, str):
        return ""
    now = optimized(result, case)
    if isinstance(now, str):
        return f"refused: {now}"
    places = indices(case.model)
    noise: list[float] = []
    for outputs in (was, now):
        rows = zip(case.model.graph.output, before, outputs, strict=True)
        pairs = [energies(a, b) for output, a, b in rows if output.name not in places]
        noise.append(sqnr(sum(signal for signal, _ in pairs), sum(other for _, other in pairs)))
    return (
        f"noise: {noise[1]:.1f} dB, before {noise[0]:.1f} dB" if noise[1] < min(LEAST, noise[0] - 6) else ""
    )


def again(result: ModelProto, target: str) -> str:
    """How the ops and parameters change when the result is compiled a second time; empty if they do not."""
    other = difference(result, alone(result, target))
    return f"not idempotent: {other}" if other else ""


def outcome(
    case: Case,
    target: str,
    *,
    passes: bool = True,
    twice: bool = True,
    before: Sequence[Array] | None = None,
    was: list[Array] | str | None = None,
    make: Callable[[], ModuleOp] | None = None,
) -> Outcome:
    """
    Compile one graph and look at it; `passes`: judge each pass, which takes half of the time; `twice`: compile the
    result again. What the model gives, if that is known: `before` without optimizations, `was` with all of them.
    `make` compiles it, if it is compiled for other targets too.
    """
    try:
        try:
            module = (make or together(case, [target], passes)[target])()
        except UserError as error:
            return Outcome(str(error), " ".join(str(error).split()[:2]))
        module.verify()
        result = export_model(module)
        before = run(case.model, case.feeds) if before is None else before
        names, places = [output.name for output in case.model.graph.output], indices(case.model)
        after = run(result, case.feeds)
        if target.endswith("/exact") and (
            other := [n for n, a, b in zip(names, before, after, strict=True) if not same(a, b)]
        ):
            return Outcome(f"not the same bits: {', '.join(other)}", "not exact")
        rows = zip(names, before, after, strict=True)
        pairs = [energies(a, b) for name, a, b in rows if name not in places]
        whole = sqnr(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))
        worst = min((sqnr(*pair) for pair in pairs), default=np.inf)
        integer = sum("QLinear" in n.op_type or n.op_type == "QGemm" for n in result.graph.node)
        if twice and make and (other := first_change(alone(case.model, target), result)):
            return Outcome(f"other bytes with other targets: {other}", "other targets", whole, worst, integer)
        if twice and (other := again(result, target)):
            return Outcome(other, other.split(":")[0], whole, worst, integer)
        if whole < LEAST:
            return Outcome(f"{whole:.1f} dB", "noise", whole, worst, integer)
        if not target.startswith("onnxruntime"):  # whose sessions alone are guarded against
            return Outcome("", "", whole, worst, integer)
        was = optimized(case.model, case) if was is None else was
        if problem := in_session(case, result, before, was):
            return Outcome(problem, f"session: {problem.split(':')[0]}", whole, worst, integer)
        return Outcome("", "", whole, worst, integer)
    except Exception as error:  # any error is what this program looks for
        return Outcome(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", type(error).__name__)


def together(case: Case, targets: Sequence[str], passes: bool) -> dict[str, Callable[[], ModuleOp]]:
    """What compiles a graph for each target, in this order; with `passes`, it judges each pass."""
    feeds = case.feeds if passes and case.finite else None
    runs = Together(partial(imported, case.model), [options(target) for target in targets], feeds)
    return {target: partial(runs.run, k) for k, target in enumerate(targets)}


def targets_of(seed: int, case: Case | None = None) -> tuple[str, ...]:
    """The targets that a seed's graph is compiled for; `case`: an odd one, whose forms and levels are others too."""
    if case is not None and not case.finite:
        return EXACT
    return (*TARGETS, FURTHER[seed % len(FURTHER)])


def outcomes(
    seed: int,
    without: frozenset[str] = frozenset(),
    begin: Report = lambda stage: None,
    *,
    passes: bool = True,
    twice: int = 1,
    forms: bool = True,
    wide: bool = False,
    odd: bool = False,
    opened: bool = False,
) -> dict[str, Outcome]:
    """
    What becomes of a seed's graph on each target.

    `begin` is told what may end the process next; `without` leaves that out. Seeds that `twice` divides are compiled a
    second time.
    """
    if PLAIN in without:
        return {target: Outcome(aborts=True) for target in targets_of(seed)}
    begin(PLAIN)
    case = odd_case(seed) if odd else random_case(seed, forms, wide)
    case = with_open_sizes(case) if opened else case
    before = run(case.model, case.feeds)
    begin(ORIGINAL)
    was = "" if ORIGINAL in without else optimized(case.model, case)
    judged: dict[str, Outcome] = {}
    again = seed % twice == 0
    with remembered():  # the targets of a seed have many ops in common
        for target, make in together(case, targets_of(seed, case if odd else None), passes).items():
            begin(target)
            judged[target] = outcome(
                case, target, passes=passes, twice=again, before=before, was=was, make=make
            )
            judged[target].aborts = ORIGINAL in without
    return judged


def labels_of(seed: int) -> tuple[str, ...]:
    """The targets, forms and levels that a graph of everything is compiled for."""
    return ("onnxruntime", files.LABELS[seed % len(files.LABELS)])


def any_outcomes(
    seed: int,
    without: frozenset[str] = frozenset(),
    begin: Report = lambda stage: None,
    *,
    passes: int = 1,
    twice: int = 1,
) -> dict[str, Outcome]:
    """
    What becomes of a graph of everything. Each pass is judged in seeds that `passes` divides, if it is not 0; what came
    out is compiled again in those that `twice` divides.
    """
    if PLAIN in without:
        return {label: Outcome(aborts=True) for label in labels_of(seed)}
    begin(PLAIN)
    judge = files.Judge(any_case(seed))
    begin(ORIGINAL)
    was = None if ORIGINAL in without else judge.default(judge.original)
    judged: dict[str, Outcome] = {}
    with remembered():
        for label in labels_of(seed):
            begin(label)
            judged[label] = judge.outcome(
                label, was=was, passes=passes > 0 and seed % passes == 0, twice=seed % twice == 0
            )
            judged[label].aborts = ORIGINAL in without
    return judged


def guard_outcomes(
    seed: int, without: frozenset[str] = frozenset(), begin: Report = lambda stage: None
) -> dict[str, Outcome]:
    """The guards against onnxruntime's sessions in what a seed's graph becomes for targets of other runtimes."""
    begin(PLAIN)
    case = random_case(seed)
    judged: dict[str, Outcome] = {}
    for target in OTHER_RUNTIMES:
        begin(target)
        more = files.guards(alone(case.model, target)) - files.guards(case.model)
        judged[target] = Outcome(", ".join(f"{n} x {kind}" for kind, n in more.items()), " ".join(more))
    return judged


def ended(seed: int, stage: str) -> dict[str, Outcome]:
    """The outcomes of a graph that ends its process though the original does not."""
    targets = targets_of(seed) if stage in ("start", PLAIN, ORIGINAL) else [stage]
    return {target: Outcome(f"the process ends: {stage}", "process ends") for target in targets}


def report(judged: Mapping[int, Mapping[str, Outcome]]) -> bool:
    """Print the distributions; whether all is well."""
    well = bool(judged)
    for target in dict.fromkeys((*TARGETS, *FURTHER, *files.LABELS)):
        rows = {seed: row[target] for seed, row in judged.items() if target in row}
        if not rows:
            continue
        noise = np.array([o.sqnr for o in rows.values()])
        finite = noise[np.isfinite(noise)]
        spread = (
            ", ".join(f"{p}%: {np.percentile(finite, p):.1f}" for p in (1, 25, 50)) if finite.size else "-"
        )
        median, least = float(np.median(noise)), float(noise.min())
        worst = np.array([o.worst for o in rows.values()])
        print(
            f"{target}: {len(rows)} graphs, {int(np.isinf(noise).sum())} identical, "
            f"{sum(o.integer for o in rows.values())} integer kernels; SQNR median {median:.1f} dB, "
            f"least {least:.1f} dB, {int((noise < LEAST).sum())} below {LEAST:g} dB; of those that differ: {spread}; "
            f"of single outputs the least {worst.min():.1f} dB, {int((worst < LEAST).sum())} below {LEAST:g} dB; "
            f"{sum(o.aborts for o in rows.values())} originals abort a session"
        )
        kinds = Counter(o.kind for o in rows.values() if o.problem)
        for kind, count in kinds.most_common():
            seeds = [seed for seed, o in rows.items() if o.problem and o.kind == kind]
            print(f"  {count} x {kind}: {', '.join(map(str, seeds[:20]))}{', ...' if count > 20 else ''}")
        well &= median >= MEDIAN and not kinds
    return well


def read_state(path: Path) -> dict[int, dict[str, Outcome]]:
    """The outcomes in a file, by seed and target."""
    judged: dict[int, dict[str, Outcome]] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            judged[row["seed"]] = {target: Outcome(**one) for target, one in row["targets"].items()}
    return judged


def write_state(path: Path, seed: int, row: Mapping[str, Outcome]) -> None:
    """Add one graph's outcomes to a file."""
    with path.open("a") as file:
        file.write(json.dumps({"seed": seed, "targets": {t: asdict(o) for t, o in row.items()}}) + "\n")


def keep(seed: int, folder: Path) -> None:
    """Write a graph of everything to a folder, with its inputs."""
    case = any_case(seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{seed}.onnx").write_bytes(case.runnable(case.model).SerializeToString())
    arrays: dict[str, Any] = dict(case.feeds)
    np.savez(folder / f"{seed}.npz", **arrays)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Compile random quantized graphs and judge them by the oracle."
    )
    parser.add_argument("seeds", nargs="*", type=int, metavar="SEED", help="graphs, in the place of a range")
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--start", type=int, default=0, help="the seed of the first; the others follow")
    parser.add_argument(
        "--whole", action="store_true", help="judge only the whole, not each pass: twice as fast"
    )
    parser.add_argument(
        "--twice",
        type=int,
        default=1,
        metavar="N",
        help="compile the result of each Nth graph again, not of all",
    )
    parser.add_argument(
        "--passes",
        type=int,
        default=4,
        metavar="N",
        help="graphs of everything: judge each pass in each Nth graph; 0: in none",
    )
    parser.add_argument(
        "--forms",
        action="store_true",
        help="graphs in every form of quantization, with sane scales and known shapes",
    )
    parser.add_argument("--keep", type=Path, help="a folder for graphs that show something wrong")
    parser.add_argument(
        "--qdq", action="store_true", help="graphs of QuantizeLinear and DequantizeLinear alone"
    )
    parser.add_argument(
        "--wide",
        action="store_true",
        help="ops besides that nothing is quantized for: recurrent, attention, sequences",
    )
    parser.add_argument(
        "--odd",
        action="store_true",
        help="old opsets, tensors without elements, NaN, half precision, extreme scales, 4 bits in control flow",
    )
    parser.add_argument(
        "--open", action="store_true", help="sizes of inputs that only a run tells, by name or without one"
    )
    parser.add_argument(
        "--guards", action="store_true", help="no guard against onnxruntime's sessions is written for others"
    )
    parser.add_argument("--state", type=Path, help="a file for outcomes, to stop and to continue")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    arguments = parser.parse_args()
    seeds = arguments.seeds or range(arguments.start, arguments.start + arguments.count)
    judged = {} if arguments.state is None else read_state(arguments.state)
    judged = {seed: row for seed, row in judged.items() if seed in seeds}
    start = time.monotonic()
    narrower = arguments.forms or arguments.qdq or arguments.wide or arguments.odd or arguments.open
    narrower = narrower or arguments.guards
    passes = 0 if arguments.whole else arguments.passes
    work = partial(any_outcomes, passes=passes, twice=arguments.twice)
    if narrower:
        work = partial(
            outcomes,
            passes=not arguments.whole,
            twice=arguments.twice,
            forms=not arguments.qdq,
            wide=arguments.wide,
            odd=arguments.odd,
            opened=arguments.open,
        )
    if arguments.guards:
        work = guard_outcomes
    left = [seed for seed in seeds if seed not in judged]
    for seed, _, result in results(work, left, arguments.jobs, {PLAIN, ORIGINAL}):
        judged[seed] = ended(seed, result.stage) if isinstance(result, Ended) else result
        if arguments.state is not None:
            write_state(arguments.state, seed, judged[seed])
        for target, one in judged[seed].items():
            if one.problem:
                print(f"seed {seed} {target}: {one.problem}", flush=True)
        if arguments.keep is not None and not narrower and any(o.problem for o in judged[seed].values()):
            keep(seed, arguments.keep)
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if report(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
