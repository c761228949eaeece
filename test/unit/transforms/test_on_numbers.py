"""The passes before and after fusion on numbers: each against the model it was given, without any optimization."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.context import Context

from graphs.structure import difference
from qdialect.api import compile
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from qdialect.ir.interface import read_interface
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]
Shape = tuple[int, ...]

X_SCALE, X_ZERO = 0.02, 117
W_SCALE = 0.01
Y_SCALE, Y_ZERO = 0.05, 121


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def inputs(*shapes: Shape) -> list[Array]:
    """Real numbers that fill the range of u8 under `X_SCALE` and `X_ZERO`, and go a little over it."""
    draw = rng()
    return [draw.uniform(-2.5, 2.9, shape).astype(np.float32) for shape in shapes]


def constants(**others: Any) -> dict[str, Array]:
    """The scales and zero points of x, w and y, and others."""
    common = {
        "xs": np.float32(X_SCALE), "xz": np.uint8(X_ZERO), "ys": np.float32(Y_SCALE), "yz": np.uint8(Y_ZERO),
        "ws": np.float32(W_SCALE), "wz": np.int8(0),
    }  # fmt: skip
    return {k: np.asarray(v) for k, v in (common | others).items()}


def pair(source: str, result: str, parameters: str = "x") -> list[onnx.NodeProto]:
    """Quantize and dequantize."""
    scale, zero = f"{parameters}s", f"{parameters}z"
    return [
        oh.make_node("QuantizeLinear", [source, scale, zero], [f"{result}_q"]),
        oh.make_node("DequantizeLinear", [f"{result}_q", scale, zero], [result]),
    ]


def model(
    nodes: list[onnx.NodeProto], tensors: dict[str, Array], shapes: list[Shape], results: list[str]
) -> onnx.ModelProto:
    """Inputs `x`, `x1`, ... of floats."""
    used = {i for n in nodes for i in n.input}
    names = ["x", *(f"x{k}" for k in range(1, len(shapes)))]
    proto = onnx_model(
        nodes,
        {n: (1, s) for n, s in zip(names, shapes, strict=True)},
        {r: None for r in results},
        {k: v for k, v in tensors.items() if k in used},
    )
    return onnx.shape_inference.infer_shapes(proto, strict_mode=True)


def passed(proto: onnx.ModelProto, *names: str, **options: Any) -> onnx.ModelProto:
    """The model after casts are raised, the passes, the last of them with options, and the casts written again."""
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    for name in ("raise-qdq", *names, "lower-to-qdq"):
        get_all_passes()[name]()(**(options if name == names[-1] else {})).apply(Context(), module)
    module.verify()
    return export_model(module)


def compiled(proto: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    compile(module, **options)
    return export_model(module)


def ops(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(n.op_type for n in proto.graph.node)


def results(proto: onnx.ModelProto, feeds: list[Array]) -> list[Array]:
    return run(proto, {i.name: x for i, x in zip(proto.graph.input, feeds, strict=True)})


def assert_equal(before: onnx.ModelProto, after: onnx.ModelProto, feeds: list[Array]) -> None:
    for old, new in zip(results(before, feeds), results(after, feeds), strict=True):
        assert np.ptp(old) > 0
        np.testing.assert_array_equal(new, old)


def assert_close(
    before: onnx.ModelProto, after: onnx.ModelProto, feeds: list[Array], step: float | None = None
) -> None:
    """Within one step of the result's scale, or 1e-4 of the largest magnitude."""
    for old, new in zip(results(before, feeds), results(after, feeds), strict=True):
        assert np.ptp(old) > 0
        allowed = 1e-4 * np.abs(old).max() if step is None else step * 1.0001
        np.testing.assert_allclose(new, old, rtol=0, atol=allowed)


# --- decompose and compose ---


def gemm(c: Array | None, **attributes: Any) -> tuple[onnx.ModelProto, list[Array]]:
    """x -> pair -> Gemm on int8 weights, 5 x 6 by 6 x 4."""
    x_shape = (6, 5) if attributes.get("transA") else (5, 6)
    w_shape = (4, 6) if attributes.get("transB") else (6, 4)
    tensors = constants(w=rng().integers(-128, 128, w_shape).astype(np.int8))
    operands = ["r", "v"]
    if c is not None:
        tensors["c"] = c
        operands.append("c")
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("Gemm", operands, ["y"], **attributes),
    ]
    return model(nodes, tensors, [x_shape], ["y"]), inputs(x_shape)


