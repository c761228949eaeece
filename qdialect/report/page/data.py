"""Reports as JSON values, for `--report FILE.json` and the HTML page; docs/report.md describes them."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qdialect.ir.names import QUANTIZED
from qdialect.reasons import Blocked
from qdialect.report.account import Layer, Node
from qdialect.report.explanations import advice
from qdialect.report.graph import End, Links, Tensor
from qdialect.report.report import NO_CAST, Report, stays_as_json
from qdialect.report.verdict import bytes_text, share_text
from qdialect.rewriting.remarks import Remark

FORMAT, VERSION = "qdialect-report", 1
PACKAGES = ("qdialect", "onnx", "onnxruntime", "xdsl")
"""Packages whose versions determine a compilation."""

WIDE = ("int64", "uint64", "bool", "object", "")
"""Element types of sizes, indices, booleans and text; empty if unknown."""


LEFT_IN_FLOAT = Blocked(
    "float-faster", "`quantize` left it in float: integers are not expected to be faster here"
)


class File(NamedTuple):
    """A file that a command read or wrote."""

    role: str
    """`input` or `output`."""
    path: str
    bytes: int
    sha256: str

    @classmethod
    def of(cls, role: str, path: str) -> File:
        """A file as it is now. Raises OSError if it cannot be read."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(role, path, Path(path).stat().st_size, digest)


class TensorNoise(NamedTuple):
    """Noise of a tensor relative to the model as read."""

    sqnr: float
    """Signal to noise in dB; inf without differences."""
    steps: float | None = None
    """Greatest difference in steps of the scale; None without a scale."""


class Task(NamedTuple):
    """A metric of the user's task, on held-out samples."""

    name: str
    """As `top-1`."""
    before: float
    """Of the model as read, in `unit`."""
    after: float
    unit: str
    """`%`, `dB`, or empty."""
    samples: int
    interval: float | None = None
    """Half of the 95 % confidence interval of one value, in `unit`; None if unknown."""


class Latencies(NamedTuple):
    """Median seconds of one run of both models."""

    before: float
    after: float
    engine: str
    """Name and version."""


class Histogram(NamedTuple):
    """How the values of a tensor are spread on the samples."""

    low: float
    high: float
    """Least and greatest value."""
    first: float
    """Lower end of the first bin."""
    width: float
    """Width of each bin."""
    counts: tuple[int, ...]


class Candidate(NamedTuple):
    """A quantized model that was tried."""

    name: str
    sqnr: float
    """Signal to noise in dB; NaN if not measured."""
    time: float
    """Expected time as a fraction of the float model's."""
    layers: int
    """Number of layers in integers."""
    is_chosen: bool


