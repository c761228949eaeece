"""What people quantize with: each writes a quantized model of a float one, calibrated on given feeds."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx import ModelProto, NodeProto, helper, numpy_helper

Array = npt.NDArray[Any]
Feed = dict[str, Array]
LINEAR = ("Conv", "ConvTranspose", "Gemm", "MatMul")


class Reader:
    """Feeds, one after the other, for onnxruntime's calibration."""

    def __init__(self, feeds: Sequence[Feed]):
        self.left: Iterator[Feed] = iter(feeds)

    def get_next(self) -> Feed | None:
        """The next one, or None behind the last."""
        return next(self.left, None)


def onnxruntime_static(model: Path, feeds: Sequence[Feed], output: Path, form: str, signed: bool) -> None:
    """onnxruntime's static quantizer on the model as it prepares it: weights i8 for each channel."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready = output.with_suffix(".ready.onnx")
    quant_pre_process(str(model), str(ready), skip_symbolic_shape=True)
    quantize_static(
        str(ready),
        str(output),
        Reader(feeds),  # pyright: ignore[reportArgumentType]
        quant_format=QuantFormat[form],
        per_channel=True,
        activation_type=QuantType.QInt8 if signed else QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        extra_options={"ActivationSymmetric": signed},
    )
    ready.unlink()


def nncf_static(model: Path, feeds: Sequence[Feed], output: Path) -> None:
    """NNCF's post-training quantization; models with attention are told to it."""
    import nncf  # pyright: ignore[reportMissingImports]

    proto = onnx.load(str(model))
    attends = any(node.op_type == "Softmax" for node in proto.graph.node)
    kind: Any = nncf.ModelType.TRANSFORMER if attends else None
    done = nncf.quantize(proto, nncf.Dataset(list(feeds)), model_type=kind, subset_size=len(feeds))
    onnx.save(done, str(output))


def _ranges(model: ModelProto, names: Sequence[str], feeds: Sequence[Feed]) -> dict[str, float]:
    """The largest magnitude of each of these tensors."""
    more = onnx.ModelProto()
    more.CopyFrom(model)
    known = {each.name for each in more.graph.output} | {each.name for each in more.graph.input}
    more.graph.output.extend(onnx.ValueInfoProto(name=each) for each in names if each not in known)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    one = ort.InferenceSession(more.SerializeToString(), options, providers=["CPUExecutionProvider"])
    largest = dict.fromkeys(names, 1e-6)
    for feed in feeds:
        computed = [each for each in names if each not in feed]
        values = dict(zip(computed, one.run(computed, feed), strict=True)) | feed
        largest |= {each: max(largest[each], float(np.abs(np.asarray(values[each])).max())) for each in names}
    return largest


def tensorrt(model: Path, feeds: Sequence[Feed], output: Path) -> None:
    """
    What TensorRT's toolkits write: i8 without zero points in front of each linear op, the weight float in front of a
    QuantizeLinear for each channel, BatchNormalization left as it is, one operand of a residual Add quantized too.
    """
    proto = onnx.load(str(model))
    weights = {each.name: numpy_helper.to_array(each) for each in proto.graph.initializer}
    made_by = {name: node for node in proto.graph.node for name in node.output}
    wanted: list[tuple[NodeProto, int]] = []
    for node in proto.graph.node:
        if node.op_type in LINEAR:
            wanted += [(node, at) for at in (0, 1)]
        elif node.op_type == "Add" and all(each in made_by for each in node.input):
            wanted.append((node, 1))
    ranges = _ranges(proto, sorted({n.input[at] for n, at in wanted} - weights.keys()), feeds)
    added: dict[str, list[NodeProto]] = {}
    for node, at in wanted:
        name, axis = node.input[at], 1
        if name in weights and at == 1:
            axis = (
                0
                if node.op_type in ("Conv", "Gemm")
                else weights[name].ndim - 1
                if node.op_type == "MatMul"
                else 1
            )
            others = tuple(k for k in range(weights[name].ndim) if k != axis)
            scale = np.maximum(np.abs(weights[name]).max(others), 1e-6) / 127
        elif name in weights:
            scale = np.abs(weights[name]).max() / 127
        else:
            scale = np.float32(ranges[name] / 127)
        node.input[at] = _pair(proto, name, np.asarray(scale, np.float32), axis, added)
    nodes = [each for node in proto.graph.node for each in (*_before(node, added), node)]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    onnx.save(proto, str(output))


def _pair(proto: ModelProto, name: str, scale: Array, axis: int, added: dict[str, list[NodeProto]]) -> str:
    """The dequantized value of `name`, one pair for all that read it."""
    result = f"{name}_dequantized"
    if result not in added:
        zeros = np.zeros(scale.shape, np.int8)
        for suffix, array in (("scale", scale), ("zero_point", zeros)):
            proto.graph.initializer.append(numpy_helper.from_array(array, f"{name}_{suffix}"))
        along: dict[str, Any] = {"axis": axis} if scale.ndim else {}
        others = [f"{name}_scale", f"{name}_zero_point"]
        added[result] = [
            helper.make_node("QuantizeLinear", [name, *others], [f"{name}_quantized"], **along),
            helper.make_node("DequantizeLinear", [f"{name}_quantized", *others], [result], **along),
        ]
    return result


def _before(node: NodeProto, added: dict[str, list[NodeProto]]) -> list[NodeProto]:
    """The pairs that stand in front of a node, each in front of the first that reads it."""
    return [each for name in node.input for each in added.pop(name, [])]


QUANTIZERS: dict[str, Callable[[Path, Sequence[Feed], Path], None]] = {
    "u8s8": lambda model, feeds, output: onnxruntime_static(model, feeds, output, "QDQ", False),
    "s8s8": lambda model, feeds, output: onnxruntime_static(model, feeds, output, "QDQ", True),
    "qop": lambda model, feeds, output: onnxruntime_static(model, feeds, output, "QOperator", False),
    "nncf": nncf_static,
    "trt": tensorrt,
}
KEEPS_NORMS = ("trt",)
"""Of these quantizers a BatchNormalization is left to quantize around."""
