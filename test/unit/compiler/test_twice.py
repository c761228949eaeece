"""The second compilation gives the ops and parameters of the first."""

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper, numpy_helper
from onnx.parser import parse_model
from onnx_models import onnx_model

from graphs.quantized import odd_case, random_case
from graphs.structure import difference
from qdialect.api import compile
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.quantize import quantize

FORMS = [
    ("onnxruntime", "qoperator"),
    ("onnxruntime", "qdq"),
    ("generic", None),
    ("tensorrt", None),
    ("openvino", None),
]

LATE = {
    "a lower bound alone is written as a Relu is": (960767, "onnxruntime", "qoperator"),
    "a result by channel keeps its signedness": (961011, "onnxruntime", "integer"),
    "moves that casts stood between are one": (961628, "onnxruntime", "qdq"),
    "activations stand where the form of integer sums reads them": (970461, "onnxruntime", "integer"),
    "types are the target's before ops are fused": (971276, "onnxruntime", "qdq"),
    "bytes that no cast reads are pooled as others are": (250011880, "onnxruntime", "qoperator"),
    "a requantize by channel that a float op reads": (971580, "onnxruntime", "qoperator"),
    "of equal quantizes the first becomes the pair behind what moves": (1200468, "tensorrt", None),
    "a scale that is repeated along an axis is one scale": (1200724, "generic", None),
    "a clamp behind a clamped line clamps nothing": (10002760, "onnxruntime", "qoperator"),
    "a least element of turned integers": (23004380, "onnxruntime", "qdq"),
    "a size that scales alone say is said behind no clamp": (23002540, "generic", None),
    "copies of inputs beside these are no join": (60000637, "openvino", None),
    "a bound of each channel says a size that scales alone said": (50005280, "onnxruntime", "qoperator"),
    "a clamp of a line in front of a requantize that saturates": (81009300, "onnxruntime", "qoperator"),
    "integers read under another scale beside their own": (94001346, "onnxruntime", "qoperator"),
    "integers read under another scale behind what moves them": (731691, "onnxruntime", "integer"),
    "a factor that is the inverse of two scales is that of the one in use": (
        98000475,
        "onnxruntime",
        "integer",
    ),
    "a clamp in front of a requantize behind a triangle that is whole": (
        93008060,
        "onnxruntime",
        "qoperator",
    ),
}
"""Graphs in which one cause each changed the second compilation."""


def compiled(
    model: ModelProto, target: str = "onnxruntime", form: str | None = None, **options: Any
) -> ModelProto:
    source = ModelProto()
    source.CopyFrom(model)  # importing takes large tensors out of the message
    module = import_model(source)
    compile(module, target, form, **options)
    return export_model(module)


def assert_stays(
    model: ModelProto, target: str = "onnxruntime", form: str | None = None, **options: Any
) -> ModelProto:
    first = compiled(model, target, form, **options)
    second = compiled(first, target, form, **options)
    assert not difference(first, second)
    return first


@pytest.mark.parametrize(("target", "form"), FORMS)
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs(seed: int, target: str, form: str | None):
    assert_stays(random_case(seed, True).model, target, form)


@pytest.mark.parametrize("cause", LATE)
def test_one_cause_each(cause: str):
    seed, target, form = LATE[cause]
    assert_stays(random_case(seed, True).model, target, form)


def test_an_activation_of_integers_whose_signedness_and_sizes_are_known_late():
    assert_stays(random_case(1270000, True, wide=True).model, "onnxruntime", exactness="exact")


def test_a_factor_behind_a_product_of_activations():
    """It went into the scale of the second, which is none of its, when the sums were read again."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (uint8[4,3] x, uint8[3,5] y) => (float[4,5] r)
        <float xs = {0.02}, uint8 xz = {128}, float ys = {0.03}, uint8 yz = {7}, float k = {0.375}> {
            a = DequantizeLinear(x, xs, xz)
            b = DequantizeLinear(y, ys, yz)
            p = MatMul(a, b)
            r = Mul(p, k)
        }""")
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    nodes = assert_stays(model, "onnxruntime", "integer").graph.node
    assert [node.op_type for node in nodes].count("MatMulInteger") == 1


