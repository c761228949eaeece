"""Ops in the integer profile of TOSA, as text, and how far its arithmetic is from that of casts."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from guard_cases import full_context
from xdsl.context import Context

from qdialect.checking.numerics_check import observe
from qdialect.ir.interface import main_of
from qdialect.text.assembly import ModuleParser
from qdialect.transforms.lower_to_tosa import LowerToTosaPass
from qdialect.upstream.tosa_interpreter import run_integer

ROOT = Path(__file__).parents[2]


TYPES = """
!x = !quant.uniform<i8:f32, 0.05:3>
!z = !quant.uniform<i8:f32, 0.031:-20>
!y = !quant.uniform<i8:f32, 0.07:-9>
!p = !quant.uniform<i8:f32, 0.00390625:-128>
!n = !quant.uniform<i8<-100:90>:f32, 0.041:7>
!w = !quant.uniform<i8:f32:0, {0.02,0.011,0.03,0.007}>
!v = !quant.uniform<i8:f32:1, {0.02,0.011}>
!e = !quant.uniform<i8:f32, 0.0625:5>
!m = !quant.uniform<i8:f32, 0.013:4>
!d = !quant.uniform<i8:f32, 0.03125>
!f = !quant.uniform<i8:f32, 0.125:-6>
!q = !quant.uniform<u8:f32, 0.02:130>
"""


HEAD = 'builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {\n'


def constant(name: str, shape: str, type: str, values: npt.NDArray[np.int8]) -> str:
    listed = f'"0x{values.astype(np.int8).tobytes().hex()}"'
    return f"  %{name} = onnx.Constant() {{value = #onnx.tensor<{listed} : tensor<{shape}xi8>>}} : () -> tensor<{shape}x{type}>\n"


def weights(count: int) -> npt.NDArray[np.int8]:
    return np.random.default_rng(count).integers(-128, 128, count).astype(np.int8)


def case(arguments: str, body: str, result: str) -> str:
    arguments = re.sub(r"%(\w+): (tensor<[^>]*>)", r'%\1: \2 {onnx.name = "\1"}', arguments)
    return f"func.func @main({arguments}) -> {result} {{\n{body}  func.return %y : {result}\n}}\n"


W = constant("w", "4x3x2x3", "!w", weights(72))


CASES = {
    "conv": case(
        "%x: tensor<2x3x7x6x!x>",
        W
        + "  %y = onnx.Conv(%x, %w) {pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 2>} : (tensor<2x3x7x6x!x>, tensor<4x3x2x3x!w>) -> tensor<2x4x4x3x!y>\n",
        "tensor<2x4x4x3x!y>",
    ),
    "conv_groups": case(
        "%x: tensor<1x6x7x6x!x>",
        W
        + "  %y = onnx.Conv(%x, %w) {group = 2 : i64, dilations = array<i64: 2, 1>} : (tensor<1x6x7x6x!x>, tensor<4x3x2x3x!w>) -> tensor<1x4x5x4x!n>\n",
        "tensor<1x4x5x4x!n>",
    ),
    "conv_depthwise": case(
        "%x: tensor<1x2x7x6x!x>",
        constant("w", "4x1x2x3", "!w", weights(24))
        + "  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<1x2x7x6x!x>, tensor<4x1x2x3x!w>) -> tensor<1x4x6x4x!y>\n",
        "tensor<1x4x6x4x!y>",
    ),
    "conv_1d": case(
        "%x: tensor<1x3x7x!x>",
        constant("w", "4x3x2", "!w", weights(24))
        + "  %y = onnx.Conv(%x, %w) {strides = array<i64: 2>} : (tensor<1x3x7x!x>, tensor<4x3x2x!w>) -> tensor<1x4x3x!y>\n",
        "tensor<1x4x3x!y>",
    ),
    "conv_transpose": case(
        "%x: tensor<1x3x4x5x!x>",
        constant("w", "3x2x3x2", "!v", weights(36))
        + "  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2, 3>, pads = array<i64: 1, 0, 0, 1>, output_padding = array<i64: 1, 0>} : (tensor<1x3x4x5x!x>, tensor<3x2x3x2x!v>) -> tensor<1x2x9x13x!y>\n",
        "tensor<1x2x9x13x!y>",
    ),
    "matmul": case(
        "%x: tensor<2x3x5x!x>",
        constant("w", "5x2", "!v", weights(10))
        + "  %y = onnx.MatMul(%x, %w) : (tensor<2x3x5x!x>, tensor<5x2x!v>) -> tensor<2x3x2x!y>\n",
        "tensor<2x3x2x!y>",
    ),
    "matmul_two": case(
        "%x: tensor<2x3x5x!x>, %z: tensor<2x5x4x!m>",
        "  %y = onnx.MatMul(%x, %z) : (tensor<2x3x5x!x>, tensor<2x5x4x!m>) -> tensor<2x3x4x!y>\n",
        "tensor<2x3x4x!y>",
    ),
    "average_pool": case(
        "%x: tensor<1x2x5x6x!x>",
        "  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 3, 2>, pads = array<i64: 1, 0, 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x2x5x6x!x>) -> tensor<1x2x3x6x!z>\n",
        "tensor<1x2x3x6x!z>",
    ),
    "max_pool": case(
        "%x: tensor<1x2x5x6x!x>",
        "  %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 3, 2>, pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 2, 2>} : (tensor<1x2x5x6x!x>) -> tensor<1x2x2x3x!x>\n",
        "tensor<1x2x2x3x!x>",
    ),
    "mean": case(
        "%x: tensor<2x3x5x!x>",
        "  %a = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>\n"
        "  %y = onnx.ReduceMean(%x, %a) {keepdims = 0 : i64} : (tensor<2x3x5x!x>, tensor<1xi64>) -> tensor<2x5x!z>\n",
        "tensor<2x5x!z>",
    ),
    "resize": case(
        "%x: tensor<1x2x3x4x!x>",
        "  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 3.0] : tensor<4xf32>>} : () -> tensor<4xf32>\n"
        '  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<1x2x3x4x!x>, tensor<4xf32>) -> tensor<1x2x6x12x!x>\n',
        "tensor<1x2x6x12x!x>",
    ),
    "nearest": case(
        "%x: tensor<1x2x4x3x!x>",
        "  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>\n"
        '  %y = onnx.Resize(%x, _, %s) {mode = "nearest"} : (tensor<1x2x4x3x!x>, tensor<4xf32>) -> tensor<1x2x8x3x!x>\n',
        "tensor<1x2x8x3x!x>",
    ),
    "concat": case(
        "%x: tensor<2x3x!x>, %z: tensor<2x4x!z>",
        "  %y = onnx.Concat(%x, %z) {axis = 1 : i64} : (tensor<2x3x!x>, tensor<2x4x!z>) -> tensor<2x7x!y>\n",
        "tensor<2x7x!y>",
    ),
    "softmax": case(
        "%x: tensor<3x12x!x>",
        "  %y = onnx.Softmax(%x) : (tensor<3x12x!x>) -> tensor<3x12x!p>\n",
        "tensor<3x12x!p>",
    ),
    "softmax_long": case(
        "%x: tensor<2x700x!m>",
        "  %y = onnx.Softmax(%x) : (tensor<2x700x!m>) -> tensor<2x700x!p>\n",
        "tensor<2x700x!p>",
    ),
}


def parsed(text: str):
    context = full_context()
    return ModuleParser(context, f"{TYPES}{HEAD}{text}}}\n", "test", None).parse_module()


def lowered(text: str):
    module = parsed(text)
    LowerToTosaPass().apply(Context(), module)
    module.verify()
    return module


def compared(text: str, feeds: list[npt.NDArray[np.int8]]) -> npt.NDArray[np.int64]:
    """How far the two arithmetics are apart, in steps of the result's scale."""
    before = parsed(text)
    end = main_of(before).body.block.last_op
    assert end is not None
    seen = observe(before, dict(zip("xz", feeds, strict=False)))
    (validator,) = run_integer(lowered(text), feeds)
    return np.abs(seen[end.operands[0]].stored.astype(np.int64) - validator)


def digits_int8(folder: Path) -> None:
    """The example with its scores quantized too."""
    model = onnx.load(ROOT / "examples" / "digits_qdq.onnx")
    graph, (score,) = model.graph, model.graph.output
    parameters = {"score_scale": np.float32(0.15), "score_zero": np.int8(7)}
    graph.initializer.extend(onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in parameters.items())
    quantize = onnx.helper.make_node("QuantizeLinear", [score.name, *parameters], ["score_q"])
    dequantize = onnx.helper.make_node("DequantizeLinear", ["score_q", *parameters], ["score_int8"])
    graph.node.extend([quantize, dequantize])
    score.name = "score_int8"
    onnx.save(model, folder / "digits_int8.onnx")
