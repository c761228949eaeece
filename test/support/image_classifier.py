"""A small classifier of images in class folders, trained in closed form: what tests of accuracy measure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from onnx_models import onnx_model
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SIZE, CLASSES, FILTERS = 32, 5, 64
Floats = npt.NDArray[np.float32]


def pictures(
    count: int, seed: int = 0, noise: float = 85.0
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Images (count, SIZE, SIZE, 3) of gratings in the directions of their classes, with noise, and the classes."""
    draw = np.random.default_rng(seed)
    classes = draw.integers(0, CLASSES, count)
    angles = np.pi * classes / CLASSES
    y, x = np.mgrid[:SIZE, :SIZE]
    phase = draw.uniform(0, 2 * np.pi, count)
    waves = np.cos(angles)[:, None, None] * x + np.sin(angles)[:, None, None] * y
    waves = np.sin(1.3 * waves + phase[:, None, None])
    tint = draw.uniform(0.3, 1.0, (count, 1, 1, 3))
    values = 127 + 60 * waves[..., None] * tint + draw.normal(0, noise, (count, SIZE, SIZE, 3))
    return np.clip(np.rint(values), 0, 255).astype(np.uint8), classes


def normalized(images: npt.NDArray[np.uint8]) -> Floats:
    """As the model takes them, (count, 3, SIZE, SIZE)."""
    values = (images.astype(np.float32) / 255 - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    return np.ascontiguousarray(values.transpose(0, 3, 1, 2), np.float32)


def write_folders(folder: Path, images: npt.NDArray[np.uint8], classes: npt.NDArray[np.int64]) -> None:
    """Images as PNG in class folders `class0`, `class1`, ..."""
    for k, (image, one) in enumerate(zip(images, classes, strict=True)):
        place = folder / f"class{one}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(place / f"{k:04}.png")


def features(seed: int = 1) -> onnx.ModelProto:
    """Two layers of random filters, and the mean over the image: (n, FILTERS)."""
    draw = np.random.default_rng(seed)
    first = draw.normal(0, 0.2, (32, 3, 5, 5)).astype(np.float32)
    second = draw.normal(0, 0.1, (FILTERS, 32, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "first", pads=[2, 2, 2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "u"], ["d"], "second", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["d"], ["s"]),
        helper.make_node("GlobalAveragePool", ["s"], ["m"]),
        helper.make_node("Flatten", ["m"], ["f"]),
    ]
    ends = {"x": ["n", 3, SIZE, SIZE]}, {"f": ["n", FILTERS]}
    return onnx_model(nodes, *ends, {"w": first, "u": second}, opset=13)


def trained(count: int = 400, seed: int = 2) -> onnx.ModelProto:
    """The model of `x` (n, 3, SIZE, SIZE) to `scores` (n, CLASSES): a ridge regression on the features."""
    import onnxruntime

    model = features()
    images, classes = pictures(count, seed)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = np.asarray(session.run(None, {"x": normalized(images)})[0], np.float64)
    middle, spread = found.mean(0), found.std(0)
    inputs = (found - middle) / spread
    wanted = np.eye(CLASSES)[classes] - 1 / CLASSES
    head = (
        np.linalg.solve(inputs.T @ inputs + 1e-2 * count * np.eye(FILTERS), inputs.T @ wanted)
        / spread[:, None]
    )
    tensors = {"v": head.astype(np.float32), "b": (-middle @ head).astype(np.float32)}
    model.graph.node.append(helper.make_node("Gemm", ["f", "v", "b"], ["scores"], "head"))
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in tensors.items())
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["n", CLASSES]))
    return model


def top_1(path: str, images: npt.NDArray[np.uint8], classes: npt.NDArray[np.int64]) -> float:
    """By hand: what onnxruntime says of each image."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    right = 0
    for image, one in zip(images, classes, strict=True):
        right += int(np.asarray(session.run(None, {"x": normalized(image[None])})[0]).argmax()) == int(one)
    return right / len(classes)
