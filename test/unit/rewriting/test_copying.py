"""Passes that several pipelines begin with, run and judged once: the others go on with a copy."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from wrong_on_purpose import FOLLOWS, promise, wrong_rounding, wrong_zero_point
from xdsl.dialects.builtin import ModuleOp

import random_graphs
from graphs.quantized import random_case
from graphs.shared_prefix import Together
from qdialect.compiler.options import Options
from qdialect.evaluation.session import remembered, run
from qdialect.ir.walking import operations
from qdialect.reasons import Blocked
from qdialect.rewriting.copying import copied
from qdialect.rewriting.remarks import remarks_of

Patch = pytest.MonkeyPatch
SEEDS = (7400003, 7400006, 7400012, 7400020)


def module_of(seed: int) -> ModuleOp:
    return random_graphs.imported(random_case(seed, True).model)


def test_a_copy_has_remarks_names_and_the_order_of_uses():
    module = module_of(SEEDS[0])
    for value in (value for op in operations(module) for value in op.results):
        for use in list(value.uses)[1:]:  # in another order than a walk would give
            value.remove_use(use)
            value.add_use(use)
    last = operations(module)[-1]
    remarks_of(module).add("a-pass", last, Blocked("x", "because"))
    copy, values, ops = copied(module)
    for old, new in values.items():
        assert [(ops[u.operation], u.index) for u in old.uses] == [(u.operation, u.index) for u in new.uses]
    assert all(old.location == new.location for old, new in ops.items())
    assert len(values) > 10
    assert [one.blocked.id for one in remarks_of(copy).on(ops[last])] == ["x"]
    remarks_of(copy).add("a-pass", ops[last], Blocked("y", "because"))
    assert len(remarks_of(module)) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_targets_together_become_what_each_becomes_alone(seed: int):
    targets = random_graphs.targets_of(seed)
    case = random_case(seed, True)
    alone = [random_graphs.alone(case.model, target).SerializeToString() for target in targets]
    imports = 0

    def count() -> ModuleOp:
        nonlocal imports
        imports += 1
        return random_graphs.imported(case.model)

    runs = Together(count, [random_graphs.options(target) for target in targets], case.feeds)
    both = [random_graphs.export_model(runs.run(k)).SerializeToString() for k in range(len(targets))]
    assert (both, imports) == (alone, 1)


def test_what_a_point_begins_with_is_not_changed_by_who_goes_on():
    """Equal pipelines: all that the first does is kept for the second, and for the third."""
    case = random_case(SEEDS[0], True)
    runs = Together(partial(random_graphs.imported, case.model), [Options()] * 3, case.feeds)
    results = [random_graphs.export_model(runs.run(k)).SerializeToString() for k in range(3)]
    assert results[0] == results[1] == results[2]


def wrong_axis(patch: Patch) -> None:
    promise(patch, "Transpose", FOLLOWS)


@pytest.mark.parametrize("wrong", [wrong_axis, wrong_zero_point, wrong_rounding])
def test_a_wrong_pass_is_seen_by_all_that_run_it(wrong: Callable[[Patch], None], monkeypatch: Patch):
    wrong(monkeypatch)
    problems = 0
    for seed in range(7400005, 7400011):
        case = random_case(seed, True)
        together = random_graphs.outcomes(seed, twice=1000)
        for target, one in together.items():
            assert one.problem == random_graphs.outcome(case, target, twice=False).problem
            problems += bool(one.problem)
    assert problems


def test_a_model_that_ran_is_not_run_again():
    case = random_case(SEEDS[0], True)
    with remembered():
        first = run(case.model, case.feeds)
        again = run(case.model, case.feeds)
        other = run(case.model, {name: array.copy() for name, array in case.feeds.items()}, optimize=True)
        moved = run(case.model, {name: np.zeros_like(array) for name, array in case.feeds.items()})
    assert all(a is b for a, b in zip(first, again, strict=True))
    assert not any(a is b for a, b in zip(first, other, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, moved, strict=True))
    assert not any(a is b for a, b in zip(first, run(case.model, case.feeds), strict=True))
