"""`raise-arithmetic` and `quantize-inputs` on numbers: spelled-out quantization against the casts it is read as."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from guard_cases import Case, parsed, text
from onnx_models import onnx_model

from graphs.structure import difference
from qdialect.api import compile
from qdialect.dialects.quant import QuantizeOp
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.manager import run_passes
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms import get_all_passes
from qdialect.transforms.raise_arithmetic import NarrowStorage

Constants = dict[str, "np.ndarray | float"]
TIES = np.arange(-2500, 2500, 0.0625, dtype=np.float32).reshape(4, -1)
"""Every tie of a power of two from 1/8 to 8, and values beyond any 8-bit range."""


def model(nodes: list[onnx.NodeProto], x: np.ndarray, constants: Constants, output: int) -> onnx.ModelProto:
    """A graph from `x` to `y`; constants are float32 unless they are arrays."""
    arrays = {k: v if isinstance(v, np.ndarray) else np.array(v, np.float32) for k, v in constants.items()}
    return onnx_model(
        nodes, {"x": (oh.np_dtype_to_tensor_dtype(x.dtype), x.shape)}, {"y": (output, None)}, arrays
    )


def chain(*steps: tuple[str, list[str]], to: int | None = None) -> list[onnx.NodeProto]:
    """Ops in a row; each takes what the one before it makes, then the named constants."""
    nodes, last = [], "x"
    for k, (op_type, operands) in enumerate(steps):
        node = oh.make_node(op_type, [last, *operands], [last := f"t{k}"])
        if op_type == "Cast":
            node.attribute.append(oh.make_attribute("to", to))
        nodes.append(node)
    nodes[-1].output[0] = "y"
    return nodes


def raised(original: onnx.ModelProto, *more: str) -> onnx.ModelProto:
    """The model with its arithmetic read as casts and written as nodes."""
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    names = ("fold-constants", "raise-qdq", "raise-arithmetic", *more, "fold-casts", "lower-to-qdq")
    run_passes(module, [get_all_passes()[name]()() for name in names])
    module.verify()
    return export_model(module)


def operators(m: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in m.graph.node]


BOUNDS = ("Clip", ["lo", "hi"])
U8: Constants = {"lo": 0.0, "hi": 255.0}
QUANTIZERS = {
    "cast": (chain(("Mul", ["m"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Cast", []), to=2), U8, 2),
    "division": (chain(("Div", ["s"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Cast", []), to=2), U8, 2),
    "max-min": (
        chain(("Mul", ["m"]), ("Round", []), ("Max", ["lo"]), ("Min", ["hi"]), ("Cast", []), to=3),
        {"lo": -127.0, "hi": 127.0},
        3,
    ),
    "bounds-first": (
        chain(("Mul", ["m"]), BOUNDS, ("Round", []), ("Sub", ["z"]), ("Cast", []), to=3),
        {"lo": -50.0, "hi": 127.0},
        3,
    ),
    "floats": (chain(("Mul", ["m"]), ("Round", []), BOUNDS), {"lo": -128.0, "hi": 127.0}, 1),
    "columns": (chain(("Mul", ["mc"]), ("Round", []), BOUNDS), {"lo": -100.0, "hi": 99.0}, 1),
}


@pytest.mark.parametrize("name", QUANTIZERS)
@pytest.mark.parametrize("scale", [4.0, 0.25, 0.037, 3.1])
def test_arithmetic_that_quantizes_becomes_a_cast(name: str, scale: float):
    nodes, bounds, output = QUANTIZERS[name]
    spread = np.exp2(np.arange(4, dtype=np.float32) - 1).reshape(4, 1)
    constants = {"m": 1 / scale, "s": scale, "z": 37.0, "mc": spread / np.float32(scale), **bounds}
    used = {i for n in nodes for i in n.input}
    original = model(nodes, TIES, {k: v for k, v in constants.items() if k in used}, output)
    proto = raised(original)
    assert not {"Mul", "Div", "Round", "Add", "Sub"} & set(operators(proto))
    assert "QuantizeLinear" in operators(proto)
    a, b = (run(m, {"x": TIES})[0] for m in (original, proto))
    assert a.dtype == b.dtype
    assert len(np.unique(a)) > 10
    difference = np.abs(a.astype(np.float32) - b.astype(np.float32))
    if scale in (4.0, 0.25) or name == "division":
        assert difference.max() == 0
    assert difference.max() <= 1
    assert (difference > 0).mean() < 1e-3


def test_integers_that_are_read_with_the_inverse_of_their_factor_have_one_scale():
    """At most one step of 0.0135, as often as x * m and x / scale round to two sides of a tie."""
    scale = np.float32(0.013488817)
    factor = np.float32(1) / scale
    assert np.float32(1) / factor != scale
    x = TIES * scale
    nodes = chain(("Mul", ["m"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Sub", ["z"]), ("Mul", ["s"]))
    original = model(nodes, x, {"m": float(factor), "z": 37.0, "s": float(scale), **U8}, 1)
    proto = raised(original)
    assert operators(proto) == ["QuantizeLinear", "DequantizeLinear"]
    scales = [array for i in proto.graph.initializer if (array := onh.to_array(i)).dtype == np.float32]
    assert [array.tolist() for array in scales] == [scale]
    a, b = (run(m, {"x": x})[0] for m in (original, proto))
    assert np.abs(a - b).max() <= 1.001 * scale
    assert (np.abs(a - b) > 0.5 * scale).mean() < 0.07, "ties are one in 16"


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("inverse", [False, True])
def test_dequantizer_on_all_values(dtype: str, inverse: bool):
    x = np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype).reshape(4, 64)
    nodes = chain(("Cast", []), ("Sub", ["z"]), ("Div" if inverse else "Mul", ["s"]), to=1)
    original = model(nodes, x, {"z": 37.0, "s": 0.037}, 1)
    proto = raised(original)
    assert operators(proto) == ["DequantizeLinear"]
    a, b = (run(m, {"x": x})[0] for m in (original, proto))
    if not inverse:
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(a, b, rtol=1e-6)


def test_bounds_of_integers_are_the_types():
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("Clip", ["q", "lo", "hi"], ["c"]),
        oh.make_node("DequantizeLinear", ["c", "s", "z"], ["y"]),
    ]
    i8 = {k: np.array(v, np.int8) for k, v in (("z", 2), ("lo", -7), ("hi", 7))}
    original = model(nodes, TIES, {"s": 0.5, **i8}, 1)
    proto = raised(original)
    assert operators(proto) == ["Clip", "QuantizeLinear", "DequantizeLinear"]  # the same bounds, as reals
    np.testing.assert_array_equal(run(original, {"x": TIES})[0], run(proto, {"x": TIES})[0])


@pytest.mark.parametrize(
    ("steps", "constants"),
    [
        ((("Mul", ["m"]), BOUNDS), {"m": 0.1, "lo": -128.0, "hi": 127.0}),
        ((("Mul", ["m"]), ("Round", [])), {"m": 0.1}),
        ((("Mul", ["m"]), ("Round", []), BOUNDS), {"m": 0.1, "lo": -7.5, "hi": 7.5}),
        ((("Mul", ["m"]), ("Floor", []), BOUNDS), {"m": 0.1, "lo": -128.0, "hi": 127.0}),
    ],
)
def test_what_is_no_quantizer_stays(steps: tuple[tuple[str, list[str]], ...], constants: Constants):
    original = model(chain(*steps), TIES, constants, 1)
    assert operators(raised(original)) == operators(original)


def aidge() -> tuple[onnx.ModelProto, np.ndarray]:
    """Two convolutions as Aidge exports them: weights, biases and activations are integers in float."""
    rng = np.random.default_rng(3)
    x = rng.integers(-127, 128, (1, 3, 9, 8)).astype(np.float32)
    constants: Constants = {"lo": -128.0, "hi": 127.0}
    nodes: list[onnx.NodeProto] = []
    last = "x"
    for k, (i, o) in enumerate(((3, 8), (8, 4))):
        constants |= {
            f"w{k}": rng.normal(0, 0.3, (o, i, 3, 2)).astype(np.float32),
            f"b{k}": rng.normal(0, 0.3, o).astype(np.float32),
            f"wm{k}": 90.0 + k,
            f"bm{k}": 4000.0,
            f"m{k}": 0.003 + 0.001 * k,
        }
        for part in "wb":
            nodes.append(oh.make_node("Mul", [f"{part}{k}", f"{part}m{k}"], [f"{part}s{k}"]))
            nodes.append(oh.make_node("Round", [f"{part}s{k}"], [f"{part}r{k}"]))
        nodes.append(oh.make_node("Conv", [last, f"wr{k}", f"br{k}"], [f"c{k}"]))
        nodes.append(oh.make_node("Relu", [f"c{k}"], [f"e{k}"]))
        nodes.append(oh.make_node("Mul", [f"e{k}", f"m{k}"], [f"s{k}"]))
        nodes.append(oh.make_node("Round", [f"s{k}"], [f"r{k}"]))
        nodes.append(oh.make_node("Clip", [f"r{k}", "lo", "hi"], [last := f"q{k}"]))
    nodes[-1].output[0] = "y"
    return model(nodes, x, constants, 1), x


@pytest.mark.parametrize(("target", "form"), [("onnxruntime", "qoperator"), ("generic", "qdq")])
def test_aidge_model_becomes_integer(target: str, form: str):
    original, x = aidge()
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    compile(module, target, form, "lossy")
    proto = export_model(module)
    convolution = "QLinearConv" if form == "qoperator" else "Conv"
    assert operators(proto).count(convolution) == 2
    assert not {"Mul", "Round"} & set(operators(proto))
    if form == "qoperator":
        assert "Conv" not in operators(proto)
    a, b = run(original, {"x": x})[0], run(proto, {"x": x})[0]
    assert len(np.unique(a)) > 10
    assert np.abs(a - b).max() <= 1


def test_inputs_are_quantized_only_where_losses_are_allowed():
    original, _ = aidge()
    module = import_model(original)
    compile(module, "generic", "qdq", "close")
    graph = export_model(module).graph
    quantized = [node.input[0] for node in graph.node if node.op_type == "QuantizeLinear"]
    assert quantized == ["Relu_quantized_real", "Relu_quantized_1_real"]  # not x


NEAR_TIES = np.nextafter(
    np.repeat(np.arange(-300, 300) / 2, 8).astype(np.float32),
    np.array([-9, 9] * 2400, np.float32),
    dtype=np.float32,
)
"""Beside the ties of a scale of 1; multiplied by a scale, beside its own."""
EXACT = {
    "factor 8": (chain(("Mul", ["m"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Cast", []), to=2), 8.0, True),
    "factor 3.7": (
        chain(("Mul", ["m"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Cast", []), to=2),
        3.7,
        False,
    ),
    "divisor 0.3": (
        chain(("Div", ["m"]), ("Round", []), ("Add", ["z"]), BOUNDS, ("Cast", []), to=2),
        0.3,
        True,
    ),
    "offset first": (
        chain(("Mul", ["m"]), ("Add", ["z"]), ("Round", []), BOUNDS, ("Cast", []), to=2),
        8.0,
        False,
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_exactness_exact_reads_what_changes_no_bit(name: str):
    nodes, m, exact = EXACT[name]
    steps = np.concatenate(
        [TIES.reshape(-1), NEAR_TIES * np.float32(m if nodes[0].op_type == "Div" else 1 / m)]
    )
    original = model(nodes, steps, {"m": m, "z": 3.0, "lo": 0.0, "hi": 255.0}, onnx.TensorProto.UINT8)
    expected = run(original, {"x": steps})[0]
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    report = compile(module, exactness="exact", feeds=[{"x": steps}])
    proto = export_model(module)
    assert ("QuantizeLinear" in operators(proto)) == exact
    assert ("inexact-arithmetic" in {r.blocked.id for r in report.remarks}) != exact
    np.testing.assert_array_equal(run(proto, {"x": steps})[0], expected)
    close = raised(original)  # else what is left alone would be so for another reason
    assert "QuantizeLinear" in operators(close)
    assert (run(close, {"x": steps})[0] == expected).all() == exact


def test_exactness_exact_reads_integers_times_a_scale():
    stored = np.arange(256, dtype=np.uint8)
    for op_type, exact in (("Mul", True), ("Div", False)):
        nodes = chain(("Cast", []), ("Sub", ["z"]), (op_type, ["s"]), to=1)
        original = model(nodes, stored, {"z": 13.0, "s": 0.3}, onnx.TensorProto.FLOAT)
        module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
        compile(module, exactness="exact")
        proto = export_model(module)
        assert ("DequantizeLinear" in operators(proto)) == exact
        np.testing.assert_array_equal(run(proto, {"x": stored})[0], run(original, {"x": stored})[0])


def test_weights_of_a_product_are_integers_and_not_folded_to_floats():
    """Weights dequantized by Cast, Sub and Mul; the zero point is cast too. In exact, as in every form."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 16)).astype(np.float32)
    weight = rng.integers(0, 256, (16, 8)).astype(np.uint8)
    pair = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        oh.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
    ]
    weights = [
        oh.make_node("Cast", ["w"], ["wf"], to=onnx.TensorProto.FLOAT),
        oh.make_node("Cast", ["wz"], ["zf"], to=onnx.TensorProto.FLOAT),
        oh.make_node("Sub", ["wf", "zf"], ["ws"]),
        oh.make_node("Mul", ["ws", "scales"], ["wd"]),
        oh.make_node("MatMul", ["xd", "wd"], ["y"]),
    ]
    constants: Constants = {
        "s": 0.02, "z": np.array(131, np.uint8), "w": weight, "wz": np.array(121, np.uint8),
        "scales": rng.uniform(0.001, 0.01, (1, 8)).astype(np.float32),
    }  # fmt: skip
    original = model([*pair, *weights], x, constants, onnx.TensorProto.FLOAT)
    module = import_model(original)
    compile(module, target="generic", exactness="exact")
    result = export_model(module)
    kinds = [node.op_type for node in result.graph.node]
    assert sorted(kinds) == ["DequantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"]
    stored = {onh.to_array(one).shape: onh.to_array(one) for one in result.graph.initializer}
    np.testing.assert_array_equal(stored[weight.shape], weight)
    np.testing.assert_array_equal(run(result, {"x": x})[0], run(original, {"x": x})[0])


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
def test_products_of_integers_that_are_cast_to_float(form: str):
    """What exporters write of int8 products that a framework computes in float: no scale in front of the product."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 1, (1, 16, 32, 30)).astype(np.float32)
    constants: Constants = {
        "s": 0.02,
        "z": np.array(117, np.uint8),
        "zf": 117.0,
        "w": rng.integers(-127, 128, (24, 16, 3, 3)).astype(np.int8),
        "m": rng.uniform(1e-4, 2e-4, (1, 24, 1, 1)).astype(np.float32),
        "t": 0.05,
    }
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        oh.make_node("Cast", ["q"], ["f"], to=1),
        oh.make_node("Sub", ["f", "zf"], ["d"]),
        oh.make_node("Cast", ["w"], ["v"], to=1),
        oh.make_node("Conv", ["d", "v"], ["c"], pads=[1, 1, 1, 1]),
        oh.make_node("Mul", ["c", "m"], ["r"]),
        oh.make_node("QuantizeLinear", ["r", "t", "z"], ["p"]),
        oh.make_node("DequantizeLinear", ["p", "t", "z"], ["y"]),
    ]
    original = model(nodes, x, constants, 1)
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    compile(module, "onnxruntime", form=form)
    result = export_model(module)
    kinds = {"qoperator": "QLinearConv", "qdq": "Conv", "integer": "ConvInteger"}
    assert kinds[form] in operators(result)
    assert "Sub" not in operators(result)
    steps = np.abs(run(result, {"x": x})[0] - run(original, {"x": x})[0]) / 0.05
    assert steps.max() < 1.001
    assert np.mean(steps > 0.5) < 0.002
    again = import_model(export_model(module))
    compile(again, "onnxruntime", form=form)
    assert difference(result, export_model(again)) == ""


NARROW = """
    x: 2x3xf32
    q = qcast x : 2x3x!s
    p = scast q : 2x3xi8
    a = [{0}] : i8
    b = [{1}] : i8
    y = Clip(p, a, b) : 2x3xi8"""


@pytest.mark.parametrize(
    ("low", "high", "storage"),
    [(-4, -2, (-4, -2)), (-3, -3, None), (-2, 5, None), (-9, -4, None), (-4, -3, (-4, -3)), (-3, 5, None)],
)
def test_a_clamp_around_the_zero_point_is_a_narrower_storage(
    low: int, high: int, storage: tuple[int, int] | None
):
    _, module = parsed(text(Case("", "", NARROW.format(low, high))))
    apply_patterns(module, "raise-arithmetic", [NarrowStorage()])
    (cast_op,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    is_storage = cast_op.element_type.storage
    assert (is_storage.low, is_storage.high) == (storage or (-128, 127))
    outside = low == high or not low <= -3 <= high
    assert [r.blocked.id for r in remarks_of(module)] == (["invalid-parameters"] if outside else [])


def test_a_clamp_from_the_least_integer_on_is_a_storage():
    source = text(Case("", "", NARROW.replace("!s", "!lowest").format(-128, 5)))
    _, module = parsed(f"!lowest = !quant.uniform<i8:f32, 0.5:-128>\n{source}")
    apply_patterns(module, "raise-arithmetic", [NarrowStorage()])
    (quantize,) = (op for op in module.walk() if isinstance(op, QuantizeOp))
    assert (quantize.element_type.storage.low, quantize.element_type.storage.high) == (-128, 5)
