"""
Parallel profiling by several processes or a Dask cluster, with the same bytes as a single process.

Each part of the samples has a profile of its own, and profiles merge exactly. A worker reads the model as ONNX; its
tensors are identified by their order, since ONNX has no names for some.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from qdialect.errors import UserError
from qdialect.evaluation.parallel import available_cores
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.statistics.observer import Feeds, Observer, chunks
from qdialect.quantizer.statistics.processes import WorkerDied, Workers
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.samples import Samples

PART_BYTES = 8 << 20
"""Bytes of samples in a worker's task."""
PARTS_AHEAD = 2
"""Number of parts per worker that are read ahead."""


class Part(NamedTuple):
    """A worker's task: samples to profile."""

    model: bytes
    names: tuple[str, ...]
    """The names of the tensors to observe, in the order of the graph."""
    memory: int
    rows: list[Feeds]


class Done(NamedTuple):
    """A worker's result."""

    profile: Profile
    samples: Samples


class Pool(Protocol):
    """Executor of parts: of `concurrent.futures`, or a Dask client."""

    def submit(self, function: Callable[[Part], Done], part: Part, /) -> Any:
        """Start one part; a future."""
        ...


@lru_cache(maxsize=1)
def _observer(model: bytes) -> Observer:
    import onnx

    return Observer(import_model(onnx.ModelProto.FromString(model)))


def profile_part(part: Part) -> Done:
    """The profile of some samples."""
    observer = _observer(part.model)
    profiler = Profiler(observer.module, memory=part.memory, observer=observer, names=part.names)
    profiler.add(part.rows)
    return Done(profiler.profile, profiler.samples)


def _parts(profiler: Profiler, batches: Iterable[Feeds], memory: int) -> Iterator[Part]:
    model = export_model(profiler.module).SerializeToString(deterministic=True)
    for rows in chunks(batches, PART_BYTES):
        yield Part(model, tuple(profiler.names), memory, rows)


def _merge(profiler: Profiler, done: Done, show: Callable[[int], None]) -> None:
    done.profile.model = profiler.profile.model
    profiler.profile.merge(done.profile)
    profiler.samples.merge(done.samples)
    show(profiler.profile.samples)


def add_with_workers(
    profiler: Profiler, batches: Iterable[Feeds], count: int, memory: int, show: Callable[[int], None]
) -> None:
    """
    Count samples in `count` processes, or as many as there are cores. Raises UserError as one process would.

    A calling script need not guard its main module, and may run other threads.
    """
    count = min(count, available_cores())
    with Workers(count) as pool:
        running: set[Future[Done]] = set()
        try:
            for part in _parts(profiler, batches, memory):
                running.add(pool.submit(profile_part, part))
                if len(running) >= PARTS_AHEAD * count:
                    ready, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in ready:
                        _merge(profiler, future.result(), show)
            for future in running:
                _merge(profiler, future.result(), show)
        except WorkerDied:
            raise UserError(
                "a worker process ended unexpectedly, perhaps for lack of memory",
                "use fewer --workers or less --memory",
            ) from None
        finally:
            for future in running:
                future.cancel()


def add_with_cluster(
    profiler: Profiler, batches: Iterable[Feeds], address: str, memory: int, show: Callable[[int], None]
) -> None:
    """Count samples on a Dask cluster. Raises UserError if there is none, or no Dask."""
    try:
        from distributed import Client, as_completed  # pyright: ignore
    except ImportError:
        raise UserError("--scheduler needs Dask", "pip install 'qdialect[dask]'") from None
    try:
        client: Any = Client(address, timeout=10)
    except Exception:  # OSError, or Dask's own
        raise UserError(f"there is no Dask scheduler at '{address}'", "check the address") from None
    with client:
        futures: list[Any] = [
            client.submit(profile_part, part, pure=False) for part in _parts(profiler, batches, memory)
        ]
        completed: Any = as_completed(futures)
        for future in completed:
            _merge(profiler, future.result(), show)
