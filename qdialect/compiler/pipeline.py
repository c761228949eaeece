"""The pipelines of `qdialect compile` as data: phases and passes by target and form, with reasons for their order."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.passes import ModulePass

from qdialect.compiler import pipeline_text
from qdialect.compiler.conditions import Claim, Condition, fused, lowered, raised
from qdialect.compiler.options import FORMS, LEVELS, UPSTREAM_FORMS, Options
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.rewriting.passes import Composed, RewritePass, composable, exactness_of, parts_of
from qdialect.targets import Target, target
from qdialect.transforms import get_all_passes
from qdialect.transforms.decompose import check_decomposable, decomposable


class Stage(NamedTuple):
    """One step of a pipeline: a pass, or several as one greedy set."""

    step: ModulePass
    because: str
    """Purpose of the pass, or reason for its position."""
    needs: tuple[str, ...] = ()
    """Names of passes in the step before it with which it must not be swapped: the result would differ."""


class Phase(NamedTuple):
    """Passes that bring a module from one form to the next."""

    name: str
    aim: str
    """Postcondition of the phase, in words."""
    broken: Condition
    """Yields the operations that violate the postcondition."""
    stages: Sequence[Stage]


@dataclass(frozen=True)
class Request:
    """Checked options, with derived values."""

    options: Options
    target: Target
    form: str
    level: Exactness

    @property
    def is_upstream(self) -> bool:
        """True if the result is upstream MLIR, where every quantized op has an integer form."""
        return self.form in UPSTREAM_FORMS

    @property
    def is_exact(self) -> bool:
        return self.level is Exactness.EXACT


def _stage(name: str, because: str = "", **options: Any) -> Stage:
    return Stage(get_all_passes()[name]()(**options), because)


def _behind(stage: Stage, needed: str) -> Stage:
    """A stage that must not change places with a pass in front of it."""
    return stage._replace(needs=(needed,))


def _together(because: str, *stages: Stage) -> Stage:
    """Several passes as one greedy set, in which each pattern sees the rewrites of the others at once."""
    parts = [one.step for one in stages if isinstance(one.step, RewritePass) and composable(one.step)]
    assert len(parts) == len(stages)
    return Stage(parts[0] if len(parts) == 1 else Composed(tuple(parts)), because)


def simplifying(exact: bool, blocks: str = "") -> Iterator[Stage]:
    """Simplification of any graph: folding of constants and shapes. blocks: the target that takes weights in blocks."""
    yield _stage("infer-shapes", "guards and costs need sizes")
    yield from [_stage("raise-blocks", "weights, before folding", target=blocks)] if blocks else []
    yield _stage("raise-arithmetic", "quantized weights, before folding", exact=exact, constants=True)
    yield _stage("fold-constants", "scales computed from constants become constants")
    yield _stage("fold-shapes", "known sizes become constants")
    yield _stage("fold-constants", "values that depend only on sizes, as branch conditions")
    yield _together(
        "copies, default zeros and inverse moves are dropped, products of one-hot vectors become lookups",
        *map(_stage, ("fold-identity", "fold-zeros", "fold-layout", "fold-one-hot")),
    )


def reading(options: Options) -> Iterator[Stage]:
    """Initializers that are also inputs become constants, open sizes those of `--batch` and `--sizes`."""
    if not options.keep_overridable:
        yield _stage("freeze", "initializers that are also inputs become constants")
    if options.batch is not None or options.sizes:
        yield _stage("fix-shapes", "requested; before inference", batch=options.batch, sizes=options.sizes)


def _raising(r: Request) -> Iterator[Stage]:
    """Quantization of any producer raised to types."""
    yield from reading(r.options)
    yield _stage("raise-opset", "older opsets have only per-tensor casts", quantized=True)
    if r.is_upstream:
        yield _stage("raise-opset", "casts of blocked weights, which opset 21 has", to=21)
    if r.is_exact and not r.is_upstream:
        yield _stage("keep-half", "rounding between ops in half precision depends on the ops")
    takes = r.target.takes_blocks(r.form) and not r.options.float_weights
    yield from simplifying(r.is_exact, r.target.name if takes else "")
    yield _stage(
        "raise-qoperator",
        "QOperator nodes become ops on quantized types; after folding, since scales must be constant",
        every=r.form != "qoperator",
    )
    reads = {"half": r.form == "qoperator", "clamped": r.target.clamps_wide and r.form == "qdq"}
    yield _stage("raise-qdq", "casts with constant parameters become types", **reads)
    yield _stage("raise-fake-quantize", "ops that quantize and dequantize become casts", exact=r.is_exact)
    because = "rounding written as arithmetic becomes a cast; after raise-qdq, which gives its scales"
    yield _stage("raise-arithmetic", because, exact=r.is_exact, half=r.form == "qoperator")
    yield _stage("quantize-inputs", "quantizes inputs whose scale only raise-arithmetic finds")
    yield from _apart(r)


def _apart(r: Request) -> Iterator[Stage]:
    """Decomposition of requested ops and of ops whose parts the target computes, before casts move."""
    if r.target.onnx_only and not r.is_upstream:
        foreign = tuple(decomposable(foreign=True))
        yield _stage("decompose", "ops of a runtime's own, of which ONNX has the parts", ops=foreign)
    if r.target.float_sums and r.form == "qdq":
        yield _stage("decompose-dynamic", "the target computes such sums in float", target=r.target.name)
    if apart := (*r.options.decompose, *(decomposable(loops=True) if r.form == "linalg" else ())):
        yield _stage("decompose", "requested ops, and ops with an internal loop", ops=apart)
    if not r.is_exact:
        products = tuple(decomposable(products=True))
        slow = {"target": r.target.name} if r.form == "qoperator" and r.target.decomposed else {}
        because = "products written as Einsum, functions with slow kernels"
        yield _stage("decompose", because, ops=products, quantized=True, **slow)
    if r.form == "linalg":
        yield _stage("unroll", "loops of known length; linalg has no loops over time steps", steps=256)


def _batch_norm(r: Request, *, depthwise: bool) -> Stage:
    lossy = r.level is Exactness.LOSSY
    symmetric = r.target.symmetric_weights
    return _stage("fold-batch-norm", symmetric=symmetric, depthwise=depthwise, lossy=lossy)


def _sinking(r: Request) -> Iterator[Stage]:
    """Dequantizes moved down, and integer products raised to ops between casts."""
    yield _stage("sink-dequantize", "ops that move or select elements work on integers")
    yield _stage(
        "raise-integer",
        "integer products; their casts, which hold the scales, are now directly above them",
        float_results=r.form == "qdq",
    )
    again: list[Stage] = []
    if r.target.activations is not None and not r.options.integer_io:
        because = "unifies signedness; before sinking, more integers would seem to leave the graph"
        yield _stage("legalize", because, target=r.target.name, weights=False)
        again = [_stage("sink-dequantize")]
    because = "moves of elements that casts separated before are merged"
    yield _together(because, *again, _stage("fold-layout"))


def _hoisting(r: Request) -> Iterator[Stage]:
    """Quantizes moved up; ops between a linear op and its casts folded."""
    kernels = r.form == "qoperator" or r.is_upstream
    hoist = {"activations": r.form == "qdq", "rewritten": kernels}
    hoist |= {"selects": False} if r.is_exact else {}
    yield _stage("quantize-branches", "float branches get the type of quantized ones", target=r.target.name)
    yield _stage("fold-constants", "constants whose dequantize has moved below other ops")
    if r.form == "qdq":
        yield _stage("fold-scales", "before the quantize moves above activations, which commute with factors")
    yield _stage("hoist-quantize", "a quantize next to a BatchNormalization lets it fold", **hoist)
    folds = [_batch_norm(r, depthwise=kernels)]
    if r.form != "qdq":
        folds.append(_stage("fold-scales"))
        folds += [] if r.options.decompose else [_stage("compose")]
    yield _together("factors, shifts and biases become part of the adjacent products", *folds)
    yield _stage("hoist-quantize", "past ops into which a BatchNormalization was folded", **hoist)
    if r.form in ("qoperator", "integer"):
        yield _stage("fold-scales", "scales that no op above the quantize absorbs", below=True)
    yield _together(
        "ops between casts become ops on quantized types, including Pads before and clamps after them",
        *map(_stage, ("fuse-quantized", "fold-pad", "fold-activation")),
    )


def _legalizing(r: Request) -> Iterator[Stage]:
    """Quantized types legalized for the target."""
    target, weights = r.target.name, r.form != "integer"
    own = _stage("legalize", "the target's storage types", target=target, weights=weights)
    legalize = [_behind(own, "fuse-quantized") if r.form == "qoperator" else own]
    if r.target.least_bits > 1 and (r.form == "qdq" or not r.target.symmetric_weights):
        exact = {"exact": True} if r.is_exact else {}
        because = "zero points that a change of signedness does not remove, and bit widths without a kernel"
        legalize.append(_stage("legalize-weights", because, target=target, **exact))
    interface = [_stage("integer-io", "requested")] if r.options.integer_io else []
    # If activations must be symmetric, integer inputs and outputs are symmetric, too.
    yield from [*legalize, *interface] if r.target.symmetric_activations else [*interface, *legalize]


def _upstream(r: Request) -> Iterator[Stage]:
    """The graph lowered to upstream MLIR."""
    yield _stage("rescale-bias", "integer sums add an i32 bias in steps of x_scale * w_scale")
    yield _stage("lower-to-table", "one table lookup for elementwise ops on 8 bits", target=r.target.name)
    yield _stage("legalize-expressed", "float ops are lowered only in float32")
    yield _stage("fold-float-weights", "weights needed as floats", target=r.target.name, growth=0, least=0)
    if r.form == "linalg":
        yield _stage("lower-to-matmul", "interpolation as products", target=r.target.name)
    yield _stage("fold-layout", "copies and moves of elements that casts separated before")
    yield _stage("infer-shapes", "all sizes must be known")
    yield _stage(f"lower-to-{r.form}", "ops of the target's dialect")


def _choosing(name: str) -> Iterator[Stage]:
    """The fastest forms on a target of ops that have integer kernels there."""
    yield _stage("fold-requantize", "operands of a join; before their kernels are chosen")
    yield _stage("legalize-operands", "kernels treat computed second operands as weights", target=name)
    yield _stage("lower-to-table", "one table lookup for ops without a kernel", target=name)
    yield _together(
        "convolutions in the form of least cost, which needs float32 and an int32 bias in steps of x_scale * w_scale",
        _stage("legalize-expressed"),
        _stage("rescale-bias"),
        _stage("choose-convolution-form", target=name),
    )


def _float_products(r: Request, name: str) -> Iterator[Stage]:
    """Products without integer kernels, and integer ones with a scale of the run."""
    few = {"elements": sys.maxsize} if r.options.float_weights else {}
    fold = _stage("fold-float-weights", "weights dequantized once, not in each run", target=name, **few)
    yield _behind(fold, "lower-to-qoperator")
    yield _together(
        "a float weight absorbs factors that a quantized one cannot; the cost of interpolation includes its casts",
        _batch_norm(r, depthwise=False),
        _stage("lower-to-matmul", target=name),
    )
    yield _stage("lower-to-product", "integer sums with a run-time scale", target=name)
    if r.target.kernels.get("Attention"):
        yield _stage("raise-opset", "Attention, which opset 23 has", to=23, attention=True)
        yield _stage("compose-attention", "float products around a Softmax, with heads", target=name)


def _lowering(r: Request) -> Iterator[Stage]:
    """Quantized types lowered to the target's form."""
    name = r.target.name
    if r.is_upstream:
        yield from _upstream(r)
        return
    yield _stage("legalize-zero-points", "integer sums of the model, whose kernels take fewer", target=name)
    biases = _stage("rescale-bias", "onnxruntime quantizes biases when it loads a model", quantize=False)
    yield from _choosing(name) if r.form == "qoperator" else [biases]
    if r.form != "qdq":
        apart = {"joins": False} if r.options.decompose else {}  # decomposed ops stay decomposed
        options = {"exact": r.is_exact, **apart} if r.form == "qoperator" else {}
        lower = _stage(f"lower-to-{r.form}", "integer kernels for the chosen forms", target=name, **options)
        yield _behind(lower, "choose-convolution-form") if r.form == "qoperator" else lower
    yield from _float_products(r, name) if r.form == "qoperator" else ()
    sums = (
        []
        if r.form == "qdq"
        else [_stage(one, target=name) for one in ("legalize-sums", "legalize-zero-points")]
    )
    stored: dict[str, Any] = {} if r.form == "qoperator" else {"stored": False}
    yield _together(
        "sums get the fastest signedness, zero points that are 0 are left out; moves are merged and copy whole blocks",
        *sums,
        _stage("collapse-transpose", target=name, **stored),
        _stage("fold-layout"),
    )
    yield _stage(
        "lower-to-qdq",
        "QuantizeLinear and DequantizeLinear around ops without a kernel",
        target=name,
        **({"selects": False} if r.is_exact else {}),
        **({"activations": False} if r.form == "integer" else {}),
    )
    if r.target.session:
        because = "what a session would fuse wrongly or refuse; on nodes, as the session sees them"
        yield _stage("guard-session", because, target=name)
    yield _stage("infer-shapes", "per-channel constants now give sizes that only scales gave before")