GEMMS: list[tuple[Shape | None, dict[str, Any], dict[str, int]]] = [
    (None, {"beta": 3.0}, {"MatMul": 1}),
    ((4,), {}, {"MatMul": 1, "Add": 1}),
    ((5, 1), {"transA": 1, "alpha": 0.3}, {"MatMul": 1, "Add": 1, "Mul": 1, "Transpose": 1}),
    ((1, 4), {"transB": 1, "beta": -1.7}, {"MatMul": 1, "Add": 1, "Mul": 1, "Transpose": 1}),
    ((), {"transA": 1, "transB": 1, "alpha": 0.3, "beta": 2.5}, {"MatMul": 1, "Add": 1, "Mul": 2, "Transpose": 2}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "attributes", "parts"), GEMMS)
def test_a_decomposed_gemm_is_close(shape: Shape | None, attributes: dict[str, Any], parts: dict[str, int]):
    c = None if shape is None else rng().uniform(-3, 3, shape).astype(np.float32)
    proto, feeds = gemm(c, **attributes)
    after = passed(proto, "decompose", ops=("Gemm",))
    casts = {"QuantizeLinear": 1, "DequantizeLinear": 2}
    assert {k: v for k, v in ops(after).items() if k != "Constant"} == {**parts, **casts}
    assert_close(proto, after, feeds)
    assert ops(passed(proto, "decompose", ops=("BatchNormalization",)))["Gemm"] == 1


@pytest.mark.parametrize(("parts", "adds"), [((), 0), (("Gemm",), 1)])
def test_what_was_taken_apart_stays_apart(parts: tuple[str, ...], adds: int):
    case, feeds = gemm(rng().uniform(-3, 3, 4).astype(np.float32))
    module = import_model(case)
    compile(module, decompose=parts)
    compiled = export_model(module)
    assert ops(compiled).get("Add", 0) == adds
    assert_close(case, compiled, feeds)


def test_a_decomposed_normalization_is_close():
    draw = rng()
    tensors = constants(
        gamma=draw.normal(0, 1, 3).astype(np.float32),
        beta=draw.normal(0, 1, 3).astype(np.float32),
        mean=draw.normal(0, 1, 3).astype(np.float32),
        variance=np.array([1e-9, 0.5, 7], np.float32),
    )
    node = oh.make_node(
        "BatchNormalization", ["x", "gamma", "beta", "mean", "variance"], ["y"], epsilon=0.003
    )
    proto = model([node], tensors, [(2, 3, 4, 5)], ["y"])
    after = passed(proto, "decompose", ops=("BatchNormalization",))
    assert ops(after) == {"Mul": 1, "Add": 1}
    assert_close(proto, after, inputs((2, 3, 4, 5)))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(4,), (1, 4)])
def test_a_composed_product_is_close(first: bool, shape: Shape):
    tensors = constants(
        w=rng().integers(-128, 128, (6, 4)).astype(np.int8), b=rng().uniform(-3, 3, shape).astype(np.float32)
    )
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["r", "v"], ["p"]),
        oh.make_node("Add", ["b", "p"] if first else ["p", "b"], ["s"]),
        *pair("s", "y", "y"),
    ]
    proto, feeds = model(nodes, tensors, [(5, 6)], ["y"]), inputs((5, 6))
    after = passed(proto, "compose")
    assert (ops(after)["Gemm"], ops(after)["MatMul"], ops(after)["Add"]) == (1, 0, 0)
    assert_close(proto, after, feeds, Y_SCALE)
    integer = compiled(proto)
    assert ops(integer) == {"QuantizeLinear": 1, "QGemm": 1, "DequantizeLinear": 1}
    assert_close(proto, integer, feeds, Y_SCALE)


# --- fold-identity ---


