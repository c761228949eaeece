"""Where a promise or a guard changes its mind: the last case on one side, and the first on the other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from geometries import ROW
from guard_cases import full_context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, f16, f32, i8

from qdialect import numerics
from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.dialects.quant import Storage, UniformType
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, tensor_name
from qdialect.kernel_selection.convolution.depth import joined_axes
from qdialect.kernel_selection.convolution.layout import goes_channels_last, is_channels_last
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.kernel_selection.convolution.width import (
    Packing,
    Row,
    _moves,  # pyright: ignore[reportPrivateUsage] -- a term of a sum of many
    row_of,
)
from qdialect.patterns.casts import settles
from qdialect.patterns.constant_folding import Computation
from qdialect.promises.clamping import KEEPS
from qdialect.promises.kernels import KERNELS
from qdialect.promises.window import Geometry
from qdialect.promises.work import SumsProducts
from qdialect.targets.pricing import SOME_SIZE, SPREADING, VOLUME
from qdialect.text.assembly import parse_module
from qdialect.upstream.site import dense


def first_op(body: str, arguments: str, opset: int = 17) -> OnnxOp:
    """The first op of a function that has operands."""
    context = full_context()
    text = (
        f"builtin.module attributes {{onnx.opset_import = {{ai.onnx = {opset} : i64}}}} {{\n"
        f"func.func @f({arguments}) {{\n{body}\nfunc.return\n}}\n}}"
    )
    module = parse_module(context, text, "test", Path())
    return next(op for op in module.walk() if isinstance(op, OnnxOp) and op.operands)


@pytest.mark.parametrize(("steps", "wrong"), [(128, False), (511, False), (512, False), (513, True)])
def test_a_row_of_four_counts_512_steps(steps: int, wrong: bool):
    """128 for each element of a row; with 128 or less in all, any row does."""
    op = first_op("%y = onnx.Softmax(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>", "%x: tensor<2x4xf32>")
    (kernel,) = KERNELS["", "Softmax"].forms
    assert kernel.is_wrong(op, [0.1], 1 / steps) is wrong


@pytest.mark.parametrize(("steps", "wrong"), [(255, False), (256, True), (300, True)])
def test_a_mean_of_an_unknown_number_of_pixels_counts_one(steps: int, wrong: bool):
    op = first_op(
        "%y = onnx.GlobalAveragePool(%x) : (tensor<2x4x?x3xf32>) -> tensor<2x4x1x1xf32>",
        "%x: tensor<2x4x?x3xf32>",
    )
    (kernel,) = KERNELS["", "GlobalAveragePool"].forms
    assert kernel.is_wrong(op, [float(steps)], 1.0) is wrong


@pytest.mark.parametrize("bound", ["%e", "%x"])
def test_a_bound_without_elements_or_value_keeps_nothing(bound: str):
    """Max of a tensor with no elements, or of one that is computed, is no clamp."""
    op = first_op(
        "%e = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>} : () -> tensor<0xf32>\n"
        f"%y = onnx.Max(%x, {bound}) : (tensor<1xf32>, tensor<{0 if bound == '%e' else 1}xf32>) -> tensor<*xf32>",
        "%x: tensor<1xf32>",
    )
    assert not KEEPS["", "Max"].kept(op, np.arange(3, dtype=np.float32)).any()


def test_a_row_is_the_last_of_three_axes():
    sizes = Geometry(
        images=1,
        inputs=3,
        outputs=4,
        groups=1,
        kernel=(1, 2, 3),
        strides=(1, 2, 3),
        dilations=(1, 2, 3),
        pads=((1, 1), (2, 2), (3, 4)),
        sizes=(5, 6, 7),
        results=(7, 8, 4),
    )
    assert row_of(sizes) == Row(7, 4, 3, 3, 3, 3)


def test_sizes_below_1_count_as_1_where_numbers_are_compared():
    zero, near, far = (np.array([x]) for x in (0.0, 0.9e-3, 1.5e-3))
    size = np.array([0.5])
    assert numerics.are_near(zero, near, size, 1e-3)
    assert not numerics.are_near(zero, far, size, 1e-3)
    assert numerics.are_near(zero, far, np.array([-2.0]), 1e-3)


@pytest.mark.parametrize("shift", [31, 32, 33, 62])
def test_a_value_rescaled_has_32_bits_whatever_the_shift(shift: int):
    """Of a shift of 31, 31 bits."""
    bound = 2 ** (min(shift, 32) - 1)
    ends = -numerics.INT32_MAX - 1, numerics.INT32_MAX
    least = np.int64(-bound)
    assert numerics.rescale(least, 1 << 30, shift, 0, 0, *ends, np.int32) == -(bound << 30 >> shift)
    for value in (least - 1, -least):
        with pytest.raises(ValueError, match="too large"):
            numerics.rescale(value, 1 << 30, shift, 0, 0, *ends, np.int32)


@pytest.mark.parametrize(
    ("storage", "scale", "expressed", "does"),
    [("i8", 0.1, f32, True), ("i32", 0.1, f32, False), ("u16", 0.1, f16, True)],
)
def test_which_types_settle(storage: str, scale: float, expressed: AnyFloat, does: bool):
    """All that survive the way through float, and of f16 those that are themselves the second time."""
    type = UniformType.per_tensor(Storage.of(storage), scale, 0).replace(expressed=expressed)
    assert settles(type) is does


def test_integers_are_signless_upstream_and_keep_their_bytes():
    for array, element in ((np.array([200, 7], np.uint8), i8), (np.array([1.5], np.float32), f32)):
        attribute = dense(array)
        assert attribute.type.get_element_type() == element
        assert attribute.data.data == array.tobytes()


def test_a_list_is_named_after_the_op_that_it_is_for():
    op = first_op("%y = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>", "%x: tensor<2xf32>")
    nodes = Nodes(op)
    op.location = location("act", [])
    of_named, of_none = Nodes(op).ints([1, 2], "shape").owner, nodes.ints([1, 2], "shape").owner
    assert isinstance(of_named, ConstantOp)
    assert isinstance(of_none, ConstantOp)
    assert (tensor_name(of_named), tensor_name(of_none)) == ("act_shape", "")


@pytest.mark.parametrize(("result", "count"), [("*", 5 * 64), ("2x3x5", 2 * 3 * 5 * 64)])
def test_a_packed_weight_is_multiplied_once_if_no_shape_says_more(result: str, count: int):
    op = first_op(
        f"%y = onnx_ms.MatMulNBits(%x, %w, %s) {{K = 64 : i64, N = 5 : i64, bits = 4 : i64, block_size = 32 : i64}}"
        f" : (tensor<*xf32>, tensor<5x2x16xui8>, tensor<10xf32>) -> tensor<{result}xf32>",
        "%x: tensor<*xf32>, %w: tensor<5x2x16xui8>, %s: tensor<10xf32>",
    )
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


@pytest.mark.parametrize(("between", "is_last"), [("Transpose", True), ("Sigmoid", False)])
def test_a_value_lies_channels_last_if_a_convolution_reads_it_as_it_is(between: str, is_last: bool):
    """In front of a move of elements, not of an op that computes; of floats, which are quantized behind, both."""
    image, weight = (
        "tensor<1x2x4x4x!quant.uniform<u8:f32, 0.5>>",
        "tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>",
    )
    op = first_op(
        f"%p = onnx.{between}(%x) : ({image}) -> {image}\n"
        f"%y = onnx.Conv(%p, %w) : ({image}, {weight}) -> {image}",
        f"%x: {image}, %w: {weight}",
    )
    assert is_channels_last(op.operands[0]) is is_last
    assert goes_channels_last(op.operands[0])


@pytest.mark.parametrize(("bytes_", "folded"), [(16, True), (15, False)])
def test_results_may_take_all_bytes_that_there_are(
    bytes_: int, folded: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("qdialect.patterns.constant_folding.MAX_GROWTH", 0)
    monkeypatch.setattr("qdialect.patterns.constant_folding.FREE_GROWTH_BYTES", bytes_)
    op = first_op(
        "%c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<4xf32>>} : () -> tensor<4xf32>\n"
        "%y = onnx.Neg(%c) : (tensor<4xf32>) -> tensor<4xf32>",
        "",
    )
    module = op.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    computation = Computation(module)
    for one in module.walk():
        computation.show(one)
    assert computation.is_waiting(op.results[0]) is folded


@pytest.mark.parametrize(
    ("inputs", "outputs", "last", "moved"),
    [
        (2, 4, (False, False), 2 * (6 * 2 * 40 + 10 * 8 * 40)),
        (2, 4, (True, False), 2 * 10 * 8 * 40),  # the operand lies so already
        (2, 4, (False, True), 2 * 6 * 2 * 40),
        (2, 4, (True, True), 0),
        (1, 4, (False, False), 2 * 10 * 8 * 40),  # nothing is packed in front
        (2, 1, (False, False), 2 * 6 * 2 * 40),
        (6, 8, (False, False), 0),  # a pixel of one channel lies both ways
    ],
)
def test_packed_pixels_are_moved_there_and_back(
    inputs: int, outputs: int, last: tuple[bool, bool], moved: int
):
    """Of 2 images of 20 pixels, 6 bytes for each of two strides, at 1, and 8 floats, at 10."""
    spec = Spec(ROW, 2, True, True, 17, reads_last=last[0], makes_last=last[1])
    packing = Packing(inputs, outputs, kernel=3, stride=1, before=0, behind=0)
    assert _moves({SPREADING: {"move_byte": 1.0, "move_float": 10.0}}, spec, packing) == moved


@pytest.mark.parametrize(
    ("images", "height", "blocked"), [(DYNAMIC, 4, False), (2, DYNAMIC, False), (DYNAMIC, DYNAMIC, True)]
)
def test_one_of_two_joined_sizes_may_be_unknown(images: int, height: int, blocked: bool):
    """Height and width become one axis; the batch and the height come apart again if one of them is known."""
    rows = Geometry(
        images=images, inputs=3, outputs=4, groups=1, kernel=(3, 1, 1), strides=(1, 1, 1), dilations=(1, 1, 1),
        pads=((0, 0),) * 3, sizes=(6, height, 5), results=(4, height, 5),
    )  # fmt: skip
    (step,) = joined_axes(Spec(rows, 1, True, False, 17), {VOLUME: {}}, 1e9)
    assert (step.blocked is not None) == blocked


@pytest.mark.parametrize("sizes", [((7, DYNAMIC), (5, 4)), ((7, 9), (5, DYNAMIC))])
def test_a_row_of_unknown_width_is_as_wide_as_its_stride_wants(sizes: tuple[tuple[int, int], ...]):
    """Columns of stride 2 where rows have 1."""
    row = row_of(replace(ROW, sizes=sizes[0], results=sizes[1]))
    assert row == Row(2 * SOME_SIZE, SOME_SIZE, kernel=3, stride=2, dilation=1, before=0)
