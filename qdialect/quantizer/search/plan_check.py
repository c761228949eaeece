"""
Plan and result: which of the nodes that a placement expects in integers a compiled model computes in float.

A placement prices each op by the form that it is to get. An op that then has no such form, as a convolution whose bias
is computed, stays in float between casts that no price has counted: the next placement leaves it in float.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ir.names import called
from qdialect.promises.work import SumsProducts
from qdialect.quantizer.placement.placement import Placement
from qdialect.reasons import Blocked
from qdialect.report.account import Layer
from qdialect.report.graph import nodes_of
from qdialect.report.provenance import Origin
from qdialect.report.report import INTEGER_SUM, NOT_EXACT, Report

IN_INTEGERS = INTEGER_SUM, NOT_EXACT
"""Reasons of ops in float that belong to an integer layer, or are in pairs that the level of exactness leaves."""
MAX_NAMED_NODES = 3
"""Greatest number of nodes that a line names."""


@dataclass(frozen=True)
class PlannedNode:
    """A node that a placement expects in integers."""

    name: str
    row: int | None
    """Row of the node of the model as read that it belongs to; None if unknown."""
    is_product: bool


def planned_nodes(module: ModuleOp, placement: Placement, origin: Origin) -> tuple[PlannedNode, ...]:
    """The nodes that a placement expects in integers, before it is applied to the module."""
    rows = origin.rows_of(nodes_of(module))
    ops = (*placement.linear, *placement.dynamic, *placement.others)
    return tuple(PlannedNode(called(op), rows.get(op), _is_product(op)) for op in ops)


def _is_product(op: OnnxOp) -> bool:
    return op.get_trait(SumsProducts) is not None


def left_in_float(planned: Sequence[PlannedNode], report: Report) -> dict[str, Blocked]:
    """The planned nodes that the compiled model computes in float, by name, with the reason."""
    floats = {one.node: one.blocked for one in report.floats if one.blocked not in IN_INTEGERS}
    missing = {one.name: floats[one.name] for one in planned if one.name in floats}
    named = {one.row for one in planned if one.name in missing}
    for one in planned:  # a product may have another name by then: that of the node as read
        if one.is_product and one.row is not None and one.row not in named:
            blocked = _reason(report.layers[one.row])
            if blocked is not None:
                missing[one.name] = blocked
    return missing


def _reason(layer: Layer) -> Blocked | None:
    """Reason why none of a layer's products is in integers; None if one is, or if the layer has none any more."""
    if layer.is_gone or layer.written is None or layer.integer_macs or not layer.reasons:
        return None
    blocked = layer.reasons[0].blocked
    return None if blocked in IN_INTEGERS else blocked


def layers_in_pairs(report: Report) -> int:
    """Number of layers of floats between pairs of casts, since each integer form may differ from them by a step."""
    return sum(
        bool(one.reasons) and one.reasons[0].blocked == NOT_EXACT for one in report.layers if one.written
    )


def missing_lines(missing: Mapping[str, Blocked]) -> list[str]:
    """Line that says which nodes integers would have been faster for, had the target an integer form of them."""
    if not missing:
        return []
    count = f"{len(missing)} node{'s' if len(missing) > 1 else ''}"
    names = ", ".join(_quoted(missing)) + (", ..." if len(missing) > MAX_NAMED_NODES else "")
    first = next(iter(missing.values()))
    return [
        f"without an integer form, so planned again in float: {count}, {names}: {first.message} [{first.id}]"
    ]


def _quoted(names: Iterable[str]) -> list[str]:
    return [f"'{name}'" for name in list(names)[:MAX_NAMED_NODES]]
