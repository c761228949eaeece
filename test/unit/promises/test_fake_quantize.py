"""`promises.fake_quantize`: the last case on one side of each bound, the first on the other."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import last_op
from promised_types import reason

from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.fake_quantize import FAKE_QUANTIZE, uniform_type
from qdialect.reasons import Blocked, answer


@pytest.mark.parametrize(
    ("least", "levels", "expected"),
    [
        (-0.01, 4, (0, 3)),
        (-0.011, 4, None),
        (-0.989, 4, None),
        (-1.01, 4, (-1, 2)),
        (0.0, 65536, (0, 65535)),
        (0.0, 65537, None),
        (0.0, 1, None),
        (0.0, 2, (0, 1)),
    ],
)
def test_zero_is_a_step_but_for_a_hundredth(least: float, levels: int, expected: tuple[int, int] | None):
    """In steps of 1."""
    greatest = np.float32(least) + np.float32(levels - 1)
    op = last_op(
        f"x: 2xf32\nl = [{np.float32(least):.9e}] : f32\ng = [{greatest:.9e}] : f32\n"
        f'y = Custom(x, l, g, l, g) {{domain = "org.openvinotoolkit", op_type = "FakeQuantize", attrs = {{levels = {levels} : i64}}}} : 2xf32'
    )
    one = FAKE_QUANTIZE["org.openvinotoolkit", "FakeQuantize"].parameters(op)
    if expected is None:
        assert reason(one) == "unlike-a-cast"
    else:
        assert not isinstance(one, Blocked)
        assert (one.storage.low, one.storage.high) == expected


Parameters = tuple[float, float, int, int, bool]
"""Scale, zero point, lowest and highest integer, and whether a quantize gives the same."""


def custom(domain: str, name: str, attributes: str, *constants: str) -> Any:
    """What is known of an op of x and constants."""
    names = "abcde"[: len(constants)]
    lines = [
        f"{n} = {c}" if c.startswith("[") else f"{n}: {c}" for n, c in zip(names, constants, strict=True)
    ]
    called = f'Custom({", ".join(["x", *names])}) {{domain = "{domain}", op_type = "{name}", attrs = {{{attributes}}}}}'
    op = last_op("\n".join(["x: 2x3xf32", *lines, f"y = {called} : 2x3xf32"]))
    return answer(FAKE_QUANTIZE[domain, name].parameters, op)


@pytest.mark.parametrize(
    ("least", "greatest", "levels", "expected"),
    [
        (0.0, 255.0, 256, (1, 0, 0, 255, False)),
        (-128.0, 127.0, 256, (1, 0, -128, 127, False)),
        (-127.0, 128.0, 256, (1, 127, 0, 255, False)),  # 128 is no i8
        (-126.0, 127.0, 254, (1, 0, -126, 127, False)),
        (-126.0, 129.0, 256, (1, 126, 0, 255, False)),
        (-129.0, 126.0, 256, (1, 129, 0, 255, False)),
        (-63.5, 63.5, 255, (0.5, 0, -127, 127, False)),
        (-64.0, 63.0, 255, (0.5, 128, 0, 254, False)),
        (0.0, 512.0, 257, (2, 0, 0, 256, False)),
        (-256.0, 256.0, 257, (2, 0, -128, 128, False)),
    ],
)
def test_a_range_in_steps(least: float, greatest: float, levels: int, expected: Parameters):
    """Signed where 0 is in the middle: at half of the levels, or of one less."""
    ends = f"[{least:e}] : f32", f"[{greatest:e}] : f32"
    one = custom("org.openvinotoolkit", "FakeQuantize", f"levels = {levels} : i64", *ends, *ends)
    assert (float(one.scale), one.zero_point, one.storage.low, one.storage.high, one.exact) == expected
    assert one.storage.width == (8 if levels <= 256 else 16)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (["[-1.0] : f32", "[2.0] : f32", "[-1.0] : f32", "[2.5] : f32"], "unlike-a-cast"),
        (["[-1.0] : f32", "[2.0] : f32", "[-1.5] : f32", "[2.0] : f32"], "unlike-a-cast"),
        (["f32", "[2.0] : f32", "[-1.0] : f32", "[2.0] : f32"], "run-time-scale"),
        (["[-1.0] : f32", "f32", "[-1.0] : f32", "[2.0] : f32"], "run-time-scale"),
        (["[-1.0] : f32", "[2.0] : f32", "f32", "[2.0] : f32"], "run-time-scale"),
        (["[-1.0] : f32", "[2.0] : f32", "[-1.0] : f32", "f32"], "run-time-scale"),
        (["[-1.0, -1.0] : 2x1xf32", "[2.0, 5.0] : 2x1xf32"] * 2, "unlike-a-cast"),
        (["[-1.0, -2.0] : 2x1xf32", "[2.0, 4.0] : 2x1xf32"] * 2, None),
    ],
)
def test_ranges_that_a_cast_takes(ends: list[str], expected: str | None):
    one = custom("org.openvinotoolkit", "FakeQuantize", "levels = 4 : i64", *ends)
    assert reason(one) == expected
    if expected is None:
        assert one.scale.reshape(-1).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("attributes", "zero", "bits", "expected"),
    [
        ("", "0.0", "8.0", (0.5, 0, -128, 127, True)),
        ("narrow = 1 : i64", "0.0", "8.0", (0.5, 0, -127, 127, True)),
        ("signed = 0 : i64", "3.0", "8.0", (0.5, 3, 0, 255, False)),
        ("signed = 0 : i64, narrow = 1 : i64", "0.0", "8.0", (0.5, 0, 0, 254, True)),
        ("signed = 0 : i64", "0.0", "1.0", (0.5, 0, 0, 1, True)),
        ("", "0.0", "1.0", (0.5, 0, -1, 1, True)),
        ("", "0.0", "2.0", (0.5, 0, -2, 1, True)),
        ("", "0.0", "9.0", (0.5, 0, -256, 255, True)),
        ("", "0.0", "16.0", (0.5, 0, -(2**15), 2**15 - 1, True)),
        ("", "0.0", "17.0", (0.5, 0, -(2**16), 2**16 - 1, True)),
        ("", "0.0", "33.0", "storage-type"),
        ("", "0.0", "7.5", "storage-type"),
        ("signed = 0 : i64", "0.0", "0.0", "storage-type"),
        ("", "0.5", "8.0", "invalid-parameters"),
        ('rounding_mode = "UP"', "0.0", "8.0", "unlike-a-cast"),
        ('rounding_mode = "SOME"', "0.0", "8.0", "unlike-a-cast"),
        ('rounding_mode = "CEIL"', "0.0", "8.0", (0.5, 0, -128, 127, False)),
        ('rounding_mode = "round"', "0.0", "8.0", (0.5, 0, -128, 127, True)),
    ],
)
def test_quant_in_bits(attributes: str, zero: str, bits: str, expected: Parameters | str):
    one = custom(
        "qonnx.custom_op.general", "Quant", attributes, "[0.5] : f32", f"[{zero}] : f32", f"[{bits}] : f32"
    )
    if isinstance(expected, str):
        assert reason(one) == expected
    else:
        assert (float(one.scale), one.zero_point, one.storage.low, one.storage.high, one.exact) == expected
        assert one.sign == (expected[3] == 1 and expected[2] == -1)
        width = next(w for w in (8, 16, 32) if float(bits) <= w)
        assert one.storage.width == width


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((), ()), None),
        (((3,), ()), 1),
        (((), (3,)), 1),
        (((2, 1), (1,)), 0),
        (((2, 1), (3,)), "weight-axis"),
        (((2, 3), ()), "weight-axis"),
        (((0,), ()), "empty-tensor"),
        (((), (0,)), "empty-tensor"),
    ],
)
def test_parameters_that_run_along_one_axis(shapes: tuple[tuple[int, ...], ...], expected: int | str | None):
    value = last_op("x: 2x3xf32\ny = Relu(x) : 2x3xf32").results[0]
    scale = np.arange(1, 1 + np.prod(shapes[0]), dtype=np.float32).reshape(shapes[0])
    zeros = np.arange(3, 3 + np.prod(shapes[1])).reshape(shapes[1])
    type = uniform_type(Storage.of("i8"), scale, zeros, value)
    if isinstance(expected, str):
        assert reason(type) == expected
        return
    assert isinstance(type, UniformType)
    count = max(scale.size, zeros.size)
    assert type.axis == expected
    assert type.scales.reshape(-1).tolist() == np.broadcast_to(scale.reshape(-1), count).tolist()
    assert type.zero_points.reshape(-1).tolist() == np.broadcast_to(zeros.reshape(-1), count).tolist()


@pytest.mark.parametrize(
    ("zero", "expected"),
    [(-128, None), (127, None), (-129, "invalid-parameters"), (128, "invalid-parameters")],
)
def test_zero_points_are_stored_integers(zero: int, expected: str | None):
    value = last_op("x: 2x3xf32\ny = Relu(x) : 2x3xf32").results[0]
    assert reason(uniform_type(Storage.of("i8"), np.float32([[0.5]]), zero, value)) == expected  # pyright: ignore
