"""`Builder`: builds the parts of an operation, each named after the operation and its role in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, Region, SSAValue

from qdialect.dialects.onnx_attributes import int_attr, ints_attr
from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import known_element, known_shape, tensor_type
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import called, location
from qdialect.ops.generated import op_named

AXES_AS_INPUT = 13
"""The first opset whose Squeeze and Unsqueeze take their axes as an operand."""
SPLIT_INTO = 18
"""The first opset whose Split has the attribute `num_outputs`."""


class Builder(Nodes):
    """
    New operations that replace `whole`, in order.

    A part is named after `whole` and its role there; a shape is a tuple with DYNAMIC for unknown sizes.
    """

    def __init__(self, whole: OnnxOp, prefix: str = "", opset: int = 0):
        self.prefix = prefix or called(whole)
        self.opset = opset or onnx_opset(whole)
        self._whole = whole
        super().__init__()

    def within(self, part: str = "") -> Builder:
        """A builder for a subgraph; its names are prefixed with `part`."""
        return Builder(self._whole, f"{self.prefix}/{part}" if part else self.prefix, self.opset)

    def all(
        self,
        name: str,
        inputs: Sequence[SSAValue | None],
        types: Sequence[Attribute],
        attributes: Mapping[str, Attribute] | None = None,
        roles: Sequence[str] = (),
        regions: Sequence[Region] = (),
    ) -> list[SSAValue]:
        """The results of a new ONNX op, named after their `roles`; the node is named after the first."""
        op = op_named("", name).build(inputs, types, attributes, regions)
        if roles:
            names = [f"{self.prefix}/{role}" for role in roles]
            op.location = location(names[0], names)
        self.ops.append(op)
        return list(op.results)

    def one(
        self,
        name: str,
        inputs: Sequence[SSAValue | None],
        shape: Sequence[int] | None = None,
        role: str = "",
        element: Attribute | None = None,
        **attributes: Attribute,
    ) -> SSAValue:
        """The result of a new ONNX op, of the first operand's type unless `shape` or `element` override it."""
        first = next(value for value in inputs if value is not None)
        sizes = known_shape(first.type) if shape is None else tuple(shape)
        type = tensor_type(element or known_element(first.type), sizes)
        return self.all(name, inputs, [type], attributes, [role] if role else ())[0]

    def unsqueeze(self, value: SSAValue, axis: int, shape: Sequence[int]) -> SSAValue:
        """`value` with an axis of size 1 in front of `axis`."""
        if self.opset < AXES_AS_INPUT:
            return self.one("Unsqueeze", [value], shape, axes=ints_attr((axis,)))
        return self.one("Unsqueeze", [value, self.constant(np.array([axis]))], shape)

    def pick(self, value: SSAValue, index: int) -> SSAValue:
        """Element `index` along the first axis, which is removed."""
        shape = known_shape(value.type)
        place = self.constant(np.array(index))
        return self.one("Gather", [value, place], shape[1:], axis=int_attr(0))

    def split(self, value: SSAValue, parts: int, axis: int, roles: Sequence[str] = ()) -> list[SSAValue]:
        """`value` split into equal parts along `axis`."""
        shape = list(known_shape(value.type))
        if parts == 1:
            return [value]
        shape[axis] //= parts
        attributes = {"axis": int_attr(axis)}
        if self.opset >= SPLIT_INTO:
            attributes["num_outputs"] = int_attr(parts)
        return self.all("Split", [value], [self.like([value], shape)] * parts, attributes, roles)
