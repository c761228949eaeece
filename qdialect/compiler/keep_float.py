"""Nodes by name, and what is kept in float: by the name of the node or of its results, with wildcards `*` and `?`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.errors import UserError, nearest
from qdialect.ir.names import node_name, stated_names, tensor_names
from qdialect.ir.walking import operations
from qdialect.reasons import Blocked
from qdialect.rewriting.journal import KEPT, keep


def _input_names(module: ModuleOp) -> set[str]:
    """ONNX names of the graph's inputs."""
    funcs = (func for func in module.ops if isinstance(func, FuncOp))
    return {name for func in funcs for name in stated_names(func.arg_attrs) if name}


def _pattern(name: str) -> re.Pattern[str]:
    """The regular expression of a name with wildcards `*` and `?`."""
    return re.compile(re.escape(name).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def _unknown(module: ModuleOp, name: str, known: set[str]) -> UserError:
    if name in _input_names(module):
        return UserError(
            f"'{name}' is a graph input, not the result of a node", "name the node that takes it"
        )
    near = nearest(name, known, 3)
    fix = (
        f"near are {', '.join(near)}"
        if near
        else "give names in the model; * matches any text, ? one character"
    )
    return UserError(f"no node or tensor is called '{name}'", fix)


def named_nodes(module: ModuleOp, names: Sequence[str]) -> list[Operation]:
    """
    The nodes with these names, or with results of these names. In a name that no node has, `*` matches any text and
    `?` one character. Raises UserError for a name that matches no node, or a constant alone.
    """
    if not names:
        return []
    own = {op: {name for name in (node_name(op), *tensor_names(op)) if name} for op in operations(module)}
    known = set[str]().union(*own.values())
    patterns = {name: _pattern(name) for name in names if name not in known and ("*" in name or "?" in name)}
    nodes: list[Operation] = []
    kept: set[str] = set()
    constants: set[str] = set()
    for op, called in own.items():
        hit = called.intersection(names)
        if isinstance(op, ConstantOp):  # it may have the name of the node that it was folded for
            constants |= hit
            continue
        hit |= {name for name, pattern in patterns.items() if any(map(pattern.fullmatch, called))}
        if hit:
            kept |= hit
            nodes.append(op)
    if constants - kept:
        name = min(constants - kept)
        raise UserError(f"'{name}' is a constant, not the result of a node", "name the node that takes it")
    if missing := sorted(set(names) - kept):
        raise _unknown(module, missing[0], known)
    return nodes


def keep_in_float(module: ModuleOp, names: Sequence[str], because: Blocked = KEPT) -> None:
    """
    Mark nodes to be kept in float, for a reason; all or none. Raises UserError for a name that is no node's and no
    tensor's.
    """
    for op in named_nodes(module, names):
        keep(op, because)
