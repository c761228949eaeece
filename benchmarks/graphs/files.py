"""
One graph compiled as a user does it, and the file that comes out read as its runtime reads it: its numbers with and
without a session's optimizations, its ops, and what the verdict says of them; and compiled a second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import ml_dtypes
import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

import qdialect
from graphs.changes import DOMAIN
from graphs.drawing import Array
from graphs.noise import LEAST, Outcome, energies, indices, same, sqnr
from graphs.quantized import Case
from qdialect.errors import UserError
from qdialect.evaluation.session import run
from qdialect.targets import target as target_of

LABELS = (
    "onnxruntime//exact", "tensorrt", "openvino", "generic", "onnxruntime/qdq", "onnxruntime/integer",
    "onnxruntime//lossy", "onnxruntime-avx2", "tensorrt//exact", "openvino//exact", "generic//exact",
    "onnxruntime/qdq/exact", "onnxruntime/integer/exact", "tensorrt//lossy", "openvino//lossy", "generic//lossy",
)  # fmt: skip
"""Target, form and level; each graph is compiled for onnxruntime and for one of these."""
UNDEFINED = ("inf", "nan")
"""Changes after which numbers may be NaN, of which only `exact` says what becomes of them (docs/limits.md)."""
ALLOWED = 36.0
"""dB: what a session's own roundings may leave, whatever the original has."""
INTEGER_ONLY = ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "QLinearConv", "QLinearMatMul")
"""Ops of ONNX that TensorRT's parser does not read."""


def compiled(case: Case, label: str, *, passes: bool) -> tuple[ModelProto, str]:
    """What a graph is compiled to, and the verdict; `passes`: each pass is judged by its class."""
    name, form, level = [*label.split("/"), "", ""][:3]
    module = qdialect.load(case.model.SerializeToString())
    judge = passes and case.finite and not case.functions
    feeds = [case.feeds] if judge else []
    report = qdialect.compile(module, target=name, form=form or None, exactness=level or "close", feeds=feeds)
    return qdialect.to_model(module), str(report)


def nodes_of(graph: GraphProto) -> Iterator[NodeProto]:
    """The nodes of a graph and of all its bodies."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from nodes_of(attribute.g)


def guards(model: ModelProto) -> Counter[str]:
    """How many nodes of a model are like guards against a session: by kind, those of bodies too."""
    nodes = [*nodes_of(model.graph)]
    makers = {output: node for node in nodes for output in node.output}
    found = Counter[str]()
    for node in nodes:
        found["Sum of one operand"] += node.op_type == "Sum" and len(node.input) == 1
        above = makers.get(node.input[0]) if node.op_type == "QuantizeLinear" else None
        if above is not None and above.op_type == "DequantizeLinear":
            found["pair behind a pair"] += list(above.input[1:]) == list(node.input[1:])
    return found


def unnamed(model: ModelProto, name: str, verdict: str) -> str:
    """An op that the target's runtime does not read, and the verdict does not name; empty if there is none."""
    target = target_of(name)
    said = [line for line in verdict.splitlines() if not line.startswith(("integers", "in pairs", "kernels"))]
    for node in nodes_of(model.graph):
        if node.domain == DOMAIN:
            continue
        domain = "" if node.domain == "ai.onnx" else node.domain
        if not target.reads(domain, node.op_type) or (name == "tensorrt" and node.op_type in INTEGER_ONLY):
            if not any(node.op_type in line for line in said):
                return f"{node.domain or 'ai.onnx'}.{node.op_type}"
    return ""


def signature(model: ModelProto) -> Counter[str]:
    """How many nodes of each op, and how many constants of each type, shape and content, there are."""
    found = Counter(f"{n.domain}.{n.op_type}" for n in nodes_of(model.graph) if n.op_type != "Constant")
    found.update(f"output {k} {o.type.tensor_type.elem_type}" for k, o in enumerate(model.graph.output))
    found.update(f"constant of type {t.data_type}" for t in model.graph.initializer)
    return found


def numbers(outputs: Sequence[Array], infos: Sequence[ValueInfoProto]) -> list[Array]:
    """Outputs whose type numpy lacks, as numbers."""
    return [
        a.view(ml_dtypes.bfloat16)
        if i.type.tensor_type.elem_type == TensorProto.BFLOAT16 and a.dtype == np.uint16
        else a
        for a, i in zip(outputs, infos, strict=True)
    ]


