"""New operations, not inserted yet: named constants, and copies of operations on other operands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import stored_type, tensor_type
from qdialect.dialects.quant import StorageCastOp
from qdialect.ir.names import location


def constant_op(
    values: npt.ArrayLike, name: str | None = None, element: Attribute | None = None
) -> ConstantOp:
    """A constant. name: of its tensor; None leaves it to the driver. element: its type, if `values` are integers."""
    array = np.asarray(values)
    new = ConstantOp.of(from_array(array), None if element is None else tensor_type(element, array.shape))
    if name is not None:
        new.location = location("", [name])
    return new


def read_as(value: SSAValue, type: Attribute) -> list[StorageCastOp]:
    """The two storage casts that read the integers of a quantized value as another type of the same storage."""
    plain = StorageCastOp(value, stored_type(value.type))
    return [plain, StorageCastOp(plain.results[0], type)]


def copied(op: OnnxOp, operands: Sequence[SSAValue], result_types: Sequence[Attribute]) -> OnnxOp:
    """A copy of an operation without subgraphs on other operands, with other result types."""
    return op.__class__.create(
        operands=operands, result_types=result_types, properties=op.properties, attributes=op.attributes
    )
