"""The minimum cut, against all divisions of small graphs, and placements by costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import onnx_model

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import run
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.placement.annotations import annotate, range_of
from qdialect.quantizer.placement.cut import Cut
from qdialect.quantizer.placement.op_costs import Costing, Expected, elements_of
from qdialect.quantizer.placement.placement import (
    DEQUANTIZE_NS,
    QUANTIZE_NS,
    Placement,
    place,
    reason_for_float,
)
from qdialect.quantizer.statistics.observer import value_names
from qdialect.rewriting.manager import PassManager
from qdialect.targets import target
from qdialect.transforms.infer_shapes import InferShapesPass
from qdialect.transforms.insert_casts import insert_casts


def brute_force(
    costs: list[tuple[int, int]], edges: list[tuple[int, int, int]]
) -> tuple[int, tuple[bool, ...]]:
    """The least cost of all divisions, and one that has it."""

    def total(sides: tuple[bool, ...]) -> int:
        own = sum(c[0] if side else c[1] for c, side in zip(costs, sides, strict=True))
        return own + sum(c for a, b, c in edges if sides[a] and not sides[b])

    best = min(product((False, True), repeat=len(costs)), key=total)
    return total(best), best


@pytest.mark.parametrize("seed", range(40))
def test_the_cut_costs_least(seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 8))
    costs = [(int(a), int(b)) for a, b in draw.integers(0, 20, (count, 2))]
    edges = [
        (int(a), int(b), int(draw.integers(1, 15)))
        for a, b in draw.integers(0, count, (2 * count, 2))
        if a != b
    ]
    cut = Cut()
    nodes = [cut.node() for _ in range(count)]
    for node, (first, second) in zip(nodes, costs, strict=True):
        cut.prefer(node, first, second)
    for a, b, cost in edges:
        cut.divide(nodes[a], nodes[b], cost)
    sides = cut.solve()
    chosen = tuple(sides[node] for node in nodes)
    own = sum(c[0] if side else c[1] for c, side in zip(costs, chosen, strict=True))
    cut_cost = own + sum(c for a, b, c in edges if chosen[a] and not chosen[b])
    assert cut_cost == brute_force(costs, edges)[0]


def test_a_tie_falls_on_the_second_side() -> None:
    cut = Cut()
    node = cut.node()
    cut.prefer(node, 3, 3)
    assert not cut.solve()[node]


def test_a_bias_behind_a_product_is_an_op_more() -> None:
    """Of a float result: QGemm takes none but of integers. For a quantized result it is among them."""
    floats, wholes = zip(*(_costs_of_gemm(bias) for bias in (False, True)), strict=True)
    costs = target("onnxruntime").costs
    assert wholes[0] == wholes[1]
    added = costs["Placement"]["call"] + costs["Elementwise"]["Add"] * 2 * 10
    assert floats[1] - floats[0] == pytest.approx(added)


@pytest.mark.parametrize(
    ("node", "sizes", "each"),
    [
        ("y = MatMul(x, z)", "float[N,4,16,8] x, float[N,4,8,64] z", 8 * 4 * 16 * 64 * 8),
        ('y = Einsum<equation="bhij,bhjk->bhik">(x, z)', "float[2,4,16,8] x, float[2,4,8,64] z", 65536),
    ],
)
def test_what_stays_in_float_costs_its_products(node: str, sizes: str, each: int) -> None:
    """Not the size of a result times another size: the scores of attention sum over few elements. 8 samples of N."""
    text = f'<ir_version: 8, opset_import: ["" : 17]> g ({sizes}) => (float[N,4,16,64] y) {{ {node} }}'
    costs = target("onnxruntime").costs
    known = costs["Placement"]["call"] + each * costs["Gemm"]["product"]
    assert _in_float(text) == pytest.approx(known)


def test_what_stays_in_float_has_a_price_of_its_own() -> None:
    """A Softmax takes several times as long as a move of its elements."""
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[8,64] x) => (float[8,64] y) { y = Softmax(x) }'
    costs = target("onnxruntime").costs
    known = costs["Placement"]["call"] + 8 * 64 * costs["Floating"]["Softmax"]
    assert _in_float(text) == pytest.approx(known)
    assert costs["Floating"]["Softmax"] > 2 * costs["Placement"]["move_float"]


def _in_float(text: str) -> float:
    """Expected nanoseconds of the only op of a graph, in float."""
    ops = qdialect.load(onnx.parser.parse_model(text)).walk()
    op = next(op for op in ops if isinstance(op, OnnxOp) and op.op_type in ("MatMul", "Einsum", "Softmax"))
    return Costing(target("onnxruntime"), elements_of, kernels=True).in_float(op).floating


def _costs_of_gemm(bias: bool) -> tuple[float, float]:
    """Nanoseconds of two rows with a float result, and with a quantized one."""
    w = numpy_helper.from_array(np.ones((24, 10), np.float32), "w")
    b = numpy_helper.from_array(np.ones(10, np.float32), "b")
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, size]) for n, size in (("x", 24), ("y", 10))
    ]
    node = helper.make_node("Gemm", ["x", "w", "b"][: 2 + bias], ["y"])
    model = onnx_model([node], ends[:1], ends[1:], [w, b])
    gemm = next(op for op in qdialect.load(model).walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    cost = Costing(target("onnxruntime"), elements_of, kernels=True).expected(gemm)
    assert cost.float_result is not None
    assert cost.integer is not None
    return cost.float_result, cost.integer


def _convolutions(*nodes: onnx.NodeProto, outputs: int, kernel: int = 9) -> onnx.ModelProto:
    """Nodes that end in a convolution of 16 channels of 64 x 64 pixels."""
    weight = np.ones((outputs, 16, kernel, kernel), np.float32)
    ones = numpy_helper.from_array(np.ones(16, np.float32), "c")
    size = 65 - kernel
    ends = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 64, 64]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, outputs, size, size]),
    ]
    conv = helper.make_node("Conv", [nodes[-1].output[0] if nodes else "x", "w"], ["y"])
    values = [numpy_helper.from_array(weight, "w"), ones]
    return onnx_model([*nodes, conv], ends[:1], ends[1:], values)


def _costs_of_convolution(outputs: int) -> tuple[float, float]:
    """Nanoseconds in float, and in integers."""
    module = qdialect.load(_convolutions(outputs=outputs))
    conv = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "Conv")
    cost = Costing(target("onnxruntime"), elements_of, kernels=True).expected(conv)
    assert cost.integer is not None
    return cost.floating, cost.integer


def test_a_float_convolution_computes_whole_blocks_of_channels() -> None:
    (few, _), (block, _), (more, _), (next_block, _) = map(_costs_of_convolution, (17, 32, 33, 48))
    assert few == block < more == next_block


@pytest.mark.parametrize(
    ("inputs", "outputs", "size", "measured"), [(96, 24, 24, 33), (48, 288, 12, 38), (16, 16, 64, 23)]
)
def test_a_float_convolution_between_others_has_its_channels_in_blocks(
    inputs: int, outputs: int, size: int, measured: float
) -> None:
    """1x1, in microseconds, where one product of a block ends in a cycle."""
    conv = _conv([1, inputs, size, size], (outputs, inputs, 1, 1))
    assert conv.floating / 1000 == pytest.approx(measured, rel=0.2)


def test_a_first_convolution_of_three_channels_is_no_slower_for_the_channels_that_a_block_lacks() -> None:
    """From 3 channels to 16, 3x3: 73 microseconds of 8 images of 32 x 32 pixels."""
    three = _conv([8, 3, 32, 32], (16, 3, 3, 3))
    assert three.floating / 1000 == pytest.approx(73, rel=0.2)


@pytest.mark.parametrize(("kind", "added"), [("Relu", 0), ("Clip", 13), ("HardSwish", 20)])
def test_an_activation_behind_a_float_convolution_of_images_takes_what_it_adds(
    kind: str, added: float
) -> None:
    """In microseconds, of 128 K values."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["h"], pads=[1, 1, 1, 1]),
        helper.make_node(kind, ["h", *(["low", "high"] if kind == "Clip" else [])], ["y"]),
    ]
    bounds = [numpy_helper.from_array(np.array(v, np.float32), n) for n, v in (("low", 0), ("high", 6))]
    model = _model(nodes, [1, 16, 64, 128], w=(16, 16, 3, 3))
    model.graph.initializer.extend(bounds)
    block = main_of(qdialect.load(model)).body.block
    act = next(op for op in block.ops if isinstance(op, OnnxOp) and op.op_type == kind)
    costing = Costing(target("onnxruntime"), elements_of, kernels=True)
    assert costing.expected(act).floating / 1000 == pytest.approx(added, rel=0.3)


