"""
ONNX's names are locations: `loc(fused["node", "tensor", ...])`, one tensor name per result.

xDSL's constructors verify what is known here to be right, at 20 us an operation; these build the same without.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, NameLoc, NoneAttr, StringAttr
from xdsl.ir import Operation

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


def _names(loc: LocationAttr) -> list[str]:
    match loc:
        case NameLoc():
            return [loc.desc.data]
        case FusedLoc():
            parts = loc.locations.data if isinstance(loc.locations, ArrayAttr) else ()
            return [part.desc.data for part in parts if isinstance(part, NameLoc)]
        case _:
            return []


def node_name(op: Operation) -> str:
    """The name of the ONNX node that `op` came from; empty if it had none."""
    names = _names(op.location)
    return names[0] if names else ""


def tensor_names(op: Operation) -> list[str]:
    """The ONNX names of `op`'s results, as many as are known."""
    return _names(op.location)[1:]


def tensor_name(op: Operation, index: int = 0) -> str:
    """The ONNX name of one result; empty if it has none."""
    names = tensor_names(op)
    return names[index] if index < len(names) else ""


def called(op: Operation) -> str:
    """How to name `op` to the user: its node name, else its first result's, else the op."""
    return node_name(op) or tensor_name(op) or op.name
