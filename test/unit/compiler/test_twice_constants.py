"""The second compilation gives the ops and parameters of the first: constants, and types in subgraphs."""

from typing import Any

import numpy as np
import pytest
from guard_cases import parsed
from onnx import ModelProto
from onnx.parser import parse_model
from xdsl.context import Context

from graphs.structure import difference
from qdialect.api import compile
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.quant import QuantizeOp
from qdialect.evaluation import session as oracle
from qdialect.ir.names import result_names
from qdialect.ir.values import known_array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.fold_casts import FoldCastsPass
from qdialect.transforms.fuse_quantized import FuseQuantizedPass
from qdialect.transforms.raise_qdq import RaiseQdqPass

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>'


def compiled(model: ModelProto, target: str, **options: Any) -> ModelProto:
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    module = import_model(source)
    compile(module, target, **options)
    return export_model(module)


def assert_stays(text: str, target: str = "onnxruntime", **options: Any) -> ModelProto:
    first = compiled(parse_model(f"{HEAD} {text}"), target, **options)
    assert not difference(first, compiled(first, target, **options))
    return first


def of_constants(node: str, result: str = "uint8 rz = {7}") -> str:
    return f"""g () => (float[2,3] y)
        <uint8[2,3] w = {{5, 200, 17, 90, 128, 255}}, float ws = {{0.03}}, uint8 wz = {{128}},
         float rs = {{0.05}}, {result}> {{
            d = DequantizeLinear(w, ws, wz)
            f = {node}
            q = QuantizeLinear(f, rs, rz)
            y = DequantizeLinear(q, rs, rz)
        }}"""


def fused(text: str) -> Any:
    module = import_model(parse_model(f"{HEAD} {text}"))
    for one in (RaiseQdqPass(), FuseQuantizedPass()):
        one.apply(Context(), module)
    return module


@pytest.mark.parametrize("node", ["Neg(d)", "Add(d, d)", "Mul(d, ws)", "Where(c, d, ws)"])
def test_an_op_on_quantized_constants_is_one(node: str):
    text = of_constants(node, "uint8 rz = {128}, bool[2,3] c = {1, 0, 0, 1, 1, 0}")
    [expected] = oracle.run(parse_model(f"{HEAD} {text}"), {})
    module = fused(text)
    constants = [op for op in module.walk() if isinstance(op, ConstantOp) and op.value is not None]
    [stored] = [known_array(op.results[0]) for op in constants if op.results[0].first_use is not None]
    np.testing.assert_array_equal((stored.astype(np.float32) - 128) * np.float32(0.05), expected)


def test_an_op_that_onnxruntime_cannot_compute_stays():
    """It has no Mod of floats that is not C's."""
    text = of_constants("Mod(d, ws)")
    assert {remark.blocked.id for remark in remarks_of(fused(text))} == {"not-computable"}


def test_a_scale_that_is_dequantized_is_constant():
    """It became a number when weights became floats, so that the cast had a type when it was read again."""
    model = assert_stays("""g (float[3,4] x) => (int16[3,4] y)
        <int8[3,2] c = {-73, -36, -17, 53, 60, 127}, float s = {0.03}, int8 z = {-128}> {
            d = DequantizeLinear(c, s, z)
            y = QuantizeLinear<axis = 1, block_size = 2, output_dtype = 5>(x, d)
        }""")
    assert [node.op_type for node in model.graph.node] == ["QuantizeLinear"]


SCAN = """g (float[4,3,2] x) => (float[?,?] last, float[?,?,?] all)
    <int64[1] n = {3}, int64[1] k = {2}, float s = {0.03}, uint8 z = {128}> {
        m = Abs(n)
        shape = Concat<axis = 0>(m, k)
        zero = ConstantOfShape(shape)
        last, all = Scan<num_scan_inputs = 1, scan_input_axes = [AXIS], body = step
            (float[?,?] state, float[?,?] one) => (float[?,?] next, float[?,?] out) {
                sum = Add(state, one)
                q = QuantizeLinear(sum, s, z)
                next = DequantizeLinear(q, s, z)
                out = Identity(next)
            }>(zero, moved)
    }"""


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
def test_a_scan_over_what_has_a_computed_shape(target: str):
    """The body stated the sizes of its inputs the second time only, and the first state had another name."""
    text = SCAN.replace("AXIS", "1").replace("moved", "x").replace("n = {3}", "n = {4}")
    [scan] = [node for node in assert_stays(text, target).graph.node if node.op_type == "Scan"]
    [body] = [attribute.g for attribute in scan.attribute if attribute.name == "body"]
    sizes = [[d.dim_value for d in i.type.tensor_type.shape.dim] for i in body.input]
    assert sizes == [[4, 2], [4, 2]]


@pytest.mark.parametrize("state", ["float[?,?]", "float[3,2]"])
def test_a_state_of_zeros_keeps_its_name(state: str):
    model = assert_stays(
        SCAN.replace("AXIS", "0").replace("moved", "x").replace("float[?,?] state", f"{state} state")
    )
    assert "Constant" not in "".join(tensor.name for tensor in model.graph.initializer)


