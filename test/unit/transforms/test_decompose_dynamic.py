"""What is quantized at run time and computed in float has the kernel's scale and integers, bit for bit."""

import numpy as np
import numpy.typing as npt
import pytest
from onnx import ModelProto, TensorProto
from onnx.numpy_helper import from_array
from onnx.parser import parse_model

from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model

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


def product(inputs: int, outputs: int, rows: str = "2", zero: str = "") -> ModelProto:
    """A sum over so many inputs, its weight an input of the text's reader."""
    point = ", wz" if zero else ""
    return parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[{rows},{inputs}] x) => (float[{rows},{outputs}] y) <{zero}float k = {{0.125}}> {{
            q, s, z = DynamicQuantizeLinear(x)
            p = MatMulInteger(q, w, z{point})
            f = Cast<to = 1>(p)
            t = Mul(s, k)
            y = Mul(f, t)
        }}""")


@pytest.mark.parametrize("zero", ["", "uint8 wz = {131}, "])
@pytest.mark.parametrize("offset", [-3.0, 0.0, 3.0])
def test_a_large_sum_is_of_integers_and_the_same(zero: str, offset: float):
    original = product(256, 256, "n", zero)
    low, dtype = (8, np.uint8) if zero else (-127, np.int8)
    weight = RANDOM.integers(low, low + 247, (256, 256)).astype(dtype)
    original.graph.initializer.append(from_array(weight, "w"))
    feeds = {"x": RANDOM.normal(size=(5, 256)).astype(np.float32) + np.float32(offset)}
    (kernels,) = run(original, feeds)
    module = import_model(original)
    compile(module, "openvino")
    written = export_model(module)
    stored = {one.name: one for one in written.graph.initializer}
    assert any(one.data_type == TensorProto.INT8 and one.dims[1:] == [256] for one in stored.values())
    assert not any(
        one.data_type == TensorProto.FLOAT and list(one.dims) == [256, 256] for one in stored.values()
    )
    (ours,) = run(written, feeds)
    np.testing.assert_allclose(ours, kernels, rtol=0, atol=1e-5 * np.abs(kernels).max())


@pytest.mark.parametrize(("largest", "is_whole"), [(100, True), (127, False)])
def test_a_sum_that_may_exceed_int32_stays_in_float(largest: int, is_whole: bool):
    """70,000 inputs of 255 and 100 are 1.8e9, of 127 2.3e9."""
    original = product(70_000, 1)
    original.graph.initializer.append(from_array(np.full((70_000, 1), largest, np.int8), "w"))
    module = import_model(original)
    compile(module, "openvino")
    ops = [node.op_type for node in export_model(module).graph.node]
    assert ("QuantizeLinear" in ops) is is_whole


@pytest.mark.parametrize("pads", ["pads = [1, 1, 1, 1]", 'auto_pad = "SAME_LOWER", strides = [2, 2]'])
def test_a_convolution_is_padded_with_the_zero_point(pads: str):
    original = parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[n,16,12,12] x) => (float[n,16,h,w] y) {{
            q, s, z = DynamicQuantizeLinear(x)
            p = ConvInteger<{pads}>(q, w, z)
            f = Cast<to = 1>(p)
            y = Mul(f, s)
        }}""")
    weight = RANDOM.integers(-127, 128, (16, 16, 3, 3)).astype(np.int8)
    original.graph.initializer.append(from_array(weight, "w"))
    feeds = {"x": RANDOM.normal(size=(2, 16, 12, 12)).astype(np.float32) + np.float32(1)}
    (kernels,) = run(original, feeds)
    module = import_model(original)
    compile(module, "openvino")
    written = export_model(module)
    assert {"QuantizeLinear", "Pad"} <= {node.op_type for node in written.graph.node}
    np.testing.assert_allclose(run(written, feeds)[0], kernels, rtol=0, atol=1e-5 * np.abs(kernels).max())
