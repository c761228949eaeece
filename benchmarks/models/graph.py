"""An ONNX graph being written."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Shape = tuple[int, ...]

MS = "com.microsoft"


class Graph:
    """Nodes and initializers in the order in which they were added; a tensor is its name."""

    def __init__(self):
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: npt.NDArray[Any] | np.generic) -> str:
        if name not in self.initializers:
            self.initializers[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def node(self, op: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        node = helper.make_node(op, inputs, [output], name=f"{output}_{op}", domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def save(self, path: Path, inputs: dict[str, Shape], outputs: dict[str, Shape | None]) -> None:
        """Write the model; all inputs and outputs are f32. Opset 13, which every runtime reads."""
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
            [
                helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                for name, shape in outputs.items()
            ],
            list(self.initializers.values()),
        )
        opsets = [helper.make_opsetid("", 13), helper.make_opsetid(MS, 1)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=8, producer_name="qdialect.benchmarks"
        )
        path.write_bytes(model.SerializeToString(deterministic=True))
