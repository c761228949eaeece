"""`patterns.recurrent`: the last case on one side of each bound, the first on the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from guard_cases import last_op

from qdialect.patterns.recurrent import pays
from qdialect.targets import Target


def ones(shape: str) -> str:
    return f"[{', '.join(['1.0'] * np.prod([int(n) for n in shape.split('x')]))}] : {shape}xf32"


class Runtime(SimpleNamespace):
    """A target with the kernels `has`, and the costs that say when they are faster."""

    def has_kernel(self, op_type: str, operands: Any, result: str) -> bool:
        return op_type in self.has


LSTM = f"""
    x: 5x3x2xf32
    w = {ones("1x12x2")}
    r = {ones("1x12x3")}
    y = LSTM(x, w, r) {{hidden_size = 3 : i64}} : 5x1x3x3xf32"""


@pytest.mark.parametrize(
    ("old", "new", "least", "expected"),
    [
        ("", "", {}, True),
        ("", "", {"least": 3}, True),
        ("", "", {"least": 4}, False),
        (f"w = {ones('1x12x2')}", "w: 1x12x2xf32", {}, False),
        (f"r = {ones('1x12x3')}", "r: 1x12x?xf32", {}, False),
        ("LSTM(x, w, r)", "GRU(x, w, r)", {}, False),
    ],
)
def test_a_recurrent_kernel_pays_from_a_number_of_units_on(
    old: str, new: str, least: dict[str, float], expected: bool
):
    kernel = "DynamicQuantizeLSTM"
    op = last_op(LSTM.replace(old, new) if old else LSTM)
    assert pays(op, cast(Target, Runtime(has=[kernel], costs={kernel: least}))) is expected
    assert not pays(op, cast(Target, Runtime(has=[], costs={kernel: least})))
