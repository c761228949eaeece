"""Lines of the verdict and of `explain` that would contradict each other, or say more than is true."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

import qdialect
from qdialect.cli.explain import text
from qdialect.onnx_io.exporter import export_model
from qdialect.report.report import Report

TARGETS = ["onnxruntime", "tensorrt", "openvino", "generic"]
SCALED = {"s": np.float32(0.02), "ws": np.float32(0.01)}


def node(op: str, inputs: str, output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs.split(), [output], output, **attributes)


def pair(name: str, zero: str = "z") -> Iterator[onnx.NodeProto]:
    yield node("QuantizeLinear", f"{name} s {zero}", f"{name}_q")
    yield node("DequantizeLinear", f"{name}_q s {zero}", f"{name}_d")


def compiled(model: onnx.ModelProto, target: str, **options: Any) -> tuple[Report, Counter[str]]:
    """The report, and the operators of the file."""
    report = qdialect.compile(qdialect.load(model), target=target, **options)
    return report, Counter(one.op_type for one in export_model(report.module).graph.node)


def line(report: Report, start: str) -> str:
    """The verdict's line that starts so; empty if there is none."""
    return next((row for row in str(report).splitlines() if row.startswith(start)), "")


def kernels(kind: str) -> onnx.ModelProto:
    """A chain of three QLinearConv or QLinearMatMul, with two casts."""
    rng = np.random.default_rng(2)
    size = (4, 4, 1, 1) if kind == "QLinearConv" else (4, 4)
    weight = rng.integers(-90, 90, size).astype(np.int8)
    products = [node(kind, f"{a} s z w ws wz s z", b) for a, b in (("x_q", "a"), ("a", "b"), ("b", "c"))]
    ends = [node("QuantizeLinear", "x s z", "x_q"), *products, node("DequantizeLinear", "c s z", "y")]
    shape = (1, 4, 5, 5) if kind == "QLinearConv" else (5, 4)
    tensors = {"w": weight, "z": np.uint8(128), "wz": np.int8(0), **SCALED}
    return onnx_model(ends, {"x": [*shape]}, {"y": [*shape]}, tensors)


@pytest.mark.parametrize("kind", ["QLinearConv", "QLinearMatMul"])
@pytest.mark.parametrize("form", ["qdq", "integer", "qoperator"])
def test_no_more_casts_are_left_than_there_were(kind: str, form: str):
    report, ops = compiled(kernels(kind), "onnxruntime", form=form)
    after = ops["QuantizeLinear"] + ops["DequantizeLinear"]
    said = line(report, "casts: ")
    assert said.endswith(" left of 2" if after <= 2 else ", were 2"), said


@pytest.mark.parametrize("target", TARGETS[1:])
def test_casts_of_another_target_were_fewer(target: str):
    assert line(compiled(kernels("QLinearConv"), target)[0], "casts: ").endswith(", were 2")


def joined(axis: int, product: str) -> onnx.ModelProto:
    """A product of two quantized activations that are joined between the casts and the product."""
    rng = np.random.default_rng(3)
    is_images = product == "Conv"
    shape = (1, 2, 4, 4) if is_images else (4, 4)
    size = (3, 4 if axis == 1 else 2, 1, 1) if is_images else (8 if axis == 1 else 4, 3)
    nodes = [*pair("x"), *pair("v"), node("Concat", "x_d v_d", "j", axis=axis), *pair("j")]
    nodes += [node("DequantizeLinear", "w ws", "w_d"), node(product, "j_d w_d", "p"), *pair("p")]
    nodes[-1].output[0] = "y"
    tensors = {"w": rng.integers(-90, 90, size).astype(np.int8), "z": np.uint8(128), **SCALED}
    return onnx_model(nodes, {"x": [*shape], "v": [*shape]}, {"y": [None] * len(shape)}, tensors)