class Judge:
    """Holds what a graph gives against what its files give."""

    def __init__(self, case: Case):
        self.case = case
        self.places = indices(case.model)
        self.infos = list(case.model.graph.output)
        self.original = case.runnable(case.model)
        self.before = numbers(run(self.original, case.feeds), self.infos)

    def default(self, model: ModelProto) -> list[Array] | str:
        """What a session with all of its optimizations gives, or why it refuses."""
        try:
            return numbers(run(model, self.case.feeds, optimize=True), self.infos)
        except UserError as error:
            return str(error)

    def noise(self, after: Sequence[Array]) -> float:
        """The ratio of signal to noise over all outputs but places, in dB."""
        rows = zip(self.infos, self.before, after, strict=True)
        pairs = [energies(a, b) for info, a, b in rows if info.name not in self.places]
        return sqnr(sum(signal for signal, _ in pairs), sum(other for _, other in pairs))

    def outcome(self, label: str, *, was: list[Array] | str | None, passes: bool, twice: bool) -> Outcome:
        """
        What becomes of the graph on a target; `was`: what a session with optimizations gave of the original, or why it
        refused; None if it ends the process.
        """
        try:
            return self._outcome(label, was, passes, twice)
        except UserError as error:
            return Outcome(str(error), " ".join(str(error).split()[:4]))
        except Exception as error:  # any error is what this looks for
            text = " ".join(str(error).split())
            return Outcome(f"{type(error).__name__}: {text[:300]}", type(error).__name__)

    def _outcome(self, label: str, was: list[Array] | str | None, passes: bool, twice: bool) -> Outcome:
        case, name, level = self.case, label.split("/")[0], [*label.split("/"), "", ""][2]
        model, verdict = compiled(case, label, passes=passes)
        whole = case.runnable(model)
        try:
            raw = run(whole, case.feeds)
        except UserError as error:
            return Outcome(str(error), "does not run")
        names = [info.name for info in self.infos]
        stated = [info.name for info in model.graph.output]
        if names != stated:
            return Outcome(f"outputs {names} became {stated}", "outputs")
        after = numbers(raw, self.infos)
        for info, a, b in zip(self.infos, self.before, after, strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                found = f"{a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}"
                return Outcome(f"{info.name}: {found}", "types")
        off = self.noise(after)
        integer = sum("QLinear" in n.op_type or n.op_type == "QGemm" for n in model.graph.node)
        result = Outcome("", "", off, off, integer)
        if level == "exact" and (
            other := [n for n, a, b in zip(names, self.before, after, strict=True) if not same(a, b)]
        ):
            return self._wrong(result, f"{off:.1f} dB, not the same bits: {', '.join(other)}", "not exact")
        undefined = any(note.startswith(UNDEFINED) for note in case.notes)
        if off < (LEAST if level != "lossy" else 10) and not undefined:
            return self._wrong(result, f"{off:.1f} dB", "noise")
        if what := unnamed(model, name, verdict):
            return self._wrong(result, f"the verdict does not name {what}", "verdict")
        if name.startswith("onnxruntime") and was is not None and (what := self._session(whole, off, was)):
            return self._wrong(result, what, f"session: {what.split(':')[0]}")
        if twice:
            again, _ = compiled(replaced(case, model), label, passes=False)
            a, b = signature(model), signature(again)
            if (ops := {k: v for k, v in (b - a).items()}) or (a - b):
                gone = {k: v for k, v in (a - b).items()}
                return self._wrong(result, f"more {ops}, fewer {gone}", "second compilation")
        return result

    @staticmethod
    def _wrong(result: Outcome, problem: str, kind: str) -> Outcome:
        result.problem, result.kind = problem, kind
        return result

    def _session(self, model: ModelProto, off: float, was: list[Array] | str) -> str:
        """What a session with optimizations makes worse of the result than of the original, and than it is without."""
        now = self.default(model)
        refused = isinstance(was, str)
        if isinstance(now, str):
            return "" if refused else f"refused: {now}"
        noise = self.noise(now)
        odd = any(" scale " in note and not note.startswith(UNDEFINED) for note in self.case.notes)
        before = -np.inf if refused else self.noise(was)
        if not refused and noise < min(ALLOWED, before - 6, off - 6):
            return f"noise: {noise:.1f} dB, off {off:.1f} dB, of the original {before:.1f} dB"
        if odd and noise < min(LEAST, off - 6):
            return f"odd scale: {noise:.1f} dB, off {off:.1f} dB, of the original {before:.1f} dB"
        return ""


def replaced(case: Case, model: ModelProto) -> Case:
    """The case with another model, judged no more."""
    return Case(case.seed, model, case.feeds, False, case.functions, case.notes)
