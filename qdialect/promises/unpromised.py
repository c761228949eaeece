"""
Operators on float tensors without a promise, so that no cast moves past them, each with the reason.

They can still be quantized, between a dequantize and a quantize of their own.
"""

from __future__ import annotations

ONE = "each element is mapped to a new value"
MANY = "each element is computed from several elements"
ROUNDED = "its result is of numbers that no scale of its operand has"
MADE = "its elements are random or come from attributes, not from an operand"
SEQUENCE = "a sequence or optional value has no quantized type"
BOUND = "an element is kept or dropped by where it lies, which rounding may change, and no kernel does so to integers"
CASTS = "it is quantization itself, read as types by the raising passes or, where scales are not constant, left alone"
SIZED = "it becomes Slice and Pad where its sizes are known"
GONE = "deprecated before ONNX had quantization"

_REASONS: dict[str, str] = {
    ONE: """Abs Acos Acosh Add Asin Asinh Atan Atanh BitCast Cast CastLike Ceil Celu Cos Cosh Div Elu Erf Exp
        Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Mod Mul Neg Pow Reciprocal Round Selu Sigmoid Sin
        Sinh Softplus Softsign Sqrt Sub Swish Tan Tanh""",
    MANY: """AffineGrid Attention AveragePool BatchNormalization CausalConvWithState Col2Im Conv ConvTranspose CumProd
        CumSum DFT DeformConv Det Einsum GRU Gemm GlobalAveragePool GlobalLpPool GroupNormalization
        InstanceNormalization LRN LSTM LayerNormalization LinearAttention LogSoftmax LpNormalization LpPool MatMul Mean
        MeanVarianceNormalization MelWeightMatrix NegativeLogLikelihoodLoss RMSNormalization RNN ReduceL1 ReduceL2
        ReduceLogSum ReduceLogSumExp ReduceMean ReduceProd ReduceSum ReduceSumSquare RoiAlign RotaryEmbedding STFT
        Softmax SoftmaxCrossEntropyLoss Sum SwiGLU""",
    ROUNDED: "Hardmax IsInf IsNaN NonMaxSuppression NonZero Sign",
    MADE: "Bernoulli EyeLike Multinomial RandomNormalLike RandomUniformLike Range",
    SEQUENCE: """ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct
        SequenceErase SequenceInsert SequenceLength SequenceMap SplitToSequence""",
    BOUND: "Shrink ThresholdedRelu",
    CASTS: "DequantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul QuantizeLinear",
    SIZED: "CenterCropPad",
    GONE: "Upsample",
}
UNPROMISED: dict[str, str] = {name: reason for reason, names in _REASONS.items() for name in names.split()}
"""Operator of ai.onnx -> why no cast moves past it."""
