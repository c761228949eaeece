"""Ops of old opsets under a newer one, on numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.evaluation.session import run
from qdialect.transforms.raise_opset import RaiseOpsetPass

# opset, op, attributes, further inputs, shape of the first
CASES: list[tuple[int, str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (7, "Pad", {"pads": [0, 1, 2, 0, 0, 3], "value": 0.5}, {}, (2, 3, 4)),
    (9, "Pad", {"pads": [0, 0, 1, 2], "mode": "reflect"}, {}, (3, 5)),
    (7, "Clip", {"min": -0.3, "max": 0.4}, {}, (2, 3)),
    (8, "Clip", {"max": 0.4}, {}, (2, 3)),
    (9, "Slice", {"starts": [1, -2], "ends": [3, 100], "axes": [2, 1]}, {}, (2, 3, 5)),
    (9, "Slice", {"starts": [1], "ends": [3]}, {}, (4, 3)),
    (9, "TopK", {"k": 2}, {}, (3, 5)),
    (11, "Squeeze", {"axes": [1, 3]}, {}, (2, 1, 3, 1)),
    (11, "Squeeze", {}, {}, (2, 1, 3)),
    (12, "Unsqueeze", {"axes": [0, 2]}, {}, (2, 3)),
    (11, "ReduceSum", {"axes": [1], "keepdims": 0}, {}, (2, 3, 4)),
    (11, "ReduceSum", {}, {}, (2, 3, 4)),
    (7, "Softmax", {}, {}, (2, 3, 4)),
    (11, "Softmax", {"axis": -1}, {}, (2, 3, 4)),
    (11, "LogSoftmax", {"axis": 2}, {}, (2, 3, 4)),
    (12, "LogSoftmax", {"axis": 0}, {}, (2, 3, 4)),
    (7, "Upsample", {"scales": [1.0, 1.0, 2.0, 3.0]}, {}, (1, 2, 3, 4)),
    (9, "Upsample", {"mode": "linear"}, {"s": np.array([1, 1, 2, 2], np.float32)}, (1, 2, 3, 4)),
    (10, "Resize", {}, {"s": np.array([1, 1, 2, 1.5], np.float32)}, (1, 2, 3, 4)),
    (7, "Dropout", {"ratio": 0.3}, {}, (2, 3)),
    (9, "Scatter", {"axis": 1}, {"i": np.array([[2, 0]]), "u": np.array([[7, 8]], np.float32)}, (2, 3)),
    (7, "Crop", {"border": [1, 2, 0, 1]}, {}, (1, 2, 6, 5)),
    (9, "Crop", {"border": [1, 2, 0, 0], "scale": [3, 2]}, {}, (1, 2, 6, 5)),
    (7, "ImageScaler", {"scale": 0.5, "bias": [1.0, -2.0]}, {}, (1, 2, 3, 4)),
    (7, "Affine", {"alpha": 0.5, "beta": 3.0}, {}, (2, 3)),
]
LATER: list[tuple[int, str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (11, "Split", {"axis": 1, "split": [1, 3]}, {}, (2, 4)),
    (12, "Split", {"axis": 1}, {}, (2, 4)),
    (13, "Split", {"axis": 1}, {}, (2, 4)),
    (13, "ReduceMean", {"axes": [-1]}, {}, (2, 4)),
]


def model(opset: int, op: str, attributes: dict[str, Any], more: dict[str, Any], shape: tuple[int, ...]):
    outputs = ["y", "z"] if op in ("Split", "TopK") else ["y"]
    node = oh.make_node(op, ["x", *more], outputs, "the node", **attributes)
    return onnx_model(
        [node],
        {"x": (1, shape)},
        {k: (7 if k == "z" and op == "TopK" else 1, None) for k in outputs},
        more,
        opset=opset,
        ir_version=6,
    )


@pytest.mark.parametrize(
    ("case", "to"),
    [*((c, 13) for c in (*CASES, *LATER) if c[0] < 13), *((c, 18) for c in (*LATER, *CASES))],
    ids=str,
)
def test_the_same_numbers(case: Any, to: int, tmp_path: Path) -> None:
    proto = model(*case)
    onnx.save(proto, tmp_path / "old.onnx")
    module = qdialect.load(tmp_path / "old.onnx")
    RaiseOpsetPass(to=to).apply(Context(), module)
    module.verify()
    qdialect.save(module, tmp_path / "new.onnx")
    after = onnx.load(tmp_path / "new.onnx")
    assert [entry.version for entry in after.opset_import] == [to]
    assert after.graph.node[-1].name.startswith("the node")
    x = np.random.default_rng(3).normal(size=case[4]).astype(np.float32)
    for a, b in zip(run(proto, {"x": x}), run(str(tmp_path / "new.onnx"), {"x": x}), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("op", "axis", "sizes", "shape", "opset"),
    [
        ("Softmax", 1, ("n", 3, "m"), (2, 3, 0), 14),
        ("LogSoftmax", 0, ("n", 3, 2), (0, 3, 2), 14),
        ("Hardmax", 2, (2, "n", "m", 3), (2, 0, 2, 3), 14),
        ("Softmax", 1, ("n", 3, 2), (0, 3, 2), 13),
        ("Softmax", 2, ("n", 3, "m"), (2, 3, 0), 13),
    ],
)
def test_a_softmax_of_open_sizes_takes_no_elements(
    op: str, axis: int, sizes: tuple[int | str, ...], shape: tuple[int, ...], opset: int, tmp_path: Path
) -> None:
    """A Reshape before opset 14 writes no size of 0 that is not in its operand."""
    proto = onnx_model(
        [oh.make_node(op, ["x"], ["y"], axis=axis)], {"x": (1, sizes)}, {"y": (1, sizes)}, {}, opset=9
    )
    onnx.save(proto, tmp_path / "old.onnx")
    module = qdialect.load(tmp_path / "old.onnx")
    RaiseOpsetPass().apply(Context(), module)
    module.verify()
    qdialect.save(module, tmp_path / "new.onnx")
    assert [entry.version for entry in onnx.load(tmp_path / "new.onnx").opset_import] == [opset]
    for size in (0, 2):
        x = np.random.default_rng(3).normal(size=[n or size for n in shape]).astype(np.float32)
        np.testing.assert_array_equal(run(str(tmp_path / "new.onnx"), {"x": x})[0], run(proto, {"x": x})[0])
