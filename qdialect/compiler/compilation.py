"""The fixed pipelines: what `qdialect compile` runs, per target and form."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from qdialect.compiler.report import Report, Stays, Step, op_counts, staying_float, surviving
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.errors import UserError
from qdialect.ir.names import called, node_name, tensor_names
from qdialect.ir.walking import operations
from qdialect.onnx_io.opsets import import_domains, lower_opsets
from qdialect.rewriting.journal import KEEP_FLOAT
from qdialect.rewriting.passes import Exactness, RewritePass, exactness_of
from qdialect.rewriting.records import recording
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import Target, target
from qdialect.targets.legality import breaches
from qdialect.transforms import get_all_passes
from qdialect.transforms.decompose import decomposable

FORMS = ("qoperator", "qdq", "integer")


@dataclass(frozen=True)
class Options:
    """What a compilation is asked for, besides the model."""

    target: str = "onnxruntime"
    form: str | None = None
    """`qoperator`, `qdq` or `integer`; None: the target's own."""
    exactness: str = "close"
    """`exact`, `close` or `lossy`: what may run."""
    keep_overridable: bool = False
    """Whether initializers that are also inputs stay inputs."""
    integer_io: bool = False
    """Whether quantized inputs and outputs of the graph become integers."""
    decompose: tuple[str, ...] = ()
    """Op types to write as the simpler ops that they are made of."""
    float_weights: bool = False
    """Whether ops that stay in float take all their weights as float constants: faster, and a larger file."""
    keep_float: tuple[str, ...] = ()
    """Names of nodes, or of the tensors they make, that stay in float."""


def _made(name: str, **options: Any) -> ModulePass:
    return get_all_passes()[name]()(**options)


def _exact(options: Options) -> bool:
    return options.exactness == Exactness.EXACT.value


def _raising(options: Options, form: str) -> list[ModulePass]:
    """Whatever tool made the model: its quantization in types."""
    passes = [] if options.keep_overridable else [_made("freeze")]
    passes += [
        _made("raise-opset", quantized=True),
        _made("fold-identity"),
        _made("fold-constants"),
        _made("raise-qoperator", every=form != "qoperator"),
        _made("raise-qdq"),
    ]
    passes += [_made("raise-arithmetic", exact=_exact(options)), _made("quantize-inputs")]
    if options.decompose:
        passes.append(_made("decompose", ops=options.decompose))
    return passes


def _batch_norm(options: Options, target: Target, *, depthwise: bool) -> ModulePass:
    lossy = options.exactness == Exactness.LOSSY.value
    return _made("fold-batch-norm", symmetric=target.symmetric_weights, depthwise=depthwise, lossy=lossy)


def _moving(options: Options, target: Target, form: str) -> list[ModulePass]:
    """Casts as far down and as far up as they go; what stands between a linear op and its casts folded away."""
    down = [_made(n) for n in ("fold-casts", "sink-dequantize", "fold-casts")]
    down.append(_made("raise-integer", float_results=form == "qdq"))
    if (form != "qdq" or target.symmetric_activations) and not options.integer_io:
        # Signedness may be all that two types differ by. Not before casts are sunk: integers would seem to leave.
        down.append(_made("legalize", target=target.name, weights=False))
        down += [_made("sink-dequantize"), _made("fold-casts")]
    hoist = _made("hoist-quantize", activations=form == "qdq", rewritten=form == "qoperator")
    batch_norm = _batch_norm(options, target, depthwise=form == "qoperator")
    scales = [] if form == "qdq" else [_made("fold-scales")]
    compose = [_made("compose")] if form == "qoperator" and not options.decompose else []
    fuse = ["fuse-quantized", "fold-pad", "fold-activation", "fold-casts"]
    branches = _made("quantize-branches", target=target.name)
    return [
        *down,
        branches,
        _made("fold-constants"),
        hoist,  # a quantize right behind a BatchNormalization lets it fold
        batch_norm,
        *scales,
        *compose,
        hoist,  # and what it folds into makes integers
        _made("fold-casts"),
        _made("fold-constants"),
        *map(_made, fuse),
    ]


def _lowering(options: Options, target: Target, form: str) -> list[ModulePass]:
    """Types written as what the target takes."""
    interface = [_made("integer-io")] if options.integer_io else []
    legalize = [
        _made("legalize", target=target.name, weights=form != "integer"),
        # Signedness may have been all that two types differed by.
        _made("fold-casts"),
        _made("fuse-quantized"),
    ]
    if target.symmetric_activations:  # then the integers that come in and go out are the target's too
        passes = [*legalize, *interface]
    else:
        passes = [*interface, *legalize]
    if form != "qdq":
        passes.append(_made("fold-activation"))
        if form == "qoperator":
            passes.append(_made("lower-to-table", target=target.name))
            passes += [_made("legalize-expressed"), _made("fold-casts"), _made("rescale-bias")]
            passes.append(_made("choose-convolution-form", target=target.name))
            passes.append(_made("rescale-bias"))  # of what was a transposed convolution
        exact = {"exact": _exact(options)} if form == "qoperator" else {}
        passes.append(_made(f"lower-to-{form}", target=target.name, **exact))
        passes.append(_made("legalize-sums", target=target.name))
        if form == "qoperator":
            few = {"elements": sys.maxsize} if options.float_weights else {}
            passes.append(_made("fold-float-weights", target=target.name, **few))
            # A float weight takes the factors of what stands in front of it, which a quantized one cannot.
            passes.append(_batch_norm(options, target, depthwise=False))
    return [*passes, _made("lower-to-qdq", target=target.name)]


