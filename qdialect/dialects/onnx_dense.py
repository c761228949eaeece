"""MLIR's own spelling of constants, `dense<[1, -2, 3]> : tensor<3xi64>`, read as ONNX tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from qdialect.dialects.onnx_tensor import TensorAttr, TensorData, pack
from qdialect.dialects.onnx_types import BY_ATTRIBUTE


class _Raises(Protocol):
    def raise_error(self, msg: str) -> NoReturn: ...


def without_dense(attributes: Mapping[str, Attribute], parser: _Raises) -> dict[str, Attribute]:
    """The attributes with `dense` ones as `TensorAttr`. Raises ParseError for element types that ONNX lacks."""
    return {
        name: _constant(cast("Any", value), parser) if isinstance(value, DenseIntOrFPElementsAttr) else value
        for name, value in attributes.items()
    }


def _constant(value: DenseIntOrFPElementsAttr, parser: _Raises) -> TensorAttr:
    type: Attribute = value.type
    if not isa(type, TensorType[Attribute]) or type.element_type not in BY_ATTRIBUTE:
        parser.raise_error(f"expected a tensor of ONNX elements, got {type}")
    element, raw = BY_ATTRIBUTE[type.element_type], value.data.data
    if element.spelling == "bool":  # true is all ones there
        raw = (np.frombuffer(raw, np.uint8) & 1).tobytes()
    elif element.bits < 8:
        raw = pack(np.frombuffer(raw, np.uint8), element.bits)
    return TensorAttr(TensorData(type, raw))
