"""
`--check-numerics`: what each pass did to the numbers, judged by the oracle form per op.

How a pass is judged. The oracle form of the module is run before the pass, every tensor an output. A value of the
module after the pass is *the same* as one before it if they share an ONNX tensor name or a graph output (or, without a
name, if it is the very same value), and both hold the same kind of element: the same stored integers, or the same real
numbers in steps of the same scale, so that u8 and i8 readings of one byte are compared too. Each such value is then cut
after the pass: it is computed from the nearest such values above it, which come in as the oracle had them before, and
compared with what the oracle had for itself. So errors do not add up over a model, and what lies between two such
values, the ops that the pass made, is what is judged:

    exact   no element differs
    close   integers differ by one step at most, floats by 1e-4 of the largest magnitude at most;
            the result of a dequantize counts as the integers it is made of

A value whose name is gone is judged through those that use it. Constants are what they are: not cut, and not compared
with constants of the same name. A lossy pass is not judged. Random ops are not compared, nor, against `close`, what
Loop and Scan give: each round starts from the differences of the one before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from qdialect import numerics
from qdialect.compiler import exactness_of
from qdialect.dialects.onnx_ops import RANDOM, ConstantOp, CustomOp, OnnxOp
from qdialect.dialects.onnx_types import BY_ATTRIBUTE, element_of, quantized_of, tensor_type
from qdialect.dialects.quant import DequantizeOp, UniformType
from qdialect.names import called, tensor_name
from qdialect.oracle import run
from qdialect.oracle_form import is_visible, main_of, oracle_form, stored_type
from qdialect.passes import Exactness
from qdialect.promises.control import Carries
from qdialect.rewriting import Rewritten, recording

Array = npt.NDArray[Any]
CLOSE_FLOAT = 1e-4
"""Of the largest magnitude."""
ROUNDING = 2.0**-22
"""Of a real number: two units in the last place of float32."""
MAX_BATCHES = 4
"""Of a file's batches, this many are run: each pass runs each twice."""


@dataclass(frozen=True)
class Seen:
    """What the oracle had for a value."""

    stored: Array
    """Its elements, of quantized types the stored integers."""
    type: UniformType | None
    computed: bool
    """Whether an op made it, not a constant."""


@dataclass(frozen=True)
class Difference:
    """One value that is beyond a class."""

    tensor: str
    op: str
    node: str
    """What computes it now."""
    detail: str


@dataclass(frozen=True)
class Finding:
    """The first pass beyond its class."""

    pass_name: str
    exactness: str
    pattern: str
    """The pattern that rewrote the node last; empty where no pattern did."""
    difference: Difference

    def __str__(self) -> str:
        pattern = f", pattern {self.pattern}," if self.pattern else ""
        d = self.difference
        where = f"{d.op} '{d.node}': tensor '{d.tensor}'"
        return f"pass '{self.pass_name}'{pattern} is not {self.exactness} at {where}, {d.detail}"


def names_of(module: ModuleOp) -> dict[SSAValue, list[str]]:
    """The ONNX tensor names of the values that ops of the graph make; graph outputs count as `output NAME` besides."""
    func = main_of(module)
    names: dict[SSAValue, list[str]] = {}
    for op in func.body.block.ops:
        for k, result in enumerate(op.results):
            if name := tensor_name(op, k):
                names.setdefault(result, []).append(name)
    end = func.body.block.last_op
    assert isinstance(end, ReturnOp)
    rows = func.res_attrs.data if func.res_attrs is not None else ()
    for k, value in enumerate(end.operands):
        given = rows[k].data.get("onnx.name") if k < len(rows) else None
        if isinstance(value, OpResult):
            names.setdefault(value, []).append(f"output {given.data if isinstance(given, StringAttr) else k}")
    return names


def observe(module: ModuleOp, feeds: Mapping[str, Array]) -> dict[SSAValue, Seen]:
    """
    What the oracle form of `module` computes for every tensor of the graph, and what its constants hold.

    `feeds` is keyed by graph input name. Raises UserError if onnxruntime cannot run the oracle form.
    """
    seen = {
        op.results[0]: Seen(op.value.array(), quantized_of(op.results[0].type), False)
        for op in main_of(module).body.block.ops
        if isinstance(op, ConstantOp) and op.value is not None and is_visible(op.results[0])
    }
    computed = _run(module, feeds, {})
    return seen | {v: Seen(a, quantized_of(v.type), True) for v, a in computed.items()}


