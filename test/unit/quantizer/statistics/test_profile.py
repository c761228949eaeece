"""Statistics and profiles: they depend on the values alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_models import onnx_model
from xdsl.dialects.builtin import ModuleOp

from qdialect.errors import UserError
from qdialect.evaluation.parallel import available_cores
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.statistics.processes import Workers
from qdialect.quantizer.statistics.profile import Profile, load_profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.ranges import find_range
from qdialect.quantizer.statistics.statistics import MAX_BINS, Statistics
from qdialect.quantizer.statistics.workers import add_with_cluster, add_with_workers
from qdialect.transforms.insert_casts import bounds_of, elements_of

Array = npt.NDArray[Any]


def values() -> Array:
    """Floats of many magnitudes, both zeros and a subnormal among them."""
    draw = np.random.default_rng(3)
    many = draw.normal(size=3000) * 10.0 ** draw.integers(-6, 3, 3000)
    return np.concatenate([many, [0.0, -0.0, -1e-45, 1e-45, 5.0]]).astype(np.float32)


def statistics(parts: Sequence[Array]) -> Statistics:
    result = Statistics()
    for part in parts:
        result.update(part, axis=-1)
    return result


def same(a: Statistics, b: Statistics) -> bool:
    assert a.channels is not None
    assert b.channels is not None
    return (
        (a.count, a.low, a.high, a.exponent, a.first) == (b.count, b.low, b.high, b.exponent, b.first)
        and np.array_equal(a.counts, b.counts)
        and a.channels.sums == b.channels.sums
        and np.array_equal(a.channels.low, b.channels.low)
    )


@pytest.mark.parametrize("size", [1, 7, 601])
def test_a_histogram_does_not_depend_on_the_cut(size: int) -> None:
    x = values().reshape(-1, 5)
    parts = [x[k : k + size] for k in range(0, len(x), size)]
    assert same(statistics([x]), statistics(parts))
    assert same(statistics([x]), statistics(parts[::-1]))


@pytest.mark.parametrize("cut", [1, 100, 600])
def test_a_merge_is_an_addition(cut: int) -> None:
    x = values().reshape(-1, 5)
    for first, second in ((x[:cut], x[cut:]), (x[cut:], x[:cut])):
        merged = statistics([first])
        merged.merge(statistics([second]))
        assert same(merged, statistics([x]))


def test_a_histogram_counts_each_value_once() -> None:
    x = values()
    result = Statistics()
    result.update(x)
    width = 2.0**result.exponent
    wanted = np.floor(x.astype(np.float64) / width).astype(np.int64) - result.first
    assert result.counts.size <= MAX_BINS
    assert np.array_equal(result.counts, np.bincount(wanted, minlength=result.counts.size))
    assert (result.low, result.high) == (float(x.min()), float(x.max()))


def test_sums_are_exact_to_a_part_in_a_trillion() -> None:
    x = values().reshape(-1, 5)
    result = statistics([x]).channels
    assert result is not None
    assert np.allclose(result.means(), x.astype(np.float64).mean(axis=0), rtol=0, atol=2.0**-40)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_leaves_a_tensor_without_range(bad: float, tmp_path: Path) -> None:
    # A mask of attention puts minus infinity in front of Softmax: that tensor alone stays in float.
    good, whole = np.array([1.0, 2.0], np.float32), Profile(samples=1)
    for name, parts in (("a", [good, good * bad, good]), ("b", [good * bad]), ("c", [good])):
        whole.tensors[name] = statistics(parts)
    path = str(tmp_path / "a.profile")
    whole.save(path)
    read = load_profile(path)
    assert [one.is_unbounded for one in read.tensors.values()] == [True, True, False]
    assert list(bounds_of(read, "minmax", symmetric=False)) == ["c"]
    assert elements_of(read)["a"] == 6
    for one in (read.tensors["c"], Statistics()):
        one.merge(read.tensors["b"])
        one.merge(statistics([good]))
        assert one.is_unbounded


def test_a_percentile_clips_and_mse_has_least_error() -> None:
    result = Statistics()
    draw = np.random.default_rng(0)
    x = np.concatenate([draw.normal(size=100_000), [40.0]]).astype(np.float32)
    result.update(x)
    low, high = find_range(result, "minmax", 255, False)
    assert (low, high) == (float(x.min()), 40.0)
    least, greatest = find_range(result, "99.99", 255, False)
    assert low <= least < -2.5
    assert 2.5 < greatest < 8.1

    def error(bounds: tuple[float, float]) -> float:
        scale = (bounds[1] - bounds[0]) / 255
        zero = np.rint(-bounds[0] / scale)
        steps = np.clip(np.rint(x / scale) + zero, 0, 255) - zero
        return float(((steps * scale - x) ** 2).sum())

    best = error(find_range(result, "mse", 255, False))
    assert best <= 1.01 * min(error((low, high)), error((least, greatest)))
    least, greatest = find_range(result, "99.999", 255, True)
    assert greatest < 8
    with pytest.raises(UserError, match="there is no range 'widest'"):
        find_range(result, "widest", 255, False)


def test_a_range_holds_zero() -> None:
    result = Statistics()
    result.update(np.array([3.0, 5.0], np.float32))
    for method in ("minmax", "mse", "99.9"):
        assert find_range(result, method, 255, False)[0] == 0.0


def module(open_batch: str | int = "n") -> ModuleOp:
    """A convolution, an activation and a product."""
    draw = np.random.default_rng(1)
    w = numpy_helper.from_array(draw.normal(size=(4, 3, 3, 3)).astype(np.float32), "w")
    v = numpy_helper.from_array(draw.normal(size=(4 * 6 * 5, 7)).astype(np.float32), "v")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("Flatten", ["r"], ["f"], "flat"),
        helper.make_node("MatMul", ["f", "v"], ["y"], "product"),
    ]
    proto = onnx_model(nodes, {"x": [open_batch, 3, 6, 5]}, {"y": [open_batch, 7]}, [w, v])
    return import_model(onnx.shape_inference.infer_shapes(proto))


def samples(count: int = 64) -> Array:
    return np.random.default_rng(2).normal(size=(count, 3, 6, 5)).astype(np.float32)


def profile(x: Array, size: int, **options: Any) -> Profile:
    profiler = Profiler(module(), **options)
    profiler.add({"x": x[k : k + size]} for k in range(0, len(x), size))
    return profiler.profile


def test_a_profile_does_not_depend_on_batches_order_or_memory(tmp_path: Path) -> None:
    x = samples()
    whole = profile(x, 64).to_bytes()
    assert profile(x, 1).to_bytes() == whole
    assert profile(x, 7).to_bytes() == whole
    assert profile(x[::-1], 7).to_bytes() == whole
    assert profile(x, 7, memory=1).to_bytes() == whole
    half = profile(x[:20], 7)
    half.merge(profile(x[20:], 64))
    assert half.to_bytes() == whole
    path = str(tmp_path / "p")
    half.save(path)
    assert load_profile(path).to_bytes() == whole


def test_what_waits_to_be_counted_is_bounded_over_all_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of many tensors alone may stay below what is counted together: what waits must not grow with the samples."""
    counted: list[int] = []
    update = Statistics.update

    def counting(self: Statistics, x: Array, *arguments: Any, **named: Any) -> None:
        counted.append(x.nbytes)
        update(self, x, *arguments, **named)

    monkeypatch.setattr(Statistics, "update", counting)
    wave = 8 * 4 * 4 * 6 * 5  # an eighth holds the two largest tensors of a sample
    assert profile(samples(), 64, memory=1 << 30).samples == 64
    largest = max(counted)
    counted.clear()
    assert profile(samples(), 64, memory=2 * wave).samples == 64
    assert max(counted) <= 2 * wave // 8 < largest


