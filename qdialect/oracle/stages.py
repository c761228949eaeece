"""
`--check-numerics` behind `lower-to-tosa`: each op between casts against what it became in the integer profile.

A stage is what one op became, up to the tensor that holds its result. It starts from the numbers that onnxruntime had
for the op's operands (`oracle/form.py`), is computed in the integer-only arithmetic (`oracle/integer.py`), and its
result compared with what onnxruntime had for the op's: so what one stage rounds otherwise does not add up in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.tosa.base import TosaOp
from qdialect.forms.upstream import TO_LAST
from qdialect.numerics import Array
from qdialect.oracle.form import main_of
from qdialect.oracle.integer import stored_bytes, value_of
from qdialect.rewriting.records import Laid

Known = Callable[[SSAValue], Array | None]
"""What onnxruntime had for a value of the module before the pass, as stored; None if it had nothing."""


class Stage(NamedTuple):
    """What one op became."""

    op: Operation
    """The last operation of it."""
    value: SSAValue
    """What it made in front of the pass."""
    expected: Array
    """What onnxruntime has for that; as is `got`, with its axes where ONNX has them."""
    got: Array
    """What the integer-only arithmetic makes, as many bits signed or not."""


def stages(
    module: ModuleOp, feeds: Sequence[Array], lowered: Mapping[SSAValue, Laid], known: Known
) -> Iterator[Stage]:
    """
    The stages of a module that `lower-to-tosa` has written, in order. feeds: its inputs in order. `lowered`: what each
    tensor holds. What follows an op that stays is computed from what onnxruntime had for the op's results.

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
            yield Stage(op, laid.value, expected, _plain(values[result], order).view(expected.dtype))
            values[result] = stored_bytes(expected.transpose(order))


def _plain(array: Array, order: Sequence[int]) -> Array:
    """A tensor of which axis k is axis `order[k]` of ONNX's, in ONNX's order."""
    return np.ascontiguousarray(array.transpose(np.argsort(order)))
