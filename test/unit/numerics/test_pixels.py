"""Where the pixels of a resized image stand is where onnxruntime looks for them."""

from typing import Any

import numpy as np
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx import TensorProto
from onnx_models import onnx_model

from qdialect.evaluation.session import run
from qdialect.numerics.pixels import coordinates, interpolation, nearest_pixels, size_factor

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
        model = onnx_model([node], ends[:1], ends[1:], [sizes])
        (pixels,) = run(model.SerializeToString(), {"x": np.arange(old, dtype=np.float32)[None, None]})
        assert pixels.ravel().tolist() == nearest_pixels(old, new, new / old, mode, rule).tolist(), (old, new)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("cubic", "excludes"), [(None, False), (-0.75, False), (-0.5, True)])
def test_interpolated_pixels_are_those_of_onnxruntime(mode: str, cubic: float | None, excludes: bool):
    for old, new in ((5, 3), (5, 8), (4, 1), (3, 7), (7, 14), (1, 6)):
        attributes: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": mode}
        if cubic is not None:
            attributes |= {"mode": "cubic", "cubic_coeff_a": cubic, "exclude_outside": int(excludes)}
        node = oh.make_node("Resize", ["x", "", "", "n"], ["y"], **attributes)
        ends = [
            oh.make_tensor_value_info(name, TensorProto.FLOAT, [old, k])
            for name, k in (("x", old), ("y", new))
        ]
        model = onnx_model([node], ends[:1], ends[1:], {"n": np.array([old, new])})
        (rows,) = run(model.SerializeToString(), {"x": np.eye(old, dtype=np.float32)})
        matrix = interpolation(old, new, new / old, mode, cubic, excludes=excludes)
        np.testing.assert_allclose(matrix.T, rows, atol=2e-6, err_msg=f"{old} to {new}")


def test_a_factor_that_is_rounded_down_to_another_size_is_none():
    assert size_factor(4, 10) == 2.5
    assert (
        size_factor(5, 7) is None
    )  # 5 times the float32 1.4 is less than 7, which onnx's inference does not round
    assert size_factor(7, 31) is None  # 31 / 7 in float32 is less, and 7 times that is 30


def test_other_modes_are_refused():
    with pytest.raises(KeyError, match="tf_crop_and_resize"):
        coordinates(3, 4, 1.0, "tf_crop_and_resize")
