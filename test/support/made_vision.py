"""A made detector and a made segmenter of bright squares, for the examples of docs/accuracy.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from onnx_models import onnx_model
from PIL import Image

SIZE, CELL = 32, 8
Floats = npt.NDArray[np.float32]


def squares(count: int, seed: int = 0) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Dark images (count, SIZE, SIZE, 3) with a bright cell each, and its row and column, (count, 2)."""
    draw = np.random.default_rng(seed)
    images = draw.normal(70, 25, (count, SIZE, SIZE, 3))
    cells = draw.integers(0, SIZE // CELL, (count, 2))
    for image, (row, column) in zip(images, cells * CELL, strict=True):
        image[row : row + CELL, column : column + CELL] += 90
    return np.clip(images, 0, 255).astype(np.uint8), cells


def fed(images: npt.NDArray[np.uint8]) -> Floats:
    """Pixels of 0 to 1, (count, 3, SIZE, SIZE)."""
    return np.ascontiguousarray(images.astype(np.float32).transpose(0, 3, 1, 2) / 255, np.float32)


def detector() -> onnx.ModelProto:
    """`x` (1, 3, 32, 32) to `boxes` (1, 16, 4), corners of each cell, and `scores` (1, 16, 1)."""
    draw = np.random.default_rng(3)
    rows, columns = np.divmod(np.arange(16), 4)
    corners = np.stack([columns, rows, columns + 1, rows + 1], 1).astype(np.float32)[None] * CELL
    bright = np.full((1, 3, CELL, CELL), 12 / (3 * CELL * CELL), np.float32)
    moved = draw.normal(0, 1e-3, (4, 3, CELL, CELL)).astype(np.float32)
    tensors = {
        "bright": bright, "dark": np.array([-6], np.float32), "moved": moved, "corners": corners,
        "row": np.array([1, 1, 16]), "four": np.array([1, 4, 16]),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "bright", "dark"], ["s"], "score", strides=[CELL, CELL]),
        helper.make_node("Reshape", ["s", "row"], ["t"]),
        helper.make_node("Transpose", ["t"], ["u"], perm=[0, 2, 1]),
        helper.make_node("Sigmoid", ["u"], ["scores"]),
        helper.make_node("Conv", ["x", "moved"], ["m"], "offset", strides=[CELL, CELL]),
        helper.make_node("Reshape", ["m", "four"], ["f"]),
        helper.make_node("Transpose", ["f"], ["o"], perm=[0, 2, 1]),
        helper.make_node("Add", ["o", "corners"], ["boxes"]),
    ]
    ends = {"boxes": [1, 16, 4], "scores": [1, 16, 1]}
    return onnx_model(nodes, {"x": [1, 3, SIZE, SIZE]}, ends, tensors, opset=13)


def segmenter() -> onnx.ModelProto:
    """`x` (n, 3, 32, 32) to `scores` (n, 2, 32, 32): a blur, and how bright it is."""
    blur = np.full((1, 3, 5, 5), 12 / 75, np.float32)
    tensors = {"blur": blur, "other": np.array([[-1.0], [1.0]], np.float32).reshape(2, 1, 1, 1)}
    tensors |= {"dark": np.array([-5.2], np.float32)}
    nodes = [
        helper.make_node("Conv", ["x", "blur", "dark"], ["b"], "blur", pads=[2, 2, 2, 2]),
        helper.make_node("Conv", ["b", "other"], ["scores"], "head"),
    ]
    return onnx_model(nodes, {"x": ["n", 3, SIZE, SIZE]}, {"scores": ["n", 2, SIZE, SIZE]}, tensors, opset=13)


def write_all(folder: Path, count: int = 40) -> None:
    """The files that the examples name: models, `shapes.npz`, `pictures`, `masks`, `masks.csv`."""
    onnx.save(detector(), str(folder / "detector.onnx"))
    onnx.save(segmenter(), str(folder / "segmenter.onnx"))
    images, cells = squares(count)
    corners = cells[:, ::-1] * CELL
    boxes = np.full((count, 2, 5), -1.0)
    boxes[:, 0] = np.concatenate([np.zeros((count, 1)), corners, corners + CELL], 1)
    np.savez(folder / "shapes.npz", x=fed(images), wanted=boxes)
    for name in ("pictures", "masks"):
        (folder / name).mkdir()
    lines: list[str] = []
    for k, (image, (row, column)) in enumerate(zip(images, cells * CELL, strict=True)):
        mask = np.zeros((SIZE, SIZE), np.uint8)
        mask[row : row + CELL, column : column + CELL] = 1
        mask[0, 0] = 255
        Image.fromarray(image).save(folder / "pictures" / f"{k:04}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{k:04}.png")
        lines.append(f"{k:04}.png,masks/{k:04}.png\n")
    (folder / "masks.csv").write_text("".join(lines))