def pipeline(options: Options) -> list[ModulePass]:
    """
    The passes for a target and form, without those of a class beyond the exactness asked for.

    Raises UserError for a target, form or op that there is not.
    """
    found = target(options.target)
    form = options.form or found.form
    if form not in FORMS:
        raise UserError(f"there is no form '{form}'", f"choose from {', '.join(FORMS)}")
    if form != "qdq" and not found.kernels:
        raise UserError(f"target '{options.target}' takes no integer nodes", "use --form qdq")
    if options.decompose:
        unknown = sorted(set(options.decompose) - set(decomposable()))
        if unknown:
            raise UserError(f"'{unknown[0]}' is not decomposed", f"choose from {', '.join(decomposable())}")
    level = Exactness(options.exactness)
    if options.decompose and not Exactness.CLOSE.within(level):
        raise UserError(
            f"'{options.decompose[0]}' is not decomposed at --exactness {level.value}: each part rounds",
            "use --exactness close",
        )
    asked = {"integer-io"}  # it is lossy on purpose, and only there if it was asked for
    passes = [*_raising(options, form), *_moving(options, found, form), *_lowering(options, found, form)]
    return [p for p in passes if p.name in asked or exactness_of(p).within(level)]


def _input_names(module: ModuleOp) -> set[str]:
    """What the graph's inputs are called."""
    rows = [row for func in module.ops if isinstance(func, FuncOp) for row in func.arg_attrs or ()]
    names = [row.data.get("onnx.name") for row in rows]
    return {name.data for name in names if isinstance(name, StringAttr)}


def keep_in_float(module: ModuleOp, names: Sequence[str]) -> None:
    """Mark nodes that no rewrite may touch. Raises UserError for a name that is no node's and no tensor's."""
    wanted = set(names)
    if not wanted:
        return
    found: set[str] = set()
    for op in operations(module):
        hit = wanted & {node_name(op), *tensor_names(op)}
        if hit and isinstance(op, ConstantOp):
            raise UserError(
                f"'{min(hit)}' is a constant, which no node computes", "name the node that takes it"
            )
        if hit:
            found |= hit
            op.attributes[KEEP_FLOAT] = UnitAttr()
    if missing := sorted(wanted - found):
        if missing[0] in _input_names(module):
            raise UserError(f"'{missing[0]}' is an input, which no node makes", "name the node that takes it")
        raise UserError(
            f"no node or tensor is called '{missing[0]}'", "--keep-float takes names in the model"
        )


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Run passes on a module."""
    context = Context()
    for one in passes:
        one.apply(context, module)


class Compilation:
    """A module on its way through a pipeline; notes what each pass did."""

    def __init__(self, module: ModuleOp, options: Options):
        self.module, self.passes = module, pipeline(options)
        lower_opsets(module)
        form = options.form or target(options.target).form
        names = [str(one.spec()) for one in self.passes]
        self.report = Report(options.target, form, options.exactness, names, before=op_counts(module))
        self._written: list[Operation] = []
        self._context = Context()

    def step(self, one: ModulePass) -> None:
        """Run one pass, the next."""
        report = self.report
        if one is self.passes[-1]:  # it writes what is left as casts
            report.floats = staying_float(self.module, report.form)
            self._written = operations(self.module)
        with recording(named=False) as records:
            one.apply(self._context, self.module)
        if records or not isinstance(one, RewritePass):  # counting is a walk; an idle pass changes no count
            report.after = op_counts(self.module)
        count = sum((report.after or report.before).values())
        report.steps.append(Step(str(one.spec()), exactness_of(one).value, len(records), count))

    def finish(self) -> Report:
        """
        Import what is used, verify, hold the result against the target's rules, and say what was done.

        Raises VerifyException if the module breaks a constraint.
        """
        import_domains(self.module)
        self.module.verify()
        found = breaches(self.module, target(self.report.target))
        self.report.breaches = [Stays(op.op_type, called(op), blocked) for op, blocked in found]
        self.report.remarks = surviving(remarks_of(self.module), [*self._written, *operations(self.module)])
        return self.report


def compile(
    module: ModuleOp,
    target: str = "onnxruntime",
    form: str | None = None,
    exactness: str = "close",
    *,
    feeds: Sequence[Mapping[str, npt.NDArray[Any]]] = (),
    **more: Any,
) -> Report:
    """
    Rewrite `module` in place into the form that `target` takes. `more` are the fields of `Options`.

    With `feeds`, inputs by graph input name, each pass is judged by what it did to the numbers. Raises UserError for a
    target, form, level or name that there is not, and for a pass that is beyond its class of exactness; VerifyException
    if the module breaks a constraint afterwards.
    """
    options = Options(target, form, exactness, **more)
    running = Compilation(module, options)
    keep_in_float(module, options.keep_float)
    if feeds:
        from qdialect.oracle.checking import check_passes

        finding = check_passes(module, running.passes, feeds, running.step)
        if finding is not None:
            raise UserError(str(finding), "this is a bug in the pass")
    else:
        for one in running.passes:
            running.step(one)
    return running.finish()
