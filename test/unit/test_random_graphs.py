"""A slice of `benchmarks/random_graphs.py`: random QDQ graphs, compiled and held against the oracle."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COUNT = 30
FOUND_BUGS = (12, 13, 14, 27, 53, 74, 118, 145)
"""Graphs that once showed a bug in a pass, each another one."""


FOUND_IN_FORMS = (404473, 410449, 410645)
"""The same in every form: a name that went to other numbers, scales that all are one, sizes that only one op knew."""


@pytest.fixture(scope="module")
def graphs() -> Any:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module("random_graphs")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("target", ["onnxruntime", "generic"])
@pytest.mark.parametrize("seed", FOUND_BUGS)
def test_each_pass_keeps_its_word(graphs: Any, seed: int, target: str):
    found = graphs.outcome(graphs.random_case(seed), target)
    assert (found.problem, found.sqnr >= graphs.LEAST) == ("", True)


@pytest.mark.parametrize("seed", [*range(400, 410), *FOUND_IN_FORMS])
def test_every_form(graphs: Any, seed: int):
    for target, found in graphs.outcomes(seed).items():
        assert (seed, target, found.problem) == (seed, target, "")


def test_whole_graphs(graphs: Any):
    integer = 0
    for seed in range(200, 200 + COUNT):
        case = graphs.random_case(seed)
        for target in graphs.TARGETS:
            found = graphs.outcome(case, target, passes=False)
            assert (seed, target, found.problem, found.sqnr >= graphs.LEAST) == (seed, target, "", True)
            integer += found.integer
    assert integer > COUNT  # else nothing of interest was compiled


def test_a_seed_is_one_graph(graphs: Any):
    first, second = graphs.random_case(3), graphs.random_case(3)
    assert first.model.SerializeToString() == second.model.SerializeToString()
    assert first.model.SerializeToString() != graphs.random_case(4).model.SerializeToString()
