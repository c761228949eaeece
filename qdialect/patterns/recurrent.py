"""The pattern that writes recurrent ops as dynamically quantized kernels, if those are faster."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.forms.dynamic import QuantizesItself
from qdialect.forms.table import form_of
from qdialect.reasons import Blocked, unblocked
from qdialect.rewriting.driver import Rewriter
from qdialect.rewriting.matching import OnForm
from qdialect.targets import Target

TYPES = ("f32", "i8"), "f32"


def least_units(form: QuantizesItself, runtime: Target) -> float:
    """Number of hidden units from which on the kernel was measured to be faster than the float one."""
    return runtime.costs.get(form.kernel, {}).get("least", 1.0)


def pays(op: OnnxOp, runtime: Target) -> bool:
    """True if an op has a dynamically quantized kernel that is faster."""
    form = form_of(type(op), QuantizesItself)
    if form is None or not runtime.has_kernel(form.kernel, *TYPES) or form.blocked(op) is not None:
        return False
    return (form.size(op) or 0) >= least_units(form, runtime)


class QuantizeRecurrent(OnForm[QuantizesItself]):
    """A recurrent op as its dynamically quantized kernel, if the target has it; any op, or one of `only`."""

    def __init__(self, runtime: Target, least: int = 0, only: Collection[Operation] | None = None):
        self._target, self._least, self._only = runtime, least, only

    def wants(self, form: QuantizesItself, /) -> bool:
        return self._target.has_kernel(form.kernel, *TYPES)

    def match(self, op: OnnxOp, form: QuantizesItself, rewriter: Rewriter, /) -> Blocked | None:
        size, least = form.size(op), self._least or least_units(form, self._target)
        if size is None or size < least:
            return Blocked(
                "float-faster", f"with less than {least:.0f} hidden units the float kernel is faster"
            )
        unblocked(form.blocked(op))
        rewriter.replace(op, form.parts(op))
        return None
