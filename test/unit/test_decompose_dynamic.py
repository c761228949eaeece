"""What is quantized at run time and computed in float has the kernel's scale and integers, bit for bit."""

import numpy as np
import numpy.typing as npt
import pytest
from onnx import ModelProto
from onnx.parser import parse_model

from qdialect.compiler.compilation import compile
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.oracle.session import run

F32 = npt.NDArray[np.float32]


def model() -> ModelProto:
    """The scale, and the integers minus their zero point, which a sum with the weight 1 is."""
    return parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n,1] x) => (float s, float[n,1] f) <int8[1,1] w = {1}> {
            q, s, z = DynamicQuantizeLinear(x)
            p = MatMulInteger(q, w, z)
            f = Cast<to = 1>(p)
        }""")


RANDOM = np.random.default_rng(5)
RANGES: dict[str, F32] = {
    "zeros": np.zeros(3, np.float32),
    "zeros of both signs": np.array([0.0, -0.0], np.float32),
    "positive": np.array([1, 2, 3], np.float32),
    "negative": np.array([-1, -2.5], np.float32),
    "one positive number": np.full(3, 5, np.float32),
    "one negative number": np.full(3, -0.7, np.float32),
    "both": np.array([-1, 0, 0.3, 2], np.float32),
    **{f"random {k}": RANDOM.normal(size=99).astype(np.float32) * 10.0**k for k in range(-4, 5)},
    **{f"random, off zero {k}": RANDOM.uniform(k, 9, 99).astype(np.float32) for k in range(-9, 9)},
}


@pytest.mark.parametrize("name", RANGES)
def test_scale_and_integers_are_the_kernels(name: str):
    feeds = {"x": RANGES[name].astype(np.float32).reshape(-1, 1)}
    module = import_model(model())
    compile(module, "openvino")
    written = export_model(module)
    assert "DynamicQuantizeLinear" not in {node.op_type for node in written.graph.node}
    for ours, kernels in zip(run(written, feeds), run(model(), feeds), strict=True):
        np.testing.assert_array_equal(ours, kernels)


@pytest.mark.parametrize("number", [1e-45, 1e-40, -1e-38, 3e-37])
def test_a_step_that_is_no_normal_number_is_widened(number: float):
    """OpenVINO takes it for 0 where it divides by it, and for itself where it compares it."""
    module = import_model(model())
    compile(module, "openvino")
    scale, integers = run(export_model(module), {"x": np.full((2, 1), number, np.float32)})
    assert scale == np.finfo(np.float32).smallest_normal
    assert (integers == np.rint(np.float32(number) / scale)).all()
