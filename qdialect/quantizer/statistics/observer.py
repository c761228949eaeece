"""
Observation of a lowered model's tensors in onnxruntime: in waves of as many as memory allows, one sample at a time.

Samples are run one by one if the model's first axes are open, since a product of one row is summed in another
order than one of several: so a sample's statistics do not depend on its batch.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp, promise_of
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.dialects.onnx_types import DYNAMIC, shape_of
from qdialect.evaluation.data import does_not_run
from qdialect.evaluation.observing import input_names
from qdialect.evaluation.oracle_form import oracle_form
from qdialect.evaluation.parallel import parallel_map
from qdialect.evaluation.session import session_for
from qdialect.ir.interface import attributes_of_inputs, main_of
from qdialect.ir.names import tensor_name
from qdialect.ir.values import is_float32, rank_of
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.promises.control import Carries
from qdialect.promises.linear import Linear

if TYPE_CHECKING:
    from qdialect.evaluation.session import InferenceSession

Feeds = Mapping[str, Array]
T = TypeVar("T")

MAX_SESSIONS = 4
"""Greatest number of sessions kept: each holds the weights. One more, and all others are dropped."""
DEFAULT_MEMORY_BYTES = 1 << 30
"""Bytes of tensors that are observed together."""
CHUNK_BYTES = 64 << 20
"""Bytes of samples that are run for one wave before the next wave."""


def value_names(module: ModuleOp) -> dict[SSAValue, str]:
    """A name for each computed float tensor of the graph: ONNX's own, or `%k`, the k-th of the graph."""
    func = main_of(module)
    names: dict[SSAValue, str] = dict(zip(func.body.block.args, input_names(module), strict=True))
    taken = set(names.values())
    count = 0
    for op in func.body.block.ops:
        for k, result in enumerate(op.results):
            count += 1
            name = tensor_name(op, k)
            if not name or name in taken:
                name = f"%{count}"
            taken.add(name)
            if not isinstance(op, ConstantOp):
                names[result] = name
    return {value: name for value, name in names.items() if is_float32(value)}


def channel_axis(value: SSAValue) -> int | None:
    """The axis, counted from the end, of the input channels of the linear ops that take `value`; None if none does."""
    axes: set[int] = set()
    for use in value.uses:
        op = use.operation
        linear = promise_of(op, Linear) if use.index == 0 else None
        rank = rank_of(value)
        if linear is None or rank is None or rank < 2:
            continue
        axes.add(-1 if linear.result_axis < 0 or rank == 2 else 1 - rank)
    return axes.pop() if len(axes) == 1 else None


def interesting(module: ModuleOp) -> list[SSAValue]:
    """
    The tensors whose ranges may be needed: float, and computed or moved by an op that supports quantized
    types.
    """
    return [
        v
        for v in value_names(module)
        if any(_is_arithmetic(use.operation) for use in v.uses) or _is_computed(v)
    ]


def _is_computed(value: SSAValue) -> bool:
    return not isinstance(value, BlockArgument) and _is_arithmetic(value.owner)  # pyright: ignore[reportArgumentType]


def _is_arithmetic(op: Operation) -> bool:
    if isinstance(op, OnnxOp) and op.regions:  # stacked results of a loop have the values inside
        return (carries := op.get_trait(Carries)) is not None and not carries.branches
    return isinstance(op, OnnxOp)