def _checked(options: Options) -> Request:
    """The checked options. Raises UserError for an unknown target, form, level or op."""
    runtime = target(options.target)
    form = options.form or runtime.form
    if runtime.form in UPSTREAM_FORMS and options.form is not None:
        raise UserError(f"target '{options.target}' supports only its own form", "leave out --form")
    if form not in FORMS and form not in UPSTREAM_FORMS:
        raise UserError(f"there is no form '{form}'", f"choose from {', '.join(FORMS)}")
    if options.exactness not in LEVELS:
        raise UserError(f"there is no level '{options.exactness}'", f"choose from {', '.join(LEVELS)}")
    if form in FORMS and form != "qdq" and not runtime.kernels:
        raise UserError(f"target '{options.target}' takes no integer nodes", "use --form qdq")
    check_decomposable(options.decompose)
    level = Exactness(options.exactness)
    if options.decompose and not Exactness.CLOSE.within(level):
        raise UserError(
            f"'{options.decompose[0]}' cannot be decomposed at --exactness {level.value}, because each part rounds",
            "use --exactness close",
        )
    if form in UPSTREAM_FORMS and not Exactness.CLOSE.within(level):
        raise UserError(
            f"target '{options.target}' has no exact form, because a sum of integers rounds once",
            "use --exactness close",
        )
    return Request(options, runtime, form, level)


