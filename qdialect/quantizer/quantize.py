"""
`quantize`: post-training quantization of a float model: simplify, profile, build candidates, compile the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.keep_float import keep_in_float
from qdialect.compiler.options import UPSTREAM_FORMS, Calibration, Options, QuantizeOptions, with_options
from qdialect.data.preprocessing import PLAIN, Preprocessing, from_text, given, state, stated
from qdialect.data.reading import Data, checked, feeds_of, load_data, paths_of
from qdialect.data.record import Record
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.errors import UserError
from qdialect.evaluation.feeds import fitting_feeds, model_inputs
from qdialect.evaluation.session import fused_nodes
from qdialect.exactness import Exactness
from qdialect.forms.dynamic import QuantizesItself
from qdialect.forms.table import form_of
from qdialect.ir.interface import main_of
from qdialect.numerics import Array
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.models import module_of
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.quantizer.placement.op_costs import BATCH_OF_ONE
from qdialect.quantizer.preparing import functions_apart, simplifying, unprofiled
from qdialect.quantizer.rounding.equalization import equalize
from qdialect.quantizer.search.candidates import Candidates, Finished, is_noisy
from qdialect.quantizer.search.judging import outputs
from qdialect.quantizer.search.max_drop import (
    QUIET_LIMIT,
    Budgeted,
    Held,
    Limit,
    held_against,
    hold,
    parse_limit,
)
from qdialect.quantizer.search.plan_check import layers_in_pairs, missing_lines
from qdialect.quantizer.search.refining import best_beyond_chance, corrected, shrunk, smoothed
from qdialect.quantizer.search.trials import (
    MAX_TIME_SHARE,
    MAX_TIME_SHARE_OF_ONE,
    Choice,
    Trial,
    better,
    is_slow,
)
from qdialect.quantizer.search.weight_only import (
    BLOCKS_OPSET,
    RoundedBlocks,
    fewest_kept,
    parse_weights,
    round_weights,
    write_weights,
)
from qdialect.quantizer.statistics.data_warnings import doubts
from qdialect.quantizer.statistics.loop_ranges import inner_layers
from qdialect.quantizer.statistics.profile import Profile, load_profile
from qdialect.quantizer.statistics.profiling import Profiler
from qdialect.quantizer.statistics.ranges import check_range
from qdialect.quantizer.statistics.samples import MIN_SAMPLES, Row, measure_noise
from qdialect.quantizer.statistics.stateful_models import sequences, stateful
from qdialect.quantizer.statistics.workers import add_with_cluster, add_with_workers
from qdialect.reasons import Blocked
from qdialect.report.compilation import compile_as
from qdialect.report.provenance import Origin
from qdialect.report.report import Report
from qdialect.rewriting.manager import run_passes
from qdialect.targets import target as target_named
from qdialect.transforms.raise_opset import RaiseOpsetPass

if TYPE_CHECKING:
    from qdialect.onnx_io.models import Source

Feeds = Mapping[str, Array]

RANDOM_SAMPLES = 8
MAX_FURTHER_COMPILED = 2
"""Greatest number of further candidates that are compiled, if the best takes longer than was expected."""
MAX_FURTHER_PLANS = 4
"""Greatest number of further plans, each without the nodes that the one before had no integer form of."""
NO_OP = "no op is faster in integers"
NO_LAYER = "nothing to quantize: no layer has float weights"
FOR_OTHERS = (
    "form: qdq, for runtimes that fuse Q/DQ pairs; in onnxruntime it may be slower than the float model"
)


@dataclass(repr=False)
class Quantized:
    """The result of `quantize`."""

    report: Report
    """Report of the compilation."""
    choice: Choice
    """The choices of ranges, rounding and layers in float."""
    ratio: float
    """Signal to noise of the result on held-out samples, in dB."""
    profile: Profile
    """Statistics of the samples; can be saved and reused."""
    log: list[str] = field(default_factory=list[str])
    """Log of the trials, in order."""
    integer: int = 0
    """Number of layers of the result that are in integers."""
    floating: str = ""
    """Reason why the whole model stays in float; empty if it does not."""
    layers: int = 0
    """Number of layers of the result: nodes that sum products."""
    limit: list[str] = field(default_factory=list[str])
    """Lines on the layers in float that keep the requested limit, and on reproducing the result."""
    how: str = "in integers"
    """Participle phrase for the quantized layers in the summary."""
    budget: Budgeted | None = None
    """Result of the noise budget, if requested."""
    doubts: list[str] = field(default_factory=list[str])
    """Warnings about the data."""
    data: str = ""
    """Line on what was read: samples, how images were decoded and normalized, range and moments of the inputs."""
    in_pairs: bool = False
    """True if integers are written as float ops between pairs of casts, for the runtime to fuse."""

    def counted(self) -> Quantized:
        """The same with the numbers of layers that the report counts."""
        totals = self.report.totals
        return replace(self, integer=totals.integer_layers, layers=totals.layers)

    def __repr__(self) -> str:
        return f"<Quantized: {next(line for line in self.summary() if not line.startswith('warning: '))}>"

    @property
    def module(self) -> ModuleOp:
        """The result: the caller's module, or the loaded one."""
        return self.report.module

    def summary(self) -> list[str]:
        """Summary in a few lines."""
        lines: list[str] = []
        if self.profile.random:
            lines.append("warning: random data does not calibrate, do not use the result")
        if self.floating == NO_LAYER:
            return [*lines, f"{NO_LAYER}; the model is compiled as it is"]
        if self.floating:
            some = self.report.totals.integer
            every = "no other layer is quantized" if some else "every layer stays in float"
            return [*lines, f"{every}: {self.floating}", *self.doubts, *([self.data] if self.data else [])]
        lines += self.doubts
        noise = f"{self.ratio:.1f} dB signal to noise" if isfinite(self.ratio) else "noise not measured"
        pairs = layers_in_pairs(self.report)
        apart = f", {pairs} in float between pairs of casts by --exactness exact" if pairs else ""
        lines.append(f"{self.integer} of {self.layers} layers {self.how}{apart}, {noise}: {self.choice}")
        if not self.profile.random and 0 < self.profile.samples < MIN_SAMPLES:
            few = "1 sample is" if self.profile.samples == 1 else f"{self.profile.samples} samples are"
            lines.append(
                f"warning: {few} too few for calibration and for measuring the noise; 100 are enough"
            )
        lines += [FOR_OTHERS] if self.in_pairs else []
        return lines + self.limit + ([self.data] if self.data else [])