def test_an_input_whose_size_scales_alone_say():
    """The bound of each channel said it, to the second compilation alone; the input keeps the name of its size."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,n] x) => (float[2,n] y)
        <float s = {0.02}, uint8 z = {3}, float[3] t = {0.02, 0.03, 0.04}, uint8[3] u = {1, 2, 3}> {
            p = QuantizeLinear(x, s, z)
            a = DequantizeLinear(p, s, z)
            q = QuantizeLinear(a, t, u)
            d = DequantizeLinear(q, t, u)
            r = Relu(d)
            v = QuantizeLinear(r, s, z)
            y = DequantizeLinear(v, s, z)
        }""")
    graph = assert_stays(model).graph
    sizes = [value.type.tensor_type.shape.dim[1] for value in (*graph.input, *graph.output)]
    assert [size.dim_param or size.dim_value for size in sizes] == ["n", 3]


@pytest.mark.parametrize("exactness", ["close", "exact"])
@pytest.mark.parametrize(
    ("s", "z", "axis", "clamp"),
    [
        ("float s = {0.02}", "uint16 z = {7}", "", ["Clip"]),
        (
            "float[3] s = {0.02, 0.03, 0.05}",
            "int16[3] z = {7, 3, -1}",
            "<axis: int = 1>",
            ["Max", "Min"],
        ),
    ],
)
def test_a_clamp_to_16_bits(s: str, z: str, axis: str, clamp: list[str], exactness: str):
    """It was written once more each time where it is not read as what the storage bounds are already."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (float[2,3] x) => (float[2,3] y) <{s}, {z}> {{
            q = com.microsoft.QuantizeLinear {axis}(x, s, z)
            d = com.microsoft.DequantizeLinear {axis}(q, s, z)
            y = Neg(d)
        }}""")
    for node in model.graph.node:
        node.name = f"{node.op_type}_{node.output[0]}"
    nodes = assert_stays(model, "openvino", exactness=exactness).graph.node
    assert [node.op_type for node in nodes] == [*clamp, "QuantizeLinear", "DequantizeLinear", "Neg"]


def test_an_op_with_indices_runs_once():
    model = parse_model("""<ir_version: 7, opset_import: ["" : 12]>
        g (uint8[1,1,4,5] x) => (float[1,1,3,4] y, int64[1,1,3,4] i)
        <float xs = {0.02}, uint8 xz = {128}, float ys = {0.03}> {
            d = DequantizeLinear(x, xs, xz)
            m, i = MaxPool<kernel_shape = [2, 2]>(d)
            p = QuantizeLinear(m, ys, xz)
            y = DequantizeLinear(p, ys, xz)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("MaxPool") == 1


def test_an_op_with_a_mask_runs_once():
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (bool[2,3] k, float[2,3] y) <float s = {0.01}, uint8 z = {128}> {
            t, k = Dropout(x)
            q = QuantizeLinear(t, s, z)
            y = DequantizeLinear(q, s, z)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("Dropout") == 1


def test_a_result_that_nobody_reads():
    """Its type was unknown when read again, so that the quantize of the other stayed below the Split."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Split", ["r", "n"], ["a", "b"], axis=1),
        helper.make_node("QuantizeLinear", ["b", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = onnx_model(
        nodes,
        {"x": [2, 3]},
        {"y": [2, 2]},
        {"n": np.array([1, 2], np.int64), "s": np.array(0.5, np.float32), "z": np.array(7, np.uint8)},
    )
    assert_stays(model, "generic")


def test_several_scales_that_are_moved():
    """What joins tensors of several scales had a type of its own, for fear of a session; casts stood around it once."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3,4] x) => (float[4,3,4] y)
        <float[3] s = {0.02, 0.03, 0.05}, int8[3] z = {3, -7, 0}, float t = {0.04}, uint8 u = {128}> {
            q = QuantizeLinear<axis = 1>(x, s, z)
            d = DequantizeLinear<axis = 1>(q, s, z)
            c = Concat<axis = 0>(d, d)
            p = QuantizeLinear(c, t, u)
            y = DequantizeLinear(p, t, u)
        }""")
    assert_stays(model)


@pytest.mark.parametrize(
    ("clamp", "constants"),
    [
        ("Clip(d, low)", "float low = {0}"),
        ("Clip(d, low, high)", "float low = {0}, float high = {6}"),
        ("PRelu(d, slope)", "float[1] slope = {0}"),
    ],
)
@pytest.mark.parametrize("target", ["generic", "onnxruntime"])
def test_a_clamp_at_zero_of_several_scales(clamp: str, constants: str, target: str):
    """In front of a quantize it is called a Relu, which only the second reading saw."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3,4,5] x, float[6,1,3,2] w) => (float[2,6,2,4] y)
        <float[6] s = {{0.005, 0.008, 0.009, 0.006, 0.007, 0.004}}, uint8[6] z = {{122, 243, 190, 46, 164, 181}},
         {constants}> {{
            c = Conv<group = 3>(x, w)
            q = QuantizeLinear<axis = 1>(c, s, z)
            d = DequantizeLinear<axis = 1>(q, s, z)
            y = {clamp}
        }}""")
    nodes = assert_stays(model, target, "qdq").graph.node
    assert [node.op_type for node in nodes].count("Relu") == 1


