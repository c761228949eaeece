"""`compile` and `explain`, which put the compiler, the account of its work and the quantizer together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import CompileOptions, with_options
from qdialect.numerics import Array
from qdialect.onnx_io.models import Source, module_of
from qdialect.report.account import Layer
from qdialect.report.compilation import compile_as
from qdialect.report.report import Report


@with_options(CompileOptions)
def compile(model: ModuleOp | Source, options: CompileOptions) -> Report:
    """
    Rewrite a module in place into the form that a target takes; of a path, bytes or an ONNX message, the module is
    the report's.

    Raises UserError for an unknown target, form, level, op or name, before the module is changed; with feeds, for
    a pass that exceeds its class of exactness, or a phase that misses its aim; for sources that
    `load` rejects; and VerifyException if the module violates a constraint afterwards.
    """
    return _compiled(module_of(model), options)


def _compiled(module: ModuleOp, options: CompileOptions) -> Report:
    from logging import getLogger  # text tools start without it

    logger = getLogger("qdialect")
    logger.info("compiling for %s", options.target)
    completion = None
    if options.data is not None:
        from qdialect.quantizer.complete_quantization import complete  # imports onnxruntime, needed only here

        completion = complete(module, options.data, options)
    feeds: Sequence[Mapping[str, Array]] = ()
    if options.feeds:
        from qdialect.evaluation.feeds import fitted  # likewise

        feeds = [*fitted(module, options.feeds)]
    report = compile_as(module, options, feeds, completion=completion)
    logger.info("compiled: %r", report)
    return report


@with_options(CompileOptions)
def explain(model: ModuleOp | Source, options: CompileOptions) -> tuple[Layer, ...]:
    """
    Layers that would stay in float, with reasons, sorted by multiply-adds in float, then by
    elements, the largest first. The model is not modified.

    Raises as `compile` does.
    """
    module = model.clone() if isinstance(model, ModuleOp) else module_of(model)
    layers = _compiled(module, options).layers
    floats = [one for one in layers if not (one.integer or one.is_gone)]
    return tuple(sorted(floats, key=lambda one: (one.integer_macs - (one.macs or 0), -one.elements)))
