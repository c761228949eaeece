"""Models of one quantized convolution."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
from onnx_models import onnx_model
from xdsl.context import Context

import qdialect
from qdialect.evaluation import session as oracle
from qdialect.transforms import get_all_passes

Array = npt.NDArray[Any]


RAISE = ("raise-qdq", "fold-constants", "fuse-quantized", "rescale-bias")


LOWER = ("rescale-bias", "lower-to-qoperator", "lower-to-qdq")


# operand, weight, attributes: kernels wider and narrower than a pixel's neighbours, uneven pads, strides, dilations
Case = tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]


CASES: list[Case] = [
    ((2, 3, 5, 8), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    ((1, 1, 4, 12), (3, 1, 2, 5), {"pads": [0, 3, 1, 1]}),
    ((1, 2, 3, 16), (2, 2, 1, 1), {}),
    ((2, 3, 6, 12), (5, 3, 3, 3), {"strides": [2, 2], "pads": [0, 0, 1, 1]}),
    ((1, 2, 7, 24), (3, 2, 3, 2), {"strides": [1, 3], "pads": [1, 1, 0, 0]}),
    ((1, 2, 9, 8), (3, 2, 2, 3), {"dilations": [3, 2], "pads": [2, 2, 1, 2]}),
    ((1, 3, 12), (4, 3, 4), {"strides": [2], "pads": [2, 1]}),
    ((1, 2, 3, 4, 8), (3, 2, 2, 3, 3), {"pads": [1, 1, 1, 0, 1, 1]}),
]


def run(path: Path, x: Array) -> Array:
    return oracle.run(str(path), {"x": x})[0]


def model(
    case: int | Case, *, quantized: bool, weight_zero: int = 0, opset: int = 13
) -> tuple[onnx.ModelProto, Array]:
    """Casts, Conv with int8 weights and a bias, and casts behind it if the result is quantized; its input."""
    x, w, attributes = CASES[case] if isinstance(case, int) else case
    rng = np.random.default_rng(case if isinstance(case, int) else 5)
    scales, zeros = rng.uniform(0.002, 0.02, w[0]), np.full(w[0], weight_zero)
    along: dict[str, Any] = {"axis": 0}
    if opset < 13:  # which is when scales along an axis came
        scales, zeros, along = scales[0], zeros[0], {}
    constants = {
        "xs": np.float32(0.02), "xz": np.uint8(117), "ys": np.float32(0.05), "yz": np.uint8(121),
        "w": rng.integers(-128, 128, w).astype(np.int8), "ws": np.float32(scales), "wz": np.int8(zeros),
        "b": rng.normal(size=w[0]).astype(np.float32),
    }  # fmt: skip
    nodes = [
        oh.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        oh.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
        oh.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"], **along),
        oh.make_node("Conv", ["d", "v", "b"], ["c" if quantized else "y"], **attributes),
    ]
    if quantized:
        nodes += [
            oh.make_node("QuantizeLinear", ["c", "ys", "yz"], ["e"]),
            oh.make_node("DequantizeLinear", ["e", "ys", "yz"], ["y"]),
        ]
    proto = onnx_model(
        nodes,
        {"x": (1, x)},
        {"y": (1, [None] * len(x))},
        {k: v for k, v in constants.items() if quantized or k[0] != "y"},
        opset=opset,
        ir_version=8,
    )
    return onnx.shape_inference.infer_shapes(proto), rng.uniform(-2.5, 2.9, x).astype(np.float32)


def written(proto: onnx.ModelProto, folder: Path, *passes: Any) -> Path:
    """The model after raising, these passes, and lowering."""
    path = folder / "model.onnx"
    onnx.save(proto, path)
    module = qdialect.load(path)
    for one in (*RAISE, *passes, *LOWER):
        (get_all_passes()[one]()() if isinstance(one, str) else one).apply(Context(), module)
    module.verify()
    qdialect.save(module, folder / "after.onnx")
    return folder / "after.onnx"
