"""Tensors of unlike ranges are not joined on one scale: what is left of the smaller would be noise."""

import numpy as np
import onnx.helper as oh
import pytest
from onnx import ModelProto
from onnx_models import onnx_model

import qdialect
from qdialect.evaluation.session import run

SIZES = (24, 20)


def detector(boxes: float, channels: int) -> ModelProto:
    """Scores between 0 and 1 beside boxes of another size, as a convolutional detector's head joins them."""
    draw = np.random.default_rng(3)
    weights = {
        "w": draw.normal(size=(32, channels, 3, 3)).astype(np.float32) / np.float32(3 * channels**0.5),
        "a": draw.normal(size=(16, 32, 1, 1)).astype(np.float32) / 6 * np.float32(boxes),
        "b": draw.normal(size=(48, 32, 1, 1)).astype(np.float32) / 6,
    }
    nodes = [
        oh.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        oh.make_node("Relu", ["c"], ["r"]),
        oh.make_node("Conv", ["r", "a"], ["boxes"]),
        oh.make_node("Conv", ["r", "b"], ["logits"]),
        oh.make_node("Sigmoid", ["logits"], ["scores"]),
        oh.make_node("Concat", ["boxes", "scores"], ["y"], axis=1),
    ]
    return onnx_model(nodes, {"x": [1, channels, *SIZES]}, {"y": [1, 64, *SIZES]}, weights)


@pytest.mark.parametrize("form", [None, "qdq"])
@pytest.mark.parametrize(("boxes", "channels", "joined"), [(1.0, 64, True), (100.0, 64, False)])
def test_scores_survive_beside_boxes(boxes: float, channels: int, joined: bool, form: str | None) -> None:
    model = detector(boxes, channels)
    draw = np.random.default_rng(4)
    rows = [{"x": draw.normal(size=(1, channels, *SIZES)).astype(np.float32)} for _ in range(6)]
    done = qdialect.quantize(qdialect.load(model), rows, form=form)
    after = qdialect.to_model(done.module)
    kinds = {out: node.op_type for node in after.graph.node for out in node.output}
    if form is None:
        assert kinds["y"] == ("DequantizeLinear" if joined else "Concat")
    scores = [run(m, rows[0])[0][:, 16:] for m in (model, after)]
    noise = np.abs(scores[0] - scores[1]).max()
    assert noise < (0.12 if joined else 0.02)
