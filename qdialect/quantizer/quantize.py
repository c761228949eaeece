"""
`quantize`: post-training quantization of a float model.

    simple = simplify(module)             preparing.py               constants, shapes and BatchNormalization folded
    known = calibrate(simple.module)      statistics/calibration.py  profile of every tensor, samples kept
    space = Space(simple, known)          search/space.py            what all candidates have in common
    found = find(Candidates(space))       search/strategy.py         the best of them, compiled

then either the best candidate or, with a reason, the float model becomes the caller's module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration, Options, QuantizeOptions, with_options
from qdialect.data.metrics import Score, change_text, metric_maker
from qdialect.data.preprocessing import state
from qdialect.data.reading import Data
from qdialect.evaluation.session import fused_nodes
from qdialect.exactness import Exactness
from qdialect.forms.dynamic import QuantizesItself
from qdialect.forms.table import form_of
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.models import Source, module_of
from qdialect.quantizer.preparing import Simplified, simplify, unprofiled
from qdialect.quantizer.search.accuracy import Accuracy, accuracy_of
from qdialect.quantizer.search.candidates import Candidates, Finished
from qdialect.quantizer.search.max_drop import Budgeted, Limit, held_against, parse_limit
from qdialect.quantizer.search.plan_check import layers_in_pairs, missing_lines
from qdialect.quantizer.search.space import Space
from qdialect.quantizer.search.strategy import Found, find
from qdialect.quantizer.search.trials import (
    MAX_TIME_SHARE,
    MAX_TIME_SHARE_OF_ONE,
    Choice,
    Trial,
    faster_line,
    table,
)
from qdialect.quantizer.statistics.calibration import Calibrated, Feeds, calibrate
from qdialect.quantizer.statistics.loop_ranges import inner_layers
from qdialect.quantizer.statistics.profile import Profile
from qdialect.quantizer.statistics.ranges import check_range
from qdialect.quantizer.statistics.samples import MIN_SAMPLES
from qdialect.quantizer.statistics.training_data import images_of, signs
from qdialect.quantizer.weight_only import parse_weights, quantize_weights
from qdialect.reasons import Blocked
from qdialect.report.compilation import compile_as
from qdialect.report.report import Report
from qdialect.report.verdict import bytes_text
from qdialect.targets import target as target_named

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
    tried: list[Trial] = field(default_factory=list[Trial])
    """The candidates that were built and measured, in order."""
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
    data: list[str] = field(default_factory=list[str])
    """Lines on what was read: samples, how images were decoded and normalized, range and moments of the inputs."""
    scores: tuple[Score, Score] | None = None
    """Of the float model and of the result on held-out samples, as they run in onnxruntime; None without labels."""
    share: float = 1.0
    """Expected time as a fraction of the float model's."""
    in_pairs: bool = False
    """True if integers are written as float ops between pairs of casts, for the runtime to fuse."""

    def __repr__(self) -> str:
        return f"<Quantized: {next(line for line in self.summary() if not line.startswith('warning: '))}>"

    @property
    def module(self) -> ModuleOp:
        """The result: the caller's module, or the loaded one."""
        return self.report.module

    def summary(self) -> list[str]:
        """Summary in a few lines."""
        lines = [self._headline()] if self.scores else []
        if self.profile.random:
            lines.append("warning: random data does not calibrate, do not use the result")
        if self.floating == NO_LAYER:
            return [*lines, f"{NO_LAYER}; the model is compiled as it is"]
        if self.floating:
            some = self.report.totals.integer
            every = "no other layer is quantized" if some else "every layer stays in float"
            return [*lines, f"{every}: {self.floating}", *self.doubts, *self.data]
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
        return lines + self.limit + self.data

    def _headline(self) -> str:
        """`top-1 98.6 % -> 98.3 % (360 images, ±1.4), 1.55x faster expected, 128 kB of 276 kB`."""
        assert self.scores is not None
        what = "images" if self.profile.preprocessing else "samples"
        faster = [f"{1 / self.share:.2f}x faster expected"] if 0 < self.share < 1 else []
        account = self.report.account
        size = f"{bytes_text(account.bytes)} of {bytes_text(account.origin.bytes)}"
        return ", ".join([change_text(*self.scores, what), *faster, size])


@with_options(QuantizeOptions)
def quantize(model: ModuleOp | Source, options: QuantizeOptions) -> Quantized:
    """
    Quantize a float model: a module in place; of a path, bytes or an ONNX message, the module is the result's.

    Raises UserError for data that the model does not accept, profiles of another model, invalid options, and
    sources that `load` rejects.
    """
    return quantize_module(module_of(model), options.data, options, options)