def test_slopes_along_an_axis_of_unknown_size():
    """Written as a product it says the size, so that the Expand to it was no more the second time."""
    slopes = ", ".join(str((k + 1) / 32) for k in range(7))
    model = parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n] x) => (float[7] y) <float[7] c = {{{slopes}}}, int64[1] k = {{7}}> {{
            p = PRelu(x, c)
            y = Expand(p, k)
        }}""")
    assert [node.op_type for node in assert_stays(model).graph.node] == ["PRelu", "Expand"]


def test_one_quantize_of_what_moves_is_enough():
    """A pair was put beside a quantize of the same type: read again they were one, under the name of the pair's."""
    model = parse_model("""<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
        g (int8[3,7] x, float s, int8 z) => (float[3,1,7] y, int8[6,1,7] t)
        <float k = {0.0442}, int8 o = {0}, int64[1] a = {1}> {
            d = DequantizeLinear(x, k, o)
            u = Unsqueeze(d, a)
            q = QuantizeLinear(u, k, o)
            e = DequantizeLinear(q, k, o)
            t = com.microsoft.QLinearConcat<axis = 0>(s, z, q, k, o, q, s, z)
            y = Sigmoid(e)
        }""")
    nodes = assert_stays(model, "generic").graph.node
    assert [node.op_type for node in nodes].count("QuantizeLinear") == 1


def test_scales_that_a_node_of_sums_shares():
    """A sum is read from its parts the first time, and then as the node it was written as, whose scales stood apart."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 13]>
        g (uint8[1,4,5,7] x) => (float[1,4,5,3] y)
        <float k = {0.0026}, float s = {0.0022}, uint8 z = {0}, int8 o = {0}, float m = {0.000022},
         float[3] b = {0.9, 0.4, -0.3}, int8[4,3] w = {-64, -9, 4, 33, -99, 17, 27, 93, -14, 47, 8, 39}> {
            d = DequantizeLinear(x, k, z)
            a = AveragePool<kernel_shape = [2, 3], pads = [1, 1, 0, 1], strides = [1, 2]>(d)
            q = QuantizeLinear(a, s, z)
            i = MatMulInteger(q, w, z, o)
            f = Cast<to = 1>(i)
            p = Mul(f, m)
            y = Add(p, b)
        }""")
    scales = [t for t in assert_stays(model).graph.initializer if t.name.startswith("q_scale")]
    assert len(scales) == 1


def test_sizes_that_a_branch_states():
    """They were lost where integers are read, so that the branch stated less the second time."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 13]>
        g (float[n,m] x, bool b) => (uint8[6,4] y) <float s = {0.0157}, uint8 z = {128}, float l = {-0.5}> {
            f = If(b) <then_branch = t () => (float[6,4] r) { r = Relu(x) },
                       else_branch = e () => (float[6,4] c) { c = Clip(x, l) }>
            y = QuantizeLinear(f, s, z)
        }""")
    assert_stays(model)


def test_sizes_whose_names_a_new_op_lacks():
    """A Transpose that is written has no names of sizes, which inference gave it when the result was read again."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n,6,4] x) => (float[n,1,4] y)
        <float s = {0.0157}, uint8 z = {128}, float t = {0.011}, int64[1] a = {1}, float[n,6,4] r> {
            q = QuantizeLinear(x, s, z)
            r = DequantizeLinear(q, s, z)
            m = ReduceMean<axes = [1]>(r)
            p = QuantizeLinear(m, t, z)
            y = DequantizeLinear(p, t, z)
        }""")
    sizes = [v.type.tensor_type.shape.dim[0] for v in assert_stays(model).graph.value_info]
    assert any(size.WhichOneof("value") is None for size in sizes)


