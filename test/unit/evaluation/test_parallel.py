"""What runs in threads comes back as if it ran in one."""

import threading
from collections.abc import Iterator

import pytest

from qdialect.evaluation import parallel as module
from qdialect.evaluation.parallel import parallel_map


@pytest.fixture(params=[1, 2, 8])
def available(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(module, "cores", lambda: request.param)
    return int(request.param)


def test_results_come_in_the_order_of_the_items(available: int) -> None:
    later = threading.Event()

    def wait_for_the_next(k: int) -> int:
        if available > 1 and k == 0:
            assert later.wait(60)
        later.set()
        return k * k

    assert list(parallel_map(wait_for_the_next, range(20))) == [k * k for k in range(20)]


def test_what_is_raised_comes_where_the_result_would(available: int) -> None:
    seen: list[int] = []
    with pytest.raises(ZeroDivisionError):
        seen.extend(parallel_map(lambda k: 12 // (3 - k), range(9)))
    assert seen == [4, 6, 12]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_read_counts_before_reading_fails(available: int, error: type[BaseException]) -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise error

    seen: list[int] = []
    with pytest.raises(error):
        seen.extend(parallel_map(lambda k: k, items()))
    assert seen == list(range(5))


def test_no_more_is_read_than_is_about_to_run(available: int) -> None:
    read: list[int] = []

    def items() -> Iterator[int]:
        for k in range(100):
            read.append(k)
            yield k

    results = parallel_map(lambda k: k, items(), threads=3)
    assert next(results) == 0
    assert len(read) == (1 if available == 1 else min(3, available) + 1)
    results.close()
