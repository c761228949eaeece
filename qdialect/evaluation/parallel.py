"""Parallel map over items on all cores by threads: numpy and onnxruntime release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_THREADS = 8
"""Greatest number of threads, each of which needs memory for its item."""


def available_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cores() -> int:
    """Number of cores that this process may use, `MAX_THREADS` at most."""
    return min(available_cores(), MAX_THREADS)


def parallel_map(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int = MAX_THREADS
) -> Generator[Result]:
    """
    The results of `function` for each of `items`, in order, computed by `threads` threads, or by as many as there are
    cores if these are fewer. On one core nothing is computed ahead.

    While the caller handles one result, those of the next `threads` items are computed. An exception of `function` is
    raised in place of the item's result, one of `items` after the results of previous items. Items are read in the
    caller's thread.
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
                running.append(pool.submit(copy_context().run, function, item))
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
    """The items up to the first that raises, whose exception is appended to `failure`."""
    source = iter(items)
    while True:
        try:
            item = next(source)
        except StopIteration:
            return
        except BaseException as error:  # Ctrl-C too: running items are finished
            failure.append(error)
            return
        yield item
