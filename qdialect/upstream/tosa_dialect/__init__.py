"""
The tosa dialect of upstream MLIR: the operations that lowering produces, verified against TOSA 1.0's integer profile.

xDSL has a few of them, without the specification's constraints and without convolutions, shapes or tables; so
all are defined here, and their verifier rejects what a validator of the profile pro_int would.
"""

from xdsl.ir import Dialect

from qdialect.upstream.tosa_dialect.elements import (
    AddOp,
    ArithmeticRightShiftOp,
    ClampOp,
    ClzOp,
    IntDivOp,
    LogicalLeftShiftOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceSumOp,
    RescaleOp,
    SubOp,
    TableOp,
)
from qdialect.upstream.tosa_dialect.layout import (
    ConcatOp,
    ConstOp,
    ConstShapeOp,
    IdentityOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from qdialect.upstream.tosa_dialect.sums import (
    AvgPool2DOp,
    Conv2DOp,
    DepthwiseConv2DOp,
    MatMulOp,
    MaxPool2DOp,
    ResizeOp,
    TransposeConv2DOp,
)
from qdialect.upstream.tosa_dialect.types import NanModeAttr, ResizeModeAttr, RoundingModeAttr, ShapeType

Tosa = Dialect(
    "tosa",
    [
        AddOp,
        ArithmeticRightShiftOp,
        AvgPool2DOp,
        ClampOp,
        ClzOp,
        ConcatOp,
        ConstOp,
        ConstShapeOp,
        Conv2DOp,
        DepthwiseConv2DOp,
        IdentityOp,
        IntDivOp,
        LogicalLeftShiftOp,
        MatMulOp,
        MaxPool2DOp,
        MaximumOp,
        MinimumOp,
        MulOp,
        PadOp,
        ReduceMaxOp,
        ReduceMinOp,
        ReduceSumOp,
        RescaleOp,
        ReshapeOp,
        ResizeOp,
        SliceOp,
        SubOp,
        TableOp,
        TransposeConv2DOp,
        TransposeOp,
    ],
    [NanModeAttr, ResizeModeAttr, RoundingModeAttr, ShapeType],
)
