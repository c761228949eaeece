"""`Report`, the result of a compilation: passes, remarks, float nodes, violated target rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat, ModuleOp, i32
from xdsl.ir import Operation, OpResult, SSAValue

from qdialect.compiler.options import UPSTREAM_FORMS
from qdialect.compiler.pipeline_text import role_of
from qdialect.dialects.onnx_base import ConstantOp, CustomOp, FunctionOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, expressed_of, quantized_of
from qdialect.exactness import Exactness
from qdialect.ir.interface import IntegerInterface
from qdialect.ir.names import called
from qdialect.ir.values import is_constant
from qdialect.ir.walking import operations
from qdialect.promises.base import Commutes
from qdialect.promises.casts import moved_dequantize, written_dequantize
from qdialect.promises.kernels import Kernels
from qdialect.promises.linear import Linear
from qdialect.promises.work import Numbers, SumsProducts, is_dequantized
from qdialect.reasons import FLOAT_SUMS, UNREAD_SUMS, Blocked
from qdialect.report.account import Account, Layer, Totals, totals
from qdialect.report.unread import left_ops, operator_name, unknown_ops, unread, unread_operand
from qdialect.rewriting.passes import Role
from qdialect.rewriting.remarks import Remark, RemarkTable, remarks_of
from qdialect.targets import Target
from qdialect.targets.legality import in_float
from qdialect.transforms.decompose import decomposable

UNREAD = ("not-quantized", "float-operand", "weight-alone", "annotation-only", "unknown-shape")
"""
Ids of reasons that an op has a float operand or result, or one of an unknown type, which an operator that is not read
may be the cause of.
"""
INTEGER_SUM = Blocked(
    "integer-sum", "part of an integer layer: applies scale, zero point or bias to integer sums"
)
NO_FORM_OF_FLOATS = Blocked("no-form", "its operands are quantized, and no integer form of it was chosen")
SOME_FLOAT = Blocked("float-operand", "only some of its operands are quantized", "quantize every operand")
"""Both for products of floats that casts give, without a remark."""
WEIGHT_ALONE = Blocked(
    "weight-alone",
    "only the weight is quantized, the activation is float",
    "quantize activations too",
)
LATE = (Role.CHOOSING, Role.LEGALIZING, Role.LOWERING)
"""Roles of passes on quantized types, those with the most informative remarks first."""
SIMPLIFYING = (Role.SIMPLIFYING, Role.DECOMPOSING)
"""Roles of passes whose remarks do not explain why an op stays in float."""
UNPRICED = "no-costs"
"""Id of lowering passes' reasons why a form has no price, which do not explain why an op stays in float."""
NO_CAST = Blocked(
    "not-quantized",
    "neither operands nor result are quantized",
    "quantize the model there too, where that is expected to be faster",
)
FLOAT_OPERANDS = "the operands are float, only the result is quantized"
NO_NODE = Blocked(
    "no-form",
    "the form 'integer' has no node for it on these types",
    "choose --form qoperator if the target has it",
)
"""For an op on quantized types on which `lower-to-integer`, which lowers products alone, leaves no remark."""
NO_FORM = Blocked("no-form", "there is no integer equivalent")
"""For an op on quantized types on which the other lowering passes leave no remark."""
NOT_EXACT = Blocked(
    "inexact-kernel", "the integer form may differ from the float op by a step", "allow --exactness close"
)
"""For an op on quantized types without a remark at `--exactness exact`, which leaves out `close` lowerings."""
NO_STEP = Blocked("no-form", "there is no integer equivalent as a whole")
"""The same for a recurrent op."""
NO_CAST_HERE = replace(NO_CAST, fix=f"{NO_CAST.fix}, or compile with --data SAMPLES")
"""For an op without weights and quantized values, in a model that is quantized elsewhere."""


