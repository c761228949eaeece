"""
Models compiled to linalg, all passes, against onnxruntime on the model as it is compiled for it: bit for bit, but for
ops whose kernels add or scale in another order, which are named with how far they may be apart.

Each case is a branch of one model with an output of its own, for a shared object takes seconds to build.
"""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx import NodeProto, TensorProto
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import session
from qdialect.upstream.binaries import tool, write_binary

pytestmark = pytest.mark.skipif(
    tool("mlir-opt-22", "mlir-opt") is None or tool("mlir-runner-22", "mlir-runner") is None,
    reason="there is no mlir-opt or mlir-runner",
)

Array = npt.NDArray[Any]
IMAGE, ROWS = [1, 4, 6, 8], [1, 5, 8]
IMAGE_SCALE = 0.0217
OPSET = 20


class Branches:
    """Nodes and constants of branches that read the inputs `image` and `rows`."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.outputs: list[str] = []
        self._draw = np.random.default_rng(29)
        self._count = 0
        self._scales: dict[str, npt.NDArray[np.float32]] = {}

    def constant(self, array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> str:
        name = self._name()
        self.constants.append(onh.from_array(np.asarray(array, dtype), name))
        return name

    def op(self, kind: str, *inputs: str, count: int = 1, **attributes: Any) -> str:
        outputs = [self._name() for _ in range(count)]
        self.nodes.append(oh.make_node(kind, list(inputs), outputs, **attributes))
        return outputs[0]

    def cast(self, value: str, scale: float, zero_point: int, dtype: npt.DTypeLike = np.uint8) -> str:
        """`value` quantized and dequantized."""
        parameters = self.constant(scale, np.float32), self.constant(zero_point, dtype)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", value, *parameters), *parameters)

    def weight(self, *shape: int, scale: float = 0.0113, axis: int | None = None) -> str:
        count = () if axis is None else shape[axis]
        scales = (scale * self._draw.uniform(0.5, 1, count)).astype(np.float32)
        value = self._dequantized(self._draw.integers(-127, 128, shape), np.int8, scales, axis)
        self._scales[value] = scales
        return value

    def bias(self, count: int) -> str:
        return self.constant(self._draw.normal(0, 0.5, count), np.float32)

    def stored_bias(self, weight: str, count: int) -> str:
        """Of sums of the image times a weight, in steps of theirs."""
        steps = np.broadcast_to(self._scales[weight] * np.float32(IMAGE_SCALE), count)
        return self._dequantized(np.rint(self._draw.normal(0, 0.5, count) / steps), np.int32, steps, 0)

    def _dequantized(
        self, stored: Array, dtype: npt.DTypeLike, scales: npt.NDArray[np.float32], axis: int | None
    ) -> str:
        parameters = (
            self.constant(stored, dtype),
            self.constant(scales),
            self.constant(np.zeros(scales.shape), dtype),
        )
        return self.op("DequantizeLinear", *parameters, **({} if axis is None else {"axis": axis}))

    def _name(self) -> str:
        self._count += 1
        return f"t{self._count}"


def convolution(b: Branches, x: str, rows: str) -> str:
    y = b.op("Conv", x, b.weight(6, 2, 3, 3, axis=0), b.bias(6), group=2, pads=[1, 0, 0, 2], strides=[1, 2])
    return b.cast(b.op("Relu", b.cast(y, 0.031, 117)), 0.031, 117)


def depthwise(b: Branches, x: str, rows: str) -> str:
    y = b.op("Conv", x, b.weight(8, 1, 3, 2, axis=0), group=4, dilations=[1, 2])
    return b.cast(b.op("Clip", y, b.constant(0, np.float32), b.constant(6, np.float32)), 0.0237, 3)


def transposed(b: Branches, x: str, rows: str) -> str:
    weight = b.weight(4, 3, 2, 2, axis=1)
    y = b.op("ConvTranspose", x, weight, b.stored_bias(weight, 3), strides=[2, 2])
    return b.cast(y, 0.037, 120)


def transposed_relu(b: Branches, x: str, rows: str) -> str:
    y = b.op("ConvTranspose", x, b.weight(4, 2, 3, 2), strides=[2, 1], pads=[1, 0, 0, 1], group=2)
    return b.cast(b.op("Relu", y), 0.029, 0)


def gemm(b: Branches, x: str, rows: str) -> str:
    flat = b.op("Flatten", x)
    y = b.op("Gemm", flat, b.weight(7, 192, axis=0), b.bias(7), transB=1)
    return b.cast(y, 0.11, 129)


def product(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("MatMul", rows, b.weight(8, 6, axis=1)), 0.047, 125)


def scores(b: Branches, x: str, rows: str) -> str:
    """Two activations."""
    keys = b.cast(b.op("MatMul", rows, b.weight(8, 8)), 0.047, 125)
    return b.cast(b.op("MatMul", rows, b.op("Transpose", keys, perm=[0, 2, 1])), 0.23, 100)


def gelu(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("Gelu", rows), 0.0113, 15)


def gelu_tanh(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("Gelu", rows, approximate="tanh"), 0.0113, 15)


def gelu_of_erf(b: Branches, x: str, rows: str) -> str:
    y = b.cast(b.op("MatMul", rows, b.weight(8, 6, axis=1)), 0.047, 125)
    erf = b.op("Erf", b.op("Div", y, b.constant(np.sqrt(2), np.float32)))
    half = b.op("Mul", y, b.op("Add", erf, b.constant(1, np.float32)))
    return b.cast(b.op("Mul", half, b.constant(0.5, np.float32)), 0.027, 8)


def unary(kind: str, scale: float, zero_point: int, **attributes: Any) -> Any:
    def branch(b: Branches, x: str, rows: str) -> str:
        return b.cast(b.op(kind, rows, **attributes), scale, zero_point)

    return branch


def joined(b: Branches, x: str, rows: str) -> str:
    """Two scales, neither that of the result."""
    first = b.cast(b.op("Conv", x, b.weight(3, 4, 1, 1, axis=0)), 0.031, 117)
    return b.cast(b.op("Concat", first, x, axis=1), 0.043, 90)


def moved(b: Branches, x: str, rows: str) -> str:
    y = b.op("DepthToSpace", x, blocksize=2)
    y = b.op("Reshape", b.op("Transpose", y, perm=[0, 2, 1, 3]), b.constant([1, 12, 16], np.int64))
    y = b.op("Split", y, axis=2, count=2, num_outputs=2)
    y = b.op("Gather", y, b.constant([[3, -1], [0, 7]], np.int64), axis=1)
    limits = [b.constant(k, np.int64) for k in ([1], [8], [3], [3])]
    y = b.op("Slice", y, *limits)
    return b.cast(b.op("Squeeze", b.op("Unsqueeze", y, b.constant([1], np.int64))), 0.0217, 131)


def pooled(b: Branches, x: str, rows: str) -> str:
    return b.op("MaxPool", x, kernel_shape=[3, 2], pads=[1, 0, 1, 0], strides=[2, 1])


def averaged(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("AveragePool", x, kernel_shape=[3, 2], strides=[2, 1]), 0.0171, 119)


def mean(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("GlobalAveragePool", x), 0.0083, 119)


def reduced(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("ReduceMean", rows, b.constant([1], np.int64), keepdims=0), 0.0083, 119)


def padded(b: Branches, x: str, rows: str) -> str:
    return b.op("Pad", x, b.constant([0, 0, 1, 2, 0, 1, 0, 1], np.int64))


def resized(b: Branches, x: str, rows: str) -> str:
    scales = b.constant([1, 1, 2, 2], np.float32)
    return b.op(
        "Resize",
        x,
        "",
        scales,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )


def binary(kind: str, scale: float, zero_point: int) -> Any:
    def branch(b: Branches, x: str, rows: str) -> str:
        other = b.cast(b.op("MatMul", rows, b.weight(8, 8)), 0.047, 125)
        return b.cast(b.op(kind, rows, other), scale, zero_point)

    return branch


def normalized(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("LayerNormalization", rows, b.bias(8), b.bias(8)), 0.0139, 128)


def instances(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("InstanceNormalization", x, b.bias(4), b.bias(4)), 0.0139, 128)


def interpolated(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("Resize", x, "", b.constant([1, 1, 1.5, 2], np.float32), mode="linear"), 0.0239, 131)


def recurrent(kind: str, gates: int) -> Any:
    """Both directions, step by step."""

    def branch(b: Branches, x: str, rows: str) -> str:
        draw = np.random.default_rng(gates)
        weights = [b.constant(draw.normal(0, 0.4, (2, gates * 6, k)), np.float32) for k in (8, 6)]
        steps = b.op("Transpose", rows, perm=[1, 0, 2])
        return b.cast(b.op(kind, steps, *weights, hidden_size=6, direction="bidirectional"), 0.0073, 125)

    return branch


def softmax(b: Branches, x: str, rows: str) -> str:
    return b.cast(b.op("Softmax", rows), 1 / 256, 0)


def dynamic_convolution(b: Branches, x: str, rows: str) -> str:
    first = len(b.nodes)
    stored = b.op("DynamicQuantizeLinear", x, count=3)
    zero = b.nodes[first].output[2]
    weight = b.constant(np.random.default_rng(4).integers(-128, 128, (3, 4, 2, 3)), np.int8)
    return b.op("Cast", b.op("ConvInteger", stored, weight, zero, pads=[1, 0, 0, 1]), to=TensorProto.FLOAT)


def dynamic(b: Branches, x: str, rows: str) -> str:
    """Integers of a range that is computed, and the sums of products of them."""
    first = len(b.nodes)
    stored = b.op("DynamicQuantizeLinear", rows, count=3)
    zero = b.nodes[first].output[2]
    weight = b.constant(np.random.default_rng(3).integers(-128, 128, (8, 6)), np.int8)
    return b.op("Cast", b.op("MatMulInteger", stored, weight, zero), to=TensorProto.FLOAT)


def compared(b: Branches, x: str, rows: str) -> str:
    where = b.op("Less", rows, b.constant(0.1, np.float32))
    y = b.op(
        "Where",
        where,
        rows,
        b.op("Reciprocal", b.op("Sqrt", b.op("Max", rows, b.constant(0.25, np.float32)))),
    )
    return b.op("Min", b.op("ReduceMax", y, b.constant([1], np.int64)), b.constant(1.5, np.float32))


SAME = {
    "convolution": convolution,
    "depthwise convolution": depthwise,
    "transposed convolution": transposed,
    "transposed convolution of groups": transposed_relu,
    "Gemm": gemm,
    "product": product,
    "product of activations": scores,
    "Gelu": gelu,
    "Gelu by tanh": gelu_tanh,
    "Gelu of its parts": gelu_of_erf,
    "Sigmoid": unary("Sigmoid", 1 / 256, 0),
    "Tanh": unary("Tanh", 1 / 128, 128),
    "LeakyRelu": unary("LeakyRelu", 0.0113, 19, alpha=0.1),
    "Exp": unary("Exp", 0.0413, 0),
    "Concat": joined,
    "moves": moved,
    "MaxPool": pooled,
    "AveragePool": averaged,
    "GlobalAveragePool": mean,
    "ReduceMean": reduced,
    "Pad": padded,
    "Resize": resized,
    "Mul": binary("Mul", 0.0313, 128),
    "Min": binary("Min", 0.0213, 118),
    "Max": binary("Max", 0.0213, 118),
    "Div": binary("Div", 0.0713, 118),
    "dynamic quantization": dynamic,
    "dynamic convolution": dynamic_convolution,
    "Where": compared,
}
APART = {
    "HardSwish": unary("HardSwish", 0.0113, 19),
    "Add": binary("Add", 0.047, 121),
    "Sub": binary("Sub", 0.047, 121),
    "Softmax": softmax,
    "LayerNormalization": normalized,
    "InstanceNormalization": instances,
    "Resize between pixels": interpolated,
    "LSTM": recurrent("LSTM", 4),
    "GRU": recurrent("GRU", 3),
    "RNN": recurrent("RNN", 1),
}
"""A step of the result apart at most, a tenth of the elements at most."""
CASES = SAME | APART
SEEDS = 6


def model() -> onnx.ModelProto:
    """All cases, each an output."""
    b = Branches()
    image, rows = b.cast("image", IMAGE_SCALE, 131), b.cast("rows", 0.0171, 119)
    outputs = [b.op("Identity", branch(b, image, rows)) for branch in CASES.values()]
    return onnx_model(
        b.nodes,
        {n: (TensorProto.FLOAT, s) for n, s in (("image", IMAGE), ("rows", ROWS))},
        {name: None for name in outputs},
        b.constants,
        opset=OPSET,
        ir_version=9,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[Array, Array]]]:
    """For each case, what a shared object and onnxruntime compute, of each seed."""
    folder = tmp_path_factory.mktemp("models")
    source, text, library = folder / "m.onnx", folder / "m.mlir", folder / "m.so"
    source.write_bytes(model().SerializeToString())
    for target, path in (("onnxruntime", folder / "o.onnx"), ("linalg", text)):
        module = qdialect.load(source)
        qdialect.compile(module, target=target)
        qdialect.save(module, path)
    write_binary(text.read_text(), library)
    runner = session(str(folder / "o.onnx"), optimize=True)
    pairs: list[list[tuple[Array, Array]]] = [[] for _ in CASES]
    for seed in range(SEEDS):
        draw = np.random.default_rng(seed)
        feeds = {
            name: draw.normal(0, 1.2, shape).astype(np.float32)
            for name, shape in (("image", IMAGE), ("rows", ROWS))
        }
        wanted: list[Array] = list(runner.run(None, feeds))
        got = [np.zeros_like(array) for array in wanted]
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (*feeds.values(), *got)]
        ctypes.CDLL(str(library)).model(*pointers)
        for rows, pair in zip(pairs, zip(got, wanted, strict=True), strict=True):
            rows.append(pair)
    return pairs


@pytest.mark.parametrize("name", SAME)
def test_linalg_computes_the_bits_of_onnxruntime(name: str, results: list[list[tuple[Array, Array]]]):
    for got, wanted in results[list(CASES).index(name)]:
        assert np.unique(wanted).size > 2
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", APART)
def test_linalg_is_a_step_apart_at_most(name: str, results: list[list[tuple[Array, Array]]]):
    got, wanted = (np.stack(arrays) for arrays in zip(*results[list(CASES).index(name)], strict=True))
    step = np.diff(np.unique(wanted)).min()
    assert np.abs(got - wanted).max() <= step * 1.001
    assert (got != wanted).mean() <= 0.1
