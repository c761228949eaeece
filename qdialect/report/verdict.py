"""
The verdict of a compilation, in about five lines: share in integers, kernels, float layers with reasons, remaining
casts, size, and what the caller has to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from qdialect.ops.generated import op_class
from qdialect.promises.work import Numbers
from qdialect.reasons import Blocked
from qdialect.report.account import Layer
from qdialect.report.explanations import Said, advice
from qdialect.report.report import Report, Stays
from qdialect.targets.reading import NOT_THERE

MAX_NAMED_OPERATORS = 6
"""Greatest number of operators that a line names."""
CAST_OPERATORS = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
CALIBRATES = "`qdialect quantize IN.onnx --data DATA -o OUT.onnx` calibrates it"
REASONS_TOLD = {"input-rounded": "", "packed-weight": "float products of one row, {}: "}
"""Ids of reasons that the caller has to know, and how their lines begin, with the number of nodes."""
FLOAT32 = "float32"
"""The element type of products that `quantize` quantizes."""


def count_text(number: float) -> str:
    """A count with three significant digits: 950, 4.2 k, 81 M, 3.9 G."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f}"


def bytes_text(number: int) -> str:
    """A size with three significant digits: 950 B, 4.2 kB, 81 MB."""
    return f"{count_text(number)}B" if number >= 1000 else f"{number} B"


def share_text(part: float, whole: float) -> str:
    """A part in percent: `100 %` only for the whole, `0 %` only for nothing."""
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 0.05 or 99.95 < share < 100:
        return "< 0.1 %" if share < 50 else "> 99.9 %"
    return f"{share:.1f} %" if share % 100 else f"{share:.0f} %"


def stay(count: int, operator: str) -> str:
    """`1 Add stays`, `2 Add stay`."""
    return f"{count} {operator} stay{'s' if count == 1 else ''}"


def kinds_text(counts: Mapping[str, int]) -> str:
    """Numbers of nodes by operator as text, the most frequent first."""
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    others = sum(count for _, count in rows[MAX_NAMED_OPERATORS:])
    return ", ".join(
        [f"{count} {name}" for name, count in rows[:MAX_NAMED_OPERATORS]]
        + ([f"{others} others"] if others else [])
    )


def reason_text(blocked: Said) -> str:
    """A reason, the times that it rests on, its fix if it has one, and its id."""
    times = f" ({blocked.expected})" if isinstance(blocked, Blocked) and blocked.expected else ""
    fix = f"; {advice(blocked)}" if advice(blocked) else ""
    return f"{blocked.message}{times}{fix} [{blocked.id}]"


def unread_groups(report: Report) -> dict[Blocked, list[Stays]]:
    """The nodes that the target cannot read, by reason, in the order of the graph."""
    groups: dict[Blocked, list[Stays]] = {}
    for one in report.unread:
        groups.setdefault(one.blocked, []).append(one)
    return groups


