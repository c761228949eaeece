"""
ResNet-50 from seeded random weights, written in the dialects that quantized models come in.

All dialects share one set of weights. The statistics of the batch normalizations and the scales of the
activations are those of four random images: nothing saturates, and images keep apart through all layers.
"""

import tempfile
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnxruntime as ort

from models.graph import Graph, Shape

F32 = npt.NDArray[np.float32]

EPSILON = 1e-5
IMAGE: Shape = (1, 3, 224, 224)
CLASSES = 1000


def random(name: str) -> np.random.Generator:
    """Random numbers that depend on the name alone, so that layers may be made in any order."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def image(name: str = "test") -> F32:
    """Coarse patches, which tell one image from another, under noise: about -4..4, f32 [1, 3, 224, 224]."""
    rng = random(name)
    patches = np.kron(rng.standard_normal((1, 3, 7, 7)), np.ones((32, 32)))
    return _f32(patches + 0.3 * rng.standard_normal(IMAGE))


@cache
def calibration() -> F32:
    return np.concatenate([image(f"calibration{i}") for i in range(4)])


def _f32(values: npt.NDArray[Any]) -> F32:
    return values.astype(np.float32)


# The weights.


@dataclass(frozen=True)
class Conv:
    """A convolution without bias; `shape` is (outputs, inputs, kernel, kernel); pads keep size / stride."""

    name: str
    shape: Shape
    stride: int = 1

    @property
    def attributes(self) -> dict[str, Any]:
        kernel = self.shape[2]
        return {
            "kernel_shape": [kernel] * 2,
            "strides": [self.stride] * 2,
            "pads": [kernel // 2] * 4,
            "dilations": [1, 1],
            "group": 1,
        }

    def weight(self) -> F32:
        """He initialization."""
        deviation = np.sqrt(2 / np.prod(self.shape[1:]))
        return _f32(random(self.name).standard_normal(self.shape, np.float32) * deviation)

    def batch_norm(self) -> tuple[F32, F32, F32, F32]:
        """gamma, beta, mean, variance; each f32 [outputs]."""
        mean, variance = (statistics()[f"{self.name}.{part}"].reshape(-1) for part in ("mean", "variance"))
        return *self.gamma_and_beta(), mean, variance

    def gamma_and_beta(self) -> tuple[F32, F32]:
        """3 % of the gammas negative; a block's last one small, as training that starts it at zero leaves it."""
        rng, n = random(self.name + ".bn"), self.shape[0]
        gamma = rng.uniform(0.5, 1.5, n) * np.where(rng.random(n) < 0.03, -1, 1)
        if self.name.endswith("conv3"):
            gamma *= 0.1
        return _f32(gamma), _f32(rng.normal(0, 0.2, n))

    def folded(self) -> tuple[F32, F32]:
        """Weight and bias of the convolution with its batch normalization folded in."""
        gamma, beta, mean, variance = self.batch_norm()
        ratio = _f32(gamma / np.sqrt(variance + np.float32(EPSILON)))
        return self.weight() * ratio[:, None, None, None], _f32(beta - mean * ratio)


def classifier() -> tuple[F32, F32]:
    """Weight [1000, 2048] and bias [1000] of the last layer."""
    rng = random("fc")
    weight = _f32(rng.standard_normal((CLASSES, 2048), np.float32) / np.sqrt(2048))
    return weight, _f32(rng.normal(0, 0.2, CLASSES))


# ResNet-50, told once; how each layer is written is up to the dialect.


class Dialect(Protocol):
    graph: Graph

    def conv(self, x: str, conv: Conv, relu: bool) -> str: ...
    def add(self, a: str, b: str, name: str) -> str: ...
    def max_pool(self, x: str, name: str) -> str: ...
    def mean(self, x: str, name: str) -> str: ...
    def classify(self, x: str, name: str) -> str: ...


POOL: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}


def write_resnet50(dialect: Dialect, path: Path, start: str = "input") -> list[str]:
    """Write the model and give the names of the layers' outputs; `start` is what the first layer reads."""
    layers = [dialect.conv(start, Conv("stem", (64, 3, 7, 7), 2), relu=True)]
    layers.append(dialect.max_pool(layers[-1], "pool"))
    channels = 64
    for stage, (depth, width) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)], 1):
        for block in range(depth):
            x, name, stride = layers[-1], f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            a = dialect.conv(x, Conv(f"{name}.conv1", (width, channels, 1, 1)), relu=True)
            b = dialect.conv(a, Conv(f"{name}.conv2", (width, width, 3, 3), stride), relu=True)
            c = dialect.conv(b, Conv(f"{name}.conv3", (4 * width, width, 1, 1)), relu=False)
            layers += [a, b, c]
            if block == 0:
                shape = (4 * width, channels, 1, 1)
                x = dialect.conv(x, Conv(f"{name}.downsample", shape, stride), relu=False)
                layers.append(x)
                channels = 4 * width
            layers.append(dialect.add(c, x, f"{name}.add"))
    layers.append(dialect.mean(layers[-1], "mean"))
    layers.append(dialect.classify(layers[-1], "logits"))
    dialect.graph.save(path, {"input": IMAGE}, {layers[-1]: (1, CLASSES)})
    return layers


