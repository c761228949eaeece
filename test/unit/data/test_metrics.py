"""Metrics on outputs whose score is known, their intervals, and what does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from qdialect.data.metrics import METRICS, Evaluation, Score, change_text, metric_maker, wilson
from qdialect.errors import UserError
from qdialect.numerics import Array


def score(metric: str, outputs: Mapping[str, Array] | Array, labels: Any) -> Score:
    """Of one feed."""
    evaluation = Evaluation(METRICS[metric]())
    evaluation.add(outputs if isinstance(outputs, Mapping) else {"y": outputs}, labels)
    return evaluation.score()


def test_top_k_of_scores():
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]], np.float32)
    assert score("top1", scores, [1, 0, 2, 0]).value == 0.75
    assert score("top1", scores, [1, 1, 2, 0]).value == 0.5  # of equal scores the first is the highest
    assert score("top1", scores[:, :, None, None], [1, 1, 2, 0]).value == 0.5
    assert score("top5", scores, [0, 1, 0, 1]).value == 1.0
    assert score("top1", np.array([3, 1], np.int64), [3, 2]).value == 0.5


def test_errors_of_pictures():
    labels = np.zeros((2, 1, 2, 2), np.float32)
    outputs = labels + np.array([0.1, 0.2], np.float32)[:, None, None, None]
    assert score("mse", outputs, labels).value == pytest.approx((0.01 + 0.04) / 2, rel=1e-5)
    assert score("psnr", outputs, labels).value == pytest.approx((20 + 20 * np.log10(5)) / 2, rel=1e-5)
    assert score("psnr", labels, labels).value == 100
    ends = np.array([[255.0, 0.0]], np.float32)
    assert score("psnr", ends - 25.5, ends).value == pytest.approx(20, rel=1e-6)
    assert score(
        "cosine", np.array([[1.0, 1.0], [0, 2]]), np.array([[1.0, 0.0], [0, 1]])
    ).value == pytest.approx((np.sqrt(0.5) + 1) / 2)


def test_mean_intersection_over_union_is_of_all_samples_together():
    labels = np.array([[[0, 0], [1, 255]], [[0, 1], [1, 1]]])
    found = np.array([[[0, 1], [1, 0]], [[0, 1], [0, 1]]])
    # Class 0: intersection 2, union 4; class 1: 3 of 5; the element of class 255 does not count.
    assert score("miou", found, labels).value == pytest.approx((2 / 4 + 3 / 5) / 2)
    by_channel = np.eye(3, dtype=np.float32)[found]
    for outputs in (by_channel, by_channel.transpose(0, 3, 1, 2)):
        assert score("miou", outputs, labels).value == pytest.approx((2 / 4 + 3 / 5) / 2)


BOXES = np.array([[[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 8]]], np.float32)
LABELS = np.array([[[0, 0, 0, 10, 10], [1, 20, 20, 30, 30], [-1, 0, 0, 0, 0]]])


def test_mean_average_precision_of_whole_boxes_is_one():
    scores = np.array([[[0.9, 0.0], [0.0, 0.8], [0.0, 0.0]]], np.float32)
    assert score("map", {"boxes": BOXES, "scores": scores}, LABELS).value == 1
    flat, classes = scores.max(-1), np.array([[0, 1, 0]])
    assert score("map", {"boxes": BOXES, "scores": flat, "classes": classes}, LABELS).value == 1
    rows = np.concatenate([BOXES, flat[..., None], classes[..., None]], -1).astype(np.float32)
    assert score("map", rows, LABELS).value == 1


def test_a_box_counts_at_the_overlaps_that_it_reaches():
    """Of 10x10 pixels 10x8 are found: 0.8, which 7 of the 10 overlaps from 0.5 to 0.95 ask for."""
    outputs = {"boxes": BOXES[:, 2:], "scores": np.array([[[0.9]]], np.float32)}
    assert score("map", outputs, LABELS[:, :1]).value == pytest.approx(0.7)


def test_a_wrong_box_above_the_right_one_halves_the_precision():
    scores = np.array([[[0.8], [0.9], [0.0]]], np.float32)
    assert score("map", {"boxes": BOXES, "scores": scores}, LABELS[:, :1]).value == pytest.approx(0.5)


def test_a_second_box_of_one_object_is_wrong_and_lowers_nothing_behind_full_recall():
    scores = np.array([[[0.9], [0.0], [0.8]]], np.float32)
    assert score("map", {"boxes": BOXES, "scores": scores}, LABELS[:, :1]).value == 1
    nothing = np.array([[[0.0], [0.0], [0.0]]], np.float32)
    assert score("map", {"boxes": BOXES, "scores": nothing}, LABELS[:, :1]).value == 0


def test_wilsons_interval():
    """Of 8 in 10, 0.490 to 0.943; of all, not the empty interval that the normal one is."""
    assert wilson(0.8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    low, high = wilson(1.0, 360)
    assert high == pytest.approx(1)
    assert low == pytest.approx(360 / (360 + 1.959964**2))
    # About 95 % of the intervals hold the share.
    draw = np.random.default_rng(1)
    ends = [wilson(found / 200, 200) for found in draw.binomial(200, 0.9, 4000)]
    assert 0.93 < np.mean([low <= 0.9 <= high for low, high in ends]) < 0.97


def test_the_interval_of_a_pooled_metric_is_that_of_the_samples():
    """The jackknife's interval of a mean is nearly the normal one: here of the intersection of masks of one size."""
    draw = np.random.default_rng(2)
    labels = np.zeros((400, 8, 8), np.int64)
    found = (draw.random((400, 8, 8)) < draw.random((400, 1, 1))).astype(np.int64)
    one = score("miou", found, labels)
    assert one.low is not None
    assert one.high is not None
    shares = (found == 0).mean((1, 2))  # class 1 has no intersection
    assert one.value == pytest.approx(shares.mean() / 2)
    assert (one.high - one.low) / 2 == pytest.approx(1.96 * shares.std() / 20 / 2, rel=0.5)