def test_copies_go_and_outputs_keep_their_names():
    nodes = [
        oh.make_node("Identity", ["x"], ["a"]),
        oh.make_node("Identity", ["a"], ["y"]),
        oh.make_node("Neg", ["a"], ["n"]),
        oh.make_node("Identity", ["n"], ["z"]),
        oh.make_node("Identity", ["n"], ["w"]),
    ]
    proto = model(nodes, {}, [(2, 3)], ["y", "z", "n", "w"])
    after = passed(proto, "fold-identity")
    assert [o.name for o in after.graph.output] == ["y", "z", "n", "w"]
    assert ops(after)["Neg"] == 1
    assert_equal(proto, after, inputs((2, 3)))


# --- fold-pad ---


def padded(window: onnx.NodeProto, pads: list[int], **others: Any) -> tuple[onnx.ModelProto, list[Array]]:
    """x -> pair -> Pad -> window -> pair, with u8 whose zero is not 0."""
    draw = rng()
    tensors = constants(p=np.array(pads), w=draw.integers(-128, 128, (4, 3, 4, 3)).astype(np.int8), **others)
    nodes = [
        *pair("x", "r"),
        oh.make_node("Pad", ["r", "p"], ["a"]),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        window,
        *pair("t", "y", "y"),
    ]
    nodes = nodes if window.op_type == "Conv" else [n for n in nodes if n.output[0] != "v"]
    return model(nodes, tensors, [(2, 3, 6, 5)], ["y"]), inputs((2, 3, 6, 5))


WINDOWS: list[tuple[str, dict[str, Any], list[int], str]] = [
    ("Conv", {}, [1, 2, 3, 4], "QLinearConv"),
    ("Conv", {"pads": [3, 0, 1, 5], "strides": [2, 3]}, [1, 2, 3, 4], "QLinearConv"),
    ("Conv", {"auto_pad": "VALID", "dilations": [1, 2]}, [0, 4, 1, 2], "QLinearConv"),
    ("AveragePool", {"kernel_shape": [4, 3]}, [1, 2, 3, 0], "AveragePool"),
    (
        "AveragePool",
        {"kernel_shape": [4, 3], "pads": [0, 1, 2, 0], "count_include_pad": 1},
        [1, 1, 1, 2],
        "AveragePool",
    ),
    (
        "AveragePool",
        {"kernel_shape": [4, 3], "count_include_pad": 1, "strides": [3, 2]},
        [3, 2, 0, 1],
        "QLinearAveragePool",
    ),
]
"""A window, the Pad before it, and the kernel it runs in: more means than pixels are cheaper in float."""


@pytest.mark.parametrize(("kind", "attributes", "pads", "kernel"), WINDOWS)
def test_a_window_that_pads_itself_is_the_same(
    kind: str, attributes: dict[str, Any], pads: list[int], kernel: str
):
    operands = ["a", "v"] if kind == "Conv" else ["a"]
    proto, feeds = padded(
        oh.make_node(kind, operands, ["t"], **attributes), [0, 0, *pads[:2], 0, 0, *pads[2:]]
    )
    after = passed(proto, "fold-pad")
    assert "Pad" not in ops(after)
    assert_equal(proto, after, feeds)
    integer = compiled(proto)
    assert "Pad" not in ops(integer)
    assert ops(integer)[kernel] == 1
    assert_close(proto, integer, feeds, Y_SCALE)


@pytest.mark.parametrize(
    ("kind", "attributes", "pads"),
    [
        ("AveragePool", {"kernel_shape": [4, 3], "pads": [0, 1, 2, 0]}, [1, 0, 1, 1]),
        ("AveragePool", {"kernel_shape": [2, 3]}, [2, 0, 0, 0]),
        ("AveragePool", {"kernel_shape": [4, 3], "strides": [3, 2], "ceil_mode": 1}, [1, 0, 1, 2]),
        ("AveragePool", {"kernel_shape": [4, 3], "auto_pad": "SAME_LOWER"}, [1, 0, 1, 1]),
    ],
)
def test_a_pad_that_no_window_can_make_stays(kind: str, attributes: dict[str, Any], pads: list[int]):
    proto, feeds = padded(oh.make_node(kind, ["a"], ["t"], **attributes), [0, 0, *pads[:2], 0, 0, *pads[2:]])
    after = passed(proto, "fold-pad")
    assert ops(after)["Pad"] == 1
    assert_equal(proto, after, feeds)
    assert_close(proto, compiled(proto), feeds, Y_SCALE)


