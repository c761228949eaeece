"""`Profiler`: builds a profile of every tensor of a lowered model in one pass over the samples."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from qdialect.errors import UserError
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.statistics.observer import (
    DEFAULT_MEMORY_BYTES,
    Feeds,
    Observer,
    channel_axis,
    interesting,
    observe_samples,
    undisturbed,
    value_names,
)
from qdialect.quantizer.statistics.profile import HASH_MODULUS, PROFILE_FORMAT, Profile
from qdialect.quantizer.statistics.samples import Samples
from qdialect.quantizer.statistics.statistics import Statistics

ELEMENTS_AT_ONCE = 1 << 20
"""Number of elements of one tensor that are counted together."""
PENDING_DIVISOR = 8
"""Divisor of `memory` that gives the bytes of pending elements of all tensors."""


def model_hash(module: ModuleOp) -> str:
    """A hash of a module's ONNX form."""
    return hashlib.sha256(export_model(module).SerializeToString(deterministic=True)).hexdigest()[:32]


def sample_hash(row: Feeds) -> int:
    """A hash of one sample's arrays, by input."""
    digest = hashlib.sha256()
    for name in sorted(row):
        array = row[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return int.from_bytes(digest.digest()[:16], "big")


def versions() -> str:
    """Software versions that a profile's numbers depend on."""
    import onnxruntime

    return f"onnxruntime {onnxruntime.__version__}, profile {PROFILE_FORMAT}"


class Profiler:
    """A profile under construction, which can be saved at any time."""

    def __init__(
        self,
        module: ModuleOp,
        *,
        memory: int = DEFAULT_MEMORY_BYTES,
        random: bool = False,
        observer: Observer | None = None,
        names: Sequence[str] | None = None,
        model: str | None = None,
    ):
        """
        names: of the tensors to observe, in the order of the graph, in place of the module's own. model: a hash;
        by default that of its ONNX form.
        """
        self.module = module
        self.profile = Profile(
            model_hash(module) if model is None else model, random=random, versions=versions()
        )
        self.samples = Samples()
        self._observer = observer or Observer(module)
        own = value_names(module)
        self._values = [v for v in interesting(module) if self._observer.is_visible(v)]
        self.names = [own[v] for v in self._values] if names is None else list(names)
        self._names = dict(zip(self._values, self.names, strict=True))
        self._axes = {v: channel_axis(v) for v in self._values}
        self._memory = memory
        self._pending: dict[SSAValue, list[Array]] = {}
        self._sizes = Counter[SSAValue]()
        self._waiting = 0
        for name in self.names:
            self.profile.tensors[name] = Statistics()

    def add(self, batches: Iterable[Feeds], done: Callable[[int], None] = lambda count: None) -> None:
        """
        Add the statistics of the model's tensors for all samples of `batches`, keyed by input name.

        Raises UserError if the model does not run on the samples, or an output holds NaN or infinity.
        """

        def count(row: Feeds) -> None:
            self._count(row)
            done(self.profile.samples)

        rows = (row for feeds in batches for row in self._observer.rows(feeds))
        try:
            observe_samples(self._observer, self._values, rows, self.look, memory=self._memory, done=count)
        finally:
            with undisturbed():
                for value in list(self._pending):
                    self._flush(value)

    def _count(self, row: Feeds) -> None:
        self.profile.samples += 1
        key = sample_hash(row)
        self.profile.data = (self.profile.data + key) % HASH_MODULUS
        self.samples.add(key, row)

    def look(self, value: SSAValue, array: Array) -> None:
        self._pending.setdefault(value, []).append(array)
        self._sizes[value] += array.size
        self._waiting += array.nbytes
        if self._sizes[value] >= ELEMENTS_AT_ONCE:
            self._flush(value)
        elif self._waiting > self._memory // PENDING_DIVISOR:
            for each in list(self._pending):
                self._flush(each)

    def _flush(self, value: SSAValue) -> None:
        pending, axis = self._pending.pop(value), self._axes[value]
        del self._sizes[value]
        self._waiting -= sum(array.nbytes for array in pending)
        name = self._names[value]
        statistics = self.profile.tensors[name]
        if axis is None:
            statistics.update(np.concatenate([a.reshape(-1) for a in pending]))
        else:
            for shape in {a.shape for a in pending}:
                same = [a for a in pending if a.shape == shape]
                statistics.update(np.stack(same), axis)
        if statistics.is_unbounded and any(isinstance(use.operation, ReturnOp) for use in value.uses):
            raise UserError(f"output '{name}' holds NaN or infinity on this data", "check the data")