def prepare(module: ModuleOp, options: Options) -> Origin:
    """Simplify a float model in place for profiling; returns its nodes as before."""
    runtime = target_named(options.target)
    form = options.form or runtime.form
    if form in UPSTREAM_FORMS:
        raise UserError(
            f"target '{runtime.name}' takes no ONNX to calibrate with",
            "quantize for onnxruntime with --form qdq, then compile the result",
        )
    lower_opsets(module)
    keep_in_float(module, options.keep_float)
    origin = Origin(module)
    run_passes(module, [stage.step for stage in simplifying(options, form)], origin)
    if runtime.per_tensor_weights:
        equalize(module)
    return origin


def replace_module(module: ModuleOp, by: ModuleOp) -> None:
    """Replace the contents of a module by those of another, which is empty afterwards."""
    module.attributes = dict(by.attributes)
    body = by.detach_region(0)
    module.detach_region(0)
    module.add_region(body)


def _become(module: ModuleOp, by: ModuleOp, report: Report) -> None:
    """Make the caller's module the result, and the report's module."""
    replace_module(module, by)
    report.module = module


def _feeds(
    module: ModuleOp, data: Data | None, calibration: Calibration, images: Preprocessing, record: Record
) -> Iterable[Feeds]:
    """The samples, checked; `record` counts them."""
    inputs = model_inputs(module)
    if calibration.random:
        return [fitting_feeds(module, seed=seed) for seed in range(RANDOM_SAMPLES)]
    paths = paths_of(data)
    read = (one.arrays for one in load_data(paths, inputs, images, record)) if paths else feeds_of(data)
    if calibration.state:
        streams = ([one] for one in read) if paths else sequences(read)
        return stateful(module, calibration.state, inputs, streams, record)
    return checked(read, inputs, record=record)


