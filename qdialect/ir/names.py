"""
ONNX's names are locations: `loc(fused["node", "tensor", ...])`, one tensor name per result.

xDSL's constructors verify, at 20 us an operation; these build operations known to be valid without that.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.insertion import remove
from qdialect.ir.walking import operations

QUANTIZED = "_quantized"
"""Ending of the name of stored integers, behind that of the real numbers."""

_NONE = NoneAttr()


def _name(text: str) -> NameLoc:
    description = StringAttr.__new__(StringAttr)
    object.__setattr__(description, "data", text)
    loc = NameLoc.__new__(NameLoc)
    object.__setattr__(loc, "desc", description)
    object.__setattr__(loc, "location", _NONE)
    return loc


def location(node: str, tensors: Sequence[str] = ()) -> LocationAttr:
    """The location of an operation made from node `node`, whose outputs are called `tensors`."""
    loc = FusedLoc.__new__(FusedLoc)
    array = ArrayAttr.__new__(ArrayAttr)
    object.__setattr__(array, "data", tuple(map(_name, (node, *tensors))))
    object.__setattr__(loc, "locations", array)
    object.__setattr__(loc, "metadata", _NONE)
    return loc


def names_in(loc: LocationAttr) -> list[str]:
    """The names in a location: that of the ONNX node, then those of its results."""
    if isinstance(loc, FusedLoc):  # most are; asked first, as it is fast for an instance of the class itself
        parts = loc.locations.data if isinstance(loc.locations, ArrayAttr) else ()
        return [part.desc.data for part in parts if isinstance(part, NameLoc)]
    return [loc.desc.data] if isinstance(loc, NameLoc) else []


def _name_in(loc: LocationAttr, place: int) -> str:
    """Entry `place` of `names_in`; empty if there are not so many."""
    if place < 2 and type(loc) is FusedLoc and isinstance(loc.locations, ArrayAttr):  # without a list of all
        parts = loc.locations.data
        if place < len(parts) and type(parts[0]) is NameLoc and type(part := parts[place]) is NameLoc:
            return part.desc.data
    names = names_in(loc)
    return names[place] if place < len(names) else ""


def node_name(op: Operation) -> str:
    """The name of the ONNX node that `op` came from; empty if it had none."""
    return _name_in(op.location, 0)


def tensor_names(op: Operation) -> list[str]:
    """The ONNX names of `op`'s results, as many as are known."""
    return names_in(op.location)[1:]


def result_names(op: Operation) -> list[str]:
    """The ONNX name of each result of `op`, empty where it has none."""
    return [*tensor_names(op), *[""] * len(op.results)][: len(op.results)]


def tensor_name(op: Operation, index: int = 0) -> str:
    """The ONNX name of one result; empty if it has none."""
    return _name_in(op.location, index + 1)


def value_name(value: SSAValue) -> str:
    """The ONNX name of a value, as of its tensor in the model; empty if it has none."""
    return tensor_name(value.op, value.index) if isinstance(value, OpResult) else _argument_name(value)


def called(op: Operation) -> str:
    """Name of `op` in messages: its node's name, else its first result's, else the operator's."""
    return node_name(op) or tensor_name(op) or op.name


def stored_value(value: SSAValue) -> SSAValue:
    """The value below any storage casts: it is the same tensor."""
    while isinstance(value, OpResult) and type(value.op) is StorageCastOp:
        value = value.op.operands[0]
    return value


def wish(value: SSAValue) -> str:
    """Preferred name of a value, not yet unique: its tensor's name, else its node's, else its operator's."""
    value = stored_value(value)
    if not isinstance(value, OpResult):
        return _argument_name(value) or value.name_hint or "arg"
    if name := tensor_name(value.op, value.index):
        return name
    source = value.op.operands[0] if isinstance(value.op, QuantizeOp | DequantizeOp) else None
    if source is not None and isinstance(value.op, DequantizeOp):
        return f"{wish(source)}_dequantized"
    if source is not None:
        if isinstance(source.owner, DequantizeOp):
            return f"{wish(source.owner.operands[0])}_requantized"
        return f"{wish(source)}{QUANTIZED}"
    node, op_type = node_name(value.op), value.op.name.rpartition(".")[2]
    name = f"{node}_{op_type}" if node else op_type
    name += f"_{value.index}" if value.index else ""  # one that has a name already may not be the first
    # The name without an ending is that of the op's real numbers.
    return name if quantized_of(value.type) is None else f"{name}{QUANTIZED}"


def _argument_name(value: SSAValue) -> str:
    """The name of a graph's or subgraph's input; empty for other values."""
    if not isinstance(value, BlockArgument):
        return ""
    names = _inputs(value.owner)
    return names[value.index] if value.index < len(names) else ""


