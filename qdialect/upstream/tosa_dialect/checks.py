"""
Constraints of the TOSA 1.0 specification on operations of its integer profile, pro_int, at level 8K.

The constraints T1, T2, ... are numbered in docs/spec.md; each is an ERROR_IF of the specification's pseudocode, a row
of its tables of types, or a limit of the level.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.upstream.tosa_dialect.types import ShapeType

MAX_RANK = 6
"""Greatest rank at level 8K, whose limits the next two are as well."""
MAX_KERNEL = 8192
MAX_STRIDE = 8192
LARGEST_IMAGE = 16384
LARGEST_NUMERATOR = 1 << 11
"""Greatest numerator of a Resize's scale, which keeps the interpolation of 8-bit images in 32 bits."""


def require(holds: bool, message: str) -> None:
    """Raise VerifyException with `message` unless `holds`."""
    if not holds:
        raise VerifyException(message)


def sizes(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor, checked to be static, of rank 6 at most and without sizes of 0."""
    type = value.type
    if not isinstance(type, TensorType) or DYNAMIC in (shape := type.get_shape()):  # T1
        raise VerifyException(f"a tensor of sizes that are known is expected, got {type}")
    require(len(shape) <= MAX_RANK, f"rank {len(shape)} is above {MAX_RANK}")  # T2
    require(0 not in shape, f"a size of {type} is 0")  # T2
    return shape


def element(value: SSAValue) -> str:
    """The name of a tensor's element type; `shape` for a `!tosa.shape`."""
    if isinstance(value.type, ShapeType):
        count = value.type.rank.data
        require(count <= MAX_RANK, f"a list of {count} sizes is above {MAX_RANK}")  # T2
        return "shape"
    sizes(value)
    return str(value.type.element_type) if isinstance(value.type, TensorType) else str(value.type)


def values_of(value: SSAValue) -> list[int] | None:
    """The integers of a small constant; None if the value is computed."""
    owner = value.owner
    values = owner.properties.get("values") if isinstance(owner, Operation) else None
    if not isinstance(values, DenseIntOrFPElementsAttr) or not is_constant(value):
        return None
    integers = [int(v) for v in values.get_values()]
    return integers * prod(values.get_shape()) if len(integers) == 1 else integers


def is_constant(value: SSAValue) -> bool:
    """True if a value is a `tosa.const` or `tosa.const_shape`."""
    return isinstance(value.owner, Operation) and value.owner.name in ("tosa.const", "tosa.const_shape")


def attribute_ints(attribute: Attribute) -> tuple[int, ...]:
    """The elements of a dense array."""
    return tuple(int(v) for v in attribute.iter_values()) if isinstance(attribute, DenseArrayBase) else ()


def check_types(op: Operation, rows: Sequence[str], same: bool = False) -> None:
    """T3: the element types are a row of the table. same: any number of operands, all of one element type."""
    operands = [element(v) for v in op.operands]
    if same:
        require(len(set(operands)) == 1, f"the operands have several element types: {', '.join(operands)}")
        operands = operands[:1]
    row = f"{' '.join(operands)} -> {element(op.results[0])}"
    require(row in rows, f"{row} is no combination of types of the profile pro_int")


def check_ranks(ranks: Sequence[tuple[str, SSAValue, int]]) -> None:
    """T4: each value has its rank. ranks: (name, value, rank)."""
    for name, value, rank in ranks:
        actual = len(sizes(value))
        require(actual == rank, f"{name} has rank {rank}, not {actual}")


def check_range(name: str, value: int, low: int, high: int, axis: str) -> None:
    """Raise VerifyException unless low <= value < high."""
    require(low <= value < high, f"the {name} {value} along {axis} is out of range")


def check_constants(values: Sequence[tuple[str, SSAValue]]) -> None:
    """T5: operands that must be compile-time constants. values: (name, value)."""
    for name, value in values:
        require(is_constant(value), f"{name} is a constant")


def check_zero_point(name: str, zero_point: SSAValue, of: SSAValue) -> None:
    """T6: a zero point is one element of the type of tensor `of`, and 0 unless that type has 8 bits."""
    require(sizes(zero_point) == (1,), f"{name} has one element, not {list(sizes(zero_point))}")
    require(element(zero_point) == element(of), f"{name} is {element(of)}, not {element(zero_point)}")
    known = values_of(zero_point)
    require(element(of) == "i8" or not known or not any(known), f"{name} is 0 for {element(of)}")


def check_window(
    kernel: Sequence[int],
    pads: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int] = (1, 1),
    least_pad: int = 0,
) -> None:
    """T7: counts and ranges of attributes. kernel, strides, dilations: (y, x); pads: (top, bottom, left, right)."""
    counts = [len(kernel), len(pads), len(strides), len(dilations)]
    require(counts == [2, 4, 2, 2], "a window has two sizes, four pads, two strides and two dilations")
    require(min(kernel) >= 1, f"the kernel {list(kernel)} is below 1")
    require(min(pads) >= least_pad, f"the pads {list(pads)} are below {least_pad}")
    require(min(strides) >= 1, f"the strides {list(strides)} are below 1")
    require(min(dilations) >= 1, f"the dilations {list(dilations)} are below 1")
    widest = max(k * d for k, d in zip(kernel, dilations, strict=True))
    require(max(widest, *pads) <= MAX_KERNEL, f"a kernel or pad is above {MAX_KERNEL}")
    require(max(strides) <= MAX_STRIDE, f"a stride is above {MAX_STRIDE}")


