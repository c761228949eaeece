"""`benchmarks/session_noise.py` finds a default session that adds noise to a compiled model."""

from typing import Any

import numpy as np
import pytest
from onnx import parser

import session_noise
from graphs.quantized import Case

TEXT = """<ir_version: 10, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,4] y)
<float s = {0.02}, uint8 z = {128}, float t = {0.002}, uint8 u = {128}, int64[2] n = {3, 4},
 float[3,4] w = {0.37, -0.0127, 0.72, -0.0115, -0.86, 0.0127, 0.068, 1.27, 0.0044, 0.45, -0.077, -0.0128}> {
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z)
  k = Sum(w)
  c = Gemm(d, k)
  m = Sum(c)
  p = QuantizeLinear(m, t, u)
  y = DequantizeLinear(p, t, u)
}"""
"""Sums of one operand are the identity, which compilation drops and a session does not."""


def nothing(stage: str) -> None:
    """Begin nothing."""


def unguarded(table: Any, module: Any, session: Any) -> None:
    """Guard nothing."""


@pytest.mark.parametrize("rules", [None, ()], ids=["guarded", "unguarded"])
def test_a_session_that_adds_noise_is_found(rules: Any, monkeypatch: pytest.MonkeyPatch):
    if rules is not None:
        monkeypatch.setattr("qdialect.runtimes.rules.SessionRules.guard", unguarded)
    feeds = {"x": np.random.default_rng(3).normal(0, 0.1, (2, 3)).astype(np.float32)}
    found = session_noise.compared(Case(0, parser.parse_model(TEXT), feeds), 6.0, 60.0, nothing)
    assert {form: kind for form, (kind, *_) in found.items()} == (
        {} if rules is None else dict.fromkeys(session_noise.FORMS, "session")
    )
