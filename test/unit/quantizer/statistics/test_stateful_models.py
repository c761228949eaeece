"""State fed back while a model is calibrated."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

import qdialect
from qdialect.compiler.options import Options
from qdialect.errors import UserError
from qdialect.evaluation.data import Input
from qdialect.evaluation.feeds import model_inputs
from qdialect.quantizer.quantize import Calibration, quantize_module
from qdialect.quantizer.statistics.stateful_models import FeedBack, check_pairs, sequences, stateful

Array = npt.NDArray[Any]
F4, I8 = np.dtype("f4"), np.dtype("i8")
X, H, N = Input("x", (1, 2), F4), Input("h_in", (1, 3), F4), Input("n", (None, 3), F4)
Y, HO, K = Input("y", (1, 2), F4), Input("h_out", (1, 3), F4), Input("k", (1, 3), I8)


def step(feed: Mapping[str, Array]) -> dict[str, Array]:
    """y = x, h' = 2 h + sum(x)."""
    return {"y": feed["x"], "h_out": 2 * feed["h_in"] + feed["x"].sum()}


def frames(*values: float) -> list[dict[str, Array]]:
    return [{"x": np.full((1, 2), v, np.float32)} for v in values]


def test_the_state_goes_on_and_starts_anew_with_each_sequence() -> None:
    rows = list(FeedBack({"h_in": "h_out"}, [X, H], step).rows([frames(0.5, 1.0, 2.0), frames(3.0, 1.0)]))
    assert [float(row["h_in"][0, 0]) for row in rows] == [0.0, 1.0, 4.0, 0.0, 6.0]
    assert [float(row["x"][0, 0]) for row in rows] == [0.5, 1.0, 2.0, 3.0, 1.0]
    assert {row["h_in"].dtype for row in rows} == {F4}


def test_the_data_says_where_the_state_starts() -> None:
    sequence = frames(0.5, 1.0)
    sequence[0]["h_in"] = np.full((1, 3), 5, np.float32)
    sequence[1]["h_in"] = np.full((1, 3), 9, np.float32)  # only the first counts
    rows = list(FeedBack({"h_in": "h_out"}, [X, H], step).rows([sequence]))
    assert [float(row["h_in"][0, 0]) for row in rows] == [5.0, 11.0]


def test_inputs_that_need_data() -> None:
    assert [one.name for one in FeedBack({"h_in": "h_out"}, [X, H], step).data_inputs] == ["x"]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"h_in": "z"}, "--state z=h_in: no output is called 'z'"),
        ({"z": "h_out"}, "--state h_out=z: no input is called 'z'"),
        ({"h_in": "y"}, "--state y=h_in: the output is float32 1x2, the input float32 1x3"),
        ({"h_in": "k"}, "--state k=h_in: the output is int64 1x3, the input float32 1x3"),
    ],
)
def test_pairs_that_are_none(pairs: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=f"^{re.escape(message)}"):
        check_pairs(pairs, [X, H], [Y, HO, K])


def test_one_output_may_be_the_state_of_two_inputs() -> None:
    two = Input("h2", (1, 3), F4)
    feedback = FeedBack({"h_in": "h_out", "h2": "h_out"}, [X, H, two], step)
    check_pairs({"h_in": "h_out", "h2": "h_out"}, [X, H, two], [HO])
    assert [one.name for one in feedback.data_inputs] == ["x"]
    rows = list(feedback.rows([frames(0.5, 1.0)]))
    assert [(float(row["h_in"][0, 0]), float(row["h2"][0, 0])) for row in rows] == [(0.0, 0.0), (1.0, 1.0)]


def test_a_state_of_unknown_size_is_given() -> None:
    feedback = FeedBack({"n": "h_out"}, [X, N], step)
    with pytest.raises(UserError, match="the size of state 'n' is not known, it is float32 \\?x3"):
        next(feedback.rows([frames(1.0)]))


def test_a_state_that_changes_its_shape() -> None:
    feedback = FeedBack({"h_in": "h_out"}, [X, H], lambda feed: {"h_out": np.zeros((2, 3), np.float32)})
    with pytest.raises(UserError, match="output 'h_out' is 2x3, state 'h_in' is 1x3"):
        list(feedback.rows([frames(1.0, 2.0)]))


def test_a_state_that_grows_without_bound() -> None:
    feedback = FeedBack(
        {"h_in": "h_out"}, [X, H], lambda feed: {"h_out": np.full((1, 3), np.inf, np.float32)}
    )
    with pytest.raises(UserError, match="state 'h_in' became NaN or infinity"):
        list(feedback.rows([frames(1.0, 2.0)]))


def test_what_is_a_sequence() -> None:
    a, b, c = frames(1.0, 2.0, 3.0)
    assert [list(one) for one in sequences([a, b, [c, a], b])] == [[a, b], [c, a], [b]]


def accumulator(folder: Path) -> ModuleOp:
    """y = relu(x W + h), h' = h + x: a model of one frame and a state."""
    nodes = [
        oh.make_node("MatMul", ["x", "w"], ["p"]),
        oh.make_node("Add", ["p", "h"], ["s"]),
        oh.make_node("Relu", ["s"], ["y"]),
        oh.make_node("Add", ["h", "x"], ["h_new"]),
    ]
    onnx.save(
        onnx_model(
            nodes,
            {name: [1, 4] for name in "xh"},
            {name: [1, 4] for name in ("y", "h_new")},
            {"w": np.eye(4, dtype=np.float32)},
            opset=13,
        ),
        folder / "m.onnx",
    )
    return qdialect.load(folder / "m.onnx")


def test_a_model_with_state_on_its_frames(tmp_path: Path) -> None:
    module = accumulator(tmp_path)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    inputs = model_inputs(module)
    first = {"x": x, "h": np.full((3, 4), 0.5, np.float32)}
    rows = list(stateful(module, {"h": "h_new"}, inputs, [[{"x": x}], [first]]))
    before = np.concatenate([row["h"] for row in rows])
    np.testing.assert_array_equal(
        before, [[0] * 4, x[0], x[0] + x[1], [0.5] * 4, x[0] + 0.5, x[0] + x[1] + 0.5]
    )
    np.testing.assert_array_equal(np.concatenate([row["x"] for row in rows]), np.concatenate([x, x]))


def test_the_state_is_in_the_profile(tmp_path: Path) -> None:
    module = accumulator(tmp_path)
    x = np.ones((6, 4), np.float32)
    data = [{"x": x}]
    done = quantize_module(module, data, Calibration(state={"h": "h_new"}), Options())
    assert done.profile.tensors["h"].high == 5
    assert done.profile.samples == 6
