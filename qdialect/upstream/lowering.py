"""
The conversion driver of lowerings to upstream MLIR: one sweep over a function, operands first, each op by its form.

An op without a form is kept, with a remark, between `builtin.unrealized_conversion_cast`s, as in upstream's own
partial conversions.
"""
# Around the driver: an op that is not lowered takes casts of its operands; its numbers and types are the same.

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, StringAttr, UnrealizedConversionCastOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.forms.base import form_key
from qdialect.ir.values import constant
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, rewriting
from qdialect.text.upstream import FORM
from qdialect.upstream.site import Lowered, Site, UpstreamForm, Values, upstream_type

UpstreamForms = Mapping[tuple[str, str], UpstreamForm]

SUBGRAPH = Blocked("no-form", "the op has subgraphs", "unroll it, or make its condition constant")


class _Lowering:
    """Lowering of one function to the dialect of a table of forms."""

    def __init__(self, forms: UpstreamForms, site: type[Site], rewriter: Rewriter):
        self._forms, self._site, self._rewriter = forms, site, rewriter
        self._values = Values()
        self._casts: list[Operation] = []

    def run(self, func: FuncOp) -> None:
        """Lower every op that can be."""
        block = func.body.block
        ops = list(block.ops)
        for argument in list(block.args):
            type = upstream_type(argument.type)
            if not isinstance(type, Blocked):
                self._enter(argument, type, ops[0])
        for op in ops:
            if isinstance(op, ReturnOp):
                self._rewriter.attempt(op, "Return", self._return)
            elif not isinstance(op, ConstantOp):
                self._rewriter.attempt(op, "Lower", self._lower)
                if op.parent is not None:
                    self._keep(op)
        for cast in reversed(self._casts):
            if cast.parent is not None and not any(r.first_use for r in cast.results):
                self._rewriter.erase(cast)
        for op in ops:
            if isinstance(op, ConstantOp) and op.parent is not None and op.results[0].first_use is None:
                self._rewriter.erase(op)

    def _enter(self, argument: SSAValue, type: Attribute, before: Operation) -> None:
        old = argument.type
        if old == type:
            self._values.lowered[argument] = Lowered(argument)
            return
        new = self._rewriter.retype(argument, type, is_same=False)
        cast = UnrealizedConversionCastOp.get([new], [old])
        new.replace_uses_with_if(cast.results[0], lambda use: use.operation is not cast)
        self._rewriter.insert_before(before, [cast])
        self._casts.append(cast)
        self._values.lowered[cast.results[0]] = Lowered(new)

    def _lower(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        form = self._forms.get(form_key(type(op)))
        if op.regions:
            return SUBGRAPH
        if form is None:
            return Blocked("no-form", f"{op.name.partition('.')[2]} has no form in {self._site.DIALECT}")
        for value in (*op.operands, *op.results):
            if isinstance(upstream := upstream_type(value.type), Blocked):
                return upstream
        site = self._site(op, self._values)
        if (blocked := form.guard(op) or form.build(op, site)) is not None:
            return blocked
        casts: list[Operation] = []
        for result in op.results:
            lowered = site.results.get(result)
            if lowered is None:
                raise AssertionError(f"{op.name} gives no result {result.index}")
            cast = UnrealizedConversionCastOp.get([lowered.value], [result.type])
            casts.append(cast)
            self._values.lowered[cast.results[0]] = lowered
            rewriter.lowered(result, lowered.value, last=lowered.last)
            maker = lowered.value.owner
            if isinstance(maker, Operation) and maker.location is UNKNOWN_LOC:
                maker.location = op.location
        rewriter.replace(op, [*site.ops, *casts], [cast.results[0] for cast in casts])
        site.commit()
        self._casts += casts
        return None

    def _plain(self, value: SSAValue, user: Operation) -> SSAValue | None:
        """A lowered value's tensor with the axes of ONNX; None if it is not lowered."""
        if value not in self._values.lowered and constant(value) is None:
            return None
        site = self._site(user, self._values)
        plain = site.operand(value)
        self._rewriter.insert_before(user, site.ops)
        site.commit()
        return plain

    def _return(self, op: Operation, rewriter: Rewriter) -> None:
        for place, value in enumerate(op.operands):
            if not isinstance(upstream_type(value.type), Blocked):
                plain = self._plain(value, op)
                if plain is not None and plain is not value:
                    rewriter.set_operand(op, place, plain)

    def _keep(self, op: Operation) -> None:
        """Insert casts around an op that is not lowered: its operands to ONNX's types, its results back."""
        for place, value in enumerate(op.operands):
            known = self._values.lowered.get(value)
            if known is not None and known.last and (plain := self._plain(value, op)) is not None:
                cast = UnrealizedConversionCastOp.get([plain], [value.type])
                self._rewriter.insert_before(op, [cast])
                op.operands[place] = cast.results[0]
                self._casts.append(cast)
        after = op.next_op
        for result in op.results if after is not None else ():
            type = upstream_type(result.type)
            if isinstance(type, Blocked) or after is None:
                continue
            cast = UnrealizedConversionCastOp.get([result], [type])
            self._rewriter.insert_before(after, [cast])
            self._values.lowered[result] = Lowered(cast.results[0])
            self._casts.append(cast)


def lower(module: ModuleOp, name: str, forms: UpstreamForms, site: type[Site]) -> None:
    """Lower each function's ops by their forms in the table; a remark of pass `name` says why one is kept."""
    module.attributes[FORM] = StringAttr(site.DIALECT)
    with rewriting(module, name) as rewriter:
        for func in module.ops:
            if isinstance(func, FuncOp):
                _Lowering(forms, site, rewriter).run(func)
