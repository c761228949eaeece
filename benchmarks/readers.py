"""
Reads compiled files as other runtimes do, apart from this project's rules, and compares with the verdict.

    python benchmarks/readers.py MODEL.onnx ... [--random N] [--start SEED] [--targets tensorrt,openvino]

TensorRT: operators, types, scales, zero points and outputs by onnx-tensorrt's documentation, on the file's protobuf.
OpenVINO: `compile_model`, in a process of its own, where the package is installed. onnxruntime: a session without
optimizations. generic: domains. A line for each file that a runtime refuses and of which the verdict names nothing,
and for each of which it names what the runtime reads. Status 1 if there is one of the former.
"""

import argparse
import importlib.util
import multiprocessing
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper

import qdialect
from graphs.quantized import any_case

ABSENT = frozenset(
    "Affine AffineGrid Bernoulli BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im Compress "
    "ConcatFromSequence ConvInteger Crop DFT Det DynamicQuantizeLinear ImageDecoder MatMulInteger MaxRoiPool MaxUnpool "
    "MelWeightMatrix Multinomial NegativeLogLikelihoodLoss Optional OptionalGetElement OptionalHasElement QLinearConv "
    "QLinearMatMul RegexFullMatch SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert "
    "SequenceLength SequenceMap SoftmaxCrossEntropyLoss SplitToSequence StringConcat StringNormalizer StringSplit "
    "TfIdfVectorizer Unique".split()
)
"""ONNX's operators that TensorRT's parser does not have."""
ONE_OUTPUT = frozenset(["MaxPool", "LayerNormalization", "Attention"])
"""Operators of which TensorRT's parser takes the first output alone."""
STORED = frozenset(["INT8", "INT4", "FLOAT8E4M3FN", "FLOAT4E2M1"])
"""Types between QuantizeLinear and DequantizeLinear in TensorRT."""
INSIDE = frozenset("INT8 UINT8 INT16 UINT16 INT4 UINT4 STRING UINT32 UINT64".split())
"""Types that no other operator of TensorRT takes."""
SECONDS = 120
"""Time for OpenVINO to compile one file."""


def subgraphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """A graph and those inside of it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from subgraphs(attribute.g)


class Tensors(NamedTuple):
    """What a file states of its tensors, by name."""

    constants: dict[str, onnx.TensorProto]
    types: dict[str, str]
    ends: set[str]
    """Inputs and outputs of the whole graph."""


def tensors_of(model: onnx.ModelProto) -> Tensors:
    """The constants and types of a file, those in subgraphs too."""
    constants: dict[str, onnx.TensorProto] = {}
    types: dict[str, str] = {}
    spelled = onnx.TensorProto.DataType.Name
    for graph in subgraphs(model.graph):
        constants |= {one.name: one for one in graph.initializer}
        for node in (one for one in graph.node if one.op_type == "Constant"):
            for value in (one.t for one in node.attribute if one.name == "value"):
                constants[node.output[0]] = value
        known = [*graph.value_info, *graph.input, *graph.output]
        types |= {
            v.name: spelled(v.type.tensor_type.elem_type) for v in known if v.type.HasField("tensor_type")
        }
    types |= {name: spelled(one.data_type) for name, one in constants.items()}
    return Tensors(constants, types, {v.name for v in (*model.graph.input, *model.graph.output)})


def tensorrt(model: onnx.ModelProto) -> Iterator[str]:
    """What TensorRT's parser refuses of a file."""
    tensors = tensors_of(model)
    for graph in subgraphs(model.graph):
        for node in graph.node:
            if node.domain not in ("", "ai.onnx"):
                yield f"domain {node.domain}.{node.op_type}"
            elif node.op_type in ABSENT:
                yield f"operator {node.op_type}"
            elif node.op_type in ("QuantizeLinear", "DequantizeLinear"):
                yield from _cast(node, tensors)
            elif node.op_type != "Constant":
                named = [name for name in (*node.input, *node.output) if name not in tensors.ends]
                wrong = INSIDE & {tensors.types.get(name, "") for name in named}
                yield from (f"{node.op_type} on {one}" for one in sorted(wrong)[:1])
                if node.op_type in ONE_OUTPUT and any(node.output[1:]):
                    yield f"{node.op_type} with more than one output"


