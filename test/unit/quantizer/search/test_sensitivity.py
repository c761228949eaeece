"""The noise budget adds up, and a plan of float layers holds its limit with few of them."""

from collections.abc import Callable

import numpy as np
import pytest

from qdialect.quantizer.search.sensitivity import Budget, Cause, RoundingSite, plan_floats


def budget(powers: dict[str, float], *, seed: int = 0, size: int = 4000) -> Budget:
    """A site for each layer, with a random error of that power; the errors of all add."""
    rng = np.random.default_rng(seed)
    result = Budget(RoundingSite((layer,), Cause.WEIGHT) for layer in powers)
    for _ in range(3):
        signal = rng.normal(size=size)
        errors = rng.normal(size=(len(powers), size)) * np.sqrt(list(powers.values()))[:, None]
        result.add(signal, errors)
    return result


def test_shares_add_up_to_the_noise_even_of_errors_that_cancel() -> None:
    result = Budget(
        [
            RoundingSite(("a",), Cause.WEIGHT),
            RoundingSite(("b",), Cause.WEIGHT),
            RoundingSite(("a", "b"), Cause.ROUNDING),
        ]
    )
    a = np.array([1.0, -2.0, 0.5])
    errors = np.stack([a, -0.5 * a, np.array([0.1, 0.1, 0.3])])
    result.add(np.full(3, 10.0), errors)
    shares = result.shares()
    assert sum(s.total for s in shares) == pytest.approx(1)
    assert [s.layer for s in shares] == ["a", "b"]
    assert shares[0].total > 1
    assert shares[1].total < 0
    assert shares[0].cause == Cause.WEIGHT
    assert shares[0].causes[Cause.ROUNDING] == shares[1].causes[Cause.ROUNDING]
    assert result.noise == pytest.approx(float(np.square(errors.sum(axis=0)).sum()) / 300)


def test_a_site_of_two_layers_goes_with_both() -> None:
    result = Budget([RoundingSite(("a", "b"), Cause.ROUNDING), RoundingSite(("a",), Cause.WEIGHT)])
    result.add(np.array([1.0, 0.0]), np.array([[0.1, 0.0], [0.0, 0.2]]))
    assert result.predict([]) == pytest.approx(0.05)
    assert result.predict(["a"]) == pytest.approx(0.01)
    assert result.predict(["b"]) == pytest.approx(0.05)
    assert result.predict(["a", "b"]) == 0


POWERS = {"a": 1e-4, "b": 4e-3, "c": 2e-3, "d": 5e-5, "e": 1e-3}


def counting(
    measure: Callable[[tuple[str, ...]], float],
) -> tuple[Callable[[tuple[str, ...]], float], list[int]]:
    calls = [0]

    def counted(kept: tuple[str, ...]) -> float:
        calls[0] += 1
        return measure(kept)

    return counted, calls


def test_plan_keeps_the_noisiest_of_equal_cost() -> None:
    noise_budget = budget(POWERS)
    measure, calls = counting(noise_budget.predict)
    plan = plan_floats(noise_budget, dict.fromkeys(POWERS, 100.0), 2e-3, measure)
    assert plan.reached
    assert set(plan.kept) == {"b", "c"}
    assert plan.flag == "--keep-float b,c"
    assert calls[0] <= 4
    assert noise_budget.predict(plan.kept) <= 2e-3


def test_plan_prefers_cheap_layers() -> None:
    noise_budget = budget(POWERS)
    plan = plan_floats(
        noise_budget, dict.fromkeys(POWERS, 100.0) | {"b": 10000.0}, 4.5e-3, noise_budget.predict
    )
    assert plan.reached
    assert set(plan.kept) == {"c", "e"}


def test_plan_is_empty_if_nothing_is_needed() -> None:
    noise_budget = budget(POWERS)
    plan = plan_floats(noise_budget, dict.fromkeys(POWERS, 1.0), 1.0, noise_budget.predict)
    assert (plan.reached, plan.kept, plan.flag, len(plan.trials)) == (True, (), "", 1)


def test_plan_corrects_a_wrong_prediction() -> None:
    """A metric that loses 30 for each unit of noise, and more than the budget says."""
    noise_budget = budget(POWERS)

    def loss(kept: tuple[str, ...]) -> float:
        return 30 * (noise_budget.predict(kept) + (0 if "e" in kept else 1e-3))

    plan = plan_floats(noise_budget, dict.fromkeys(POWERS, 1.0), 0.02, loss)
    assert plan.reached
    assert loss(plan.kept) <= 0.02
    assert len(plan.kept) < len(POWERS)


def test_plan_says_when_the_limit_cannot_be_held() -> None:
    noise_budget = budget(POWERS)
    plan = plan_floats(noise_budget, dict.fromkeys(POWERS, 1.0), 1e-6, lambda kept: 1.0)
    assert not plan.reached
    assert set(plan.kept) == set(POWERS)


def test_plan_puts_back_what_is_not_needed() -> None:
    """Keeping `a` helps more than predicted: `b`, kept as well, can go back."""
    noise_budget = budget({"a": 1e-3, "b": 2e-3, "c": 1e-3})

    def noise(kept: tuple[str, ...]) -> float:
        return 4e-3 - 3.5e-3 * ("a" in kept) - 0.3e-3 * ("b" in kept) - 0.1e-3 * ("c" in kept)

    plan = plan_floats(noise_budget, dict.fromkeys("abc", 1.0), 1e-3, noise)
    assert plan.reached
    assert plan.kept == ("a",)