@dataclass(frozen=True)
class Circumstances:
    """Context of a report: command, files, and measurements."""

    command: str = ""
    files: tuple[File, ...] = ()
    task: Task | None = None
    latencies: Latencies | None = None
    sqnr: float | None = None
    """Signal to noise of the outputs in dB; inf without differences, None if not measured."""
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds of one run by node of the result, named by its first tensor if it has no name."""
    seconds_before: Mapping[str, float] = field(default_factory=dict[str, float])
    """The same by node of the model as read."""
    noise: Mapping[str, TensorNoise] = field(default_factory=dict[str, TensorNoise])
    """Noise by tensor name of the model as read."""
    histograms: Mapping[str, Histogram] = field(default_factory=dict[str, Histogram])
    """By tensor name of the model as read."""
    candidates: tuple[Candidate, ...] = ()
    findings: tuple[str, ...] = ()
    """Measured results, one line each."""


NOTHING = Circumstances()


class Kind(StrEnum):
    """Kind of numbers that a node computes on."""

    INTEGER = "integer"
    FLOAT = "float"
    CAST = "cast"
    """Elementwise conversion between integers and floats."""
    OTHER = "other"
    """Sizes, indices, booleans, text, unknown types."""


def report_data(report: Report, around: Circumstances = NOTHING) -> dict[str, Any]:
    """The report as JSON values; docs/report.schema.json is its schema."""
    layers, nodes = report.layers, report.account.nodes
    places = {id(node): k for k, node in enumerate(nodes)}
    owners = {places[id(node)]: k for k, layer in enumerate(layers) for node in layer.became}
    owned = [layers[owners[k]] if k in owners else None for k in range(len(nodes))]
    kinds = kinds_of(nodes, owned, report.account.links, report.form)
    summary = _summary(report, around)
    said = *report.verdict(report), report.checked, *around.findings
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": report.target,
        "form": report.form,
        "exactness": report.exactness,
        "headline": _headline(report, summary),
        "summary": summary,
        "verdict": [line for text in said for line in text.splitlines()],
        "interface": {name: one.as_json() for name, one in report.interface.items()},
        "multiply_adds": _totals(report),
        "operators": {"before": _operators(report), "after": report.after},
        "layers": [
            _layer(_weighed(one, report), [places[id(n)] for n in one.became], around) for one in layers
        ],
        "nodes": [_node(node, owners.get(k), kinds[k], around) for k, node in enumerate(nodes)],
        **_links(report.account.links),
        "as_read": _links(report.account.origin.links),
        "activations": _activations(nodes, around),
        "candidates": [_candidate(one) for one in around.candidates],
        "breaches": [{**stays_as_json(one), "read": one.is_read} for one in report.breaches],
        "remarks": [{"op": r.op, "node": r.node, **_said(r)} for r in report.remarks],
        "passes": [step._asdict() for step in report.steps],
        "provenance": {
            "command": around.command,
            "files": [file._asdict() for file in around.files],
            "versions": _versions(),
        },
    }


def _summary(report: Report, around: Circumstances) -> dict[str, Any]:
    origin, totals = report.account.origin, report.totals
    size = {"before": origin.bytes, "after": report.account.bytes}
    for role, when in (("input", "before"), ("output", "after")):
        written = sum(one.bytes for one in around.files if one.role == role)
        size[when] = max(written, size[when])  # of a file with external data the constants alone
    return {
        "task": None if around.task is None else around.task._asdict(),
        "seconds": None if around.latencies is None else around.latencies._asdict(),
        "noise": None if around.sqnr is None else {"sqnr_db": _finite(around.sqnr)},
        "bytes": size,
        "layers": {"integer": totals.integer_layers, "total": totals.layers},
    }


def _headline(report: Report, summary: Mapping[str, Any]) -> str:
    """The result in the user's measures, in one line: `1.30x faster, 40.8 dB, 128 kB of 276 kB`."""
    parts: list[str] = []
    if (task := summary["task"]) is not None:
        unit = f" {task['unit']}" if task["unit"] else ""
        digits = ".1f" if task["unit"] == "%" else ".4g"
        about = f", ±{task['interval']:.2g}" if task["interval"] is not None else ""
        before, after = (f"{task[when]:{digits}}{unit}" for when in ("before", "after"))
        parts.append(f"{task['name']} {before} -> {after} ({task['samples']} samples{about})")
    if (times := summary["seconds"]) is not None:
        ratio = times["before"] / times["after"]
        parts.append(f"{ratio:.2f}x faster" if ratio >= 1 else f"{1 / ratio:.2f}x slower")
    if (noise := summary["noise"]) is not None:
        parts.append("identical" if noise["sqnr_db"] is None else f"{noise['sqnr_db']:.1f} dB")
    if not parts and report.totals.macs:
        parts.append(f"{share_text(report.totals.integer, report.totals.macs)} of multiply-adds in integers")
    size = summary["bytes"]
    return ", ".join([*parts, f"{bytes_text(size['after'])} of {bytes_text(size['before'])}"])


def _operators(report: Report) -> dict[str, int]:
    """Number of nodes of each operator of the model as read: `quantize` has inserted casts before it compiles."""
    return dict(sorted(Counter(row.operator for row in report.account.origin.rows).items()))


def _activations(nodes: Sequence[Node], around: Circumstances) -> dict[str, dict[str, Any]]:
    tensors = (t for node in nodes for t in (*node.inputs, *node.outputs) if t.scale)
    ranges = {t.name.removesuffix(QUANTIZED): _range(t) for t in tensors}
    return {name: _histogram(one, ranges.get(name)) for name, one in around.histograms.items()}