class Observer:
    """Runs the oracle form of a module for any set of its tensors, with a session for each set."""

    def __init__(self, module: ModuleOp):
        form = oracle_form(module)
        self.module = module
        self.inputs = input_names(module)
        self._places = {value: f"o{k}" for k, value in enumerate(form.outputs)}
        self._model = export_model(form.module)
        self._sessions: dict[tuple[str, ...], InferenceSession] = {}
        block = main_of(module).body.block
        self._args: dict[SSAValue, str] = dict(zip(block.args, self.inputs, strict=True))
        rows = zip(self.inputs, attributes_of_inputs(main_of(module)), strict=True)
        defaults = ((name, row.data.get("onnx.default")) for name, row in rows)
        self._defaults = {name: one.array() for name, one in defaults if isinstance(one, TensorAttr)}
        self._shapes = [(name, shape_of(arg.type)) for arg, name in zip(block.args, self.inputs, strict=True)]

    def rows(self, feeds: Feeds) -> Iterator[dict[str, Array]]:
        """One feed for each sample, if the first axis of every input is open; else the feed unchanged."""
        sizes = {feeds[name].shape[:1] for name, _ in self._shapes if name in feeds}
        is_open = all(shape and shape[0] == DYNAMIC for name, shape in self._shapes if name in feeds)
        if not is_open or len(sizes) != 1 or not (size := sizes.pop()):
            yield dict(feeds)
            return
        for k in range(size[0]):
            yield {name: array[k : k + 1] for name, array in feeds.items()}

    def run(self, values: Sequence[SSAValue], feeds: Feeds) -> list[Array]:
        """
        The arrays of `values` for one feed, keyed by input name. Raises UserError if onnxruntime cannot run the model
        on it.
        """
        named = [self._places[v] for v in values if v not in self._args]
        inputs = {f"i{k}": feeds[name] for k, name in enumerate(self.inputs) if name in feeds}
        try:
            arrays = dict(zip(named, self._session(named).run(named, inputs) if named else (), strict=True))
        except Exception as error:  # onnxruntime's exceptions share no base class
            raise does_not_run(error, feeds) from None
        arguments = {**self._defaults, **feeds}
        return [
            arguments[self._args[v]] if v in self._args else np.asarray(arrays[self._places[v]])
            for v in values
        ]

    def _session(self, names: Sequence[str]) -> InferenceSession:
        """The session for the values of one wave."""
        key = tuple(names)
        if key not in self._sessions:
            if len(self._sessions) >= MAX_SESSIONS:
                self._sessions.clear()
            self._sessions[key] = session_for(self._model, frozenset(names))
        return self._sessions[key]

    def is_computed(self, value: SSAValue) -> bool:
        """True if the value can be observed, and is no input."""
        return value in self._places

    def is_visible(self, value: SSAValue) -> bool:
        """True if the value can be observed."""
        return value in self._args or value in self._places


def within(limit: int, items: Iterable[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """`items` in lists of at most `limit` bytes, one at least; a full list is not held until the next item is read."""
    part: list[T] = []
    used = 0
    for one in items:
        more = size(one)
        if part and used + more > limit:
            yield part
            part, used = [], 0
        part.append(one)
        used += more
        if used >= limit:
            yield part
            part, used = [], 0
    if part:
        yield part


def wave_bytes(values: Iterable[SSAValue]) -> int:
    """Bytes of one sample of `values`, open sizes counted as 1."""
    return sum(4 * prod(max(size, 1) for size in shape_of(value.type) or ()) for value in values)


def chunks(rows: Iterable[Feeds], limit: int) -> Iterator[list[Feeds]]:
    """Samples in lists of at most `limit` bytes, one at least."""
    return within(limit, rows, lambda row: sum(array.nbytes for array in row.values()))


@contextmanager
def undisturbed() -> Generator[None]:
    """Context that delays a first Ctrl-C to its end, not a second one. Only the main thread receives it."""
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    asked: list[int] = []

    def hear(number: int, frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    former = signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
    if asked:
        raise KeyboardInterrupt


def observe_samples(
    observer: Observer,
    values: Sequence[SSAValue],
    rows: Iterable[Feeds],
    look: Callable[[SSAValue, Array], None],
    *,
    memory: int = DEFAULT_MEMORY_BYTES,
    done: Callable[[Feeds], None] = lambda row: None,
) -> None:
    """
    Call `look` with each of `values` and its array, for each of `rows`; `done` with each row that was observed.

    If there are several waves of values, each chunk of samples is run once for each of them, so that `rows` are read
    once. KeyboardInterrupt comes between rows, or chunks: each counts whole or not at all.
    """
    groups = list(within(memory, values, lambda value: wave_bytes([value])))
    if len(groups) < 2:
        for row, arrays in _runs(observer, values, rows, ahead=2 * wave_bytes(values) <= memory):
            with undisturbed():
                _show(look, values, arrays)
                done(row)
        return
    for chunk in chunks(rows, CHUNK_BYTES):
        with undisturbed():
            for k, wave in enumerate(groups):
                for row, arrays in _runs(observer, wave, chunk, ahead=2 * wave_bytes(wave) <= memory):
                    _show(look, wave, arrays)
                    if k == len(groups) - 1:
                        done(row)


def _runs(
    observer: Observer, values: Sequence[SSAValue], rows: Iterable[Feeds], *, ahead: bool
) -> Iterator[tuple[Feeds, list[Array]]]:
    """Each row with its arrays of `values`. ahead: True to run a row while the previous one is processed."""

    def run(row: Feeds) -> tuple[Feeds, list[Array]]:
        return row, observer.run(values, row)

    return parallel_map(run, rows, threads=1) if ahead else map(run, rows)


def _show(
    look: Callable[[SSAValue, Array], None], values: Sequence[SSAValue], arrays: Sequence[Array]
) -> None:
    for value, array in zip(values, arrays, strict=True):
        look(value, array)
