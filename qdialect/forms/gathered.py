"""GatherBlockQuantized as ONNX's own ops: rows of a table that is stored in blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import Float32Type, IntegerType
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import BY_NUMPY, element_of, tensor_type
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.forms.contrib_ops import FIRST_WITH_BLOCKS, StandsFor
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import wish
from qdialect.ir.values import constant_array, normal_axis
from qdialect.numerics import Array
from qdialect.reasons import Blocked

DEFAULT_BLOCK = 128
"""block_size, if the node states none."""
BYTE = 8


def _unpacked(values: Array, bits: int) -> Array:
    """Integers of so many bits that fill the bytes of the last axis, the lower bits first."""
    if bits == BYTE:
        return values
    parts = [values >> shift & (1 << bits) - 1 for shift in range(0, BYTE, bits)]
    whole = np.stack(parts, axis=-1)
    return whole.reshape(*values.shape[:-1], -1).astype(np.uint8)


def _gather_parts(op: OnnxOp) -> Sequence[Operation] | Blocked:
    """DequantizeLinear of the table, and Gather."""
    if onnx_opset(op) < FIRST_WITH_BLOCKS:
        return Blocked(
            "opset", f"a table in blocks needs opset {FIRST_WITH_BLOCKS}", "raise the model's opset"
        )
    data, scales, zeros = (constant_array(op.input(place)) for place in (0, 2, 3))
    if data is None or scales is None or (zeros is None and op.input(3) is not None):
        return Blocked("run-time-scale", "table, scale or zero point is computed at run time")
    if element_of(op.operands[2].type) != Float32Type():
        return Blocked("expressed-type", "the scales are not f32")
    bits, block = op.int_attr("bits", 4), op.int_attr("block_size", DEFAULT_BLOCK)
    if bits not in (2, 4, BYTE) or block < 1:
        return Blocked("storage-type", f"no type stores {bits} bits in blocks of {block}")
    element = element_of(op.operands[0].type)
    packed = isinstance(element, IntegerType) and element.width.data == BYTE
    if packed:
        data = _unpacked(data, bits)
        if zeros is not None:
            zeros = _unpacked(zeros, bits)[..., : scales.shape[-1]]
        else:
            zeros = np.full(scales.shape, 1 << (bits - 1), np.uint8)
    axis = normal_axis(op.int_attr("quantize_axis", 1), data.ndim)
    counts = tuple(-(-n // block) if k == axis else n for k, n in enumerate(data.shape))
    if scales.shape != counts or (zeros is not None and zeros.shape != counts):
        return Blocked("block-size", "the table's shape does not match the node's attributes")
    if zeros is not None and not zeros.astype(np.int32).any():
        zeros = None
    nodes, stored = Nodes(), data
    if zeros is not None:
        spread = np.repeat(zeros.astype(np.int16), block, axis).take(range(data.shape[axis]), axis)
        less = data.astype(np.int16) - spread
        for name in ("int4", "int8"):
            low, high = (-8, 7) if name == "int4" else (-128, 127)
            if low <= less.min(initial=0) and less.max(initial=0) <= high:
                stored, zeros = less.astype(BY_NUMPY[name].dtype), None
                break
    parameters = [scales] if zeros is None else [scales, zeros.astype(stored.dtype)]
    operands = [
        nodes.constant(np.ascontiguousarray(array), name=wish(source))
        for array, source in zip((stored, *parameters), (op.operands[0], *op.operands[2:]), strict=False)
    ]
    real = tensor_type(Float32Type(), stored.shape)
    table = nodes.add("DequantizeLinear", operands, real, {"axis": axis, "block_size": block})
    nodes.add("Gather", [table, op.operands[1]], op.results[0].type, {"axis": op.int_attr("gather_axis", 0)})
    return nodes.ops


GATHERED = {(MICROSOFT, "GatherBlockQuantized"): StandsFor(_gather_parts, written=False)}