ASKED_FOR = ("integer-io", "insert-casts")
"""Passes that are lossy by design, present only on request."""
PHASES = ("raise", "move", "lower")
PHASES_BEFORE_CASTS = 2
"""Number of phases before the one that inserts casts, if requested."""


def _completing(r: Request) -> Iterator[Stage]:
    """Casts inserted where ranges are known, and the rewrites that they enable."""
    options = {"target": r.target.name, "form": r.form, "weights": False, "dynamic": False}
    yield _stage("insert-casts", "asked for: what pays of the tensors that are left in float", **options)
    yield from _sinking(r)
    yield from _hoisting(r)


def _with_target_stages(target: Target, phase: str, stages: Sequence[Stage]) -> list[Stage]:
    """The stages of a phase, including those that the target's file adds."""
    merged = list(stages)
    for one in (one for one in target.stages if one.phase == phase):
        where = f"the stage '{one.run}' of target '{target.name}'"
        steps = pipeline_text.parse_pipeline(one.run, pipeline_text.get_available_passes())
        if len(steps) != 1:
            raise UserError(f"{where} names {len(steps)} passes", "write a stage for each")
        if not isinstance(getattr(steps[0], "exactness", None), Exactness):
            raise UserError(f"{where} has no class of exactness", "its pass says how far it moves numbers")
        beside = one.before or one.after
        places = [k for k, row in enumerate(merged) if any(p.name == beside for p in parts_of(row.step))]
        if beside and not places:
            raise UserError(
                f"{where} stands beside '{beside}', which the phase '{phase}' does not have here",
                "--print-pipeline shows the passes",
            )
        place = places[0] if one.before else (places[-1] + 1 if one.after else len(merged))
        merged.insert(place, Stage(steps[0], one.because, tuple(one.needs)))
    return merged


