"""Which of several candidates is taken."""

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from qdialect.compiler.options import Options
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.placement.placement import Placement, PlacementKey
from qdialect.quantizer.rounding.rounding import RoundedLayer, round_layers
from qdialect.quantizer.search.candidates import Candidates, Finished
from qdialect.quantizer.search.judging import least_ratio
from qdialect.quantizer.search.space import Latest, Space
from qdialect.quantizer.search.strategy import best_beyond_chance, compile_best, placed_otherwise
from qdialect.quantizer.search.trials import MAX_TIME_SHARE, Choice, Trial, better, faster_line, table
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Noise
from qdialect.reasons import Blocked
from qdialect.report.report import Report
from qdialect.targets import Target


def trial(ratio: float, share: float, *, static: bool = True) -> Trial:
    """A candidate of that signal to noise, in dB, on each of eight samples, and share of the float model's time."""
    noise = Noise(np.ones(8), np.full(8, 10.0 ** (-ratio / 10)))
    return Trial(Choice(static=static), noise, share, layers=3, casts=5)


def key(*linear: int) -> PlacementKey:
    """The placement of some ops in integers."""
    return PlacementKey(linear, (), (), frozenset(), frozenset(), (1.0, 1.0))


def test_a_gain_of_time_is_worth_noise() -> None:
    plain, fast = trial(30.0, 0.6), trial(27.0, 0.45)
    assert better(plain, [fast]) is fast
    assert better(plain, [trial(25.0, 0.45)]) is plain
    assert better(plain, []) is plain


def test_who_prefers_speed_gets_the_shorter_time_and_who_prefers_accuracy_the_lower_noise() -> None:
    slow, fast = trial(35.0, 0.9), trial(28.0, 0.8)

    def chosen(prefer: str) -> float:
        return better(*(replace(slow, prefer=prefer), [replace(fast, prefer=prefer)])).share

    assert (chosen("speed"), chosen("balance"), chosen("accuracy")) == (0.8, 0.9, 0.9)
    assert better(replace(fast, prefer="accuracy"), [replace(slow, prefer="accuracy")]).share == 0.9


def test_a_rejected_candidate_that_is_much_faster_is_named_and_all_are_in_a_table() -> None:
    chosen, fast = trial(42.0, 0.95), replace(trial(35.2, 0.78), choice=Choice(price=0))
    assert faster_line([chosen, fast], chosen) == [
        "faster: minmax, nearest, all in integers, 0.82 of the time, 35.2 dB: --prefer speed"
    ]
    assert faster_line([chosen, trial(35.2, 0.9)], chosen) == []
    assert faster_line([chosen, trial(12.0, 0.7)], chosen) == []  # with too much noise to be written
    assert table([chosen, fast], chosen, 4)[1:] == [
        "    3 of 4    78 %    35.2 dB  minmax, nearest, all in integers",
        "    3 of 4    95 %    42.0 dB  minmax, nearest  <- chosen",
    ]


def test_what_would_be_given_up_for_the_float_model_beats_nothing() -> None:
    """44 dB at 97 % of the time is worth more than 26 dB at 43 %, but nobody gets it."""
    static, dynamic = trial(26.0, 0.43), trial(44.0, 0.97, static=False)
    assert dynamic.value() > static.value()
    assert better(static, [dynamic]) is static
    assert better(dynamic, [static]) is static
    assert better(dynamic, [trial(45.0, 0.97)]).ratio == pytest.approx(45.0)


def test_noise_and_time_that_are_worth_it() -> None:
    least = least_ratio(0.5)
    assert trial(least + 0.01, 0.5).pays
    assert not trial(least - 0.01, 0.5).pays
    assert not trial(90.0, MAX_TIME_SHARE + 0.01).pays


@pytest.mark.parametrize(("excess", "taken"), [(0.01, 0), (0.04, 1), (0.2, 0)])
def test_a_result_that_takes_too_long_gives_way_to_a_faster_one(excess: float, taken: int) -> None:
    """48 dB at 94 % of the time are 96 % with the nodes that only the compiled model shows; at 86 % they fit."""
    trials = (
        replace(trial(48.0, 0.94), placement=key(0)),
        replace(trial(40.0, 0.86), choice=Choice(price=125), placement=key(1)),
    )

    def finish(choice: Choice) -> Finished:
        share = next(one.share for one in trials if one.choice == choice) + excess
        return Finished(ModuleOp([]), cast(Report, None), 60.0, share)

    candidates = cast(
        Candidates,
        SimpleNamespace(
            tried={t.choice: t for t in trials}, finish=finish, space=SimpleNamespace(measure=False)
        ),
    )
    assert compile_best(candidates, trials[0])[0] is trials[taken]


def measured(choice: Choice, *ratios: float) -> Trial:
    """A candidate of those signals to noise, in dB, sample by sample."""
    noise = Noise(np.ones(len(ratios)), 10.0 ** (-np.array(ratios) / 10))
    return Trial(choice, noise, 0.5, layers=3, casts=5)


