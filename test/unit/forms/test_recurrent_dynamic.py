"""DynamicQuantizeLSTM taken apart, against onnxruntime's kernel."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from recurrent_models import HIDDEN, model
from xdsl.context import Context
from xdsl.dialects.func import ReturnOp

import qdialect
from qdialect.dialects.onnx_types import shape_of
from qdialect.evaluation.session import run
from qdialect.ir.interface import main_of
from qdialect.onnx_io.opsets import import_domains
from qdialect.transforms.decompose import DecomposePass
from qdialect.transforms.infer_shapes import InferShapesPass
from qdialect.transforms.quantize_recurrent import QuantizeRecurrentPass

OPTIONS: list[dict[str, Any]] = [
    {"initial": True},
    {"biased": False},
    {"direction": "reverse", "clip": 0.7},
    {"direction": "bidirectional", "initial": True},
    {"input_forget": 1},
]


def quantized(tmp_path: Path, options: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """A model of one DynamicQuantizeLSTM, and what it is fed with."""
    onnx_model, feeds = model("LSTM", **options)
    onnx.save(onnx_model, tmp_path / "float.onnx")
    module = qdialect.load(tmp_path / "float.onnx")
    QuantizeRecurrentPass(least=HIDDEN).apply(Context(), module)
    import_domains(module)
    qdialect.save(module, tmp_path / "kernel.onnx")
    return tmp_path / "kernel.onnx", feeds


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_numbers_of_the_kernel(options: dict[str, Any], tmp_path: Path):
    """A last bit of what precedes a step's quantize may make it a step apart: more than 50 dB over all steps."""
    kernel, feeds = quantized(tmp_path, options)
    module = qdialect.load(kernel)
    DecomposePass(ops=("DynamicQuantizeLSTM",)).apply(Context(), module)
    module.verify()
    qdialect.save(module, tmp_path / "apart.onnx")
    kinds = {node.op_type for node in onnx.load(tmp_path / "apart.onnx").graph.node}
    assert {"DynamicQuantizeLinear", "MatMulInteger"} <= kinds
    assert not kinds & {"DynamicQuantizeLSTM", "MatMul", "Scan"}
    for a, b in zip(run(str(kernel), feeds), run(str(tmp_path / "apart.onnx"), feeds), strict=True):
        assert a.shape == b.shape
        assert 10 * np.log10((a**2).sum() / max(((a - b) ** 2).sum(), 1e-30)) > 50


def test_the_sizes_of_the_kernels_results_are_inferred(tmp_path: Path):
    kernel, feeds = quantized(tmp_path, {"direction": "bidirectional"})
    proto = onnx.load(kernel)
    del proto.graph.value_info[:]
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    module = qdialect.load(proto)
    InferShapesPass().apply(Context(), module)
    end = main_of(module).body.block.last_op
    assert isinstance(end, ReturnOp)
    assert [shape_of(v.type) for v in end.operands] == [a.shape for a in run(str(kernel), feeds)]
