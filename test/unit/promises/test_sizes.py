"""What ops compute of lists of sizes and of shapes, some of them unknown: each rule by itself."""


# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

import pytest
from guard_cases import last_op
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.promises import sizes
from qdialect.promises.shapes import Shaped
from qdialect.promises.sizes import Counts, Element, Elements, Fills, Symbol, TakesSizes

N, M = Symbol("N"), Symbol("M")


class Facts:
    """What is known of an op's operands, in order; None of any other value."""

    def __init__(self, op: OnnxOp, *known: Elements | None):
        self._known = dict(zip(op.operands, known, strict=True))

    def elements(self, value: SSAValue) -> Elements | None:
        return self._known[value]

    def sizes(self, value: SSAValue) -> Elements | None:
        return self._known[value]


def op_of(call: str, *types: str, result: str = "?xi64") -> OnnxOp:
    """An op of operands a, b, c of these types; a type with `[`, of a constant."""
    lines = [
        f"{name} = {type}" if type.startswith("[") else f"{name}: {type}"
        for name, type in zip("abcde", types, strict=False)
    ]
    return last_op("\n".join([*lines, f"y = {call} : {result}"]), 17)


PAIRS: list[tuple[str, list[tuple[Element, Element, Element]]]] = [
    ("Add", [(2, 3, 5), (0, N, N), (N, 0, N), (1, N, None), (N, 1, None), (N, N, None), (None, 0, None)]),
    ("Sub", [(2, 3, -1), (N, 0, N), (0, N, None), (N, 1, None), (N, N, None)]),
    ("Mul", [(2, 3, 6), (0, N, 0), (N, 0, 0), (1, N, N), (N, 1, N), (2, N, None), (N, M, None), (0, None, 0)]),
    (
        "Div",
        [
            (7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (6, -2, -3), (-6, -2, 3), (1, 2, 0), (-1, 2, 0),
            (0, -2, 0), (0, 2, 0), (7, 0, None), (N, 1, N), (N, 2, None), (1, N, None),
        ],
    ),
    ("Mod", [(7, 4, 3), (-7, 4, 1), (7, 0, None), (N, 1, 0), (N, 2, None), (1, N, None)]),
    (
        "Equal",
        [
            (3, 3, 1), (3, 4, 0), (N, N, 1), (N, M, None), (N, -1, 0), (-1, N, 0), (N, 0, None), (0, N, None),
            (N, 2, None), (None, -1, None), (-1, None, None), (None, None, None),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows"), PAIRS)
def test_two_elements(name: str, rows: list[tuple[Element, Element, Element]]):
    a, b, expected = (tuple(column) for column in zip(*rows, strict=True))
    op = op_of(f"{name}(a, b)", "?xi64", "?xi64")
    promise = op.get_trait(Counts)
    assert promise is not None
    assert promise.elements(op, Facts(op, a, b)) == expected


@pytest.mark.parametrize(
    ("types", "a", "b", "expected"),
    [
        (("?xi64", "i64"), (2, 3), (10,), (12, 13)),
        (("i64", "?xi64"), (10,), (2, 3), (12, 13)),
        (("?xi64", "?xi64"), (2, 3), (10, 20, 30), None),
        (("?xi64", "?xi64"), (2, 3, 4), (10, 20), None),
        (("?xi64", "?xi64"), (), (10,), ()),
        (("?xi64", "?xi64"), (10,), (), ()),
        (("?xi64", "?xi64"), (), (), ()),
        (("?xi64", "?xi64"), (), (10, 20), None),
        (("1x2xi64", "?xi64"), (2, 3), (10,), None),
        (("?xi64", "?x1xi64"), (2, 3), (10,), None),
        (("?xi64", "i64"), None, (10,), None),
        (("?xi64", "i64"), (2,), None, None),
    ],
)
def test_one_element_is_taken_for_each_of_a_list(
    types: tuple[str, str], a: Elements | None, b: Elements | None, expected: Elements | None
):
    op = op_of("Add(a, b)", *types)
    promise = op.get_trait(Counts)
    assert promise is not None
    assert promise.elements(op, Facts(op, a, b)) == expected


COUNTED: list[tuple[str, tuple[str, ...], str, tuple[Elements | None, ...], Elements | None]] = [
    # the call, types of operands and result, what is known, what is computed
    ("Shape(a)", ("?x?x5xf32",), "?xi64", ((N, 3, 5),), (N, 3, 5)),
    ("Shape(a) {start = 1 : i64}", ("?x?x5xf32",), "?xi64", ((N, 3, 5),), (3, 5)),
    ("Shape(a) {start = -3 : i64, end = -1 : i64}", ("?x?x5xf32",), "?xi64", ((N, 3, 5),), (N, 3)),
    ("Shape(a)", ("*xf32",), "?xi64", (None,), None),
    ("Size(a)", ("?x?x5xf32",), "i64", ((2, 3, 5),), (30,)),
    ("Size(a)", ("f32",), "i64", ((),), (None,)),
    ("Size(a)", ("?x?x5xf32",), "i64", ((N, 3, 5),), (None,)),
    ("Size(a)", ("*xf32",), "i64", (None,), (None,)),
    ("Cast(a)", ("?xi64",), "?xi1", ((0, 1, -2, N, None),), (0, 1, 1, None, None)),
    ("Cast(a)", ("?xi64",), "?xi32", (((1 << 31) - 1, 1 - (1 << 31), 1 << 31, N),), ((1 << 31) - 1, 1 - (1 << 31), None, N)),
    ("Cast(a)", ("?xi64",), "?xi32", (None,), None),
    ("Gather(a, b)", ("?xi64", "?xi64"), "?xi64", ((5, N, 7), (2, 1, -3, -1)), (7, N, 5, 7)),
    ("Gather(a, b)", ("?xi64", "?xi64"), "?xi64", ((5, N, 7), (3, -4, N, 0)), (None, None, None, 5)),
    ("Gather(a, b)", ("1x3xi64", "?xi64"), "?xi64", ((5, N, 7), (0,)), None),
    ("Gather(a, b)", ("?xi64", "?xi64"), "?xi64", (None, (0,)), None),
    ("Gather(a, b)", ("?xi64", "?xi64"), "?xi64", ((5,), None), None),
    ("Slice(a, b, c)", ("4xi64", "[1] : 1xi64", "[3] : 1xi64"), "?xi64", ((5, N, 7, 8), None, None), (N, 7)),
    ("Slice(a, b, c, d)", ("2x2xi64", "[1] : 1xi64", "[2] : 1xi64", "[1] : 1xi64"), "?xi64", ((5, N, 7, 8), None, None, None), (N, 8)),
    ("Slice(a, b, c)", ("4xi64", "1xi64", "1xi64"), "?xi64", ((5, N, 7, 8), None, None), None),
    ("Slice(a, b, c)", ("?xi64", "[1] : 1xi64", "[3] : 1xi64"), "?xi64", ((5, N, 7, 8), None, None), None),
    ("Slice(a, b, c)", ("5xi64", "[1] : 1xi64", "[3] : 1xi64"), "?xi64", ((5, N, 7, 8), None, None), None),
    ("Transpose(a)", ("2x3xi64",), "3x2xi64", ((5, N, 7, 8, 9, 10),), (5, 8, N, 9, 7, 10)),
    ("Transpose(a) {perm = array<i64: 0, 1>}", ("2x3xi64",), "2x3xi64", ((5, N, 7, 8, 9, 10),), (5, N, 7, 8, 9, 10)),
    ("Concat(a, b) {axis = 0 : i64}", ("?xi64", "?xi64"), "?xi64", ((5, N), (7,)), (5, N, 7)),
    ("Concat(a, b) {axis = 0 : i64}", ("?xi64", "?xi64"), "?xi64", ((5, N), None), None),
    ("Concat(a, b) {axis = 1 : i64}", ("1x2xi64", "1x1xi64"), "?xi64", ((5, N), (7,)), None),
    ("Not(a)", ("?xi1",), "?xi1", ((0, 1, None),), (1, 0, None)),
    ("Not(a)", ("?xi1",), "?xi1", (None,), None),
    ("Where(a, b, c)", ("?xi1", "?xi64", "?xi64"), "?xi64", ((1, 0, 1), (5, N, M), (7, 8, 9)), (5, 8, M)),
    ("Where(a, b, c)", ("?xi1", "?xi64", "?xi64"), "?xi64", ((None, None, 0), (5, N, N), (7, N, M)), (None, N, M)),
    ("Where(a, b, c)", ("?xi1", "?xi64", "?xi64"), "?xi64", ((0,), (5, 6), (7, N)), (7, N)),
    ("Where(a, b, c)", ("?xi1", "?xi64", "?xi64"), "?xi64", ((0, 1), (5, 6, 7), (7,)), None),
    ("Where(a, b, c)", ("?xi1", "?xi64", "?xi64"), "?xi64", ((0, 1), None, (7,)), None),
    ("Where(a, b, c)", ("?xi1", "1x2xi64", "?xi64"), "?xi64", ((0, 1), (5, 6), (7,)), None),
    ("ReduceProd(a)", ("?xi64",), "i64", ((5, 6, 7),), (210,)),
    ("ReduceProd(a)", ("?xi64",), "i64", ((5, N),), (None,)),
    ("ReduceProd(a)", ("?xi64",), "i64", (None,), None),
    ("ReduceProd(a)", ("1x3xi64",), "i64", ((5, 6, 7),), None),
    ("ReduceProd(a) {noop_with_empty_axes = 1 : i64}", ("?xi64",), "i64", ((5, 6, 7),), None),
    ("ConstantOfShape(a) {value = #onnx.tensor<[7] : tensor<1xi64>>}", ("1xi64",), "3xi64", (None,), (7, 7, 7)),
    ("ConstantOfShape(a) {value = #onnx.tensor<[7] : tensor<1xi64>>}", ("0xi64",), "i64", (None,), (7,)),
    ("ConstantOfShape(a) {value = #onnx.tensor<[7] : tensor<1xi64>>}", ("2xi64",), "1x3xi64", (None,), None),
    ("ConstantOfShape(a) {value = #onnx.tensor<[7] : tensor<1xi64>>}", ("1xi64",), "?xi64", (None,), None),
    ("ConstantOfShape(a)", ("1xi64",), "3xf32", (None,), None),
]  # fmt: skip


@pytest.mark.parametrize(("call", "types", "result", "known", "expected"), COUNTED)
def test_elements_that_an_op_computes(
    call: str,
    types: tuple[str, ...],
    result: str,
    known: tuple[Elements | None, ...],
    expected: Elements | None,
):
    op = op_of(call, *types, result=result)
    promise = op.get_trait(Counts)
    assert promise is not None
    assert promise.elements(op, Facts(op, *known)) == expected


SHAPES: list[tuple[str, tuple[str, ...], tuple[Elements | None, ...], list[Element] | None]] = [
    ("Add(a, b)", ("*xf32", "*xf32"), ((N, 1, 1), (1, 4)), [N, 1, 4]),
    ("Add(a, b)", ("*xf32", "*xf32"), ((4,), (M, N)), [M, None]),
    ("Add(a, b)", ("*xf32", "*xf32"), ((N,), ()), [N]),
    ("Add(a, b)", ("*xf32", "*xf32"), ((N,), None), None),
    ("Conv(a, b)", ("*xf32", "*xf32"), ((N, 3, M), None), [N, None, None]),
    ("Conv(a, b)", ("*xf32", "*xf32"), (None, None), None),
    ("MatMul(a, b)", ("*xf32", "*xf32"), ((N, 1, 4), (M, 4, 5)), [None, 1, 5]),
    ("MatMul(a, b)", ("*xf32", "*xf32"), ((3, 4), (4, N)), [3, N]),
    ("MatMul(a, b)", ("*xf32", "*xf32"), ((4,), (4, N)), None),
    ("MatMul(a, b)", ("*xf32", "*xf32"), ((N, 4), (4,)), None),
    ("MatMul(a, b)", ("*xf32", "*xf32"), (None, (4, N)), None),
    ("MatMul(a, b)", ("*xf32", "*xf32"), ((N, 4), None), None),
    ("Transpose(a)", ("*xf32",), ((N, 3, M),), [M, 3, N]),
    ("Transpose(a) {perm = array<i64: 1, 0, 2>}", ("*xf32",), ((N, 3, M),), [3, N, M]),
    ("Transpose(a) {perm = array<i64: 1, 0>}", ("*xf32",), ((N, 3, M),), None),
    ("Transpose(a)", ("*xf32",), (None,), None),
    ("Concat(a, b) {axis = 1 : i64}", ("*xf32", "*xf32"), ((N, 3), (4, M)), [4, None]),
    ("Concat(a, b) {axis = -2 : i64}", ("*xf32", "*xf32"), ((N, M), None), [None, M]),
    ("Concat(a, b) {axis = 1 : i64}", ("*xf32", "*xf32"), ((N, 3), (4, M, 2)), None),
    ("Concat(a, b) {axis = 1 : i64}", ("*xf32", "*xf32"), (None, None), None),
    ("Slice(a, b, c)", ("?x?xf32", "[1] : 1xi64", "[3] : 1xi64"), ((N, M), None, None), [None, M]),
    ("Slice(a, b, c)", ("?x?xf32", "1xi64", "1xi64"), ((N, M), None, None), None),
    ("Slice(a, b, c)", ("*xf32", "[1] : 1xi64", "[3] : 1xi64"), (None, None, None), None),
    ("Unsqueeze(a, b)", ("*xf32", "[0, -1] : 2xi64"), ((N, M), None), [1, N, M, 1]),
    ("Unsqueeze(a, b)", ("*xf32", "[1, 2] : 2xi64"), ((N, M), None), [N, 1, 1, M]),
    ("Unsqueeze(a, b)", ("*xf32", "2xi64"), ((N, M), None), None),
    ("Unsqueeze(a, b)", ("*xf32", "[0] : 1xi64"), (None, None), None),
    ("Gather(a, b)", ("*xf32", "*xi64"), ((N, M, 3), (5, 6)), [5, 6, M, 3]),
    ("Gather(a, b) {axis = -1 : i64}", ("*xf32", "*xi64"), ((N, M, 3), (5, 6)), [N, M, 5, 6]),
    ("Gather(a, b) {axis = 1 : i64}", ("*xf32", "*xi64"), ((N, M, 3), ()), [N, 3]),
    ("Gather(a, b)", ("*xf32", "*xi64"), (None, (5,)), None),
    ("Gather(a, b)", ("*xf32", "*xi64"), ((), (5,)), None),
    ("Gather(a, b)", ("*xf32", "*xi64"), ((N, M), None), None),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (0, 2, 3)), [N, 2, 3]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (2, 3, 0)), [2, 3, 0]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (0, 2, -1)), [N, 2, 3]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (-1, 6)), [N, 6]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (-1, 3)), [None, 3]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (N, 4, -1)), [N, 4, None]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (M, -1)), [M, None]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, M, 6), (6, -1)), [6, None]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (-1, -1)), [None, None]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((5, 0), (5, 0, -1)), [5, 0, None]),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), (None, -1)), [None, None]),
    ("Reshape(a, b) {allowzero = 1 : i64}", ("*xf32", "*xi64"), ((N, 6), (0, 6)), None),
    ("Reshape(a, b)", ("*xf32", "*xi64"), (None, (0, 6)), None),
    ("Reshape(a, b)", ("*xf32", "*xi64"), ((N, 6), None), None),
    ("Expand(a, b)", ("*xf32", "*xi64"), ((N, 1), (M, 1, 4)), [M, N, 4]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "types", "known", "expected"), SHAPES)
