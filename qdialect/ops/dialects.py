"""The dialects `onnx` (ai.onnx), `onnx_ml` (ai.onnx.ml) and `onnx_ms` (com.microsoft), generated from the snapshot."""

from collections.abc import Iterator

from xdsl.ir import Dialect

from qdialect.dialects.onnx_attributes import BytesStringAttr, ReferenceAttr, SparseTensorAttr
from qdialect.dialects.onnx_base import CustomOp, FunctionOp, OnnxOp, YieldOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import (
    AnyElementType,
    MapType,
    OptionalType,
    SequenceType,
    SparseTensorType,
    StringType,
)
from qdialect.dialects.schemas import snapshot
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ops.generated import op_named


def _operations(domain: str) -> Iterator[type[OnnxOp]]:
    for name in snapshot().names(domain):
        yield op_named(domain, name)


TYPES = [AnyElementType, MapType, OptionalType, SequenceType, SparseTensorType, StringType]
ATTRIBUTES = [BytesStringAttr, ReferenceAttr, SparseTensorAttr, TensorAttr]

Onnx = Dialect("onnx", [*_operations(""), CustomOp, FunctionOp, YieldOp], [*TYPES, *ATTRIBUTES])
OnnxMl = Dialect("onnx_ml", list(_operations("ai.onnx.ml")))
OnnxMs = Dialect("onnx_ms", list(_operations(MICROSOFT)))
