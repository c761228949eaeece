"""Chains of elementwise ops on one float, and other arithmetic, that are one op with a kernel of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from math import inf

import numpy as np
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from qdialect import numerics
from qdialect.dialects.onnx_attributes import float_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.quant import DequantizeOp
from qdialect.errors import UserError
from qdialect.forms.arithmetic import EndsArithmetic
from qdialect.forms.nodes import Nodes
from qdialect.ir.build import copied
from qdialect.ir.values import constant_array, is_float32
from qdialect.numerics import Array
from qdialect.ops.generated import op_named
from qdialect.patterns.constant_folding import run_beside
from qdialect.patterns.float_kernels import BEHIND, ELEMENTWISE
from qdialect.patterns.target_pattern import ForTarget
from qdialect.promises.elementwise import FUNCTIONS, Elementwise, Function
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.journal import is_kept
from qdialect.rewriting.matching import OnForm, OnTrait
from qdialect.targets import Target
from qdialect.targets.pricing import MAX_TIME_RATIO

MAX_CHAIN_OPS = 8
"""Greatest number of ops of a chain."""
MAX_RELATIVE_DIFFERENCE = 1e-6
"""Greatest difference of two functions, relative to their argument or 1."""


class ComposeFunction(OnTrait[Elementwise]):
    """
    f(x) -> g(x), f several elementwise ops that nothing else uses, g one op that takes less time.

    Close: f and g are compared on numbers from -1e30 to 1e30, most of them around zero.
    """

    def __init__(self, target: Target):
        costs = target.costs if target.kernels else {}
        self._costs = costs.get(ELEMENTWISE, {})
        self._behind = {name: table for name, table in costs.items() if name.startswith(BEHIND)}
        self._same: dict[Hashable, list[Function]] = {}
        """Functions by the `_description` of the chains that compute them."""
        self._results: dict[Function, Array | None] = {}
        """What each function gives at `_numbers()`; None if onnxruntime cannot say."""

    def match(self, op: OnnxOp, promise: Elementwise, rewriter: Rewriter, /) -> Blocked | None:
        if not self._costs or not is_float32(op.results[0]):
            return None
        opset = onnx_opset(op)
        known = [f for f in FUNCTIONS if f.name in self._costs and opset >= f.opset]
        for chain, source in _chains(op):
            now = self._taken(chain, source)
            cheaper = [f for f in known if self._costs[f.name] < MAX_TIME_RATIO * now]
            same = next((f for f in cheaper if f in self._functions(chain, source)), None)
            if same is not None:
                rewriter.replace(op, [applied(same, source, op.results[0].type)])
                return None
        return None

    def _functions(self, chain: Sequence[OnnxOp], source: SSAValue) -> Sequence[Function]:
        """The functions that a chain computes; each kind of chain is run once."""
        key = _description(chain, source)
        if key not in self._same:
            expected = _computed_by(chain, source)
            near = [] if expected is None else [f for f in FUNCTIONS if self._is_near(expected, f, chain[0])]
            self._same[key] = near
        return self._same[key]

    def _is_near(self, expected: Array, function: Function, beside: OnnxOp) -> bool:
        """True if the function gives these numbers at the arguments of comparison."""
        if function not in self._results:
            nodes = Nodes()
            x = nodes.constant(_numbers())
            y = nodes.append(applied(function, x, x.type))
            self._results[function] = _run(beside, nodes, y)
        result = self._results[function]
        return result is not None and numerics.are_near(expected, result, _numbers(), MAX_RELATIVE_DIFFERENCE)

    def _taken(self, chain: Sequence[OnnxOp], source: SSAValue) -> float:
        """
        Nanoseconds for each element of a chain. A session fuses an op and the previous one into one kernel, unless both
        read a dequantized value, which it dequantizes for each of them.
        """
        taken = sum(self._costs.get(one.op_type, 0.0) for one in chain)
        if isinstance(source.owner, DequantizeOp):
            return taken + self._costs["DequantizeLinear"] * (sum(source in o.operands for o in chain) - 1)
        return taken - sum(self._fused(one) for one in chain)

    def _fused(self, op: OnnxOp) -> float:
        """Nanoseconds for each element that a session saves as it makes `op` a part of the kernel in front."""
        each = self._costs.get(op.op_type, 0.0)
        above = (v.owner.op_type for v in op.operands if isinstance(v.owner, OnnxOp))
        tables = (self._behind.get(f"{BEHIND}{name}", {}) for name in above)
        return max((each - table.get(op.op_type, each) for table in tables), default=0.0)


class ComposeArithmetic(OnForm[EndsArithmetic], ForTarget):
    """
    f(x) -> g(x), f ops that nothing else uses, g one op with moves of elements around it, which takes less time.

    Close: to float rounding.
    """

    def match(self, op: OnnxOp, form: EndsArithmetic, rewriter: Rewriter, /) -> None:
        whole = form.whole(op) if self._target.kernels else None
        if whole is None or whole.size < self._target.costs.get(whole.kernel, {}).get("least", inf):
            return
        inside = {*whole.parts, op}
        if all(
            one.parent is op.parent
            and not is_kept(one)
            and {u.operation for u in one.results[0].uses} <= inside
            for one in whole.parts
        ):
            rewriter.replace(whole.end, whole.build())


def applied(function: Function, x: SSAValue, type: Attribute) -> OnnxOp:
    """The function of `x`, with a result of type `type`."""
    attributes = {name: float_attr(value) for name, value in function.attributes}
    return op_named(function.domain, function.name).build([x], [type], attributes)


def _chains(op: OnnxOp) -> Iterator[tuple[list[OnnxOp], SSAValue]]:
    """The chains that end in `op`, users first, and the one value that each computes its result from."""
    chain = [op]
    while len(chain) <= MAX_CHAIN_OPS:
        ours = {result for one in chain for result in one.results}
        values = [v for one in chain for v in one.operands if v not in ours and not _is_number(v)]
        if len(chain) > 1 and len(set(values)) == 1:
            yield chain, values[0]
        above = next((v.op for v in values if isinstance(v, OpResult) and _is_inside(v, chain)), None)
        if not isinstance(above, OnnxOp):
            return
        chain.append(above)


def _is_number(value: SSAValue) -> bool:
    array = constant_array(value)
    return array is not None and array.size == 1


def _is_inside(value: OpResult, chain: Sequence[OnnxOp]) -> bool:
    """True if `value` is elementwise, of the shape of the chain's result, and used by the chain alone."""
    op = value.op
    return (
        isinstance(op, OnnxOp)
        and op.get_trait(Elementwise) is not None
        and not is_kept(op)
        and value.type == chain[0].results[0].type
        and op.parent is chain[0].parent
        and all(use.operation in chain for use in value.uses)
    )


