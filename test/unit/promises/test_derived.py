"""What promises work out of an op's attributes and constants: ranges, windows, counts and copies, each to the number."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import last_op
from promised_types import after, flat, reason, rows

from qdialect.dialects.onnx_types import DYNAMIC
from qdialect.dialects.quant import Storage, UniformType
from qdialect.promises.elementwise import Undefined
from qdialect.promises.fake_quantize import FAKE_QUANTIZE, uniform_type
from qdialect.promises.padding import ZeroPads
from qdialect.promises.shapes import UNINFERRED, HiddenStates
from qdialect.promises.weight_only import packed_weight, unpacked_weight
from qdialect.promises.window import Window
from qdialect.promises.work import SumsProducts
from qdialect.reasons import Blocked, answer

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


# --- Windows ---


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", ((0, 0), (0, 0))),
        ("pads = array<i64: 1, 2, 3, 4>", ((1, 3), (2, 4))),
        ('auto_pad = "VALID"', ((0, 0), (0, 0))),
        # 7 by 9 pixels, windows of 2 by 4: one and three more
        ('auto_pad = "SAME_UPPER"', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_LOWER"', ((1, 0), (2, 1))),
        # every third row, every other column: 3 and 5 results that reach 8 and 12 pixels
        ('auto_pad = "SAME_UPPER", strides = array<i64: 3, 2>', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_UPPER", strides = array<i64: 7, 5>', ((0, 0), (0, 0))),
        # windows that reach over 4 and 7 pixels
        ('auto_pad = "SAME_UPPER", dilations = array<i64: 3, 2>', ((1, 2), (3, 3))),
    ],
)
def test_pads_of_a_window(attributes: str, expected: tuple[tuple[int, int], ...]):
    op = last_op(f"x: 2x3x7x9xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {{{attributes}}} : *xf32")
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) == expected


@pytest.mark.parametrize("shape", ["*", "2x3x7", "2x3x7x?", "2x3x?x9"])
def test_same_pads_want_all_sizes(shape: str):
    op = last_op(f'x: {shape}xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {{auto_pad = "SAME_UPPER"}} : *xf32')
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) is None
    op = last_op('x: ?x?x7x9xf32\nw: 4x3x2x4xf32\ny = Conv(x, w) {auto_pad = "SAME_UPPER"} : *xf32')
    assert window.pads(op) == ((0, 1), (1, 2))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        # without pads (7 - 1) * 3 + 2 = 20 rows and (9 - 1) * 2 + 4 = 20 columns
        ("output_shape = array<i64: 20, 17>, strides = array<i64: 3, 2>", ((0, 0), (2, 1))),
        ("output_shape = array<i64: 20, 21>, strides = array<i64: 3, 2>", None),
        (
            "output_shape = array<i64: 20, 21>, strides = array<i64: 3, 2>, output_padding = array<i64: 0, 1>",
            ((0, 0), (0, 0)),
        ),
        (
            "output_shape = array<i64: 20, 22>, strides = array<i64: 3, 2>, dilations = array<i64: 1, 2>",
            ((0, 0), (1, 0)),
        ),
        ("output_shape = array<i64: 20>, strides = array<i64: 3, 2>", None),
        ("pads = array<i64: 1, 2, 3, 4>", ((1, 3), (2, 4))),
        ('auto_pad = "SAME_UPPER"', ((0, 1), (1, 2))),
        ('auto_pad = "SAME_LOWER", strides = array<i64: 1, 2>', ((1, 0), (1, 1))),
        (
            'auto_pad = "SAME_UPPER", strides = array<i64: 2, 3>, output_padding = array<i64: 1, 0>',
            ((0, 1), (0, 1)),
        ),
        ('auto_pad = "SAME_UPPER", strides = array<i64: 3, 2>', None),
    ],
)
def test_pads_of_a_window_that_spreads(attributes: str, expected: tuple[tuple[int, int], ...] | None):
    op = last_op(f"x: 2x3x7x9xf32\nw: 3x4x2x4xf32\ny = ConvTranspose(x, w) {{{attributes}}} : *xf32")
    window = op.get_trait(Window)
    assert window is not None
    assert window.pads(op) == expected


@pytest.mark.parametrize(
    ("attributes", "added", "expected"),
    [
        ("", (1, 1, 0, 2), (1, 1, 0, 2)),
        (", pads = array<i64: 1, 0, 0, 0>", (0, 1, 1, 0), "pad-form"),
        (", pads = array<i64: 1, 0, 0, 0>, count_include_pad = 1 : i64", (1, 1, 0, 2), (2, 1, 0, 2)),
        (", pads = array<i64: 1, 0, 0, 0>, count_include_pad = 1 : i64", (2, 1, 0, 2), "pad-form"),
        ("", (2, 3, 2, 3), (2, 3, 2, 3)),
        ("", (0, 0, 3, 0), "pad-form"),
        ("", (0, 0, 2, 4), "pad-form"),
        (", ceil_mode = 1 : i64", (1, 1, 0, 2), "pad-form"),
        (', auto_pad = "SAME_UPPER"', (1, 1, 0, 2), "unknown-shape"),
        (', auto_pad = "VALID"', (1, 1, 0, 2), (1, 1, 0, 2)),
    ],
)
def test_an_average_over_more_zeros(attributes: str, added: tuple[int, ...], expected: tuple[int, ...] | str):
    """Of windows of 3 by 4."""
    op = last_op(
        f"x: 2x3x7x9xf32\ny = AveragePool(x) {{kernel_shape = array<i64: 3, 4>{attributes}}} : *xf32"
    )
    promise = op.get_trait(ZeroPads)
    assert promise is not None
    found = answer(promise.padded, op, added)
    if isinstance(expected, str):
        assert reason(found) == expected
    else:
        assert not isinstance(found, Blocked)
        assert str(found["pads"]) == f"array<i64: {', '.join(map(str, expected))}>"
        assert str(found["count_include_pad"]) == "1 : i64"


# --- Where scales go ---


@pytest.mark.parametrize(
    ("axis", "forward", "backward"),
    [(0, (1, [0, 1]), None), (1, (2, [0] * 4), 0), (2, (3, [0, 1]), None), (3, None, 2)],
)
def test_scales_of_repeated_elements(axis: int, forward: tuple[int, list[int]] | None, backward: int | None):
    body = "x: 2x1x2xf32\ns = [3, 2, 4, 2] : 4xi64\ny = Expand(x, s) : 3x2x4x2xf32"
    if forward is not None:
        size = (2, 1, 2)[axis]
        type = UniformType.per_axis(
            Storage.of("i8"), axis, np.array([0.5, 0.25][:size], np.float32), np.array([1, 2][:size])
        )
        picked = [0, 0, 0, 0] if size == 1 else forward[1]
        expected = rows(*type.scales[picked], axis=forward[0], zeros=tuple(type.zero_points[picked]))
        assert after(body, type) == expected
    size = (3, 2, 4, 2)[axis]
    type = rows(*[0.5, 0.25, 2.0, 4.0][:size], axis=axis)
    moved = after(body, type, hoists=True)
    kept = {1: 0, 3: 2}.get(axis)
    assert (reason(moved) == "scales-along-axis") if kept is None else moved == type.replace(axis=kept)


@pytest.mark.parametrize(
    ("attributes", "constant", "axis", "expected"),
    [
        (" {axis = 0 : i64}", "[1, 0, 1] : 3xi1", 0, (0, [0, 2])),
        (" {axis = 0 : i64}", "[0, 1] : 2xi1", 0, "scales"),
        (" {axis = 0 : i64}", "[1, 1, 0, 1] : 4xi1", 0, "scales-along-axis"),
        (" {axis = 0 : i64}", "[0, 0, 0] : 3xi1", 0, "scales-along-axis"),
        (" {axis = 0 : i64}", "3xi1", 0, "scales-along-axis"),
        (" {axis = 1 : i64}", "[1, 0, 1] : 3xi1", 0, (0, [0, 1, 2])),
        ("", "[1, 0, 1] : 3xi1", 0, "scales-along-axis"),
    ],
)
def test_scales_of_a_selection(
    attributes: str, constant: str, axis: int, expected: tuple[int, list[int]] | str
):
    line = f"c = {constant}" if constant.startswith("[") else f"c: {constant}"
    type = rows(0.5, 0.25, 2.0)
    moved = after(f"x: 3x4xf32\n{line}\ny = Compress(x, c){attributes} : *xf32", type)
    if expected == "scales":
        assert moved == flat(0.25, zero=2)
    elif isinstance(expected, str):
        assert reason(moved) == expected
    else:
        assert moved == rows(*type.scales[expected[1]], zeros=tuple(type.zero_points[expected[1]]))


# --- Counts ---


@pytest.mark.parametrize(
    ("query", "key", "result", "count"),
    [
        ("2x3x5xf32", "2x7x5xf32", "2x3x11xf32", (30 + 66) * 7),
        ("2x4x3x5xf32", "2x4x7x5xf32", "2x4x3x11xf32", (120 + 264) * 7),
        ("3x5xf32", "7x5xf32", "3x11xf32", None),
        ("2x3x5xf32", "2x4x7x5xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "2x7x5xf32", "2x4x3x11xf32", None),
        ("*xf32", "2x7x5xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "*xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "2x7x5xf32", "*xf32", None),
    ],
)
def test_products_of_an_attention(query: str, key: str, result: str, count: int | None):
    op = last_op(f"q: {query}\nk: {key}\nv: {key}\ny = Attention(q, k, v) : {result}", 23)
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


@pytest.mark.parametrize(
    ("op", "constant", "expected"),
    [
        ("Div", "[2.0, 0.0] : 2xf32", True), ("Div", "[2.0, -3.0] : 2xf32", False), ("Div", "2xf32", True),
        ("Mod", "[2.0, 0.0] : 2xf32", True), ("Pow", "[2.0, -3.0] : 2xf32", False),
        ("Pow", "[2.0, 0.5] : 2xf32", True), ("Pow", "2xf32", True), ("Log", "[2.0] : f32", True),
    ],
)  # fmt: skip
def test_ops_that_are_undefined_somewhere(op: str, constant: str, expected: bool):
    line = f"k = {constant}" if constant.startswith("[") else f"k: {constant}"
    one = last_op(f"x: 2xf32\n{line}\ny = {op}({'x' if op == 'Log' else 'x, k'}) : 2xf32")
    promise = one.get_trait(Undefined)
    assert promise is not None
    assert promise.for_some(one) is expected


@pytest.mark.parametrize(
    ("x", "weight", "expected"),
    [
        ("7x3x5xf32", "2x6x24xi8", [(7, 2, 3, 6), (2, 3, 6), (2, 3, 6)]),
        ("?x?x5xf32", "2x6x24xi8", [(DYNAMIC, 2, DYNAMIC, 6), (2, DYNAMIC, 6), (2, DYNAMIC, 6)]),
        ("7x3x5xf32", "2x6x?xi8", None),
        ("7x3xf32", "2x6x24xi8", None),
        ("7x3x5xf32", "6x24xi8", None),
        ("*xf32", "2x6x24xi8", None),
        ("7x3x5xf32", "*xi8", None),
    ],
)
def test_shapes_of_hidden_states(x: str, weight: str, expected: list[tuple[int, ...]] | None):
    op = last_op(f"x: {x}\nw: 2x5x24xi8\nr: {weight}\ny = Sum(x, w, r) : *xf32")
    (states,) = (promise for promise in UNINFERRED.values() if isinstance(promise, HiddenStates))
    assert states.shapes(op) == expected


# --- Packed weights ---


@pytest.mark.parametrize("inputs", [0, 1])
@pytest.mark.parametrize(
    ("storage", "rows_", "zero"), [("i8", 20, 0), ("u8", 32, 7), ("i4", 20, 0), ("u4", 48, 3), ("i4", 16, -2)]
)
def test_a_packed_weight_is_unpacked(storage: str, rows_: int, zero: int, inputs: int):
    kind = Storage.of(storage)
    stored = np.random.default_rng(3).integers(kind.low, kind.high + 1, (rows_, 5))
    type = UniformType.per_axis(kind, 1 - inputs, np.array([1, 2, 3, 4, 5], np.float32), np.full(5, zero))
    packed = packed_weight(stored if inputs == 0 else stored.T, type, inputs)
    assert not isinstance(packed, Blocked)
    block = {20: 16, 32: 32, 48: 16, 16: 16}[rows_]
    count = -(-rows_ // block)
    assert (packed.block, packed.bits, packed.stored.shape) == (
        block,
        kind.width,
        (5, count, block * kind.width // 8),
    )
    offset = 1 << (kind.width - 1) if kind.signed else 0
    assert (packed.zero_points is None) == (zero + offset == 1 << (kind.width - 1))
    back = unpacked_weight(packed.stored, packed.scales, packed.zero_points, rows_, 5, kind.width, block)
    assert not isinstance(back, Blocked)
    assert (back.stored.astype(int) - offset).tolist() == stored.tolist()
    assert back.scales.tolist() == [[1, 2, 3, 4, 5]] * count
    assert (back.zero_points.astype(int) == zero + offset).all()
    for wrong in (
        (packed.stored[:4], packed.scales, packed.zero_points),
        (packed.stored, packed.scales[:4], packed.zero_points),
        (packed.stored, packed.scales, np.zeros(3, np.uint8)),
        (packed.stored.astype(np.int8), packed.scales, packed.zero_points),
    ):
        assert reason(unpacked_weight(*wrong, rows_, 5, kind.width, block)) == "block-size"
    halves = packed.scales.astype(np.float16)
    assert (
        reason(unpacked_weight(packed.stored, halves, packed.zero_points, rows_, 5, kind.width, block))
        == "expressed-type"
    )