class Step(NamedTuple):
    """One pass that ran."""

    name: str
    """Name with options, in the syntax of `qdialect-opt -p`."""
    exactness: str
    rewrites: int
    """Number of rewrites; 0 for a pass without patterns."""
    ops: int
    """Number of ops after the pass."""


class Stays(NamedTuple):
    """A node with a reason: why it stays in float, or which rule it violates."""

    op: str
    """Operator, as `Conv`."""
    node: str
    blocked: Blocked
    is_read: bool = True
    """False if the target cannot read the node, and refuses the model for it."""


class Reason(NamedTuple):
    """Reason why nodes of one operator stay in float."""

    op: str
    id: str
    message: str
    fix: str


@dataclass(repr=False)
class Report:
    """The result of a compilation, with an account of it."""

    module: ModuleOp = field(compare=False)
    """The result: the caller's module, or the loaded one."""
    target: str
    form: str
    exactness: str
    pipeline: list[str]
    """The passes that ran, in order, in the syntax of `qdialect-opt -p`."""
    account: Account = field(compare=False)
    verdict: Callable[[Report], Sequence[str]] = field(compare=False)
    """Builds the lines of the verdict, which `str` returns."""
    remarks: list[Remark] = field(default_factory=list[Remark])
    """Remarks on the remaining ops, without duplicate reasons."""
    steps: list[Step] = field(default_factory=list[Step])
    floats: list[Stays] = field(default_factory=list[Stays])
    """Nodes that have an integer form but stay in float, in the order of the graph."""
    breaches: list[Stays] = field(default_factory=list["Stays"])
    """Nodes of the result that violate a rule of the target, in the order of the graph."""
    refused: list[Stays] = field(default_factory=list["Stays"])
    """Nodes without a form in the target's upstream dialect, in the order of the graph."""
    before: dict[str, int] = field(default_factory=dict[str, int])
    """Number of nodes of each operator before compilation, without constants."""
    checked: str = ""
    """Summary of `--check-numerics`; empty if not requested."""
    completion: str = ""
    """Use and effect of the data, in one line; empty without data."""
    left_in_float: bool = False
    """True if `quantize` found no integer model that is faster and good enough."""
    calibrated: bool = False
    """True if the model was quantized from a profile, or left in float for what that showed."""
    after: dict[str, int] = field(default_factory=dict[str, int])
    unknown: dict[str, int] = field(default_factory=dict[str, int])
    """Number of nodes of the result by `domain.operator`, of operators that no runtime of ONNX has."""
    interface: dict[str, IntegerInterface] = field(default_factory=dict[str, IntegerInterface])
    """Scales and zero points of the result's integer inputs and outputs, which the caller applies, by name."""
    float_ends: dict[str, str] = field(default_factory=dict[str, str])
    """With `integer_io`, why inputs and outputs are float, by name."""

    def __repr__(self) -> str:
        """One line, for any model."""
        floats = sum(layer.is_float for layer in self.layers)
        said = f"{floats} of {len(self.layers)} layers in float, {len(self.breaches)} nodes break a rule"
        said += f", {len(self.unread)} are not read" if self.unread else ""
        return f"<Report: {self.target}, {self.form}, {self.exactness}; {said}>"

    def __str__(self) -> str:
        """The verdict, in about five lines."""
        return "\n".join(self.verdict(self))

    def _repr_html_(self) -> str:
        """The verdict and the layers that stay in float, for a notebook; `--report` writes a whole page."""
        from html import escape  # only for notebooks: keeps start-up short

        floats = [(one, one.reasons[0].blocked) for one in self.layers if one.is_float]
        cells = [(one.node, one.operator, f"{one.macs or 0:,}", why.message, why.fix) for one, why in floats]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        head = "<tr><th>in float</th><th></th><th>multiply-adds</th><th>reason</th><th>what to do</th></tr>"
        return f"<pre>{escape(str(self))}</pre>" + (f"<table>{head}{rows}</table>" if rows else "")

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The result of each node of the model as read, in its order."""
        return self.account.layers()

    @cached_property
    def totals(self) -> Totals:
        """The multiply-adds of the whole model."""
        return totals(self.layers, is_open=any(row.open for row in self.account.origin.rows))

    def reasons(self) -> list[tuple[Reason, int]]:
        """Reasons why nodes stay in float, with their numbers, the most frequent first."""
        return _counted(self.floats)

    @property
    def unread(self) -> list[Stays]:
        """Nodes of the result that the target cannot read, in the order of the graph."""
        return [one for one in self.breaches if not one.is_read]

    def broken_rules(self) -> list[tuple[Reason, int]]:
        """Violated rules of the target, with the numbers of nodes, the most frequent first."""
        return _counted(self.breaches)


def by_reason(nodes: Iterable[Stays]) -> dict[Reason, list[str]]:
    """Names of nodes by operator and reason, in order."""
    groups: dict[Reason, list[str]] = {}
    for one in nodes:
        blocked = one.blocked
        groups.setdefault(Reason(one.op, blocked.id, blocked.message, blocked.fix), []).append(one.node)
    return groups


def _counted(nodes: Iterable[Stays]) -> list[tuple[Reason, int]]:
    counts = ((reason, len(names)) for reason, names in by_reason(nodes).items())
    return sorted(counts, key=lambda item: (-item[1], item[0]))


def stays_as_json(one: Stays) -> dict[str, str]:
    """A node and its reason as JSON values."""
    blocked = one.blocked
    return {"node": one.node, "op": one.op, "id": blocked.id, "message": blocked.message, "fix": blocked.fix}


_NOT_BY_CLASS = (ConstantOp, FunctionOp, YieldOp, CustomOp)


def op_counts(module: ModuleOp) -> dict[str, int]:
    """Number of nodes of each operator, without constants, functions and yields."""
    ops = operations(module)
    by_class = Counter(map(type, ops))
    counts = Counter[str]()
    if any(issubclass(op_class, CustomOp) for op_class in by_class):
        counts.update(op.op_type for op in ops if isinstance(op, CustomOp))
    for op_class, count in by_class.items():
        if op_class.name.partition(".")[0] not in ("builtin", "func") and not issubclass(
            op_class, _NOT_BY_CLASS
        ):
            schema = op_class.SCHEMA if issubclass(op_class, OnnxOp) else None
            counts[schema.name if schema else op_class.name] += count
    return dict(sorted(counts.items()))


def unknown_counts(module: ModuleOp) -> dict[str, int]:
    """
    Number of nodes by `domain.operator`, of operators without a schema, promises or a function of the model, and of
    those that quantize and dequantize in one.
    """
    return dict(sorted(Counter(map(operator_name, left_ops(operations(module)))).items()))


def _is_float(op: OnnxOp, form: str) -> bool:
    """True if a node with an integer form computes in float, before the last lowering."""
    values, work = [*op.operands, *op.results], op.get_trait(SumsProducts)
    if work is not None and work.numbers(op) is Numbers.INTEGER:
        return False
    if form in ("qdq", *UPSTREAM_FORMS):
        return not any(quantized_of(v.type) is not None for v in values)
    if any(quantized_of(v.type) is not None for v in values):
        return True
    elements = [BY_ATTRIBUTE.get(e) for v in values if (e := expressed_of(v.type)) is not None]
    if work is not None and all(e is None for e in elements):
        return True  # of unknown types, behind operators that nobody describes
    return any(e is not None and e.dtype.kind == "f" for e in elements)


def staying_float(module: ModuleOp, form: str, target: Target, exactness: str) -> dict[OnnxOp, Remark]:
    """
    The ops with an integer form that are in float before `lower-to-qdq`, each with the decisive reason;
    also those between pairs that the target computes in float.
    """
    remarks, ops = remarks_of(module), operations(module)
    rescaling = _rescaling(ops)
    floats = (
        op
        for op in ops
        if isinstance(op, OnnxOp)
        and any(op.get_trait(kind) for kind in (Kernels, Linear, SumsProducts))
        and _is_float(op, form)
    )
    is_quantized = any(quantized_of(value.type) is not None for op in ops for value in op.results)
    unlowered = NOT_EXACT if exactness == Exactness.EXACT.value else NO_NODE if form == "integer" else NO_FORM
    none = NO_CAST_HERE if is_quantized else NO_CAST, unlowered
    reasons = {op: _reason(op, remarks, none, is_rescaling=op in rescaling) for op in floats}
    unknown = frozenset[Operation](unknown_ops(ops))
    for op, said in reasons.items():
        why = None
        if said.blocked.id == NO_FORM.id:
            why = unread_operand(op, unknown, remarks)
        elif said.blocked.id in UNREAD:
            why = unread(op, unknown, remarks)
        if why is not None:
            reasons[op] = replace(said, blocked=why)
    reasons |= _behind_unread_casts(ops, remarks, reasons)
    for op in (one for one in ops if isinstance(one, OnnxOp)):
        # At `exact` no pass has asked whether the target would have a kernel.
        is_asked = form == "qdq" or (op in reasons and reasons[op].blocked == NOT_EXACT)
        if is_asked and (blocked := in_float(op, target)) is not None:
            said = [remark for remark in remarks.on(op) if role_of(remark.pass_name) in LATE]
            reasons[op] = said[0] if said else Remark("", op.name, called(op), blocked, op.location)
    return reasons


def _dequantizes(op: OnnxOp) -> list[OnnxOp]:
    """The DequantizeLinear nodes above an op, and above moves, that were not raised: their reasons explain it."""
    return [one for value in op.operands if (one := moved_dequantize(value)) is not None]


def _behind_unread_casts(
    ops: Iterable[Operation], remarks: RemarkTable, known: Mapping[OnnxOp, Remark]
) -> dict[OnnxOp, Remark]:
    """
    Ops that move or select elements behind a DequantizeLinear of an activation that was not raised, of a negative scale
    for instance: they work on integers elsewhere, so each has its reason.
    """
    found: dict[OnnxOp, Remark] = {}
    for op in ops:
        if isinstance(op, OnnxOp) and op not in known and op.get_trait(Commutes) is not None:
            read = filter(None, map(written_dequantize, op.operands))
            casts = [cast for cast in read if not is_constant(cast.operands[0])]
            if (why := next((r for cast in casts for r in remarks.on(cast)), None)) is not None:
                found[op] = why
    return found


def _owners(op: OnnxOp) -> list[OnnxOp]:
    """The ops that compute the operands."""
    owners = [value.op for value in op.operands if isinstance(value, OpResult)]
    return [one for one in owners if isinstance(one, OnnxOp)]


def _in_front(op: OnnxOp, remarks: RemarkTable) -> Remark | None:
    """The reason why quantization stopped at what computes an operand: no cast was read there, or moved past it."""
    for one in _owners(op):
        for remark in remarks.on(one):
            is_before = role_of(remark.pass_name) in (Role.RAISING, Role.SINKING)
            if is_before and not any(quantized_of(r.type) for r in one.results):
                message = f"{one.op_type} in front of it stays in float: {remark.blocked.message}"
                return replace(remark, blocked=replace(remark.blocked, message=message))
    return None


def _is_quantized_behind(op: OnnxOp) -> bool:
    """True if a cast reads a result."""
    users = (use.operation for result in op.results for use in result.uses)
    return any(quantized_of(r.type) is not None for user in users for r in user.results)


def _reason(op: OnnxOp, remarks: RemarkTable, none: tuple[Blocked, Blocked], *, is_rescaling: bool) -> Remark:
    """
    The decisive remark on an op. On quantized types, the first of the lowering passes; otherwise the last one of
    `fuse-quantized`, or the first of the passes that move casts. none: of an op without remarks and weights, and of one
    on quantized types.
    """
    if is_rescaling:
        return Remark("", op.name, called(op), INTEGER_SUM, op.location)
    work = op.get_trait(SumsProducts)
    if of_target := next((r for r in remarks.on(op) if r.blocked in (FLOAT_SUMS, UNREAD_SUMS)), None):
        return of_target
    said = [(role_of(remark.pass_name), remark) for remark in remarks.on(op)]
    late = [remark for role in LATE for of, remark in said if of is role]
    late.sort(key=lambda remark: remark.blocked.id == UNPRICED)
    early = [remark for role, remark in said if role not in (*LATE, *SIMPLIFYING)]
    fused = [remark for role, remark in said if role is Role.FUSING][-1:]
    is_quantized = any(quantized_of(v.type) is not None for v in (*op.operands, *op.results))
    placed = [remark for role, remark in said if role is Role.PLACING]  # `quantize` has weighed it
    reasons = [*late, *early] if is_quantized else [*placed, *fused, *early, *late]
    unread = next((r for op in _dequantizes(op) for r in remarks.on(op)), None)
    if unread is not None and not is_quantized:
        return unread
    if not reasons or (not is_quantized and reasons[0].blocked.id == "float-operand"):
        reasons = [*filter(None, [_in_front(op, remarks)]), *reasons]
    if work is not None and work.packed and not is_quantized and not placed:
        reasons = []  # why the weight is not written in another form does not explain why the op is in float
    if reasons:
        return reasons[0]
    unsaid = none[is_quantized]
    if not is_quantized and work is not None:
        unsaid = WEIGHT_ALONE if work.packed else NO_CAST
        read = {is_dequantized(v) for v in work.multiplied(op) if not is_constant(v)}
        if True in read and not work.packed:
            unsaid = SOME_FLOAT if False in read else NO_FORM_OF_FLOATS
    if not is_quantized and unsaid is not WEIGHT_ALONE and _is_quantized_behind(op):
        unsaid = Blocked("float-operand", FLOAT_OPERANDS, unsaid.fix)
    elif is_quantized and op.op_type in decomposable(loops=True):
        unsaid = replace(NO_STEP, fix=f"decompose it with --decompose {op.op_type}")
    return Remark("", op.name, called(op), unsaid, op.location)


def _rescaling(ops: Sequence[Operation]) -> set[Operation]:
    """
    The ops that only rescale integer products: their cost belongs to the product.

    These scale int32 sums that were cast to float; combine such results, or float results of an integer product, with
    constants; or compute scales that are used for nothing else.
    """
    sums: set[SSAValue] = set()
    scaled: set[SSAValue] = set()
    combining: set[Operation] = set()
    for op in ops:
        if not isinstance(op, OnnxOp) or len(op.results) != 1:
            continue
        work = op.get_trait(SumsProducts)
        if work is not None and work.numbers(op) is Numbers.INTEGER:
            scaled.update(op.results)
        elif len(op.operands) == 1 and element_of(op.operands[0].type) == i32:
            sums.update(r for r in op.results if isinstance(element_of(r.type), AnyFloat))
        elif (
            work is None
            and len(op.operands) == 2
            and any(
                v in sums or ((v in scaled or v.owner in combining) and is_constant(other))
                for v, other in zip(op.operands, reversed(op.operands), strict=True)
            )
        ):
            combining.add(op)
    scales = {
        op
        for op in ops
        if any(r.uses for r in op.results)
        and all(u.operation in combining for r in op.results for u in r.uses)
    }
    return combining | scales


def surviving(remarks: RemarkTable, ops: Iterable[Operation]) -> list[Remark]:
    """The remarks on `ops`, in the order in which they arose; of equal reasons on one op the last."""
    last = {(op, remark.blocked): remark for op in ops for remark in remarks.on(op)}
    there = set(last.values())
    return [remark for remark in remarks if remark in there]
