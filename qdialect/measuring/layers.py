"""
Comparison of two models tensor by tensor, matched by name, both with optimization off.

The compiler keeps names: a tensor called X is the former X, or its integers if it is quantized now, and `X_quantized`
holds the integers of a float X. Scales are read from the models by the passes that raise quantization into types, so
integers and floats are compared as real numbers, in steps of the scale if there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from qdialect import numerics
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import phases
from qdialect.data.preprocessing import Preprocessing
from qdialect.data.reading import paths_of
from qdialect.data.record import Record
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import StorageCastOp, UniformType
from qdialect.dialects.quant_text import scale_texts
from qdialect.errors import UserError
from qdialect.evaluation.data import DTYPES, Arrays
from qdialect.ir.names import QUANTIZED, tensor_name
from qdialect.measuring.outputs import Difference, decibels, finite, sqnr
from qdialect.measuring.runner import Runner, preprocessing_of, translate
from qdialect.numerics import Array
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.messages import inline_functions
from qdialect.rewriting.manager import run_passes

if TYPE_CHECKING:
    from onnx import ModelProto

RAISED = ("raise", "sink-dequantize", "raise-integer")
"""The phase, and the passes after it, that raise scales into types and keep every named tensor."""


@dataclass(eq=False, kw_only=True)
class TensorNoise(Difference):
    """Difference of one tensor, over all batches so far."""

    op: str
    """Operator of the node of A that computes it."""
    above: Sequence[TensorNoise]
    """The nearest shared tensors that it depends on."""
    type: UniformType | None = None
    """The quantized type in whose steps the difference is counted."""
    steps: float | None = None
    """Greatest difference in steps of the scale; None if both models have floats."""
    _squares: float = 0.0
    _count: int = 0

    def add_reals(self, a: Array, b: Array, type: UniformType | None) -> None:
        """Counts one batch of real numbers."""
        difference, self.type = self.add(a, b), type
        if type is not None:
            scales = numerics.expand_parameters(type.scales, a.shape, type.axis, type.blocks)
            steps = np.abs(difference) / scales
            self.steps = max(self.steps or 0.0, float(steps.max(initial=0.0)))
            self._squares += float(np.square(steps).sum())
        self._count += difference.size

    @property
    def is_counted(self) -> bool:
        return self._count > 0

    @property
    def rms_steps(self) -> float:
        """The root of the mean square of the difference, in steps."""
        return math.sqrt(self._squares / self._count) if self._count else 0.0

    @property
    def relative_noise(self) -> float:
        """Noise relative to the signal."""
        return self.noise / self.signal if self.signal > 0 else math.inf if self.noise else 0.0

    def scale_text(self) -> str:
        """The scale, or the number of scales; empty without a scale."""
        if self.type is None:
            return ""
        texts = scale_texts(self.type.scales)
        return texts[0] if len(texts) == 1 else f"{len(texts)} scales"

    def as_json(self) -> dict[str, Any]:
        """The figures as JSON values; null if not finite, or if no scale is known."""
        return {
            "name": self.name,
            "op": self.op,
            "sqnr_db": finite(self.sqnr),
            "identical": self.noise == 0,
            "max_abs_diff": finite(self.largest),
            "max_steps": None if self.steps is None else finite(self.steps),
            "rms_steps": None if self.steps is None else finite(self.rms_steps),
        }


@dataclass
class Layers:
    """Differences of the tensors that two models share, in the order of the first one's graph."""

    tensors: list[TensorNoise]

    def first(self) -> TensorNoise | None:
        """The first tensor that differs; None if none does."""
        return next((one for one in self.tensors if one.largest), None)

    def loudest(self) -> tuple[TensorNoise, float] | None:
        """The tensor that adds the most noise relative to the signal, and the signal to noise in dB right above it."""

        def above(one: TensorNoise) -> float:
            return max((other.relative_noise for other in one.above), default=0.0)

        tensor = max(self.tensors, key=lambda one: one.relative_noise - above(one), default=None)
        if tensor is None or tensor.relative_noise <= above(tensor):
            return None
        return tensor, sqnr(1.0, above(tensor))

    def verdict(self) -> str:
        """One sentence: the first difference, and the tensor that adds the most noise."""
        if not self.tensors:
            return "no tensor has the same name in both models, so there is nothing to compare layer by layer"
        if (first := self.first()) is None:
            return f"none of the {len(self.tensors)} tensors that both models have differs"
        size = f"{first.largest:.3g}" if first.steps is None else f"{first.steps:.3g} steps"
        parts = [
            f"{len(self.tensors)} tensors compared",
            f"the first that differs is '{first.name}' ({first.op}), by up to {size}",
        ]
        if (loudest := self.loudest()) is not None:
            one, before = loudest
            parts.append(
                f"most noise is added at '{one.name}' ({one.op}): {decibels(before)} in its operands,"
                f" {decibels(one.sqnr)} in its result"
            )
        return "; ".join(parts)

    def as_json(self) -> dict[str, Any]:
        """Each tensor's figures, and the verdict."""
        return {"layers": [one.as_json() for one in self.tensors], "layers_verdict": self.verdict()}


