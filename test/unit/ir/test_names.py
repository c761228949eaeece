"""Names that are not UTF-8 are the model's fault, wherever they stand."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.parser import parse_model
from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, FusedLoc, NameLoc, NoneAttr, StringAttr

import qdialect
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import StorageCastOp
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from qdialect.ir.names import location, names_in, node_name, settle_names, tensor_name
from qdialect.ir.walking import operations
from qdialect.onnx_io.importer import import_model

MARK = b"zz-mark-zz"


def test_one_name_of_a_location_is_that_among_all_names():
    a, b, c = (NameLoc(StringAttr(text), NoneAttr()) for text in "abc")
    for parts in ([], [a], [a, b], [UNKNOWN_LOC, a, b], [a, UNKNOWN_LOC, b], [a, b, UNKNOWN_LOC, c]):
        op = StorageCastOp.create(location=FusedLoc(ArrayAttr(parts), NoneAttr()))
        names = [*names_in(op.location), "", "", "", ""]
        assert [node_name(op), *(tensor_name(op, k) for k in range(3))] == names[:4]


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
    with pytest.raises(UserError, match=r"not UTF-8|not an ONNX model"):
        qdialect.load(path)


def test_a_name_stays_with_its_tensor():
    """What has no name yet, and stands in front, takes none that a tensor has."""
    module = import_model(
        parse_model("""<ir_version: 8, opset_import: ["" : 17]>
            g (float[2,3] x) => (float[2,3] y) { t = Abs(x) n_Abs = Neg(t) y = Sqrt(n_Abs) }""")
    )
    first, second, last = [op for op in operations(module) if isinstance(op, OnnxOp)]
    first.location = location("n", [])
    settle_names(module)
    assert [tensor_name(op) for op in (first, second, last)] == ["n_Abs_1", "n_Abs", "y"]


def test_a_quantized_result_takes_its_own_pairs_name():
    """Of two results, the first took the name of the second, whose pair alone had one."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[3,2,4] x) => (float[4,2,5] y)
        <float s = {0.02}, uint8 z = {117}, float ws = {0.01}, int8 wz = {0}, int64[1] one = {1}> {
            a = QuantizeLinear(x, s, z)
            b = DequantizeLinear(a, s, z)
            h, last = GRU <hidden_size = 5> (b, w, r)
            rows = Squeeze(h, one)
            rows_q = QuantizeLinear(rows, s, z)
            rows_d = DequantizeLinear(rows_q, s, z)
            last_q = QuantizeLinear(last, s, z)
            last_d = DequantizeLinear(last_q, s, z)
            y = Concat <axis = 0> (rows_d, last_d)
        }""")
    draw = np.random.default_rng(3)
    for name, shape in (("w", (1, 15, 4)), ("r", (1, 15, 5))):
        tensor = draw.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(tensor, name))
    module = qdialect.load(model)
    qdialect.compile(module)
    quantized = {n.output[0] for n in qdialect.to_model(module).graph.node if n.op_type == "QuantizeLinear"}
    assert "last_q" in quantized
    gru = next(n for n in qdialect.to_model(module).graph.node if n.op_type == "GRU")
    assert gru.output[1].startswith("last")
    assert not gru.output[0].startswith("last")


@pytest.mark.parametrize("step", [0.5, -0.5])
def test_parameters_are_named_after_their_tensors(step: float):
    """A quantize names its result's, a dequantize its operand's; a weight under a negative scale keeps its name."""
    model = parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,2] y)
        <float p = {0.02}, uint8 q = {117}, int8[3,2] kernel = {1,-2,3,10,3,2}, float step = {STEP}, int8 zero = {3}> {
            a = QuantizeLinear(x, p, q)
            b = DequantizeLinear(a, p, q)
            w = DequantizeLinear(kernel, step, zero)
            y = MatMul(b, w)
        }""".replace("STEP", str(step))
    )
    module = qdialect.load(model)
    qdialect.compile(module, target="generic")
    nodes = {node.output[0]: list(node.input) for node in qdialect.to_model(module).graph.node}
    assert nodes == {
        "a": ["x", "a_scale", "a_zero_point"],
        "a_dequantized": ["a", "a_scale", "a_zero_point"],
        "kernel_dequantized": ["kernel", "kernel_scale", "kernel_zero_point"],
        "y": ["a_dequantized", "kernel_dequantized"],
    }


def test_a_constant_is_called_as_none_that_a_session_adds():
    """A session names the sizes in front of a product so, whatever constants the model has."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3,4] x) => (float[6,2] y, float[2,3,2] z)
        <int64[2] gemm_input_shape = {6, 4}, int64[3] gemm_output_shape_token_5 = {2, 3, 2}, float[2] b = {0.5, 1}> {
            r = Reshape(x, gemm_input_shape)
            y = MatMul(r, w)
            p = Reshape(y, gemm_output_shape_token_5)
            m = MatMul(x, w)
            a = Add(m, b)
            z = Add(a, p)
        }""")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((4, 2), np.float32), "w"))
    module = import_model(model)
    qdialect.compile(module)
    written = qdialect.to_model(module)
    names = {one.name for one in written.graph.initializer}
    assert {"gemm_input_shape_kept", "gemm_output_shape_token_5_kept"} <= names
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    sums = x.sum(2, keepdims=True) + np.zeros(2, np.float32)
    np.testing.assert_allclose(run(written, {"x": x}, optimize=True)[1], 2 * sums + [0.5, 1], rtol=1e-6)


def test_a_tensor_called_as_a_scale_keeps_its_name():
    """The scale of `a` is called a_scale only where no tensor of the model is."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,3] y)
        <float p = {0.02}, uint8 q = {117}> {
            a_scale = Erf(x)
            a = QuantizeLinear(a_scale, p, q)
            b = DequantizeLinear(a, p, q)
            c = Erf(b)
            y = Add(c, a_scale)
        }""")
    module = qdialect.load(model)
    qdialect.compile(module, target="generic")
    nodes = {node.op_type: [*node.input, *node.output] for node in qdialect.to_model(module).graph.node}
    assert nodes["Add"] == ["c", "a_scale", "y"]
    assert nodes["QuantizeLinear"] == ["a_scale", "a_scale_1", "a_zero_point", "a"]


def test_a_node_keeps_its_name_behind_another_of_two_nodes():
    """`n` became two nodes, the second of which took the name `n_1` of the user's node behind them."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,3] y) { [n] t = Abs(x) [n] u = Neg(t) [n_1] y = Sqrt(u) }""")
    written = qdialect.to_model(import_model(model))
    assert [node.name for node in written.graph.node] == ["n", "n_2", "n_1"]