def _within(stage: Stage, level: Exactness) -> Iterator[Stage]:
    """A stage without the passes whose class exceeds `level`; none if no pass remains."""
    if isinstance(stage.step, Composed):
        kept = [stage._replace(step=p) for p in stage.step.parts if exactness_of(p).within(level)]
        if kept:
            yield _together(stage.because, *kept)._replace(needs=stage.needs)
    elif stage.step.name in ASKED_FOR or exactness_of(stage.step).within(level):
        yield stage


def phases(options: Options, *, completes: bool = False) -> list[Phase]:
    """
    The passes for a target and form, without those of a class beyond the requested exactness.

    completes: True to quantize float tensors with a range in addition.

    Raises UserError for an unknown target, form, level or op, and for a stage of the target without a valid position.
    """
    r = _checked(options)

    def phase(name: str, aim: str, broken: Condition, *parts: Iterable[Stage]) -> Phase:
        stages = _with_target_stages(r.target, name, [stage for part in parts for stage in part])
        allowed = [one for stage in stages for one in _within(stage, r.level)]
        return Phase(name, aim, broken, allowed)

    for one in r.target.stages:
        if one.phase not in PHASES:
            raise UserError(
                f"a stage of target '{r.target.name}' names the phase '{one.phase}'",
                f"choose from {', '.join(PHASES)}",
            )
    moved = "ops with a kernel are on quantized types"
    return [
        phase("raise", "constant quantization parameters are in types", raised, _raising(r)),
        phase("move", moved, fused, _sinking(r), _hoisting(r)),
        *([phase("complete", moved, fused, _completing(r))] if completes else []),
        phase("lower", "no type is quantized", lowered, _legalizing(r), _lowering(r)),
    ]


def claims(all_phases: Sequence[Phase]) -> list[Claim]:
    """The postconditions, each after the last pass of its phase."""
    return [Claim(p.stages[-1].step, p.name, p.aim, p.broken) for p in all_phases if p.stages]


def pipeline(options: Options) -> list[ModulePass]:
    """The passes of all phases, in order. Raises UserError as `phases` does."""
    return [stage.step for phase in phases(options) for stage in phase.stages]


def phases_text(phases: Iterable[Phase]) -> str:
    """The phases as text, one pass per line, with comments on its purpose and required predecessors."""
    lines: list[str] = []
    for phase in phases:
        lines.append(f"  // {phase.name}: {phase.aim}")
        for stage in phase.stages:
            needs = f" [needs {', '.join(stage.needs)}]" if stage.needs else ""
            spec = f"{pipeline_text.step_text(stage.step)},"
            lines.append(f"  {spec:<40} // {stage.because}{needs}")
    last = len(lines) - 1
    lines[last] = lines[last].replace(", ", "  ", 1)
    return "\n".join(["builtin.module(", *lines, ")"])
