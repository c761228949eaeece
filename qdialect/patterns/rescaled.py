"""The pattern that drops an affine op which changes the type of its operand and no stored integer."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import Float32Type

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of, shape_of, storage_element, with_element
from qdialect.dialects.quant import BYTE_BITS, StorageCastOp, UniformType
from qdialect.promises.affine import Affine, AffineMap
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnTrait

CLEAR = 0.499
"""Distance from an integer, in steps, within which rounding gives it in spite of float32 rounding errors."""


class ReadRescaled(OnTrait[Affine]):
    """affine(q : S) : T  ->  q read as T     every integer of S becomes the same integer of T"""

    def match(self, op: OnnxOp, promise: Affine, rewriter: Rewriter, /) -> None:
        type, result = None, quantized_of(op.results[0].type)
        map = None if result is None else promise.map(op)
        if isinstance(map, AffineMap):
            type = quantized_of(op.operands[map.place].type)
        if not isinstance(map, AffineMap) or type is None or result is None or not _stays(map, type, result):
            return
        value = op.operands[map.place]
        if shape_of(value.type) != shape_of(op.results[0].type):
            return
        plain = StorageCastOp(value, with_element(value.type, storage_element(type)))
        rewriter.replace(op, [plain, StorageCastOp(plain.results[0], op.results[0].type)])


def _stays(map: AffineMap, type: UniformType, result: UniformType) -> bool:
    """True if the map takes each integer of `type` to the same integer of `result`, both per tensor."""
    one_scale = type.is_per_tensor and result.is_per_tensor and map.factor.size == map.shift.size == 1
    if not one_scale or type.storage != result.storage or type.storage.width != BYTE_BITS:
        return False
    if not (isinstance(type.expressed, Float32Type) and isinstance(result.expressed, Float32Type)):
        return False
    stored = np.arange(type.storage.low, type.storage.high + 1)
    real = map.factor.reshape(()) * type.dequantize(stored, np.float64) + map.shift.reshape(())
    steps = real / np.float64(result.scale) + float(result.zero_point)
    return bool((np.abs(steps - stored) < CLEAR).all())