def quantize_module(
    module: ModuleOp,
    data: Data | None,
    calibration: Calibration,
    options: Options,
    feeds: Sequence[Feeds] = (),
) -> Quantized:
    """
    Quantize a float module in place; its metadata states how images became samples. feeds: samples on which each pass
    is checked.

    Raises UserError for data that the model does not accept, a profile of another model, and invalid options.
    """
    done = _quantized(module, data, calibration, options, feeds)
    if done.profile.preprocessing:
        state(module, done.profile.preprocessing)
    return done


def _quantized(
    module: ModuleOp, data: Data | None, calibration: Calibration, options: Options, feeds: Sequence[Feeds]
) -> Quantized:
    """`quantize_module`, without what is known of images in the metadata."""
    weights = parse_weights(calibration.weights)
    if calibration.range is not None:
        check_range(calibration.range)
    limit: Limit | None = None
    if calibration.max_drop is not None:
        limit = parse_limit(calibration.max_drop, of_metric=calibration.measures_accuracy)
    metric_maker(calibration.evaluate or calibration.metric)  # raises before the work
    if weights.bits == 4:
        return _with_4_bit_weights(module, data, calibration, options, weights.block, limit, feeds)

    simple = simplify(module, options)
    known = calibrate(simple.module, data, calibration)
    accuracy = accuracy_of(module, known.held_out, calibration, options.target)
    warnings = _warnings(module, known, accuracy)
    space = Space(
        module=simple.module,
        profile=known.profile,
        samples=known.samples,
        options=options,
        origin=simple.origin,
        as_read=simple.as_read,
        memory=calibration.memory,
        show=calibration.progress,
        accuracy=accuracy,
        prefer=calibration.prefer,
        measure=calibration.measure,
    )
    found = find(Candidates(space), calibration, limit)
    candidates, best = found.candidates, found.best
    done = candidates.finish(best.choice, feeds) if feeds else found.done
    budget = held_against(candidates, best, done) if calibration.budget else None

    report, ratio = done.report, done.ratio
    floating = _why_float(found, calibration, options)
    if floating:
        candidates.log.append(f"the model stays in float: {floating}")
        report, ratio = _stay_float(module, simple, candidates, feeds), inf
    else:
        become(module, done.module, report)
    report.calibrated = True
    scores = None if accuracy is None else (accuracy.before, accuracy.after(module))
    tried = candidates.tried.values()
    faster = [] if floating else faster_line(tried, best)
    if best.integer:
        candidates.log.extend(table(tried, best, len(candidates.layers)))
    if calibration.measure:
        faster.append("chosen by times measured on this machine: another may choose otherwise")
    return Quantized(
        report=report,
        choice=best.choice,
        ratio=ratio,
        profile=known.profile,
        log=candidates.log,
        tried=list({id(one): one for one in candidates.tried.values()}.values()),
        integer=report.totals.integer_layers,
        layers=report.totals.layers,
        floating=floating,
        limit=[*found.lines, *faster, *missing_lines(found.missing)],
        budget=budget,
        doubts=warnings,
        scores=scores,
        share=1.0 if floating else done.share,
        data=_data_lines(known, accuracy),
        in_pairs=space.form == "qdq",
    )


def _with_4_bit_weights(
    module: ModuleOp,
    data: Data | None,
    calibration: Calibration,
    options: Options,
    block: int,
    limit: Limit | None,
    feeds: Sequence[Feeds],
) -> Quantized:
    """Weights in 4 bits, activations in float."""
    done = quantize_weights(module, data, calibration, options, block, limit, feeds)
    warnings = _warnings(module, done.known, done.accuracy)
    become(module, done.report.module, done.report)
    done.report.calibrated = True
    return Quantized(
        report=done.report,
        choice=Choice(range="activations in float", rounding=f"blocks of {block}"),
        ratio=done.ratio,
        profile=done.known.profile,
        log=[*map(str, done.rounded.values()), *done.tried],
        integer=len(done.rounded),
        layers=done.report.totals.layers,
        limit=done.lines,
        how="with weights of 4 bits",
        doubts=warnings,
        data=_data_lines(done.known, done.accuracy),
        scores=None if done.accuracy is None else (done.accuracy.before, done.accuracy.after(module)),
    )


# --- accuracy and data


