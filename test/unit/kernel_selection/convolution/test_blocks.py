"""Convolutions of one channel for each output get whole blocks of channels where convolutions stand around them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from xdsl.ir import SSAValue

import qdialect
from graphs.structure import difference
from qdialect.evaluation.session import session
from qdialect.numerics import Array


class Chain:
    """Three convolutions in QOperator form: 40 channels to `channels`, each by itself, and to 24."""

    def __init__(self, channels: int, zero: int = 0):
        """zero: the zero points of the weight of the convolution in the middle."""
        self._random = np.random.default_rng(5)
        self._held = [onh.from_array(np.asarray(0.02, "f4"), "s"), onh.from_array(np.asarray(7, "u1"), "z")]
        self._nodes: list[onnx.NodeProto] = []
        self._conv("x", "a", (channels, 40, 1, 1), {})
        self._conv("a", "b", (channels, 1, 5, 5), {"group": channels, "pads": [2] * 4}, zero)
        self._conv("b", "y", (24, channels, 1, 1), {})

    def _conv(self, x: str, y: str, shape: tuple[int, ...], how: dict[str, Any], zero: int = 0) -> None:
        scales = self._random.uniform(0.001, 0.003, shape[0]).astype("f4")
        held = {
            "weight": self._random.integers(-127, 128, shape).astype("i1"),
            "scales": scales,
            "zeros": np.full(shape[0], zero, "i1"),
            "bias": self._random.integers(-3000, 3000, shape[0]).astype("i4"),
        }
        self._held += [onh.from_array(array, f"{y}_{name}") for name, array in held.items()]
        weight = [f"{y}_{name}" for name in ("weight", "scales", "zeros")]
        inputs = [x, "s", "z", *weight, "s", "z", f"{y}_bias"]
        self._nodes.append(oh.make_node("QLinearConv", inputs, [y], name=f"make_{y}", **how))

    def model(self, *results: str) -> onnx.ModelProto:
        """The model with these results, beside `y`."""
        values = [oh.make_tensor_value_info(name, 2, None) for name in ("y", *results)]
        x = oh.make_tensor_value_info("x", 2, ("n", 40, 14, 14))
        graph = oh.make_graph(self._nodes, "g", [x], values, self._held)
        return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 13)], ir_version=8)


def compiled(model: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    module = qdialect.load(model)
    qdialect.compile(module)
    qdialect.save(module, folder / "compiled.onnx")
    return onnx.load(folder / "compiled.onnx")


def weights(model: onnx.ModelProto) -> list[tuple[int, ...]]:
    """The shapes of the weights of QLinearConv, in order."""
    held = {each.name: tuple(each.dims) for each in model.graph.initializer}
    return [held[node.input[3]] for node in model.graph.node if node.op_type == "QLinearConv"]


def run(model: onnx.ModelProto) -> Array:
    x = np.random.default_rng(6).integers(0, 256, (2, 40, 14, 14)).astype("u1")
    return np.asarray(session(model.SerializeToString()).run(None, {"x": x})[0])


def test_zeros_fill_the_last_block_and_no_bit_changes(tmp_path: Path):
    given = Chain(120).model()
    first = compiled(given, tmp_path)
    assert weights(first) == [(128, 40, 1, 1), (128, 1, 5, 5), (24, 128, 1, 1)]
    np.testing.assert_array_equal(run(first), run(given))
    assert not difference(first, compiled(first, tmp_path))


@pytest.mark.parametrize(
    ("channels", "zero", "results"),
    [(128, 0, []), (120, 3, []), (120, 0, ["a"]), (120, 0, ["b"]), (184, 0, ["a", "b"])],
    ids=["whole", "zero points", "first is read", "second is read", "both are read"],
)
def test_channels_stay(channels: int, zero: int, results: list[str], tmp_path: Path):
    shapes = weights(compiled(Chain(channels, zero).model(*results), tmp_path))
    assert shapes == [(channels, 40, 1, 1), (channels, 1, 5, 5), (24, channels, 1, 1)]


def test_weights_are_not_read_where_there_is_nothing_to_fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def read(value: SSAValue) -> Array:
        raise AssertionError(f"{value} was read")

    monkeypatch.setattr("qdialect.kernel_selection.convolution.blocks.real_constant", read)
    assert weights(compiled(Chain(48).model(), tmp_path))[0] == (48, 40, 1, 1)
