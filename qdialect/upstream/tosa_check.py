"""
`--check-numerics` after `lower-to-tosa`: each op between casts against its lowering to the integer profile.

A stage is the lowering of one op, up to the tensor that holds its result. It starts from onnxruntime's values of the
op's operands (`evaluation/oracle_form.py`), is computed in the integer-only arithmetic
(`upstream/tosa_interpreter.py`), and its result is compared with onnxruntime's: so rounding differences of stages do
not accumulate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect.forms.geometry import TO_LAST
from qdialect.ir.interface import main_of
from qdialect.numerics import Array
from qdialect.rewriting.records import Laid
from qdialect.upstream.tosa_dialect.base import TosaOp
from qdialect.upstream.tosa_interpreter import stored_bytes, value_of

Known = Callable[[SSAValue], Array | None]
"""onnxruntime's stored elements of a value of the module before the pass; None if there are none."""


class ComparedOp(NamedTuple):
    """The lowering of one op, with expected and actual results."""

    op: Operation
    """The last operation of the stage."""
    value: SSAValue
    """The op's result before the pass."""
    expected: Array
    """onnxruntime's elements of that result; as `got`, in ONNX's order of axes."""
    got: Array
    """The elements by the integer-only arithmetic, of equal width, signed or not."""


def compared_ops(
    module: ModuleOp, feeds: Sequence[Array], lowered: Mapping[SSAValue, Laid], known: Known
) -> Iterator[ComparedOp]:
    """
    The stages of a module after `lower-to-tosa`, in order. feeds: its inputs in order. lowered: the value that each
    tensor holds. Ops behind one that is not lowered are computed from onnxruntime's values of its results.

    Raises UserError if a sum does not fit in 32 bits.
    """
    block = main_of(module).body.block
    values: dict[SSAValue, Array] = {
        argument: stored_bytes(feed) for argument, feed in zip(block.args, feeds, strict=True)
    }
    for op in block.ops:
        if isinstance(op, UnrealizedConversionCastOp):
            if op.operands[0] in values:
                values[op.results[0]] = values[op.operands[0]]
        elif not isinstance(op, TosaOp):
            for value in () if isinstance(op, ReturnOp) else op.results:
                if (array := known(value)) is not None:
                    values[value] = stored_bytes(array)
        elif all(v in values for v in op.operands):
            (result,) = op.results
            values[result] = value_of(op, [values[v] for v in op.operands])
            if (laid := lowered.get(result)) is None or (expected := known(laid.value)) is None:
                continue
            order = TO_LAST if laid.last else range(expected.ndim)
            yield ComparedOp(op, laid.value, expected, _plain(values[result], order).view(expected.dtype))
            values[result] = stored_bytes(expected.transpose(order))


def _plain(array: Array, order: Sequence[int]) -> Array:
    """A tensor in ONNX's order of axes. order: ONNX's axis of each axis of `array`."""
    return np.ascontiguousarray(array.transpose(np.argsort(order)))