@pytest.mark.parametrize("name", ["", "conv"])
def test_a_convolution_as_a_product_of_padded_columns(name: str):
    """What its Pad puts in was the scales' zero point, then another constant or one of another name the second time."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[1,32,8,8] x) => (float[1,32,8,8] y)
        <float s = {0.02}, uint8 z = {120}, float t = {0.03}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            r = DequantizeLinear(w, t)
            y = Conv<pads = [1, 1, 1, 1]>(d, r)
        }""")
    weight = np.random.default_rng(5).integers(-99, 99, (32, 32, 3, 3)).astype(np.int8)
    model.graph.node[3].name = name
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    assert "Pad" in [node.op_type for node in assert_stays(model).graph.node]


def test_what_stands_behind_a_packed_product():
    """Its type was known only when the product was read again as the op that it was written as."""
    model = parse_model("""<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
        g (float[3,7] x) => (uint8[3,2] y)
        <uint8[2,1,8] w = {131, 248, 119, 206, 234, 210, 161, 112, 131, 68, 127, 97, 63, 254, 3, 24},
         float[2] s = {0.0238, 0.014}, float[3] t = {0.0007, 0.003, 0.004}, uint8[3] z = {128, 7, 128}> {
            p = com.microsoft.MatMulNBits<K = 7, N = 2, bits = 4, block_size = 16>(x, w, s)
            y = QuantizeLinear<axis = -2>(p, t, z)
        }""")
    for target, form in FORMS:
        assert_stays(model, target, form)


def test_a_sequence_of_what_a_node_makes():
    """The sizes of its elements were learnt where the node's result states them, in the file that was written."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        g (uint8[3,7] x, bool[3,7] c, float s, uint8 z) => (seq(float[n,m]) y)
        <float k = {0.031}, uint8 o = {114}, int64 n = {1}> {
            q = com.microsoft.QLinearWhere(c, x, k, o, x, k, o, s, z)
            d = DequantizeLinear(q, s, z)
            y = SplitToSequence<axis = 0>(d, n)
        }""")
    model.graph.output[0].type.sequence_type.elem_type.tensor_type.ClearField("shape")
    assert_stays(model, "generic")


def test_moves_that_meet_in_front_of_a_quantize():
    """The second reading made one of them, where casts stood between when the first looked."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[3,4,1] x) => (float[2,6] y)
        <float[3] s = {0.01, 0.0157, 0.02}, int8[3] z = {0, 7, 0}, int64[1] a = {2}, float t = {0.0078},
         uint8 u = {3}, int64[2] n = {2, 6}> {
            r = Add(x, x)
            q = QuantizeLinear<axis = 0>(r, s, z)
            d = DequantizeLinear<axis = 0>(q, s, z)
            e = Squeeze(d, a)
            p = QuantizeLinear(e, t, u)
            f = DequantizeLinear(p, t, u)
            y = Reshape(f, n)
        }""")
    nodes = assert_stays(model, "generic").graph.node
    assert [n.op_type for n in nodes if n.op_type in ("Squeeze", "Reshape")] == ["Reshape"]


CLAMPED = """<float l = {-1}, float h = {1}, float s = {0.0168}, uint8 z = {40}, float t = {0.007874016},
 uint8 o = {128}> {
    d = DequantizeLinear(x, s, z)
    BODY
    y = QuantizeLinear(c, t, o)
}"""


@pytest.mark.parametrize(
    "body",
    [
        "[clamp] c = Clip(d, l, h)",
        "c = Scan<num_scan_inputs = 1, body = b (float[3,6,4] r) => (float[3,6,4] i) { [clamp] i = Clip(r, l, h) }>(d)",
    ],
)
def test_a_clamp_of_integers_keeps_its_name(body: str):
    """It is read as narrower storage bounds, which had no name, or went through the subgraph that yields them."""
    model = parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (uint8[2,3,6,4] x) => (uint8[2,3,6,4] y) '
        + CLAMPED.replace("BODY", body)
    )
    assert "clamp" in str(assert_stays(model))


