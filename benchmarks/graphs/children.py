"""
Work that may end its process: a library aborts, or does not come back. It is done in a child, which is replaced then.
"""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

Report = Callable[[str], None]
"""Tells the parent what is begun, in one word."""
Work = Callable[[int, frozenset[str], Report], Any]
"""Takes a number and what it is not to begin; gives what can be pickled."""


@dataclass(frozen=True)
class Ended:
    """What the last child of a number had begun when it ended."""

    stage: str


COLLECTED = 20_000
"""Objects after which garbage is collected: a graph's operations are many, and hold each other."""


def _serve(pipe: Connection, work: Work) -> None:
    gc.freeze()  # what was imported stays: no collection needs to walk through it
    gc.set_threshold(COLLECTED)
    while True:
        number, without = pipe.recv()
        pipe.send((True, work(number, without, lambda stage: pipe.send((False, stage)))))


class Child:
    """A process that does one thing after the other, and is replaced where one ends it or takes `seconds`."""

    def __init__(self, work: Work, seconds: float):
        self.work = work
        self.seconds = seconds
        self._start()

    def _start(self) -> None:
        self.pipe, other = multiprocessing.Pipe()
        # Its own interpreter: a fork would take the threads' locks of this one along.
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=_serve, args=(other, self.work), daemon=True)
        self.process.start()
        other.close()

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def run(self, number: int, without: frozenset[str]) -> Any | Ended:
        """What the work gives, or what it had begun when it ended."""
        stage = "start"
        self.pipe.send((number, without))
        try:
            while self.pipe.poll(self.seconds):
                done, stage = self.pipe.recv()
                if done:
                    return stage
        except (EOFError, ConnectionError):
            pass
        self.stop()
        self._start()
        return Ended(stage)


def results(
    work: Work, numbers: Iterable[int], jobs: int, optional: AbstractSet[str], seconds: float = 300
) -> Iterator[tuple[int, frozenset[str], Any | Ended]]:
    """
    Each number, what of `optional` ended its child, and what the work gives without that; `Ended` if it was something
    else. The numbers come as they are done, in `jobs` processes.
    """
    children: SimpleQueue[Child] = SimpleQueue()

    def one(number: int) -> tuple[int, frozenset[str], Any | Ended]:
        child, without = children.get(), frozenset[str]()
        try:
            result = child.run(number, without)
            while isinstance(result, Ended) and result.stage in optional - without:
                without |= {result.stage}
                result = child.run(number, without)
        finally:
            children.put(child)
        return number, without, result

    for _ in range(jobs):
        children.put(Child(work, seconds))
    try:
        with ThreadPoolExecutor(jobs) as pool:
            for done in as_completed(pool.submit(partial(one, number)) for number in numbers):
                yield done.result()
    finally:
        for _ in range(jobs):
            children.get().stop()
