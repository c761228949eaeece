"""`upstream.linalg.elementwise`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

import pytest
from guard_cases import Case, ops_of, parsed, text

from qdialect.transforms import get_all_passes


@pytest.mark.parametrize("op", ["ReduceMean", "ReduceSum", "GlobalAveragePool", "AveragePool"])
@pytest.mark.parametrize("x", ["f32", "!s"])
@pytest.mark.parametrize("y", ["f32", "!t"])
def test_means_and_sums_of_either_type_are_written_in_linalg(op: str, x: str, y: str):
    window = " {kernel_shape = array<i64: 3, 3>}" if op == "AveragePool" else ""
    attributes = " {axes = array<i64: 2, 3>}" if op == "ReduceMean" else window
    axes, more = ("k = [2, 3] : 2xi64\n", ", k") if op == "ReduceSum" else ("", "")
    body = f"x: 2x4x3x3x{x}\n{axes}y = {op}(x{more}){attributes} : 2x4x1x1x{y}"
    context, module = parsed(text(Case("", "", body)))
    get_all_passes()["lower-to-linalg"]()().apply(context, module)
    module.verify()
    assert ops_of(module) == ""


LINALG = [
    # element type, op, what it is in linalg
    *(("f32", op, f"arith.{name}") for op, name in {
        "Add": "addf", "Sub": "subf", "Mul": "mulf", "Div": "divf", "Max": "maximumf", "Min": "minimumf",
        "Less": "cmpf olt", "Greater": "cmpf ogt", "LessOrEqual": "cmpf ole", "GreaterOrEqual": "cmpf oge",
        "Equal": "cmpf oeq",
    }.items()),
    *((kind, op, f"arith.{name}") for kind in ("i8", "i32", "i64") for op, name in {
        "Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divsi", "Max": "maxsi", "Min": "minsi",
        "Less": "cmpi slt", "Greater": "cmpi sgt", "LessOrEqual": "cmpi sle", "GreaterOrEqual": "cmpi sge",
        "Equal": "cmpi eq",
    }.items()),
    *((kind, op, f"arith.{name}") for kind in ("ui8", "ui32", "ui64") for op, name in {
        "Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divui", "Max": "maxui", "Min": "minui",
        "Less": "cmpi ult", "Greater": "cmpi ugt", "LessOrEqual": "cmpi ule", "GreaterOrEqual": "cmpi uge",
        "Equal": "cmpi eq",
    }.items()),
    ("i1", "Equal", "arith.cmpi eq"),
    ("f64", "Add", "onnx.Add"),
    ("f64", "Less", "onnx.Less"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "op", "expected"), LINALG)
def test_integers_are_signed_in_linalg_as_their_type_says(kind: str, op: str, expected: str):
    """Upstream, types are signless: comparisons, quotients and extremes say what numbers are."""
    result = kind if op in ("Add", "Sub", "Mul", "Div", "Max", "Min") else "i1"
    case = Case("", "", f"a: 2x3x{kind}\nb: 3x{kind}\ny = {op}(a, b) : 2x3x{result}")
    context, module = parsed(text(case))
    get_all_passes()["lower-to-linalg"]()().apply(context, module)
    assert expected in str(module)
    assert ops_of(module) == (op if expected.startswith("onnx") else "")
