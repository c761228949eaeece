"""
What layout and monotone promises say, on numbers: each entry moves casts and changes no bit.

All 256 stored values, zero points at the ends and within, scales from 1e-6 to 1e4, per tensor and along each axis
that the promise accepts. The reference is onnxruntime without optimization on the form before the pass.
"""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

import numpy as np
import pytest
from promise_cases import (
    CASES,
    PROMISES,
    Case,
    Feeds,
    agree,
    check,
    floats,
    hoist_module,
    ints,
    module,
    outputs,
    quantized,
    single,
    sink_module,
    stored_values,
    tensor,
)
from xdsl.context import Context

from qdialect.dialects.quant import DequantizeOp
from qdialect.dialects.schemas import snapshot
from qdialect.promises.base import Commutes
from qdialect.promises.control import Carries
from qdialect.promises.table import TABLES, promises_of
from qdialect.promises.unpromised import UNPROMISED
from qdialect.transforms.hoist_quantize import HoistQuantizePass
from qdialect.transforms.sink_dequantize import SinkDequantizePass

IDS = [f"{k}-{c.op}" for k, c in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_sinking_changes_no_bit(case: Case):
    for axis in (None, *case.sinks):
        check(case, axis, sink_module, SinkDequantizePass)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.element == "f32" and c.op != "Unique"], ids=lambda c: c.op
)
def test_hoisting_changes_no_bit(case: Case):
    for axis in (None, *case.hoists):
        check(case, axis, hoist_module, HoistQuantizePass)


@pytest.mark.parametrize(("low", "high"), [(0, 6), (-2, 3), (-1000, 5), (0, 1000), (1, 1)], ids=str)
def test_clip_between_stored_values(low: int, high: int):
    """Bounds that the type can express, in steps, and bounds beyond it."""
    one_scale = Case("Clip", "({x}, %a, %b)", [(256,)], (256,), (), (), floats("a", float(low), shape="") + floats("b", float(high), shape=""), "tensor<f32>, tensor<f32>")  # fmt: skip
    before, feeds = single(one_scale, "!quant.uniform<i8:f32, 1.0:-3>")
    agree(one_scale, before, feeds, SinkDequantizePass)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_each_part_of_a_split_keeps_its_numbers(axis: int | None):
    type = quantized("i8", axis, (3, 256), 0.02, -3)
    parts = {0: (2, 256), 1: (1, 256)}
    body = ints("c", 2, 1) + f"%q = quant.scast %x : tensor<3x256xi8> to {tensor((3, 256), type)}\n"
    body += f"%r = quant.dcast %q : {tensor((3, 256), type)} to tensor<3x256xf32>\n"
    body += "%y, %z = onnx.Split(%r, %c) : (tensor<3x256xf32>, tensor<2xi64>) -> (tensor<2x256xf32>, tensor<1x256xf32>)\n"
    before = module({"x": "tensor<3x256xi8>"}, body, {n: tensor(parts[k], "f32") for k, n in enumerate("yz")})
    feeds: Feeds = {"x": stored_values("i8", (3, 256), 0)}
    after = before.clone()
    SinkDequantizePass().apply(Context(), after)
    assert sum(isinstance(op, DequantizeOp) for op in after.walk()) == 2
    for a, b in zip(outputs(before, feeds, False), outputs(after, feeds, True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_promise_has_a_case():
    # Clip and Split have tests of their own below: bounds follow the scale, results are several.
    every = {("onnx_ms" if domain else "onnx", name) for domain, name in PROMISES}
    cases = {(c.dialect, c.op) for c in CASES} | {("onnx", "Clip"), ("onnx", "Split")}
    assert cases == every, f"add or remove a Case in test/support/promise_cases.py: {sorted(cases ^ every)}"


def test_every_promise_is_of_an_op():
    """One that nobody knows would have no effect, in silence."""
    assert not {key for table in TABLES for key in table if snapshot().find(*key) is None}


def test_every_op_promises_or_says_why_not():
    floats = {"tensor(float)", "seq(tensor(float))", "optional(tensor(float))"}
    for name in snapshot().names(""):
        schema = snapshot().find("", name)
        assert schema is not None
        last = schema.versions[-1]
        if any(floats & last.types.get(i.type_variable, {i.type_variable}) for i in last.inputs):
            moves = any(isinstance(one, Commutes | Carries) for one in promises_of("", name))
            assert moves != (name in UNPROMISED), (
                f"{name}: state a promise, or why it has none in qdialect/promises/unpromised.py, not both"
            )
