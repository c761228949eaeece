"""Which casts are read through: those that leave the real numbers as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from guard_cases import Case, ops_of, parsed, text
from xdsl.dialects.builtin import AnyFloat, Float16Type, f16, f32

from qdialect.dialects.quant import Storage, UniformType
from qdialect.patterns import casts
from qdialect.patterns.casts import ReadNarrowing, settles
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of


@pytest.mark.parametrize(
    ("scale", "same"), [(6.25e-05, True), (1e-3, True), (0.0123, True), (3.099609375, False)]
)
@pytest.mark.parametrize("zero_point", [0, 7, 40000])
def test_half_precision_is_read_through(scale: float, zero_point: int, same: bool):
    """At 3.1 the integers around 4096 are further apart than the numbers below, and nearer than those above."""
    type = UniformType.per_tensor(Storage.make(16, False), scale, zero_point, Float16Type())
    assert not type.round_trips
    assert settles(type) == same
    stored = np.arange(2**16).astype(np.uint16)
    with np.errstate(over="ignore"):
        first = type.dequantize(stored, np.float16)
        second = type.dequantize(type.quantize(first), np.float16)
    assert np.array_equal(first, second) == same


@pytest.mark.parametrize(("opset", "ops"), [(11, "qcast Clip scast dcast"), (10, "qcast dcast")])
def test_narrow_storage_is_a_clamp_from_opset_11_on(opset: int, ops: str):
    source = text(Case("", "", "x: 2x3xf32\nq = qcast x : 2x3x!narrow\ny = dcast q : 2x3xf32", opset=opset))
    _, module = parsed(f"!narrow = !quant.uniform<i8<-100:100>:f32, 0.5>\n{source}")
    apply_patterns(module, "any", [ReadNarrowing()])
    assert ops_of(module).replace("scast ", "") == ops.replace("scast ", "")
    assert [r.blocked.id for r in remarks_of(module)] == (["opset"] if opset == 10 else [])


def per_tensor(storage: str, scale: float, zero: int = 0, expressed: Any = None) -> UniformType:
    type = UniformType.per_tensor(Storage.of(storage), np.float32(scale), zero)
    return type if expressed is None else type.replace(expressed=expressed)


def test_as_many_integers_are_tried_as_the_most(monkeypatch: pytest.MonkeyPatch):
    """One too many are not: the type is taken for one that does not settle."""
    type = per_tensor("i8", 512.0, 0, f16)  # the ends are infinite, and stay so
    assert not type.round_trips
    tried = casts.settles.__wrapped__
    for most, expected in ((255, True), (254, False)):
        monkeypatch.setattr(casts, "MAX_TESTED_VALUES", most)
        assert tried(type) is expected


def test_integers_of_many_scales_are_not_all_tried(monkeypatch: pytest.MonkeyPatch):
    type = UniformType.per_axis(Storage.of("i8"), 0, [512.0] * 3).replace(expressed=f16)
    for most, expected in ((765, True), (764, False)):
        monkeypatch.setattr(casts, "MAX_TESTED_VALUES", most)
        assert casts.settles.__wrapped__(type) is expected


@pytest.mark.parametrize(
    ("storage", "scale", "expressed", "does"),
    [("i8", 0.1, f32, True), ("i32", 0.1, f32, False), ("u16", 0.1, f16, True)],
)
def test_which_types_settle(storage: str, scale: float, expressed: AnyFloat, does: bool):
    """All that survive the way through float, and of f16 those that are themselves the second time."""
    type = UniformType.per_tensor(Storage.of(storage), scale, 0).replace(expressed=expressed)
    assert settles(type) is does
