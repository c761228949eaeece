"""Biases that a session counts in steps of x_scale * w_scale, whatever their own are, or brings into a Gemm."""
# Around the driver: a bias gets the rank of the product that it is added to.

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, onnx_opset, promise_of
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import BY_NUMPY, DYNAMIC, element_of, shape_of
from qdialect.dialects.quant import UniformType
from qdialect.ir.insertion import insert_before, remove
from qdialect.ir.values import constant, constant_array, rank_of
from qdialect.ir.walking import operations
from qdialect.numerics import Array, sums
from qdialect.promises.arithmetic import Converts
from qdialect.promises.casts import dequantize_type, moved_dequantize, quantize_type, written_dequantize
from qdialect.promises.elementwise import Adds, Multiplies
from qdialect.promises.linear import IntegerProduct, Linear, bias_matches
from qdialect.runtimes.guards import part
from qdialect.runtimes.onnxruntime.casts import fused_with, quantizes
from qdialect.targets import Target

TYPED_CASTS = 21
"""The first opset whose QuantizeLinear has `output_dtype`, the type of its result."""
I8, I32 = BY_NUMPY["int8"].attribute, BY_NUMPY["int32"].attribute


def lost_bias(quantize: OnnxOp, session: Target) -> int | None:
    """0 for a quantize behind an op with a float bias that `loses_bias` tells."""
    op = fused_with(quantize) if quantizes(quantize) else None
    return 0 if op is not None and loses_bias(op, quantize) else None


def loses_bias(op: OnnxOp, quantize: OnnxOp) -> bool:
    """
    True if a session would count a float bias in front of `quantize` in steps of x_scale * w_scale that are too fine
    for int32, or for float16 in a model of that, or so coarse that the bias moves by more than a step of the result.
    """
    found = biased(op)
    if found is None:
        return False
    linear, bias = found
    above, weights = map(written_dequantize, linear.operands[:2])
    if above is None:
        return False
    x, w = dequantize_type(above), None if weights is None else dequantize_type(weights)
    if not isinstance(x, UniformType) or not x.is_per_tensor:
        return False
    # One in float, beside an activation between casts, is quantized by the session.
    weight = constant_array(linear.operands[1])
    steps = w.scales if isinstance(w, UniformType) else None if weight is None else sums.range_scale(weight)
    if steps is None or steps.size not in (1, bias.size):
        return False
    result = quantize_type(quantize)
    moved, overflow = sums.moved_bias(bias, x.scales, steps)
    if bias.dtype == np.float16:
        moved = sums.moved_half_bias(bias, x.scales, steps)
    is_coarse = isinstance(result, UniformType) and bool((moved > result.scales.min()).any())
    return is_coarse or bool(overflow.any())


def biased(op: OnnxOp) -> tuple[OnnxOp, Array] | None:
    """
    A linear op and its constant bias, flat: of `op`, or of the op to whose result, used once, `op` adds a constant,
    which a session makes its bias.
    """
    linear = op.get_trait(Linear)
    if linear is not None:
        bias = constant_array(op.input(2)) if linear.has_bias else None
        return None if bias is None else (op, bias.reshape(-1))
    if op.get_trait(Adds) is None:
        return None
    for value, added in (op.operands, reversed(op.operands)):
        product, bias = value.owner, constant_array(added)
        if isinstance(product, OnnxOp) and promise_of(product, Linear) is not None and value.has_one_use():
            return None if bias is None else (product, bias.reshape(-1))
    return None


def other_bias(op: OnnxOp, session: Target) -> int | None:
    """Index of dequantized i32, not in steps of x_scale * w_scale, that is added to a product."""
    for place, value in enumerate(op.operands if op.get_trait(Adds) is not None else ()):
        cast, product = written_dequantize(value), op.operands[1 - place].owner
        linear = promise_of(product, Linear)
        if cast is None or linear is None or not isinstance(product, OnnxOp) or linear.has_bias:
            continue
        if element_of(cast.operands[0].type) == I32 and has_other_steps(cast, product):
            return place
    return None


