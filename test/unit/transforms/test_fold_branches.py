"""One convolution for those that are added, on numbers: whatever the windows, the groups and the sizes are."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect import numerics
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]
CHANNELS = 6


def branches(
    shape: tuple[int, ...], *convolutions: dict[str, Any], groups: int = 1, affine: bool = False
) -> onnx.ModelProto:
    """Convolutions of x, every second one with a bias, added one after the other, and a BatchNormalization of x."""
    draw, nodes, constants = np.random.default_rng(len(shape)), [], {}
    names: list[str] = []
    for k, attributes in enumerate(convolutions):
        constants[f"w{k}"] = draw.normal(0, 0.3, (CHANNELS, CHANNELS // groups, *attributes["kernel_shape"]))
        inputs = ["x", f"w{k}"]
        if k % 2:
            constants[f"b{k}"] = draw.normal(0, 1, CHANNELS)
            inputs.append(f"b{k}")
        nodes.append(helper.make_node("Conv", inputs, [f"c{k}"], group=groups, **attributes))
        names.append(f"c{k}")
    if affine:
        for name in ("gamma", "beta", "mean"):
            constants[name] = draw.normal(0, 1, CHANNELS)
        constants["variance"] = draw.uniform(0.5, 2, CHANNELS)
        nodes.append(
            helper.make_node("BatchNormalization", ["x", "gamma", "beta", "mean", "variance"], ["a"])
        )
        names.insert(1, "a")
    total = names[0]
    for k, name in enumerate(names[1:]):
        nodes.append(helper.make_node("Add", [total, name], [f"s{k}"]))
        total = f"s{k}"
    nodes.append(helper.make_node("Relu", [total], ["y"]))
    model = onnx_model(
        nodes, {"x": (1, shape)}, {"y": None}, {k: v.astype(np.float32) for k, v in constants.items()}
    )
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def window(kernel: list[int], pads: list[int], **others: Any) -> dict[str, Any]:
    return {"kernel_shape": kernel, "pads": pads, **others}


SAME, PIXEL = window([3, 3], [1] * 4), window([1, 1], [0] * 4)
CASES: dict[str, tuple[tuple[int, ...], list[dict[str, Any]], int, bool]] = {
    "three windows": ((2, 6, 7, 5), [SAME, PIXEL, SAME], 1, False),
    "batch norm": ((2, 6, 7, 5), [SAME, PIXEL], 1, True),
    "batch norm alone": ((2, 6, 7, 5), [PIXEL], 1, True),
    "groups": ((2, 6, 7, 5), [SAME, PIXEL], 3, True),
    "depthwise": ((1, 6, 4, 9), [SAME, SAME, PIXEL], 6, True),
    "one axis": ((2, 6, 11), [window([5], [2, 2]), window([1], [0, 0])], 1, True),
    "three axes": ((1, 6, 3, 4, 5), [window([3] * 3, [1] * 6), window([1] * 3, [0] * 6)], 2, True),
    "strips": ((2, 6, 7, 5), [SAME, window([1, 3], [0, 1, 0, 1]), window([3, 1], [1, 0, 1, 0])], 1, False),
    "strides": (
        (2, 6, 8, 9),
        [window([3, 2], [1, 0, 1, 0], strides=[2, 3]), window([1, 2], [0, 0, 0, 0], strides=[2, 3])],
        1,
        False,
    ),
    "uneven pads": (
        (2, 6, 7, 5),
        [window([4, 3], [2, 1, 1, 1]), window([2, 1], [0, 0, 1, 0])],
        1,
        True,
    ),
    "two elements apart": (
        (2, 6, 7, 5),
        [window([2, 1], [2, 0, 0, 0], dilations=[2, 1]), PIXEL],
        1,
        False,
    ),
    "dilations": (
        (2, 6, 9, 9),
        [window([3, 3], [2, 3, 2, 3], dilations=[2, 3]), window([2, 1], [0, 0, 2, 0], dilations=[2, 7])],
        1,
        True,
    ),
}


def test_elements_at_different_distances_stay_two_convolutions():
    """Of 7 rows, two of them at every other place give as many results as two neighbours."""
    near, far = window([2, 1], [0] * 4, strides=[2, 1]), window([2, 1], [0] * 4, strides=[2, 1])
    model = branches((2, CHANNELS, 7, 5), near, {**far, "dilations": [2, 1]})
    module = import_model(model)
    get_all_passes()["fold-branches"]()().apply(Context(), module)
    assert [node.op_type for node in export_model(module).graph.node] == ["Conv", "Conv", "Add", "Relu"]


@pytest.mark.parametrize("name", CASES)
def test_one_convolution_computes_the_sum(name: str):
    shape, convolutions, groups, affine = CASES[name]
    model = branches(shape, *convolutions, groups=groups, affine=affine)
    module = import_model(onnx.ModelProto.FromString(model.SerializeToString()))
    get_all_passes()["fold-branches"]()().apply(Context(), module)
    module.verify()
    after = export_model(module)
    assert [node.op_type for node in after.graph.node] == ["Conv", "Relu"]
    feeds = {"x": np.random.default_rng(1).normal(0, 2, shape).astype(np.float32)}
    (old,), (new,) = run(model, feeds), run(after, feeds)
    assert old.shape == new.shape
    assert np.abs(old - new).max() <= 1e-5 * np.abs(old).max()


def test_quantize_adds_branches_first():
    model = branches((1, 6, 9, 9), SAME, PIXEL, affine=True)
    data = [{"x": np.random.default_rng(k).normal(0, 1, (1, 6, 9, 9)).astype(np.float32)} for k in range(4)]
    module = qdialect.load(model)
    report = qdialect.quantize(module, data, target="generic")
    nodes = [node.op_type for node in export_model(report.module).graph.node]
    assert nodes.count("Conv") == 1
    assert "Add" not in nodes


def test_a_weight_in_8_bits_is_judged_output_by_output():
    draw = np.random.default_rng(0)
    weight = draw.normal(0, 1, (16, 8, 3, 3))
    each = numerics.rounding_ratio(weight)
    assert 40 < each < 44
    assert numerics.rounding_ratio(weight * np.logspace(-6, 6, 16).reshape(-1, 1, 1, 1)) == pytest.approx(
        each, abs=1.5
    )
    weight[:, 0, 1, 1] = 127  # the step is 1: what is left is the rounding of the others
    noise = ((np.rint(weight) - weight) ** 2).sum()
    assert numerics.rounding_ratio(weight) == pytest.approx(10 * np.log10((weight**2).sum() / noise))
    assert numerics.rounding_ratio(np.zeros((2, 3, 1, 1))) == np.inf
