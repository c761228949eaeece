"""
Lower chains of elementwise ops on one 8-bit tensor to a table of its 256 values.

    qcast(f(dcast(q))) : T  ->  Gather(table, Cast(q)),  table = qcast(f(dcast(0, 1, ..., 255))) : T
    qcast(f(dcast(q))) : T  ->  qcast(g(dcast(q))) : T   g one op with the table of f, to one step
    f(x)  ->  g(x)   g one op with the values of f, to 1e-6
    (x - m) / sqrt(v + e) * w + b  ->  transpose(LayerNormalization(transpose(x), w, b))   m, v means over channels

f is a chain of elementwise ops, with constants of one element. Close: the table holds onnxruntime's result for each
value, and g is tested on all 256. A lookup takes as long as a dozen float operations, so measured costs decide; only
few functions (Softplus, Mish, the hyperbolic ones) and long chains are slower. g is a function such as Gelu, by erf
or tanh, that exporters write as several ops, in float or each quantized separately: onnxruntime fuses only some of
these graphs. For targets without a kernel of g, the table holds g. A normalization over channels that is written as
several ops becomes the op, which sums in another order; a session fuses only one over the last axis.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Block, Operation, SSAValue

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import (
    BY_NUMPY,
    quantized_of,
    shape_of,
    tensor_type,
    uniform_of,
    with_element,
)
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.casts import stored
from qdialect.forms.kernel_substitutes import KernelOfAnother
from qdialect.forms.nodes import Nodes
from qdialect.forms.table import form_of
from qdialect.ir.build import constant_op, copied
from qdialect.ir.insertion import discard
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.values import byte_type, constant, real_constant, under_dequantize
from qdialect.kernel_selection.functions import ComposeArithmetic, ComposeFunction, applied
from qdialect.numerics import Array
from qdialect.patterns.constant_folding import run_beside
from qdialect.patterns.float_kernels import ELEMENTWISE
from qdialect.patterns.target_pattern import ForTarget, TargetPass
from qdialect.promises.elementwise import FUNCTIONS, Elementwise, Function
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.passes import Role
from qdialect.rewriting.uses import has_kernel
from qdialect.targets.pricing import MAX_TIME_RATIO

LOOKUP, KERNEL = "Gather", "QLinearSigmoid"
"""Keys of the costs of a lookup, and of an integer kernel."""
MAX_DISTANCE_STEPS = 0.5
"""Greatest distance of a function from what it stands for, in steps of the result."""
MAX_CONE_VALUES = 64
"""Greatest number of values of a cone, which bounds the search in a chain of thousands."""


class _Cone(NamedTuple):
    """The backward slice of a value, down to the single 8-bit tensor that it depends on."""

    source: SSAValue
    ops: list[Operation]
    """Operands first."""


def _computes(op: Operation) -> bool:
    if is_kept(op):
        return False
    return isinstance(op, QuantizeOp | DequantizeOp) or op.get_trait(Elementwise) is not None


def longest_cone(value: SSAValue) -> _Cone | None:
    """The longest cone of `value`; where that ends in no single 8-bit tensor, the one behind the last 8-bit tensor."""
    return _cone_from(value, through=True) or _cone_from(value, through=False)


def _cone_from(value: SSAValue, *, through: bool) -> _Cone | None:
    """
    The cone of a value, through 8-bit tensors in between or from the last of them; None if it depends on several
    tensors, or on one that is not 8-bit.
    """
    source: SSAValue | None = None
    ops, seen = list[Operation](), set[SSAValue]()
    stack: list[tuple[SSAValue, Operation | None]] = [(value, None)]
    while stack:
        one, done = stack.pop()
        if len(seen) > MAX_CONE_VALUES:
            return None
        if done is not None:
            ops.append(done)
            continue
        tensor = constant(under_dequantize(one))
        if one in seen or (tensor is not None and tensor.data.count == 1):
            continue
        seen.add(one)
        ends = byte_type(one) is not None and one is not value
        if tensor is not None or (quantized_of(one.type) is not None and byte_type(one) is None):
            return None
        if (
            isinstance(one.owner, Block)
            or not _computes(one.owner)
            or (ends and not (through and one.has_one_use()))
        ):
            if not ends or (source is not None and source is not one):
                return None
            source = one
            continue
        stack.append((one, one.owner))
        stack += [(operand, None) for operand in one.owner.operands]
    return None if source is None else _Cone(source, ops)


class LowerToTable(ForTarget):
    """The last op of a cone: one whose result has 8 bits and is not the operand of another cone."""

    def accepts(self, op_class: type[Operation]) -> bool:
        return op_class is QuantizeOp or op_class.get_trait(Elementwise) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        costs, result = self._target.costs.get(ELEMENTWISE), op.results[0]
        if costs is None or byte_type(result) is None or self._goes_on(result):
            return None
        cone, type = longest_cone(result), uniform_of(result.type)
        if cone is None:
            return None
        now = sum(self._cost(o, cone, costs) for o in cone.ops)
        functions = self.cheaper_functions(op, costs, now)
        if now <= costs[LOOKUP] and not functions:
            return None
        shape = shape_of(cone.source.type)
        if shape is None or any(shape_of(o.results[0].type) != shape for o in cone.ops):
            return Blocked("invalid-op", "the result is not known to have the shape of the operand")
        try:
            table = type.quantize(self._reals(op, cone, rounded=True))
            exact = self._reals(op, cone, rounded=False) if functions else table
            alike = ((f, _reals_of(f, op, cone.source)) for f in functions)
            same = next((row for row in alike if is_near(row[1], exact, table, type)), None)
        except UserError as error:
            return Blocked("not-computable", str(error))
        if same is not None and self._target.kernels:
            rewriter.replace(op, _computed(same[0], op, cone.source))
        elif same is not None:  # the result on other targets
            self._build(op, cone.source, type.quantize(same[1]), rewriter)
        elif now > costs[LOOKUP]:
            self._build(op, cone.source, table, rewriter)
        return None

    def cheaper_functions(self, op: Operation, costs: dict[str, float], now: float) -> list[Function]:
        """Functions that take at most `MAX_TIME_RATIO` of `now` ns per element, casts included, the cheapest first."""
        opset = onnx_opset(op)
        casts = costs["DequantizeLinear"] + costs["QuantizeLinear"]
        runs = [f for f in FUNCTIONS if f.name in costs and opset >= f.opset]
        cheaper = [f for f in runs if costs[f.name] + casts < MAX_TIME_RATIO * now]
        return sorted(cheaper, key=lambda f: costs[f.name])

    def _goes_on(self, value: SSAValue) -> bool:
        """True if the only user is elementwise too: its table will include this op."""
        if not value.has_one_use():
            return False
        user = next(iter(value.uses)).operation
        while isinstance(user, DequantizeOp) and user.results[0].has_one_use():
            user = next(iter(user.results[0].uses)).operation
        cone = longest_cone(user.results[0]) if _computes(user) and byte_type(user.results[0]) else None
        return cone is not None and value.owner in cone.ops

    def _cost(self, op: Operation, cone: _Cone, costs: dict[str, float]) -> float:
        """Nanoseconds per element of an op; 0 if the op is kept for other users."""
        result = op.results[0]
        if op is not cone.ops[-1] and any(use.operation not in cone.ops for use in result.uses):
            return 0.0
        if isinstance(op, QuantizeOp):
            return costs["QuantizeLinear"]
        if isinstance(op, DequantizeOp):  # a session has one for each op that reads the result
            return costs["DequantizeLinear"] * len({use.operation for use in result.uses})
        casts = 0.0
        if quantized_of(result.type) is not None:
            if (isinstance(op, OnnxOp) and has_kernel(op)) or form_of(type(op), KernelOfAnother) is not None:
                return costs[KERNEL]
            casts = costs["QuantizeLinear"] + costs["DequantizeLinear"]
        return (costs.get(op.op_type, 0.0) if isinstance(op, OnnxOp) else 0.0) + casts

    def _reals(self, op: Operation, cone: _Cone, *, rounded: bool) -> Array:
        """
        The results of `op` before they are quantized, for each stored value of the source in the order of unsigned
        bytes. What is stored in between is rounded, or only saturated. Raises UserError.
        """
        values: dict[SSAValue, Array] = {cone.source: _reals_in(cone.source)}
        for one in cone.ops:
            operands = [
                np.asarray(real_constant(o)) if (known := values.get(o)) is None else known
                for o in one.operands
            ]
            real = (
                operands[0] if isinstance(one, QuantizeOp | DequantizeOp) else _evaluated(one, operands, one)
            )
            type = None if one is op else quantized_of(one.results[0].type)
            if type is not None:
                real = type.dequantize(type.quantize(real)) if rounded else _saturated(real, type)
            values[one.results[0]] = real
        return values[op.results[0]]

    def _build(self, op: Operation, source: SSAValue, table: Array, rewriter: Rewriter) -> None:
        result, name = op.results[0], node_name(op)
        (plain, reads), nodes, int32 = stored(source), Nodes(), BY_NUMPY["int32"]
        title = f"{wish(result) or name or 'value'}_table"
        entries = nodes.append(constant_op(table.reshape(-1), title, uniform_of(result.type)))
        # A negative i8 index counts from the end, which is the position of its byte.
        index = nodes.add("Cast", [plain], with_element(plain.type, int32.attribute), {"to": int32.number})
        nodes.ops[-1].location = location(f"{name}_index")
        nodes.add("Gather", [entries, index], result.type)
        rewriter.replace(op, [*reads, *nodes.ops])


def _reals_of(function: Function, op: Operation, source: SSAValue) -> Array:
    """The results of a function for every stored value of the source."""
    copy = applied(function, source, source.type)
    try:
        return _evaluated(copy, [_reals_in(source)], op)
    finally:
        discard([copy])


def _saturated(reals: Array, type: UniformType) -> Array:
    """Real numbers limited to the range of a type of one scale."""
    ends = np.array([type.storage.low, type.storage.high], type.storage.dtype)
    return np.clip(reals, *type.dequantize(ends))


def is_near(reals: Array, exact: Array, table: Array, type: UniformType) -> bool:
    """
    True if results of type `type` differ from `exact` by `MAX_DISTANCE_STEPS` at most and, once quantized, from a table
    by one: if steps are coarse, functions with nothing in common are one step apart.
    """
    steps = np.abs(type.quantize(reals).astype(np.int32) - table.astype(np.int32))
    apart = np.abs(_saturated(reals, type) - _saturated(exact, type))
    return int(steps.max()) <= 1 and float(apart.max()) <= MAX_DISTANCE_STEPS * float(type.scales.max())


def _computed(function: Function, op: Operation, source: SSAValue) -> list[Operation]:
    real = DequantizeOp(source)
    one = applied(function, real.results[0], real.results[0].type)
    name = wish(op.results[0])
    one.location = location(f"{node_name(op)}_{function.name.lower()}", [f"{name}_real"])
    cast = QuantizeOp(one.results[0], uniform_of(op.results[0].type))
    cast.location = location("", [name])
    return [real, one, cast]


def _reals_in(source: SSAValue) -> Array:
    """The real numbers of all stored values, in the order of unsigned bytes."""
    type = uniform_of(source.type)
    return type.dequantize(np.arange(256).astype(np.uint8).view(type.storage.dtype))


def _evaluated(op: Operation, operands: Sequence[Array], before: Operation) -> Array:
    """onnxruntime's results for the 256 values, by a copy of `op` in front of `before`. Raises UserError."""
    if not isinstance(op, OnnxOp) or before.parent is None:
        raise UserError(f"{op.name} cannot be computed in advance")
    nodes = Nodes()
    inputs = [nodes.constant(array) for array in operands]
    result = nodes.append(copied(op, inputs, [tensor_type(Float32Type(), (256,))]))
    return run_beside(before, nodes.ops, [result])[0]


class LowerToTablePass(TargetPass):
    name = "lower-to-table"
    exactness = Exactness.CLOSE
    role = Role.LOWERING
    reasons = "invalid-op not-computable"
    rewrite = "qcast(f(dcast(q))) -> Gather(table, q), table = qcast(f(dcast(0, ..., 255)))"
    pattern_types = (LowerToTable, ComposeFunction, ComposeArithmetic)
