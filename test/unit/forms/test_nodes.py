"""`forms.nodes`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from guard_cases import first_op

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.forms.nodes import Nodes
from qdialect.ir.names import location, tensor_name


def test_a_list_is_named_after_the_op_that_it_is_for():
    op = first_op("%y = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf32>", "%x: tensor<2xf32>")
    nodes = Nodes(op)
    op.location = location("act", [])
    of_named, of_none = Nodes(op).ints([1, 2], "shape").owner, nodes.ints([1, 2], "shape").owner
    assert isinstance(of_named, ConstantOp)
    assert isinstance(of_none, ConstantOp)
    assert (tensor_name(of_named), tensor_name(of_none)) == ("act_shape", "")
