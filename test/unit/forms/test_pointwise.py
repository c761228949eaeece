"""Products written as convolutions of one pixel, on numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from guard_cases import last_op
from onnx_models import onnx_model
from xdsl.ir import Operation

import qdialect
from graphs.structure import difference
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.evaluation import session as oracle
from qdialect.forms.pointwise import POINTWISE
from qdialect.ir.names import location, node_name
from qdialect.kernel_selection.convolution.conversions import WriteAsPointwise

CASES = {
    "rows": ("MatMul", (3, 17, 12), (12, 24)),
    "image": ("MatMul", (2, 3, 7, 8), (8, 16)),
    "gemm": ("Gemm", (35, 12), (12, 16)),
    "fewest rows": ("MatMul", (2, 16, 8), (8, 16)),
    "turned": ("Gemm", (40, 8), (24, 8)),
}


def model(case: str) -> onnx.ModelProto:
    """A product between casts with a weight of i8, scales for each column, and of a Gemm a bias."""
    op, x, w = CASES[case]
    rng, turned = np.random.default_rng(3), case == "turned"
    outputs = w[0] if turned else w[1]
    constants: dict[str, Any] = {
        "xs": np.float32(0.02), "xz": np.uint8(117), "ys": np.float32(0.07), "yz": np.uint8(121),
        "w": rng.integers(-128, 128, w).astype(np.int8), "wz": np.zeros(outputs, np.int8),
        "ws": rng.uniform(0.002, 0.02, outputs).astype(np.float32), "b": rng.normal(size=outputs).astype(np.float32),
    }  # fmt: skip
    bias = ["b"] if op == "Gemm" else []
    attributes: dict[str, Any] = {"transB": int(turned)} if bias else {}
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        oh.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], axis=0 if turned else 1),
        oh.make_node(op, ["d", "v", *bias], ["c"], **attributes),
        oh.make_node("QuantizeLinear", ["c", "ys", "yz"], ["e"]),
        oh.make_node("DequantizeLinear", ["e", "ys", "yz"], ["y"]),
    ]
    return onnx_model(
        nodes,
        {"x": (1, x)},
        {"y": [*x[:-1], outputs]},
        {k: v for k, v in constants.items() if k != "b" or bias},
        opset=13,
    )


def accepts_none(pattern: WriteAsPointwise, op_class: type[Operation]) -> bool:
    return False


def compiled(path: Path, result: Path) -> Path:
    module = qdialect.load(path)
    qdialect.compile(module)
    qdialect.save(module, result)
    return result


@pytest.mark.parametrize("case", CASES)
def test_a_product_as_a_convolution_makes_the_same_integers(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "model.onnx"
    onnx.save(model(case), path)
    result = compiled(path, tmp_path / "result.onnx")
    assert [n.op_type for n in onnx.load(result).graph.node].count("QLinearConv") == 1
    assert not difference(onnx.load(result), onnx.load(compiled(result, tmp_path / "again.onnx")))
    monkeypatch.setattr(WriteAsPointwise, "accepts", accepts_none)
    product = compiled(path, tmp_path / "product.onnx")
    assert not [n for n in onnx.load(product).graph.node if n.op_type == "QLinearConv"]
    x = np.random.default_rng(4).uniform(-2.5, 2.9, CASES[case][1]).astype(np.float32)
    expected, got = (oracle.run(str(p), {"x": x})[0] for p in (product, result))
    assert np.array_equal(expected, got)


def test_the_last_op_has_the_name_of_the_node():
    op = last_op("x: 35x3x!u\nw = [1, 2, 3, 4, 5, 7] : 3x2xi8 as 3x2x!t\ny = Gemm(x, w) : 35x2x!u")
    op.location = location("fc")
    ops = [o for o in POINTWISE["", "Gemm"].parts(op) if not isinstance(o, ConstantOp)]
    assert [o.name.partition(".")[2] for o in ops] == ["Reshape", "Transpose", "Conv", "Transpose", "Reshape"]
    assert [node_name(o) == "fc" for o in ops] == [False, False, True, False, True]
