"""Ops that another op's kernel computes: on all stored values, and over pixels in either layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from built_ops import names
from guard_cases import last_op
from onnx_models import onnx_model

import qdialect
from qdialect import numerics
from qdialect.evaluation import session as oracle
from qdialect.forms.kernel_substitutes import REWRITTEN

Array = npt.NDArray[Any]


def compiled(
    nodes: list[onnx.NodeProto],
    constants: dict[str, Array],
    inputs: dict[str, Array],
    folder: Path,
    opset: int = 17,
) -> tuple[Array, Array, list[str]]:
    """The stored results before and after, and the types of the nodes after."""
    proto = onnx_model(
        nodes,
        {k: (oh.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in inputs.items()},
        {"y": (oh.np_dtype_to_tensor_dtype(constants["yz"].dtype), None)},
        constants,
        opset=opset,
        ir_version=8,
    )
    onnx.save(onnx.shape_inference.infer_shapes(proto), folder / "before.onnx")
    module = qdialect.load(folder / "before.onnx")
    qdialect.compile(module)
    qdialect.save(module, folder / "after.onnx")
    before, after = (oracle.run(str(folder / f"{name}.onnx"), inputs)[0] for name in ("before", "after"))
    return before, after, [n.op_type for n in onnx.load(folder / "after.onnx").graph.node]


def steps(before: Array, after: Array) -> int:
    assert before.shape == after.shape
    assert len(np.unique(before)) > 3, "the results say nothing"
    return int(np.abs(before.astype(np.int32) - after).max())


@pytest.mark.parametrize("zeros", [(0, 0, 0), (3, -8, 20), (-128, 127, -128), (60, -128, 127)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_a_difference_of_any_two_integers_is_a_sum(dtype: Any, zeros: tuple[int, ...], tmp_path: Path):
    shift = 0 if np.iinfo(dtype).min else 128
    names = "a", "b", "y"
    constants: dict[str, Array] = {
        f"{n}z": np.array(z + shift, dtype) for n, z in zip(names, zeros, strict=True)
    }
    constants |= {f"{n}s": np.array(s, np.float32) for n, s in (("a", 0.02), ("b", 0.013), ("y", 0.031))}
    nodes = [oh.make_node("DequantizeLinear", [n, f"{n}s", f"{n}z"], [f"{n}r"]) for n in "ab"]
    nodes += [
        oh.make_node("Sub", ["ar", "br"], ["d"]),
        oh.make_node("QuantizeLinear", ["d", "ys", "yz"], ["y"]),
    ]
    every = np.arange(256).astype(np.uint8).view(dtype)
    a, b = np.repeat(every, 256).reshape(16, 4096), np.tile(every, 256).reshape(16, 4096)
    before, after, types = compiled(nodes, constants, {"a": a, "b": b}, tmp_path)
    assert "QLinearAdd" in types
    assert steps(before, after) <= 1
    assert (before != after).mean() < 0.001


@pytest.mark.parametrize(("alpha", "beta"), [(1 / 6, 0.5), (0.2, 0.5), (0.7, 0.0), (0.11, -0.25)])
@pytest.mark.parametrize(
    ("dtype", "scale", "zero", "clamp"),
    [
        (np.uint8, 1 / 255, 0, []),
        (np.uint8, 0.0021, 0, []),
        (np.int8, 1 / 128, 3, ["Max"]),
        (np.int8, 1 / 64, 3, ["Clip"]),
    ],
)
def test_a_clamped_line_is_a_sum(
    dtype: Any, scale: float, zero: int, clamp: list[str], alpha: float, beta: float, tmp_path: Path
):
    constants: dict[str, Array] = {
        "xs": np.array(0.043, np.float32),
        "xz": np.array(zero + (0 if np.iinfo(dtype).min else 131), dtype),
        "ys": np.array(scale, np.float32),
        "yz": np.array(zero, dtype),
    }
    nodes = [
        oh.make_node("DequantizeLinear", ["x", "xs", "xz"], ["r"]),
        oh.make_node("HardSigmoid", ["r"], ["h"], alpha=alpha, beta=beta),
        oh.make_node("QuantizeLinear", ["h", "ys", "yz"], ["y"]),
    ]
    every = np.arange(256).astype(np.uint8).view(dtype).reshape(4, 64)
    before, after, types = compiled(nodes, constants, {"x": every}, tmp_path)
    kernels = [name for name in types if name not in ("QuantizeLinear", "DequantizeLinear")]  # around i8
    assert kernels == ["QLinearAdd", *clamp]
    assert steps(before, after) <= 1
    assert (before != after).mean() < 0.02


@pytest.mark.parametrize(
    ("step", "zero", "result", "at", "integer"),
    [
        (0.05, 128, 0.03, 13, True),
        (0.02, 100, 0.012, 31, True),
        (0.012, 255, 0.0015, 255, False),  # of results to -0.375, which 255 steps do not resolve
    ],
)
def test_a_hard_swish_is_two_kernels_where_no_stored_value_moves_by_more_than_a_step(
    step: float, zero: int, result: float, at: int, integer: bool, tmp_path: Path
):
    constants: dict[str, Array] = {
        "xs": np.array(step, np.float32),
        "xz": np.array(zero, np.uint8),
        "ys": np.array(result, np.float32),
        "yz": np.array(at, np.uint8),
    }
    nodes = [
        oh.make_node("DequantizeLinear", ["x", "xs", "xz"], ["r"]),
        oh.make_node("HardSwish", ["r"], ["h"]),
        oh.make_node("QuantizeLinear", ["h", "ys", "yz"], ["y"]),
    ]
    every = np.arange(256).astype(np.uint8).reshape(4, 64)
    before, after, types = compiled(nodes, constants, {"x": every}, tmp_path)
    assert steps(before, after) <= 1
    assert (types == ["QLinearAdd", "QLinearMul"]) is integer


def test_what_is_taken_from_a_constant_or_is_one(tmp_path: Path):
    rng = np.random.default_rng(3)
    constants: dict[str, Array] = {
        "c": np.array([0, 1, 128, 254, 255], np.uint8),
        "cs": np.array(0.03, np.float32),
        "cz": np.array(77, np.uint8),
        "xs": np.array(0.02, np.float32),
        "xz": np.array(120, np.uint8),
        "ys": np.array(0.05, np.float32),
        "yz": np.array(101, np.uint8),
    }
    x = rng.integers(0, 256, (50, 2, 5)).astype(np.uint8)
    casts = [oh.make_node("DequantizeLinear", [n, f"{n}s", f"{n}z"], [f"{n}r"]) for n in "xc"]
    for order in (["xr", "cr"], ["cr", "xr"]):
        nodes = [
            *casts,
            oh.make_node("Sub", order, ["d"]),
            oh.make_node("QuantizeLinear", ["d", "ys", "yz"], ["y"]),
        ]
        before, after, types = compiled(nodes, constants, {"x": x}, tmp_path)
        assert types == (["QLinearAdd"] if order[1] == "cr" else ["Sub", "QLinearAdd"])
        assert steps(before, after) <= 1


def test_mirrored_integers_are_as_far_from_their_zero_point():
    for dtype in (np.uint8, np.int8):
        every = np.arange(256).astype(np.uint8).view(dtype)
        q, z = np.meshgrid(every, every)
        mirrored = numerics.mirror(q).astype(np.int32) - numerics.mirror(z)
        np.testing.assert_array_equal(mirrored, z.astype(np.int32) - q)


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 5, 4, 6), [2, 3]),
        ((2, 4, 6, 5), [-2, 1]),
        ((3, 5, 9), [-1]),
        ((3, 9, 5), [1]),
        ((2, 5, 3, 2, 4), [4, 2, 3]),
    ],
)
def test_a_mean_of_all_pixels_is_a_pool(
    shape: tuple[int, ...], axes: list[int], opset: int, keepdims: int, tmp_path: Path
):
    constants: dict[str, Array] = {
        "xs": np.array(0.02, np.float32),
        "xz": np.array(120, np.uint8),
        "ys": np.array(0.003, np.float32),
        "yz": np.array(101, np.uint8),
    }
    attributes: dict[str, Any] = {"axes": axes} if opset < 18 else {}
    if opset >= 18:
        constants["axes"] = np.array(axes, np.int64)
    nodes = [
        oh.make_node("DequantizeLinear", ["x", "xs", "xz"], ["r"]),
        oh.make_node(
            "ReduceMean", ["r", "axes"][: 1 + (opset >= 18)], ["m"], keepdims=keepdims, **attributes
        ),
        oh.make_node("QuantizeLinear", ["m", "ys", "yz"], ["y"]),
    ]
    x = np.random.default_rng(7).integers(0, 256, shape).astype(np.uint8)
    before, after, types = compiled(nodes, constants, {"x": x}, tmp_path, opset)
    assert "QLinearGlobalAveragePool" in types
    assert not {"ReduceMean", "DequantizeLinear"} & set(types)
    assert steps(before, after) <= 1


@pytest.mark.parametrize(
    ("scale", "alpha", "expected"),
    [
        (2.0**-126, 1.0, ["Add"]),
        (2.0**-126, 0.5, ["scale-value"]),
        (2.0**-125, 0.5, ["Add"]),
        (2.0**126, 2.0, ["Add"]),
        (2.0**127, 2.0, ["scale-value"]),
    ],
)
def test_a_line_has_a_slope_of_full_precision(scale: float, alpha: float, expected: list[str]):
    types = f"!quant.uniform<i8:f32, {scale!r}>\n!p = !quant.uniform<i8:f32, 0.00390625:-128>"
    op = last_op(f"x: 3x!mine\ny = HardSigmoid(x) {{alpha = {alpha} : f32}} : 3x!p", 18, types)
    assert names(REWRITTEN["", "HardSigmoid"].parts(op)) == expected