def test_integers_that_are_read_under_another_scale():
    """Moved as what they were quantized to, a Concat of them took operands of any scale only the second time."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[4,3] r)
        <float s = {0.02}, float t = {0.013155164}, float u = {0.013155163}, uint8 z = {141}> {
            q = QuantizeLinear(x, t, z)
            d = DequantizeLinear(q, t, z)
            p = QuantizeLinear(d, u, z)
            e = DequantizeLinear(p, t, z)
            r = Concat<axis = 0>(e, e)
        }""")
    nodes = assert_stays(model).graph.node
    assert "QLinearConcat" in {node.op_type for node in nodes}


def test_integers_that_a_move_back_leaves_twice():
    """Two Transposes that undo each other leave the integers that were read beside them: one cast for all readers."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,4] p, float[2,3] r)
        <float s = {0.02}, uint8 z = {7}, int64[4] pads = {0, 1, 0, 0}, float v = {0.013}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            e = Softmax(d)
            f = QuantizeLinear(e, s, z)
            h = DequantizeLinear(f, s, z)
            t = Transpose<perm = [1, 0]>(h)
            r = Transpose<perm = [1, 0]>(t)
            p = Pad(h, pads, v)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("DequantizeLinear") == 1


def test_a_clamp_to_16_bits_that_would_move():
    """In front of 16 bits it is the cast's own; it went to the bytes above, and another was written."""
    model = parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        g (float[2,3] x) => (float[3,2] r, float[2,3] y)
        <float s = {0.02783249}, uint8 z = {106}, float t = {0.00006338156}, int16 w = {-32768}> {
            q = QuantizeLinear(x, s, z)
            y = DequantizeLinear(q, s, z)
            e = Transpose<perm = [1, 0]>(y)
            f = QuantizeLinear(e, t, w)
            r = DequantizeLinear(f, t, w)
        }""")
    nodes = assert_stays(model, "openvino").graph.node
    assert [node.op_type for node in nodes].count("Clip") == 1


def test_sizes_of_a_branch_that_gives_what_it_captures():
    """The activation that stated them has gone, and a run decides them."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N] n, int64[K] shape, bool c) => (float[3,2] r)
        <float s = {0.02}, uint8 z = {0}> {
            x = Reshape(n, shape)
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            e = If(c) <
                then_branch = yes () => (float[2,3] o) { o = Relu(d) },
                else_branch = no () => (float[2,3] p) { p = Tanh(d) }
            >
            f = QuantizeLinear(e, s, z)
            g = DequantizeLinear(f, s, z)
            r = Transpose<perm = [1, 0]>(g)
        }""")
    assert_stays(model)


def test_a_bias_behind_a_product_keeps_its_name():
    """The sum's constant became the product's bias when it was read again, under a name of its own."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,2] r)
        <float s = {0.02}, uint8 z = {7}, int8[3,2] w = {1, -2, 3, -4, 5, -6}, float t = {0.5}, int8 o = {0},
         float[2] k = {0.2537, -1.5031}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            v = DequantizeLinear(w, t, o)
            p = MatMul(d, v)
            r = Add(p, k)
        }""")
    first = assert_stays(model)
    assert {"QGemm", "Add"} <= {node.op_type for node in first.graph.node}
    assert "k" in {tensor.name for tensor in first.graph.initializer}


@pytest.mark.parametrize("op", ["PRelu(d, k)", "Relu(d)"])
def test_an_activation_that_a_branch_captures(op: str):
    """Slopes are written as a Max and a Mul, and no session moves a dequantize past either form: no Sum blocks it."""
    model = parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x, bool c) => (float[2,3] r)
        <float s = {{0.02}}, uint8 z = {{112}}, float[3] k = {{0.5, 0.25, 0.125}}> {{
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            a = {op}
            r = If(c) <
                then_branch = yes () => (float[2,3] o) {{ o = Relu(a) }},
                else_branch = no () => (float[2,3] p) {{ p = Tanh(a) }}
            >
        }}""")
    first = assert_stays(model, exactness="exact")
    assert "Sum" not in {node.op_type for node in first.graph.node}


def with_weights(model: ModelProto, **shapes: tuple[int, ...]) -> ModelProto:
    draw = np.random.default_rng(5)
    for name, shape in shapes.items():
        tensor = draw.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(tensor, name))
    return model


