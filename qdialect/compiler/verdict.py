"""
The verdict of a compilation, in about five lines: share in integers, kernels, float layers with reasons, remaining
casts, size, and what the caller has to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from qdialect.compiler.entries import advice
from qdialect.compiler.layers import Layer, Totals
from qdialect.compiler.report import Report
from qdialect.ir.interface import IntegerInterface
from qdialect.ops.generated import op_class
from qdialect.promises.work import Numbers

FEW = 6
"""Greatest number of operators that a line names."""
CASTS = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
CALIBRATES = "`qdialect quantize IN.onnx --data DATA -o OUT.onnx` calibrates it"
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
    others = sum(count for _, count in rows[FEW:])
    return ", ".join(
        [f"{count} {name}" for name, count in rows[:FEW]] + ([f"{others} others"] if others else [])
    )


@dataclass(frozen=True)
class Verdict:
    """Figures of the verdict of a compilation."""

    totals: Totals
    kernels: Mapping[str, int]
    """Number of integer nodes of the result, by operator; in the form `qdq`, of nodes between pairs."""
    in_pairs: bool
    """True if they are float ops between pairs, for the target to fuse."""
    floats: tuple[Layer, ...]
    """The layers with float products, the most expensive first."""
    casts: Mapping[str, int]
    """Number of casts in the result, by operator."""
    casts_before: int
    bytes_before: int
    """Bytes of the constants of the model as read."""
    bytes: int
    is_float_model: bool
    """True if nothing is quantized, in the model as read and in the result, and all operators are known."""
    unknown: Mapping[str, int]
    """Number of nodes of operators that nothing describes, by `domain.operator`."""
    interface: Mapping[str, IntegerInterface]
    """Scales and zero points of integer inputs and outputs, by name."""
    completion: str = ""
    """Use and effect of the data."""
    calibrated: bool = False
    """True if `quantize` has looked at the model, whatever came of it."""
    left_in_float: bool = False
    """True if `quantize` found no better integer model, so that reasons to quantize more do not apply."""

    def lines(self) -> list[str]:
        """The verdict as text."""
        rows = [self.integers(), self._kernels(), *self._floats(), self._casts(), self._size()]
        rows += [*self.unknown_kinds(), self.completion]
        return [row for row in rows if row] + self._duties()

    def integers(self) -> str:
        """Line with the share in integers, in the result and as read."""
        t = self.totals
        layers = f"{t.uncounted} layer{'s' if t.uncounted > 1 else ''}"
        if not t.macs:
            known = f"the products of {layers} could not be counted: their shapes are not known"
            return f"integers: {known if t.uncounted else 'the model has no multiply-adds'}"
        before = [f"as written {share_text(t.written[Numbers.INTEGER], t.macs)}"]
        if t.written[Numbers.PAIRS]:
            before.append(f"{share_text(t.written[Numbers.PAIRS], t.macs)} between Q/DQ pairs")
        if t.written[Numbers.WEIGHTS]:
            before.append(f"{share_text(t.written[Numbers.WEIGHTS], t.macs)} with only weights in integers")
        of = f"{count_text(t.macs)} multiply-adds" + (", open sizes counted as 1" if t.is_open else "")
        left_out = f"; {layers} could not be counted" if t.uncounted else ""
        return f"integers: {share_text(t.integer, t.macs)} of {of} ({', '.join(before)}){left_out}"

    def _kernels(self) -> str:
        if not self.kernels:
            return ""
        return f"{'in pairs' if self.in_pairs else 'kernels'}: {kinds_text(self.kernels)}"

    def _floats(self) -> list[str]:
        if not self.floats:
            return []
        worst, macs = self.floats[0], self.totals.macs
        missing = sum((one.macs or 0) - one.integer_macs for one in self.floats)
        count = f"{len(self.floats)} layer{'s' if len(self.floats) > 1 else ''}"
        line = f"float: {count}" + (f", {share_text(missing, macs)}" if macs else "")
        if self.is_float_model or self.left_in_float or not worst.reasons:
            return [line]
        blocked = worst.reasons[0].blocked
        fix = f"; {advice(blocked)}" if advice(blocked) else ""
        share = f", {share_text(worst.macs or 0, macs)}" if macs else ""
        return [
            f"{line}; first {worst.operator} '{worst.node}'{share}: {blocked.message}{fix} [{blocked.id}]"
        ]

    def _casts(self) -> str:
        if not self.casts_before and not self.casts:
            return ""
        of = f" left of {self.casts_before}" if self.casts_before else ""
        return f"casts: {kinds_text(self.casts) or 'none'}{of}"

    def _size(self) -> str:
        line = f"size: {bytes_text(self.bytes)} of constants, was {bytes_text(self.bytes_before)}"
        more = self.bytes - self.bytes_before
        in_float = sum(one.bytes - one.bytes_before for one in self.floats)
        is_why = 4 * more > self.bytes_before and 2 * in_float > more
        return line + ("; float layers multiply by float constants, which is faster" if is_why else "")

    def unknown_kinds(self) -> list[str]:
        """Line with the operators that neither ONNX nor a package describes, if there are any."""
        if not self.unknown:
            return []
        line = f"unknown: {kinds_text(self.unknown)}; not rewritten; the runtime must support them"
        names = [one.rpartition(".") for one in self.unknown]
        known = [name for domain, _, name in names if op_class("" if domain == "ai.onnx" else domain, name)]
        more = f"; {', '.join(known)}: defined in this opset with other inputs, types or attributes"
        return [line + more if known else line]

    def _duties(self) -> list[str]:
        rows = [f"'{name}' holds integers: {one}" for name, one in self.interface.items()]
        return rows if self.calibrated else rows + self.unquantized()

    def unquantized(self) -> list[str]:
        """Line that suggests `quantize` for a float model with multiply-adds."""
        elements = {one.inputs[0].element for one in self.floats if one.inputs}
        if not self.is_float_model or not elements:
            return []
        convert = "" if elements & {FLOAT32, ""} else "convert the model to float32, then "
        return [f"no quantization found: {convert}{CALIBRATES}"]


def _costly(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    in_float = (one for one in layers if one.written is not None and not one.is_gone and not one.integer)
    return tuple(sorted(in_float, key=lambda one: one.integer_macs - (one.macs or 0)))


def verdict(report: Report) -> Verdict:
    """The verdict of a compilation."""
    layers, origin = report.layers, report.account.origin
    in_pairs = report.form == "qdq"
    kernels = Counter(node.operator for one in layers for node in one.became if node.is_kernel)
    if in_pairs:
        kernels = Counter(one.operator for one in layers if one.integer_macs)
    totals = report.totals
    return Verdict(
        totals,
        kernels,
        in_pairs,
        _costly(layers),
        {name: count for name in CASTS if (count := report.after.get(name))},
        sum(report.before.get(name, 0) for name in CASTS),
        origin.bytes,
        report.account.bytes,
        not (origin.is_quantized or totals.integer or report.unknown or any(map(report.after.get, CASTS))),
        report.unknown,
        report.interface,
        report.completion,
        report.calibrated,
        report.left_in_float,
    )


def verdict_lines(report: Report) -> list[str]:
    """The verdict as lines of text."""
    return verdict(report).lines()