def has_other_steps(bias: OnnxOp, product: OnnxOp) -> bool:
    """True if a dequantized bias is not known to be in steps of x_scale * w_scale of a dequantized product."""
    casts = [moved_dequantize(value) for value in product.operands[:2]]
    x, w, b = (None if cast is None else dequantize_type(cast) for cast in (*casts, bias))
    if x is None or w is None:
        return False
    if not (isinstance(x, UniformType) and isinstance(w, UniformType) and isinstance(b, UniformType)):
        return True
    return not bias_matches(x, w, b)


def wider_bias(op: OnnxOp, session: Target) -> int | None:
    """
    Index of the scaled sums of an integer product to which a constant is added that has more axes or columns, or may.

    Of one row for all, a session makes the bias of the product, whose result then has the axes of the sums; and whose
    kernel refuses it if it has not one element for each column of the weight, one for a vector.
    """
    if op.get_trait(Adds) is None:
        return None
    for place, value in enumerate(op.operands):
        bias = op.operands[1 - place]
        product = None if constant(bias) is None else _scaled_product(value)
        if product is None:
            continue
        wide, rank = rank_of(bias), rank_of(value)
        if wide is not None and wide > 1 and (rank is None or wide > rank):
            return place
        if _is_other_row(shape_of(bias.type) or (), product):
            return place
    return None


def _is_other_row(row: Sequence[int], product: OnnxOp) -> bool:
    """True if a row of several elements for all rows of a product has, or may have, others than one for each column."""
    promise, weight = product.get_trait(IntegerProduct), shape_of(product.operands[1].type)
    if promise is None or promise.channel_axis != -1 or prod(row) < 2 or prod(row) != row[-1]:
        return False
    columns = DYNAMIC if weight is None else weight[-1] if len(weight) > 1 else 1
    return columns != row[-1]


def _scaled_product(value: SSAValue) -> OnnxOp | None:
    """The integer product whose sum, converted to float and multiplied, is `value`; None if it is no such."""
    scaled = value.owner
    if not isinstance(scaled, OnnxOp) or scaled.get_trait(Multiplies) is None:
        return None
    converted = [
        op for of in scaled.operands if isinstance(op := of.owner, OnnxOp) and op.get_trait(Converts)
    ]
    products = [op for one in converted if isinstance(op := one.operands[0].owner, OnnxOp)]
    return next((op for op in products if op.get_trait(IntegerProduct) is not None), None)


def widen_biases(module: ModuleOp, session: Target) -> None:
    """
    Reshape the vector added to an i8 matrix product to the result's rank, from opset `TYPED_CASTS` on; a Sum parts a
    dequantized one from the product, or one of a product's own rank.
    """
    for op in operations(module):
        if not isinstance(op, OnnxOp) or op.get_trait(Adds) is None or onnx_opset(op) < TYPED_CASTS:
            continue
        bias, product = sorted(op.operands, key=_is_product_of_i8)
        rank, tensor = rank_of(product), constant(bias)
        if rank is None or rank_of(bias) != 1 or not _is_product_of_i8(product):
            continue
        if tensor is None or rank == 1:
            if tensor is not None or written_dequantize(bias) is not None:
                part(op, list(op.operands).index(product))
            continue
        wide = ConstantOp.of(from_array(tensor.array().reshape([1] * (rank - 1) + [-1])))
        if isinstance(bias.owner, Operation) and bias.has_one_use():
            wide.location = bias.owner.location
        insert_before(op, wide)
        op.operands[0], op.operands[1] = [wide.results[0] if v is bias else v for v in op.operands]
        if bias.first_use is None and isinstance(bias.owner, Operation):
            remove(bias.owner)


def _is_product_of_i8(value: SSAValue) -> bool:
    """True if `value` is a product, without a bias, of dequantized i8 that is no matrix."""
    product = value.owner
    if not isinstance(product, OnnxOp):
        return False
    linear = product.get_trait(Linear)
    if linear is None or linear.has_bias:
        return False
    first = product.operands[0]
    cast, rank = written_dequantize(first), rank_of(first)
    return cast is not None and element_of(cast.operands[0].type) == I8 and rank != 2
