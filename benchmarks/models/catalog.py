"""
Models to measure with, from seeded random numbers: nothing to download, on one machine always the same bytes.

    python benchmarks/write_models.py FOLDER      # writes one of each, the large ones small
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto

from models.dialects import QatBatchNorm, Qdq, QOperator
from models.graph import Graph
from models.resnet50 import random, write_resnet50


def resnet50_qdq(path: Path) -> None:
    """ResNet-50 as onnxruntime's quantizer writes it: QDQ, u8 activations, s8 weights per channel; 26 MB."""
    write_resnet50(model := Qdq(), path, model.start)


def resnet50_qat_bn(path: Path) -> None:
    """ResNet-50 trained quantization-aware, with float weights and batch normalizations left in; 102 MB."""
    write_resnet50(QatBatchNorm(), path)


def resnet50_qoperator(path: Path, signed: bool) -> None:
    """ResNet-50 in the operator form (QLinearConv, QLinearAdd, ...), u8 activations or s8 twins; 26 MB."""
    write_resnet50(model := QOperator(signed), path, model.start)


def chain(path: Path, n: int) -> None:
    """`n` layout ops in a row between a dequantize and a quantize, on 2x3x5 elements: compile time per op."""
    graph = Graph()
    parameters = [graph.constant("scale", np.float32(0.05)), graph.constant("zero_point", np.uint8(117))]
    axis = graph.constant("axis", np.array([1], np.int64))
    shape = graph.constant("shape", np.array([3, 5, 2], np.int64))
    x = graph.node("QuantizeLinear", ["input", *parameters], "input_quantized")
    x = graph.node("DequantizeLinear", [x, *parameters], "input_dequantized")
    for i in range(n):
        match i % 4:
            case 0:
                x = graph.node("Transpose", [x], f"t{i}", perm=[1, 2, 0])
            case 1:
                x = graph.node("Unsqueeze", [x, axis], f"t{i}")
            case 2:
                x = graph.node("Squeeze", [x, axis], f"t{i}")
            case _:
                x = graph.node("Reshape", [x, shape], f"t{i}")
    x = graph.node("QuantizeLinear", [x, *parameters], "output_quantized")
    graph.node("DequantizeLinear", [x, *parameters], "output")
    graph.save(path, {"input": (2, 3, 5)}, {"output": None})


SIDE = 4096
LAYER_BYTES = SIDE * SIDE


def large_external(path: Path, gigabytes: float) -> None:
    """
    MatMuls on 1 x 4096 activations, their s8 weights (per column) in PATH.data beside the model. One weight
    of 17 MB is in memory at a time, whatever the size.
    """
    graph = Graph()
    count = max(1, round(gigabytes * 1e9 / LAYER_BYTES))
    # Uniform integers in -127..127 have a deviation of 73.3: the product is as large as its input.
    scales = random("large").uniform(0.9, 1.1, SIDE) / (73.3 * np.sqrt(SIDE))
    weight = [
        graph.constant("weight_scale", scales.astype(np.float32)),
        graph.constant("weight_zero_point", np.zeros(SIDE, np.int8)),
    ]
    parameters = [graph.constant("scale", np.float32(10 / 255)), graph.constant("zero_point", np.uint8(128))]
    x = "input"
    for i in range(count):
        q = graph.node("QuantizeLinear", [x, *parameters], f"x{i}_quantized")
        x = graph.node("DequantizeLinear", [q, *parameters], f"x{i}")
        w = graph.node("DequantizeLinear", [f"weight{i}", *weight], f"weight{i}_dequantized", axis=1)
        x = graph.node("MatMul", [x, w], f"y{i}" if i < count - 1 else "output")
        graph.initializers[f"weight{i}"] = external(f"weight{i}", path.name + ".data", i * LAYER_BYTES)
    with open(f"{path}.data", "wb") as file:
        for block in blocks(count):
            file.write(block.data)
    graph.save(path, {"input": (1, SIDE)}, {"output": (1, SIDE)})


def blocks(count: int) -> Iterator[npt.NDArray[np.int8]]:
    """`count` weights, s8 [4096, 4096], each of them the only one in memory."""
    for i in range(count):
        yield random(f"large{i}").integers(-127, 128, (SIDE, SIDE), np.int8)


def external(name: str, location: str, offset: int) -> onnx.TensorProto:
    """An s8 [4096, 4096] initializer whose bytes are in the file `location`."""
    tensor = TensorProto(name=name, data_type=TensorProto.INT8, dims=[SIDE, SIDE])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": offset, "length": LAYER_BYTES}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def write_resnets(folder: Path) -> list[Path]:
    """ResNet-50 in each dialect; the files."""
    names = ["qdq", "qat_bn", "qoperator_u8", "qoperator_s8"]
    paths = [folder / f"resnet50_{name}.onnx" for name in names]
    resnet50_qdq(paths[0])
    resnet50_qat_bn(paths[1])
    resnet50_qoperator(paths[2], signed=False)
    resnet50_qoperator(paths[3], signed=True)
    return paths


def write_all(folder: Path) -> None:
    """One of each into `folder`, which is created; the large ones small."""
    folder.mkdir(parents=True, exist_ok=True)
    write_resnets(folder)
    chain(folder / "chain.onnx", 10_000)
    large_external(folder / "large.onnx", 0.1)
