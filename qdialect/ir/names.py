"""ONNX's names are locations: `loc(fused["node", "tensor", ...])`, one tensor name per result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ir.insertion import remove
from qdialect.ir.walking import operations

QUANTIZED = "_quantized"
"""Ending of the name of stored integers, behind that of the real numbers."""

_NONE = NoneAttr()


def location(node: str, tensors: Sequence[str] = ()) -> LocationAttr:
    """The location of an operation made from node `node`, whose outputs are called `tensors`."""
    return FusedLoc(ArrayAttr([NameLoc(StringAttr(name), _NONE) for name in (node, *tensors)]), _NONE)


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
    """Names, each given once: an existing one to whom claims it first, others by `fresh` in constant time."""

    def __init__(self, existing: Iterable[str] = ()) -> None:
        self._unclaimed = set(existing)
        self._taken = set(self._unclaimed)
        self._counts: dict[str, int] = {}

    def take(self, *names: str) -> None:
        """Reserve names: nobody else gets one."""
        self._taken.update(names)
        self._unclaimed.difference_update(names)

    def claim(self, name: str) -> str:
        """`name` if it exists and nobody has claimed it yet, else a fresh one."""
        if name not in self._unclaimed:
            return self.fresh(name)
        self._unclaimed.remove(name)
        return name

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


def merge_constants(module: ModuleOp) -> None:
    """Merge equal constants of a block that have one name, and equal scales or zero points of one element."""
    known: dict[tuple[object, ...], list[ConstantOp]] = {}
    for op in operations(module):
        if not isinstance(op, ConstantOp) or op.value is None or not (name := tensor_name(op)):
            continue
        key: tuple[object, ...] = (op.parent, name, op.results[0].type)
        if op.value.data.count == 1 and name.endswith(PARAMETERS):
            key = (op.parent, name.endswith(PARAMETERS[0]), op.results[0].type, op.value.array().tobytes())
        others = known.setdefault(key, [])
        same = next((other for other in others if other.value == op.value), None)
        if same is None:
            others.append(op)
        else:
            op.results[0].replace_all_uses_with(same.results[0])
            remove(op)


def settle_names(module: ModuleOp) -> None:
    """
    Give each result a name of its own, by which reports and new values call it. Outputs have the names that their graph
    states; another name stays with the first tensor that has it, with a constant only if no computed one has it.

    Results of dequantizes and storage casts are called after their operands.
    """
    ops = [op for op in operations(module) if type(op) not in (DequantizeOp, StorageCastOp)]
    constants = [op for op in ops if type(op) is ConstantOp]
    computed = [op for op in ops if type(op) is not ConstantOp]
    names = UniqueNames(name for op in ops for name in tensor_names(op))
    outputs = _stated_outputs(ops, names)

    def own(result: SSAValue, name: str) -> str:
        return outputs.get(result) or (names.claim(name) if name else names.fresh(wish(result)))

    for op in computed:
        _rename(op, [own(*row) for row in zip(op.results, result_names(op), strict=True)])
    shared: dict[str, tuple[TensorAttr | None, str]] = {}
    """By name, the value of a constant and its settled name: its bytes may be read as several types."""
    for op in constants:
        name = tensor_name(op)
        value, settled = shared.get(name, (None, ""))
        if not settled or not name or value != op.value:
            settled = own(op.results[0], name)
            shared.setdefault(name, (op.value, settled))
        _rename(op, [settled])


def _rename(op: Operation, names: list[str]) -> None:
    """Name the results of `op`; names of nodes that it stands for follow as before. A place in a text stays."""
    old = tensor_names(op)
    names += old[len(names) :]
    if names != old and (op.location is UNKNOWN_LOC or isinstance(op.location, FusedLoc | NameLoc)):
        op.location = location(node_name(op), names)


def _stated_outputs(ops: Sequence[Operation], names: UniqueNames) -> dict[SSAValue, str]:
    """The names that graphs and subgraphs state for their outputs; those of graphs, and of their inputs, are taken."""
    outputs: dict[SSAValue, str] = {}
    ends = [op for op in ops if isinstance(op, ReturnOp)] + [op for op in ops if isinstance(op, YieldOp)]
    for end in ends:
        around = end.parent_op()
        if isinstance(end, ReturnOp) and isinstance(around, FuncOp):
            stated = stated_names(around.res_attrs)
            names.take(*stated_names(around.arg_attrs), *stated)
        else:
            stated = [
                names.claim(name) if name else "" for name in stated_names(end.attributes.get("onnx.outputs"))
            ]
        for value, name in zip(map(stored_value, end.operands), stated, strict=False):
            if isinstance(value, OpResult) and value.op.parent is end.parent:
                outputs.setdefault(value, name)
    return outputs


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
