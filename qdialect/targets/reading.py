"""
What a runtime cannot read of a written model: operators, element types, attributes and ranks that its reader refuses.

The facts are in the target's file. A target whose file lists no domains reads every operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_attributes import numbers
from qdialect.dialects.onnx_base import FunctionOp, OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of
from qdialect.forms.composition import Decomposes
from qdialect.forms.contrib_ops import StandsFor
from qdialect.forms.table import form_of
from qdialect.ir.values import is_constant, rank_of
from qdialect.promises.arithmetic import QuantizesAtRunTime
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.work import Numbers, SumsProducts
from qdialect.reasons import Blocked
from qdialect.targets import ONNX, Target

CALIBRATE = "quantize the float model with `qdialect quantize --data`"
OTHER_OPS = "write it in ONNX's own operators"
OTHER_MODEL = "change it in the model, or keep that part for another runtime"

NOT_THERE = "operator"
"""Id of reasons for an operator that the runtime does not have, whose other faults do not matter."""


class Reader:
    """Reads the nodes of one module as the runtime of a target does."""

    def __init__(self, module: ModuleOp, target: Target):
        self._target = target
        self._functions = {(op.domain, op.op_type) for op in module.ops if isinstance(op, FunctionOp)}
        self._body = next((op.body.first_block for op in module.ops if isinstance(op, FuncOp)), None)

    def refusals(self, op: OnnxOp) -> Iterator[Blocked]:
        """Reasons why the runtime does not read a node; the first one alone if it has no such operator."""
        if (unknown := self._operator(op)) is not None:
            yield unknown
            return
        if self._target.elements and not _is_cast(op):
            names = dict.fromkeys(name for v in (*op.operands, *op.results) if (name := self._unread(v)))
            for name in names:
                message = f"{self._target.name} reads no tensors of {name} there"
                yield Blocked("expressed-type", message, "cast to another type in the model")
        yield from self._limits(op)

    def _operator(self, op: OnnxOp) -> Blocked | None:
        """`Blocked` if the runtime has no such operator."""
        if not self._target.domains or (op.domain, op.op_type) in self._functions:
            return None
        name, domain = self._target.name, op.domain or ONNX
        if self._target.reads(op.domain, op.op_type):
            return None
        if domain not in self._target.domains:
            return Blocked("operator", f"{name} reads no operators of {domain}", _instead(op))
        return Blocked("operator", f"{name} has no such operator", _instead(op))

    def _unread(self, value: SSAValue) -> str | None:
        """The element type of a value if the runtime has no tensors of it there; None if it has, or it is unknown."""
        element = element_of(value.type)
        known = None if element is None else BY_ATTRIBUTE.get(element)
        if known is None or known.spelling in self._target.elements:
            return None
        returned = any(isinstance(use.operation, ReturnOp) for use in value.uses)
        is_interface = returned or value.owner is self._body
        return None if is_interface and known.spelling in self._target.interface_elements else known.spelling

    def _limits(self, op: OnnxOp) -> Iterator[Blocked]:
        name, target = op.op_type, self._target
        for key, allowed in target.attributes.get(name, {}).items():
            said = op.attribute(key)
            if said is not None and not all(one in allowed for one in _values(said)):
                shown = ", ".join(map(str, allowed))
                yield Blocked("attribute", f"{target.name} takes only {key} = {shown}", OTHER_MODEL)
        for what, given, most in (
            ("inputs", _last(op.inputs), target.most_inputs.get(name)),
            ("outputs", _last(op.outputs), target.most_outputs.get(name)),
        ):
            if most is not None and given > most:
                first = f"its first {what.rstrip('s')}" if most == 1 else f"the first {most} of its {what}"
                yield Blocked("attribute", f"{target.name} takes only {first}", OTHER_MODEL)
        needed = target.needed_inputs.get(name, ())
        if any(op.input(place) is None for place in needed):
            shown = ", ".join(map(str, needed))
            yield Blocked("attribute", f"{target.name} takes it only with its inputs {shown}", OTHER_MODEL)
        ranks, rank = target.ranks.get(name), rank_of(op.operands[0]) if op.operands else None
        if ranks is not None and rank is not None and rank not in ranks:
            shown = ", ".join(map(str, ranks))
            yield Blocked("attribute", f"{target.name} takes only tensors of rank {shown}", OTHER_MODEL)
        for place in target.constants.get(name, ()):
            value = op.input(place)
            if value is not None and not is_constant(value):
                message = f"{target.name} takes only a constant as its input {place}"
                yield Blocked("computed-parameter", message, OTHER_MODEL)


def _instead(op: OnnxOp) -> str:
    """What a user can do about an operator that the runtime does not have, of which no pass said why it is there."""
    if form_of(type(op), Decomposes) is not None:
        return f"--decompose {op.op_type}, at --exactness close"
    if form_of(type(op), StandsFor) is not None:
        return "allow --exactness close"
    work = op.get_trait(SumsProducts)
    is_integer = work is not None and work.numbers(op) is Numbers.INTEGER
    return CALIBRATE if is_integer or op.get_trait(QuantizesAtRunTime) is not None else OTHER_OPS


def _is_cast(op: OnnxOp) -> bool:
    return op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None


def _values(said: Attribute) -> tuple[object, ...]:
    """The numbers or words of an attribute; none for graphs and tensors."""
    match said:
        case IntegerAttr() | FloatAttr():
            return (said.value.data,)
        case StringAttr():
            return (said.data,)
        case DenseArrayBase():
            return tuple(numbers(said))
        case _:
            return ()


def _last(values: Sequence[SSAValue | None]) -> int:
    """The number of values up to the last one that is not left out."""
    return max((k for k, value in enumerate(values, 1) if value is not None), default=0)
