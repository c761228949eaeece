"""
Worker processes: a function of another process, called in several of them at once.

Each is a new interpreter, not a fork, which would copy locks that other threads hold, and it does not import the
caller's main module, which need not be guarded. It ends when the caller ends, however that happens.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import sleep
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self, TypeVar, cast

Task = TypeVar("Task")
Result = TypeVar("Result")

START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from qdialect.quantizer.statistics.processes import serve
serve(int(sys.argv[2]))
"""
WATCH_SECONDS = 0.5
"""Time between two looks at whether the caller is there."""


class WorkerDied(Exception):
    """A worker process ended before its result."""


class Workers:
    """A pool of processes. Use it as a context: no process is left behind it."""

    def __init__(self, count: int):
        self._threads = ThreadPoolExecutor(count)
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all: list[_Worker] = []
        self._lock = Lock()
        self._is_closed = False

    def submit(self, function: Callable[[Task], Result], task: Task, /) -> Future[Result]:
        """`function(task)`, of a module that a new process can import. The result raises what it raises."""
        return self._threads.submit(self._call, function, task)

    def _call(self, function: Callable[[Task], Result], task: Task) -> Result:
        try:
            worker = self._idle.get_nowait()
        except Empty:
            worker = self._start()
        try:
            result = worker.call((function, task))
        finally:
            self._idle.put(worker)
        if isinstance(result, _Failed):
            raise result.error
        return cast("Result", result)

    def _start(self) -> _Worker:
        with self._lock:
            if self._is_closed:
                raise WorkerDied
            self._all.append(worker := _Worker())
        return worker

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_closed = True
        for worker in self._all:
            worker.end()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()


class _Failed(NamedTuple):
    """What the function raised, as a worker reports it."""

    error: BaseException


class _Worker:
    """The caller's end of a process."""

    def __init__(self):
        # Isolated: it imports what the caller imports, by the caller's path, and nothing of the working directory.
        flags = ["-I", "-B"] if sys.dont_write_bytecode else ["-I"]
        words = [sys.executable, *flags, "-c", START, json.dumps(sys.path), str(os.getpid())]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, task: object) -> object:
        """The result of a task. Raises WorkerDied if there is none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump(task, self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise WorkerDied from None

    def end(self) -> None:
        """End the process, and wait until it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent any more
                if pipe is not None:
                    pipe.close()


def serve(caller: int) -> None:
    """Compute what the process `caller` asks for on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller handles Ctrl-C, and ends this process
    Thread(target=_watch, args=(caller,), daemon=True).start()
    tasks: SimpleQueue[tuple[Callable[[object], object], object]] = SimpleQueue()
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no result
    Thread(target=_read, args=(os.fdopen(0, "rb"), tasks), daemon=True).start()
    while True:
        function, task = tasks.get()
        try:
            result = function(task)
        except Exception as error:  # any, which the caller raises again
            result = _Failed(error)
        results.write(_pickled(result))
        results.flush()


def _watch(caller: int) -> None:
    """End this process when its caller has ended, even if a fork of that still holds the pipes."""
    while os.getppid() == caller:
        sleep(WATCH_SECONDS)
    os._exit(1)


def _read(source: BinaryIO, tasks: SimpleQueue[tuple[Callable[[object], object], object]]) -> None:
    """Read tasks, also while one is computed: their end is that of the caller."""
    try:
        while True:
            tasks.put(pickle.load(source))
    except Exception:  # the end of the file, also within a task
        os._exit(1)


def _pickled(result: object) -> bytes:
    try:
        return pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # an exception that holds what cannot be sent
        told = result.error if isinstance(result, _Failed) else error
        return pickle.dumps(_Failed(RuntimeError(f"{type(told).__name__}: {told}")))