def _run(
    module: ModuleOp, feeds: Mapping[str, Array], cut: Mapping[SSAValue, Array]
) -> dict[SSAValue, Array]:
    from qdialect.exporter import export_model

    def outside(value: SSAValue) -> Attribute | None:
        if (array := cut.get(value)) is None:
            return None
        element = element_of(stored_type(value.type))
        if element not in BY_ATTRIBUTE:
            element = next(a for a, e in BY_ATTRIBUTE.items() if e.dtype == array.dtype)
        return tensor_type(element, array.shape)

    form = oracle_form(module, outside)
    inputs = {f"c{k}": cut[v] for k, v in enumerate(form.cuts)}
    for k, name in enumerate(input_names(module)):
        if name in feeds:
            inputs[f"i{k}"] = feeds[name]
    if not form.outputs:
        return {}
    results = run(export_model(form.module), inputs)
    return {v: a for v, a in zip(form.outputs, results, strict=True)}


def input_names(module: ModuleOp) -> list[str]:
    """The graph's inputs, as ONNX calls them."""
    func = main_of(module)
    rows = func.arg_attrs.data if func.arg_attrs is not None else ()
    found: list[str] = []
    for k in range(len(func.body.block.args)):
        given = rows[k].data.get("onnx.name") if k < len(rows) else None
        found.append(given.data if isinstance(given, StringAttr) else f"input_{k}")
    return found


class Reference:
    """What the oracle had before a pass, by name."""

    def __init__(self, module: ModuleOp, feeds: Mapping[str, Array]):
        self.feeds = feeds
        seen = observe(module, feeds)
        self._by_value = {v: one for v, one in seen.items() if one.computed and not _is_random(v)}
        self._by_name: dict[str, list[Seen]] = {}
        for value, names in names_of(module).items():
            if value in seen and not _is_random(value):
                for name in names:
                    self._by_name.setdefault(name, []).append(seen[value])

    def expected(self, names: Sequence[str], type: Attribute, computed: bool) -> Array | None:
        """What a value of these names and this type held before, as it would be stored now; None if there was none."""
        found = [
            array
            for name in names
            for seen in self._by_name.get(name, ())
            if (computed or seen.computed) and (array := as_stored(seen, type)) is not None
        ]
        same = all(
            np.array_equal(found[0], other, equal_nan=found[0].dtype.kind == "f") for other in found[1:]
        )
        return found[0] if found and same else None

    def differences(self, module: ModuleOp, exactness: Exactness) -> list[Difference]:
        """The values of `module`, a pass later, that are beyond the class; in the order of the graph."""
        expected: dict[SSAValue, Array] = {}
        constants: dict[SSAValue, Array] = {}
        names = names_of(module)
        for value in (result for op in main_of(module).body.block.ops for result in op.results):
            if not is_visible(value) or _is_random(value):
                continue
            constant = value.owner.value if isinstance(value.owner, ConstantOp) else None
            array = self.expected(names.get(value, ()), value.type, constant is None)
            if array is None and value not in names and (seen := self._by_value.get(value)) is not None:
                array = as_stored(seen, value.type)
            if array is not None:
                expected[value] = array
                if constant is not None:
                    constants[value] = constant.array()
        cut = {v: a for v, a in expected.items() if v not in constants}
        now = constants | _run(module, self.feeds, cut)
        found: list[Difference] = []
        added_up = _added_up(module, cut) if exactness is Exactness.CLOSE else set[SSAValue]()
        for value, wanted in expected.items():
            if value in added_up:
                continue
            op = value.owner
            assert isinstance(op, Operation)
            step = _step(op, wanted) if isinstance(op, DequantizeOp) else None
            if (detail := beyond(wanted, now[value], exactness, step)) is not None:
                name = names.get(value, [called(op)])[0].removeprefix("output ")
                found.append(Difference(name, op.name, called(op), detail))
        return found


def check_feeds(module: ModuleOp, path: str) -> list[Mapping[str, Array]]:
    """
    What `--check-numerics` runs a module on: the first batches of an .npz file, or random inputs if `path` is empty.

    Raises UserError if the file does not fit, or onnxruntime cannot run the module.
    """
    from qdialect.feeds import fitting_feeds, given_feeds

    return list(islice(given_feeds(module, path), MAX_BATCHES)) if path else [fitting_feeds(module)]


def _is_random(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, CustomOp) or (isinstance(op, OnnxOp) and op.op_type in RANDOM)


def _added_up(module: ModuleOp, cut: Mapping[SSAValue, Array]) -> set[SSAValue]:
    """The values that rounds of a Loop or Scan made, or what is computed of such, down to the next cut."""
    found: set[SSAValue] = set()
    for op in main_of(module).body.block.ops:
        promise = op.get_trait(Carries) if isinstance(op, OnnxOp) else None
        rounds = promise is not None and any(s.argument is not None for s in promise.slots(op))  # pyright: ignore
        if rounds or any(o in found and o not in cut for inner in op.walk() for o in inner.operands):
            found.update(op.results)
    return found