def _images(
    module: ModuleOp, calibration: Calibration, profiles: Mapping[str, Profile], record: Record
) -> Preprocessing:
    """How images become samples: as asked, else as the first profile, or the model, states it."""
    if (asked := given(calibration)) is not None:
        return asked
    for path, profile in profiles.items():
        if profile.preprocessing:
            record.stated = f"'{path}'"
            return from_text(profile.preprocessing, record.stated)
    if (own := stated(module)) is None:
        return PLAIN
    record.stated = "the model"
    return own


def _profile(
    module: ModuleOp, data: Data | None, calibration: Calibration
) -> tuple[Profiler, Record, list[str]]:
    """
    A profile of the prepared module, saved if requested, also on interrupt; what was read, and warnings about it.
    """
    record, profiles = Record(), {str(path): load_profile(str(path)) for path in calibration.profiles}
    images = _images(module, calibration, profiles, record)
    profiler = Profiler(module, memory=calibration.memory, random=calibration.random)
    try:
        if data is not None or calibration.random or not calibration.profiles:
            _add(profiler, _feeds(module, data, calibration, images, record), calibration)
    except KeyboardInterrupt:
        count, path = profiler.profile.samples, calibration.save_profile
        if path is None or not count:
            raise
        raise KeyboardInterrupt(f"{count} samples are counted in '{path}', go on with --profile") from None
    finally:
        profile = profiler.profile
        if record.preprocessing is not None:
            profile.preprocessing = record.preprocessing.as_text()
        for one in profiles.values():
            profile.merge(one)
        if calibration.save_profile is not None and profile.samples:
            profile.save(str(calibration.save_profile))
    return profiler, record, doubts(record, profile, profiler.samples, model_inputs(module))


def _shown(calibration: Calibration) -> Callable[[str], None]:
    """The progress callback."""
    return calibration.show or (lambda text: None)


def _add(profiler: Profiler, feeds: Iterable[Feeds], calibration: Calibration) -> None:
    """Count all samples, in the requested number of processes."""

    def done(count: int) -> None:
        _shown(calibration)(f"profiling, {count} samples")

    if calibration.scheduler is not None:
        add_with_cluster(profiler, feeds, calibration.scheduler, calibration.memory, done)
    elif calibration.workers > 1:
        add_with_workers(profiler, feeds, calibration.workers, calibration.memory, done)
    else:
        profiler.add(feeds, done)


def _limit(calibration: Calibration) -> Limit | None:
    """The limit of `--max-drop`. Raises UserError for one, or for a range, that is none."""
    if calibration.range is not None:
        check_range(calibration.range)
    return None if calibration.max_drop is None else parse_limit(calibration.max_drop)


def quantize_module(
    module: ModuleOp,
    data: Data | None,
    calibration: Calibration,
    options: Options,
    feeds: Sequence[Feeds] = (),
) -> Quantized:
    """
    Quantize a float module in place; its metadata states how images became samples.

    Raises UserError for data that the model does not accept, a profile of another model, and invalid options.
    """
    done = _quantized(module, data, calibration, options, feeds)
    if done.profile.preprocessing:
        state(module, done.profile.preprocessing)
    return done


def _quantized(
    module: ModuleOp, data: Data | None, calibration: Calibration, options: Options, feeds: Sequence[Feeds]
) -> Quantized:
    weights = parse_weights(calibration.weights)
    limit = _limit(calibration)
    if weights.bits == 4:
        return _quantize_weights_only(module, data, calibration, options, weights.block, limit, feeds)
    original, is_apart = _in_parts(module, options)
    prepared = module.clone()
    origin = prepare(prepared, options)
    profiler, record, warnings = _profile(prepared, data, calibration)
    profile, samples, memory = profiler.profile, profiler.samples, calibration.memory
    candidates = Candidates(
        prepared, profile, samples, options, original, memory=memory, show=_shown(calibration), origin=origin
    )
    planned = _planned(candidates, calibration, limit)
    candidates, best, done = planned.candidates, planned.best, planned.done
    done = candidates.finish(best.choice, feeds) if feeds else done
    budget = held_against(candidates, best, done) if calibration.budget else None
    result = Quantized(done.report, best.choice, done.ratio, profile, candidates.log)
    in_pairs = candidates.form == "qdq"
    result = replace(result, budget=budget, doubts=warnings, data=record.line(), in_pairs=in_pairs).counted()
    result.limit = planned.lines + missing_lines(planned.missing)
    done.report.calibrated = True
    floating = _why_float(planned, options, calibration)
    if floating == NO_OP:
        count = count_layers(prepared, candidates)
        floating = unprofiled(prepared, count) or (_without_form(planned.missing) if count else NO_LAYER)
    if floating:
        candidates.log.append(f"the model stays in float: {floating}")
        report = _stay_float(module, prepared, candidates, feeds, is_apart=is_apart)
        return replace(result, report=report, ratio=inf, floating=floating).counted()
    _become(module, done.module, done.report)
    return result