class Float:
    """Batch normalizations folded, nothing quantized: what the scales are measured on."""

    def __init__(self):
        self.graph = Graph()

    def conv(self, x: str, conv: Conv, relu: bool) -> str:
        g, name = self.graph, conv.name
        weight, bias = conv.folded()
        inputs = [x, g.constant(f"{name}.weight", weight), g.constant(f"{name}.bias", bias)]
        if not relu:
            return g.node("Conv", inputs, name, **conv.attributes)
        return g.node("Relu", [g.node("Conv", inputs, f"{name}.linear", **conv.attributes)], name)

    def add(self, a: str, b: str, name: str) -> str:
        return self.graph.node("Relu", [self.graph.node("Add", [a, b], f"{name}.sum")], name)

    def max_pool(self, x: str, name: str) -> str:
        return self.graph.node("MaxPool", [x], name, **POOL)

    def mean(self, x: str, name: str) -> str:
        return self.graph.node("Flatten", [self.graph.node("GlobalAveragePool", [x], f"{name}.pooled")], name)

    def classify(self, x: str, name: str) -> str:
        weight, bias = classifier()
        inputs = [x, self.graph.constant("fc.weight", weight), self.graph.constant("fc.bias", bias)]
        return self.graph.node("Gemm", inputs, name, transB=1)


class Training(Float):
    """Batch normalization as training does it, by the batch at hand, which it records."""

    def __init__(self):
        super().__init__()
        self.statistics: list[str] = []

    def conv(self, x: str, conv: Conv, relu: bool) -> str:
        g, name, axes = self.graph, conv.name, [0, 2, 3]
        y = g.node(
            "Conv", [x, g.constant(f"{name}.weight", conv.weight())], f"{name}.conv", **conv.attributes
        )
        mean = g.node("ReduceMean", [y], f"{name}.mean", axes=axes)
        centered = g.node("Sub", [y, mean], f"{name}.centered")
        square = g.node("Mul", [centered, centered], f"{name}.square")
        variance = g.node("ReduceMean", [square], f"{name}.variance", axes=axes)
        self.statistics += [mean, variance]
        gamma, beta = (value.reshape(-1, 1, 1) for value in conv.gamma_and_beta())
        y = g.node("Div", [centered, g.node("Sqrt", [variance], f"{name}.deviation")], f"{name}.normal")
        y = g.node("Mul", [y, g.constant(f"{name}.gamma", gamma)], f"{name}.scaled")
        y = g.node("Add", [y, g.constant(f"{name}.beta", beta)], name if not relu else f"{name}.linear")
        return g.node("Relu", [y], name) if relu else y


# The scales.


def evaluate(model: Dialect, path: Path, names: list[str]) -> dict[str, F32]:
    """The named tensors of a float model on the calibration images."""
    model.graph.save(path, {"input": calibration().shape}, dict.fromkeys(names))
    session: Any = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, {"input": calibration()}), strict=True))


@cache
def statistics() -> dict[str, F32]:
    """Mean and variance of each convolution's output, by `LAYER.mean` and `LAYER.variance`."""
    with tempfile.TemporaryDirectory() as folder:
        write_resnet50(model := Training(), path := Path(folder) / "training.onnx")
        return evaluate(model, path, model.statistics)


@cache
def ranges() -> dict[str, tuple[float, float]]:
    """Smallest and largest value of the input and of each layer's output in the float model."""
    with tempfile.TemporaryDirectory() as folder:
        layers = write_resnet50(model := Float(), path := Path(folder) / "float.onnx")
        values = {"input": calibration(), **evaluate(model, path, layers)}
    return {name: (float(value.min()), float(value.max())) for name, value in values.items()}


@dataclass(frozen=True)
class Parameters:
    """One scale and zero point; real = scale * (integer - zero point)."""

    scale: np.float32
    zero_point: np.uint8 | np.int8

    @staticmethod
    def asymmetric(name: str, signed: bool = False) -> "Parameters":
        """The tensor's range and 0 on 256 steps."""
        low, high = min(0, ranges()[name][0]), max(0, ranges()[name][1])
        scale = np.float32((high - low) / 255)
        zero_point = round(-low / float(scale))
        return Parameters(scale, np.int8(zero_point - 128) if signed else np.uint8(zero_point))

    @staticmethod
    def symmetric(name: str) -> "Parameters":
        """s8 with zero point 0."""
        return Parameters(np.float32(max(map(abs, ranges()[name])) / 127), np.int8(0))

    def add_to(self, graph: Graph, name: str) -> list[str]:
        """The names of the scale and the zero point."""
        scale = graph.constant(f"{name}_scale", self.scale)
        return [scale, graph.constant(f"{name}_zero_point", self.zero_point)]


def weight_scale(weight: F32) -> F32:
    """Per output channel (axis 0), symmetric s8: f32 [outputs]."""
    return _f32(np.abs(weight).max(axis=tuple(range(1, weight.ndim))) / np.float32(127))


def quantize_weight(weight: F32) -> tuple[npt.NDArray[np.int8], F32]:
    """The weight in s8 and its `weight_scale`."""
    scale = weight_scale(weight)
    steps = np.rint(weight / scale.reshape(-1, *[1] * (weight.ndim - 1)))
    return steps.clip(-127, 127).astype(np.int8), scale


def quantize_bias(bias: F32, scale: F32) -> npt.NDArray[np.int32]:
    """The bias in steps of input scale x weight scale, as int32."""
    return np.rint(bias / scale).astype(np.int32)
