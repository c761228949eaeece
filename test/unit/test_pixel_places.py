"""Where the pixels of a resized image stand is where onnxruntime looks for them."""

import numpy as np
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx import TensorProto

from qdialect.numerics.pixels import coordinates, nearest_pixels
from qdialect.oracle.session import run

MODES = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
RULES = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", RULES)
def test_nearest_pixels_are_those_of_onnxruntime(mode: str, rule: str):
    for old, new in ((5, 3), (5, 8), (4, 1), (3, 7), (7, 14)):
        attributes = {"mode": "nearest", "coordinate_transformation_mode": mode, "nearest_mode": rule}
        node = oh.make_node("Resize", ["x", "", "", "n"], ["y"], **attributes)
        ends = [
            oh.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, k])
            for name, k in (("x", old), ("y", new))
        ]
        sizes = onh.from_array(np.array([1, 1, new]), "n")
        graph = oh.make_graph([node], "g", ends[:1], ends[1:], [sizes])
        model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=8)
        (pixels,) = run(model.SerializeToString(), {"x": np.arange(old, dtype=np.float32)[None, None]})
        assert pixels.ravel().tolist() == nearest_pixels(old, new, new / old, mode, rule).tolist(), (old, new)


def test_other_modes_are_refused():
    with pytest.raises(KeyError, match="tf_crop_and_resize"):
        coordinates(3, 4, 1.0, "tf_crop_and_resize")
