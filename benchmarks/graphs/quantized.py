"""
Random QDQ graphs: a seed in, an ONNX model and its inputs out.

A graph is drawn in float first, with marks where it is to be quantized; it is run once, and the ranges that occur
become scales and zero points. So every scale is sane, whatever the ops, and the same seed always gives the same model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnxruntime as ort
from onnx import FunctionProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphs.attention import ATTENTION
from graphs.changes import CHANGES, Changed, with_functions
from graphs.drawing import (
    STORAGES,
    Array,
    Bias,
    Drawing,
    Form,
    Mark,
    Value,
    disguised,
    f32,
    parameter_names,
    parameters_of,
)
from graphs.edge_cases import ODD, ROWS_ALONE, changed, odd_shapes
from graphs.forms import FORMS
from graphs.indexing_ops import MORE
from graphs.ops import OPS, Draw
from graphs.products import PRODUCTS
from graphs.rare_ops import WIDE
from graphs.tables import TABLES

SHAPES = [(1, 4, 5, 7), (2, 3, 6, 5), (1, 8, 4, 6), (2, 5, 9), (3, 7), (1, 12), (2, 3, 4)]
MAX_ELEMENTS = 3000


@dataclass(frozen=True)
class Case:
    """One random model."""

    seed: int
    model: ModelProto
    feeds: dict[str, Array]
    finite: bool = True
    """Whether the data are numbers, all of them."""
    functions: tuple[FunctionProto, ...] = ()
    """What unknown ops compute, for the runs alone."""
    notes: tuple[str, ...] = ()
    """What was done to the graph that was drawn."""

    def runnable(self, model: ModelProto) -> ModelProto:
        """The case's model, or what it was compiled to, with its unknown ops."""
        return with_functions(model, self.functions)


def random_case(seed: int, forms: bool = False, wide: bool = False, integer: bool = False) -> Case:
    """
    The model and inputs of a seed: 4 to 14 ops.

    Another graph with `forms`, not QDQ alone, and another with `wide`: ops that nothing is quantized for, besides; and
    another with `integer`, where every value is quantized, by one scale.
    """
    ops = OPS + (FORMS + MORE if forms else []) + (3 * WIDE if wide else [])
    model, feeds = _drawn(Drawing(seed, forms, integer), ops, SHAPES)
    return Case(seed, model, feeds)


def with_open_sizes(case: Case) -> Case:
    """The case with sizes of its inputs left to the run: the first, or some of them, in one of two graphs by name."""
    rng = np.random.default_rng((case.seed, 1))
    model = ModelProto()
    model.CopyFrom(case.model)
    batch, named = rng.random() < 0.5, rng.random() < 0.5
    for value in model.graph.input:
        for k, dim in enumerate(value.type.tensor_type.shape.dim):
            if (k == 0) if batch else (rng.random() < 0.6):
                size = dim.dim_value
                dim.Clear()
                if named:  # equal sizes may have one name
                    dim.dim_param = f"size_{size}"
    return replace(case, model=model)


def runs(model: ModelProto, feeds: Mapping[str, Array]) -> bool:
    """Whether onnxruntime does."""
    try:
        _session(model).run(None, dict(feeds))
    except Exception:  # onnxruntime's exceptions share no base class
        return False
    return True


def odd_case(seed: int) -> Case:
    """The model and inputs of a seed, with what `graphs.edge_cases` has; the first that onnxruntime runs."""
    for attempt in range(50):
        d = Drawing((seed, attempt), forms=(seed + attempt) % 4 != 3)
        ops = OPS + FORMS + MORE + WIDE + 3 * ODD if d.forms else OPS + WIDE + ODD
        try:
            model, feeds = _drawn(d, [quietly(op) for op in ops], odd_shapes(d, SHAPES))
        except Exception:  # nor has it all that fits by shape
            continue
        if runs(model, feeds):
            return Case(seed, *changed(d, model, feeds, runs))
    raise ValueError(f"no graph of seed {seed} runs")


OPSETS = [7, 13, 14, 15, 16, 17, 18, 19, 20, 21, 21, 21, 22, 23, 23, 24, 25, 26, 27, 28]
"""Opsets of `any_case`; 7 is any before 13."""
FAMILIES: list[list[Draw]] = [OPS, PRODUCTS, PRODUCTS, ATTENTION, TABLES, FORMS, MORE, WIDE, ODD]


def any_case(seed: int) -> Case:
    """The model and inputs of a seed, with everything that can be drawn; the first that onnxruntime runs."""
    for attempt in range(60):
        d = Drawing((seed, attempt, 37), forms=True)
        d.opset = max(d.pick(OPSETS), 13)
        families = [d.pick(FAMILIES) for _ in range(3)]
        ops = [quietly(op) for family in families for op in family]
        try:
            model, feeds = _drawn(d, ops, odd_shapes(d, SHAPES) if d.chance(0.15) else SHAPES, most=9)
        except Exception:  # nor has it all that fits by shape
            continue
        if not is_known(model, feeds):
            continue
        now = Changed(model, feeds)
        for share, change in CHANGES:
            after = change(d.rng, now) if d.chance(share) else None
            if after is not None and is_known(with_functions(after.model, after.functions), after.feeds):
                now = after
        finite = all(np.isfinite(v.astype(np.float32)).all() for v in now.feeds.values())
        return Case(seed, now.model, now.feeds, finite, now.functions, now.notes)
    raise ValueError(f"no graph of seed {seed} runs")


