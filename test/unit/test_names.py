"""Names that are not UTF-8 are the model's fault, wherever they stand."""

from pathlib import Path

import pytest
from onnx import TensorProto, helper

import qdialect
from qdialect.errors import UserError

MARK = b"zz-mark-zz"


@pytest.mark.parametrize("place", ["attribute", "domain", "metadata"])
def test_a_name_that_is_not_utf8_is_refused(place: str, tmp_path: Path):
    mark = MARK.decode()
    node = helper.make_node("Twist", ["x"], ["y"], domain="a.b")
    if place == "attribute":
        node.attribute.append(helper.make_attribute(mark, 1))
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in "xy"]
    graph = helper.make_graph([node], "g", value[:1], value[1:])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("a.b", 1)]
    imports += [helper.make_opsetid(mark, 1)] if place == "domain" else []
    model = helper.make_model(graph, opset_imports=imports, ir_version=9)
    if place == "metadata":
        helper.set_model_props(model, {mark: "v"})
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString().replace(MARK, b"zz\xff\xfemarkzz"))
    with pytest.raises(UserError, match=r"not UTF-8|no ONNX model"):
        qdialect.load(path)
