"""Models of one recurrent op."""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
from onnx_models import onnx_model

Array = npt.NDArray[Any]


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def model(
    kind: str,
    *,
    biased: bool = True,
    initial: bool = False,
    lengths: Array | None = None,
    free: bool = False,
    opset: int = 14,
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """One recurrent op with its inputs by name; `free`: without sizes of time and batch."""
    rng = np.random.default_rng(7)
    gates, two = GATES[kind] * HIDDEN, 2 if attributes.get("direction") == "bidirectional" else 1
    first = attributes.get("layout", 0) == 1
    x = rng.normal(size=(BATCH, STEPS, INPUTS) if first else (STEPS, BATCH, INPUTS)).astype(np.float32)
    states = (BATCH, two, HIDDEN) if first else (two, BATCH, HIDDEN)
    weights = {
        "w": rng.normal(size=(two, gates, INPUTS)), "r": rng.normal(size=(two, gates, HIDDEN)) / 2,
    }  # fmt: skip
    if biased:
        weights["b"] = rng.normal(size=(two, 2 * gates))
    feeds: dict[str, Array] = {"x": x}
    names = ["x", "w", "r", "b" if biased else "", "", ""]
    if lengths is not None:
        names[4] = "n"
        feeds["n"] = lengths.astype(np.int32)
    if initial:
        names[5] = "h"
        feeds["h"] = rng.normal(size=states).astype(np.float32)
        if kind == "LSTM":
            names.append("c")
            feeds["c"] = rng.normal(size=states).astype(np.float32)
    outputs = ["y", "y_h", *(["y_c"] if kind == "LSTM" else [])]
    node = oh.make_node(kind, names, outputs, "cell", hidden_size=HIDDEN, **attributes)
    sizes = {"x": x.shape, **{k: v.shape for k, v in feeds.items()}}
    inputs = [
        oh.make_tensor_value_info(k, 6 if k == "n" else 1, [None] * len(v) if free and k in "xn" else v)
        for k, v in sizes.items()
    ]
    if free:
        inputs[0].type.tensor_type.shape.dim[2].dim_value = INPUTS
    return onnx_model(
        [node],
        inputs,
        {k: (1, [None] * (4 if k == "y" else 3)) for k in outputs},
        {k: v.astype(np.float32) for k, v in weights.items()},
        opset=opset,
        ir_version=8,
    ), feeds
