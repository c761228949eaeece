"""
A pass or pattern that changes the IR without the driver says why, in one line below its file's docstring.

The driver keeps names, remarks and what was asked to stay in float; a change around it must not need them.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = "transforms/*.py", "qdialect/patterns/**/*.py", "qdialect/runtimes/**/*.py"
FILES = sorted(path for folder in FOLDERS for path in ROOT.glob(folder))
LINE = "# Around the driver: "
MUTATORS = frozenset(
    "add_op add_ops detach drop_all_references erase erase_arg erase_op insert_arg insert_op_after insert_op_before "
    "insert_ops_after insert_ops_before replace_all_uses_with".split()
)
"""Methods of xDSL's operations, values, blocks and regions that change the IR."""
FIELDS = frozenset({"operands", "_type", "attributes", "properties", "results"})
"""Fields of operations and values; to assign to one, or to an entry of one, changes the IR."""


def _changes(tree: ast.Module) -> list[int]:
    """Lines that change the IR and not through a rewriter."""
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            if not ast.unparse(node.func.value).endswith("rewriter"):
                lines.append(node.lineno)
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for one in target.elts if isinstance(target, ast.Tuple) else (target,):
                field = one.value if isinstance(one, ast.Subscript) else one
                if (
                    isinstance(field, ast.Attribute)
                    and field.attr in FIELDS
                    and ast.unparse(field.value) != "self"
                ):
                    lines.append(one.lineno)
    return lines


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_who_goes_around_the_driver_says_why(path: Path) -> None:
    text = path.read_text()
    reasons = [line for line in text.splitlines() if line.startswith(LINE)]
    changes = _changes(ast.parse(text))
    assert len(reasons) == bool(changes), f"lines {changes} change the IR, reasons: {reasons}"
    assert all(len(reason) > len(LINE) + 20 for reason in reasons)


def test_the_reader_of_this_test_sees_each_kind_of_change() -> None:
    changing = "op.erase()", "op.operands[0] = x", "value._type = t", "a, op.operands = b, c"
    through_the_driver = "rewriter.erase(op)", "self._rewriter.erase(op)", "self._type = t"
    text = "\n".join([*changing, *through_the_driver])
    assert sorted(_changes(ast.parse(text))) == [1, 2, 3, 4]
