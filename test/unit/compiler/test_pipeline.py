"""The pipelines as data: what holds behind each phase, and which neighbours may not change places."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

import qdialect
from graphs.quantized import random_case
from graphs.structure import difference
from qdialect.compiler.conditions import ConditionCheck
from qdialect.compiler.options import Options
from qdialect.compiler.pipeline import Phase, claims, phases, pipeline
from qdialect.errors import UserError
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.opsets import import_domains
from qdialect.rewriting.manager import PassManager
from qdialect.rewriting.passes import parts_of

EXAMPLE = Path(__file__).parents[3] / "examples" / "digits_qdq.onnx"
SEEDS = (None, 306, 310, 313)
"""Graphs, None the example, on which every need that a pipeline states matters; of 55 none showed another."""


def module_of(seed: int) -> ModuleOp:
    """A random graph, in every form of quantization."""
    model = onnx.ModelProto()
    model.CopyFrom(random_case(seed, forms=True).model)
    return import_model(model)


def steps(parts: list[Phase]) -> list[ModulePass]:
    return [stage.step for phase in parts for stage in phase.stages]


@pytest.mark.parametrize("target", ["onnxruntime", "generic", "tensorrt"])
@pytest.mark.parametrize("seed", [None, *range(300, 312)])
def test_each_phase_brings_about_what_it_is_for(seed: int | None, target: str):
    parts = phases(Options(target))
    module = qdialect.load(EXAMPLE) if seed is None else module_of(seed)
    PassManager(ConditionCheck(claims(parts))).run(steps(parts), module)


@pytest.mark.parametrize(
    ("missing", "phase", "op"),
    [
        ("raise-qdq", "raise", "QuantizeLinear"),
        ("fuse-quantized", "move", "onnx."),
        ("lower-to-qdq", "lower", ""),
    ],
)
def test_a_phase_that_does_not_is_named(missing: str, phase: str, op: str):
    parts = phases(Options())
    [one] = [p for p in parts if p.name == phase]
    stages = [stage for stage in one.stages if missing not in stage.step.name.split(" + ")]
    parts = [p._replace(stages=stages) if p is one else p for p in parts]
    with pytest.raises(UserError, match=f"behind the phase '{phase}', .*{op}.* breaks that {one.aim}"):
        PassManager(ConditionCheck(claims(parts))).run(steps(parts), qdialect.load(EXAMPLE))


def differing(module: ModuleOp, passes: list[ModulePass]) -> set[tuple[str, str]]:
    """The neighbours that give another graph when they change places."""

    def finished(from_here: ModuleOp, following: list[ModulePass]) -> onnx.ModelProto:
        PassManager().run(following, from_here)
        import_domains(from_here)
        return export_model(from_here)

    pairs: set[tuple[str, str]] = set()
    for k, (first, second) in enumerate(pairwise(passes)):
        as_is, swapped = module.clone(), module.clone()
        PassManager().run([first, second], as_is)
        PassManager().run([second, first], swapped)
        if not as_is.is_structurally_equivalent(swapped):
            following = passes[k + 2 :]
            if difference(finished(as_is, following), finished(swapped, following)):
                pairs.add((first.name, second.name))
        PassManager().run([first], module)
    return pairs


def stated(options: Options) -> set[tuple[str, str]]:
    """The neighbours that need each other, by what the pipeline says."""
    stages = [stage for phase in phases(options) for stage in phase.stages]
    return {
        (before.step.name, stage.step.name)
        for before, stage in pairwise(stages)
        if any(part.name in stage.needs for part in parts_of(before.step))
    }


@pytest.mark.parametrize(("target", "form"), [("onnxruntime", "qoperator"), ("tensorrt", "qdq")])
def test_neighbours_that_matter_are_those_that_say_so(target: str, form: str):
    options = Options(target, form)
    modules = [qdialect.load(EXAMPLE) if seed is None else module_of(seed) for seed in SEEDS]
    pairs = set[tuple[str, str]]().union(*(differing(module, pipeline(options)) for module in modules))
    assert pairs == stated(options)
