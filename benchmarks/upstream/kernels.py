"""
Each op of a graph in linalg against onnxruntime's own integer kernel of it, on the tensors that linalg computes.

Where outputs differ, this tells a wrong op from one that rounds a few elements otherwise, which later layers multiply.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx
from onnx import helper

import qdialect
from qdialect.evaluation.observing import names_of
from qdialect.evaluation.session import session
from qdialect.rewriting.manager import PassManager
from qdialect.transforms.lower_to_qdq import LowerToQdqPass
from qdialect.transforms.lower_to_qoperator import LowerToQoperatorPass
from upstream.layers import Exposed
from upstream.models import Agreement, Array, Feeds, agreement


def by_kind(graph: Exposed, feeds: Feeds, tensors: Sequence[Array], folder: Path) -> dict[str, Agreement]:
    """
    How alike the results of each kind of op are, over all ops of the kind. tensors: of `graph.values`. A kind is named
    with how many ops of it there are. folder: for files.
    """
    module, path = graph.before.clone(), folder / "kernels.onnx"
    PassManager().run([LowerToQoperatorPass(), LowerToQdqPass()], module)
    qdialect.save(module, path)
    proto: Any = onnx.load(str(path))
    makers = {name: node for node in proto.graph.node for name in node.output}
    names, known, kinds = names_of(graph.before), dict(feeds), dict[str, str]()
    for value, array in zip(graph.values, tensors, strict=True):
        for name in names.get(value, ()):
            if name in makers:
                known[name], kinds[name] = array, value.owner.name.partition(".")[2]  # pyright: ignore
                break
    pairs: dict[str, list[tuple[Sequence[Array], Sequence[Array]]]] = defaultdict(list)
    for name, kind in kinds.items():
        (wanted,) = _run(_of(proto, makers, name, known), known, folder / "kernel.onnx")
        pairs[kind].append(([known[name]], [wanted]))
    return {f"{len(rows)} {kind}": agreement(rows) for kind, rows in pairs.items()}


def _of(proto: Any, makers: Mapping[str, Any], name: str, known: Mapping[str, Array]) -> Any:
    """The part of a model that computes one tensor from known ones."""
    constants = {one.name: one for one in proto.graph.initializer}
    needed, waiting = set[str](), [name]
    while waiting:
        tensor = waiting.pop()
        if tensor not in needed:
            needed.add(tensor)
            waiting += [i for i in makers[tensor].input if i and i not in constants and i not in known]
    nodes = [node for node in proto.graph.node if needed.intersection(node.output)]
    read = dict.fromkeys(i for node in nodes for i in node.input)
    inputs = [
        helper.make_tensor_value_info(i, helper.np_dtype_to_tensor_dtype(known[i].dtype), known[i].shape)
        for i in read
        if i in known
    ]
    held = [constants[i] for i in read if i in constants]
    graph = helper.make_graph(nodes, "part", inputs, [helper.make_empty_tensor_value_info(name)], held)
    return helper.make_model(graph, opset_imports=proto.opset_import, ir_version=proto.ir_version)


def _run(model: Any, known: Mapping[str, Array], path: Path) -> list[Array]:
    path.write_bytes(model.SerializeToString())
    runner = session(str(path), optimize=True)
    return list(runner.run(None, {one.name: known[one.name] for one in runner.get_inputs()}))