@pytest.mark.parametrize(("channels", "moved"), [(32, 1), (24, 4)])
def test_float_images_leave_their_blocks_where_parts_of_blocks_are_joined(channels: int, moved: int) -> None:
    """Joined halves whose channels are no whole blocks: 220 microseconds of 384 K values, of whole ones 60."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["h"], pads=[1, 1, 1, 1])]
    nodes.append(helper.make_node("Concat", ["h", "h"], ["y"], axis=1))
    block = main_of(qdialect.load(_model(nodes, [1, 16, 96, 96], w=(channels, 16, 3, 3)))).body.block
    join = next(op for op in block.ops if isinstance(op, OnnxOp) and op.op_type == "Concat")
    costing = Costing(target("onnxruntime"), elements_of, kernels=True)
    each = 1000 + 0.14 * 2 * channels * 96 * 96
    assert costing.expected(join).floating == pytest.approx(moved * each, rel=0.2)


@pytest.mark.parametrize(("shape", "measured"), [((32, 32, 32), (24, 19)), ((64, 56, 56), (129, 95))])
def test_a_border_of_integer_convolutions_moves_channels_out_of_blocks(
    shape: tuple[int, ...], measured: tuple[float, float]
) -> None:
    """In microseconds, with the Transposes and reorders that a session puts there; a graph's ends are in no blocks."""
    for_input, *taken, for_output = _border(shape)
    assert taken == pytest.approx(measured, rel=0.2)
    assert for_input < taken[0]
    assert for_output < taken[1]


