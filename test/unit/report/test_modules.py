"""The module that a node comes from, as exporters note it."""

import pytest
from onnx import NodeProto, helper
from onnx_models import onnx_model

from qdialect.onnx_io.importer import import_model
from qdialect.report.graph import nodes_of
from qdialect.report.modules import module_of


def module(node: NodeProto, **metadata: str) -> tuple[str, ...]:
    for key, value in metadata.items():
        entry = node.metadata_props.add()
        entry.key, entry.value = key, value
    (op,) = nodes_of(import_model(onnx_model([node], {"x": [1]}, {"y": [1]})))
    return module_of(op)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/body/body.0/conv/conv.1/Conv", ("body", "0", "conv", "1")),
        ("/layer1.0/conv1/Conv", ("layer1", "0", "conv1")),
        ("model/dense/MatMul", ("model", "dense")),
        ("/Add", ()),
        ("node_Conv_3", ()),
        ("", ()),
    ],
)
def test_names_of_older_exporters(name: str, path: tuple[str, ...]):
    assert module(helper.make_node("Relu", ["x"], ["y"], name)) == path


def test_scopes_of_pytorch():
    scopes = "['', 'body', 'body.0', 'body.0.expand', 'conv2d_3']"
    node = helper.make_node("Relu", ["x"], ["y"], "node_conv2d_3")
    assert module(node, **{"pkg.torch.onnx.name_scopes": scopes}) == ("body", "0", "expand")
    top = helper.make_node("Relu", ["x"], ["y"], "node_eq_2")
    assert module(top, **{"pkg.torch.onnx.name_scopes": "['', 'eq_2']"}) == ()


def test_namespace_alone():
    space = ": net.Net/body: torch.nn.modules.container.Sequential/body.0: net.Block/conv2d_3: aten.conv2d.default"
    assert module(helper.make_node("Relu", ["x"], ["y"], "n"), namespace=space) == ("body", "0")


@pytest.mark.parametrize("text", ["", "[", "''", "[[[[", "no scopes: at/all"])
def test_notes_of_another_kind_name_no_module(text: str):
    node = helper.make_node("Relu", ["x"], ["y"], "n")
    assert module(node, **{"pkg.torch.onnx.name_scopes": text}) == ()
    other = helper.make_node("Relu", ["x"], ["y"], "n")
    assert module(other, namespace=text) == ()
