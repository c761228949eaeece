"""`qdialect explain`: the layers that stay in float, by cost, with reasons; or the meaning of one reason."""

import argparse
import json
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qdialect.cli.conflicts import is_reason
from qdialect.cli.display import progress
from qdialect.cli.inputs import check_model
from qdialect.cli.status import DONE
from qdialect.compiler.options import UPSTREAM_FORMS, Options, options_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qdialect.report.account import Layer
    from qdialect.report.report import Report


def run(arguments: argparse.Namespace) -> int:
    """Compiles the model without writing it, and prints float layers with reasons, then ops that the target lacks."""
    from qdialect.report.explanations import entries, entry

    name: str = arguments.input
    if is_reason(name) or (name in entries() and not os.path.exists(name)):
        known = entry(name)
        print(json.dumps(known._asdict(), indent=2) if arguments.json else "\n".join(known.lines()))
        return DONE
    check_model(name)
    import qdialect

    with progress() as show:
        show(f"reading {name}")
        module = qdialect.load(name)
        show(f"compiling for {arguments.target}")
        report = qdialect.compile(module, **vars(_options(arguments)))
    if arguments.json:
        print(json.dumps([_as_json(one, report) for one in by_cost(report)], indent=2))
    else:
        print("\n".join(text(report, everything=arguments.all)))
    return DONE


def _options(arguments: argparse.Namespace) -> Options:
    """The options, with what targets of upstream MLIR require: a known batch; for TOSA integer inputs and outputs."""
    from qdialect.targets import target

    options, form = options_of(Options, arguments), target(arguments.target).form
    if form not in UPSTREAM_FORMS:
        return options
    integers = options.integer_io or form == "tosa"
    return replace(options, batch=1 if options.batch is None else options.batch, integer_io=integers)


def by_cost(report: "Report") -> "list[Layer]":
    """The layers that stay in float, sorted by multiply-adds in float, then by elements, the largest first."""
    floats = [one for one in report.layers if one.is_float]
    return sorted(floats, key=lambda one: (one.integer_macs - (one.macs or 0), -one.elements))


def _as_json(layer: "Layer", report: "Report") -> dict[str, Any]:
    from qdialect.report.explanations import advice

    blocked = layer.reasons[0].blocked
    missing = (layer.macs or 0) - layer.integer_macs
    return {
        "node": layer.node,
        "op": layer.operator,
        "multiply_adds": missing,
        "share": missing / (report.totals.macs or 1),
        "id": blocked.id,
        "message": blocked.message,
        "fix": advice(blocked),
    }


def text(report: "Report", *, everything: bool) -> list[str]:
    """Lines with the share in integers; float layers by reason, the most expensive first; violated target rules."""
    from qdialect.report.report import by_reason
    from qdialect.report.verdict import Verdict, kinds_text, reason_text, stay, unread_groups

    came = Verdict(report)
    floats = by_cost(report)
    products = [one for one in floats if one.written is not None]
    others = [one for one in floats if one.written is None and (everything or not _is_rescaling(one))]
    lines: list[str] = []
    for line, nodes in zip(came.unread(), unread_groups(report).values(), strict=True):
        lines += [line, *(f"    {one.node}" for one in nodes)]
    lines += [came.integers(), *came.unquantized(), *came.unknown_kinds()]
    lines += _grouped(products, report.totals.macs)
    if everything:
        lines += _grouped(others, report.totals.macs)
    elif others:
        kinds = kinds_text(Counter(one.operator for one in others))
        lines.append(f"also in float, without multiply-adds: {kinds}; --all lists them")
    shown = {one.node for one in (*products, *(others if everything else ()))}
    for reason, nodes in by_reason(one for one in report.refused if one.node not in shown).items():
        fix = f"; {reason.fix}" if reason.fix else ""
        lines.append(
            f"{stay(len(nodes), reason.op)} out of {report.form}: {reason.message}{fix} [{reason.id}]"
        )
        lines += [f"    {node}" for node in nodes]
    if not (floats or report.refused or report.breaches or report.unknown):
        lines.append("every node that has an integer form takes it")
    said = {(one.node, one.reasons[0].blocked.id) for one in products}
    slower = by_reason(
        one for one in report.breaches if one.is_read and (one.node, one.blocked.id) not in said
    )
    if slower:
        lines.append(f"not as {report.target} takes it:")
        for rule, nodes in sorted(slower.items(), key=lambda row: (-len(row[1]), row[0])):
            lines += [f"{len(nodes)} {rule.op}: {reason_text(rule)}", *(f"    {node}" for node in nodes)]
    return lines


def _is_rescaling(layer: "Layer") -> bool:
    """True if a layer only scales and shifts integer sums: a part of an integer layer."""
    from qdialect.report.report import INTEGER_SUM

    return all(remark.blocked == INTEGER_SUM for remark in layer.reasons)


def _grouped(layers: "Sequence[Layer]", macs: int) -> list[str]:
    """Lines by operator and reason, the most expensive first, with the nodes and their shares below."""
    from qdialect.report.explanations import advice
    from qdialect.report.verdict import share_text

    groups: dict[tuple[str, str, str], list[Layer]] = {}
    for one in layers:
        blocked = one.reasons[0].blocked
        groups.setdefault((one.operator, blocked.id, blocked.message), []).append(one)
    lines: list[str] = []
    cost = {key: sum((one.macs or 0) - one.integer_macs for one in group) for key, group in groups.items()}
    for key in sorted(groups, key=lambda key: -cost[key]):
        operator, id_, message = key
        fix = advice(groups[key][0].reasons[0].blocked)
        share = f"{share_text(cost[key], macs)}  " if cost[key] else ""
        lines.append(f"{share}{len(groups[key])} {operator}: {message}{'; ' if fix else ''}{fix} [{id_}]")
        for one in groups[key]:
            share = f"{share_text((one.macs or 0) - one.integer_macs, macs):>8}  " if one.macs else ""
            times = one.reasons[0].blocked.expected
            lines.append(f"    {share}{one.node}" + (f": expected {times}" if times is not None else ""))
    return lines
