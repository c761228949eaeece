"""Reports as JSON values, for `--report FILE.json` and the HTML page; docs/report.md describes them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from qdialect.report.account import Layer, Node
from qdialect.report.explanations import advice
from qdialect.report.graph import End, Links, Tensor
from qdialect.report.report import Report, stays_as_json
from qdialect.rewriting.remarks import Remark

FORMAT, VERSION = "qdialect-report", 1
PACKAGES = ("qdialect", "onnx", "onnxruntime", "xdsl")
"""Packages whose versions determine a compilation."""

WIDE = ("int64", "uint64", "bool", "object", "")
"""Element types of sizes, indices, booleans and text; empty if unknown."""


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


@dataclass(frozen=True)
class Circumstances:
    """Context of a report: command, files, and measurements."""

    command: str = ""
    files: tuple[File, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    """Seconds of one run by node of the result, named by its first tensor if it has no name."""
    noise: Mapping[str, TensorNoise] = field(default_factory=dict[str, TensorNoise])
    """Noise by tensor name of the model as read."""
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
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": report.target,
        "form": report.form,
        "exactness": report.exactness,
        "verdict": list(filter(None, (*report.verdict(report), report.checked, *around.findings))),
        "interface": {name: one.as_json() for name, one in report.interface.items()},
        "multiply_adds": _totals(report),
        "operators": {"before": report.before, "after": report.after},
        "layers": [_layer(one, [places[id(n)] for n in one.became], around) for one in layers],
        "nodes": [_node(node, owners.get(k), kinds[k], around) for k, node in enumerate(nodes)],
        **_links(report.account.links),
        "as_read": _links(report.account.origin.links),
        "breaches": [{**stays_as_json(one), "read": one.is_read} for one in report.breaches],
        "remarks": [{"op": r.op, "node": r.node, **_reason(r)} for r in report.remarks],
        "passes": [step._asdict() for step in report.steps],
        "provenance": {
            "command": around.command,
            "files": [file._asdict() for file in around.files],
            "versions": _versions(),
        },
    }


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


def _layer(layer: Layer, became: Sequence[int], around: Circumstances) -> dict[str, Any]:
    measured = [around.seconds[called] for n in layer.became if (called := _called(n)) in around.seconds]
    results = (t for n in reversed(layer.became) for t in n.outputs)
    noise = next((around.noise[t.name] for t in (*layer.outputs, *results) if t.name in around.noise), None)
    return {
        "node": layer.node,
        "operator": layer.operator,
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
        "seconds": sum(measured) if measured else None,
        "noise": None if noise is None else _noise(noise),
        "reasons": list({r.blocked: _reason(r) for r in layer.reasons}.values()),
    }


def _noise(noise: TensorNoise) -> dict[str, float | None]:
    return {"sqnr_db": noise.sqnr if math.isfinite(noise.sqnr) else None, "steps": noise.steps}


def _reason(remark: Remark) -> dict[str, str]:
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
        return _between_casts(kinds, whole, links)
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


def _between_casts(kinds: Sequence[Kind], whole: Sequence[bool], links: Links) -> list[Kind]:
    """Float nodes count as integer unless adjacent to one that is not, or to a graph input or output."""
    near: list[list[int]] = [[] for _ in kinds]
    for source, target in links.edges:
        near[source].append(target)
        near[target].append(source)
    outside = {k for end in (*links.inputs, *links.outputs) for k in end.nodes}
    result = list(kinds)
    floats = [k for k, kind in enumerate(kinds) if kind is Kind.FLOAT]
    stack: list[int] = []
    for k in floats:
        fused = whole[k] or (k not in outside and bool(near[k]))
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