def _inputs(block: Block) -> list[str]:
    """The names stated for a graph's or subgraph's inputs."""
    around, end = block.parent_op(), block.last_op
    if isinstance(around, FuncOp):
        return stated_names(around.arg_attrs)
    return [] if end is None else stated_names(end.attributes.get("onnx.inputs"))


class UniqueNames:
    """A set of taken names; `fresh` gives a new one in constant time."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def take(self, *names: str) -> None:
        """Reserve names."""
        self._taken.update(names)

    def fresh(self, wish: str) -> str:
        """`wish`, or if that is taken `wish_1`, `wish_2`, ...; reserved."""
        name, k = wish, self._counts.get(wish, 0)
        while name in self._taken:
            k += 1
            name = f"{wish}_{k}"
        self._counts[wish] = k
        self._taken.add(name)
        return name


PARAMETERS = ("_scale", "_zero_point")
"""Suffixes of the names of constant scales and zero points."""
_COUNTS = re.compile(r"(_[0-9]+)+$")
"""Suffix that `UniqueNames` appends to a taken name."""


def merge_constants(module: ModuleOp) -> None:
    """
    Merge equal constants of one name: scales that several passes have written for one tensor, or that the model had
    for a node which no pass reads.
    """
    known: dict[tuple[Block, str], list[ConstantOp]] = {}
    for op in operations(module):
        if not isinstance(op, ConstantOp) or op.value is None or op.parent is None:
            continue
        others = known.setdefault((op.parent, tensor_name(op)), [])
        type = op.results[0].type
        same = next((o for o in others if o.results[0].type == type and o.value == op.value), None)
        if same is None or not tensor_name(op):
            others.append(op)
            continue
        op.results[0].replace_all_uses_with(same.results[0])
        remove(op)


def merge_parameters(module: ModuleOp) -> None:
    """
    Merge equal per-tensor scales, and equal zero points, into the one that is read first: several passes write them, in
    another order when the written model is compiled again.
    """
    first: dict[tuple[object, ...], SSAValue] = {}
    for op in operations(module):
        for place, operand in enumerate(op.operands if op.results else ()):
            key = _parameter(operand)
            same = operand if key is None else first.setdefault(key, operand)
            if same is operand:
                continue
            op.operands[place] = same
            if operand.first_use is None and isinstance(operand, OpResult):
                remove(operand.op)


def _parameter(value: SSAValue) -> tuple[object, ...] | None:
    """Key of a per-tensor scale or zero point: its value and its block; None for other values."""
    constant = value.owner
    if not isinstance(constant, ConstantOp) or not (suffix := _suffix(constant)):
        return None
    tensor = constant.value
    if tensor is None or tensor.data.count != 1:
        return None
    return constant.parent, suffix, value.type, tensor.array().tobytes()


def _suffix(constant: ConstantOp) -> str:
    """The suffix of `PARAMETERS` that the name of a constant has; empty if it has none."""
    name = tensor_name(constant)
    if name[-1:].isdigit():
        name = _COUNTS.sub("", name)
    return next(one for one in PARAMETERS if name.endswith(one)) if name.endswith(PARAMETERS) else ""


def is_parameter(op: Operation) -> bool:
    """True for a constant with the name of a scale or zero point."""
    return type(op) is ConstantOp and op.value is not None and bool(_suffix(op))


FLIPPED = re.compile("_[iu]8$")
"""Suffix of the name of a constant whose signedness was changed."""


def flipped_name(name: str, storage: str = "") -> str:
    """The name of a constant retyped to `storage`, `i8` or `u8`; without `storage`, the name common to both."""
    plain = FLIPPED.sub("", name)
    return f"{plain}_{storage}" if plain and storage else plain


_OF_OTHERS = (DequantizeOp, StorageCastOp)
"""Casts whose results are named after their operands."""


def settle_names(module: ModuleOp, *, parameters: bool = False) -> None:
    """
    Give each result the name that it is written under, so that names derived from it are the same when the written
    model is compiled again. Names of existing tensors come first: none goes to another tensor. parameters: True to
    name scales and zero points too, which several passes write, by the order in which they stand.
    """
    ops, known = operations(module), UniqueNames()
    scales = set(filter(is_parameter, ops))
    settled = _settled(ops, scales, known)
    for op in ops:
        if not parameters and op in scales:
            continue
        ours = op.location is UNKNOWN_LOC or isinstance(op.location, FusedLoc | NameLoc)
        if op.results and ours and (type(op) not in _OF_OTHERS or op.results[0] in settled):
            old, new = tensor_names(op), [settled.get(r) or known.fresh(wish(r)) for r in op.results]
            new += old[len(new) :]  # of nodes that the op stands for
            if new != old:
                helps = isinstance(op, QuantizeOp) and not any(old)
                op.location = location(f"{new[0]}_QuantizeLinear" if helps else node_name(op), new)


def settle_nodes(module: ModuleOp) -> None:
    """
    Give nodes of one name names of their own, as the file has them. Results without a name are named after their
    node, so this comes first, but only when no move of elements can go any more.
    """
    taken: set[str] = set()
    others: list[tuple[Operation, str]] = []
    for op in operations(module):
        if type(op) not in (ConstantOp, YieldOp) and isinstance(op, OnnxOp) and (name := node_name(op)):
            if name in taken:
                others.append((op, name))
            taken.add(name)
    fresh = UniqueNames(taken).fresh
    for op, name in others:
        op.location = location(fresh(name), tensor_names(op))


class _Claims:
    """The names that results have: each goes to the first that claims it, and to no other tensor."""

    def __init__(self, ops: Sequence[Operation], scales: Container[Operation], names: UniqueNames) -> None:
        ends = (op for op in ops if type(op) is YieldOp)
        yielded = {
            stored_value(value) for op in ends for value in op.operands
        }  # called as the subgraph states
        named = (op for op in ops if type(op) not in _OF_OTHERS and op not in scales)
        rows = (row for op in named for row in zip(result_names(op), op.results, strict=True))
        self._free = {name for name, result in rows if name and result not in yielded}
        self._names = names
        self._constants: dict[tuple[Block | None, str], list[tuple[TensorAttr, str]]] = {}
        names.take(*self._free)

    def fix(self, *names: str) -> None:
        """Take names that the graph states for its inputs and outputs."""
        self._names.take(*names)
        self._free.difference_update(names)

    def claim(self, name: str) -> str:
        """`name`, or a new one if another tensor has it."""
        if name not in self._free:
            return self._names.fresh(name)
        self._free.remove(name)
        return name

    def alike(self, op: Operation, name: str, settled: str = "") -> str:
        """
        The name of the constant `op`, called `name`; empty for other ops. One constant in the file, whatever types its
        integers are read as. settled: its name if that is known.
        """
        if type(op) is not ConstantOp or op.value is None:
            return ""
        others = self._constants.setdefault((op.parent, name), [])
        same = next((as_named for value, as_named in others if value == op.value), "")
        others.append((op.value, settled or same or self.claim(name)))
        return others[-1][1]


def _settled(
    ops: Sequence[Operation], scales: Container[Operation], names: UniqueNames
) -> dict[SSAValue, str]:
    """
    The names of results that have one, or that graphs and subgraphs state for their outputs. Each goes to the first
    that has it; the others get one that no result has. scales: the ops that are parameters.
    """
    settled: dict[SSAValue, str] = {}
    claims = _Claims(ops, scales, names)
    claim = claims.claim

    def enter(block: Block, results: Attribute | None, *, fixed: bool) -> None:
        end = block.last_op
        stated, inputs = stated_names(results), _inputs(block)
        if fixed:
            claims.fix(*inputs, *stated)
        else:
            for name in inputs:
                claim(name or "arg")
            unnamed = [""] * (0 if end is None else len(end.operands) - len(stated))
            stated = [claim(n or "out") for n in [*stated, *unnamed]]
        for value, name in zip(map(stored_value, () if end is None else end.operands), stated, strict=False):
            if isinstance(value, OpResult) and value.op.parent is block:
                settled.setdefault(value, name)
                claims.alike(value.op, name, name)

    for op in ops:
        if type(op) is FuncOp:
            enter(op.body.block, op.res_attrs, fixed=True)
            continue
        for result in () if op in scales else op.results:
            if type(op) not in _OF_OTHERS and (name := tensor_name(op, result.index)):
                settled[result] = settled.get(result) or claims.alike(op, name) or claim(name)
        for block in (block for region in op.regions for block in region.blocks):
            end = block.last_op
            enter(block, None if end is None else end.attributes.get("onnx.outputs"), fixed=False)
    return settled


def stated_names(rows: Attribute | None) -> list[str]:
    """The ONNX names in the attributes of a function's arguments or results, empty where there is none."""
    listed = rows.data if isinstance(rows, ArrayAttr) else ()
    names = [row.data.get("onnx.name") for row in listed if isinstance(row, DictionaryAttr)]
    return [name.data if isinstance(name, StringAttr) else "" for name in names]


def inherited_name(old: SSAValue, new: SSAValue) -> tuple[Operation, LocationAttr] | None:
    """The op of `new`, which replaces `old`, and its location with the name of `old`; None if it has a name."""
    new = stored_value(new)
    if not isinstance(old, OpResult) or not isinstance(new, OpResult) or tensor_name(new.op, new.index):
        return None
    name = tensor_name(old.op, old.index)
    if not name:
        return None
    names = result_names(new.op)
    names[new.index] = name
    node = node_name(new.op) or (node_name(old.op) if type(new.op) is type(old.op) else "")
    return new.op, location(node, names)
