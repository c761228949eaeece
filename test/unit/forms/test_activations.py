"""`forms.activations`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from typing import Any

import pytest
from built_ops import numbers
from guard_cases import last_op

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.activations import activations_of, clipped
from qdialect.forms.builder import Builder
from qdialect.reasons import unblocked


def named(names: list[str], alphas: list[float], betas: list[float]) -> OnnxOp:
    lists = [f"activations = {names!r}".replace("'", '"')]
    for name, values in (("activation_alpha", alphas), ("activation_beta", betas)):
        if values:
            lists.append(f"{name} = array<f32: {', '.join(map(str, values))}>")
    return last_op(f"""
        x: 5x3x4xf32
        w: 1x6x4xf32
        r: 1x6x2xf32
        y = GRU(x, w, r) {{hidden_size = 2 : i64, {", ".join(lists)}}} : 5x1x3x2xf32""")


@pytest.mark.parametrize(
    ("names", "alphas", "betas", "expected"),
    [
        (["Relu", "HardSigmoid"], [0.3], [0.4], [(None, None), (0.3, 0.4)]),
        (["LeakyRelu", "HardSigmoid"], [0.3, 0.4], [0.6], [(0.3, None), (0.4, 0.6)]),
        (["LeakyRelu", "HardSigmoid"], [0.3], [], [(0.3, None), (0.2, 0.5)]),
        (["Affine", "ScaledTanh"], [], [0.25], [(1.0, 0.25), (1.0, 1.0)]),
        (["Tanh", "Elu"], [], [], [(None, None), (1.0, None)]),
    ],
)
def test_parameters_go_to_the_functions_that_take_them(
    names: list[str], alphas: list[float], betas: list[float], expected: list[tuple[Any, Any]]
):
    (functions,) = unblocked(activations_of(named(names, alphas, betas), ["Sigmoid", "Tanh"], 1))
    assert [f[0] for f in functions] == names
    for function, (alpha, beta) in zip(functions, expected, strict=True):
        assert function[1] == (alpha if alpha is None else pytest.approx(alpha))
        assert function[2] == (beta if beta is None else pytest.approx(beta))


@pytest.mark.parametrize(("opset", "operands"), [(10, 1), (11, 3)])
def test_a_bound_of_a_layer_is_an_operand_from_opset_11_on(opset: int, operands: int):
    op = last_op("x: 3xf32\ny = Neg(x) : 3xf32", opset)
    build = Builder(op)
    clip = clipped(build, op.operands[0], 0.5).owner
    assert isinstance(clip, OnnxOp)
    assert len(clip.operands) == operands
    if operands == 3:
        assert [numbers(clip, 1), numbers(clip, 2)] == [-0.5, 0.5]
    else:
        assert (clip.float_attr("min", 0), clip.float_attr("max", 0)) == (-0.5, 0.5)
    assert clipped(build, op.operands[0], 0.0) is op.operands[0]
