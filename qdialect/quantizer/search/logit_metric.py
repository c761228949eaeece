"""
Decisive tensors of classifiers: the operand of a final Softmax, whose results saturate at 0 and 1.

On a few samples of a confident classifier, the results have no noise whatever is rounded, or that of a single uncertain
sample. The logits have noise in every sample, but also that of irrelevant classes: so they are compared after another
Softmax, at a temperature at which no sample is certain (Hinton et al. 2015, arXiv 1503.02531, section 2). For a model
that returns only the index of the largest class, the operand of its ArgMax or TopK is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import shape_of
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import main_of
from qdialect.ir.values import is_float32
from qdialect.numerics import Array
from qdialect.promises.base import Commutes
from qdialect.promises.elementwise import KnownRange


def decided(module: ModuleOp) -> frozenset[int]:
    """Indices of graph outputs that are class probabilities: one row for each sample."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_row_of_shares(value))


def chosen(module: ModuleOp) -> frozenset[int]:
    """Indices of graph outputs that are indices of the largest elements of a float tensor."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_choice(value))


def _is_choice(value: SSAValue) -> bool:
    op = value.owner
    promise = promise_of(op, Commutes)
    if promise is None or not isinstance(op, OnnxOp) or not promise.selects or promise.results(op):
        return False
    return list(promise.operands(op)) == [0] and is_float32(op.operands[0])


def _is_row_of_shares(value: SSAValue) -> bool:
    op = value.owner
    known = promise_of(op, KnownRange)
    if known is None or not known.shares or not is_float32(value) or not is_float32(op_operand(value)):
        return False
    shape = shape_of(value.type)
    return shape is not None and sum(size != 1 for size in shape[1:]) == 1


def op_operand(value: SSAValue) -> SSAValue:
    """The first operand of the operation that defines a value. TypeError for an argument."""
    if not isinstance(value.owner, OnnxOp):
        raise TypeError("an argument is made by no operator")
    return value.owner.operands[0]


def output_decisive_tensors(module: ModuleOp, places: Iterable[int]) -> ModuleOp:
    """Replace outputs `places`, probabilities or indices, by their decisive tensors, in place; returns the module."""
    func = main_of(module)
    end = end_of(func.body.block, ReturnOp)
    for k in places:
        end.operands[k] = op_operand(end.operands[k])
    func.update_function_type()
    return module


def softened(
    expected: Sequence[Sequence[Array]],
    results: Sequence[Sequence[Array]],
    places: Iterable[int],
    *,
    sure: bool = False,
) -> list[list[list[Array]]]:
    """
    Two models' outputs for some samples, with the logits at `places` replaced by softened probabilities.

    The temperature is the standard deviation of the expected logits within rows, (classes,) each; sure: 1, as
    in the model.
    """
    both = [[list(row) for row in rows] for rows in (expected, results)]
    for k in places:
        centred = [_centred(row[k]) for row in expected]
        squares = sum(float(np.square(rows).sum()) for rows in centred)
        deviation = np.sqrt(squares / max(sum(rows.size for rows in centred), 1))
        temperature = 1.0 if sure else deviation or 1.0
        for rows in both:
            for row in rows:
                hot = _centred(row[k]) / temperature
                powers = np.exp(hot - hot.max(axis=1, keepdims=True))
                row[k] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return both


def _centred(array: Array) -> Array:
    rows = array.reshape(array.shape[0], -1).astype(np.float64)
    return rows - rows.mean(axis=1, keepdims=True)
