"""Convolutions with a float result whose pixels are packed together with the zeros around them, on numbers."""

from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from convolution_models import Case, model, run, written

PADDED: list[Case] = [
    ((1, 24, 32, 32), (12, 24, 3, 3), {"pads": [1, 1, 1, 1]}),
    ((4, 16, 19, 30), (16, 16, 4, 3), {"pads": [2, 1, 0, 1]}),
    ((2, 16, 36, 62), (16, 16, 3, 3), {"pads": [0, 1, 2, 1], "dilations": [2, 1]}),
]


@pytest.mark.parametrize("case", PADDED)
def test_zeros_that_a_product_puts_around_are_packed_with_the_pixels(case: Case, tmp_path: Path):
    made, x = model(case, quantized=False)
    after = written(made, tmp_path, "choose-convolution-form")
    result = onnx.load(after)
    assert [n.op_type for n in result.graph.node].count("Pad") == 1
    (product,) = (n for n in result.graph.node if n.op_type == "MatMulIntegerToFloat")
    matrix = next(t for t in result.graph.initializer if t.name == product.input[1])
    outputs, inputs, *kernel = case[1]
    pixels = kernel[1] + 1  # two in a row, each under its window: no more than these are gathered
    assert list(matrix.dims) == [inputs * kernel[0] * pixels, 2 * outputs]
    onnx.save(made, tmp_path / "before.onnx")
    before, got = run(tmp_path / "before.onnx", x), run(after, x)
    assert got.shape == before.shape
    assert np.abs(got - before).max() <= 1e-5 * np.abs(before).max()


def unsized(case: Case, tmp_path: Path) -> onnx.ModelProto:
    """A convolution with a float result and a batch that is not known, in the form chosen, which has its numbers."""
    made, x = model(case, quantized=False)
    del made.graph.value_info[:]
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    after = written(made, tmp_path, "choose-convolution-form")
    onnx.save(made, tmp_path / "before.onnx")
    before, got = run(tmp_path / "before.onnx", x), run(after, x)
    assert np.abs(got - before).max() <= 1e-5 * np.abs(before).max()
    return onnx.load(after)


def test_a_float_result_of_an_unknown_batch_is_priced_for_several_images(tmp_path: Path):
    after = unsized(((1, 16, 16, 16), (16, 16, 3, 3), {"pads": [1, 1, 1, 1]}), tmp_path)
    (product,) = (n for n in after.graph.node if n.op_type == "MatMulIntegerToFloat")
    matrix = next(t for t in after.graph.initializer if t.name == product.input[1])
    assert list(matrix.dims) == [16 * 3 * 4, 2 * 16]  # two pixels in one


def test_a_float_kernel_that_is_hardly_faster_is_not_taken(tmp_path: Path):
    after = unsized(((1, 48, 1, 1), (10, 48, 1, 1), {}), tmp_path)
    assert not any(n.op_type == "Conv" for n in after.graph.node)


def test_a_weight_that_the_session_would_quantize_again_is_not_priced_as_packed(tmp_path: Path):
    made, x = model(((1, 8, 32, 32), (8, 8, 3, 3), {"pads": [1, 1, 1, 1]}), quantized=False)
    plain = [n.op_type for n in onnx.load(written(made, tmp_path, "choose-convolution-form")).graph.node]
    assert "Conv" in plain  # faster in float, of a constant
    made.graph.node.append(oh.make_node("QuantizeLinear", ["y", "xs", "xz"], ["z"]))
    made.graph.output.append(oh.make_tensor_value_info("z", 2, [None] * 4))
    after = written(made, tmp_path, "choose-convolution-form")
    assert not {"Conv", "FusedConv"} & {n.op_type for n in onnx.load(after).graph.node}
    onnx.save(made, tmp_path / "before.onnx")
    before, got = run(tmp_path / "before.onnx", x), run(after, x)
    assert np.abs(got - before).max() <= 1e-5 * np.abs(before).max()


def test_a_whole_row_of_results_needs_no_zeros_beside_the_operand(tmp_path: Path):
    made, x = model(
        ((1, 1, 49, 10), (64, 1, 10, 4), {"pads": [4, 1, 5, 1], "strides": [2, 2]}), quantized=True
    )
    after = written(made, tmp_path, "choose-convolution-form")
    (one,) = (n for n in onnx.load(after).graph.node if n.op_type == "QLinearConv")
    assert next(list(a.ints) for a in one.attribute if a.name == "pads") == [4, 0, 5, 0]
    got = run(after, x)
    np.testing.assert_array_equal(got, run(written(made, tmp_path), x))


def test_a_whole_row_has_to_pay_over_a_part_of_it(tmp_path: Path):
    made, _ = model(((1, 1, 16, 16), (16, 1, 3, 3), {"pads": [1, 1, 1, 1]}), quantized=True)
    nodes = onnx.load(written(made, tmp_path, "choose-convolution-form")).graph.node
    (one,) = (n for n in nodes if n.op_type == "QLinearConv")
    assert next(list(a.ints) for a in one.attribute if a.name == "kernel_shape") == [3, 3]