def _why_float(plan: Planned, options: Options, calibration: Calibration) -> str:
    """Reason for a model in float; empty if it is in integers, or in a form that is asked for."""
    is_asked, held = _is_asked(options), plan.held
    if held is not None and held.plan.kept and not plan.best.integer and not plan.missing:
        return f"with a layer in integers {calibration.max_drop} does not hold"
    floating = "" if is_asked else _reason_for_float(plan.done, any_integers=plan.best.integer)
    is_idle = not plan.best.integer or (
        is_asked and plan.missing and not plan.done.report.totals.integer_layers
    )
    return floating or (NO_OP if is_idle else "")


def _is_asked(options: Options) -> bool:
    """True if the form of the result is asked for, whether or not it is faster: not the target's fastest."""
    form = target_named(options.target).form
    is_exact = Exactness(options.exactness) is Exactness.EXACT
    return is_exact or (options.form or form) != form or bool(options.decompose)


@dataclass
class Planned:
    """The best candidate, compiled, and what it is the best of."""

    candidates: Candidates
    best: Trial
    done: Finished
    held: Held | None
    lines: list[str]
    """Lines on layers in float."""
    missing: dict[str, Blocked] = field(default_factory=dict[str, "Blocked"])
    """Nodes that a plan expected in integers, and that have no integer form, by name, with the reason."""


def _planned(candidates: Candidates, calibration: Calibration, limit: Limit | None) -> Planned:
    """
    The best candidate whose planned nodes are compiled to integers. Nodes that were planned and stay in float are left
    in float by the next plan, since neither their casts nor those around them were priced.
    """
    missing: dict[str, Blocked] = {}
    plan = _plan(candidates, calibration, limit)
    for _ in range(MAX_FURTHER_PLANS):
        new = {name: reason for name, reason in plan.done.missing.items() if name not in missing}
        if not new:
            break
        missing |= new
        plan.candidates.log += [f"'{name}' compiled to float: {new[name].message}" for name in new]
        candidates = candidates.without(new)
        plan = _plan(candidates, calibration, limit)
    plan.missing = missing | dict(plan.done.missing)
    return plan


def _plan(candidates: Candidates, calibration: Calibration, limit: Limit | None) -> Planned:
    """The best candidate, compiled, within a limit if one is given."""
    candidates, best = _best(candidates, calibration)
    held = hold(candidates, best, limit) if limit is not None and best.integer else None
    best, lines = (best, []) if held is None or limit is None else (held.trial, held.summary(limit))
    best, done, kept = _finished(candidates, best, fixed=limit is not None)
    return Planned(candidates, best, done, held, lines + kept)


def _without_form(missing: Mapping[str, Blocked]) -> str:
    """Reason for a model in float: no op would be faster, or those that would have no integer form."""
    if not missing:
        return NO_OP
    first, blocked = next(iter(missing.items()))
    return f"what would be faster has no integer form: '{first}': {blocked.message} [{blocked.id}]"


def _in_parts(module: ModuleOp, options: Options) -> tuple[bytes, bool]:
    """The ONNX model as read, but for slow functions, which are decomposed; True if there are any."""
    whole = export_model(module).SerializeToString(deterministic=True)
    runtime = target_named(options.target)
    if not any(isinstance(op, OnnxOp) and op.op_type in runtime.decomposed for op in module.walk()):
        return whole, False
    parts = module.clone()
    run_passes(parts, [stage.step for stage in functions_apart(options, options.form or runtime.form)])
    model = export_model(parts).SerializeToString(deterministic=True)
    return model, model != whole


