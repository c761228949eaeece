"""`patterns.arithmetic_operands`: which values are computed from constants alone, and which are integers as floats."""

import sys
from itertools import pairwise
from types import FrameType

import numpy as np
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.onnx_io.importer import import_model
from qdialect.patterns.arithmetic_operands import Constants, Integers


def computed(first: str, length: int) -> list[SSAValue]:
    """The results of `length` Adds of `c`, each of the one before it; the first adds `c` to `first`, `x` or `c`."""
    names = [first, *(f"t{k}" for k in range(length - 1)), "y"]
    nodes = [oh.make_node("Add", [a, "c"], [b]) for a, b in pairwise(names)]
    model = onnx_model(nodes, {"x": (1, [3])}, {"y": (1, [3])}, {"c": np.ones(3, np.float32)})
    return [op.results[0] for op in import_model(model).walk() if isinstance(op, OnnxOp) and op.operands]


@pytest.mark.parametrize(("first", "constant"), [("c", True), ("x", False)])
def test_a_chain_is_constant_if_what_it_begins_with_is(first: str, constant: bool) -> None:
    values, constants = computed(first, 5), Constants()
    assert [value in constants for value in values * 2] == [constant] * 10
    assert (values[-1] in Constants()) is constant


def calls(first: str, length: int, answers: Constants | Integers) -> int:
    """Calls of functions in C while each value of a chain is asked for in its order."""
    values, count = computed(first, length), 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "c_call" and "arithmetic_operands" in frame.f_code.co_filename

    former = sys.getprofile()
    sys.setprofile(profile)
    for value in values:
        _ = value in answers
    sys.setprofile(former)
    return count


@pytest.mark.parametrize("first", ["c", "x"])
@pytest.mark.parametrize("kind", [Constants, Integers])
def test_every_value_of_a_chain_is_asked_in_linear_time(kind: type[Constants | Integers], first: str) -> None:
    few, many = calls(first, 100, kind()), calls(first, 400, kind())
    assert few > 100
    assert many < 5 * few
