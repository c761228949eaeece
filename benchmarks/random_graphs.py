"""
Compile random quantized graphs and hold each pass, and the whole, against the oracle.

    python benchmarks/random_graphs.py --count 1000 --start 0 [--jobs 2] [--state FILE]

Each graph is compiled for onnxruntime (QOperator), for generic (QDQ), and for one other target, form or level.
What a pass changed is verified and judged per op by the pass's class. The whole is run with optimization off: SQNR
against the model it was made from, of all outputs but indices together, and of each; and in a session with all of its
optimizations, which must take what it took and give it as little noise. Compiling it again must change no byte. Graphs
are judged in `--jobs` child processes: onnxruntime aborts the process for some, which are counted, and judged without
its optimizer if the model itself is such a one; not at all if it aborts or is refused with optimizations off too. With
`--state`, each graph's outcome is written down; graphs that are in the file already are not compiled again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto
from xdsl.dialects.builtin import ModuleOp

from graphs.children import Ended, Report, results
from graphs.quantized import Case, odd_case, random_case, with_open_sizes
from graphs.structure import difference, first_change
from graphs.together import Together
from qdialect.compiler.options import Options
from qdialect.errors import UserError
from qdialect.onnx_io import messages
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.oracle.session import Array, remembered, run

TARGETS = ("onnxruntime", "generic")
EXACT = ("onnxruntime//exact", "generic//exact")
FURTHER = ("tensorrt", "openvino", "onnxruntime/qdq", "onnxruntime/integer", *EXACT)
"""Each graph is compiled for one of these besides."""
MEDIAN, LEAST = 40.0, 25.0
"""dB: what the median and every graph must have."""
ORIGINAL = "the original's session"
"""What a child has begun when onnxruntime's optimizer may end it by the model itself."""
PLAIN = "the original alone"
"""What it has begun when onnxruntime may end it by the model itself with optimizations off, or refuse that."""


@dataclass
class Outcome:
    """What became of one graph on one target."""

    problem: str = ""
    """What was wrong, in one line; empty if nothing was."""
    kind: str = ""
    """The same for all problems of a kind."""
    sqnr: float = np.inf
    """Of all outputs together, in dB."""
    worst: float = np.inf
    """Of the worst output: 25 dB is one step in one of three elements that are ten steps large."""
    integer: int = 0
    """QOperator nodes in the result."""
    aborts: bool = False
    """Whether a session ends the process by the original: the result is run in none that has its optimizations then."""


def energies(reference: npt.NDArray[np.generic], other: npt.NDArray[np.generic]) -> tuple[float, float]:
    """
    The sums a^2 and (a - b)^2, where a is a number; infinite noise where b is not the same infinity, or none where a is
    finite.
    """
    a, b = (values.reshape(-1).astype(np.float64) for values in (reference, other))
    known = ~(np.isnan(a) | (a == b))
    noise = np.square(a[known] - b[known]).sum()
    return float(np.square(a[np.isfinite(a)]).sum()), np.inf if np.isnan(noise) else float(noise)


def same(a: Array, b: Array) -> bool:
    """Whether two tensors are equal, NaN to NaN."""
    return a.dtype == b.dtype and a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def indices(model: ModelProto) -> set[str]:
    """The tensors that are made of indices alone, which are no signal: a step makes another element the largest."""
    constants = {tensor.name for tensor in model.graph.initializer}
    integers: set[str] = set()
    for node in model.graph.node:
        taken = [name for name in selected(node) if name and name not in constants]
        if node.op_type in ("ArgMax", "ArgMin") or (taken and integers.issuperset(taken)):
            integers.update(node.output)
        elif not taken:
            constants.update(node.output)
    return integers


def selected(node: NodeProto) -> list[str]:
    """The tensors of the outer graph whose elements a node computes with; of an If, without its condition."""
    if node.op_type != "If":
        return list(node.input)
    nodes = [inner for attribute in node.attribute for inner in attribute.g.node]
    own = {name for inner in nodes for name in inner.output}
    own.update(tensor.name for attribute in node.attribute for tensor in attribute.g.initializer)
    return [name for inner in nodes for name in selected(inner) if name not in own]


def sqnr(signal: float, noise: float) -> float:
    """10 log10(signal / noise) of two energies, in dB; infinite without noise."""
    return np.inf if noise == 0 else 10 * float(np.log10(max(signal, 1e-30) / noise))


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
    """How the result changes when it is compiled a second time; empty if no byte does."""
    second = alone(result, target)
    if other := difference(result, second):
        return f"not idempotent: {other}"
    other = first_change(result, second)
    return f"other bytes: {other}" if other else ""


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
    messages.APART = False  # these models are our own
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


def ended(seed: int, stage: str) -> dict[str, Outcome]:
    """The outcomes of a graph that ends its process though the original does not."""
    targets = targets_of(seed) if stage in ("start", ORIGINAL) else [stage]
    return {target: Outcome(f"the process ends: {stage}", "process ends") for target in targets}


def report(judged: Mapping[int, Mapping[str, Outcome]]) -> bool:
    """Print the distributions; whether all is well."""
    well = bool(judged)
    for target in TARGETS + FURTHER:
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
    parser.add_argument("--state", type=Path, help="a file for outcomes, to stop and to continue")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    arguments = parser.parse_args()
    seeds = arguments.seeds or range(arguments.start, arguments.start + arguments.count)
    judged = {} if arguments.state is None else read_state(arguments.state)
    judged = {seed: row for seed, row in judged.items() if seed in seeds}
    start = time.monotonic()
    work = partial(
        outcomes,
        passes=not arguments.whole,
        twice=arguments.twice,
        forms=not arguments.qdq,
        wide=arguments.wide,
        odd=arguments.odd,
        opened=arguments.open,
    )
    left = [seed for seed in seeds if seed not in judged]
    for seed, _, result in results(work, left, arguments.jobs, {PLAIN, ORIGINAL}):
        judged[seed] = ended(seed, result.stage) if isinstance(result, Ended) else result
        if arguments.state is not None:
            write_state(arguments.state, seed, judged[seed])
        for target, one in judged[seed].items():
            if one.problem:
                print(f"seed {seed} {target}: {one.problem}", flush=True)
    print(f"{time.monotonic() - start:.0f} s")
    return 0 if report(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