# --- integer-io ---


def test_integers_in_and_out_are_those_of_the_casts():
    tensors = constants(w=rng().integers(-128, 128, (6, 4)).astype(np.int8))
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["r", "v"], ["p"]),
        *pair("p", "y", "y"),
    ]
    proto, feeds = model(nodes, tensors, [(5, 6)], ["y"]), inputs((5, 6))
    stored = np.clip(np.rint(feeds[0] / np.float32(X_SCALE)) + X_ZERO, 0, 255).astype(np.uint8)
    wanted = np.rint(results(proto, feeds)[0] / np.float32(Y_SCALE)) + Y_ZERO
    assert np.ptp(wanted) > 100
    for form in ("qdq", "qoperator", "integer"):
        after = compiled(proto, form=form, integer_io=True)
        types = [v.type.tensor_type.elem_type for v in (*after.graph.input, *after.graph.output)]
        assert types == [onnx.TensorProto.UINT8] * 2
        (integers,) = run(after, {"x": stored})
        assert integers.dtype == np.uint8
        assert np.abs(integers.astype(int) - wanted).max() <= (form != "qdq")
        metadata = {entry.key: json.loads(entry.value) for entry in after.metadata_props}
        assert metadata == {
            "qdialect.quantization.x": {"scale": X_SCALE, "zero_point": X_ZERO},
            "qdialect.quantization.y": {"scale": Y_SCALE, "zero_point": Y_ZERO},
        }
        interface = read_interface({entry.key: entry.value for entry in after.metadata_props})
        assert np.array_equal(interface["x"].quantize(feeds[0], stored.dtype), stored)
        assert np.allclose(interface["y"].dequantize(integers), (integers.astype(int) - Y_ZERO) * Y_SCALE)
    assert ops(compiled(proto, integer_io=True)) == {"QLinearMatMul": 1}
    assert not compiled(proto).metadata_props


def test_what_the_caller_applies_stays_when_a_factor_moves_into_the_scale():
    """An input that is integers keeps the metadata of the file: the scale inside is that of the product by then."""
    factor = {"k": np.float32(0.5), "ms": np.float32(X_SCALE / 2), "mz": np.uint8(X_ZERO)}
    tensors = constants(**factor, w=rng().integers(-128, 128, (6, 4)).astype(np.int8))
    nodes = [
        *pair("x", "r"),
        oh.make_node("Mul", ["r", "k"], ["m"]),
        *pair("m", "t", "m"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]),
        oh.make_node("MatMul", ["t", "v"], ["p"]),
        *pair("p", "y", "y"),
    ]
    first = compiled(model(nodes, tensors, [(5, 6)], ["y"]), integer_io=True)
    assert [node.op_type for node in first.graph.node] == ["QLinearMatMul"]
    for again in (compiled(first, integer_io=True), compiled(first)):
        assert not difference(first, again)


@pytest.mark.parametrize("text", ["0.02:3", "[1]", '{"scale": 0.02}', '{"scale": "x", "zero_point": 0}'])
def test_metadata_that_is_no_scale_is_said(text: str):
    with pytest.raises(UserError, match="is not scale and zero point"):
        read_interface({"qdialect.quantization.x": text, "author": "somebody"})


# --- lower-to-integer ---


