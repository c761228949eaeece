"""Weights that arithmetic dequantizes with a scale for each block: what is compiled, against the model as written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model

import qdialect
from graphs.structure import difference
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.targets import target

K, N, BLOCK = 64, 8, 16
RNG = np.random.default_rng(7)
STORED = RNG.integers(0, 16, (N, K // BLOCK, BLOCK)).astype(np.uint8)
ZEROS = RNG.integers(3, 12, (N, K // BLOCK, 1)).astype(np.uint8)
SCALES = RNG.uniform(0.01, 0.02, (N, K // BLOCK, 1)).astype(np.float32)
SIGNS = RNG.choice(np.array([-1, 1], np.float32), SCALES.shape)
SUMS = 1e-6
"""Difference of sums of floats in another order: ten of the last bits of results near 1; steps of weights are 1e-2."""
X = {"x": RNG.normal(size=(1, K)).astype(np.float32)}
Arrays = dict[str, np.ndarray]
Steps = Sequence[tuple[str, list[str], str] | tuple[str, list[str], str, dict[str, object]]]

SCALED: Steps = [("Cast", ["q"], "f", {"to": 1}), ("Sub", ["f", "z"], "d"), ("Mul", ["d", "s"], "m")]
TURNED: Steps = [("Reshape", ["m", "nk"], "w"), ("Transpose", ["w"], "t", {"perm": [1, 0]})]
PRODUCT: Steps = [("MatMul", ["x", "t"], "y")]
FLOATS: Arrays = {"q": STORED, "z": ZEROS.astype(np.float32), "s": SCALES, "nk": np.array([N, K])}
BY_ROWS: Arrays = {
    "q": STORED.reshape(N, K).T.astype(np.int32),
    "z": ZEROS[..., 0].T.astype(np.int32),
    "s": SCALES[..., 0].T,
    "one": np.array([1]),
    "e": np.array([1, BLOCK, 1]),
    "kn": np.array([K, N]),
}
PACKED: Arrays = {
    "p": STORED.reshape(N, K)[:, : K // 2] | STORED.reshape(N, K)[:, K // 2 :] << 4,
    "four": np.array(4, np.uint8),
    "sixteen": np.array(16, np.uint8),
    "blocks": np.array(STORED.shape),
}


def repeated(name: str, by: str) -> Steps:
    """Parameters of blocks as those of rows."""
    return [
        ("Unsqueeze", [name, "one"], name + "1"),
        (by, [name + "1", "e"], name + "2"),
        ("Reshape", [name + "2", "kn"], name + "3"),
    ]


FORMS: dict[str, tuple[Steps, Arrays]] = {
    "zero points in float": ([*SCALED, *TURNED, *PRODUCT], FLOATS),
    "zero points in int32": (
        [("Sub", ["q", "z"], "i"), ("Cast", ["i"], "d", {"to": 1}), ("Mul", ["s", "d"], "m"), *TURNED, *PRODUCT],
        FLOATS | {"q": STORED.astype(np.int32), "z": ZEROS.astype(np.int32)},
    ),
    "negative scales": ([*SCALED, *TURNED, *PRODUCT], FLOATS | {"s": SCALES * SIGNS}),
    "Gemm": ([*SCALED, TURNED[0], ("Gemm", ["x", "w", "b"], "y", {"transB": 1})], FLOATS | {"b": X["x"][0, :N]}),
    "blocks in front": (
        [*SCALED, ("Reshape", ["m", "kn"], "t"), *PRODUCT],
        {k: v.transpose(1, 2, 0) for k, v in FLOATS.items() if v.ndim == 3} | {"kn": np.array([K, N])},
    ),
    "scales of rows": (
        [
            *repeated("s", "Expand"),
            *repeated("z", "Tile"),
            ("Sub", ["q", "z3"], "i"),
            ("Cast", ["i"], "d", {"to": 1}),
            ("Mul", ["d", "s3"], "t"),
            *PRODUCT,
        ],
        BY_ROWS,
    ),
    "nibbles": (
        [
            ("Mod", ["p", "sixteen"], "low"),
            ("BitShift", ["p", "four"], "high", {"direction": "RIGHT"}),
            ("Concat", ["low", "high"], "u", {"axis": 1}),
            ("Reshape", ["u", "blocks"], "q"),
            *SCALED,
            *TURNED,
            *PRODUCT,
        ],
        {k: v for k, v in FLOATS.items() if k != "q"} | PACKED,
    ),
}  # fmt: skip


def model(form: str, opset: int, rows: int | str = 1) -> onnx.ModelProto:
    steps, arrays = FORMS[form]
    nodes = [oh.make_node(op, inputs, [output], **dict(*more)) for op, inputs, output, *more in steps]
    ends = {"x": (onnx.TensorProto.FLOAT, [rows, K])}, {"y": (onnx.TensorProto.FLOAT, [rows, N])}
    return onnx_model(nodes, *ends, {k: v.astype(v.dtype, order="C") for k, v in arrays.items()}, opset=opset)


def compiled(original: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = import_model(onnx.ModelProto.FromString(original.SerializeToString()))
    qdialect.compile(module, **options)
    return export_model(module)


def kinds(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch):
    """Float weights of any size are as far as those that exceed the cache."""
    monkeypatch.setitem(target("onnxruntime").costs["MatMulNBits"], "cache", 0.0)


@pytest.mark.parametrize("opset", [17, 21])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("no_cache")
def test_weight_of_one_row_becomes_four_bits(form: str, opset: int):
    """The product reads 4 bits, is compiled once, and computes the same in both kinds of session."""
    original = model(form, opset)
    once = compiled(original)
    assert kinds(once) == ["MatMulNBits"]
    assert not difference(once, compiled(once))
    expected = run(original, X)[0]
    for optimize in (False, True):
        assert np.allclose(run(once, X, optimize=optimize)[0], expected, rtol=0, atol=SUMS)


@pytest.mark.parametrize("runtime", ["generic", "tensorrt"])
@pytest.mark.parametrize("form", FORMS)
def test_weight_is_read_by_a_dequantize(form: str, runtime: str):
    """For a runtime that may have such a kernel; TensorRT has none with zero points."""
    original = model(form, 21, "rows")
    once = compiled(original, target=runtime)
    assert ("DequantizeLinear" in kinds(once)) == (runtime == "generic")
    assert not {node.domain for node in once.graph.node} - {""}
    assert not difference(once, compiled(once, target=runtime))
    assert np.allclose(run(once, X)[0], run(original, X)[0], rtol=0, atol=SUMS)


def test_weight_without_zero_points_is_signed(monkeypatch: pytest.MonkeyPatch):
    steps, arrays = FORMS["zero points in float"]
    monkeypatch.setitem(FORMS, "signed", (steps, arrays | {"z": np.full_like(arrays["z"], 8)}))
    original = model("signed", 21)
    for runtime in ("generic", "tensorrt"):
        once = compiled(original, target=runtime)
        assert kinds(once) == ["DequantizeLinear", "MatMul"]
        assert onnx.TensorProto.INT4 in {tensor.data_type for tensor in once.graph.initializer}
        assert not difference(once, compiled(once, target=runtime))
        assert np.array_equal(run(once, X)[0], run(original, X)[0])


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (1, {"exactness": "exact"}),
        (1, {"form": "qdq"}),
        (1, {"keep_float": ["y"]}),
        (1, {"float_weights": True}),
        (1, {"target": "openvino"}),
        (2, {}),
        ("rows", {}),
    ],
)
@pytest.mark.usefixtures("no_cache")
def test_floats_are_kept(rows: int | str, options: dict[str, Any]):
    """Float weights are faster with several rows; of a DequantizeLinear sessions make a product in 8 bits."""
    kept = compiled(model("zero points in float", 21, rows), **options)
    assert kinds(kept)[-1] == "MatMul"
    assert not {"DequantizeLinear", "MatMulNBits"} & set(kinds(kept))


def test_floats_that_the_cache_holds_are_kept():
    """A product of one row is as fast with them; the smallest weight beyond, 2048 x 2048, was twice as fast."""
    assert kinds(compiled(model("zero points in float", 21)))[-1] == "MatMul"
    assert target("onnxruntime").costs["MatMulNBits"]["cache"] == 4 * 2048 * 2048


@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize("perm", [[1, 0], None])
def test_weight_behind_moves_is_no_longer_dequantized_in_each_run(rows: int, perm: list[int] | None):
    """As NNCF writes it, whatever its size: a session would dequantize it in each run, the kernel does as it goes."""
    columns, inputs = 1200, 64
    tensors = [
        oh.make_tensor("q", onnx.TensorProto.INT4, [columns, 4, 16], RNG.integers(-8, 8, columns * inputs)),
        oh.make_tensor("s", onnx.TensorProto.FLOAT, [columns, 4, 1], RNG.uniform(0.01, 0.02, columns * 4)),
        oh.make_tensor("n", onnx.TensorProto.INT64, [2], [columns, inputs]),
    ]
    nodes = [
        oh.make_node("DequantizeLinear", ["q", "s"], ["d"], axis=2, block_size=16),
        oh.make_node("Reshape", ["d", "n"], ["w"]),
        oh.make_node("Transpose", ["w"], ["t"], perm=perm),
        oh.make_node("MatMul", ["x", "t"], ["y"]),
    ]
    if perm is None:
        nodes[2:] = [oh.make_node("Gemm", ["x", "w"], ["y"], transB=1)]
    ends = {"x": (onnx.TensorProto.FLOAT, [rows, inputs])}, {"y": (onnx.TensorProto.FLOAT, [rows, columns])}
    original = onnx_model(nodes, *ends, tensors, opset=21)
    x = {"x": RNG.normal(size=(rows, inputs)).astype(np.float32)}
    expected = run(original, x)[0]
    for runtime, sessions in (("onnxruntime", (False, True)), ("generic", (False,)), ("tensorrt", (False,))):
        once = compiled(original, target=runtime)
        assert kinds(once) == (["MatMulNBits"] if len(sessions) > 1 else ["DequantizeLinear", "MatMul"])
        assert not difference(once, compiled(once, target=runtime))
        for optimize in sessions:
            assert np.allclose(run(once, x, optimize=optimize)[0], expected, rtol=0, atol=SUMS)