def _best(candidates: Candidates, calibration: Calibration) -> tuple[Candidates, Trial]:
    """The best candidate over all unspecified choices, with smoothing and bias correction if they help."""
    ways, rounding = calibration.range, calibration.rounding
    first = candidates.attempt(Choice(ways or "minmax", rounding or "gptq"))
    if not first.integer:
        return candidates, first
    if first.share_of_one > MAX_TIME_SHARE_OF_ONE:
        first = better(first, [candidates.attempt(replace(first.choice, batch=BATCH_OF_ONE))])
    candidates, first = smoothed(candidates, first)
    best = candidates.best(first.choice, fixed_range=ways, fixed_rounding=rounding)
    if rounding is None:
        best = best_beyond_chance(candidates, corrected(candidates, best), ways)
    return candidates, shrunk(candidates, best)


def _finished(candidates: Candidates, best: Trial, *, fixed: bool) -> tuple[Trial, Finished, list[str]]:
    """
    `best`, compiled, and lines on layers in float. In place of one that takes too long with all of its nodes, the best
    of the trials that do not; of one of which too much noise is left, that with the layers in float that make most of
    it. fixed: True for no other.
    """
    done = candidates.finish(best.choice)
    if fixed or not best.integer:
        return best, done, []
    if is_slow(done.share, done.share_of_one):
        others = _placed_otherwise(candidates, best)[:MAX_FURTHER_COMPILED]
        if done.share_of_one > MAX_TIME_SHARE_OF_ONE:  # last: the others gain more at larger batches
            for_one = candidates.attempt(replace(best.choice, batch=BATCH_OF_ONE, sequential=False))
            others += [for_one] if for_one.integer else []
        for other in others:
            again = candidates.finish(other.choice)
            if not is_slow(again.share, again.share_of_one) and not is_noisy(again):
                return other, again, []
    elif is_noisy(done) and isfinite(done.ratio):
        held = hold(candidates, best, QUIET_LIMIT)
        other, lines = (held.trial if held.trial.layers else best), held.summary(QUIET_LIMIT)
        if other is not best and not is_noisy(again := candidates.finish(other.choice)):
            return other, again, lines
    return best, done, []


def _placed_otherwise(candidates: Candidates, best: Trial) -> list[Trial]:
    """The best trial of each other placement that pays, the best first."""
    trials: dict[tuple[int, int, float], Trial] = {}
    for trial in sorted(candidates.tried.values(), key=Trial.value, reverse=True):
        if trial.integer and trial.pays:
            trials.setdefault((trial.layers, trial.casts, trial.share), trial)
    trials.pop((best.layers, best.casts, best.share), None)
    return list(trials.values())


def _quantize_weights_only(
    module: ModuleOp,
    data: Data | None,
    calibration: Calibration,
    asked: Options,
    block: int,
    limit: Limit | None,
    feeds: Sequence[Feeds],
) -> Quantized:
    """Weights in 4 bits, activations in float. The result is of opset 21."""
    prepared = module.clone()
    origin = prepare(prepared, asked)
    run_passes(prepared, [RaiseOpsetPass(to=BLOCKS_OPSET)], origin)
    profiler, record, warnings = _profile(prepared, data, calibration)
    judges = profiler.samples.judging
    if limit is not None and not judges:
        raise UserError("--max-drop needs samples to measure on", "give --data as well as the profile")
    rounded = round_weights(
        prepared,
        profiler.profile,
        profiler.samples.steering,
        block,
        memory=calibration.memory,
        rounding=calibration.rounding,
        show=_shown(calibration),
    )
    wanted, kept = _outputs(prepared, judges), list[str]()
    if limit is not None:
        rounded, kept = _within(limit, prepared, rounded, block, judges)
    write_weights(prepared, rounded, block)
    report = compile_as(prepared, asked.plain, feeds, origin=origin)
    ratio = float("nan")
    if judges:
        ratio = measure_noise(wanted, _outputs(prepared, judges)).ratio()
    _become(module, prepared, report)
    report.calibrated = True
    choice = Choice(range="activations in float", rounding=f"blocks of {block}")
    done = Quantized(report, choice, ratio, profiler.profile, [str(one) for one in rounded.values()])
    done = replace(done, integer=len(rounded), layers=report.totals.layers, how="with weights of 4 bits")
    return replace(done, doubts=warnings, data=record.line(), limit=kept)


