"""`quantize --decompose`: the products of a recurrent op in 8 bits, inside the loop and outside, with little noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from recurrent_training import GATES, train

from qdialect.cli import main
from qdialect.evaluation.session import run

Array = npt.NDArray[Any]
STEPS, INPUTS, HIDDEN, CLASSES = 8, 24, 64, 5
STATIC = {"MatMulIntegerToFloat", "QGemm", "QLinearMatMul"}
"""The kernels that a product of static types becomes: with a bias right behind it, as in a GRU, a QGemm."""


def samples(seed: int, count: int = 60) -> Array:
    """Sequences that change slowly, between 0 and 1, as the rows of images do."""
    draw = np.random.default_rng(seed)
    steps = draw.normal(size=(count, STEPS, INPUTS)).cumsum(1)
    return (1 / (1 + np.exp(-steps * np.linspace(0.4, 2, INPUTS)))).astype(np.float32)


def rounded_rows(array: Array) -> Array:
    """To 8 bits for each row, and real again."""
    scale = np.abs(array).max(-1, keepdims=True) / 127
    return (np.rint(array / scale) * scale).astype(np.float32)


def write(path: Path, kind: str, direction: str, rounded: bool = False) -> None:
    """
    A recurrent op and a classifier. Weights of few directions, as training leaves them: a product of rank 4 besides
    noise; `rounded`: to 8 bits for each row, and nothing else.
    """
    draw = np.random.default_rng(3)
    two = 2 if direction == "bidirectional" else 1

    def weight(*shape: int, size: float) -> Array:
        rank = draw.normal(size=(*shape[:-1], 4)) @ draw.normal(size=(*shape[:-2], 4, shape[-1])) / 2
        array = (rank + draw.normal(size=shape) / 3) * size / np.sqrt(shape[-1])
        return rounded_rows(array) if rounded else array.astype(np.float32)

    rows = GATES[kind] * HIDDEN
    constants = {
        "w": weight(two, rows, INPUTS, size=0.7),
        "r": weight(two, rows, HIDDEN, size=0.5),
        "b": draw.normal(size=(two, 2 * rows)).astype(np.float32) / 4,
        "c": weight(CLASSES, two * HIDDEN, size=1.0),
    }
    save(path, kind, direction, constants)


def save(path: Path, kind: str, direction: str, constants: dict[str, Array]) -> None:
    """A recurrent op and a classifier of these weights."""
    constants = constants | {"last": np.array([0, -1], np.int64)}
    hidden = constants["r"].shape[-1]
    nodes = [
        helper.make_node("Transpose", ["x"], ["s"], "steps", perm=[1, 0, 2]),
        helper.make_node(
            kind, ["s", "w", "r", "b"], ["", "h"], "cell", hidden_size=hidden, direction=direction
        ),
        helper.make_node("Transpose", ["h"], ["t"], "turn", perm=[1, 0, 2]),
        helper.make_node("Reshape", ["t", "last"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "c"], ["y"], "classes", transB=1),
    ]
    if kind == "GRU":
        nodes[1].attribute.append(helper.make_attribute("linear_before_reset", 1))
    onnx.save(onnx_model(nodes, {"x": ["n", STEPS, INPUTS]}, {"y": ["n", CLASSES]}, constants), path)


def ratio(one: Path, other: Path) -> float:
    """Signal to noise in dB, on sequences that are not those of the calibration."""
    a, b = (run(str(path), {"x": samples(11, 40)})[0].astype(np.float64) for path in (one, other))
    return 10 * float(np.log10((a**2).sum() / ((a - b) ** 2).sum()))


def inside(path: Path) -> list[str]:
    """The ops in bodies of loops."""
    op_types: list[str] = []
    for node in onnx.load(str(path)).graph.node:
        for attribute in node.attribute:
            op_types += [inner.op_type for inner in attribute.g.node]
    return op_types


@pytest.mark.parametrize(
    ("kind", "direction"), [("LSTM", "forward"), ("LSTM", "bidirectional"), ("GRU", "bidirectional")]
)
def test_static_products_in_the_loop(kind: str, direction: str, tmp_path: Path) -> None:
    """With the noise of each layer, too: a classifier that gets a bias by correction has one operand more."""
    whole, small, out = (tmp_path / f"{name}.onnx" for name in ("float", "weights", "int8"))
    write(whole, kind, direction)
    write(small, kind, direction, rounded=True)
    np.savez(tmp_path / "data.npz", x=samples(5))
    data = ["--data", str(tmp_path / "data.npz")]
    assert main(["quantize", str(whole), *data, "-o", str(out), "--verbose", "--decompose", kind]) == 0
    ops = inside(out)
    assert "MatMul" not in ops
    assert "DynamicQuantizeMatMul" not in ops
    assert sum(op in STATIC for op in ops) == (2 if direction == "bidirectional" else 1)
    assert ratio(whole, out) > 43
    assert ratio(whole, out) > ratio(whole, small) - 2


def labels(x: Array) -> Array:
    """Which of some groups of inputs was largest in the second half."""
    groups = x[:, STEPS // 2 :, : INPUTS // CLASSES * CLASSES].mean(1).reshape(len(x), CLASSES, -1)
    return groups.mean(2).argmax(1)


@pytest.mark.parametrize(
    ("kind", "direction"),
    [("RNN", "forward"), ("GRU", "forward"), ("GRU", "bidirectional"), ("LSTM", "bidirectional")],
)
def test_a_model_that_was_trained(kind: str, direction: str, tmp_path: Path) -> None:
    """Static products cost at most 2 dB beside weights of 8 bits alone, and no decision."""
    x = samples(21, 128)
    weights = train(kind, 2 if direction == "bidirectional" else 1, x, labels(x), 32)
    rounded = {name: rounded_rows(array) if name != "b" else array for name, array in weights.items()}
    whole, small, out = (tmp_path / f"{name}.onnx" for name in ("float", "weights", "int8"))
    save(whole, kind, direction, weights)
    save(small, kind, direction, rounded)
    np.savez(tmp_path / "data.npz", x=samples(5))
    data = ["--data", str(tmp_path / "data.npz")]
    assert main(["quantize", str(whole), *data, "-o", str(out), "--quiet", "--decompose", kind]) == 0
    assert "MatMul" not in inside(out)
    assert ratio(whole, out) > ratio(whole, small) - 2
    test = samples(11, 40)
    truth, got = (run(str(path), {"x": test})[0].argmax(1) for path in (whole, out))
    assert (truth == labels(test)).mean() > 0.5
    assert (truth == got).mean() > 0.97