def test_a_border_along_one_axis_has_no_blocks() -> None:
    (_, along_two, *_), (for_input, along_one, *_) = _border((64, 32, 64)), _border((64, 2048))
    assert along_one == for_input < along_two


def _border(shape: tuple[int, ...]) -> list[float]:
    """
    Microseconds to quantize the operand and the result of a convolution in front of another, to dequantize that, and to
    dequantize the graph's output.
    """
    kernel = [3] * (len(shape) - 1)
    nodes = [helper.make_node("Conv", [a, "w"], [b], pads=[1, 1] * len(kernel)) for a, b in ("xh", "hy")]
    module = qdialect.load(_model(nodes, [1, *shape], w=(shape[0], shape[0], *kernel)))
    block, count = main_of(module).body.block, int(np.prod(shape))
    first, last = (op.results[0] for op in block.ops if op.name == "onnx.Conv")
    costing = Costing(target("onnxruntime"), elements_of, kernels=True)
    casts = (block.args[0], QUANTIZE_NS), (first, QUANTIZE_NS), (first, DEQUANTIZE_NS), (last, DEQUANTIZE_NS)
    return [costing.cast(value, count, each) / 1000 for value, each in casts]


def test_a_convolution_costs_what_its_best_form_does() -> None:
    """Of three results and a wide window, several pixels of a row are computed as channels: measured 178 us for 609."""
    floating, few = _costs_of_convolution(3)
    assert few < floating / 8


