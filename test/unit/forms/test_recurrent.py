"""LSTM, GRU and RNN taken apart, against onnxruntime's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper as onh
import pytest
from built_ops import names
from guard_cases import last_op
from recurrent_models import GATES, HIDDEN, Array, model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

import qdialect
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_tensor import from_array
from qdialect.dialects.onnx_types import tensor_type
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.evaluation.session import run
from qdialect.forms.cells import KINDS
from qdialect.forms.recurrent import read_layer
from qdialect.ir.values import real_constant
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import import_domains
from qdialect.reasons import Blocked
from qdialect.transforms.decompose import DecomposePass
from qdialect.transforms.fold_constants import FoldConstantsPass
from qdialect.transforms.lower_to_qdq import LowerToQdqPass
from qdialect.transforms.quantize_recurrent import QuantizeRecurrentPass


def apart(proto: onnx.ModelProto, folder: Path) -> str:
    """The path of the model with its op taken apart."""
    onnx.save(proto, folder / "whole.onnx")
    module = qdialect.load(folder / "whole.onnx")
    DecomposePass(ops=tuple(GATES)).apply(Context(), module)
    FoldConstantsPass().apply(Context(), module)
    module.verify()
    qdialect.save(module, folder / "apart.onnx")
    kinds = {node.op_type for node in onnx.load(folder / "apart.onnx").graph.node}
    assert "Scan" in kinds
    assert not kinds & set(GATES)
    return str(folder / "apart.onnx")


def close(one: list[Array], other: list[Array]) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * max(1.0, float(np.abs(a).max())), rtol=0)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"biased": False},
    {"direction": "reverse"},
    {"direction": "bidirectional", "initial": True},
    {"initial": True, "free": True, "opset": 17},
    {"free": True, "direction": "bidirectional", "opset": 18},
    {"opset": 9},
    {"opset": 12, "direction": "bidirectional"},
    {"clip": 0.7},
    {"clip": 0.7, "opset": 10, "initial": True},
    {"lengths": np.array([2, 5, 3]), "initial": True},
    {"lengths": np.array([2, 5, 3]), "direction": "bidirectional"},
    {"lengths": np.array([4, 1, 3]), "direction": "reverse", "free": True, "initial": True},
    {"lengths": np.array([0, 5, 3]), "initial": True},
    {"lengths": np.array([5, 5, 5]), "direction": "reverse", "free": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", GATES)
def test_the_same_numbers(kind: str, options: dict[str, Any], tmp_path: Path) -> None:
    proto, feeds = model(kind, **options)
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


@pytest.mark.parametrize(
    "options", [{"direction": "bidirectional"}, {"initial": True}, {"clip": 0.4}], ids=str
)
def test_gru_that_resets_behind_the_product(options: dict[str, Any], tmp_path: Path) -> None:
    proto, feeds = model("GRU", linear_before_reset=1, **options)
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


@pytest.mark.parametrize("clip", [0.0, 0.6])
def test_input_gate_that_rules_the_forget_gate(clip: float, tmp_path: Path) -> None:
    options: dict[str, Any] = {"clip": clip} if clip else {}
    proto, feeds = model("LSTM", input_forget=1, initial=True, **options)
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


ACTIVATIONS: list[dict[str, Any]] = [
    {"activations": ["Relu"]},
    {"activations": ["Softsign"]},
    {"activations": ["Softplus"]},
    {"activations": ["LeakyRelu"], "activation_alpha": [0.3]},
    {"activations": ["LeakyRelu"]},
    {"activations": ["ThresholdedRelu"], "activation_alpha": [0.2]},
    {"activations": ["Elu"], "activation_alpha": [0.7]},
    {"activations": ["HardSigmoid"], "activation_alpha": [0.3], "activation_beta": [0.4]},
    {"activations": ["HardSigmoid"]},
    {"activations": ["Affine"], "activation_alpha": [0.3], "activation_beta": [0.4]},
    {"activations": ["ScaledTanh"], "activation_alpha": [0.7], "activation_beta": [1.3]},
]


@pytest.mark.parametrize("attributes", ACTIVATIONS, ids=str)
def test_an_rnn_step_by_step_has_its_activation(attributes: dict[str, Any], tmp_path: Path) -> None:
    proto, feeds = model("RNN", **attributes)
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


def test_each_direction_has_its_own_activations(tmp_path: Path) -> None:
    names = ["HardSigmoid", "LeakyRelu", "Tanh", "Sigmoid", "ScaledTanh", "Softsign"]
    proto, feeds = model(
        "LSTM",
        direction="bidirectional",
        activations=names,
        activation_alpha=[0.25, 0.15, 0.8],
        activation_beta=[0.45, 1.2],
    )
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


def test_names_of_activations_in_any_case(tmp_path: Path) -> None:
    proto, feeds = model("GRU", activations=["sigmoid", "softsign"])
    close(run(proto, feeds), run(apart(proto, tmp_path), feeds))


@pytest.mark.parametrize("kind", GATES)
def test_batch_first_is_time_first_transposed(kind: str, tmp_path: Path) -> None:
    """onnxruntime has no kernel for it: the same sequences, time first, are what it should give."""
    first, feeds = model(kind, layout=1, direction="bidirectional", initial=True)
    got = run(apart(first, tmp_path), feeds)
    last, _ = model(kind, direction="bidirectional", initial=True)
    turned = {"x": feeds["x"].swapaxes(0, 1), **{k: v.swapaxes(0, 1) for k, v in feeds.items() if k != "x"}}
    y, *states = run(last, turned)
    close([y.transpose(2, 0, 1, 3), *(s.swapaxes(0, 1) for s in states)], got)


def quantized(module: ModuleOp) -> None:
    """Casts around every product with a constant: one scale for what comes in, one for each column of the weight."""
    for op in list(operations(module)):
        weight = real_constant(op.operands[1]) if op.name == "onnx.MatMul" else None
        if weight is None:
            continue
        scales = np.abs(weight).max(0) / 127
        type = UniformType.per_axis(Storage.make(8, True), 1, scales)
        stored = np.rint(weight / type.scales).astype(np.int8)
        cast = QuantizeOp(op.operands[0], UniformType.per_tensor(Storage.make(8, False), 0.02, 121))
        held = ConstantOp.of(from_array(stored), tensor_type(type, stored.shape))
        real = [DequantizeOp(cast.results[0]), DequantizeOp(held.results[0])]
        assert op.parent is not None
        op.parent.insert_ops_before([cast, held, *real], op)
        for place, one in enumerate(real):
            op.operands[place] = one.results[0]


@pytest.mark.parametrize("kind", GATES)
def test_products_in_a_loop_run_in_integers(kind: str, tmp_path: Path) -> None:
    proto, feeds = model(kind, direction="bidirectional")
    module = qdialect.load(apart(proto, tmp_path))
    quantized(module)
    LowerToQdqPass(target="generic").apply(Context(), module)
    qdialect.save(module, tmp_path / "casts.onnx")
    qdialect.compile(module)
    qdialect.save(module, tmp_path / "integers.onnx")
    after = onnx.load(tmp_path / "integers.onnx").graph
    body = next(node for node in after.node if node.op_type == "Scan").attribute
    inside = [node.op_type for a in body if a.name == "body" for node in a.g.node]
    assert "MatMul" not in inside
    assert inside.count("MatMulIntegerToFloat") == (4 if kind == "GRU" else 2)
    assert "DequantizeLinear" not in inside
    close(run(str(tmp_path / "casts.onnx"), feeds), run(str(tmp_path / "integers.onnx"), feeds))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_the_kernel_that_quantizes_its_activations(direction: str, tmp_path: Path) -> None:
    """With a scale for each column: closer than the 30 dB that one scale for each direction would give."""
    proto, feeds = model("LSTM", direction=direction, initial=True)
    for weight in proto.graph.initializer[:2]:
        array = onh.to_array(weight).copy()
        array[:, ::3] /= 50  # gates of different sizes
        weight.CopyFrom(onh.from_array(array, weight.name))
    onnx.save(proto, tmp_path / "float.onnx")
    module = qdialect.load(tmp_path / "float.onnx")
    QuantizeRecurrentPass(least=HIDDEN).apply(Context(), module)
    import_domains(module)
    module.verify()
    qdialect.save(module, tmp_path / "dynamic.onnx")
    nodes = onnx.load(tmp_path / "dynamic.onnx").graph.node
    assert [node.op_type for node in nodes] == ["DynamicQuantizeLSTM"]
    for a, b in zip(run(proto, feeds), run(str(tmp_path / "dynamic.onnx"), feeds), strict=True):
        assert 10 * np.log10((a**2).sum() / ((a - b) ** 2).sum()) > 36


LAYER = """
    x: 5x3x4xf32
    w: 1x6x4xf32
    r: 1x6x2xf32
    {}
    y = GRU(x, w, r, _, n) {{hidden_size = 2 : i64}} : 5x1x3x2xf32"""


@pytest.mark.parametrize(
    ("lengths", "opset", "kept"),
    [
        ("n = [5, 5, 5] : 3xi32", 9, False),
        ("n = [5, 4, 5] : 3xi32", 11, True),
        ("n = [4, 4, 4] : 3xi32", 11, True),
        ("n = [5, 5, 4] : 3xi32", 10, None),
        ("n: 3xi32", 11, True),
        ("n: 3xi32", 10, None),
    ],
)
def test_lengths_that_are_all_steps_are_none(lengths: str, opset: int, kept: bool | None):
    op = last_op(LAYER.format(lengths), opset)
    layer = read_layer(op, KINDS[op.op_type])
    if kept is None:
        assert names(layer) == ["opset"]
    else:
        assert not isinstance(layer, Blocked)
        assert (layer.lengths is not None) is kept
        assert (layer.steps, layer.batch) == (5, 3)