def _data_lines(known: Calibrated, accuracy: Accuracy | None) -> list[str]:
    """What was read, how it was split, and that class folders could be labels."""
    lines = [line for line in [known.record.line()] if line]
    if accuracy is None:
        return lines + known.record.offer()
    held_out = accuracy.held_out
    how = (
        f"split: {held_out.calibrated} samples calibrate and choose, {held_out.count} others measure accuracy"
    )
    return [*lines, how]


def _warnings(module: ModuleOp, known: Calibrated, accuracy: Accuracy | None) -> list[str]:
    """Warnings about the data, also that a float module, as it was read, was trained on other data."""
    rows = [] if known.profile.random else known.samples.measured
    if not rows:
        return known.doubts
    images = images_of(module, rows, known.record.preprocessing)
    if accuracy is not None and images is not None and accuracy.before.margin is not None:
        return [*known.doubts, *accuracy.signs(images)]
    return [*known.doubts, *signs(module, rows, images)]


# --- why a model stays in float


def _why_float(found: Found, calibration: Calibration, options: Options) -> str:
    """Reason for a model in float; empty if it is in integers, or in a form that is asked for."""
    best, held, module = found.best, found.held, found.candidates.space.module
    is_asked = _is_asked(options)
    if held is not None and held.plan.kept and not best.integer and not found.missing:
        return f"with a layer in integers {calibration.max_drop} does not hold"
    if best.integer and not is_asked and (reason := _not_worth_it(found.done)):
        return reason
    is_lost = is_asked and found.missing and not found.done.report.totals.integer_layers
    if best.integer and not is_lost:
        return ""
    layers = count_layers(module, found.candidates)
    return unprofiled(module, layers) or (_without_form(found.missing) if layers else NO_LAYER)


def _is_asked(options: Options) -> bool:
    """True if the form of the result is asked for, whether or not it is faster: not the target's fastest."""
    form = target_named(options.target).form
    is_exact = Exactness(options.exactness) is Exactness.EXACT
    return is_exact or (options.form or form) != form or bool(options.decompose)


def _not_worth_it(done: Finished) -> str:
    """Reason why an integer model is not worth its noise; empty if it is."""
    if done.share > MAX_TIME_SHARE:
        return f"in integers it is expected to take {100 * done.share:.0f} % of the time"
    if done.share_of_one > MAX_TIME_SHARE_OF_ONE:
        share = f"{100 * done.share_of_one:.0f} %"
        return (
            f"in integers a batch of one is expected to take {share} of the time; --batch N quantizes for N"
        )
    if done.is_noisy:
        return f"in integers {done.ratio:.1f} dB signal to noise are left, for {100 * done.share:.0f} % of the time"
    return ""


def _without_form(missing: Mapping[str, Blocked]) -> str:
    """Reason for a model in float: no op would be faster, or those that would have no integer form."""
    if not missing:
        return NO_OP
    first, blocked = next(iter(missing.items()))
    return f"what would be faster has no integer form: '{first}': {blocked.message} [{blocked.id}]"


def count_layers(module: ModuleOp, candidates: Candidates) -> int:
    """Layers with constant weights: of the graph, in the bodies of loops, and recurrent ones."""
    recurrent = [op for op in module.walk() if form_of(type(op), QuantizesItself) is not None]
    return len(candidates.layers) + len(inner_layers(main_of(module))) + len(recurrent)


# --- the caller's module


def _stay_float(
    module: ModuleOp, simple: Simplified, candidates: Candidates, feeds: Sequence[Feeds]
) -> Report:
    """
    Report of the model: compiled if it came with integers, or if options ask for a form or sizes; simplified if
    onnxruntime then runs fewer nodes, or the parts of slow functions; else as read.
    """
    prepared, options = simple.module, candidates.space.options
    report = compile_as(prepared, options.plain, feeds, origin=simple.origin)
    nodes = fused_nodes(export_model(prepared).SerializeToString(deterministic=True))
    is_asked = options.batch is not None or options.sizes or _is_asked(options)
    is_smaller = nodes < candidates.space.float_nodes[0]
    if is_asked or simple.is_apart or report.account.origin.is_quantized or is_smaller:
        become(module, prepared, report)
    report.module, report.left_in_float = module, True
    return report


def become(module: ModuleOp, by: ModuleOp, report: Report) -> None:
    """Make the caller's module the result, and the report's module; `by` is empty afterwards."""
    module.attributes = dict(by.attributes)
    body = by.detach_region(0)
    module.detach_region(0)
    module.add_region(body)
    report.module = module