def test_a_layer_that_the_fastest_plan_has_in_integers_is_in_float_for_its_noise() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[5,4] x) => (float[5,3] y) <float[4,3] w = {1,2,3,4,5,6,7,8,9,10,11,12}> { y = MatMul (x, w) }""")
    module = import_model(model)
    [op] = [
        one for one in main_of(module).body.block.ops if isinstance(one, OnnxOp) and one.op_type == "MatMul"
    ]
    annotate(module, {"x": (-1.0, 1.0), "y": (-9.0, 9.0)}, {})
    for quieter, id in ({op}, "noisy-layer"), (set[OnnxOp](), "float-faster"):
        reason = reason_for_float(op, Placement(quieter=quieter))
        assert reason is not None
        assert reason.id == id


def test_at_no_price_all_that_has_a_kernel_is_in_integers() -> None:
    """Casts around so small a product take longer than it does."""
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    module = qdialect.load(_model([node], [1, 8, 4, 4], w=(8, 8, 1, 1)))
    func = main_of(module)
    annotate(module, {name: (-3.0, 3.0) for name in value_names(module).values()}, {})
    runtime = target("onnxruntime")
    assert not place(func, runtime, kernels=True).linear
    assert place(func, runtime, kernels=True, bias=0.0).linear


@pytest.mark.parametrize(("two", "cast"), [(False, "r"), (True, "n")])
def test_a_clamp_in_front_of_integers_is_quantized_behind(two: bool, cast: str) -> None:
    """What a Relu cuts off takes no steps, unless its operand is quantized for another op too."""
    nodes = [
        helper.make_node("InstanceNormalization", ["x", "c", "c"], ["n"]),
        helper.make_node("Relu", ["n"], ["r"]),
    ]
    if two:
        nodes.append(helper.make_node("Add", ["r", "n"], ["s"]))
    module = qdialect.load(_convolutions(*nodes, outputs=16, kernel=3))
    func, names = main_of(module), value_names(module)
    annotate(module, {name: (-3.0, 3.0) for name in names.values()}, {})
    pairs = place(func, target("onnxruntime"), kernels=True).pairs
    assert cast in {names[value] for value in pairs}
    assert two or "n" not in {names[value] for value in pairs}


@pytest.mark.parametrize(
    ("between", "quantized"),
    [
        (["Transpose", "Relu"], {"x", "v1"}),
        (["Transpose", "MaxPool", "Relu"], {"x", "v2"}),
        (["Transpose", "Relu", "Transpose"], {"x", "v1", "v2"}),
        (["Transpose"], {"x", "a", "v0"}),  # no clamp
        (["Transpose", "Relu", "Add"], {"x", "a", "v0", "v1", "v2"}),  # what the Relu reads has a second user
    ],
)
def test_a_clamp_behind_moved_elements_is_quantized_behind(between: list[str], quantized: set[str]) -> None:
    """One quantize, whose range is the clamp, that is moved to the convolution: 1.5 times as fast for a TCN."""
    attributes: dict[str, dict[str, Any]] = {
        "Transpose": {"perm": [0, 1, 3, 2]},
        "MaxPool": {"kernel_shape": [3, 3], "pads": [1] * 4},
    }
    nodes, last = [helper.make_node("Conv", ["x", "w"], ["a"], pads=[1] * 4)], "a"
    for k, name in enumerate(between):
        inputs = ["v0", last] if name == "Add" else [last]
        nodes.append(helper.make_node(name, inputs, [last := f"v{k}"], **attributes.get(name, {})))
    module = qdialect.load(_convolutions(*nodes, outputs=16, kernel=3))
    PassManager().run([InferShapesPass()], module)
    names = value_names(module)
    annotate(module, {name: (-3.0, 3.0) for name in names.values()}, {})
    pairs = place(main_of(module), target("onnxruntime"), kernels=True, hoists=True).pairs
    assert {names[value] for value in pairs} - {"y"} == quantized
    fixed = place(main_of(module), target("onnxruntime"), kernels=True).pairs
    assert {names[value] for value in fixed} - {"y"} >= {"a", "v0"}


def _model(nodes: Sequence[onnx.NodeProto], shape: list[int], **weights: tuple[int, ...]) -> onnx.ModelProto:
    values = [numpy_helper.from_array(np.full(w, 0.01, np.float32), name) for name, w in weights.items()]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", None))]
    return onnx_model([*nodes], ends[:1], ends[1:], values)


def _costs(model: onnx.ModelProto) -> list[Expected]:
    """The costs of each op, in order."""
    module = qdialect.load(model)
    PassManager().run([InferShapesPass()], module)
    ops = [op for op in main_of(module).body.block.ops if isinstance(op, OnnxOp) and op.operands]
    return [Costing(target("onnxruntime"), elements_of, kernels=True).expected(op) for op in ops]


def _conv(shape: list[int], weight: tuple[int, ...], groups: int = 1) -> Expected:
    pads = [size // 2 for size in weight[2:]] * 2
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, group=groups)
    return _costs(_model([node], shape, w=weight))[0]


def test_a_float_convolution_along_three_axes_is_not_in_blocks_of_channels() -> None:
    """Measured 409 us for the first of a network of videos, 326 in integers as it is; the price was 275."""
    first = _conv([1, 3, 8, 32, 32], (16, 3, 3, 3, 3))
    assert first.floating > 350_000
    assert first.integer is not None
    assert first.integer < first.floating


def test_a_float_depthwise_convolution_along_one_axis_is_a_product_for_each_channel() -> None:
    """Measured 27 us, where one along two axes with as many products takes 5."""
    assert _conv([1, 128, 200], (128, 1, 3), 128).floating > 20_000


@pytest.mark.parametrize(("channels", "whole"), [(64, True), (72, False), (80, True)])
def test_depthwise_channels_in_multiples_of_16_have_a_kernel_of_their_own(channels: int, whole: bool) -> None:
    """Measured 24 x 24 pixels, a window of 5: 125 us of 72 channels, 65 of 80."""
    integer = _conv([1, channels, 24, 24], (channels, 1, 5, 5), channels).integer
    assert integer is not None
    assert (integer < 80_000) is whole


@pytest.mark.parametrize(
    ("name", "shape", "less"),
    [("HardSwish", [1, 8, 16, 16], True), ("HardSwish", [1, 8, 16], False), ("LeakyRelu", [1, 8, 16], True)],
)
def test_an_activation_that_a_float_convolution_computes_takes_less_behind_it(
    name: str, shape: list[int], less: bool
) -> None:
    """Only while both are in float."""
    weight = (8, 8, *[1] * (len(shape) - 2))
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node(name, ["c"], ["y"])]
    conv, act = _costs(_model(nodes, shape, w=weight))
    assert (act.whole is not None) is less
    assert (act.floating < act.apart) is less
    assert (act.apart > 0) is less
    assert conv.whole is None


def test_a_product_with_its_own_sigmoid_is_one_kernel() -> None:
    nodes = [helper.make_node("Sigmoid", ["x"], ["s"]), helper.make_node("Mul", ["x", "s"], ["y"])]
    assert [cost.whole is not None for cost in _costs(_model(nodes, [1, 8, 16, 16]))] == [False, True]
    nodes[1] = helper.make_node("Mul", ["s", "s"], ["y"])
    assert _costs(_model(nodes, [1, 8, 16, 16]))[1].whole is None


def test_integers_in_front_leave_an_activation_to_a_kernel_of_its_own() -> None:
    """A HardSwish has no kernel of integers."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("HardSwish", ["c"], ["y"])]
    module = qdialect.load(_model(nodes, [1, 64, 32, 32], w=(64, 64, 3, 3)))
    PassManager().run([InferShapesPass()], module)
    annotate(module, {name: (-3.0, 3.0) for name in value_names(module).values()}, {})
    placed = place(main_of(module), target("onnxruntime"), kernels=True)
    conv, act = _costs(_model(nodes, [1, 64, 32, 32], w=(64, 64, 3, 3)))
    assert placed.float_cost == pytest.approx(conv.floating + act.floating)
    assert len(placed.linear) == 1
    assert placed.cost > (conv.integer or 0.0) + act.apart


