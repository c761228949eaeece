"""What a reason advises, followed: the model as it was keeps a layer in float for that reason, changed it does not."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect.report.account import Layer
from qdialect.report.explanations import advice


class Spec(NamedTuple):
    """A quantized layer, and what may be wrong with it."""

    op: str = "Gemm"
    attributes: dict[str, Any] = {}
    x: str = "qdq"
    """`qdq`, `float` or `run-time`: how the activation is quantized."""
    w: str = "s8"
    """`s8`, `float`, `computed` or `wrong-axis`."""
    result: str = "qdq"
    """`qdq`, `float` or `branched`."""
    storage: type[np.generic] = np.uint8
    scale: Any = np.float32(0.02)
    size: int = 96
    opset: int = 17
    channels: int = 24


def build(spec: Spec) -> onnx.ModelProto:
    """Q/DQ, the op, Q/DQ, with what `spec` says."""
    rng = np.random.default_rng(3)
    is_image = spec.op.startswith("Conv")
    shape = (spec.channels, spec.size, 3, 3) if is_image else (spec.size, spec.channels)
    shape = (spec.size, spec.channels, 3, 3) if spec.op == "ConvTranspose" else shape
    zero = np.array(131 if spec.storage is np.uint8 else 30001, spec.storage)
    axis = {"Conv": 0, "ConvTranspose": 1}.get(spec.op, 1)
    axis = 1 - axis if spec.w == "wrong-axis" else axis
    tensors = {
        "s": np.asarray(spec.scale, np.float32), "z": zero, "ys": np.float32(0.05),
        "ws": rng.uniform(0.005, 0.02, shape[axis]).astype(np.float32),
        "w8": rng.integers(-100, 100, shape).astype(np.int8),
        "wf": rng.normal(0, 0.1, shape).astype(np.float32),
    }  # fmt: skip
    nodes: list[onnx.NodeProto] = []

    def quantized(name: str, scale: str) -> str:
        nodes.append(helper.make_node("QuantizeLinear", [name, scale, "z"], [f"{name}q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}q", scale, "z"], [f"{name}d"]))
        return f"{name}d"

    x = "x"
    if spec.x == "run-time":
        nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["dq", "ds", "dz"]))
        nodes.append(helper.make_node("DequantizeLinear", ["dq", "ds", "dz"], ["xd"]))
        x = "xd"
    elif spec.x == "qdq":
        x = quantized("x", "s")
    w = "wf"
    if spec.w in ("s8", "wrong-axis"):
        nodes.append(helper.make_node("DequantizeLinear", ["w8", "ws"], ["wd"], axis=axis))
        w = "wd"
    nodes.append(helper.make_node(spec.op, [x, w], ["m"], "layer", **spec.attributes))
    y = quantized("m", "ys") if spec.result != "float" else "m"
    other = "m" if spec.result == "branched" else y
    nodes.append(helper.make_node("Sqrt", [y], ["y"], "behind"))
    nodes.append(helper.make_node("Exp", [other], ["y2"], "beside"))
    used = {name for node in nodes for name in node.input}
    return onnx_model(
        nodes,
        {"x": (TensorProto.FLOAT, [1, spec.size, 14, 13] if is_image else [64, spec.size])},
        {n: None for n in ("y", "y2")},
        {n: v for n, v in tensors.items() if n in used},
        opset=spec.opset,
        ir_version=10,
    )


def layer(spec: Spec, folder: Path, **options: Any) -> Layer:
    path = folder / "m.onnx"
    onnx.save(build(spec), str(path))
    report = qdialect.compile(qdialect.load(path), **options)
    return next(one for one in report.layers if one.node == "layer")


GOOD = {op: Spec(op) for op in ("Gemm", "MatMul", "Conv", "ConvTranspose")}
FIXES = (
    ("Gemm", {"x": "float"}, "float-operand"),
    ("Gemm", {"w": "float"}, "float-operand"),
    ("Gemm", {"x": "float", "w": "float"}, "float-operand"),
    ("Gemm", {"x": "float", "w": "float", "result": "float"}, "not-quantized"),
    ("Gemm", {"x": "run-time"}, "run-time-scale"),
    ("Gemm", {"w": "wrong-axis"}, "weight-axis"),
    ("Gemm", {"storage": np.uint16, "opset": 21}, "no-kernel"),
    ("MatMul", {"w": "float"}, "float-operand"),
    ("MatMul", {"storage": np.uint16, "opset": 21}, "no-kernel"),
    ("MatMul", {"x": "run-time"}, "run-time-scale"),
    ("Conv", {"x": "float"}, "float-operand"),
    ("Conv", {"w": "wrong-axis"}, "weight-axis"),
    ("Conv", {"storage": np.uint16, "opset": 21}, "no-kernel"),
    ("Conv", {"scale": np.inf}, "scale-value"),
    ("ConvTranspose", {"x": "float"}, "float-operand"),
)
"""What is wrong, and the reason that is given; what the reason advises is to undo it."""


@pytest.mark.parametrize("op", GOOD)
def test_as_advised_a_layer_is_of_integers(op: str, tmp_path: Path):
    one = layer(GOOD[op], tmp_path)
    assert (one.integer, one.reasons) == (True, ())


@pytest.mark.parametrize(("op", "wrong", "reason"), FIXES)
def test_the_reason_names_what_keeps_a_layer_in_float(
    op: str, wrong: dict[str, Any], reason: str, tmp_path: Path
):
    one = layer(GOOD[op]._replace(**wrong), tmp_path)
    assert not one.integer
    assert one.reasons[0].blocked.id == reason
    assert advice(one.reasons[0].blocked)


def test_what_was_kept_in_float_is_told_so(tmp_path: Path):
    assert layer(GOOD["Conv"], tmp_path, keep_float=["layer"]).reasons[0].blocked.id == "kept-float"
