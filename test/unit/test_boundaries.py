"""Where a promise or a guard changes its mind: the last case on one side, and the first on the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.ops import get_all_dialects
from qdialect.patterns.convolution.width import Row, row_of
from qdialect.promises.clamping import KEEPS
from qdialect.promises.kernels import KERNELS
from qdialect.promises.window import Geometry
from qdialect.text.assembly import parse_module


def first_op(body: str, arguments: str, opset: int = 17) -> OnnxOp:
    """The first op of a function that has operands."""
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
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
