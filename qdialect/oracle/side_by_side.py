"""A function of each of several items, on all cores: numpy and onnxruntime let other threads run while they compute."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 8
"""Each takes memory for what it computes."""


def cores() -> int:
    """How many this process may use, `MOST_THREADS` at most."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(available, MOST_THREADS))


def side_by_side(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int = MOST_THREADS
) -> Generator[Result]:
    """
    What `function` returns for each of `items`, in their order, computed by `threads`, or by as many as there are
    cores if these are fewer. On one core nothing is computed before it is asked for.

    While the caller looks at one result, those of the next `threads` items are computed. What `function` raises for an
    item is raised where its result would come, and what reading `items` raises behind the results of those before.
    Items are taken in the caller's thread.
    """
    available = cores()
    if available < 2:
        yield from map(function, items)
        return
    count = min(threads, available)
    failure: list[BaseException] = []
    with ThreadPoolExecutor(count) as pool:
        running: deque[Future[Result]] = deque()
        try:
            for item in _until_failure(items, failure):
                running.append(pool.submit(function, item))
                if len(running) > count:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()
    if failure:
        raise failure[0]


def _until_failure(items: Iterable[Item], failure: list[BaseException]) -> Iterator[Item]:
    """The items up to one that cannot be read; then `failure` holds why."""
    source = iter(items)
    while True:
        try:
            item = next(source)
        except StopIteration:
            return
        except BaseException as error:  # Ctrl-C too: what runs counts
            failure.append(error)
            return
        yield item
