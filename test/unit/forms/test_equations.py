"""Products that are written as equations, against onnxruntime's Einsum."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import run
from qdialect.forms.equations import terms_of

Array = npt.NDArray[Any]
STEP, OUT = np.float32(2**-4), np.float32(2**-3)


def model(equation: str, left: tuple[int, ...], right: tuple[int, ...], weight: int | None):
    """An Einsum between casts. weight: axis of the right operand's scales, a constant; None: it is an activation."""
    rng = np.random.default_rng(5)
    constants: dict[str, Any] = {"step": STEP, "out": OUT, "zero": np.uint8(128)}
    feeds: dict[str, Array] = {"a": rng.normal(size=left).astype(np.float32)}
    nodes: list[onnx.NodeProto] = []

    def paired(name: str, scale: str) -> str:
        nodes.append(oh.make_node("QuantizeLinear", [name, scale, "zero"], [f"{name}_q"]))
        nodes.append(oh.make_node("DequantizeLinear", [f"{name}_q", scale, "zero"], [f"{name}_r"]))
        return f"{name}_r"

    operands = [paired("a", "step"), "b_r"]
    if weight is None:
        feeds["b"] = rng.normal(size=right).astype(np.float32)
        paired("b", "step")
    else:
        constants["b"] = rng.integers(-127, 128, size=right).astype(np.int8)
        constants["b_s"] = (2.0 ** -rng.integers(5, 8, size=right[weight])).astype(np.float32)
        nodes.append(oh.make_node("DequantizeLinear", ["b", "b_s"], ["b_r"], axis=weight))
    nodes.append(oh.make_node("Einsum", operands, ["y"], equation=equation))
    result = paired("y", "out")
    return onnx_model(nodes, {k: (1, v.shape) for k, v in feeds.items()}, {result: None}, constants), feeds


@pytest.mark.parametrize(
    ("equation", "left", "right", "weight"),
    [
        ("bij,jk->bik", (2, 5, 8), (8, 4), 1),
        ("bij,kj->bik", (2, 5, 8), (4, 8), 0),
        ("ij,jk", (5, 8), (8, 4), 1),
        ("abc,cde->abde", (2, 5, 8), (8, 3, 4), None),
        ("abcd,cde->eba", (2, 5, 3, 4), (3, 4, 6), 2),
        ("bqhd,bkhd->bhqk", (2, 5, 3, 8), (2, 6, 3, 8), None),
        ("bhqk,bkhd->bqhd", (2, 3, 5, 6), (2, 6, 3, 8), None),
        ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 6, 5), None),
        ("bij,bjk->bik", (1, 5, 8), (3, 8, 4), None),
        ("...ij,jk->...ik", (2, 3, 5, 8), (8, 4), 1),
    ],
)
@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt"])
def test_equation_in_integers(equation: str, left: Any, right: Any, weight: int | None, target: str) -> None:
    original, feeds = model(equation, left, right, weight)
    compiled = qdialect.load(original)
    qdialect.compile(compiled, target=target)
    written = qdialect.to_model(compiled)
    product = {"onnxruntime": "QLinearMatMul", "tensorrt": "MatMul"}[target]
    names = [node.op_type for node in written.graph.node]
    assert product in names
    assert "Einsum" not in names
    # Scales are powers of two, so that the sums are exact in any order.
    for before, after in zip(run(original, feeds), run(written, feeds), strict=True):
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(
    ("form", "advice"), [("qoperator", ""), ("integer", "choose --form qoperator if the target has it")]
)
def test_reason_of_an_equation_that_is_no_product(form: str, advice: str) -> None:
    original, _ = model("bi,bi->b", (3, 8), (3, 8), None)
    report = qdialect.compile(qdialect.load(original), form=form)
    (einsum,) = (stays for stays in report.floats if stays.op == "Einsum")
    assert einsum.blocked.id == "no-form"
    assert einsum.blocked.fix == advice


@pytest.mark.parametrize(
    ("equation", "ranks", "expected"),
    [
        ("ij,jk->ik", (2, 2), ("ij", "jk", "ik")),
        ("ij,jk->ik", (3, 2), None),
        ("ij,jk->ik", (2, 1), None),
        ("...ij,jk->...ik", (3, 2), ("9ij", "jk", "9ik")),
        ("ij,jk,kl->il", (2, 2), None),
    ],
)
def test_terms_have_as_many_indices_as_operands_have_axes(
    equation: str, ranks: tuple[int, int], expected: tuple[str, str, str] | None
):
    assert terms_of(equation, ranks) == expected
