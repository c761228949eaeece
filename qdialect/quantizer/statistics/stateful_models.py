"""
Calibration of stateful models: outputs of one sample are fed back as inputs of the next, within each sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from qdialect.data.reading import checked
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input, does_not_run
from qdialect.evaluation.feeds import model_outputs
from qdialect.evaluation.session import session
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model

Feeds = Mapping[str, Array]
Run = Callable[[Feeds], Mapping[str, Array]]
"""Runs the float model on one feed; outputs by name."""


def check_pairs(pairs: Mapping[str, str], inputs: Sequence[Input], outputs: Sequence[Input]) -> None:
    """
    UserError for unknown names, and mismatched shapes or types. pairs: outputs by the inputs that they are fed to.
    """
    by_input, by_output = {one.name: one for one in inputs}, {one.name: one for one in outputs}
    for fed, output in pairs.items():
        if output not in by_output:
            raise UserError(f"--state {output}={fed}: no output is called '{output}'", _names(by_output))
        if fed not in by_input:
            raise UserError(f"--state {output}={fed}: no input is called '{fed}'", _names(by_input))
        one, other = by_output[output], by_input[fed]
        if not _fits(one, other):
            raise UserError(
                f"--state {output}={fed}: the output is {_described(one)}, the input {_described(other)}",
                "pair an output and an input of one shape and type",
            )


def _names(known: Mapping[str, Input]) -> str:
    return f"choose from {', '.join(known)}" if known else "the model has none"


def _described(one: Input) -> str:
    return f"{one.dtype} " + "x".join("?" if size is None else str(size) for size in one.shape)


def _fits(one: Input, other: Input) -> bool:
    """True if the two can be one tensor; an output of unknown rank fits any shape."""
    if one.dtype != other.dtype:
        return False
    if not one.shape:
        return True
    pairs = list(zip(one.shape, other.shape, strict=False))
    return len(one.shape) == len(other.shape) and all(None in pair or pair[0] == pair[1] for pair in pairs)


def sequences(feeds: Iterable[Feeds | Iterable[Feeds]]) -> Iterator[Iterable[Feeds]]:
    """Sequences of feeds: consecutive dictionaries are one sequence, an iterable of dictionaries is one of its own."""
    pending: list[Feeds] = []
    for one in feeds:
        if isinstance(one, Mapping):
            pending.append(cast("Feeds", one))
            continue
        if pending:
            yield pending
            pending = []
        yield one
    if pending:
        yield pending


def stateful(
    module: ModuleOp,
    pairs: Mapping[str, str],
    inputs: Sequence[Input],
    streams: Iterable[Iterable[Feeds]],
    record: Record | None = None,
) -> Iterator[Arrays]:
    """
    The feeds of some sequences, each with the model's state at that point.

    pairs: outputs by the inputs that they are fed to. record: as `checked`. Raises UserError for invalid pairs, and
    for data that the model does not accept.
    """
    outputs = model_outputs(module)
    names = [one.name for one in outputs]
    check_pairs(pairs, inputs, outputs)
    runner = session(export_model(module).SerializeToString(deterministic=True))

    def run(feed: Feeds) -> dict[str, Array]:
        try:
            return dict(zip(names, runner.run(None, dict(feed)), strict=True))
        except Exception as error:  # onnxruntime's exceptions share no base class
            raise does_not_run(error, feed) from None

    feedback = FeedBack(pairs, inputs, run)
    wanted = {one.name: one for one in inputs}

    def cut(sequence: Iterable[Feeds]) -> Iterator[Feeds]:
        for k, feed in enumerate(sequence):
            first = [wanted[name] for name in pairs if name in feed] if k == 0 else []
            frames = checked([feed], feedback.data_inputs, record=record)
            for n, frame in enumerate(frames):
                yield {**frame, **{one.name: _begin(feed, one) for one in first}} if n == 0 else frame

    return feedback.rows(map(cut, streams))


def _begin(feed: Feeds, state: Input) -> Array:
    """The initial value of a state in the data: that of the first frame if there are several."""
    array, first = np.asarray(feed[state.name]), state.shape[0] if state.shape else None
    return array[:first] if first is not None and array.ndim == len(state.shape) else array


class FeedBack:
    """Feeds whose state is the model's output for the previous feed; the first of a sequence has the initial state."""

    def __init__(self, pairs: Mapping[str, str], inputs: Sequence[Input], run: Run):
        """
        pairs: outputs by the inputs that they are fed to. run: the float model.

        Raises UserError for a state of unknown size, whose initial value the data must contain.
        """
        self._pairs, self._run = dict(pairs), run
        self._inputs = {one.name: one for one in inputs}

    @property
    def data_inputs(self) -> list[Input]:
        """The inputs that need data."""
        return [one for name, one in self._inputs.items() if name not in self._pairs]

    def rows(self, sequences: Iterable[Iterable[Feeds]]) -> Iterator[Arrays]:
        """
        The feeds in order, with their state. A state in the first feed of a sequence is its initial value,
        otherwise that is zero.

        Raises UserError if an output cannot be fed back: of another shape or not finite.
        """
        for sequence in sequences:
            state: Arrays | None = None
            for feed in sequence:
                state = self._first(feed) if state is None else state
                row = {**feed, **state}
                yield row
                state = self._next(row)

    def _first(self, feed: Feeds) -> Arrays:
        return {name: self._start(feed, self._inputs[name]) for name in self._pairs}

    @staticmethod
    def _start(feed: Feeds, state: Input) -> Array:
        if (initial := feed.get(state.name)) is not None:
            return np.asarray(initial, state.dtype)
        if any(size is None for size in state.shape):
            raise UserError(
                f"the size of state '{state.name}' is not known, it is {_described(state)}",
                "give its first value in the data",
            )
        return np.zeros([size or 0 for size in state.shape], state.dtype)

    def _next(self, row: Feeds) -> Arrays:
        results = self._run(row)
        state: Arrays = {}
        for fed, output in self._pairs.items():
            value = results[output]
            if value.shape != row[fed].shape:
                have, wanted = ("x".join(map(str, shape)) for shape in (value.shape, row[fed].shape))
                raise UserError(
                    f"output '{output}' is {have}, state '{fed}' is {wanted}",
                    "pair an output and an input of one shape",
                )
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                raise UserError(
                    f"state '{fed}' became NaN or infinity",
                    "check the data, or use shorter sequences, each of which resets the state",
                )
            state[fed] = value
        return state