@cache
def _numbers() -> Array:
    """The arguments at which functions are compared."""
    near, far = np.linspace(-20, 20, 8001), np.logspace(-30, 30, 400)
    return np.concatenate([near, far, -far]).astype(np.float32)


def _operand(value: SSAValue | None, places: Mapping[SSAValue, int]) -> int | bytes | None:
    if value is None:
        return None
    return places[value] if value in places else _number(value).tobytes()


def _description(chain: Sequence[OnnxOp], source: SSAValue) -> Hashable:
    """What a chain computes of its source: the same for chains of equal ops, attributes and numbers."""
    places = {source: -1} | {one.results[0]: k for k, one in enumerate(chain)}
    return source.type == chain[0].results[0].type, tuple(
        (one.name, frozenset(one.onnx_attributes.items()), tuple(_operand(v, places) for v in one.inputs))
        for one in chain
    )


def _computed_by(chain: Sequence[OnnxOp], source: SSAValue) -> Array | None:
    """What a chain gives at `_numbers()`; None if it changes the type, or if onnxruntime cannot say."""
    last = chain[0]
    if source.type != last.results[0].type or last.parent is None:
        return None
    nodes = Nodes()
    values = {source: nodes.constant(_numbers())}
    for one in reversed(chain):
        inputs = [values[v] if v in values else nodes.constant(_number(v)) for v in one.operands]
        values[one.results[0]] = nodes.append(copied(one, inputs, [values[source].type]))
    return _run(last, nodes, values[last.results[0]])


def _run(beside: Operation, nodes: Nodes, output: SSAValue) -> Array | None:
    try:
        return run_beside(beside, nodes.ops, [output])[0]
    except UserError:
        return None


def _number(value: SSAValue) -> Array:
    return np.asarray(constant_array(value)).reshape(())
