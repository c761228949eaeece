"""A float network being written: layers of seeded random weights, the batch left free."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, shape_inference

Array = npt.NDArray[Any]

OPSET, IR_VERSION = 17, 8


@dataclass
class Net:
    """Nodes as they are added; a tensor is its name. `channels` has the channels of what layers made."""

    title: str
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])
    weights: dict[str, Array] = field(default_factory=dict[str, Array])
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    integers: dict[str, int] = field(default_factory=dict[str, int])
    """Inputs of integers, and what they are below."""
    channels: dict[str, int] = field(default_factory=dict[str, int])
    normalized: bool = False
    """Whether a BatchNormalization stands behind each Conv, as training leaves it; else it is folded."""

    def input(self, name: str, *shape: int, below: int = 0) -> str:
        """An input of that shape behind the batch: floats, or integers below `below`."""
        self.inputs[name] = shape
        self.channels[name] = shape[0]
        if below:
            self.integers[name] = below
        return name

    def op(self, op: str, *inputs: str, channels: int = 0, outputs: int = 1, **attributes: Any) -> str:
        """One node; a result has the channels of the first input unless they are told."""
        name = f"{op.lower()}_{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}_{at}" for at in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=name, **attributes))
        for each in names:
            self.channels[each] = channels or self.channels.get(inputs[0], 0)
        return names[0]

    def parts(self, x: str, count: int, axis: int = 1) -> list[str]:
        """As many equal parts of x along an axis."""
        channels = self.channels[x] // (count if axis == 1 else 1)
        first = self.op("Split", x, channels=channels, outputs=count, axis=axis)
        return [f"{first.rsplit('_', 1)[0]}_{at}" for at in range(count)]

    def constant(self, value: Array | Sequence[float] | float) -> str:
        """An initializer: floats in 32 bits, integers in 64."""
        array = np.asarray(value)
        name = f"constant_{len(self.weights)}"
        self.weights[name] = array.astype(np.float32 if array.dtype.kind == "f" else np.int64)
        return name

    def random(self, *shape: int, deviation: float) -> str:
        """Normal random weights, by the order in which they are asked for."""
        rng = np.random.default_rng(zlib.crc32(f"{self.title}{len(self.weights)}".encode()))
        return self.constant(rng.standard_normal(shape) * deviation)

    def conv(
        self,
        x: str,
        outputs: int,
        kernel: int | tuple[int, ...] = 3,
        stride: int = 1,
        groups: int = 1,
        act: str = "",
        *,
        dilation: int = 1,
        rank: int = 2,
        plain: bool = False,
        **attributes: Any,
    ) -> str:
        """Conv with pads that keep the size, what normalizes it unless it is `plain`, and an activation."""
        sizes = (kernel,) * rank if isinstance(kernel, int) else kernel
        inputs = self.channels[x] // groups
        deviation = float(np.sqrt(2 / (inputs * np.prod(sizes))))
        pads = [dilation * (size - 1) // 2 for size in sizes] * 2
        operands = [x, self.random(outputs, inputs, *sizes, deviation=deviation)]
        if not self.normalized or plain:
            operands.append(self.random(outputs, deviation=0.05))
        layout: dict[str, Any] = {
            "pads": pads,
            "strides": [stride] * len(sizes),
            "dilations": [dilation] * len(sizes),
        }
        y = self.op(
            "Conv",
            *operands,
            channels=outputs,
            kernel_shape=list(sizes),
            group=groups,
            **(layout | attributes),
        )
        if self.normalized and not plain:
            y = self.batch_norm(y)
        return self.act(y, act)

    def batch_norm(self, x: str) -> str:
        """What training leaves: scales about one, small means."""
        count = self.channels[x]
        scale = self.constant(np.linspace(0.8, 1.2, count)[np.random.default_rng(count).permutation(count)])
        offset, mean = self.random(count, deviation=0.1), self.random(count, deviation=0.1)
        return self.op(
            "BatchNormalization", x, scale, offset, mean, self.constant(np.linspace(1.2, 0.8, count))
        )

    def act(self, x: str, name: str) -> str:
        """The activation of that name; none for an empty one."""
        match name:
            case "":
                return x
            case "Relu6":
                return self.op("Clip", x, self.constant(0.0), self.constant(6.0))
            case "SiLU":
                return self.op("Mul", x, self.op("Sigmoid", x))
            case "Gelu":
                e = self.op("Erf", self.op("Div", x, self.constant(float(np.sqrt(2)))))
                half = self.op("Mul", x, self.op("Add", e, self.constant(1.0)))
                return self.op("Mul", half, self.constant(0.5))
            case "TanhGelu":
                cube = self.op("Mul", self.op("Pow", x, self.constant(3.0)), self.constant(0.044715))
                inner = self.op("Mul", self.op("Add", x, cube), self.constant(float(np.sqrt(2 / np.pi))))
                more = self.op("Add", self.op("Tanh", inner), self.constant(1.0))
                return self.op("Mul", self.op("Mul", x, more), self.constant(0.5))
            case "PRelu":
                return self.op("PRelu", x, self.constant(np.full((self.channels[x], 1), 0.25)))
            case "LeakyRelu":
                return self.op("LeakyRelu", x, alpha=0.1)
            case _:
                return self.op(name, x)

    def add(self, a: str, b: str) -> str:
        """Their sum."""
        return self.op("Add", a, b)

    def join(self, *values: str, axis: int = 1) -> str:
        """Side by side; along channels unless another axis is told."""
        total = sum(self.channels[v] for v in values) if axis == 1 else 0
        return self.op("Concat", *values, channels=total, axis=axis)

    def max_pool(self, x: str, kernel: int = 2, stride: int = 2) -> str:
        """MaxPool on images; a kernel of 3 with pads."""
        pads = [(kernel - 1) // 2] * 4
        return self.op("MaxPool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)

    def mean_pool(self, x: str, kernel: int, stride: int = 1) -> str:
        """AveragePool on images that leaves pads out."""
        pads = [(kernel - 1) // 2] * 4
        return self.op("AveragePool", x, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads)

    def resize(self, x: str, factor: int, mode: str = "nearest") -> str:
        """An image made larger."""
        how = {"nearest": "asymmetric", "linear": "half_pixel"}[mode]
        scales = self.constant(np.array([1.0, 1.0, factor, factor]))
        more: dict[str, Any] = {"nearest_mode": "floor"} if mode == "nearest" else {}
        return self.op("Resize", x, "", scales, mode=mode, coordinate_transformation_mode=how, **more)

    def squeeze_excite(self, x: str, hidden: int, gate: str = "Sigmoid") -> str:
        """Each channel scaled by what all of them are on average."""
        mean = self.op("GlobalAveragePool", x)
        y = self.conv(mean, hidden, 1, act="Relu", plain=True)
        return self.op("Mul", x, self.act(self.conv(y, self.channels[x], 1, plain=True), gate))

    def classify(self, x: str, classes: int = 100) -> str:
        """The mean of each channel, and a Gemm."""
        flat = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.gemm(flat, classes)

    def gemm(self, x: str, outputs: int, act: str = "", inputs: int = 0) -> str:
        """A Gemm on rows."""
        inputs = inputs or self.channels[x]
        weight = self.random(outputs, inputs, deviation=float(np.sqrt(2 / inputs)))
        bias = self.random(outputs, deviation=0.05)
        return self.act(self.op("Gemm", x, weight, bias, channels=outputs, transB=1), act)

    def linear(self, x: str, inputs: int, outputs: int, act: str = "", bias: bool = True) -> str:
        """MatMul along the last axis, and Add."""
        y = self.op("MatMul", x, self.random(inputs, outputs, deviation=float(np.sqrt(1 / inputs))))
        if bias:
            y = self.op("Add", self.random(outputs, deviation=0.05), y)
        return self.act(y, act)

    def layer_norm(self, x: str, size: int) -> str:
        """LayerNormalization along the last axis."""
        scale = self.constant(np.linspace(0.8, 1.2, size))
        return self.op("LayerNormalization", x, scale, self.random(size, deviation=0.1), axis=-1)

    def rms_norm(self, x: str, size: int) -> str:
        """x over the root of its mean square, as exporters spell it."""
        mean = self.op("ReduceMean", self.op("Pow", x, self.constant(2.0)), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(1e-5)))
        normal = self.op("Mul", x, self.op("Div", self.constant(1.0), root))
        return self.op("Mul", self.constant(np.linspace(0.8, 1.2, size)), normal)

    def shape(self, x: str, *sizes: int) -> str:
        """A Reshape; 0 keeps a size, -1 takes what is left."""
        return self.op("Reshape", x, self.constant(list(sizes)))

    def heads(self, x: str, count: int, size: int, perm: tuple[int, ...] = (0, 2, 1, 3)) -> str:
        """Rows of features as heads of rows."""
        return self.op("Transpose", self.shape(x, 0, -1, count, size), perm=list(perm))

    def attention(
        self, x: str, size: int, heads: int, memory: str = "", mask: str = "", bias: bool = True
    ) -> str:
        """Attention of x to itself or to a memory; `mask` is added to the scores."""
        each, memory = size // heads, memory or x
        q = self.heads(self.linear(x, size, size, bias=bias), heads, each)
        k = self.heads(self.linear(memory, size, size, bias=bias), heads, each, (0, 2, 3, 1))
        v = self.heads(self.linear(memory, size, size, bias=bias), heads, each)
        scores = self.op("Div", self.op("MatMul", q, k), self.constant(float(np.sqrt(each))))
        if mask:
            scores = self.op("Add", scores, mask)
        y = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        y = self.shape(self.op("Transpose", y, perm=[0, 2, 1, 3]), 0, -1, size)
        return self.linear(y, size, size, bias=bias)

    def tokens(self, x: str) -> str:
        """An image as rows of channels."""
        flat = self.shape(x, 0, self.channels[x], -1)
        return self.op("Transpose", flat, perm=[0, 2, 1])

    def image(self, x: str, channels: int, size: int) -> str:
        """Rows of channels as an image."""
        return self.op(
            "Reshape",
            self.op("Transpose", x, perm=[0, 2, 1]),
            self.constant([0, channels, size, size]),
            channels=channels,
        )

    def model(self, *outputs: str) -> ModelProto:
        """The network with those outputs."""
        kind = {k: TensorProto.INT64 if k in self.integers else TensorProto.FLOAT for k in self.inputs}
        graph = helper.make_graph(
            self.nodes,
            self.title,
            [helper.make_tensor_value_info(k, kind[k], ["N", *shape]) for k, shape in self.inputs.items()],
            [helper.make_tensor_value_info(each, TensorProto.FLOAT, None) for each in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.weights.items()],
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        shaped = shape_inference.infer_shapes(model).graph.output
        del model.graph.output[:]
        model.graph.output.extend(shaped)
        return model

    def feed(self, batch: int, seed: int) -> dict[str, Array]:
        """Random numbers for each input: images are coarse patches under noise."""
        rng, feed = np.random.default_rng(seed), dict[str, Array]()
        for name, shape in self.inputs.items():
            if name in self.integers:
                feed[name] = rng.integers(0, self.integers[name], (batch, *shape))
            else:
                feed[name] = rng.standard_normal((batch, *shape)).astype(np.float32)
        return feed
