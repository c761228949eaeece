"""A product beside an operator that is not read is told so: the reason names that operator, in every output."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import onnx_model

import qdialect
from qdialect import cli
from qdialect.report.account import Layer
from qdialect.report.explanations import advice

RNG = np.random.default_rng(7)
IMAGE = ("Conv", "ConvTranspose")
Node = tuple[str, dict[str, Any]]


class Case(NamedTuple):
    """An unknown operator, ops between it and a product."""

    between: tuple[Node, ...] = ()
    product: str = "Conv"
    domain: str = "acme"
    operator: str = "Requant"
    behind: bool = False
    """True if the unknown operator reads the product's result."""


def _model(case: Case) -> onnx.ModelProto:
    """x -> unknown -> between -> product -> y, or x -> product -> between -> unknown -> y."""
    tensors: dict[str, Any] = {"w": RNG.normal(0, 0.1, (4, 4, 1, 1)).astype(np.float32)}
    if case.product not in IMAGE:
        tensors["w"] = tensors["w"].reshape(4, 4)
    unknown = (case.operator, {"domain": case.domain, "name": "unknown"})
    middle = [unknown, *case.between, (case.product, {"name": "product"})]
    if case.behind:
        middle = [(case.product, {"name": "product"}), *case.between, unknown]
    nodes: list[onnx.NodeProto] = []
    value, vectors = "x", {"Reshape": np.array([0, 0, -1, 4]), "Add": np.float32(0.5), "Mul": np.float32(2)}
    for k, (name, attributes) in enumerate(middle):
        inputs = [value, "w"] if name == case.product else [value]
        if name in vectors:
            inputs.append(f"v{k}")
            tensors[f"v{k}"] = vectors[name]
        if name == "BatchNormalization":
            inputs += [f"b{k}"] * 4
            tensors[f"b{k}"] = np.full(4, 0.5, np.float32)
        if name == "Concat":
            inputs *= 2
        value = "y" if k == len(middle) - 1 else f"t{k}"
        nodes.append(helper.make_node(name, inputs, [value], **attributes))
    shape = [8, 4] if case.product == "Gemm" else [1, 4, 4, 4]
    model = onnx_model(nodes, {"x": shape}, {"y": None}, tensors, opset=17)
    if case.domain:
        model.opset_import.append(helper.make_opsetid(case.domain, 1))
    return model


def _layer(model: onnx.ModelProto, **options: Any) -> Layer:
    report = qdialect.compile(qdialect.load(model), **options)
    return next(one for one in report.layers if one.node == "product")


MOVES: tuple[tuple[Node, ...], ...] = (
    (("Reshape", {}),),
    (("Transpose", {"perm": [0, 1, 3, 2]}),),
    (("Relu", {}),),
    (("MaxPool", {"kernel_shape": [1, 1]}),),
    (("AveragePool", {"kernel_shape": [2, 2]}),),
    (("Add", {}),),
    (("Mul", {}),),
    (("BatchNormalization", {}),),
    (("Sigmoid", {}),),
    (("Identity", {}),),
    (("Reshape", {}), ("Relu", {}), ("Transpose", {"perm": [0, 1, 3, 2]})),
)
CASES = (
    Case(),
    Case(product="MatMul"),
    Case(product="Gemm"),
    Case(product="ConvTranspose"),
    Case(domain="", operator="Deshift"),
    Case(domain="finn", operator="XnorPopcountMatMul"),
    *(Case(between) for between in MOVES),
    *(Case(between, "MatMul") for between in MOVES[:4]),
)


@pytest.mark.parametrize("case", CASES)
def test_a_product_behind_an_unread_operator_names_it(case: Case):
    blocked = _layer(_model(case)).reasons[0].blocked
    name = f"{case.domain or 'ai.onnx'}.{case.operator}"
    assert (blocked.id, blocked.message) == (
        "unknown-operator",
        f"the operand comes from {name}, which is not read",
    )
    assert "docs/extending.md" in advice(blocked)


@pytest.mark.parametrize("between", [(), *MOVES])
def test_a_product_whose_result_only_unread_operators_take_names_them(between: tuple[Node, ...]):
    blocked = _layer(_model(Case(between, behind=True))).reasons[0].blocked
    assert (blocked.id, blocked.message) == (
        "unknown-operator",
        "the result goes into acme.Requant alone, which is not read",
    )


@pytest.mark.parametrize("target", ["onnxruntime", "tensorrt", "openvino", "generic"])
@pytest.mark.parametrize("exactness", ["exact", "close"])
def test_every_target_names_the_unread_operator(target: str, exactness: str):
    layer = _layer(_model(Case(MOVES[0])), target=target, exactness=exactness)
    assert layer.reasons[0].blocked.id == "unknown-operator"


def _quantized(model: onnx.ModelProto) -> onnx.ModelProto:
    """The weight `w` behind a DequantizeLinear."""
    for tensor in model.graph.initializer:
        if tensor.name == "w":
            values = onnx.numpy_helper.to_array(tensor)
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.rint(values * 100).astype(np.int8), "w"))
    scale = onnx.numpy_helper.from_array(np.array(0.01, np.float32), "ws")
    model.graph.initializer.append(scale)
    for node in model.graph.node:
        if "w" in node.input:
            node.input[1] = "wd"
    model.graph.node.insert(0, helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"]))
    return model


@pytest.mark.parametrize("product", ["Conv", "MatMul", "Gemm"])
def test_a_product_with_a_quantized_weight_names_the_unread_operator(product: str):
    blocked = _layer(_quantized(_model(Case(product=product)))).reasons[0].blocked
    assert blocked.message == "the operand comes from acme.Requant, which is not read"


def test_a_product_between_known_operators_does_not_name_an_unread_one():
    model = _model(Case((("Softmax", {}),)))
    assert _layer(model).reasons[0].blocked.id == "not-quantized"


def test_a_result_that_another_operator_reads_too_does_not_name_an_unread_one():
    model = _model(Case(behind=True))
    model.graph.node.append(helper.make_node("Softmax", [model.graph.node[0].output[0]], ["z"]))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    assert _layer(model).reasons[0].blocked.id == "not-quantized"


def test_a_call_of_a_function_of_the_model_is_no_unread_operator():
    model = _model(Case())
    body = [helper.make_node("Neg", ["a"], ["b"])]
    imports = [helper.make_opsetid("", 17)]
    model.functions.append(helper.make_function("acme", "Requant", ["a"], ["b"], body, imports))
    assert _layer(model).reasons[0].blocked.id != "unknown-operator"


def test_verdict_explain_and_report_agree_on_the_unread_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, page, out = (str(tmp_path / name) for name in ("in.onnx", "report.json", "out.onnx"))
    onnx.save(_model(Case(MOVES[0])), path)
    said = "the operand comes from acme.Requant, which is not read"
    assert cli.main(["compile", path, "-o", out, "--report", page]) == 0
    assert f"{said}; state in an entry of a package what it computes" in capsys.readouterr().err
    assert said in Path(page).read_text(encoding="utf-8")
    assert cli.main(["explain", path]) == 0
    text = capsys.readouterr().out
    assert f"1 Conv: {said}" in text
    assert "quantize the model there too" not in text
    assert cli.main(["explain", path, "--json"]) == 0
    assert [one["id"] for one in json.loads(capsys.readouterr().out)] == ["unknown-operator"]
    assert cli.main(["explain", "unknown-operator"]) == 0
    assert "docs/extending.md" in capsys.readouterr().out
