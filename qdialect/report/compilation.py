"""A compilation: a module through the pipeline of its target and form, with a report of what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from qdialect.compiler.conditions import ConditionCheck
from qdialect.compiler.keep_float import named_nodes
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import claims, phases
from qdialect.compiler.pipeline_text import role_of
from qdialect.exactness import Exactness
from qdialect.ir.interface import float_ends, noted_interface
from qdialect.ir.names import called
from qdialect.ir.walking import operations
from qdialect.numerics import Array
from qdialect.onnx_io.opsets import import_domains, lower_opsets
from qdialect.reasons import Blocked
from qdialect.report.account import Account
from qdialect.report.explanations import advice
from qdialect.report.provenance import Origin
from qdialect.report.report import Report, Stays, Step, op_counts, staying_float, surviving, unknown_counts
from qdialect.report.verdict import verdict_lines
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.rewriting.manager import Applied, Hook, PassManager
from qdialect.rewriting.passes import RewritePass, Role, exactness_of, parts_of
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import target
from qdialect.targets.legality import Breach, breaches
from qdialect.targets.reading import NOT_THERE
from qdialect.text.upstream import is_upstream, refused
from qdialect.transforms.fix_shapes import sizes_of
from qdialect.transforms.lower_to_qdq import LowerToQdqPass

REWRITING = (Role.DECOMPOSING, Role.RAISING)
"""Roles of passes that write operators of a runtime's own as ONNX's."""
PACKED_WEIGHT = Blocked(
    "packed-weight",
    "its weight is a constant now, which a session packs: it sums one row in another order, with other last bits",
    "run it with session.disable_prepacking, or keep a weight that is an input with --keep-overridable",
)
FLOAT_OPERAND = "float-operand"
"""Id of the reason of a product in the result with one operand in float."""


class FurtherCasts(Hook):
    """Casts of tensors that a quantized model leaves in float, inserted where the pipeline expects them."""

    tensors: int = 0
    """Number of further quantized tensors; 0 if none is, for the reason that its text gives."""


class Compilation(Hook):
    """
    The run of a pipeline on a module; records the effect of each pass.

    Raises UserError for options that do not fit, before it changes anything in the module.
    """

    def __init__(
        self,
        module: ModuleOp,
        options: Options,
        origin: Origin | None = None,
        completion: FurtherCasts | None = None,
    ):
        """`origin`: the nodes that layers are named after; by default those of the module as it is."""
        completes = completion is not None and completion.tensors > 0
        self.module, self.phases = module, phases(options, completes=completes)
        self.passes = [stage.step for phase in self.phases for stage in phase.stages]
        self._lowering = next((p for p in self.passes if role_of(p.name) is Role.LOWERING), None)
        ends = [one for one in self.passes if one.name == LowerToQdqPass.name or one is self.passes[-1]]
        self._writes_casts = ends[0]
        kept = named_nodes(module, options.keep_float)
        sizes_of(module, options.batch, options.sizes)
        lower_opsets(module)
        for op in kept:
            op.attributes[KEEP_FLOAT] = UnitAttr()
        form = options.form or target(options.target).form
        self._has_integer_ends = options.integer_io
        names = [str(one.spec()) for one in self.passes]
        account = Account(origin or Origin(module), form)
        asked = (str(options.target), form, options.exactness)
        self.report = Report(module, *asked, names, account, verdict_lines, before=op_counts(module))
        self.report.completion = "" if completion is None else str(completion)
        self._written: list[Operation] = []
        self.hooks: list[Hook] = [self] if completion is None else [completion, self]
        self._manager = PassManager(*self.hooks)

    def step(self, one: ModulePass) -> None:
        """Run one pass, the next."""
        self._manager.run([one], self.module)

    def before(self, one: ModulePass, module: ModuleOp) -> None:
        if one is self._lowering:
            self.report.account.note_scales(module)
        if one is self._writes_casts:
            floats = staying_float(
                module, self.report.form, target(self.report.target), self.report.exactness
            )
            self.report.floats = [
                Stays(op.op_type, called(op), remark.blocked) for op, remark in floats.items()
            ]
            self.report.account.note_products(module, floats)
            self._written = operations(module)

    def after(self, applied: Applied, module: ModuleOp) -> None:
        one, report, rewrites = applied.one, self.report, len(applied.records)
        report.account.origin.after(applied, module)
        if rewrites or not all(isinstance(part, RewritePass) for part in parts_of(one)):  # counting walks
            report.after = op_counts(module)
        count = sum((report.after or report.before).values())
        report.steps.append(Step(str(one.spec()), exactness_of(one).value, rewrites, count))

    def finish(self) -> Report:
        """
        Add opset imports, verify, check the result against the target's rules, and build the report.

        Raises VerifyException if the module breaks a constraint.
        """
        import_domains(self.module)
        self.module.verify()
        to = target(self.report.target)
        if to.packs_weights and self.report.exactness == Exactness.EXACT.value:
            for op in self.report.account.with_new_constants(self.module):
                remarks_of(self.module).add("fold-constants", op, PACKED_WEIGHT)
        found = breaches(self.module, to)
        held = {one.node: one.blocked for one in self.report.floats}
        said = [breach._replace(blocked=self._explained(breach, held)) for breach in found]
        self.report.breaches = [Stays(b.op.op_type, called(b.op), b.blocked, b.is_read) for b in said]
        unread = {breach.op: breach.blocked for breach in reversed(said) if not breach.is_read}
        self.report.account.finish(self.module, unread)
        self.report.unknown = unknown_counts(self.module)
        self.report.interface = noted_interface(self.module)
        self.report.float_ends = dict(float_ends(self.module)) if self._has_integer_ends else {}
        if is_upstream(self.module):
            self.report.refused = [
                Stays(op.name.partition(".")[2], called(op), remark.blocked)
                for op in refused(self.module)
                for remark in remarks_of(self.module).on(op)[-1:]
            ]
        self.report.remarks = surviving(remarks_of(self.module), [*self._written, *operations(self.module)])
        return self.report

    def _explained(self, breach: Breach, held: Mapping[str, Blocked]) -> Blocked:
        """
        The reason why the runtime has no such operator, with the one for which it was not written as others; that why
        a product has a float operand, which may have been quantized as read. held: the reasons why nodes are in float.
        """
        if breach.blocked.id == FLOAT_OPERAND:
            return held.get(called(breach.op), breach.blocked)
        if breach.blocked.id != NOT_THERE:
            return breach.blocked
        said = [r.blocked for r in remarks_of(self.module).on(breach.op) if role_of(r.pass_name) in REWRITING]
        if not said:
            return breach.blocked
        message = f"{breach.blocked.message}, and {said[-1].message}"
        return replace(breach.blocked, message=message, fix=advice(said[-1]) or breach.blocked.fix)


def compile_as(
    module: ModuleOp,
    options: Options,
    feeds: Sequence[Mapping[str, Array]] = (),
    origin: Origin | None = None,
    completion: FurtherCasts | None = None,
) -> Report:
    """
    `compile`; the report names the layers of `origin`, an earlier state of the same model. completion: tensors to
    quantize in addition.
    """
    running = Compilation(module, options, origin, completion)
    if not feeds:
        PassManager(*running.hooks).run(running.passes, module)
        return running.finish()
    from qdialect.checking.numerics_check import NumericsCheck

    check = NumericsCheck(module, feeds)
    hooks = *running.hooks, ConditionCheck(claims(running.phases)), check
    PassManager(*hooks).run(running.passes, module)
    running.report.checked = check.summary()
    return running.finish()
