"""How each dialect of quantized ONNX writes a layer of ResNet-50."""

import numpy as np

from models.graph import MS, Graph
from models.resnet50 import (
    EPSILON,
    F32,
    POOL,
    Conv,
    Float,
    Parameters,
    classifier,
    quantize_bias,
    quantize_weight,
    weight_scale,
)


class Qdq:
    """
    As `onnxruntime.quantization.quantize_static` writes it: u8 activations, s8 weights per channel stored as
    integers, int32 biases; a Relu whose lower bound is the zero point is left out; one pair per tensor.
    """

    def __init__(self):
        self.graph = Graph()
        self.parameters: dict[str, Parameters] = {}  # of each dequantized tensor
        self.start = self.pair("input", Parameters.asymmetric("input"), "input")

    def pair(self, x: str, parameters: Parameters, name: str) -> str:
        """Quantize and dequantize `x`; the dequantized tensor."""
        names = parameters.add_to(self.graph, name)
        q = self.graph.node("QuantizeLinear", [x, *names], f"{name}_quantized")
        y = self.graph.node("DequantizeLinear", [q, *names], f"{name}_dequantized")
        self.parameters[y] = parameters
        return y

    def weights(self, name: str, x: str, weight: F32, bias: F32) -> list[str]:
        """The dequantized weight and bias of a layer that reads `x`."""
        g = self.graph
        stored, scale = quantize_weight(weight)
        bias_scale = self.parameters[x].scale * scale
        integers = {"weight": (stored, scale), "bias": (quantize_bias(bias, bias_scale), bias_scale)}
        names: list[str] = []
        for part, (values, scales) in integers.items():
            inputs = [
                g.constant(f"{name}.{part}_quantized", values),
                g.constant(f"{name}.{part}_scale", scales),
                g.constant(f"{name}.{part}_zero_point", np.zeros(len(scales), values.dtype)),
            ]
            names.append(g.node("DequantizeLinear", inputs, f"{name}.{part}_dequantized", axis=0))
        return names

    def conv(self, x: str, conv: Conv, relu: bool) -> str:
        parameters = Parameters.asymmetric(conv.name)
        assert not relu or parameters.zero_point == 0, "the pair does what the Relu did"
        inputs = [x, *self.weights(conv.name, x, *conv.folded())]
        return self.pair(self.graph.node("Conv", inputs, conv.name, **conv.attributes), parameters, conv.name)

    def add(self, a: str, b: str, name: str) -> str:
        return self.pair(self.graph.node("Add", [a, b], name), Parameters.asymmetric(name), name)

    def max_pool(self, x: str, name: str) -> str:
        return self.pair(self.graph.node("MaxPool", [x], name, **POOL), self.parameters[x], name)

    def mean(self, x: str, name: str) -> str:
        pooled = self.graph.node("GlobalAveragePool", [x], f"{name}.pooled")
        parameters = Parameters.asymmetric(name)
        y = self.pair(pooled, parameters, f"{name}.pooled")
        return self.pair(self.graph.node("Flatten", [y], name), parameters, name)

    def classify(self, x: str, name: str) -> str:
        inputs = [x, *self.weights("fc", x, *classifier())]
        return self.pair(self.graph.node("Gemm", inputs, name, transB=1), Parameters.asymmetric(name), name)