class Verdict:
    """The verdict of a compilation, line by line."""

    def __init__(self, report: Report):
        self._report, self._totals = report, report.totals
        self._floats = _costly(report.layers)
        """The layers with float products, the most expensive first."""
        self._casts = {name: count for name in CAST_OPERATORS if (count := report.after.get(name))}
        self._casts_before = sum(report.before.get(name, 0) for name in CAST_OPERATORS)
        is_quantized = report.account.origin.is_quantized or self._totals.integer or self._casts
        self._is_float_model = not (is_quantized or report.unknown)
        """True if nothing is quantized, in the model as read and in the result, and all operators are known."""

    def lines(self) -> list[str]:
        """The verdict as text."""
        rows = [*self.unread(), self.integers(), *self._kernels_lines(), *self._float_lines()]
        rows += [self._casts_line(), self._size(), *self.unknown_kinds(), self._report.completion]
        return [row for row in rows if row] + self._duties()

    def unread(self) -> list[str]:
        """A line for each reason why the target cannot read nodes of the result, with their numbers by operator."""
        return [
            f"not read by {self._report.target}: {kinds_text(Counter(one.op for one in nodes))}: {reason_text(blocked)}"
            for blocked, nodes in unread_groups(self._report).items()
        ]

    def integers(self) -> str:
        """Line with the share in integers, in the result and as read."""
        t = self._totals
        layers = f"{t.uncounted} layer{'s' if t.uncounted > 1 else ''}"
        if not t.macs:
            known = f"the products of {layers} could not be counted: their shapes are not known"
            return f"integers: {known if t.uncounted else 'the model has no multiply-adds'}"
        before = [share_text(t.written[Numbers.INTEGER], t.macs)]
        if t.written[Numbers.PAIRS]:
            before.append(f"{share_text(t.written[Numbers.PAIRS], t.macs)} in float between Q/DQ pairs")
        if t.written[Numbers.WEIGHTS]:
            before.append(f"{share_text(t.written[Numbers.WEIGHTS], t.macs)} with only weights in integers")
        of = f"{count_text(t.macs)} multiply-adds" + (
            ", batch and other open sizes as 1" if t.is_open else ""
        )
        left_out = f"; {layers} could not be counted" if t.uncounted else ""
        return f"integers: {share_text(t.integer, t.macs)} of {of} (before: {', '.join(before)}){left_out}"

    def _kernels_lines(self) -> list[str]:
        """Lines with the layers between pairs in the form `qdq`, and the integer nodes, of the result."""
        layers, in_pairs = self._report.layers, Counter[str]()
        nodes = [node for one in layers for node in one.became if node.unread is None]
        kernels = Counter(node.operator for node in nodes if node.is_kernel)
        if self._report.form == "qdq":
            for one in (one for one in layers if one.integer_macs):
                # Of a layer that is partly in floats, what is seen between casts; else moves may stand between.
                part = one.integer_macs < (one.macs or 0)
                read = (node for node in one.became if node.numbers not in (None, Numbers.INTEGER))
                in_pairs.update(node.operator for node in read if not part or node.numbers is Numbers.PAIRS)
        rows = {"in pairs": in_pairs, "kernels": kernels}
        return [f"{what}: {kinds_text(counts)}" for what, counts in rows.items() if counts]

    def _float_lines(self) -> list[str]:
        if not self._floats:
            return []
        worst, macs = self._floats[0], self._totals.macs
        missing = sum((one.macs or 0) - one.integer_macs for one in self._floats)
        count = f"{len(self._floats)} layer{'s' if len(self._floats) > 1 else ''}"
        line = f"float: {count}" + (f", {share_text(missing, macs)}" if macs else "")
        if self._is_float_model or self._report.left_in_float or not worst.reasons:
            return [line]
        share = f", {share_text(worst.macs or 0, macs)}" if macs else ""
        return [
            f"{line}; first {worst.operator} '{worst.node}'{share}: {reason_text(worst.reasons[0].blocked)}"
        ]

    def _casts_line(self) -> str:
        if not self._casts_before and not self._casts:
            return ""
        before, after = self._casts_before, sum(self._casts.values())
        of = "" if not before else f" left of {before}" if after <= before else f", were {before}"
        return f"casts: {kinds_text(self._casts) or 'none'}{of}"

    def _size(self) -> str:
        size, before = self._report.account.bytes, self._report.account.origin.bytes
        line, more = f"size: {bytes_text(size)} of constants, was {bytes_text(before)}", size - before
        in_float = sum(one.float_bytes - one.float_bytes_before for one in self._floats)
        is_why = 4 * more > before and 2 * in_float > more
        return line + ("; weights of layers in float are written as floats" if is_why else "")

    def unknown_kinds(self) -> list[str]:
        """Line with the operators that no runtime of ONNX has: unknown ones, and quantizers that were not read."""
        refused = {one.op for one in self._report.unread if one.blocked.id == NOT_THERE}
        unknown = {
            name: n for name, n in self._report.unknown.items() if name.rpartition(".")[2] not in refused
        }
        if not unknown:
            return []
        line = f"unknown: {kinds_text(unknown)}; not rewritten; the runtime must support them"
        names = [one.rpartition(".") for one in unknown]
        known = [name for domain, _, name in names if op_class("" if domain == "ai.onnx" else domain, name)]
        more = f"; {', '.join(known)}: defined in this opset with other inputs, types or attributes"
        return [line + more if known else line]

    def _duties(self) -> list[str]:
        rows = [f"'{name}' holds integers: {one}" for name, one in self._report.interface.items()]
        rows += [
            f"'{name}' stays float: {self._why_float(why)}" for name, why in self._report.float_ends.items()
        ]
        told = Counter(one.blocked for one in self._report.remarks if one.blocked.id in REASONS_TOLD)
        rows += [
            f"{REASONS_TOLD[one.id].format(count)}{one.message}; {one.fix} [{one.id}]"
            for one, count in told.items()
        ]
        return rows if self._report.calibrated else rows + self.unquantized()

    def _why_float(self, why: str) -> str:
        """What reads or computes a float input or output, with the reason why it is in float if that is known."""
        for one in self._report.layers:
            if one.reasons and not one.integer and why.startswith(f"{one.operator} '{one.node}' "):
                return f"{why}, in float since {reason_text(one.reasons[0].blocked)}"
        return why

    def unquantized(self) -> list[str]:
        """Line that suggests `quantize` for a float model with multiply-adds."""
        elements = {one.inputs[0].element for one in self._floats if one.inputs}
        if not self._is_float_model or not elements:
            return []
        convert = "" if elements & {FLOAT32, ""} else "convert the model to float32, then "
        return [f"no quantization found: {convert}{CALIBRATES}"]


def _costly(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    in_float = (one for one in layers if one.written is not None and not one.is_gone and not one.integer)
    return tuple(sorted(in_float, key=lambda one: one.integer_macs - (one.macs or 0)))


def verdict_lines(report: Report) -> list[str]:
    """The verdict as lines of text."""
    return Verdict(report).lines()
