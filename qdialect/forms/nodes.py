"""`Nodes`: a list of new ONNX operations under construction: Transpose, Reshape, constants and any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, Operation, SSAValue

from qdialect.dialects.onnx_attributes import int_attr, ints_attr
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import DYNAMIC, known_element, shape_of, tensor_type
from qdialect.ir.names import location, node_name
from qdialect.ops.generated import op_named

Value = int | Sequence[int] | Attribute
"""An attribute value: an integer for INT, integers for INTS, or an attribute."""


class Nodes:
    """New operations in order, not inserted yet."""

    def __init__(self, op: Operation | None = None):
        """op: the operation after which the new ones are named; if None, or without a name, the driver names them."""
        self.ops: list[Operation] = []
        self._name = None if op is None else node_name(op) or None
        self._ints: dict[tuple[int, ...], SSAValue] = {}

    def add(
        self,
        name: str,
        inputs: Sequence[SSAValue | None],
        result: Attribute | Sequence[int],
        attributes: Mapping[str, Value] | None = None,
        *,
        domain: str = "",
    ) -> SSAValue:
        """
        An operator with one result.

        result: its type, or its shape with the element type of the first input.
        """
        if not isinstance(result, Attribute):
            result = self.like(inputs, result)
        written = {k: _attribute(v) for k, v in (attributes or {}).items()}
        new = op_named(domain, name).build(inputs, [result], written)
        if self._name is not None:
            new.location = location(f"{self._name}_{name.lower()}")
        return self.append(new)

    def append(self, op: Operation) -> SSAValue:
        """Append an operation; its first result."""
        self.ops.append(op)
        return op.results[0]

    def constant(
        self,
        values: npt.ArrayLike,
        dtype: npt.DTypeLike | None = None,
        *,
        name: str = "",
        type: Attribute | None = None,
    ) -> SSAValue:
        """A constant. name: of its tensor; type: its quantized type, if `values` are stored integers."""
        new = ConstantOp.of(from_array(np.asarray(values, dtype)), type)
        if name:
            new.location = location("", [name])
        return self.append(new)

    def ints(self, values: Sequence[int], role: str) -> SSAValue:
        """A constant list of int64, named after `op` and `role`, built once per list."""
        key = tuple(values)
        if key not in self._ints:
            self._ints[key] = self.constant(
                key, np.int64, name="" if self._name is None else f"{self._name}_{role}"
            )
        return self._ints[key]

    def transpose(self, x: SSAValue, perm: Sequence[int], result: Attribute | None = None) -> SSAValue:
        """Transpose: `x` with axis `perm[k]` as axis k. result: its type, if more precise than the permuted one."""
        shape = shape_of(x.type) or (DYNAMIC,) * len(perm)
        return self.add("Transpose", [x], result or [shape[p] for p in perm], {"perm": perm})

    def reshape(self, x: SSAValue, sizes: Sequence[int], result: Attribute | Sequence[int]) -> SSAValue:
        """Reshape of `x`. sizes: the operand `shape`, with -1 for a size to infer unless the result says all."""
        known = (shape_of(result) if isinstance(result, Attribute) else tuple(result)) or (DYNAMIC,)
        listed = known if min(known) > 0 and -1 in sizes else sizes
        return self.add("Reshape", [x, self.constant(listed, np.int64)], result)

    @staticmethod
    def like(inputs: Sequence[SSAValue | None], shape: Sequence[int]) -> Attribute:
        """The tensor type of `shape` with the element type of the first present input."""
        first = next(value for value in inputs if value is not None)
        return tensor_type(known_element(first.type), tuple(shape))


def _attribute(value: Value) -> Attribute:
    if isinstance(value, Attribute):
        return value
    return int_attr(value) if isinstance(value, int) else ints_attr(tuple(value))
