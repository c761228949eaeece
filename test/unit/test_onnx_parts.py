"""The parts of onnx that a command loads without the package."""

import subprocess
import sys

ALONE = """
import sys
from qdialect.onnx_io import parts

parts.load_alone()
assert "onnx" not in sys.modules and "numpy" not in sys.modules
model = parts.messages().ModelProto(ir_version=8)
model.graph.name = "g"
assert parts.infer_shapes()(model.SerializeToString(), False, False, True)
messages = parts.messages()
node = messages.NodeProto(op_type="Reshape", input=["x", "sizes"], output=["y"])
types = {"x": messages.TypeProto(), "sizes": messages.TypeProto()}
for name, element, sizes in (("x", 1, (2, 3, 4)), ("sizes", 7, (2,))):
    types[name].tensor_type.elem_type = element
    for size in sizes:
        types[name].tensor_type.shape.dim.add(dim_value=size)
constants = {"sizes": messages.TensorProto(data_type=7, dims=[2], int64_data=[6, -1])}
alone = parts.infer_node(node, types, constants, 13)
y = messages.TypeProto.FromString(alone["y"]).tensor_type
assert [size.dim_value for size in y.shape.dim] == [6, 4] and "onnx" not in sys.modules

import onnx, onnx.helper, onnx.shape_inference  # the package takes the parts that are there

assert onnx.ModelProto is type(model)
onnx.shape_inference.infer_shapes(model)
schema, imports = onnx.defs.get_schema("Reshape", 13, ""), [onnx.helper.make_opsetid("", 13)]
whole = onnx.shape_inference.infer_node_outputs(schema, node, types, constants, opset_imports=imports)
assert {name: type.SerializeToString() for name, type in whole.items()} == alone
"""


def test_the_package_can_come_later():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