def test_sizes_of_a_result(
    call: str, types: tuple[str, ...], known: tuple[Elements | None, ...], expected: list[Element] | None
):
    op = op_of(call, *types, result="*xf32")
    promise = op.get_trait(Shaped)
    assert promise is not None
    sizes = promise.sizes(op, Facts(op, *known))
    assert (None if sizes is None else list(sizes)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((2, N, 3), (4, N, 6), (2.0, 1.0, 2.0)),
        ((2, 3), (4, 0), (2.0, 0.0)),
        ((0, 3), (0, 6), None),
        ((2, N), (4, M), None),
        ((2, N), (4, 5), None),
        ((2, 5), (4, N), None),
        ((2, None), (4, None), None),
        ((2, 3), (4,), None),
        ((2, 3), None, None),
        (None, (4, 6), None),
    ],
)
def test_factors_of_sizes(
    before: Elements | None, after: Elements | None, expected: tuple[float, ...] | None
):
    op = op_of("Resize(a, _, _, b)", "*xf32", "?xi64", result="*xf32")
    promise = op.get_trait(TakesSizes)
    assert promise is not None
    assert promise.factors(op, Facts(op, before, after)) == expected


@pytest.mark.parametrize(
    ("attributes", "number"), [("", 0.0), (" {value = #onnx.tensor<[2.5] : tensor<1xf32>>}", 2.5)]
)
def test_the_number_of_a_filled_tensor(attributes: str, number: float):
    op = op_of(f"ConstantOfShape(a){attributes}", "1xi64", result="?xf32")
    promise = op.get_trait(Fills)
    assert promise is not None
    assert promise.number(op) == number


@pytest.mark.parametrize(
    ("constant", "expected"),
    [
        ("[] : 0xf32", None),
        ("[3.0] : 1xf32", 3.0),
        ("[3.0] : f32", 3.0),
        ("[3.0, 3.0, 3.0, 3.0] : 2x2xf32", 3.0),
        ("[3.0, 3.0, 3.0, 3.0, 3.0] : 5xf32", None),
        ("[3.0, 4.0] : 2xf32", None),
        ("[4, 4] : 2xi64", 4.0),
        ("[1, 1] : 2xi1", None),
    ],
)
def test_equal_elements_of_a_constant(constant: str, expected: float | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sizes, "MAX_EXAMINED_ELEMENTS", 4)
    op = last_op(f"k = {constant}\ny = Identity(k) : {constant.rpartition(' ')[2]}")
    assert sizes.filled_with(op.operands[0]) == expected