@pytest.mark.parametrize("product", ["Conv", "MatMul"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("target", TARGETS[1:])
def test_products_that_count_as_integers_are_named_as_pairs(target: str, axis: int, product: str):
    """The join stands behind the casts in OpenVINO's file, where the product has no pair of its own in front."""
    report, ops = compiled(joined(axis, product), target)
    assert ops[product] == 1
    assert (report.totals.integer > 0) == (line(report, "in pairs: ") == f"in pairs: 1 {product}")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weight", ["int4", "int8"])
def test_weights_that_stay_integers_are_not_told_as_floats(target: str, weight: str):
    """Weights of 4 bits that a target takes in 8 are larger, and integers."""
    rng = np.random.default_rng(4)
    kind = {"int4": onnx.TensorProto.INT4, "int8": onnx.TensorProto.INT8}[weight]
    stored = helper.make_tensor("w", kind, (64, 32), rng.integers(-8, 8, 64 * 32).tolist())
    arrays = {"s": np.float32(1e-4), "z": np.uint16(30000), "ws": np.float32(0.01)}
    nodes = [*pair("x"), node("DequantizeLinear", "w ws", "w_d"), node("MatMul", "x_d w_d", "p"), *pair("p")]
    nodes[-1].output[0] = "y"
    tensors = [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in arrays.items()]
    model = onnx_model(nodes, {"x": [3, 64]}, {"y": [3, 32]}, [stored, *tensors], opset=21)
    report = qdialect.compile(qdialect.load(model), target=target)
    held = {
        one.name
        for one in export_model(report.module).graph.initializer
        if one.data_type == 1 and len(one.dims) > 1
    }
    assert line(report, "size: ").endswith("floats") == bool(held)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_product_of_two_activations_has_one_reason(ranks: int, transposed: bool):
    """Both are quantized as read; that one is written in float follows from the reason of the product."""
    shape = (2,) * (ranks - 2) + (4, 4)
    nodes = [*pair("x"), *pair("v")]
    if transposed:
        perm = [*range(ranks - 2), ranks - 1, ranks - 2]
        nodes.append(node("Transpose", "v_d", "t", perm=perm))
    nodes += [node("MatMul", f"x_d {'t' if transposed else 'v_d'}", "p"), *pair("p")]
    nodes[-1].output[0] = "y"
    model = onnx_model(nodes, {"x": [*shape], "v": [*shape]}, {"y": [*shape]}, {"z": np.uint8(100), **SCALED})
    report, _ = compiled(model, "openvino")
    said = "\n".join(text(report, everything=False))
    assert "[zero-point]" in said
    assert "the weight is float" not in said
    assert "[float-operand]" not in said


def test_a_product_with_a_weight_alone_is_explained_once():
    nodes = [node("DequantizeLinear", "w ws", "w_d"), node("MatMul", "x w_d", "y")]
    model = onnx_model(nodes, {"x": [3, 4]}, {"y": [3, 4]}, {"w": np.ones((4, 4), np.int8), **SCALED})
    said = text(compiled(model, "tensorrt")[0], everything=False)
    assert sum("[float-operand]" in row for row in said) == 1


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
def test_no_opset_makes_a_product_with_a_packed_weight_integer(target: str, form: str):
    if target == "openvino" and form != "qdq":
        pytest.skip("a form of another target")
    packed = helper.make_node(
        "MatMulNBits",
        ["x", "w", "ws"],
        ["y"],
        "product",
        domain="com.microsoft",
        K=32,
        N=8,
        bits=4,
        block_size=32,
    )
    tensors = {"w": np.full((8, 1, 16), 0x79, np.uint8), "ws": np.full(8, 0.01, np.float32)}
    model = onnx_model([packed], {"x": [3, 32]}, {"y": [3, 8]}, tensors, opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    report, _ = compiled(model, target, form=form)
    assert [one.reasons[0].blocked.id for one in report.layers if one.is_float] == ["weight-alone"]


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("product", ["MatMul", "Conv"])
def test_close_is_not_advised_where_the_target_has_no_kernel(product: str, bits: int):
    size, shape = ((3, 2, 1, 1), (1, 2, 4, 4)) if product == "Conv" else ((4, 3), (4, 4))
    nodes = [*pair("x"), node("DequantizeLinear", "w ws", "w_d"), node(product, "x_d w_d", "p"), *pair("p")]
    nodes[-1].output[0] = "y"
    zero = np.uint16(30000) if bits == 16 else np.uint8(128)
    tensors = {"w": np.ones(size, np.int8), "z": zero, **SCALED}
    model = onnx_model(nodes, {"x": [*shape]}, {"y": [None] * len(shape)}, tensors, opset=21)
    report, _ = compiled(model, "onnxruntime", exactness="exact")
    advised = "allow --exactness close" in line(report, "float: ")
    close, _ = compiled(model, "onnxruntime")
    assert advised == (close.totals.integer > 0) == (bits == 8)


def test_integers_of_8_bits_are_not_told_to_be_quantized_in_8_bits():
    model = kernels("QLinearConv")
    for one in model.graph.initializer:
        if one.name == "z":
            one.CopyFrom(onnx.numpy_helper.from_array(np.array(0, np.int8), "z"))
    report, _ = compiled(model, "onnxruntime", exactness="exact")
    slow = [one.blocked for one in report.breaches if one.blocked.id == "slow-kernel"]
    assert slow
    assert all(one.fix == "quantize activations in u8" for one in slow)
    assert not any("quantize in 8 bits" in row for row in text(report, everything=False))


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
@pytest.mark.parametrize("product", ["Conv", "MatMul", "Gemm", "ConvTranspose"])
def test_a_product_between_casts_is_not_told_that_nothing_is_quantized(product: str, form: str):
    """A small weight that is scaled along its inputs becomes floats, and another product takes its place."""
    is_images = product.startswith("Conv")
    size = {"Conv": (4, 8, 3, 3), "ConvTranspose": (8, 4, 3, 3)}.get(product, (8, 4))
    nodes = [
        *pair("x"),
        node("DequantizeLinear", "w ws", "w_d", axis=1 if product == "Conv" else 0),
        node(product, "x_d w_d", "p"),
    ]
    nodes.append(
        node("BatchNormalization" if is_images else "Softsign", "p a b a a" if is_images else "p", "y")
    )
    weight = np.random.default_rng(1).integers(-90, 90, size).astype(np.int8)
    shape = [1, 8, 4, 6] if is_images else [3, 8]
    tensors = {"w": weight, "z": np.uint8(85), **SCALED}
    tensors |= {"a": np.linspace(0.5, 1.5, 4, dtype=np.float32), "b": np.ones(4, np.float32)}
    tensors["ws"] = np.linspace(0.003, 0.01, 8, dtype=np.float32)
    model = onnx_model(nodes, {"x": shape}, {"y": [None] * len(shape)}, tensors, opset=21)
    report, _ = compiled(model, "onnxruntime", form=form)
    floats = [one for one in report.layers if one.is_float and one.operator == product]
    assert "not-quantized" not in {one.reasons[0].blocked.id for one in floats}