class QatBatchNorm(Float):
    """
    As quantization-aware training exports it before anything is folded: float weights under a quantize, a
    pair at each convolution's input (s8, zero point 0), and in float BatchNormalization and the residual Add.
    """

    def pair(self, x: str, name: str) -> str:
        names = Parameters.symmetric(x).add_to(self.graph, name)
        q = self.graph.node("QuantizeLinear", [x, *names], f"{name}_quantized")
        return self.graph.node("DequantizeLinear", [q, *names], f"{name}_dequantized")

    def weight(self, name: str, weight: F32) -> str:
        g, scale = self.graph, weight_scale(weight)
        parameters = [
            g.constant(f"{name}.weight_scale", scale),
            g.constant(f"{name}.weight_zero_point", np.zeros(len(scale), np.int8)),
        ]
        inputs = [g.constant(f"{name}.weight", weight), *parameters]
        q = g.node("QuantizeLinear", inputs, f"{name}.weight_quantized", axis=0)
        return g.node("DequantizeLinear", [q, *parameters], f"{name}.weight_dequantized", axis=0)

    def conv(self, x: str, conv: Conv, relu: bool) -> str:
        g, name = self.graph, conv.name
        inputs = [self.pair(x, f"{name}.input"), self.weight(name, conv.weight())]
        y = g.node("Conv", inputs, f"{name}.conv", **conv.attributes)
        parts = zip(("gamma", "beta", "mean", "variance"), conv.batch_norm(), strict=True)
        inputs = [y, *[g.constant(f"{name}.{part}", value) for part, value in parts]]
        if not relu:
            return g.node("BatchNormalization", inputs, name, epsilon=EPSILON)
        return g.node("Relu", [g.node("BatchNormalization", inputs, f"{name}.bn", epsilon=EPSILON)], name)

    def classify(self, x: str, name: str) -> str:
        weight, bias = classifier()
        inputs = [self.pair(x, "fc.input"), self.weight("fc", weight), self.graph.constant("fc.bias", bias)]
        return self.graph.node("Gemm", inputs, name, transB=1)


class QOperator:
    """The operator form: QLinearConv, com.microsoft's QLinearAdd, QGemm, ...; u8 activations or s8 twins."""

    def __init__(self, signed: bool):
        self.graph = Graph()
        self.signed = signed
        self.scales: dict[str, Parameters] = {}
        self.start = self.produce("QuantizeLinear", "input", ["input"], "input_quantized")

    def operand(self, x: str) -> list[str]:
        """A tensor with its scale and zero point."""
        return [x, *self.scales[x].add_to(self.graph, x)]

    def produce(self, op: str, like: str, inputs: list[str], y: str, domain: str = "", **attributes: object):
        """Add an op whose last two inputs are the scale and zero point of its result."""
        self.scales[y] = Parameters.asymmetric(like, self.signed)
        inputs = [*inputs, *self.operand(y)[1:]]
        return self.graph.node(op, inputs, y, domain, **attributes)

    def weights(self, name: str, x: str, weight: F32, bias: F32) -> tuple[list[str], str]:
        """The weight with its scale and zero point, and the bias, of a layer that reads `x`."""
        g = self.graph
        stored, scale = quantize_weight(weight)
        names = [
            g.constant(f"{name}.weight_quantized", stored),
            g.constant(f"{name}.weight_scale", scale),
            g.constant(f"{name}.weight_zero_point", np.zeros(len(scale), np.int8)),
        ]
        stored_bias = quantize_bias(bias, self.scales[x].scale * scale)
        return names, g.constant(f"{name}.bias_quantized", stored_bias)

    def conv(self, x: str, conv: Conv, relu: bool) -> str:
        parameters = Parameters.asymmetric(conv.name, self.signed)
        assert not relu or parameters.zero_point in (0, -128), "the clamp does what the Relu did"
        self.scales[conv.name] = parameters
        weight, bias = self.weights(conv.name, x, *conv.folded())
        inputs = [*self.operand(x), *weight, *self.operand(conv.name)[1:], bias]
        return self.graph.node("QLinearConv", inputs, conv.name, **conv.attributes)

    def add(self, a: str, b: str, name: str) -> str:
        return self.produce("QLinearAdd", name, [*self.operand(a), *self.operand(b)], name, MS)

    def max_pool(self, x: str, name: str) -> str:
        self.scales[name] = self.scales[x]
        return self.graph.node("MaxPool", [x], name, **POOL)

    def mean(self, x: str, name: str) -> str:
        inputs, op = self.operand(x), "QLinearGlobalAveragePool"
        pooled = self.produce(op, name, inputs, f"{name}.pooled", MS, channels_last=0)
        self.scales[name] = self.scales[pooled]
        return self.graph.node("Flatten", [pooled], name)

    def classify(self, x: str, name: str) -> str:
        weight, bias = self.weights("fc", x, *classifier())
        inputs = [*self.operand(x), *weight, bias]
        q = self.produce("QGemm", name, inputs, f"{name}_quantized", MS, transB=1)
        return self.graph.node("DequantizeLinear", self.operand(q), name)