def as_stored(seen: Seen, type: Attribute) -> Array | None:
    """What was seen, as a value of `type` would store it; None if the two do not hold the same kind of element."""
    now = quantized_of(type)
    element = BY_ATTRIBUTE.get(element_of(stored_type(type)))  # pyright: ignore[reportArgumentType]
    if now is None or seen.type is None or now == seen.type:
        known = element is None or element.dtype == seen.stored.dtype
        return seen.stored if known and (now is None or seen.type is None or now == seen.type) else None
    then = seen.type
    if now.blocks or then.blocks or now.axis != then.axis or not np.array_equal(now.scales, then.scales):
        return None
    moved = now.zero_points - then.zero_points
    if now.axis is not None:
        moved = numerics.expand_parameters(moved, seen.stored.shape, now.axis)
    stored = seen.stored.astype(np.int64) + moved
    return stored.astype(now.storage.dtype) if _within(stored, now) else None


def _within(stored: Array, type: UniformType) -> bool:
    return bool(np.all((stored >= type.storage.low) & (stored <= type.storage.high)))


def _step(op: DequantizeOp, real: Array) -> Array:
    """One step of what a dequantize makes, at each of its elements; with room for rounding the product."""
    type = op.element_type
    scales = numerics.expand_parameters(type.scales, real.shape, type.axis, type.blocks)
    largest = np.abs(real[np.isfinite(real)]).max(initial=0.0)
    return scales.astype(np.float64) + largest * ROUNDING


def beyond(wanted: Array, got: Array, exactness: Exactness, step: Array | None = None) -> str | None:
    """How far `got` is beyond the class; None if it is within. `step`: of real numbers that count as integers."""
    if wanted.shape != got.shape:
        return f"the shape is {list(got.shape)}, it was {list(wanted.shape)}"
    if exactness is Exactness.LOSSY or wanted.dtype.kind not in "iufbV":
        return None if exactness is Exactness.LOSSY or np.array_equal(wanted, got) else "elements differ"
    is_float = wanted.dtype.kind in "fV"
    if np.array_equal(wanted, got, equal_nan=wanted.dtype.kind == "f"):
        return None
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    apart = np.where(np.isnan(apart), np.inf, apart)
    most, count = float(apart.max()), int(np.count_nonzero(apart))
    limit = np.zeros(()) if step is None or exactness is Exactness.EXACT else step
    if exactness is Exactness.CLOSE:
        close = CLOSE_FLOAT * float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) if is_float else 1.0
        limit = np.maximum(limit, close)
    if np.all(apart <= limit):
        return None
    return f"{count} of {a.size} {'floats' if is_float else 'integers'} differ, by up to {most:g}"


def _fingerprint(module: ModuleOp) -> list[tuple[Any, ...]]:
    """Equal before and after a pass only if it changed nothing; it keeps the operations, so none comes back."""
    return [
        (op, *op.operands, *op.result_types, *op.properties.values(), *op.attributes.values())
        for op in module.walk()
    ]


def _pattern_at(difference: Difference, records: Sequence[Rewritten]) -> str:
    """The pattern that rewrote a node last, or something right beside it."""
    wanted = {difference.tensor, difference.node}
    for record in reversed(records):
        if record.op in wanted:
            return record.pattern
    return next((r.pattern for r in reversed(records) if wanted & r.names), "")


def check_passes(
    module: ModuleOp,
    passes: Iterable[ModulePass],
    feeds: Sequence[Mapping[str, Array]],
    apply: Callable[[ModulePass], None] | None = None,
) -> Finding | None:
    """
    Run `passes` on `module` in place and judge each; the first that is beyond its class ends it and is returned.

    `feeds`: inputs by graph input name, each judged by itself. `apply` runs one pass, by default on a plain context.
    Raises UserError if onnxruntime cannot run the module.
    """
    context = Context()
    references = [Reference(module, one) for one in feeds]
    for module_pass in passes:
        before = _fingerprint(module)
        with recording() as records:
            apply(module_pass) if apply else module_pass.apply(context, module)
        if _fingerprint(module) == before:
            continue
        exactness = exactness_of(module_pass)
        for reference in references if exactness is not Exactness.LOSSY else ():
            if found := reference.differences(module, exactness):
                return Finding(module_pass.name, exactness.value, _pattern_at(found[0], records), found[0])
        references = [Reference(module, one) for one in feeds]
    return None