@pytest.mark.parametrize(("rank", "op"), [(3, "Conv"), (4, "Conv"), (5, "Conv"), (3, "Abs")])
def test_a_cast_beside_a_convolution_moves_channels(rank: int, op: str) -> None:
    shape = [1, 8, *[8] * (rank - 2)]
    nodes = [helper.make_node(op, ["x", "w"][: 1 + (op == "Conv")], ["y"])]
    module = qdialect.load(_model(nodes, shape, w=(8, 8, *[1] * (rank - 2))))
    PassManager().run([InferShapesPass()], module)
    costing, place = (
        Costing(target("onnxruntime"), elements_of, kernels=True),
        target("onnxruntime").costs["Placement"],
    )
    value = main_of(module).body.block.args[0]
    moved = costing.cast(value, 100, 0.1) > place["call"] + 100 * 0.1
    assert moved is (op == "Conv")


@pytest.mark.parametrize("axes", [0, 1, 2])
def test_a_pixel_times_a_dynamic_weight_is_a_row_of_channels(axes: int) -> None:
    """A Gemm, and convolutions of one pixel, by the kernel that quantizes its activations."""
    draw, ones = np.random.default_rng(7), [1] * axes
    weight, bias = draw.normal(size=(8, 16, *ones)).astype(np.float32), draw.normal(size=8).astype(np.float32)
    node = helper.make_node("Conv" if axes else "Gemm", ["x", "w", "b"], ["y"])
    if not axes:
        node.attribute.append(helper.make_attribute("transB", 1))
    model = onnx_model([node], {"x": [3, 16, *ones]}, {"y": [3, 8, *ones]}, {"w": weight, "b": bias})
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    (op,) = (one for one in module.walk() if isinstance(one, OnnxOp) and one.operands)
    insert_casts(module, target("onnxruntime"), Placement(dynamic=[op]), {}, 127)
    module.verify()
    after = export_model(module)
    moves = ["Reshape"] if axes else []
    assert [n.op_type for n in after.graph.node] == [*moves, "DynamicQuantizeMatMul", *moves]
    x = draw.normal(size=(3, 16, *ones)).astype(np.float32)
    (wanted,), (result,) = run(model, {"x": x}), run(after, {"x": x})
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, atol=0.02 * float(np.abs(wanted).max()))


