"""
Find where a default session of onnxruntime gives more noise on a compiled model than on the model itself.

    python benchmarks/session_noise.py --count 500 --start 0 [--jobs 2] [MODEL.onnx ...]

What a default session gives is what a user gets. Each random graph, or each model on random data, is compiled for
onnxruntime in every form. Outputs of default sessions, of the model and of each result, are held against those of the
model without optimizations. A result is listed if it has more noise than the model by `--worse` dB and less than
`--enough` dB; as *session* if it is the session that adds the noise, as *kernels* if the result has it without
optimizations too, as an op in integers may round where the model's ran in float. Status 1 if a session adds some.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import onnx

import qdialect
from graphs.children import Ended, Report, results
from graphs.noise import energies, indices, sqnr
from graphs.quantized import Case, any_case, odd_case, random_case
from qdialect.errors import UserError
from qdialect.evaluation.session import Array, run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

FORMS = ("qoperator", "qdq", "integer")
MODEL = "the model"
"""What a child has begun when the model's own session ends it: there is nothing to compare with."""

Row = dict[str, tuple[str, float, float, float]]
"""By form: kind, and the signal to noise in dB of the model, the result and the result without optimizations."""


def noise(case: Case, before: Sequence[Array], after: Sequence[Array]) -> float:
    """Signal to noise in dB of all outputs that are no indices."""
    places = indices(case.model)
    rows = zip(case.model.graph.output, before, after, strict=True)
    pairs = [energies(a, b) for output, a, b in rows if output.name not in places]
    return sqnr(sum(signal for signal, _ in pairs), sum(other for _, other in pairs))


def compared(case: Case, worse: float, enough: float, begin: Report) -> Row:
    """The forms of a model that a default session gives more noise than the model."""
    begin(MODEL)
    try:
        before = run(case.model, case.feeds)
        was = noise(case, before, run(case.model, case.feeds, optimize=True))
    except UserError:
        return {}  # onnxruntime refuses the model
    found: Row = {}
    for form in FORMS:
        begin(form)
        source = onnx.ModelProto()
        source.CopyFrom(case.model)
        module = import_model(source)
        try:
            qdialect.compile(module, form=form)
            result = export_model(module)
            now = noise(case, before, run(result, case.feeds, optimize=True))
            alone = noise(case, before, run(result, case.feeds))
        except UserError as error:
            found[form] = f"fails: {' '.join(str(error).split())[:150]}", was, -np.inf, np.inf
            continue
        if now < min(enough, was - worse):
            found[form] = "session" if now < alone - worse else "kernels", was, now, alone
    return found


def fed(path: Path) -> Case:
    """A model file and random data: sizes that a run tells are 2."""
    model, rng = onnx.load(path), np.random.default_rng(0)
    constants = {tensor.name for tensor in model.graph.initializer}
    feeds: dict[str, Array] = {}
    for one in model.graph.input:
        if one.name in constants:
            continue
        kind = one.type.tensor_type
        values = rng.normal(size=[d.dim_value or 2 for d in kind.shape.dim])
        feeds[one.name] = np.asarray(values, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    return Case(0, model, feeds)


def work(
    number: int,
    without: frozenset[str],
    begin: Report,
    *,
    kind: str,
    paths: Sequence[Path],
    worse: float,
    enough: float,
) -> Row:
    """Compare one graph, or one file."""
    draw = {"odd": odd_case, "any": any_case, "qdq": random_case}.get(kind, partial(random_case, forms=True))
    case = fed(paths[number]) if paths else draw(number)
    return {} if MODEL in without else compared(case, worse, enough, begin)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the noise of default sessions.")
    parser.add_argument("models", nargs="*", type=Path, help="model files, in the place of random graphs")
    parser.add_argument("--count", type=int, default=500, help="how many graphs")
    parser.add_argument("--start", type=int, default=0, help="the seed of the first")
    parser.add_argument(
        "--kind", choices=("forms", "qdq", "odd", "any"), default="forms", help="which graphs"
    )
    parser.add_argument("--worse", type=float, default=6.0, help="dB that are more noise")
    parser.add_argument("--enough", type=float, default=45.0, help="dB of signal to noise that are enough")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    a = parser.parse_args()
    numbers = range(len(a.models)) if a.models else range(a.start, a.start + a.count)
    one = partial(work, kind=a.kind, paths=a.models, worse=a.worse, enough=a.enough)
    counts: Counter[str] = Counter()
    for number, _, row in results(one, numbers, a.jobs, {MODEL}):
        counts["compared"] += 1
        name = str(a.models[number]) if a.models else f"seed {number}"
        if isinstance(row, Ended):
            counts["process ends"] += 1
            print(f"{name}: the process ends: {row.stage}", flush=True)
            continue
        counts.update(listed(name, row))
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if set(counts) - {"compared", "kernels"} else 0


def listed(name: str, row: Mapping[str, tuple[str, float, float, float]]) -> list[str]:
    """Print what was found of a model; the kinds."""
    for form, (kind, was, now, alone) in row.items():
        print(
            f"{name} {form}: {kind}; the model {was:.1f} dB, the result {now:.1f} dB, "
            f"without optimizations {alone:.1f} dB",
            flush=True,
        )
    return [kind.partition(":")[0] for kind, *_ in row.values()]


if __name__ == "__main__":
    sys.exit(main())
