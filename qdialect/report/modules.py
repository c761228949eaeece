"""The module of a network that a node comes from, as its exporter noted it in the node's metadata or its name."""

from __future__ import annotations

import re
from itertools import pairwise

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from qdialect.ir.names import node_name

SCOPES = "pkg.torch.onnx.name_scopes"
"""Key of PyTorch's exporter: `['', 'body', 'body.0', 'conv2d']`, the modules around a node, then a name of its own."""
NAMESPACE = "namespace"
"""The same with classes: `: net.Net/body: Sequential/body.0: Conv2d/conv2d: aten.conv2d.default`."""


def module_of(op: Operation) -> tuple[str, ...]:
    """The path of the module that a node comes from, as `("body", "0")`; empty if nothing tells."""
    metadata = op.attributes.get("onnx.metadata")
    notes = metadata.data if isinstance(metadata, DictionaryAttr) else {}
    if isinstance(scopes := notes.get(SCOPES), StringAttr):
        return _innermost(re.findall(r"'([^']*)'", scopes.data)[:-1])
    if isinstance(space := notes.get(NAMESPACE), StringAttr):
        return _innermost(re.findall(r"(?:^|/)([^/:]*): ", space.data)[:-1])
    return _of_name(node_name(op))


def _innermost(scopes: list[str]) -> tuple[str, ...]:
    return tuple(part for part in scopes[-1].split(".") if part) if scopes else ()


def _of_name(name: str) -> tuple[str, ...]:
    """The modules in a name as `/body/body.0/conv/Conv`, where PyTorch's older exporter repeats the outer ones."""
    scopes = [part for part in name.split("/")[:-1] if part]
    parts = scopes[:1] + [part.removeprefix(f"{around}.") for around, part in pairwise(scopes)]
    return tuple(one for part in parts for one in part.split(".") if one)