def test_a_product_of_constants_that_is_quantized():
    """It was computed in each run, and folded only when its integer kernel was read."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[3,2] x) => (float[3,2] y)
        <float s = {0.05}, uint8 z = {117}, float t = {0.01}, int8 o = {0}, int8[2,2] v = {10, -20, 30, -40},
         int8 k = {50}> {
            a = QuantizeLinear(x, s, z)
            b = DequantizeLinear(a, s, z)
            w = DequantizeLinear(v, t, o)
            f = DequantizeLinear(k, t, o)
            p = Mul(w, f)
            pq = QuantizeLinear(p, t, o)
            pd = DequantizeLinear(pq, t, o)
            m = MatMul(b, pd)
            q = QuantizeLinear(m, s, z)
            y = DequantizeLinear(q, s, z)
        }""")
    kinds = [node.op_type for node in assert_stays(model).graph.node]
    assert kinds == ["QuantizeLinear", "QLinearMatMul", "DequantizeLinear"]


def test_an_added_bias_is_a_node_with_a_name_of_its_own():
    """It is the second node of a Gemm."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[3,4] x) => (float[3,2] y) <float[5] k = {0.1, 0.2, -0.3, 0.4, 0.5}> {
            m = Gemm(x, w, k)
            a = Relu(m)
            y = MatMul(a, v)
        }""")
    for node in model.graph.node:
        node.name = f"n_{node.output[0]}"
    draw = np.random.default_rng(9)
    samples = [{"x": draw.standard_normal((3, 4)).astype(np.float32)} for _ in range(3)]
    module = import_model(with_weights(model, w=(4, 5), v=(5, 2)))
    quantized = export_model(quantize(module, samples, target="tensorrt").module)
    assert len({node.name for node in quantized.graph.node}) == len(quantized.graph.node)
    again = compiled(quantized, "tensorrt")
    assert not difference(quantized, again)


def test_a_size_whose_name_inference_invented_and_the_output_states():
    """As in a model that was saved with inferred sizes, which quantizers ask for."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[N,3,2] x, int64[2] sizes) => (float[unk__0,3] y) <float[6,3] w, float[unk__0,unk__1] flat> {
            flat = Reshape(x, sizes)
            y = MatMul(flat, w)
        }""")
    module = import_model(with_weights(model, w=(6, 3)))
    draw = np.random.default_rng(7)
    samples = [{"x": draw.random((4, 3, 2), np.float32), "sizes": np.array([4, 6])}]
    quantized = export_model(quantize(module, samples, target="tensorrt").module)
    again = compiled(quantized, "tensorrt")
    assert not difference(quantized, again)
    assert str(again.graph.output) == str(quantized.graph.output)


def test_a_constant_that_is_requantized_in_front_of_what_selects():
    """A quantize moves in front of both operands, one of which is a constant of another scale."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[3,2] x) => (float[3,2] y)
        <float s = {0.02}, uint8 z = {112}, float t = {0.05}, uint8[1,2] c = {140, 90}, int64[1,1] i = {1}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            e = DequantizeLinear(c, t, z)
            r = ScatterND(d, i, e)
            p = QuantizeLinear(r, s, z)
            y = DequantizeLinear(p, s, z)
        }""")
    first = assert_stays(model, "generic", exactness="exact")
    assert [node.op_type for node in first.graph.node].count("QuantizeLinear") == 1


def test_open_sizes_inside_a_loop_have_no_names():
    """The body of a GRU that is taken apart states none; inference gave them those of the operands when it was read."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[4,N,3] x) => (float[4,1,N,2] y)
        <float s = {0.02}, uint8 z = {112}, float[1,6,3] w, float[1,6,2] r> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            y = GRU<hidden_size = 2>(d, w, r)
        }""")
    first = assert_stays(with_weights(model, w=(1, 6, 3), r=(1, 6, 2)), decompose=("GRU",))
    body = next(
        a.g
        for node in first.graph.node
        if node.op_type in ("Scan", "Loop")
        for a in node.attribute
        if a.name == "body"
    )
    assert any(size.WhichOneof("value") is None for v in body.input for size in v.type.tensor_type.shape.dim)


