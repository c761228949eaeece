"""
Lower quantized types to QuantizeLinear and DequantizeLinear around float ops.

    op(a, b) : T     ->  QuantizeLinear(op(DequantizeLinear(a), DequantizeLinear(b)))
    act(op(a)) : T   ->  QuantizeLinear(act(op(DequantizeLinear(a))))     one consumer, act elementwise: one pair,
                         except if act is a clamp after an op with an integer kernel and the target needs a pair between
    f(qcast(x)) : T  ->  QuantizeLinear(f(x))                             one consumer, f moves: f stands in front of Q
    g(qcast(f(dcast(q)) : T))  ->  g(f(DequantizeLinear(q)))              f moves; the target does so too
    f(a, qcast(dcast(b : U)) : T) : T  ->  QuantizeLinear(f(DequantizeLinear(a), DequantizeLinear(b)))
    op(Gather(table : T), w : U)  ->  op(DQ(Q(Gather(DQ(table)))), DQ(w))     op sums products; pairs stand around moves
    Reshape(qcast(dcast(Reshape(x)))) : T  ->  QuantizeLinear(Reshape(DequantizeLinear(x)))     moves then adjacent

A quantize is written below an op that moves elements only if `hoist-quantize` would move it above again, so that a
round trip is stable (`qdialect/patterns/cast_normal_form.py`).

Exact: the first line is the definition of ops on quantized types; the others drop a pair of quantize and dequantize
between which elements were only moved or clamped. Every QuantizeLinear is followed directly by its DequantizeLinear;
narrower storage bounds are a Clip of reals before the pair if the target requires whole pairs, else a Clip of
integers within it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_types import expressed_type, quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.ir.names import (
    location,
    merge_constants,
    node_name,
    result_names,
    settle_names,
)
from qdialect.ir.values import under
from qdialect.ir.walking import operations
from qdialect.patterns.cast_normal_form import Hoisting, Reals, Standing
from qdialect.patterns.half_precision_casts import widen_casts
from qdialect.patterns.layout_folding import FoldReshapes, FoldTransposes
from qdialect.patterns.qdq_writer import PairWriter, settle_written, share_readings
from qdialect.patterns.region_casts import real_across, yields_only
from qdialect.promises.control import Carries
from qdialect.promises.linear import Linear
from qdialect.promises.typed import SizesOnly
from qdialect.rewriting.driver import Rewriter, apply_patterns, rewriting
from qdialect.rewriting.passes import Pass, Role
from qdialect.targets import Target, target


def _check_signature(func: FuncOp) -> None:
    """Raise UserError if a graph input or output has a quantized type, which ONNX lacks."""
    if any(quantized_of(t) is not None for t in (*func.function_type.inputs, *func.function_type.outputs)):
        raise UserError(
            f"@{func.sym_name.data} has an operand or result of quantized type",
            "use integer inputs and outputs with quant.scast",
        )


class _Expander:
    """
    Writes ops on quantized types as float ops between casts, in one sweep, operands before users.

    It bypasses the driver's worklist: the form of an op depends on the forms of its producers.
    """

    def __init__(self, target: Target, rewriter: Rewriter, hoisting: Hoisting):
        self._rewriter = rewriter
        self._reals = Reals(target, hoisting)

    def expand(self, op: Operation) -> None:
        """Write one operation; its producers must have been written."""
        if isinstance(op, ConstantOp):
            self._constant(op)
        elif isinstance(op, DequantizeOp):
            real = self._reals.exact(op.operands[0])
            if real is not None:
                self._rewriter.replace(op, [], [real])
        elif isinstance(op, YieldOp):
            self._yield(op)
        elif isinstance(op, OnnxOp):
            if op.get_trait(Carries) is not None:
                real_across(op, self._rewriter)
            if any(quantized_of(v.type) is not None for v in (*op.operands, *op.results)):
                self._op(op)

    def _constant(self, op: ConstantOp) -> None:
        if op.value is not None and quantized_of(op.results[0].type) is not None:
            plain = ConstantOp.of(op.value)
            plain.location = op.location
            self._rewriter.replace(op, [plain, StorageCastOp(plain.results[0], op.results[0].type)])

    def _yield(self, end: YieldOp) -> None:
        """Make yielded values real numbers, with a quantize behind the subgraph if they are quantized in it."""
        for place, value in enumerate(end.operands):
            if quantized_of(value.type) is None:
                continue
            alone = value.has_one_use() and yields_only(end, place)
            passing = (under(value, QuantizeOp) if alone else None) or self._reals.exact(value)
            self._rewriter.set_operand(end, place, passing or self._dequantized(value, end))

    def _dequantized(self, value: SSAValue, user: Operation) -> SSAValue:
        cast = DequantizeOp(value)
        cast.location = location("", [])
        self._rewriter.insert_before(user, [cast])
        return cast.results[0]

    def _op(self, op: OnnxOp) -> None:
        at = self._reals.standing(op)
        quantized = [k for k, value in enumerate(op.operands) if quantized_of(value.type) is not None]
        operands = list(op.operands)
        for k in quantized:
            operands[k] = at.above.get(k) or self._operand(op, op.operands[k], at)
        is_read = all(self._reals.is_read(op.operands[k]) for k in quantized)
        source = self._reals.source(op)
        for cast in self._rebuild(op, operands):
            self._reals.note(cast, at, is_read=is_read, source=source)

    def _operand(self, op: OnnxOp, value: SSAValue, at: Standing) -> SSAValue:
        """The float op's operand in place of a quantized one."""
        if op.get_trait(SizesOnly) is not None:  # integers and real numbers have the same shape
            return value.owner.operands[0] if isinstance(value.owner, QuantizeOp | StorageCastOp) else value
        product = op.get_trait(Linear) is not None
        return self._reals.without_pair(value, free=at.free, product=product) or self._dequantized(value, op)

    def _rebuild(self, op: OnnxOp, operands: Sequence[SSAValue]) -> list[SSAValue]:
        """Build the float op; the quantizes of its results."""
        new = op.__class__.create(
            operands=operands,
            result_types=[expressed_type(t) for t in op.result_types],
            properties=op.properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
        )
        names = result_names(op)
        types = [quantized_of(t) for t in op.result_types]
        new.location = location(
            node_name(op), [n if t is None else "" for n, t in zip(names, types, strict=True)]
        )
        results, casts = list[SSAValue](new.results), list[Operation]()
        for place, (type, name) in enumerate(zip(types, names, strict=True)):
            if type is not None:
                cast = QuantizeOp(new.results[place], type)
                cast.location = location(f"{name}_QuantizeLinear", [name])
                casts.append(cast)
                results[place] = cast.results[0]
        self._rewriter.replace(op, [new, *casts], results)
        return [cast.results[0] for cast in casts]


@dataclass(frozen=True)
class LowerToQdqPass(Pass):
    name = "lower-to-qdq"
    exactness = Exactness.EXACT
    role = Role.LOWERING
    rewrite = "op(a) : T -> QuantizeLinear(op(DequantizeLinear(a))): by definition"

    target: str = "generic"
    activations: bool = True
    """True to write a clamp at zero below its quantize, as `hoist-quantize` of this option reads it."""
    selects: bool = True
    """True to place ops that select or clamp in front of a quantize, which changes the treatment of NaN."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                _check_signature(func)
        merge_constants(op)
        settle_names(op)
        rules = target(self.target)
        with rewriting(op, self.name) as rewriter:
            share_readings(op, rewriter)
            expander = _Expander(
                rules, rewriter, Hoisting(activations=self.activations, selects=self.selects)
            )
            for one in operations(op):
                expander.expand(one)
            if widen_casts(op, rewriter):
                share_readings(op, rewriter)
            writer = PairWriter(rules, rewriter)
            writer.write(op)
        apply_patterns(op, self.name, [FoldTransposes(), FoldReshapes()])
        settle_written(op)