def _read(path: str) -> ModelProto:
    """The model with its functions inlined, external data left where it is. UserError if it cannot be read."""
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf's errors share no base class
        raise UserError(f"cannot read '{path}'", "check that the file is whole") from error
    return inline_functions(model) if model.functions else model


def _quantized(value: SSAValue) -> UniformType | None:
    """The quantized type of a value: its own, or that of a storage cast to or from it."""
    if (own := quantized_of(value.type)) is not None:
        return own
    if isinstance(value.owner, StorageCastOp):
        return quantized_of(value.owner.operands[0].type)
    casts = (use.operation for use in value.uses if isinstance(use.operation, StorageCastOp))
    return next((quantized_of(cast.results[0].type) for cast in casts), None)


def raised(path: str) -> ModuleOp:
    """The module of a model file with its scales in types, as far as its nodes determine them."""
    module = import_model(_read(path), Path(path).parent)
    stages = [
        stage.step
        for phase in phases(Options("generic"))
        for stage in phase.stages
        if phase.name in RAISED or stage.step.name in RAISED
    ]
    run_passes(module, stages[: stages.index(next(s for s in stages if s.name == RAISED[-1])) + 1])
    return module


def quantized_types(path: str) -> dict[str, UniformType]:
    """Quantized types of a model's tensors, by name."""
    types: dict[str, UniformType] = {}
    for op in raised(path).walk():
        for k, result in enumerate(op.results):
            if (name := tensor_name(op, k)) and (type := _quantized(result)) is not None:
                types.setdefault(name, type)
    return types


def _with_outputs(model: ModelProto, names: Sequence[str]) -> bytes:
    """The serialized model with these tensors as its only outputs. UserError if it exceeds one message."""
    import onnx

    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    try:
        return copy.SerializeToString()
    except Exception as error:  # ValueError, or protobuf's own
        raise UserError(
            "the model is too large to compare its tensors", "compare without --layers"
        ) from error


class _Pair(NamedTuple):
    """A tensor that both models have."""

    names: tuple[str, str]
    """Its names in A and in B."""
    noise: TensorNoise


def _shared(a: ModelProto, b: ModelProto) -> list[_Pair]:
    """Names in A and B of the tensors that both have, in the order of A's graph."""
    others = {name for node in b.graph.node for name in node.output if name}
    pairs: list[_Pair] = []
    above: dict[str, frozenset[int]] = {}
    for node in a.graph.node:
        before = frozenset[int]().union(*(above.get(name, ()) for name in node.input))
        for name in filter(None, node.output):
            partner = next((n for n in (name, f"{name}{QUANTIZED}") if n in others), None)
            above[name] = before
            if partner is not None and node.op_type != "Constant":
                above[name] = frozenset([len(pairs)])
                sources = [pairs[k].noise for k in sorted(before)]
                pairs.append(_Pair((name, partner), TensorNoise(name, op=node.op_type, above=sources)))
    return pairs