def _outputs(module: ModuleOp, rows: Sequence[Row]) -> list[list[Array]]:
    return outputs(export_model(module).SerializeToString(deterministic=True), rows)


def _within(
    limit: Limit, module: ModuleOp, rounded: Mapping[int, RoundedBlocks], block: int, rows: Sequence[Row]
) -> tuple[dict[int, RoundedBlocks], list[str]]:
    """The weights to write within a limit, and lines on those left in float."""
    wanted = _outputs(module, rows)

    def loss(weights: Mapping[int, RoundedBlocks]) -> float:
        written = module.clone()
        write_weights(written, weights, block)
        return limit.loss(wanted, _outputs(written, rows))

    left, least = fewest_kept(rounded, loss, limit.most)
    names = [one.name for number, one in rounded.items() if number not in left]
    return left, _kept_lines(limit, least, names)


def _kept_lines(limit: Limit, loss: float, names: Sequence[str]) -> list[str]:
    """Line on the layers whose weights stay in float within a limit, with the flag that gives the same result."""
    if loss > limit.most:
        return [f"{limit.text} is not reached with any weight in 4 bits: {limit.shown(loss)}"]
    if not names:
        return [f"{limit.text} holds without a layer kept in float for it"]
    count = f"{len(names)} layer{'s' if len(names) > 1 else ''}"
    return [f"{limit.text} holds with {count} kept in float for it: --keep-float {','.join(names)}"]


def count_layers(module: ModuleOp, candidates: Candidates) -> int:
    """Layers with constant weights: of the graph, in the bodies of loops, and recurrent ones."""
    recurrent = [op for op in module.walk() if form_of(type(op), QuantizesItself) is not None]
    return len(candidates.layers) + len(inner_layers(main_of(module))) + len(recurrent)


def _reason_for_float(done: Finished, *, any_integers: bool) -> str:
    """Reason why an integer model is not worth its noise; empty if it is."""
    if not any_integers:
        return NO_OP
    if done.share > MAX_TIME_SHARE:
        return f"in integers it is expected to take {100 * done.share:.0f} % of the time"
    if done.share_of_one > MAX_TIME_SHARE_OF_ONE:
        share = f"{100 * done.share_of_one:.0f} %"
        return (
            f"in integers a batch of one is expected to take {share} of the time; --batch N quantizes for N"
        )
    if is_noisy(done):
        return f"in integers {done.ratio:.1f} dB signal to noise are left, for {100 * done.share:.0f} % of the time"
    return ""


def _stay_float(
    module: ModuleOp, prepared: ModuleOp, candidates: Candidates, feeds: Sequence[Feeds], *, is_apart: bool
) -> Report:
    """
    Report of the model: compiled if it came with integers, or if options ask for a form or sizes; simplified if
    onnxruntime then runs fewer nodes, or the parts of slow functions; else as read.
    """
    options = candidates.options
    report = compile_as(prepared, options.plain, feeds, origin=candidates.origin)
    simple = fused_nodes(export_model(prepared).SerializeToString(deterministic=True))
    is_asked = options.batch is not None or options.sizes or _is_asked(options)
    if is_asked or is_apart or report.account.origin.is_quantized or simple < candidates.float_nodes[0]:
        _become(module, prepared, report)
    report.module, report.calibrated, report.left_in_float = module, True, True
    return report


@with_options(QuantizeOptions)
def quantize(model: ModuleOp | Source, options: QuantizeOptions) -> Quantized:
    """
    Quantize a float model: a module in place; of a path, bytes or an ONNX message, the module is the result's.

    Raises UserError for data that the model does not accept, profiles of another model, invalid options, and
    sources that `load` rejects.
    """
    return quantize_module(module_of(model), options.data, options, options)
