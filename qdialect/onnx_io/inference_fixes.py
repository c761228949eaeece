"""
Nodes that onnx's inference of a node gets wrong, as others that it infers right.

A pool whose last window would start behind its operand: with `ceil_mode`, inference counts such a window before opset
22; what every runtime computes lacks it, as ONNX's operators.md says of MaxPool. Negative axes before opset 11:
inference ignores those of Squeeze and Unsqueeze, and stops at others; onnxruntime counts them from the last axis in all
opsets. A node of a later opset has the sizes that are computed. A Squeeze with an empty list of axes: inference removes
none, a session all of size 1, as without a list. A function without an inference of its own is inferred as its newest
version, which has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, TypeProto
    from onnx.defs import OpSchema

EXACT_POOLS = 22
"""The first opset whose inference leaves such a window out."""
NEGATIVE_AXES = 11
"""The first opset in which axes may be counted from the last."""


def infer_node(
    node: NodeProto, types: Mapping[str, TypeProto], constants: Mapping[str, TensorProto], opset: int
) -> dict[str, TypeProto]:
    """
    The types of a node's results by name, from the types and the constants among its inputs.

    Raises onnx's errors if it fails. Versions of functions that say no shape but by their bodies, as GreaterOrEqual
    before opset 16, are inferred as the op's newest.
    """
    from onnx import OperatorSetIdProto, shape_inference
    from onnx.defs import get_schema

    def infer(schema: OpSchema, opset: int) -> dict[str, TypeProto]:
        imports = [OperatorSetIdProto(version=opset)]
        return shape_inference.infer_node_outputs(
            schema, node, dict(types), dict(constants), opset_imports=imports
        )

    schema = get_schema(node.op_type, opset, "")
    inferred = infer(schema, opset)
    is_function = schema.has_function  # pyright: ignore[reportAttributeAccessIssue] # not in onnx's stubs
    if is_function and not all(type.tensor_type.HasField("shape") for type in inferred.values()):
        newest = get_schema(node.op_type)
        return infer(newest, newest.since_version)
    return inferred


def _is_node_of(node: NodeProto, opset: int) -> bool:
    """True if a node of ONNX's own is one of `opset` too, by its number of inputs and the names of its attributes."""
    from onnx.defs import get_schema, has

    if not has(node.op_type, opset, ""):
        return False
    schema = get_schema(node.op_type, opset, "")
    is_count = schema.min_input <= len(node.input) <= schema.max_input
    return is_count and all(a.name in schema.attributes for a in node.attribute)


def later_opset(node: NodeProto, opset: int) -> int | None:
    """The opset whose inference reads a node as it is computed; None if its own does."""
    if node.domain not in ("", "ai.onnx"):
        return None
    if opset < EXACT_POOLS and _leaves_windows_out(node):
        return EXACT_POOLS
    return NEGATIVE_AXES if opset < NEGATIVE_AXES and _counts_from_the_last(node) else None


def _counts_from_the_last(node: NodeProto) -> bool:
    """True for a node with negative axes, if it is one of opset 11 too."""
    axes = [n for a in node.attribute if a.name in ("axis", "axes") for n in (a.i, *a.ints)]
    return min(axes, default=0) < 0 and _is_node_of(node, NEGATIVE_AXES)


def _leaves_windows_out(node: NodeProto) -> bool:
    """True if the last window of a pool may start behind the operand: padding and stride exceed it."""
    if len(node.input) != 1:
        return False
    numbers = {a.name: a.i for a in node.attribute}
    lists = {a.name: list(a.ints) for a in node.attribute}
    kernel = lists.get("kernel_shape", [])
    strides, dilations = (lists.get(name) or [1] * len(kernel) for name in ("strides", "dilations"))
    behind = (lists.get("pads") or [0] * 2 * len(kernel))[len(kernel) :]
    rows = zip(kernel, strides, dilations, behind, strict=False)
    return numbers.get("ceil_mode") == 1 and any(p + s > d * (k - 1) + 1 for k, s, d, p in rows)


def drop_empty_axes(node: NodeProto, constants: Mapping[str, TensorProto]) -> None:
    """Remove an empty list of axes from a Squeeze. constants: the values of its inputs that are known."""
    if node.op_type != "Squeeze" or node.domain not in ("", "ai.onnx"):
        return
    listed = [a for a in node.attribute if a.name == "axes" and not a.ints]
    if listed or any(0 in constants[name].dims for name in node.input[1:2] if name in constants):
        del node.input[1:], node.attribute[:]
