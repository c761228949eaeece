"""
The float model before it is profiled: the passes that simplify it, and the reason why products are not profiled. The
pipeline of `quantize` is these passes, then that of `compile`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.compiler.keep_float import keep_in_float
from qdialect.compiler.options import UPSTREAM_FORMS, Options
from qdialect.compiler.pipeline import Phase, Stage, phases, reading
from qdialect.compiler.pipeline import simplifying as simplifying_any
from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import Half
from qdialect.errors import UserError
from qdialect.ir.values import is_constant
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.opsets import lower_opsets
from qdialect.promises.linear import Linear
from qdialect.quantizer.rounding.equalization import equalize
from qdialect.report.provenance import Origin
from qdialect.rewriting.manager import run_passes
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.decompose import decomposable

QUANTIZED_OPSET = 13
"""The first opset whose QuantizeLinear and DequantizeLinear have per-axis scales."""


@dataclass(frozen=True)
class Simplified:
    """A float model, as it was read and as it is profiled."""

    module: ModuleOp
    """The simplified module."""
    origin: Origin
    """The nodes of the model as read."""
    as_read: bytes
    """The ONNX model as read, but for slow functions, which are decomposed."""
    is_apart: bool
    """True if there are any of these."""


def simplify(module: ModuleOp, options: Options) -> Simplified:
    """Simplify a clone of a float model for profiling. Raises UserError for a target that takes no ONNX."""
    as_read, is_apart = _in_parts(module, options)
    prepared = module.clone()
    return Simplified(prepared, prepare(prepared, options), as_read, is_apart)


def prepare(module: ModuleOp, options: Options) -> Origin:
    """Simplify a float model in place for profiling; returns its nodes as before."""
    runtime = target(options.target)
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


def _in_parts(module: ModuleOp, options: Options) -> tuple[bytes, bool]:
    """The ONNX model as read, but for slow functions, which are decomposed; True if there are any."""
    whole = export_model(module).SerializeToString(deterministic=True)
    runtime = target(options.target)
    if not any(isinstance(op, OnnxOp) and op.op_type in runtime.decomposed for op in module.walk()):
        return whole, False
    parts = module.clone()
    run_passes(parts, [stage.step for stage in functions_apart(options, options.form or runtime.form)])
    model = export_model(parts).SerializeToString(deterministic=True)
    return model, model != whole


def _stage(name: str, because: str, **options: Any) -> Stage:
    return Stage(get_all_passes()[name]()(**options), because)


def simplifying(options: Options, form: str) -> Iterator[Stage]:
    """The passes that simplify a float model before it is profiled."""
    yield from reading(options)
    yield from simplifying_any(options.exactness == "exact")
    because = "what a session fused has profiles of its own"
    yield _stage("raise-qoperator", because, every=form != "qoperator", fused=True)
    yield _stage("raise-opset", "casts have scales by channel from this opset on", to=QUANTIZED_OPSET)
    if options.exactness != "exact":
        because = "what an exporter took apart has one range, and the price of its kernel"
        yield _stage("lower-to-table", because, target=options.target)
    yield from functions_apart(options, form)
    yield _stage("fold-batch-norm", "weights are rounded with their factors in them")
    yield _stage("fold-branches", "one convolution is rounded once")
    yield _stage("fold-pad", "windows take their zeros from their own pads")
    yield _stage("fold-constants", "weights that were computed are constants")
    parts = options.decompose or (decomposable(functions=False) if form == "qdq" else ())
    if parts:
        yield _stage("decompose", "each part has a profile of its own", ops=tuple(parts))
        if form == "qdq":
            # Steps find their casts by cost, and so small a product rarely pays; in a loop they are one kernel.
            yield _stage("unroll", "the steps of a short loop are nodes")
        yield _stage("fold-constants", "weights of the parts are constants")
        yield _stage("fold-identity", "what the parts copied is gone")


def functions_apart(options: Options, form: str) -> Iterator[Stage]:
    """Functions whose kernels are slow on the target become arithmetic, by the sizes of their results."""
    if form == "qoperator" and options.exactness != "exact" and target(options.target).decomposed:
        yield _stage("infer-shapes", "short functions are faster as they are")
        yield _stage("decompose", "functions whose kernels are slow", target=options.target)


def _nothing(module: ModuleOp) -> Iterator[Operation]:
    """The condition that always holds."""
    yield from ()


def quantize_phases(options: Options) -> list[Phase]:
    """The passes of `quantize`, in order; the model is profiled before `insert-casts`."""
    form = options.form or target(options.target).form
    casts = _stage("insert-casts", "where integers pay, by the profile", target=options.target, form=form)
    prepared = Phase("prepare", "the model is as it is profiled", _nothing, [*simplifying(options, form)])
    return [prepared, Phase("quantize", "ranges are in types", _nothing, [casts]), *phases(options)]


def unprofiled(module: ModuleOp, layers: int) -> str:
    """Reason why products of a float model are not profiled; empty if they are. layers: number of those that are."""
    if any(map(_is_half, module.walk())):
        return "its products are in half precision, convert it to float32 first"
    if not layers and any(map(_is_in_branch, module.walk())):
        return "its products are in branches of an If, whose tensors are not profiled"
    return ""


def _is_in_branch(op: Operation) -> bool:
    """True if an op is linear with a constant weight and in a subgraph, of a branch if no loop's layers are known."""
    inner = isinstance(op.parent_op(), OnnxOp)
    return inner and promise_of(op, Linear) is not None and is_constant(op.operands[1])


def _is_half(op: Operation) -> bool:
    """True if an op is linear in half precision, which is not profiled."""
    linear = promise_of(op, Linear)
    return linear is not None and isinstance(element_of(op.operands[0].type), Half)