@pytest.mark.parametrize("bias", [None, "float", "steps"])
@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_a_convolution_in_integers_is_close(bias: str | None, quantized: bool, per_channel: bool):
    """Pads around a zero point of 117, a weight whose zero point is -3."""
    draw = rng()
    scales = draw.uniform(0.002, 0.02, 4 if per_channel else ()).astype(np.float32)
    bias_scales = np.broadcast_to(np.float32(X_SCALE) * scales, (4,) if per_channel else ()).copy()
    tensors = constants(
        w=draw.integers(-128, 128, (4, 3, 3, 2)).astype(np.int8),
        ws=scales, wz=np.full(scales.shape, -3, np.int8), b=draw.uniform(-3, 3, 4).astype(np.float32),
        bq=draw.integers(-9000, 9000, 4).astype(np.int32), bs=bias_scales,
        bz=np.zeros(bias_scales.shape, np.int32),
    )  # fmt: skip
    nodes = [*pair("x", "r"), oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=0)]
    if bias == "steps":
        nodes.append(oh.make_node("DequantizeLinear", ["bq", "bs", "bz"], ["b"], axis=0))
        del tensors["b"]
    operands = ["r", "v", "b"] if bias else ["r", "v"]
    result = "t" if quantized else "y"
    nodes.append(oh.make_node("Conv", operands, [result], pads=[1, 0, 2, 1], strides=[2, 1]))
    if quantized:
        nodes += pair("t", "y", "y")
    proto, feeds = model(nodes, tensors, [(2, 3, 6, 5)], ["y"]), inputs((2, 3, 6, 5))
    after = compiled(proto, form="integer")
    assert (ops(after)["ConvInteger"], ops(after)["Conv"]) == (1, 0)
    assert_close(proto, after, feeds, Y_SCALE if quantized else None)


@pytest.mark.parametrize("shape", [(5, 6), (2, 5, 6)])
def test_a_product_in_integers_is_close(shape: Shape):
    """A scale and a zero point for each column."""
    draw = rng()
    tensors = constants(
        w=draw.integers(-128, 128, (6, 4)).astype(np.int8),
        ws=draw.uniform(0.002, 0.02, 4).astype(np.float32),
        wz=np.array([3, -7, 0, 100], np.int8),
    )
    nodes = [
        *pair("x", "r"),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=1),
        oh.make_node("MatMul", ["r", "v"], ["y"]),
    ]
    proto, feeds = model(nodes, tensors, [shape], ["y"]), inputs(shape)
    after = compiled(proto, form="integer")
    assert (ops(after)["MatMulInteger"], ops(after)["MatMul"]) == (1, 0)
    assert_close(proto, after, feeds)


# --- quantize-branches ---


@pytest.mark.parametrize(("kind", "low", "high"), [("Sigmoid", 0, 1), ("Tanh", -1, 1), ("HardSigmoid", 0, 1)])
@pytest.mark.parametrize("zero", [np.uint8(X_ZERO), np.int8(-11)])
def test_a_branch_of_known_range_is_quantized_over_it(kind: str, low: int, high: int, zero: Any):
    """The branch moves by half a step at most, where it saturates by one."""
    nodes = [
        *pair("x", "r"),
        oh.make_node(kind, ["x1"], ["f"]),
        oh.make_node("Mul", ["f", "r"], ["y"]),
    ]
    proto = model(nodes, constants(xz=zero), [(4, 30), (4, 30)], ["y"])
    after = passed(proto, "quantize-branches", target="tensorrt")
    assert (ops(after)["QuantizeLinear"], ops(after)["DequantizeLinear"]) == (2, 2)
    x, x1 = inputs((4, 30), (4, 30))
    feeds = [x, x1 * 4]
    before, now = results(proto, feeds)[0], results(after, feeds)[0]
    step = max(-low, high) / 127 if zero.dtype == np.int8 else (high - low) / 255
    largest = np.abs(results(model(pair("x", "y"), constants(xz=zero), [(4, 30)], ["y"]), [x])[0]).max()
    assert 0 < np.abs(now - before).max() <= 0.51 * step * largest
    same = passed(proto, "quantize-branches", target="onnxruntime")
    assert_equal(proto, same, feeds)


def test_a_shortcut_is_quantized_as_it_is_elsewhere():
    nodes = [
        oh.make_node("Neg", ["x"], ["n"]),
        *pair("n", "y"),
        *pair("x1", "r", "y"),
        oh.make_node("Add", ["r", "n"], ["z"]),
    ]
    proto, feeds = model(nodes, constants(), [(2, 3), (2, 3)], ["y", "z"]), inputs((2, 3), (2, 3))
    after = passed(proto, "quantize-branches", target="tensorrt")
    (y, z), (old_y, _) = results(after, feeds), results(proto, feeds)
    np.testing.assert_array_equal(y, old_y)
    shortcut = np.rint(feeds[1] / np.float32(Y_SCALE)) * np.float32(Y_SCALE)
    np.testing.assert_allclose(z, shortcut + old_y, rtol=0, atol=1e-5)
