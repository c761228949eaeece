"""
A compiler that embeds qdialect: a model in memory in, one in memory out, with what was done as data.

    python examples/embed.py examples/digits_qdq.onnx
"""

import sys
from pathlib import Path

from onnx import ModelProto

import qdialect


def compiled(model: ModelProto) -> ModelProto:
    """The model for onnxruntime; what stays in float is said, with the reason, by cost."""
    report = qdialect.compile(model, target="onnxruntime", exactness="close")
    print(report)
    for layer in qdialect.explain(model, target="onnxruntime"):
        reasons = "; ".join(f"{one.blocked.message}: {one.blocked.fix}" for one in layer.reasons)
        print(f"{layer.operator} {layer.node}, {layer.macs} multiply-adds in float: {reasons}")
    return qdialect.to_model(report.module)


def scales(model: ModelProto) -> dict[str, list[float]]:
    """The scales of every quantized tensor, by name, as the passes of one's own see them."""
    module = qdialect.load(model)
    for remark in qdialect.run(module, "fold-identity,fold-constants,raise-qdq,sink-dequantize"):
        print(remark)
    found: dict[str, list[float]] = {}
    for op in module.walk():
        for value in op.results:
            if (kind := qdialect.quantized_type(value)) is not None:
                found[qdialect.value_name(value)] = kind.scales.ravel().tolist()
    return found


if __name__ == "__main__":
    path = sys.argv[1] if sys.argv[1:] else Path(__file__).with_name("digits_qdq.onnx")
    source = ModelProto.FromString(Path(path).read_bytes())
    print(f"qdialect {qdialect.__version__}: {len(scales(source))} quantized tensors")
    result = compiled(source)
    print(*sorted({node.op_type for node in result.graph.node}))