def check_windows_fit(
    image: Sequence[int],
    result: Sequence[int],
    kernel: Sequence[int],
    pads: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int] = (1, 1),
) -> None:
    """T8: each axis's windows divide the padded image, and the result has one pixel for each. image, result: (y, x)."""
    for axis, name in enumerate("yx"):
        span = image[axis] + pads[2 * axis] + pads[2 * axis + 1] - (kernel[axis] - 1) * dilations[axis] - 1
        require(span >= 0, f"the window is larger than the image along {name}")
        remainder = span % strides[axis]
        require(
            not remainder,
            f"{remainder} pixels remain along {name}: the stride {strides[axis]} does not divide {span}",
        )
        expected = span // strides[axis] + 1
        require(result[axis] == expected, f"the result has size {expected} along {name}, not {result[axis]}")


def check_shape(value: SSAValue, expected: Sequence[int], name: str = "the result") -> None:
    """T9: a tensor has the shape that the operands and attributes imply."""
    actual = sizes(value)
    require(actual == tuple(expected), f"{name} has shape {list(expected)}, not {list(actual)}")


def check_broadcast(operands: Sequence[SSAValue], result: SSAValue) -> None:
    """T10: equal ranks, and along each axis equal sizes or 1."""
    shapes = [sizes(v) for v in operands]
    require(len({len(s) for s in shapes}) == 1, "the operands have several ranks")
    expected: list[int] = []
    for axis in range(len(shapes[0])):
        along = {shape[axis] for shape in shapes} - {1}
        require(len(along) <= 1, f"sizes {sorted(along)} meet on axis {axis}")
        expected.append(along.pop() if along else 1)
    check_shape(result, expected)


def axis_of(axis: Attribute, rank: int) -> int:
    """T11: an axis is i32, counted from the front."""
    if not isinstance(axis, IntegerAttr) or axis.type != i32:
        raise VerifyException(f"the axis {axis} is not i32")
    require(0 <= axis.value.data < rank, f"axis {axis.value.data} is out of rank {rank}")
    return axis.value.data


def known_sizes(value: SSAValue, name: str, count: int) -> list[int]:
    """T12: the integers of a constant list of `count` sizes."""
    integers = values_of(value)
    if integers is None:
        raise VerifyException(f"{name} is a constant")
    require(len(integers) == count, f"{name} has {count} entries, not {len(integers)}")
    return integers


def check_dense(values: Any, result: Attribute) -> None:
    """T13: a constant has the element type and the number of elements of its result."""
    if isinstance(result, ShapeType):
        type: Any = values.get_type()
        holds = isinstance(type.get_element_type(), IndexType) and type.get_shape() == (result.rank.data,)
    else:
        holds = values.get_type() == result
    require(holds, f"a value of {values.get_type()} is no {result}")
