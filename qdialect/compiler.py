"""The fixed pipelines: what `qdialect compile` runs, per target and form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from qdialect.errors import UserError
from qdialect.passes import Exactness
from qdialect.remarks import Remark, remarks_of
from qdialect.targets import Target, target

FORMS = ("qoperator", "qdq", "integer")


@dataclass
class Report:
    """What a compilation did and did not do."""

    target: str
    form: str
    exactness: str
    pipeline: list[str]
    """The passes that ran, in order, as `qdialect-opt -p` takes them."""
    remarks: list[Remark] = field(default_factory=list[Remark])
    """What stood in the way of rewrites."""


def _passes(target: Target, form: str, keep_overridable: bool) -> list[ModulePass]:
    from qdialect.transforms.fold_activation import FoldActivationPass
    from qdialect.transforms.fold_casts import FoldCastsPass
    from qdialect.transforms.fold_constants import FoldConstantsPass
    from qdialect.transforms.fold_pad import FoldPadPass
    from qdialect.transforms.freeze import FreezePass
    from qdialect.transforms.fuse_quantized import FuseQuantizedPass
    from qdialect.transforms.hoist_quantize import HoistQuantizePass
    from qdialect.transforms.legalize import LegalizePass
    from qdialect.transforms.lower_to_qdq import LowerToQdqPass
    from qdialect.transforms.lower_to_qoperator import LowerToQoperatorPass
    from qdialect.transforms.quantize_inputs import QuantizeInputsPass
    from qdialect.transforms.raise_arithmetic import RaiseArithmeticPass
    from qdialect.transforms.raise_integer import RaiseIntegerPass
    from qdialect.transforms.raise_qdq import RaiseQdqPass
    from qdialect.transforms.raise_qoperator import RaiseQoperatorPass
    from qdialect.transforms.rescale_bias import RescaleBiasPass
    from qdialect.transforms.sink_dequantize import SinkDequantizePass

    passes: list[ModulePass] = [] if keep_overridable else [FreezePass()]
    passes += [
        FoldConstantsPass(),
        RaiseQoperatorPass(),
        RaiseQdqPass(),
        RaiseArithmeticPass(),
        QuantizeInputsPass(),
        FoldCastsPass(),
        SinkDequantizePass(),
        FoldCastsPass(),
        RaiseIntegerPass(float_results=form == "qdq"),
    ]
    passes += [
        HoistQuantizePass(),
        FoldCastsPass(),
        FoldConstantsPass(),
        FuseQuantizedPass(),
        FoldPadPass(),
        FoldActivationPass(),
    ]
    if form == "qoperator":
        passes += [RescaleBiasPass(), LegalizePass(target.name), LowerToQoperatorPass(target.name)]
    passes.append(LowerToQdqPass(target.name))
    return passes


def pipeline(
    target_name: str, form: str | None = None, exactness: str = "close", *, keep_overridable: bool = False
) -> list[ModulePass]:
    """
    The passes for a target and form, without those of a class beyond `exactness`.

    Raises UserError for a target or form that there is not.
    """
    found = target(target_name)
    form = form or found.form
    if form not in FORMS:
        raise UserError(f"there is no form '{form}'", f"choose from {', '.join(FORMS)}")
    if form == "integer":
        raise UserError("form 'integer' is not built yet", "use --form qoperator or --form qdq")
    if form == "qoperator" and not found.kernels:
        raise UserError(f"target '{target_name}' takes no QOperator nodes", "use --form qdq")
    level = Exactness(exactness)
    return [p for p in _passes(found, form, keep_overridable) if exactness_of(p).within(level)]


def exactness_of(module_pass: ModulePass | type[ModulePass]) -> Exactness:
    """A pass's class of exactness."""
    found = getattr(module_pass, "exactness", Exactness.EXACT)
    assert isinstance(found, Exactness)
    return found


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    """Run passes on a module."""
    context = Context()
    for one in passes:
        one.apply(context, module)


def compile(
    module: ModuleOp,
    target: str = "onnxruntime",
    form: str | None = None,
    exactness: str = "close",
    *,
    keep_overridable: bool = False,
) -> Report:
    """
    Rewrite `module` in place into the form that `target` takes.

    `exactness` bounds what may run: `exact`, `close` or `lossy`. Raises UserError for a target, form or level that
    there is not, and VerifyException if the module breaks a constraint before or after.
    """
    passes = pipeline(target, form, exactness, keep_overridable=keep_overridable)
    run_passes(module, passes)
    module.verify()
    from qdialect.targets import target as find

    names = [str(p.spec()) for p in passes]
    return Report(target, form or find(target).form, exactness, names, list(remarks_of(module)))