def test_profiles_of_two_models_do_not_merge() -> None:
    one, other = profile(samples(2), 2), profile(samples(2), 2)
    other.model = "another"
    with pytest.raises(UserError, match="different models"):
        one.merge(other)


def test_what_is_no_profile(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(b"PK\x03\x04 no")
    with pytest.raises(UserError, match="is not a profile"):
        load_profile(str(path))
    with pytest.raises(UserError, match="cannot read profile"):
        load_profile(str(tmp_path / "none"))


def test_a_profile_names_every_tensor() -> None:
    result = profile(samples(3), 3)
    assert set(result.tensors) == {"x", "c", "r", "f", "y"}
    assert result.samples == 3
    assert result.tensors["x"].channels is not None
    assert result.tensors["x"].count == 3 * 3 * 6 * 5


def test_workers_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = samples()
    whole = Profiler(module())
    whole.add([{"x": x}])
    monkeypatch.setattr("qdialect.quantizer.statistics.workers.PART_BYTES", 8 * x[0].nbytes)
    shared = Profiler(module())
    add_with_workers(shared, ({"x": x[k : k + 3]} for k in range(0, 64, 3)), 2, 1 << 30, lambda count: None)
    assert shared.profile.to_bytes() == whole.profile.to_bytes()
    for one, other in zip(whole.samples.measured, shared.samples.measured, strict=True):
        assert np.array_equal(one["x"], other["x"])


def test_there_are_no_more_workers_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []

    def pool(count: int) -> Workers:
        counts.append(count)
        return Workers(1)

    monkeypatch.setattr("qdialect.quantizer.statistics.workers.Workers", pool)
    add_with_workers(Profiler(module()), [], 100_000, 1 << 30, lambda count: None)
    assert counts == [available_cores()]


def test_a_local_dask_cluster_makes_the_same_bytes() -> None:
    distributed = pytest.importorskip("distributed")
    x = samples(16)
    whole = Profiler(module())
    whole.add([{"x": x}])
    shared = Profiler(module())
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        feeds = [{"x": x[:5]}, {"x": x[5:]}]
        add_with_cluster(shared, feeds, cluster.scheduler_address, 1 << 30, lambda count: None)
    assert shared.profile.to_bytes() == whole.profile.to_bytes()