@pytest.mark.parametrize(
    ("ratios", "better_by_more_than_chance"),
    [
        ((32.0, 32.1, 32.0, 31.9), True),
        ((45.0, 30.0, 25.0, 34.0), False),  # 3.5 dB on average, which one sample makes
        ((29.0, 29.1, 29.0, 28.9), False),
    ],
)
def test_what_chance_may_have_made_is_rounded_to_nearest(
    ratios: tuple[float, ...], better_by_more_than_chance: bool
) -> None:
    """And placed for that: where it pays to be an integer depends on the noise of the rounding."""
    plain = measured(Choice("mse", price=110), 30.0, 30.1, 30.2, 30.0)
    placed = replace(plain, choice=replace(plain.choice, price=150))
    tried: list[Choice] = []

    def attempt(choice: Choice) -> Trial:
        tried.append(choice)
        return plain

    def search(first: Choice, *, fixed_range: str, fixed_rounding: str) -> Trial:
        assert (first, fixed_range, fixed_rounding) == (plain.choice, "mse", "nearest")
        return placed

    candidates = cast(Candidates, SimpleNamespace(attempt=attempt, best=search, log=[]))
    best = measured(Choice("mse", "gptq", sequential=True, price=110), *ratios)
    taken = best_beyond_chance(candidates, best, "mse")
    assert taken is (best if better_by_more_than_chance else placed)
    assert tried == [plain.choice]
    assert len(candidates.log) == int(not better_by_more_than_chance)
    assert best_beyond_chance(candidates, plain, "mse") is plain


def two_additions() -> onnx.ModelProto:
    """a = x + x, b = a + x."""
    nodes = [helper.make_node("Add", ["x", "x"], ["a"]), helper.make_node("Add", ["a", "x"], ["b"])]
    return onnx_model(nodes, {"x": [1, 8]}, {"b": [1, 8]})


def test_placements_of_equal_cost_at_different_ops_are_measured_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second got the noise of the first: as many pairs and the same cost were one placement."""
    module = import_model(two_additions())
    profiler = Profiler(module)
    draw = np.random.default_rng(0)
    profiler.add({"x": draw.normal(size=(1, 8)).astype(np.float32)} for _ in range(8))

    def placed(func: FuncOp, target: Target, *, bias: float, **named: object) -> Placement:
        """A pair behind the first addition, or with dearer integers behind the second."""
        additions = [op for op in func.body.block.ops if op.results]
        value = additions[0 if bias == 1.0 else 1].results[0]
        return Placement(pairs={value: None}, cost=50.0, float_cost=100.0)

    monkeypatch.setattr("qdialect.quantizer.search.candidates.place", placed)
    candidates = Candidates(Space(module, profiler.profile, profiler.samples, Options()))
    first, second = candidates.attempt(Choice()), candidates.attempt(Choice(price=110))
    assert first.ratio != second.ratio
    assert first.placement != second.placement
    assert placed_otherwise([first, second], first) == [second]
    assert candidates.attempt(Choice(price=125)) is second  # the same placement is measured once


def test_weights_are_rounded_once_for_all_candidates_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those judged by the outputs, and those with more nodes in float, take them from the same cache."""
    draw, rounded = np.random.default_rng(0), list[int]()
    weight = draw.normal(size=(64, 64)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"], "first"),
        helper.make_node("MatMul", ["y", "w"], ["z"], "second"),
    ]
    module = import_model(onnx_model(nodes, {"x": [64, 64]}, {"z": [64, 64]}, {"w": weight}))
    profiler = Profiler(module)
    profiler.add({"x": draw.normal(size=(64, 64)).astype(np.float32)} for _ in range(8))
    candidates = Candidates(Space(module, profiler.profile, profiler.samples, Options(form="qdq")))

    def counted(layers: Mapping[int, OnnxOp], *rest: Any, **named: Any) -> dict[int, RoundedLayer]:
        rounded.append(len(layers))
        return round_layers(layers, *rest, **named)

    monkeypatch.setattr("qdialect.quantizer.search.candidates.round_layers", counted)
    choice = Choice(rounding="gptq")
    for others in candidates, candidates.without({"second": Blocked("float-faster", "")}):
        assert others.attempt(choice).integer
    assert rounded == [2, 2]  # to nearest and by GPTQ


def test_a_cache_drops_what_was_not_asked_for_longest() -> None:
    latest, computed = Latest[str, str](2), list[str]()

    def get(key: str) -> str:
        return latest.get(key, lambda: computed.append(key) or key.upper())

    assert [get(key) for key in "abacab"] == [*"ABACAB"]
    assert computed == ["a", "b", "c", "b"]
    assert (latest.peek("a"), latest.peek("c")) == ("A", None)
