"""Convolutions in other arrangements, pixels folded into channels or gathered into columns, on numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from convolution_models import CASES, RAISE, Case, model, run, written
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.kernel_selection.convolution.groups import merged_groups
from qdialect.kernel_selection.convolution.step import Spec
from qdialect.kernel_selection.convolution.width import Row, packings
from qdialect.promises.window import Geometry
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets.pricing import GROUPED
from qdialect.transforms import get_all_passes
from qdialect.transforms.choose_convolution_form import ChooseConvolutionFormPass

Chosen = ChooseConvolutionFormPass


def row_of(case: int) -> Row:
    x, w, attributes = CASES[case]
    n = len(x) - 2
    pads = attributes.get("pads", [0] * 2 * n)
    stride, dilation = attributes.get("strides", [1])[-1], attributes.get("dilations", [1])[-1]
    result = (x[-1] + pads[n - 1] + pads[-1] - (w[-1] - 1) * dilation - 1) // stride + 1
    return Row(x[-1], result, w[-1], stride, dilation, pads[n - 1])


@pytest.mark.parametrize("weight_zero", [0, 5])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_fold_of_a_row_leaves_every_integer_as_it_is(case: int, weight_zero: int, tmp_path: Path):
    proto, x = model(case, quantized=True, weight_zero=weight_zero)
    plain = run(written(proto, tmp_path), x)
    assert len(np.unique(plain)) > 15, "the results say nothing"
    rows = list(packings(row_of(case)))
    assert len(rows) >= 3
    for packing in rows:
        one = Chosen(form="width", by=packing[:2])
        after = written(proto, tmp_path, one)
        assert any(n.op_type == "Reshape" for n in onnx.load(after).graph.node), packing
        np.testing.assert_array_equal(run(after, x), plain, str(packing))


MERGED: list[tuple[Case, tuple[int, ...]]] = [
    (((2, 6, 5, 7), (6, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 6}), (2, 3, 6)),
    (((1, 4, 9), (12, 2, 3), {"strides": [2], "group": 2}), (2,)),
    (((1, 8, 4, 5), (4, 2, 1, 1), {"group": 4}), (2, 4)),
    (((1, 4, 3, 4, 5), (8, 1, 2, 1, 3), {"pads": [0, 0, 1, 1, 0, 1], "group": 4}), (2, 4)),
]


@pytest.mark.parametrize("weight_zero", [0, 5])
@pytest.mark.parametrize(("case", "merges"), MERGED)
def test_groups_in_one_leave_every_integer_as_it_is(
    case: Case, merges: tuple[int, ...], weight_zero: int, tmp_path: Path
):
    proto, x = model(case, quantized=True, weight_zero=weight_zero)
    plain = run(written(proto, tmp_path), x)
    assert len(np.unique(plain)) > 15, "the results say nothing"
    for merged in merges:
        after = written(proto, tmp_path, Chosen(form="groups", by=(merged,)))
        conv = next(n for n in onnx.load(after).graph.node if n.op_type == "QLinearConv")
        groups = next((a.i for a in conv.attribute if a.name == "group"), 1)
        assert groups == case[2]["group"] // merged
        np.testing.assert_array_equal(run(after, x), plain)


def test_groups_are_merged_up_to_a_weight_of_256_kib():
    """16 outputs of each of 8 groups see 12 inputs in windows of 3 x 5: two groups in one are 45 KiB, eight 180."""
    geometry = Geometry(
        images=2, inputs=12, outputs=16, groups=8, kernel=(3, 5), strides=(1, 2), dilations=(1, 1),
        pads=((1, 1), (2, 2)), sizes=(7, 9), results=(7, 5),
    )  # fmt: skip
    spec = Spec(geometry, 2, True, False, 17)
    assert [s.size for s in merged_groups(spec, {GROUPED: {}}, 1e9)] == [(2,), (4,), (8,)]
    larger = replace(spec, geometry=replace(geometry, outputs=32))
    assert [s.size for s in merged_groups(larger, {GROUPED: {}}, 1e9)] == [(2,), (4,)]


DEEP: list[Case] = [
    ((2, 3, 5, 4, 6), (4, 3, 3, 2, 3), {"pads": [1, 0, 1, 1, 1, 1]}),
    ((1, 2, 7, 5, 4), (3, 2, 2, 3, 1), {"strides": [2, 2, 1], "pads": [1, 1, 0, 0, 1, 0]}),
    ((2, 2, 8, 5, 6), (3, 2, 3, 2, 2), {"strides": [3, 1, 2], "dilations": [2, 3, 1]}),
    ((2, 4, 4, 5, 6), (4, 2, 1, 3, 2), {"group": 2, "pads": [0, 1, 0, 0, 1, 1]}),
    ((2, 4, 7, 3, 2), (8, 1, 3, 1, 1), {"group": 4, "strides": [2, 1, 1], "pads": [2, 0, 0, 1, 0, 0]}),
    ((2, 3, 6, 4, 2), (5, 3, 1, 3, 3), {"strides": [2, 1, 1], "pads": [1, 1, 1, 1, 1, 1]}),
]


@pytest.mark.parametrize("weight_zero", [0, 5])
@pytest.mark.parametrize("case", DEEP)
def test_slices_as_channels_leave_every_integer_as_it_is(case: Case, weight_zero: int, tmp_path: Path):
    proto, x = model(case, quantized=True, weight_zero=weight_zero)
    plain = run(written(proto, tmp_path), x)
    assert len(np.unique(plain)) > 15, "the results say nothing"
    after = written(proto, tmp_path, Chosen(form="depth"))
    conv = next(n for n in onnx.load(after).graph.node if n.op_type == "QLinearConv")
    assert [len(a.ints) for a in conv.attribute if a.name == "kernel_shape"] == [2]
    np.testing.assert_array_equal(run(after, x), plain)


@pytest.mark.parametrize(
    ("channels", "size", "stride", "images", "folded"),
    [
        (8, 8, 1, 1, False),
        (8, 8, 1, 4, True),
        (8, 8, 1, None, False),
        (4, 10, 1, 2, True),
        (4, 10, 1, None, False),
        (1, 8, 2, None, True),
    ],
)
def test_a_fold_pays_for_one_image_where_their_number_is_unknown(
    channels: int,
    size: int,
    stride: int,
    images: int | None,
    folded: bool,
    tmp_path: Path,
):
    """What has one channel moves no byte in front of the fold."""
    attributes = {"pads": [1, 1, 1, 1], "strides": [stride, stride]}
    case = (images or 1, channels, size * stride, size * stride), (12 * stride, channels, 3, 3), attributes
    proto, _ = model(case, quantized=True)
    if images is None:
        del proto.graph.value_info[:]
        for value in (*proto.graph.input, *proto.graph.output):
            value.type.tensor_type.shape.dim[0].dim_param = "N"
    nodes = onnx.load(written(proto, tmp_path, "choose-convolution-form")).graph.node
    assert any(n.op_type == "Reshape" for n in nodes) == folded


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_product_of_gathered_columns_is_the_convolution(case: int, tmp_path: Path):
    proto, x = model(case, quantized=False)
    after = written(proto, tmp_path, Chosen(form="product"))
    types = {n.op_type for n in onnx.load(after).graph.node}
    assert "MatMulIntegerToFloat" in types
    assert not types & {"Conv", "ConvInteger"}
    onnx.save(proto, tmp_path / "before.onnx")
    before = run(tmp_path / "before.onnx", x)
    got = run(after, x)
    assert got.shape == before.shape
    assert np.abs(got - before).max() <= 1e-5 * np.abs(before).max()


SAME: list[Case] = [
    ((1, 2, 7, 8), (3, 2, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ((2, 1, 5, 12), (2, 1, 3, 4), {"auto_pad": "SAME_UPPER"}),
    ((1, 2, 10), (2, 2, 4), {"auto_pad": "SAME_UPPER", "strides": [2]}),
    ((1, 2, 12), (2, 2, 2), {"auto_pad": "VALID", "dilations": [3], "strides": [3]}),
]


@pytest.mark.parametrize("case", SAME)
def test_pads_that_a_window_works_out_are_the_same(case: Case, tmp_path: Path):
    proto, x = model(case, quantized=True)
    plain = run(written(proto, tmp_path), x)
    after = written(proto, tmp_path, Chosen(form="width"))
    assert any(n.op_type == "Reshape" for n in onnx.load(after).graph.node)
    np.testing.assert_array_equal(run(after, x), plain)
    proto, x = model(case, quantized=False)
    onnx.save(proto, tmp_path / "before.onnx")
    after = written(proto, tmp_path, Chosen(form="product"))
    assert any(n.op_type == "MatMulIntegerToFloat" for n in onnx.load(after).graph.node)
    before = run(tmp_path / "before.onnx", x)
    assert np.abs(run(after, x) - before).max() <= 1e-5 * np.abs(before).max()


JOINT: list[tuple[Case, list[int]]] = [
    (((4, 2, 64, 66), (4, 1, 1, 3), {"group": 2}), [32, 4, 1, 5]),
    (((1, 8, 6, 16, 30), (8, 2, 1, 3, 3), {"group": 4}), [16, 16, 3, 2]),
    (((1, 16, 12, 12, 12), (4, 16, 3, 1, 1), {}), [16, 64, 3, 1]),
]


@pytest.mark.parametrize("weight_zero", [0, 5])
@pytest.mark.parametrize(("case", "weight"), JOINT)
def test_forms_that_pay_together_leave_every_integer_as_it_is(
    case: Case, weight: list[int], weight_zero: int, tmp_path: Path
):
    proto, x = model(case, quantized=True, weight_zero=weight_zero)
    plain = run(written(proto, tmp_path), x)
    after = written(proto, tmp_path, Chosen())
    if weight_zero == 0:
        assert weight in [list(t.dims) for t in onnx.load(after).graph.initializer]
    np.testing.assert_array_equal(run(after, x), plain)


def test_a_kernel_of_many_slices_keeps_its_form(tmp_path: Path):
    proto, x = model(((1, 1, 40, 3, 3), (2, 1, 33, 2, 2), {}), quantized=True)
    after = written(proto, tmp_path, Chosen(form="depth"))
    assert not any(n.op_type == "Slice" for n in onnx.load(after).graph.node)
    assert run(after, x).shape == (1, 2, 8, 2, 2)


WINDOW = "strides", "dilations", "pads", "output_padding", "output_shape", "kernel_shape"


@pytest.mark.parametrize("name", WINDOW)
@pytest.mark.parametrize("values", [[1], [0] * 6, [-1] * 3, [1 << 30] * 3, [1 << 62] * 6])
@pytest.mark.parametrize(("op", "rank"), [("Conv", 5), ("ConvTranspose", 4), ("ConvTranspose", 3)])
def test_a_window_of_any_attributes_is_left_or_done(
    op: str, rank: int, name: str, values: list[int], tmp_path: Path
):
    """In time, and without an error of ours: a model may say anything."""
    spatial = (9, 8, 7)[: rank - 2]
    case = (1, 3, *spatial), (3, 3, *[3] * (rank - 2)), {name: values[: 2 * (rank - 2)]}
    if name.startswith("output") and op == "Conv":
        return
    proto, _ = model(case, quantized=True)
    next(n for n in proto.graph.node if n.op_type == "Conv").op_type = op
    onnx.save(proto, tmp_path / "model.onnx")
    module = qdialect.load(tmp_path / "model.onnx")
    forms = (Chosen(form="depth"), Chosen(form="width", by=(2, 2)), Chosen(form="phases"), Chosen())
    for one in (*RAISE, *forms):
        (get_all_passes()[one]()() if isinstance(one, str) else one).apply(Context(), module)
    module.verify()


def test_slices_as_channels_wait_for_their_opset(tmp_path: Path):
    proto, x = model(DEEP[0], quantized=True, opset=10)
    after = written(proto, tmp_path, Chosen(form="depth"))
    assert not {n.op_type for n in onnx.load(after).graph.node} & {"Slice", "Pad"}
    assert run(after, x).shape[0] == 2


def test_slices_of_bytes_wait_for_their_opset(tmp_path: Path):
    """Opset 10 has no Pad of bytes: the convolution keeps another form."""
    proto, x = model(0, quantized=False, opset=10)
    after = written(proto, tmp_path, Chosen(form="product"))
    assert not {n.op_type for n in onnx.load(after).graph.node} & {"Slice", "Pad", "MatMulIntegerToFloat"}
    assert run(after, x).shape[0] == 2


@pytest.mark.parametrize("weight", ["int8", "uint8"])
@pytest.mark.parametrize("op", ["ConvInteger", "MatMulInteger"])
def test_sums_of_the_other_signedness_are_the_same_integers(op: str, weight: str, tmp_path: Path):
    rng = np.random.default_rng(11)
    x, w = ((1, 64, 20, 20), (64, 64, 3, 3)) if op == "ConvInteger" else ((20, 64), (64, 32))
    info = np.iinfo(weight)
    stored = rng.integers(info.min, info.max + 1, w).astype(weight)
    nodes = [
        oh.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        oh.make_node(op, ["q", "w", "z", "v"], ["i"]),
        oh.make_node("Cast", ["i"], ["y"], to=1),
    ]
    proto = onnx.shape_inference.infer_shapes(
        onnx_model(
            nodes,
            {"x": (1, x)},
            {"y": (1, [None] * len(x))},
            {"w": stored, "v": np.array(info.min + 125, weight)},
            opset=13,
        )
    )
    onnx.save(proto, tmp_path / "before.onnx")
    after = written(proto, tmp_path, "legalize-sums")
    types = {n.output[0]: n.op_type for n in onnx.load(after).graph.node}
    constants = {t.data_type for t in onnx.load(after).graph.initializer if t.dims == list(w)}
    assert constants == {onnx.TensorProto.UINT8 if op == "ConvInteger" else onnx.TensorProto.INT8}
    assert ("QuantizeLinear" in types.values()) == (op == "ConvInteger")
    sample = rng.normal(0.7, 1, x).astype(np.float32)  # a zero point that is not in the middle
    np.testing.assert_array_equal(run(after, sample), run(tmp_path / "before.onnx", sample))


SPREADS: list[Case] = [
    ((2, 3, 4, 5), (3, 4, 2, 2), {"strides": [2, 2]}),
    ((1, 2, 3, 7), (2, 5, 3, 1), {"strides": [3, 1]}),
    ((2, 4, 6), (4, 3, 3), {"strides": [3]}),
    ((1, 3, 4, 5), (3, 4, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((2, 3, 5, 3), (3, 2, 3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    ((1, 2, 4, 6), (2, 3, 3, 5), {"strides": [1, 1], "pads": [1, 2, 1, 2]}),
    ((1, 2, 5, 4), (2, 3, 3, 2), {"strides": [2, 3], "dilations": [2, 1], "pads": [0, 1, 3, 0]}),
    ((1, 2, 4, 5), (2, 3, 1, 2), {"strides": [3, 4], "output_padding": [2, 3]}),
    ((1, 2, 5, 6), (2, 3, 2, 2), {"strides": [2, 2], "pads": [2, 0, 3, 2]}),
    ((1, 3, 7), (3, 2, 7), {"strides": [4], "pads": [3, 2], "output_padding": [2]}),
    ((1, 3, 7), (3, 2, 4), {"strides": [2], "dilations": [3], "pads": [1, 0]}),
    ((1, 2, 5, 6), (2, 3, 2, 3), {"pads": [3, 4, 0, 1]}),
    ((1, 4, 5, 6), (4, 1, 3, 3), {"strides": [2, 2], "group": 4, "pads": [1, 0, 0, 1]}),
    ((2, 6, 7), (6, 1, 4), {"strides": [2], "group": 6}),
    ((1, 4, 5, 3), (4, 3, 2, 3), {"strides": [2, 3], "group": 2}),
    ((1, 4, 5, 3), (4, 1, 2, 3), {"pads": [1, 1, 0, 0], "group": 2}),
    ((1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 2], "output_shape": [10, 7], "pads": [3, 3, 3, 3]}),
    ((1, 3, 5, 4), (3, 2, 3, 2), {"strides": [2, 3], "output_shape": [9, 8], "auto_pad": "SAME_UPPER"}),
    ((1, 2, 6), (2, 3, 3), {"strides": [2], "dilations": [2], "output_shape": [13], "output_padding": [1]}),
    ((2, 2, 3, 4), (2, 65, 2, 2), {"strides": [2, 2]}),  # runs longer than those that are moved by Slices
]


@pytest.mark.parametrize("quantized", [True, False])
@pytest.mark.parametrize("case", range(len(SPREADS)))
def test_a_transposed_convolution_is_spread(case: int, quantized: bool, tmp_path: Path):
    x, w, attributes = SPREADS[case]
    groups = attributes.get("group", 1)
    axis = int(w[:2] != (groups, 1))
    proto, _ = model(0, quantized=quantized)
    rng = np.random.default_rng(case)
    conv = next(n for n in proto.graph.node if n.op_type == "Conv")
    conv.op_type = "ConvTranspose"
    del conv.attribute[:]
    conv.attribute.extend(oh.make_attribute(k, v) for k, v in attributes.items())
    proto.graph.node[2].attribute[0].i = axis
    constants = {
        "w": rng.integers(-128, 128, w).astype(np.int8),
        "ws": rng.uniform(0.002, 0.02, w[axis]).astype(np.float32),
        "wz": rng.integers(-3, 4, w[axis]).astype(np.int8),
        "b": rng.normal(size=groups * w[1]).astype(np.float32),
    }
    for initializer in proto.graph.initializer:
        if initializer.name in constants:
            initializer.CopyFrom(onh.from_array(constants[initializer.name], initializer.name))
    del proto.graph.value_info[:]
    proto.graph.input[0].CopyFrom(oh.make_tensor_value_info("x", 1, x))
    proto.graph.output[0].CopyFrom(oh.make_tensor_value_info("y", 1, [None] * len(x)))
    proto = onnx.shape_inference.infer_shapes(proto)
    onnx.save(proto, tmp_path / "before.onnx")
    after = written(proto, tmp_path, Chosen(form="phases"))
    types = {n.op_type for n in onnx.load(after).graph.node}
    assert ("ConvTranspose" in types) == (groups > 1 and not quantized)
    assert ("QLinearConv" in types) == quantized
    sample = rng.uniform(-2.5, 2.9, x).astype(np.float32)
    before, got = run(tmp_path / "before.onnx", sample), run(after, sample)
    assert got.shape == before.shape
    step = 0.05
    if quantized:
        np.testing.assert_allclose(got, before, rtol=0, atol=step * 1.001)
        assert (got != before).mean() < 0.02  # a bias is rounded
    else:
        assert np.abs(got - before).max() <= 1e-5 * np.abs(before).max()


def test_where_nothing_was_measured_no_form_is_chosen(tmp_path: Path):
    proto, _ = model(0, quantized=True)
    onnx.save(proto, tmp_path / "model.onnx")
    module = qdialect.load(tmp_path / "model.onnx")
    for one in RAISE:
        get_all_passes()[one]()().apply(Context(), module)
    before = str(module)
    Chosen(target="generic").apply(Context(), module)
    assert str(module) == before
    assert "no-costs" in {remark.blocked.id for remark in remarks_of(module)}