def _cast(node: onnx.NodeProto, tensors: Tensors) -> Iterator[str]:
    """What the parser asserts of a QuantizeLinear or DequantizeLinear."""
    stored = node.output[0] if node.op_type == "QuantizeLinear" else node.input[0]
    zero_name = node.input[2] if len(node.input) > 2 else ""
    kind = tensors.types.get(stored) or tensors.types.get(zero_name)
    if kind is not None and kind not in STORED:
        yield f"{node.op_type} of {kind}"
    scale, zero = tensors.constants.get(node.input[1]), tensors.constants.get(zero_name)
    if scale is None:
        yield f"{node.op_type} with a computed scale"
        return
    values = numpy_helper.to_array(scale).astype(np.float32)
    if not ((values > 0) & np.isfinite(values)).all():
        yield f"{node.op_type} with a scale that is not positive"
    if values.size > 1 and node.input[0] not in tensors.constants:
        yield f"{node.op_type} of an activation with several scales"
    if zero_name and (zero is None or numpy_helper.to_array(zero).astype(np.float32).any()):
        yield f"{node.op_type} with a zero point"


def generic(model: onnx.ModelProto) -> Iterator[str]:
    """Domains of operators that are not ONNX's."""
    for graph in subgraphs(model.graph):
        yield from (
            f"domain {node.domain}" for node in graph.node if node.domain not in ("", "ai.onnx", "ai.onnx.ml")
        )


def onnxruntime(model: onnx.ModelProto) -> Iterator[str]:
    """The message with which a session is refused, if it is."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    except Exception as error:  # its exceptions share no base class
        yield str(error).replace("\n", " ")[:160]


def _compile(data: bytes, results: Any) -> None:
    core: Any = import_module("openvino").Core()
    try:
        core.compile_model(core.read_model(data), "CPU")
        results.put("")
    except Exception as error:  # likewise
        results.put(str(error).replace("\n", " ")[-200:] or "refused")


def openvino(model: onnx.ModelProto) -> Iterator[str]:
    """The message with which OpenVINO does not compile a file, or that its process ended."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_compile, args=(model.SerializeToString(), results))
    process.start()
    process.join(SECONDS)
    if process.exitcode is None:
        process.kill()
        yield f"no answer in {SECONDS} seconds"
    elif process.exitcode:
        yield f"the process ended with {process.exitcode}"
    elif message := results.get(timeout=5):
        yield message


READERS: dict[str, Callable[[onnx.ModelProto], Iterator[str]]] = {
    "tensorrt": tensorrt,
    "openvino": openvino,
    "generic": generic,
    "onnxruntime": onnxruntime,
}


class Reading(NamedTuple):
    """What a runtime refuses of a compiled file, and what the verdict names."""

    refused: list[str]
    named: list[str]


def reading(source: str | onnx.ModelProto, target: str) -> Reading:
    """A model, compiled for a target, read as its runtime does. Raises as `qdialect.load` and `compile` do."""
    module = qdialect.load(source)
    report = qdialect.compile(module, target=target)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/result.onnx"
        qdialect.save(module, path)
        written = onnx.load(path)
    named = [f"{one.op} '{one.node}': {one.blocked.message}" for one in report.unread]
    return Reading([*dict.fromkeys(READERS[target](written))], [*named, *report.unknown])


def cases(paths: list[str], count: int, start: int) -> Iterator[tuple[str, str | onnx.ModelProto]]:
    """Models with their names: files, then so many random graphs."""
    yield from ((path, path) for path in paths)
    yield from ((f"graph {seed}", any_case(seed).model) for seed in range(start, start + count))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--start", type=int, default=0, metavar="SEED")
    parser.add_argument("--targets", default=",".join(READERS))
    chosen = parser.parse_args()
    targets = chosen.targets.split(",")
    if importlib.util.find_spec("openvino") is None:
        targets = [name for name in targets if name != "openvino"]
    counts: Counter[str] = Counter()
    unnamed = 0
    for name, model in cases(chosen.models, chosen.random, chosen.start):
        for target in targets:
            try:
                read = reading(model, target)
            except Exception as error:  # not what this looks for
                counts[f"{target}: not compiled"] += 1
                print(f"{name}, {target}: not compiled: {type(error).__name__}: {error}"[:200])
                continue
            is_read = "refused" if read.refused else "read"
            counts[f"{target}: {is_read}, {'named' if read.named else 'nothing named'}"] += 1
            if read.refused and not read.named:
                unnamed += 1
                print(f"{name}, {target}: refused, nothing named: {'; '.join(read.refused[:3])}")
            elif read.named and not read.refused:
                print(f"{name}, {target}: read, but named: {read.named[0]}")
        sys.stdout.flush()
    print("\n".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    return min(unnamed, 1)


if __name__ == "__main__":
    raise SystemExit(main())
