"""Half precision beside float32: scales, integer sums, conversions and factors of several precisions in one chain."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation import session

node = helper.make_node
KINDS = {np.float16: TensorProto.FLOAT16, np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}


class Case(NamedTuple):
    op: str
    scale: Any = np.float16
    """Precision of the input and of its scale."""
    sums: Any = np.float32
    """Precision to which the integer sums are converted."""
    result: Any = np.float32
    by_channel: bool = True
    is_open: bool = False
    bias: bool = False
    quantized: bool = False
    unsigned: bool = False


CASES = [
    Case("MatMulInteger", is_open=True),
    Case("MatMulInteger", by_channel=False),
    Case("MatMulInteger", unsigned=True),
    Case("MatMulInteger", bias=True),
    Case("MatMulInteger", quantized=True),
    Case("MatMulInteger", result=np.float16),
    Case("MatMulInteger", result=np.float64, quantized=False),
    Case("MatMulInteger", scale=np.float32, result=np.float16),
    Case("MatMulInteger", scale=np.float32, sums=np.float64),
    Case("MatMulInteger", sums=np.float64, result=np.float16),
    Case("ConvInteger"),
    Case("ConvInteger", by_channel=False, unsigned=True),
    Case("ConvInteger", bias=True, is_open=True),
    Case("ConvInteger", quantized=True),
    Case("ConvInteger", bias=True, quantized=True),
    Case("ConvInteger", result=np.float16),
    Case("ConvInteger", scale=np.float32, sums=np.float64, result=np.float16),
]


def _model(case: Case) -> tuple[onnx.ModelProto, dict[str, Any]]:
    rng = np.random.default_rng(3)
    is_product = case.op == "MatMulInteger"
    shape, weight = ((2, 3, 11), (11, 5)) if is_product else ((2, 4, 6, 6), (5, 4, 3, 3))
    channels = (5,) if is_product else (5, 1, 1)
    stored = np.uint8 if case.unsigned else np.int8
    factors = rng.uniform(1e-4, 2e-4, channels if case.by_channel else ()).astype(case.sums)
    tensors = {
        "s": case.scale(0.02),
        "z": stored(28),
        "w": rng.integers(-127, 128, weight).astype(np.int8),
        "k": factors,
        "b": rng.normal(size=channels).astype(case.sums),
        "step": case.sums(0.05),
        "middle": np.uint8(128),
    }
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node(case.op, ["q", "w", "z"], ["i"]),
        node("Cast", ["i"], ["f"], to=KINDS[case.sums]),
        node("Mul", ["f", "k"], ["m"]),
    ]
    last = "m"
    if case.bias:
        nodes.append(node("Add", [last, "b"], ["a"]))
        last = "a"
    if case.quantized:
        nodes.append(node("QuantizeLinear", [last, "step", "middle"], ["r"]))
        nodes.append(node("DequantizeLinear", ["r", "step", "middle"], ["t"]))
        last = "t"
    nodes.append(node("Cast", [last], ["y"], to=KINDS[case.result]))
    sizes = ["n", *shape[1:]] if case.is_open else list(shape)
    used = {name for one in nodes for name in one.input}
    model = onnx_model(
        nodes,
        {"x": (KINDS[case.scale], sizes)},
        {"y": (KINDS[case.result], [None] * len(shape))},
        {name: value for name, value in tensors.items() if name in used},
        opset=20,
    )
    return model, {"x": rng.normal(size=shape).astype(case.scale)}


@pytest.mark.parametrize("options", [{}, {"target": "tensorrt"}, {"form": "integer"}], ids=str)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sums_of_integers_quantized_in_another_precision(
    case: Case, options: dict[str, Any], tmp_path: Path
) -> None:
    model, feeds = _model(case)
    onnx.save(model, tmp_path / "in.onnx")
    (right,) = session.run(model, feeds)
    module = qdialect.load(tmp_path / "in.onnx")
    qdialect.compile(module, **options)
    qdialect.save(module, tmp_path / "out.onnx")
    reach = np.abs(right.astype(np.float64)).max()
    most = 0.051 if case.quantized else reach * (2e-3 if case.result == np.float16 else 1e-4)
    for optimize in (False, True):
        (ours,) = session.run(str(tmp_path / "out.onnx"), feeds, optimize=optimize)
        assert ours.dtype == right.dtype
        assert ours.shape == right.shape
        assert np.abs(ours.astype(np.float64) - right).max() <= most