def test_readings_in_a_branch_and_around_it_are_one():
    model = assert_stays("""g (uint8[2,5] x, bool c) => (uint8[2,5] y)
        <float s = {0.015625}, float t = {0.025}, float u = {0.02}, uint8 z = {0}> {
            v = DequantizeLinear(x, s, z)
            y = If(c) <
                then_branch = yes () => (uint8[2,5] o) { o = Identity(x) },
                else_branch = no () => (uint8[2,5] p) {
                    d = DequantizeLinear(x, s, z)
                    q = QuantizeLinear(d, t, z)
                    e = DequantizeLinear(q, s, z)
                    n = Neg(e)
                    r = QuantizeLinear(n, s, z)
                    f = DequantizeLinear(r, s, z)
                    m = Mean(f, v, f)
                    p = QuantizeLinear(m, u, z)
                }
            >
        }""")
    [branch] = [a.g for n in model.graph.node for a in n.attribute if a.name == "else_branch"]
    assert [node.input[0] for node in branch.node if node.op_type == "DequantizeLinear"].count("x") == 1


def test_a_pair_of_its_own_takes_no_name_of_another_tensor():
    """Tensorrt has a pair for each operand of a join: the second was called `q_1`, and `q_1` then `q_1_1`."""
    model = assert_stays(
        """g (float[2,3] x, float[2,3] w) => (float[2,3] y)
        <float s = {0.03}, float t = {0.02}, int8 z = {0}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            m = Mul(d, d)
            q_1 = QuantizeLinear(w, t, z)
            e = DequantizeLinear(q_1, t, z)
            y = Add(m, e)
        }""",
        "tensorrt",
    )
    assert "q_1_dequantized" in {name for node in model.graph.node for name in node.output}
    assert not any("q_1_1" in name for node in model.graph.node for name in node.output)


def test_a_constant_that_is_an_output_too_is_one():
    """Its integers are the output; what reads its real numbers had a constant of its own, with another name."""
    model = assert_stays(
        """g (float[2,3] x) => (float[2,3] y, float[2,3] w)
        <uint8[2,3] c = {5, 200, 17, 90, 128, 255}, float s = {0.03}, uint8 z = {0}> {
            d = DequantizeLinear(c, s, z)
            w = Relu(d)
            q = QuantizeLinear(x, s, z)
            e = DequantizeLinear(q, s, z)
            y = Mean(e, d)
        }""",
        "generic",
        integer_io=True,
    )
    assert {"w", "w_1"}.isdisjoint(tensor.name for tensor in model.graph.initializer)


def test_a_requantize_in_front_of_a_node_in_the_other_signedness():
    """The first became u8, as the target wants it, when it was read again; the pool, which stays, takes i8."""
    text = """g (float[1,3,4,4] x, float[4,4] m) => (uint8[] y, float[] r)
        <float s = {0.055}, int8 o = {9}, float t = {0.06}, int8 z = {3}, float u = {0.004}, int8 v = {-100},
         int64[8] n = {0, 0, 1, 0, 0, 0, 0, 2}, float c = {-1}, uint8 w = {117}> {
            f = MatMul(x, m)
            q = QuantizeLinear(f, s, o)
            r = DequantizeLinear(q, s, o)
            p = Pad(r, n, c)
            h = QuantizeLinear(p, t, z)
            k = com.microsoft.QLinearGlobalAveragePool<channels_last = 0>(h, t, z, u, v)
            l = DequantizeLinear(k, u, v)
            y = QuantizeLinear(l, u, w)
        }"""
    first = assert_stays(text, exactness="exact")
    assert "q_requantized" in {name for node in first.graph.node for name in node.output}


def test_the_first_of_two_requantizes_keeps_its_name():
    """The second, which a pass has written, has none in the file."""
    u8, i8 = (f"tensor<2x!quant.uniform<{type}>>" for type in ("u8:f32, 0.03:13", "i8:f32, 0.03:-115"))
    context, module = parsed(f"""
        func.func @main(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> {i8} {{
          %x = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
          %a = quant.qcast %x : tensor<2xf32> to {u8} loc(fused["node", "a"])
          %b = quant.dcast %a : {u8} to tensor<2xf32>
          %y = quant.qcast %b : tensor<2xf32> to {i8} loc(fused["other", "y"])
          func.return %y : {i8}
        }}""")
    FoldCastsPass().apply(context, module)
    assert [result_names(op) for op in module.walk() if isinstance(op, QuantizeOp)] == [["a"]]


def test_integers_that_sums_alone_read():
    """Two readings of one quantize are one in the file: read again, the quantize gave u8 to the sums."""
    text = """g (float[2,3,4] x) => (int32[2,3,2] y, int32[2,3,5] z, float[2,3,4] r)
        <float s = {0.035}, int8 o = {6}, int8[4,2] v = {33, -46, 30, -128, -31, 67, -83, 127}, int8 p = {31},
         int8[4,5] w = {3, -6, 3, -8, -1, 7, -3, 27, 33, -46, 30, -128, -31, 67, -83, 127, 1, 2, 3, 4}> {
            q = QuantizeLinear(x, s, o)
            r = DequantizeLinear(q, s, o)
            a = QuantizeLinear(r, s, o)
            y = MatMulInteger(a, v, o, p)
            z = MatMulInteger(q, w, o, p)
        }"""
    assert_stays(text, exactness="exact")
