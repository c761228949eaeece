"""
What decides a class: the operand of a Softmax at the end, whose results say little where they are close to 0 and 1.

A few samples of a sure classifier have no noise in their results whatever is rounded, or that of a single undecided
one. What enters the Softmax has noise in every sample, but also that of classes which nobody asks for: so it goes into
another Softmax, at a temperature at which no sample is sure (Hinton et al. 2015, arXiv 1503.02531, section 2). Where a
model gives out which class is the largest and no float at all, there is noise only in what the classes are chosen from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import shape_of
from qdialect.ir.place import end_of
from qdialect.ir.values import is_float32
from qdialect.numerics import Array
from qdialect.oracle.form import main_of
from qdialect.promises.base import Commutes
from qdialect.promises.joins import KnownRange


def decided(module: ModuleOp) -> frozenset[int]:
    """The outputs of a graph, by their places, that are the shares of classes: one row for each sample."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_row_of_shares(value))


def chosen(module: ModuleOp) -> frozenset[int]:
    """The outputs of a graph, by their places, that say which of the elements of a float tensor are the largest."""
    end = end_of(main_of(module).body.block, ReturnOp)
    return frozenset(k for k, value in enumerate(end.operands) if _is_choice(value))


def _is_choice(value: SSAValue) -> bool:
    op = value.owner
    promise = op.get_trait(Commutes) if isinstance(op, OnnxOp) else None
    if promise is None or not isinstance(op, OnnxOp) or not promise.selects or promise.results(op):
        return False
    return list(promise.operands(op)) == [0] and is_float32(op.operands[0])


def _is_row_of_shares(value: SSAValue) -> bool:
    op = value.owner
    known = op.get_trait(KnownRange) if isinstance(op, OnnxOp) else None
    if known is None or not known.shares or not is_float32(value) or not is_float32(op_operand(value)):
        return False
    shape = shape_of(value.type)
    return shape is not None and sum(size != 1 for size in shape[1:]) == 1


def op_operand(value: SSAValue) -> SSAValue:
    """The first operand of what makes a value. TypeError if it is an argument."""
    if not isinstance(value.owner, OnnxOp):
        raise TypeError("an argument is made by no operator")
    return value.owner.operands[0]


def let_out_what_decides(module: ModuleOp, places: Iterable[int]) -> ModuleOp:
    """The module, in place, with what decides as output where shares or choices were; returns it."""
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
    Two models' outputs for some samples, with shares of classes in the places of what decides.

    The temperature is the standard deviation of what is expected there within its rows, (classes,) each; `sure`: 1, as
    the model has it.
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