def _compared(tensors: Sequence[TensorNoise]) -> list[TensorNoise]:
    """The tensors that were counted, with links past those that were not."""
    for one in tensors:  # in the order of the graph
        nearest = [near for a in one.above for near in ([a] if a.is_counted else a.above)]
        one.above = list(dict.fromkeys(nearest))
    return [one for one in tensors if one.is_counted]


def _real(
    a: Array, b: Array, own: UniformType | None, other: UniformType | None
) -> tuple[Array, Array, UniformType | None] | None:
    """Both tensors as real numbers, and the type that defines their steps; None if they are not comparable."""
    if a.shape != b.shape or a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return None
    floats = a.dtype.kind == "f", b.dtype.kind == "f"
    if all(floats) or (own is None and other is None and a.dtype == b.dtype):
        return a, b, None
    if floats[0] or floats[1]:
        type = other if floats[0] else own
        if type is None:
            return None
        return (a, type.dequantize(b), type) if floats[0] else (type.dequantize(a), b, type)
    if own is not None and other is not None and own.axis == other.axis:
        if np.array_equal(own.scales, other.scales):
            return own.dequantize(a), other.dequantize(b), own
    # The scale may have been folded into a weight; the integers are equal except for signedness.
    if own is None or a.dtype.itemsize != b.dtype.itemsize:
        return None
    if a.dtype != b.dtype:
        b = numerics.flip_signedness(b)
    return own.dequantize(a), own.dequantize(b), own


def _numeric(runner: Runner) -> Iterator[str]:
    """The outputs that are tensors of numbers of 8 bits or more."""
    for output in runner.session.get_outputs():
        if output.type in DTYPES:
            yield output.name


def compare_layers(
    reference: str,
    other: str,
    data: str | Sequence[str] | Sequence[Arrays],
    *,
    images: Preprocessing | None = None,
    show: Callable[[str], None] = lambda _: None,
) -> Layers:
    """
    Run two model files on the batches of `data` with optimization off, and compare the tensors that both have. `data`:
    as `Runner.feeds` takes it, or the batches. images: how they become inputs; None: as a file states it. show:
    progress callback.

    Raises UserError if a file cannot be loaded or run, or the data does not fit.
    """
    show("reading scales")
    paths = (reference, other)
    models = [_read(path) for path in paths]
    types = [quantized_types(path) for path in paths]
    shared = _shared(models[0], models[1])
    if not shared:
        return Layers([])
    runners = [
        Runner(path, optimize=False, model=_with_outputs(model, sorted({one.names[k] for one in shared})))
        for k, (path, model) in enumerate(zip(paths, models, strict=True))
    ]
    numeric = [set(_numeric(runner)) for runner in runners]
    wanted = [one for one in shared if one.names[0] in numeric[0] and one.names[1] in numeric[1]]
    read: Iterable[Arrays] = cast("Sequence[Arrays]", data)
    if paths := paths_of(cast("str | Sequence[str]", data)):
        record = Record()
        read = runners[0].feeds(paths, preprocessing_of(images, runners, record), record)
    for count, feeds in enumerate(read, 1):
        show(f"layers, batch {count}")
        both_feeds = feeds, translate(feeds, runners[0], runners[1])
        seen = [
            runner.run_all(one, names)
            for runner, one, names in zip(runners, both_feeds, numeric, strict=True)
        ]
        for (a, b), noise in wanted:
            if (pair := _real(seen[0][a], seen[1][b], types[0].get(a), types[1].get(b))) is not None:
                noise.add_reals(*pair)
    return Layers(_compared([one.noise for one in shared]))