@pytest.mark.parametrize("form", ["qoperator", "qdq", "integer"])
def test_reshapes_around_a_softmax_over_channels(form: str):
    """Its quantize is one that a join needs no pair for; behind a move that pairs stand around, too."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,5,16,12] a, float[2,5,16,12] b) => (float[2,10,16,12] y, float[2,5,16,12] z)
        <float s = {0.02}, uint8 o = {112}, float t = {0.03}> {
            aq = QuantizeLinear(a, t, o)
            ad = DequantizeLinear(aq, t, o)
            am = MaxPool<kernel_shape = [1, 1]>(ad)
            z = Softmax<axis = 1>(am)
            l = LogSoftmax<axis = 1>(b)
            q = QuantizeLinear(l, s, o)
            d = DequantizeLinear(q, s, o)
            c = Concat<axis = 1>(ad, d)
            p = QuantizeLinear(c, s, o)
            y = DequantizeLinear(p, s, o)
        }""")
    assert_stays(model, form=form)


def test_a_weight_of_two_products_is_one():
    """Read from two sums, its scales differ in the last bit: two types of one constant, which the file has once."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] a, float[3,3] b) => (float[2,2] y, float[3,2] z)
        <float s = {0.02}, uint8 o = {128}, float t = {0.0337}, float u = {0.1},
         int8[3,2] w = {45, 88, 76, 2, -84, -10}, float[2] ws = {0.01439243, 0.0035345196}> {
            aq = QuantizeLinear(a, s, o)
            ad = DequantizeLinear(aq, s, o)
            bq = QuantizeLinear(b, t, o)
            bd = DequantizeLinear(bq, t, o)
            wd = DequantizeLinear<axis = 1>(w, ws)
            yf = MatMul(ad, wd)
            yq = QuantizeLinear(yf, u, o)
            y = DequantizeLinear(yq, u, o)
            zf = MatMul(bd, wd)
            zq = QuantizeLinear(zf, u, o)
            z = DequantizeLinear(zq, u, o)
        }""")
    first = assert_stays(model, form="integer")
    assert [list(one.dims) for one in first.graph.initializer].count([3, 2]) == 1


