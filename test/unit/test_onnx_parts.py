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

import onnx, onnx.shape_inference  # the package takes the parts that are there

assert onnx.ModelProto is type(model)
onnx.shape_inference.infer_shapes(model)
"""


def test_the_package_can_come_later():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