def test_the_texts():
    before, after = (Score("top-1", value, 360, *wilson(value, 360), "%") for value in (0.9861, 0.9833))
    assert change_text(before, after, "images") == "top-1 98.6 % -> 98.3 % (360 images, ±1.4)"
    assert before.loss(after) == pytest.approx(0.0028)
    errors = Score("mse", 0.1, 5, larger_is_better=False), Score("mse", 0.12, 5, larger_is_better=False)
    assert change_text(*errors) == "mse 0.1 -> 0.12 (5 samples)"
    assert errors[0].loss(errors[1]) == pytest.approx(0.2)


def accuracy(outputs: Array, labels: Array) -> float:
    return float((outputs.argmax(1) == labels).mean())


def each(outputs: Array, labels: Array) -> Array:
    return outputs.argmax(1) == labels


@pytest.mark.parametrize("function", [accuracy, each])
def test_a_function_of_all_outputs_and_labels(function: Any):
    evaluation = Evaluation(metric_maker(function)())
    for k in range(3):
        evaluation.add({"y": np.eye(4, dtype=np.float32)[k : k + 2]}, [k, 0])
    found = evaluation.score()
    assert (found.metric, found.value, found.count) == (function.__name__, 0.5, 6)
    assert (found.margin is None) == (function is accuracy)


@pytest.mark.parametrize(
    ("metric", "outputs", "labels", "says"),
    [
        ("top1", np.zeros((1, 3, 4), np.float32), [1], "no output is a score for each class: 'y' 3x4"),
        ("top1", np.zeros((1, 3), np.float32), [3], "a label is 3, the model has 3 classes"),
        ("top1", np.zeros((1, 3), np.float32), [0.5], "a label is float64 scalar, not the number of a class"),
        ("top5", np.zeros(1, np.int64), [0], "the model returns the class, no scores"),
        ("mse", np.zeros((1, 3), np.float32), [[0.0]], "a label is 1, no output has its shape: 'y' 3"),
        ("miou", np.zeros((1, 3, 4, 4), np.float32), np.zeros((1, 5, 5), int), "for each class and element"),
        ("miou", np.zeros((1, 3, 4, 4), np.float32), [1], "not a class for each element of an image"),
        ("map", np.zeros((1, 3, 4), np.float32), np.zeros((1, 1, 5)), "the outputs are no boxes (n, 4) beside scores"),
        ("map", np.zeros((1, 3, 6), np.float32), np.zeros((1, 1, 4)), "not boxes of (n, 5): class x1 y1 x2 y2"),
        ("top1", np.zeros((3, 3), np.float32), [1, 2], "output 'y' is 3x3 for 2 samples"),
    ],
)  # fmt: skip
def test_what_does_not_fit(metric: str, outputs: Array, labels: Any, says: str):
    with pytest.raises(UserError) as caught:
        score(metric, outputs, labels)
    assert says in str(caught.value)


def three(outputs: Array, labels: Array) -> list[int]:
    return [1, 2, 3]


def wrong(outputs: Array, labels: Array) -> Any:
    raise ValueError("no")


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("top2", "there is no metric 'top2'; choose from top1, top5, mse, psnr, cosine, miou, map, or module:function"),
        ("nowhere:f", "cannot import metric 'nowhere:f'"),
        ("math:pi", "metric 'math:pi' is float, not a function"),
        (wrong, "the metric 'wrong' raises ValueError: no"),
        (three, "the metric 'three' returns"),
    ],
)  # fmt: skip
def test_what_is_no_metric(named: Any, says: str):
    def measured() -> Score:
        evaluation = Evaluation(metric_maker(named)())
        evaluation.add({"y": np.zeros((2, 3), np.float32)}, [0, 1])
        return evaluation.score()

    with pytest.raises(UserError) as caught:
        measured()
    assert says in str(caught.value)