@pytest.mark.parametrize("least", [-np.inf, -3.0])
def test_a_mask_that_no_sample_had_leaves_no_range(least: float) -> None:
    graph = onnx.parser.parse_graph("""g (float[2,3] x, bool[2,3] mask) => (float[2,3] y) <float[1] least = {0}> {
        a = Exp(x) b = Where(mask, least, a) y = Neg(b) }""")
    graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([least], np.float32), "least"))
    module = import_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    annotate(module, {name: (-1.0, 2.0) for name in "aby"}, {})
    known = {name: range_of(value) for value, name in value_names(module).items()}
    assert (known["a"], known["y"]) == ((-1.0, 2.0), (-1.0, 2.0))
    assert known["b"] == (None if least == -np.inf else (-1.0, 2.0))


@pytest.mark.parametrize(
    ("units", "steps", "dynamic"),
    [(48, 100, False), (64, 1, False), (64, 8, True), (96, 1, False), (96, 8, True), (128, 1, True)],
)
def test_a_recurrent_op_is_quantized_from_few_products_on(units: int, steps: int, dynamic: bool) -> None:
    """Measured for 64 units 0.78 of one step, 1.04 of 8; for 48 units 0.84 to 1.2; for 128 1.2 of one step."""
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=units)
    module = qdialect.load(
        _model([node], [steps, 1, units], w=(1, 4 * units, units), r=(1, 4 * units, units))
    )
    PassManager().run([InferShapesPass()], module)
    lstm = next(op for op in module.walk() if isinstance(op, OnnxOp) and op.op_type == "LSTM")
    expected = Costing(target("onnxruntime"), elements_of, kernels=True).recurrent(lstm)
    assert expected is not None
    assert expected.dynamic is dynamic


def test_a_transposed_convolution_along_one_axis_has_its_price() -> None:
    """Measured 3.0 times as fast in integers for an autoencoder of signals, which stayed in float."""
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[4], pads=[2, 2])
    up = _costs(_model([node], [8, 48, 128], w=(48, 24, 8)))[0]
    assert up.integer is not None
    assert up.integer < up.floating
