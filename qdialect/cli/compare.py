"""`qdialect compare`: two models on the same data, output by output."""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from qdialect.cli.inputs import check_model
from qdialect.cli.progress import progress
from qdialect.cli.status import DONE, one_line
from qdialect.errors import UserError
from qdialect.oracle.data import batches, load_npz, read_inputs

if TYPE_CHECKING:
    import onnxruntime


@dataclass
class Difference:
    """How one output differs, over all batches so far."""

    name: str
    shape: tuple[int, ...] = ()
    largest: float = 0.0
    """The largest absolute difference."""
    _signal: float = field(default=0.0, repr=False)
    _noise: float = field(default=0.0, repr=False)
    _agreeing: int = field(default=0, repr=False)
    _rows: int = field(default=0, repr=False)

    def add(self, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> None:
        """Counts one batch. UserError if the shapes differ."""
        if a.shape != b.shape:
            raise UserError(
                f"output '{self.name}' is {_shape(a.shape)} in one model and {_shape(b.shape)} in the other",
                "compare models of the same task",
            )
        self.shape = a.shape
        if a.ndim > 1 and 1 < a.shape[-1] and a.size:
            agreeing = np.argmax(a, -1) == np.argmax(b, -1)
            self._agreeing += int(agreeing.sum())
            self._rows += agreeing.size
        x, y = a.astype(np.float64), b.astype(np.float64)
        # Equal infinities do not differ.
        difference = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, x - y)
        self.largest = max(self.largest, float(np.abs(difference).max(initial=0.0)))
        self._signal += float(np.square(x).sum())
        self._noise += float(np.square(difference).sum())

    @property
    def sqnr(self) -> float:
        """Signal to noise, 10 log10(sum a^2 / sum (a - b)^2), in dB; inf where nothing differs."""
        if self._noise == 0:
            return math.inf
        return 10 * math.log10(self._signal / self._noise) if self._signal > 0 else -math.inf

    @property
    def agreement(self) -> float | None:
        """The share of rows (all but the last axis) whose largest element stands at the same place."""
        return self._agreeing / self._rows if self._rows else None

    def as_json(self) -> dict[str, Any]:
        finite = {"max_abs_diff": self.largest, "sqnr_db": self.sqnr}
        numbers = {name: value if math.isfinite(value) else None for name, value in finite.items()}
        identical = self._noise == 0
        agreement = self.agreement
        shape = list(self.shape)
        return {
            "name": self.name,
            "shape": shape,
            "identical": identical,
            **numbers,
            "argmax_agreement": agreement,
        }


def run(arguments: argparse.Namespace) -> int:
    """Prints, for every output, how far the other model is from the reference."""
    check_model(arguments.reference)
    check_model(arguments.other)
    arrays = load_npz(arguments.data)
    with progress() as show:
        show("loading the models")
        reference = _session(arguments.reference, optimize=False)
        other = _session(arguments.other, optimize=True)
        described = {i.name: (i.shape, i.type) for i in reference.get_inputs()}
        differences = [Difference(output.name) for output in reference.get_outputs()]
        _check_pairs(reference, other)
        count = 0
        for count, feeds in enumerate(batches(arrays, read_inputs(described)), 1):
            show(f"batch {count}")
            left = _outputs(reference, feeds, arguments.reference)
            right = _outputs(other, _renamed(other, feeds), arguments.other)
            for one, a, b in zip(differences, left, _paired(reference, other, right), strict=True):
                one.add(a, b)
    if arguments.json:
        print(json.dumps({"batches": count, "outputs": [one.as_json() for one in differences]}, indent=2))
    else:
        print(_table(differences, count))
    return DONE


def _session(path: str, optimize: bool) -> "onnxruntime.InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what it warns of, it also raises
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exceptions have no common base
        raise UserError(
            f"onnxruntime cannot load '{path}', {_short(error)}", "check that the file is whole"
        ) from error


def _outputs(
    session: "onnxruntime.InferenceSession", feeds: dict[str, Any], path: str
) -> list[npt.NDArray[Any]]:
    try:
        outputs: Sequence[Any] = session.run(None, feeds)
    except Exception as error:
        raise UserError(
            f"onnxruntime cannot run '{path}', {_short(error)}", "check model and data"
        ) from error
    return [np.asarray(output) for output in outputs]


def _short(error: Exception) -> str:
    text = one_line(str(error))
    return text if len(text) < 300 else f"{text[:297]}..."


def _check_pairs(a: "onnxruntime.InferenceSession", b: "onnxruntime.InferenceSession") -> None:
    for what, left, right in (
        ("inputs", a.get_inputs(), b.get_inputs()),
        ("outputs", a.get_outputs(), b.get_outputs()),
    ):
        if len(left) != len(right):
            raise UserError(
                f"one model has {len(left)} {what}, the other {len(right)}", "compare models of one task"
            )


def _renamed(session: "onnxruntime.InferenceSession", feeds: dict[str, Any]) -> dict[str, Any]:
    """The feeds under the other model's input names: by name, else by position."""
    names: list[str] = [i.name for i in session.get_inputs()]
    return feeds if set(names) == set(feeds) else dict(zip(names, feeds.values(), strict=True))


def _paired(
    a: "onnxruntime.InferenceSession", b: "onnxruntime.InferenceSession", outputs: list[Any]
) -> list[Any]:
    """The other model's outputs in the reference's order: by name, else by position."""
    names: list[str] = [o.name for o in a.get_outputs()]
    others: list[str] = [o.name for o in b.get_outputs()]
    return [outputs[others.index(name)] for name in names] if set(names) == set(others) else outputs


def _table(differences: list[Difference], count: int) -> str:
    rows = [("output", "shape", "max abs diff", "SQNR dB", "argmax agrees")]
    for one in differences:
        agreement = "-" if one.agreement is None else f"{100 * one.agreement:.2f} %"
        sqnr = "identical" if one.sqnr == math.inf else f"{one.sqnr:.2f}"
        rows.append((one.name, _shape(one.shape), f"{one.largest:.6g}", sqnr, agreement))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([*lines, f"{count} batch{'' if count == 1 else 'es'}"])


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"
