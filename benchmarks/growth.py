"""
How compilation grows with the graph: processor time a node, step by step, at two sizes.

    python benchmarks/growth.py [--kind chain ...] [--small 1000] [--large 100000] [--target onnxruntime]

Each kind of graph is compiled through the API at both sizes, each in a process of its own with the collector off, as in
the command; the peak of its memory is printed. A step whose time a node is more than `LIMIT` times as long in the large
graph grows faster than that.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

import qdialect
from qdialect.compiler.options import Options
from qdialect.report.compilation import Compilation

LIMIT = 1.5
LEAST = 5e-6
"""Seconds a node below which a step is not judged: a pass that does nothing looks at each node once."""


def _model(
    nodes: list[NodeProto],
    rows: int | None = None,
    shape: tuple[int, ...] = (2, 3),
    constants: Sequence[TensorProto] = (),
) -> ModelProto:
    """A model from `x` to `y` with as many rows, with a condition `c`, a scale `s` and a zero point `z`."""
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    parameters = [
        numpy_helper.from_array(np.array(0.02, np.float32), "s"),
        numpy_helper.from_array(np.array(13, np.uint8), "z"),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows or shape[0], *shape[1:]])]
    graph = helper.make_graph(nodes, "growth", inputs, outputs, [*parameters, *constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _pair(source: str, name: str) -> list[NodeProto]:
    """A QuantizeLinear and a DequantizeLinear of `source`, to `name`."""
    return [
        helper.make_node("QuantizeLinear", [source, "s", "z"], [f"{name}_q"]),
        helper.make_node("DequantizeLinear", [f"{name}_q", "s", "z"], [name]),
    ]


def chain(count: int) -> ModelProto:
    """Float ops without node names, one behind the other: what is named after its op has the same name."""
    nodes = [helper.make_node("Neg" if k % 2 else "Relu", [f"t{k}"], [f"t{k + 1}"]) for k in range(count)]
    nodes[0].input[0], nodes[-1].output[0] = "x", "y"
    return _model(nodes)


def quantized(count: int) -> ModelProto:
    """QuantizeLinear, DequantizeLinear and Sigmoid in turns."""
    nodes: list[NodeProto] = []
    source = "x"
    for k in range(count // 3):
        nodes += [*_pair(source, f"d{k}"), helper.make_node("Sigmoid", [f"d{k}"], [f"t{k}"])]
        source = f"t{k}"
    nodes[-1].output[0] = "y"
    return _model(nodes)


def arithmetic(count: int) -> ModelProto:
    """Quantization written as arithmetic, and Sin, in turns."""
    nodes: list[NodeProto] = []
    source = "x"
    for k in range(count // 7):
        for op, more, to in ROUNDING:
            attributes: dict[str, Any] = {} if to is None else {"to": to}
            nodes.append(helper.make_node(op, [source, *more], [f"t{len(nodes)}"], **attributes))
            source = nodes[-1].output[0]
        nodes.append(helper.make_node("Sin", [source], [f"y{k}"]))
        source = f"y{k}"
    nodes[-1].output[0] = "y"
    numbers = {"f": 50.0, "l": -128.0, "h": 127.0}
    constants = [numpy_helper.from_array(np.array(v, np.float32), n) for n, v in numbers.items()]
    return _model(nodes, constants=constants)


ROUNDING: list[tuple[str, list[str], int | None]] = [
    ("Mul", ["f"], None),
    ("Round", [], None),
    ("Clip", ["l", "h"], None),
    ("Cast", [], TensorProto.INT8),
    ("Cast", [], TensorProto.FLOAT),
    ("Mul", ["s"], None),
]
"""Nodes that quantize and dequantize by a scale of 0.02, with their further operands and the type of a Cast."""


def convolutions(count: int) -> ModelProto:
    """Quantized convolutions, each with weights of its own: five nodes each."""
    draw, nodes, constants, source = np.random.default_rng(0), list[NodeProto](), list[TensorProto](), "x"
    scale = numpy_helper.from_array(np.full(4, 0.01, np.float32), "ws")
    for k in range(count // 5):
        weight = draw.integers(-127, 128, (4, 4, 1, 1)).astype(np.int8)
        constants.append(numpy_helper.from_array(weight, f"w{k}"))
        nodes += _pair(source, f"d{k}")
        nodes.append(helper.make_node("DequantizeLinear", [f"w{k}", "ws"], [f"r{k}"], axis=0))
        nodes.append(helper.make_node("Conv", [f"d{k}", f"r{k}"], [f"c{k}"]))
        nodes.append(helper.make_node("Relu", [f"c{k}"], [source := f"t{k}"]))
    nodes[-1].output[0] = "y"
    return _model(nodes, shape=(1, 4, 3, 5), constants=[scale, *constants])


def shapes(count: int) -> ModelProto:
    """Layers that compute the shape that they reshape to, as exporters write them: ten nodes each."""
    indices = [numpy_helper.from_array(np.array(v, np.int64), n) for n, v in (("zero", [0]), ("one", [1]))]
    nodes, source = list[NodeProto](), "x"
    for k in range(count // 10):
        nodes.append(helper.make_node("Shape", [source], [f"s{k}"]))
        for name in ("zero", "one"):
            nodes.append(helper.make_node("Gather", [f"s{k}", name], [f"{name}{k}"]))
        nodes.append(helper.make_node("Mul", [f"zero{k}", f"one{k}"], [f"all{k}"]))
        nodes.append(helper.make_node("Reshape", [source, f"all{k}"], [f"flat{k}"]))
        nodes += _pair(f"flat{k}", f"d{k}")
        nodes.append(helper.make_node("Concat", [f"zero{k}", f"one{k}"], [f"list{k}"], axis=0))
        nodes.append(helper.make_node("Reshape", [f"d{k}", f"list{k}"], [f"r{k}"]))
        nodes.append(helper.make_node("Sigmoid", [f"r{k}"], [source := f"t{k}"]))
    nodes[-1].output[0] = "y"
    return _model(nodes, constants=indices)


def consumers(count: int) -> ModelProto:
    """One quantized value that every other node takes."""
    ends = [f"t{k}" for k in range(count)]
    nodes = [helper.make_node("Sigmoid", ["d"], [end]) for end in ends]
    nodes = [*_pair("x", "d"), *nodes, helper.make_node("Concat", ends, ["y"], axis=0)]
    return _model(nodes, 2 * count)


def _branch(op: str, source: str, name: str) -> GraphProto:
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])]
    return helper.make_graph([helper.make_node(op, [source], [name])], name, [], outputs)


def subgraphs(count: int) -> ModelProto:
    """An If on a quantized value, again and again: seven nodes each, but for the last."""
    nodes: list[NodeProto] = []
    source = "x"
    for k in range(count // 7 + 1):
        branches: dict[str, Any] = {
            "then_branch": _branch("Sigmoid", f"d{k}", f"then{k}"),
            "else_branch": _branch("Tanh", f"d{k}", f"else{k}"),
        }
        nodes += [*_pair(source, f"d{k}"), helper.make_node("If", ["c"], [f"t{k}"], **branches)]
        source = f"t{k}"
    nodes[-1].output[0] = "y"
    return _model(nodes)


KINDS: dict[str, Callable[[int], ModelProto]] = {
    "chain": chain,
    "quantized": quantized,
    "arithmetic": arithmetic,
    "convolutions": convolutions,
    "shapes": shapes,
    "consumers": consumers,
    "subgraphs": subgraphs,
}
MOST = {"consumers": 5_000, "subgraphs": 7_000}
"""Nodes, where the graph that the issue is about is smaller: 5,000 consumers of a value, 1,000 subgraphs."""


def measure(model: ModelProto, count: int, target: str) -> dict[str, float]:
    """Processor seconds a node of each step; passes of one name together."""
    spent: dict[str, float] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        start = time.process_time()
        work()
        spent[name] = spent.get(name, 0.0) + (time.process_time() - start) / count

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        onnx.save(model, path)
        start = time.process_time()
        module = qdialect.load(path)
        spent["load"] = (time.process_time() - start) / count
        running = Compilation(module, Options(target))
        for one in running.passes:
            timed(one.name, lambda one=one: running.step(one))
        timed("finish", running.finish)
        timed("save", lambda: qdialect.save(module, path))
    return spent


def measured(kind: str, count: int, target: str) -> tuple[dict[str, float], float]:
    """Of one graph, in this process alone: `measure`, and the most memory, in MiB."""
    gc.disable()
    measure(chain(100), 100, target)  # everything is imported now
    spent = measure(KINDS[kind](count), count, target)
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description="How compilation grows with the graph.")
    parser.add_argument("--kind", action="append", choices=KINDS, help="kinds of graph; all by default")
    parser.add_argument("--small", type=int, default=1_000, help="nodes of the small graph")
    parser.add_argument("--large", type=int, default=100_000, help="nodes of the large one")
    parser.add_argument("--target", default="onnxruntime")
    arguments = parser.parse_args()
    well = True
    for kind in arguments.kind or KINDS:
        sizes = arguments.small, min(arguments.large, MOST.get(kind, arguments.large))
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            rows = [pool.apply(measured, (kind, size, arguments.target)) for size in sizes]
        (small, _), (large, memory) = rows
        factor = sum(large.values()) / sum(small.values())
        well &= factor <= LIMIT
        print(
            f"{kind}: {sum(small.values()) * 1e6:.0f} us a node at {sizes[0]:,} nodes, "
            f"{sum(large.values()) * 1e6:.0f} us at {sizes[1]:,}: {factor:.2f}x; {memory:.0f} MiB at most",
            flush=True,
        )
        for name, seconds in sorted(large.items(), key=lambda item: -item[1]):
            if seconds > LEAST and seconds > LIMIT * small[name]:
                print(f"  {name}: {small[name] * 1e6:.1f} -> {seconds * 1e6:.1f} us a node")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
