"""
Which tests a mutant makes a difference to: what it changes is computed both ways where the original stands.

A test in which both give the same, each time, runs as before, and need not be run again to see it.
"""

from __future__ import annotations

import ast
import builtins
import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mutation.changes import COMPARISONS, OPERATORS, Live, Mutant, mutants

PROBE = "__probe__"
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}
"""What is computed both ways: it has no effects, and its two results may be the same."""
NUMBERS = (int, float, np.generic, np.ndarray)


def _same(old: str, new: str, left: Any, right: Any) -> bool:
    """Whether two operators give the same number."""
    if not isinstance(left, NUMBERS) or not isinstance(right, NUMBERS):
        return False
    try:
        with np.errstate(all="ignore"):
            first, second = ORDERS[old](left, right), ORDERS[new](left, right)
    except (ArithmeticError, ValueError, TypeError):
        return False
    return type(first) is type(second) and np.array_equal(first, second)


class _Wrap(ast.NodeTransformer):
    """Puts a call in the place of what mutants change."""

    def __init__(self, places: Mapping[ast.AST, str]):
        self.places = places

    def visit(self, node: ast.AST) -> Any:
        """The node, with its parts."""
        key = self.places.get(node)
        self.generic_visit(node)
        if key is None:
            return node
        if isinstance(node, ast.If):
            node.test = self._call(node.test, key, "guard", node.test)
            return node
        if isinstance(node, ast.BinOp):
            names = type(node.op).__name__, OPERATORS[type(node.op)].__name__
            return self._call(node, key, *names, node.left, node.right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]).__name__ in ORDERS:
            names = type(node.ops[0]).__name__, COMPARISONS[type(node.ops[0])].__name__
            return self._call(node, key, *names, node.left, node.comparators[0])
        assert isinstance(node, ast.expr)
        return self._call(node, key, "", node)

    @staticmethod
    def _call(node: ast.expr, *parts: str | ast.expr) -> ast.expr:
        values = [ast.Constant(part) if isinstance(part, str) else part for part in parts]
        call = ast.copy_location(ast.Call(ast.Name(PROBE, ast.Load()), values, []), node)
        return ast.fix_missing_locations(call)


class Recorder:
    """A plugin that keeps, of each test that passes, its seconds and the mutants that make a difference to it."""

    def __init__(self, root: Path, chosen: Sequence[Mutant], live: Live):
        self.seconds: dict[str, float] = {}
        """Of processor time, which other work on the machine does not change much; -1 for a test that fails."""
        self.failed: set[str] = set()
        self.tests: dict[str, dict[str, None]] = {mutant.key: {} for mutant in chosen}
        """By mutant. A file is in it where a fixture that its tests share makes the difference."""
        self.reached: dict[str, None] = {}
        self.contexts = [""]
        setattr(builtins, PROBE, self.probe)
        for path in {mutant.function.path for mutant in chosen}:
            tree, every = mutants(root / path, root)
            mine = {node: mutant for node, mutant in every.items() if mutant.key in self.tests}
            changed = _Wrap({node: mutant.key for node, mutant in mine.items()}).visit(tree)
            for function in {mutant.function for mutant in mine.values()}:
                function.replace(changed, live)

    def probe(self, key: str, old: str, *values: Any) -> Any:
        """The value of an expression."""
        self.reached[key] = None
        if len(values) == 3:
            new, left, right = values
            value, same = ORDERS[old](left, right), _same(old, new, left, right)
        else:
            value = values[0]
            same = old == "guard" and not value
        if not same:
            self.tests[key][self.contexts[-1]] = None
        return value

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What fails without a change tells nothing."""
        if not report.passed:
            self.failed.add(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """A test."""
        self.contexts.append(item.nodeid)
        begin = sum(os.times()[:4])
        done = yield
        self.seconds[item.nodeid] = -1.0 if item.nodeid in self.failed else sum(os.times()[:4]) - begin
        self.contexts.pop()
        return done

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """What several tests may share."""
        shared = fixturedef.scope != "function"
        self.contexts.append(str(request.node.nodeid).partition("::")[0] if shared else self.contexts[-1])
        done = yield
        self.contexts.pop()
        return done


def tests(mutant: Mutant, named: Sequence[str], seconds: Mapping[str, float], limit: float) -> list[str]:
    """
    Tests that a mutant makes a difference to, the quickest first, those of its file's name before others that take a
    tenth of their time, up to `limit` seconds in all.
    """
    stem = Path(mutant.function.path).stem
    files = {name for name in named if "::" not in name}
    every = set(named) | {test for test in seconds if test.partition("::")[0] in files}

    def rank(test: str) -> float:
        name = Path(test.partition("::")[0]).stem.replace("-", "_")
        return seconds[test] * (0.1 if stem in name else 1)

    chosen: list[str] = []
    for test in sorted((test for test in every if seconds.get(test, -1) >= 0), key=rank):
        limit -= seconds[test]
        if limit < 0 and len(chosen) >= 3:
            break
        chosen.append(test)
    return chosen
