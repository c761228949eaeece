"""
What the search does not change, and what it need not compute twice: the space of candidates, and their cache.

A `Space` is frozen. Another one of the same module, such as one with more nodes in float, is a `replace` of it; what
both have in common is found in the `Cache` that they share, by keys of all that it depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Options
from qdialect.evaluation.session import fused_nodes
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.quantizer.rounding.rounding import RoundedLayer
from qdialect.quantizer.search.accuracy import Accuracy
from qdialect.quantizer.search.trials import Choice
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.samples import Samples
from qdialect.reasons import Blocked
from qdialect.report.provenance import Origin
from qdialect.targets import Target, target

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

LARGEST_WEIGHT = 127
"""Greatest magnitude of a weight's integers: symmetric, in 8 bits."""


@dataclass(frozen=True, eq=False)
class Space:
    """What all candidates of one float module have in common."""

    module: ModuleOp
    """The simplified float module."""
    profile: Profile
    """Statistics of its tensors."""
    samples: Samples
    options: Options
    origin: Origin | None = None
    """The nodes of the model as read, which name the report's layers; None: the module's."""
    as_read: bytes = b""
    """The ONNX model as read, but for slow functions; empty if equal to the module's."""
    memory: int = 1 << 30
    """Bytes of tensors that are observed together."""
    show: Callable[[str], None] = lambda text: None
    """Progress callback."""
    prefer: str = "balance"
    """What decides between candidates: a key of `trials.DB_PER_PERCENT_TIME`."""
    measure: bool = False
    """True to decide by times measured on this machine."""
    by_logits: bool = True
    """True to compare class probabilities by their logits."""
    in_float: Mapping[str, Blocked] = field(default_factory=dict[str, Blocked])
    """Nodes that stay in float, as a compiled candidate had no integer form of them, by name, with the reason."""
    accuracy: Accuracy | None = None
    """Measures the loss that `--max-drop` limits, if it is one of a metric."""
    unsmoothed: ModuleOp | None = None
    """The module of which this one is a clone with smoothed activations; None if it is none."""

    @cached_property
    def target(self) -> Target:
        """The target of the result."""
        return target(self.options.target)

    @property
    def form(self) -> str:
        """The form of the result."""
        return self.options.form or self.target.form

    @property
    def levels(self) -> int:
        """Greatest magnitude of a weight's integers."""
        return min(LARGEST_WEIGHT, self.target.largest_weight or LARGEST_WEIGHT)

    @property
    def marked(self) -> Options:
        """The options of a compilation: the module is already decomposed, and its kept nodes are marked."""
        return replace(self.options, decompose=(), keep_float=())

    @property
    def built(self) -> tuple[ModuleOp, frozenset[str]]:
        """What a candidate's module depends on beside its choice, as a key."""
        return self.module, frozenset(self.in_float)

    @cached_property
    def float_nodes(self) -> tuple[int, int]:
        """Numbers of nodes that onnxruntime runs of the model as read, and of the simplified one."""
        simple = fused_nodes(export_model(self.module).SerializeToString(deterministic=True))
        return (fused_nodes(self.as_read) if self.as_read else simple), simple


class Latest(Generic[K, V]):
    """The values that were asked for last, `size` at most, by key."""

    def __init__(self, size: int):
        self._size = size
        self._values: dict[K, V] = {}

    def get(self, key: K, compute: Callable[[], V]) -> V:
        """The value of a key, computed if it is not kept."""
        value = self._values.pop(key) if key in self._values else compute()
        self._values[key] = value
        while len(self._values) > self._size:
            del self._values[next(iter(self._values))]
        return value

    def peek(self, key: K) -> V | None:
        """The value of a key if it is kept."""
        return self._values.get(key)


Rounded = Mapping[str, Mapping[int, RoundedLayer]]
"""The rounded weights of a module, by algorithm and number of the layer."""
Bounds = dict[str, tuple[float, float]]
"""Ranges of tensors, by name."""


@dataclass(frozen=True)
class Cache:
    """What candidates share. It bounds memory: what is dropped is computed again, with the same result."""

    weights: Latest[ModuleOp, Rounded] = field(default_factory=lambda: Latest[ModuleOp, Rounded](2))
    """Of the module, and of its clone with smoothed activations."""
    bounds: Latest[tuple[ModuleOp, str], Bounds] = field(
        default_factory=lambda: Latest[tuple[ModuleOp, str], Bounds](8)
    )
    """By module and method."""
    shifts: Latest[tuple[ModuleOp, frozenset[str], Choice], Mapping[int, Array]] = field(
        default_factory=lambda: Latest[tuple[ModuleOp, frozenset[str], Choice], Mapping[int, Array]](8)
    )
    """Sequential bias corrections by layer, by `Space.built` and choice."""