def is_known(model: ModelProto, feeds: Mapping[str, Array]) -> bool:
    """Whether onnxruntime runs a model, twice with equal results that are not all NaN."""
    try:
        session = _session(model)
        first, second = (session.run(None, dict(feeds)) for _ in range(2))
    except Exception:  # onnxruntime's exceptions share no base class
        return False
    return all(
        isinstance(a, np.ndarray) and a.tobytes() == b.tobytes() and not (a.size and (a != a).all())
        for a, b in zip(first, second, strict=True)
    )


def quietly(op: Draw) -> Draw:
    """An op that does not fit where it meets a size that it does not know of."""

    def draw(d: Drawing, x: Value) -> Value | None:
        if op in (*ROWS_ALONE, *PRODUCTS, *ATTENTION) and 0 in x.shape[1:]:
            return None
        steps, values = len(d.steps), len(d.values)
        try:
            return op(d, x)
        except (ValueError, ZeroDivisionError):
            del d.steps[steps:], d.values[values:]
            return None

    return draw


def _drawn(
    d: Drawing, ops: Sequence[Draw], shapes: Sequence[tuple[int, ...]], most: int = 14
) -> tuple[ModelProto, dict[str, Array]]:
    for _ in range(d.pick([1, 1, 2])):
        value = Value(d.name("x"), d.pick(shapes))
        d.inputs.append(value)
        d.values.append(d.cast(value) if d.integer or d.chance(0.9) else value)
    wanted, count = int(d.rng.integers(min(4, most // 2), most + 1)), 0
    for _ in range(60):
        if count == wanted:
            break
        x = d.values[-1] if d.chance(0.6) else d.pick(d.values)
        if x.shape and int(np.prod(x.shape)) <= MAX_ELEMENTS and d.pick(ops)(d, x) is not None:
            count += 1
    leaves = [v.name for v in d.values if v.name not in d.used]
    middle = [v.name for v in d.values if v.name in d.used and d.chance(0.08) and v not in d.inputs]
    d.outputs = [*leaves, *(m for m in middle if m not in {i.name for i in d.inputs})]
    feeds = {
        i.name: f32(d.rng.normal(size=i.shape) * d.pick([0.5, 2.0]) + d.pick([0.0, 0.4])) for i in d.inputs
    }
    return quantized(d, feeds), feeds


def quantized(d: Drawing, feeds: dict[str, Array]) -> ModelProto:
    """Run the graph in float, and put casts of the ranges that occur where the marks are."""
    marks = [m for s in d.steps if (m := s.mark if isinstance(s, Form) else s) and isinstance(m, Mark)]
    seen = _run_float(d, feeds, sorted({m.source for m in marks}))
    for mark in marks:
        if mark.like is None:
            mark.scale, mark.zero_point = parameters_of(
                seen[mark.source], mark.storage, mark.symmetric, mark.axis
            )
    steps, d.steps = d.steps, []
    for step in steps:
        if isinstance(step, Form):
            step.place()
        elif isinstance(step, Mark):
            (_place_arithmetic if step.arithmetic else _place)(d, step)
        elif isinstance(step, Bias):
            _place_bias(d, step)
        else:
            d.steps.append(step)
    if d.chance(0.1) and marks:  # integers as a graph output
        quantizes = [s for s in d.steps if isinstance(s, NodeProto) and s.op_type == "QuantizeLinear"]
        d.outputs += [q.output[0] for q in quantizes[:1]]
    return _model(d, [s for s in d.steps if isinstance(s, NodeProto)], d.outputs)


def _place(d: Drawing, mark: Mark) -> None:
    head = mark.head()
    dtype = STORAGES[head.storage]
    zero = head.zero_point.astype(dtype)
    attributes: dict[str, Any] = {}
    if mark.axis is not None:
        attributes["axis"] = mark.axis - mark.rank if d.chance(0.4) else mark.axis
    if (d.chance(0.03) and mark.axis is None) or (dtype in (np.uint16, np.int16) and d.opset < 21):
        attributes["domain"] = "com.microsoft"
    pairs = [head.parameters] if head.parameters and d.chance(0.5) else []
    q = list(pairs[0]) if pairs else parameter_names(d, head.scale, zero, q=True)
    dq = q if d.chance(0.6) else parameter_names(d, head.scale, zero, q=False)
    if len(q) == 2:
        head.parameters = (q[0], q[1])
    stored = mark.stored = d.name("q")
    d.steps.append(
        helper.make_node("QuantizeLinear", [mark.source, *q], [stored], name=d.name("Q_"), **attributes)
    )
    d.steps.append(
        helper.make_node("DequantizeLinear", [stored, *dq], [mark.result], name=d.name("DQ_"), **attributes)
    )


def _place_arithmetic(d: Drawing, mark: Mark) -> None:
    """Mul or Div, Round, Add, Clip, a Cast and back or none, Sub, Mul; half of the time by a power of two."""
    head = mark.head()
    if mark is head and d.chance(0.5):
        head.scale = np.exp2(np.ceil(np.log2(head.scale))).astype(np.float32)
    info, at = np.iinfo(STORAGES[head.storage]), mark.source
    zero = f32(head.zero_point)
    steps: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("Mul", [f32(1 / head.scale)], {}) if d.chance(0.5) else ("Div", [head.scale], {}),
        ("Round", [], {}),
        ("Add", [zero], {}),
        ("Clip", [f32(info.min), f32(info.max)], {}),
    ]
    if d.chance(0.5):
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(STORAGES[head.storage]))
        steps += [("Cast", [], {"to": kind}), ("Cast", [], {"to": TensorProto.FLOAT})]
    steps += [("Sub", [zero], {}), ("Mul", [head.scale], {})]
    steps = [s for s in steps if zero.any() or s[0] not in ("Add", "Sub")]
    for k, (op, constants, attributes) in enumerate(steps):
        result = mark.result if k == len(steps) - 1 else d.name(op.lower())
        inputs = [at, *(d.constant(c) for c in constants)]
        d.steps.append(helper.make_node(op, inputs, [result], name=d.name(f"{op}_"), **attributes))
        at = result


def _place_bias(d: Drawing, step: Bias) -> None:
    scale = f32(step.x.head().scale * step.w_scale)
    stored = np.rint(step.real / scale).astype(np.int64).clip(-(2**31), 2**31 - 1).astype(np.int32)
    names = [disguised(d, scale)] + ([disguised(d, np.zeros(scale.shape, np.int32))] if d.chance(0.5) else [])
    attributes: dict[str, Any] = {"axis": 0} if scale.ndim else {}
    inputs = [d.constant(stored, "b"), *names]
    d.steps.append(
        helper.make_node("DequantizeLinear", inputs, [step.result], name=d.name("DQ_"), **attributes)
    )


def _run_float(d: Drawing, feeds: dict[str, Array], wanted: Sequence[str]) -> dict[str, Array]:
    nodes: list[NodeProto] = []
    for step in d.steps:
        match step:
            case Mark():
                nodes.append(helper.make_node("Identity", [step.source], [step.result]))
            case Form():
                nodes += step.floats
            case Bias():
                value = numpy_helper.from_array(step.real)
                nodes.append(helper.make_node("Constant", [], [step.result], value=value))
            case NodeProto():
                nodes.append(step)
        if isinstance(step, Form) and step.mark is not None:
            nodes.append(helper.make_node("Identity", [step.mark.source], [step.mark.result]))
    if not wanted:
        return {}
    model = _model(d, nodes, wanted)
    return dict(zip(wanted, _session(model).run(None, feeds), strict=True))


def _session(model: ModelProto) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _model(d: Drawing, nodes: Sequence[NodeProto], outputs: Sequence[str]) -> ModelProto:
    inputs = [helper.make_tensor_value_info(i.name, TensorProto.FLOAT, i.shape) for i in d.inputs]
    integer = {n.output[0] for n in nodes if n.op_type == "QuantizeLinear"}
    kinds = _storage_of(nodes, d) if integer & set(outputs) else {}
    infos = [helper.make_tensor_value_info(o, kinds.get(o, TensorProto.FLOAT), None) for o in outputs]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in d.initializers.items()]
    graph = helper.make_graph(nodes, "random", inputs, infos, tensors)
    imports = [helper.make_opsetid("", d.opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def _storage_of(nodes: Sequence[NodeProto], d: Drawing) -> dict[str, int]:
    """The element types of quantized tensors, found by running the shape inference that onnxruntime has."""
    elements: dict[str, int] = {}
    for mark_node in nodes:
        if mark_node.op_type == "QuantizeLinear":
            zero = mark_node.input[2] if len(mark_node.input) > 2 else ""
            elements[mark_node.output[0]] = _element(zero, nodes, d)
    return elements


def _element(name: str, nodes: Sequence[NodeProto], d: Drawing) -> int:
    if not name:
        return TensorProto.UINT8
    if name in d.initializers:
        return helper.np_dtype_to_tensor_dtype(d.initializers[name].dtype)
    node = next(n for n in nodes if name in n.output)
    if node.op_type == "Cast":
        return next(a.i for a in node.attribute if a.name == "to")
    if node.op_type == "Constant":
        return next(a.t.data_type for a in node.attribute)
    return _element(node.input[0], nodes, d)