def test_axes_are_joined_behind_a_packed_row():
    """The second compilation found that this pays: the first one looked for it in front of the row alone."""
    weight = np.random.default_rng(0).integers(-100, 100, (3, 3, 3, 3, 3), np.int8)
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[2,3,9,7,6] x) => (float[2,3,9,7,6] y)
        <float s = {0.05}, int8 o = {3}, float ws = {0.02}, int8 wz = {0}> {
            q = QuantizeLinear(x, s, o)
            d = DequantizeLinear(q, s, o)
            wd = DequantizeLinear(w, ws, wz)
            c = Conv<pads = [1, 1, 1, 1, 1, 1]>(d, wd)
            p = QuantizeLinear(c, s, o)
            y = DequantizeLinear(p, s, o)
        }""")
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    first = assert_stays(model)
    shapes = [list(one.dims) for one in first.graph.initializer]
    assert [18, 54, 3, 1] in shapes


@pytest.mark.parametrize("target", ["onnxruntime", "openvino"])
def test_a_clamp_of_integers_behind_a_quantize_by_channel(target: str):
    """Narrower storage bounds are written as the clamp that they were, whose name stays."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x) => (float[2] y)
        <float[2] s = {0.5, 0.25}, int8[2] z = {2, 0}, int8 low = {-7}, int8 high = {7}> {
            q = QuantizeLinear<axis = 0>(x, s, z)
            c = Clip(q, low, high)
            y = DequantizeLinear<axis = 0>(c, s, z)
        }""")
    nodes = assert_stays(model, target).graph.node
    assert [node.op_type for node in nodes] == ["QuantizeLinear", "Clip", "DequantizeLinear"]
    assert [node.output[0] for node in nodes[1:]] == ["c", "y"]


@pytest.mark.parametrize("form", ["qoperator", "integer"])
def test_a_clamp_in_a_branch_that_a_quantize_by_channel_implies(form: str):
    """The quantize went into the branch when the clamp behind the If was gone; only then was the other in front."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x, bool c) => (float[2,3] y)
        <float low = {-0.5}, float high = {0.7}, float[3] s = {0.0047, 0.0046, 0.0045}, uint8[3] z = {106, 107, 108}> {
            e = If(c) <
                then_branch = yes () => (float[2,3] o) { o = Relu(x) },
                else_branch = no () => (float[2,3] p) { p = Clip(x, low, high) }
            >
            f = Clip(e, low, high)
            q = QuantizeLinear<axis = 1>(f, s, z)
            y = DequantizeLinear<axis = 1>(q, s, z)
        }""")
    assert "low" not in {tensor.name for tensor in assert_stays(model, form=form).graph.initializer}


def test_branches_of_one_name_that_give_constants():
    """A constant of integers is called as its branch; the second branch had another name when it was read again."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, bool c) => (float[2] y) <float s = {0.02}, uint8 z = {13}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            e = If(c) <
                then_branch = branch () => (float[2] o) { o = Identity(d) },
                else_branch = branch () => (float[2] p) { p = Constant<value = float[2] {0.0, 0.0}>() }
            >
            r = QuantizeLinear(e, s, z)
            y = DequantizeLinear(r, s, z)
        }""")
    nodes = assert_stays(model).graph.node
    assert {a.g.name for node in nodes for a in node.attribute if node.op_type == "If"} == {"branch"}


def test_clamps_of_nodes_without_names():
    """Two are called as the ranges of tensors: their bounds were called after one node."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[128,4] a, float[4,200] b, float[200,128] c) => (float[128,400] y)
        <float s = {0.02}, uint8 z = {3}, float t = {0.5}, uint8 o = {128}, float u = {0.025}, uint8 v = {7},
         float w = {0.05}, uint8 k = {9}> {
            aq = QuantizeLinear(a, s, z)
            ad = DequantizeLinear(aq, s, z)
            bq = QuantizeLinear(b, t, o)
            bd = DequantizeLinear(bq, t, o)
            m = MatMul(ad, bd)
            mq = QuantizeLinear(m, u, v)
            md = DequantizeLinear(mq, u, v)
            mr = QuantizeLinear(md, w, k)
            me = DequantizeLinear(mr, w, k)
            f = Transpose<perm = [1, 0]>(c)
            fq = QuantizeLinear(f, u, v)
            fd = DequantizeLinear(fq, u, v)
            fr = QuantizeLinear(fd, w, k)
            fe = DequantizeLinear(fr, w, k)
            y = Concat<axis = 1>(me, fe)
        }""")
    nodes = assert_stays(model).graph.node
    assert [node.op_type for node in nodes].count("Clip") == 2


def test_a_round_between_a_clamp_and_a_quantize():
    """A quantize of scale 1, whose bounds are a Clip: its storage casts hid that the reals behind have these bounds."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (uint8[4] x) => (uint8[4] y)
        <float s = {0.05}, uint8 z = {100}, float t = {0.04}, uint8 u = {3}, float low = {0}, float high = {6}> {
            d = DequantizeLinear(x, s, z)
            c = Clip(d, low, high)
            r = Round(c)
            y = QuantizeLinear(r, t, u)
        }""")
    nodes = assert_stays(model, form="qdq").graph.node
    assert [node.op_type for node in nodes].count("QuantizeLinear") == 2


def test_dequantizes_stand_in_the_order_of_operands():
    """One that a float op reads as well stood where that one's was."""
    model = parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[2,3] x) => (float[2,3] y, float[2,3] z)
        <uint8[3] w = {5, 200, 17}, float ws = {0.03}, uint8 wz = {11}, float xs = {0.02}, uint8 xz = {7},
         float ys = {0.05}, uint8 yz = {9}, float[3] slope = {0.25, 0.5, 0.125}> {
            v = DequantizeLinear(w, ws, wz)
            q = QuantizeLinear(x, xs, xz)
            d = DequantizeLinear(q, xs, xz)
            s = Add(v, d)
            t = QuantizeLinear(s, ys, yz)
            y = DequantizeLinear(t, ys, yz)
            z = PRelu(d, slope)
        }""")
    nodes = list(assert_stays(model, "generic").graph.node)
    add = next(node for node in nodes if node.op_type == "Add")
    before = [node.output[0] for node in nodes[nodes.index(add) - 2 : nodes.index(add)]]
    assert before == list(add.input)


@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
def test_u16_of_half_precision(target: str):
    """Quantizing the same numbers again may give other integers, but no other numbers: they are read once."""
    assert_stays(odd_case(930012).model, target)


ODD = {
    "what no kernel computes stays in half precision": (3100515, "onnxruntime"),
    "what a pair of half precision rounds twice stays below": (3100194, "tensorrt"),
}
"""Graphs in which one cause each changed the second compilation."""


@pytest.mark.parametrize("cause", ODD)
def test_one_odd_cause_each(cause: str):
    seed, target = ODD[cause]
    assert_stays(odd_case(seed).model, target)
