"""
What each operation promises to quantization, stated once, one file per family.

A pass asks an operation for its promise and never lists operations by name: a new op is one entry in one table here,
and every pass knows it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from qdialect.promises.base import Promise

if TYPE_CHECKING:
    from qdialect.dialects.onnx_ops import OnnxOp


@cache
def _tables() -> tuple[dict[tuple[str, str], Promise], ...]:
    from qdialect.promises.affine import AFFINE
    from qdialect.promises.arithmetic import ARITHMETIC
    from qdialect.promises.casts import CASTS
    from qdialect.promises.clamping import CLAMPS, KEEPS
    from qdialect.promises.composition import COMPOSITIONS, DECOMPOSITIONS, JOINS, RANGES
    from qdialect.promises.control import CONTROL
    from qdialect.promises.elementwise import ELEMENTWISE
    from qdialect.promises.filling import FILLING
    from qdialect.promises.foreign import FOREIGN
    from qdialect.promises.homogeneous import HOMOGENEOUS
    from qdialect.promises.integer import INTEGER_SUMS
    from qdialect.promises.kernels import KERNELS
    from qdialect.promises.layout import COPIES, LAYOUT, SIZES
    from qdialect.promises.linear import LINEAR, TRANSPOSED
    from qdialect.promises.monotone import MONOTONE
    from qdialect.promises.padding import PADDING
    from qdialect.promises.qoperator import QOPERATORS
    from qdialect.promises.rewritten import REWRITTEN
    from qdialect.promises.storage import STORAGE_FORMS, STORAGE_READINGS
    from qdialect.promises.weight_only import WEIGHT_ONLY

    return (  # pyright: ignore[reportReturnType]
        AFFINE,
        ARITHMETIC,
        CASTS,
        COMPOSITIONS,
        DECOMPOSITIONS,
        JOINS,
        RANGES,
        LAYOUT,
        COPIES,
        SIZES,
        FILLING,
        CONTROL,
        MONOTONE,
        CLAMPS,
        KEEPS,
        LINEAR,
        TRANSPOSED,
        PADDING,
        KERNELS,
        INTEGER_SUMS,
        STORAGE_FORMS,
        QOPERATORS,
        STORAGE_READINGS,
        HOMOGENEOUS,
        WEIGHT_ONLY,
        ELEMENTWISE,
        FOREIGN,
        REWRITTEN,
    )


def promises_of(domain: str, name: str) -> tuple[Promise, ...]:
    """The promises of an operator."""
    key = (domain, name)
    return tuple(table[key] for table in _tables() if key in table)


def check_quantized(op: OnnxOp) -> None:
    """Raise VerifyException if quantized operands or results break what the op's promise says of them."""
    from qdialect.promises.linear import Linear

    linear = op.get_trait(Linear)
    if linear is not None and (blocked := linear.check(op)) is not None:
        raise VerifyException(blocked.message)