def _range(tensor: Tensor) -> tuple[float, float] | None:
    """The real numbers that the integers of a tensor of one scale stand for; None for other tensors."""
    scale, _, zero_point = tensor.scale.partition(":")
    try:
        step, zero, bounds = float(scale), int(zero_point), np.iinfo(tensor.element)
    except ValueError:  # several scales, or no integers
        return None
    return (int(bounds.min) - zero) * step, (int(bounds.max) - zero) * step


def _histogram(one: Histogram, covered: tuple[float, float] | None) -> dict[str, Any]:
    outside = 0.0
    if covered is not None:
        starts = one.first + one.width * np.arange(len(one.counts))
        half = (covered[1] - covered[0]) / 510  # of a step, within which a value is rounded to the end
        beyond = (starts + one.width < covered[0] - half) | (starts > covered[1] + half)
        outside = float(np.array(one.counts)[beyond].sum()) / max(sum(one.counts), 1)
    return {**one._asdict(), "range": covered, "outside": outside}


def _candidate(one: Candidate) -> dict[str, Any]:
    sqnr = _finite(one.sqnr)
    return {
        "name": one.name,
        "sqnr_db": sqnr,
        "time": one.time,
        "layers": one.layers,
        "chosen": one.is_chosen,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _totals(report: Report) -> dict[str, Any]:
    totals = report.totals
    return {
        "total": totals.macs,
        "as_read": {kind.value: count for kind, count in totals.written.items()},
        "integer": totals.integer,
        "layers_not_counted": totals.uncounted,
        "open_sizes": totals.is_open,
    }


def _versions() -> dict[str, str]:
    versions: dict[str, str] = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:  # run from a checkout
            versions[name] = "not installed"
    return versions


def _weighed(layer: Layer, report: Report) -> Layer:
    """The layer, with the reason that `quantize` had for leaving it without casts: it has weighed every layer."""
    if not report.calibrated:
        return layer
    reasons = (
        replace(one, blocked=LEFT_IN_FLOAT) if one.blocked.id == NO_CAST.id else one for one in layer.reasons
    )
    return replace(layer, reasons=tuple(reasons))


def _layer(layer: Layer, became: Sequence[int], around: Circumstances) -> dict[str, Any]:
    measured = [around.seconds[called] for n in layer.became if (called := _called(n)) in around.seconds]
    seconds = sum(measured) if measured else None
    floats = [n for n in layer.became if _by_elements(n) is Kind.FLOAT]
    in_float = sum(around.seconds.get(_called(n), 0.0) for n in floats) or None
    results = (t for n in reversed(layer.became) for t in n.outputs)
    names = [name for t in (*layer.outputs, *results) for name in (t.name, t.name.removesuffix(QUANTIZED))]
    noise = next((around.noise[name] for name in names if name in around.noise), None)
    return {
        "node": layer.node,
        "operator": layer.operator,
        "module": layer.module,
        "became": became,
        "into": layer.into,
        "is_gone": layer.is_gone,
        "is_float": layer.is_float,
        "inputs": [_tensor(t) for t in layer.inputs],
        "outputs": [_tensor(t) for t in layer.outputs],
        "multiply_adds": layer.macs,
        "as_read": None if layer.written is None else layer.written.value,
        "integer_multiply_adds": layer.integer_macs,
        "bytes_before": layer.bytes_before,
        "bytes": layer.bytes,
        "seconds": seconds,
        "seconds_before": around.seconds_before.get(layer.node),
        "noise": None if noise is None else _noise(noise),
        "reasons": list({r.blocked: _reason(r, in_float) for r in layer.reasons}.values()),
    }


def _noise(noise: TensorNoise) -> dict[str, float | None]:
    return {"sqnr_db": _finite(noise.sqnr), "steps": noise.steps}


def _reason(remark: Remark, seconds: float | None) -> dict[str, Any]:
    """
    A reason for float; where expected times decided, with these and, if comparable, the `seconds` of its float nodes.
    """
    times = remark.blocked.expected
    if times is None:
        return {**_said(remark), "expected": None, "measured_seconds": None}
    expected = {"float_seconds": 1e-9 * times.floating, "integer_seconds": 1e-9 * times.integer}
    taken = seconds if times.batch == 1 else None
    return {**_said(remark), "expected": {**expected, "batch": times.batch}, "measured_seconds": taken}


def _said(remark: Remark) -> dict[str, str]:
    blocked = remark.blocked
    return {"pass": remark.pass_name, "id": blocked.id, "message": blocked.message, "fix": advice(blocked)}


def _tensor(tensor: Tensor) -> dict[str, Any]:
    row: dict[str, Any] = {"name": tensor.name, "element": tensor.element, "shape": tensor.shape}
    if tensor.scale:
        row["scale"] = tensor.scale
    if tensor.is_constant:
        row["is_constant"] = True
    return row


def _node(node: Node, row: int | None, kind: Kind, around: Circumstances) -> dict[str, Any]:
    return {
        "name": _called(node),
        "operator": node.operator,
        "layer": row,
        "kind": kind.value,
        "inputs": [_tensor(t) for t in node.inputs],
        "outputs": [_tensor(t) for t in node.outputs],
        "bytes": node.bytes,
        "seconds": around.seconds.get(_called(node)),
    }


def _called(node: Node) -> str:
    return node.name or next((t.name for t in node.outputs), "")


def _links(links: Links) -> dict[str, Any]:
    def ends(some: Sequence[End]) -> list[dict[str, Any]]:
        return [{"tensor": _tensor(end.tensor), "nodes": end.nodes} for end in some]

    return {"edges": links.edges, "inputs": ends(links.inputs), "outputs": ends(links.outputs)}


def kinds_of(nodes: Sequence[Node], layers: Sequence[Layer | None], links: Links, form: str) -> list[Kind]:
    """
    The kind of each node, by the element types of its first input and output. layers: the layer of each node.

    A float node that does all of a layer's products in integers counts as integer; so does, in the form `qdq`, a node
    between casts or other such nodes: the target fuses it with them.
    """
    kinds = [_by_elements(node) for node in nodes]
    whole = [layer is not None and bool(layer.macs) and layer.integer for layer in layers]
    if form == "qdq":
        apart = [layer is not None and bool(layer.macs) and not layer.integer_macs for layer in layers]
        return _between_casts(kinds, whole, apart, links)
    for k, layer in enumerate(layers):
        if kinds[k] is Kind.FLOAT and whole[k] and layer is not None:
            apart = any(_by_elements(node) is Kind.INTEGER for node in layer.became)
            kinds[k] = Kind.FLOAT if apart else Kind.INTEGER
    return kinds


def _number(tensor: Tensor) -> Kind:
    if tensor.element in WIDE:
        return Kind.OTHER
    return Kind.FLOAT if "float" in tensor.element else Kind.INTEGER


def _by_elements(node: Node) -> Kind:
    if not node.inputs or not node.outputs:
        return Kind.OTHER
    first, result = node.inputs[0], node.outputs[0]
    before, after = _number(first), _number(result)
    if before is after:
        return before
    if Kind.OTHER in (before, after):
        return Kind.OTHER
    return Kind.CAST if first.shape == result.shape else before


def _between_casts(
    kinds: Sequence[Kind], whole: Sequence[bool], apart: Sequence[bool], links: Links
) -> list[Kind]:
    """
    Float nodes count as integer unless adjacent to one that is not, or to a graph input or output. whole: those of
    layers with all products in integers; apart: with none, as the target does not read the casts around them.
    """
    near: list[list[int]] = [[] for _ in kinds]
    for source, target in links.edges:
        near[source].append(target)
        near[target].append(source)
    outside = {k for end in (*links.inputs, *links.outputs) for k in end.nodes}
    result = list(kinds)
    floats = [k for k, kind in enumerate(kinds) if kind is Kind.FLOAT]
    stack: list[int] = []
    for k in floats:
        fused = whole[k] or (k not in outside and bool(near[k]) and not apart[k])
        result[k] = Kind.INTEGER if fused else Kind.FLOAT
        stack += [] if fused else [k]
    while stack:
        for k in near[stack.pop()]:
            if kinds[k] is Kind.FLOAT and result[k] is Kind.INTEGER and not whole[k]:
                result[k] = Kind.FLOAT
                stack.append(k)
    return result


def write_json(report: Report, around: Circumstances = NOTHING) -> str:
    """The report as JSON, for a file."""
    return json.dumps(report_data(report, around), indent=2) + "\n"
