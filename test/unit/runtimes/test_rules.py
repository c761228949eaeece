"""The rules of each runtime are found by the name that targets give it, and nothing of another runtime's is applied."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_cases import Case, ops_of, parsed, text

from qdialect.errors import UserError
from qdialect.runtimes import runtime_names, session_rules
from qdialect.targets import target, target_names
from qdialect.transforms.guard_session import GuardSessionPass

UNIT = Path(__file__).parent
MOVED_I32 = """
    i: 2x3xi32
    s = [0.5] : f32
    z = [0] : i32
    n = [6] : 1xi64
    x = DequantizeLinear(i, s, z) : 2x3xf32
    t = Transpose(x) {perm = array<i64: 1, 0>} : 3x2xf32
    y = Reshape(t, n) : 6xf32"""
"""What sessions of onnxruntime refuse without a Sum."""


def guarded(target: str) -> str:
    context, module = parsed(text(Case("guard-session", "", MOVED_I32)))
    GuardSessionPass(target).apply(context, module)
    return ops_of(module)


def test_a_target_without_sessions_gets_no_guard():
    assert "Sum" in guarded("onnxruntime")
    assert "Sum" not in guarded("generic")


def test_a_target_of_another_runtime_gets_no_guard_of_onnxruntimes(tmp_path: Path):
    """It got all of them, whatever its file named."""
    file = tmp_path / "own.toml"
    file.write_text('like = "onnxruntime"\nsummary = "of another runtime"\nsession = "nobodys"\n')
    with pytest.raises(
        UserError, match=r"no rules for sessions of 'nobodys'; for `session`, choose from .*onnxruntime"
    ):
        guarded(str(file))


@pytest.mark.parametrize("name", runtime_names())
def test_a_runtime_is_whole(name: str):
    table = session_rules(name)
    names = [rule.name for rule in table.rules]
    assert table.runtime == name, (
        f"TABLE of qdialect/runtimes/{name}/rules.py has the name of another runtime"
    )
    assert len(set(names)) == len(names), "two rules have one name"
    for rule in table.rules:
        ways = (rule.finds, rule.writes, rule.sweeps)
        assert sum(way is not None for way in ways) == 1, f"{rule.name}: give one of finds, writes, sweeps"
    assert any(target(one).session == name for one in target_names()), (
        f'no file of qdialect/targets says `session = "{name}"`, so no model is guarded for it'
    )
    assert (UNIT / name / "test_rules.py").exists(), (
        f"write test/unit/runtimes/{name}/test_rules.py: a model for each rule that a session spoils without it"
    )
