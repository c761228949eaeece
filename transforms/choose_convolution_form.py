"""
Write each integer convolution in the form of least cost on the target, by measured kernel costs.

    groups   conv(x, w, b), g groups  ->  conv(x, w', b), g / m groups                  zeros between the channels
    depth    conv(x, w, b), 3 axes    ->  split(conv(join(x), w', b)), 2 axes           slices under w as channels
    width    conv(x, w, b)            ->  unpack(conv(pack(x), w', b'))                 pixels of a row as channels
    phases   conv_transpose(x, w, b)  ->  spread(conv(x, w', b'))                       results of a pixel as channels
    product  conv(x, w, b) : float    ->  MatMulIntegerToFloat(columns(x), w', b)       im2col, channels last
    sum      conv(x, w, b) : float    ->  Cast(ConvInteger(x, w)) * (x_scale * w_scale) + b
             mean(x)                  ->  conv(x, ones)                                 average pools
             matmul(x, w, b)          ->  transpose(conv(transpose(x), w', b))          rows as pixels
             shuffle(x)               ->  transpose(shuffle(transpose(x)))              channels last, behind them
             conv(depthwise(conv(x, u), v), w), channels between  ->  the same, more channels    zeros fill a block

Close: each result sums the same products, and zeros, so integers are identical; a float oracle adds them in another
order. The forms are searched together: one that pays alone may not pay behind another, and vice versa. A form that
saves less than the error of the fitted costs is not chosen, with a remark. A convolution with a float result stays in
float if no integer kernel is faster; what a session makes a part of the float kernel counts for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp, onnx_opset
from qdialect.dialects.onnx_types import DYNAMIC, element_of, quantized_of
from qdialect.dialects.quant import UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.forms.casts import Parameters
from qdialect.ir.values import constant
from qdialect.kernel_selection.convolution.blocks import FillBlocks
from qdialect.kernel_selection.convolution.build import written
from qdialect.kernel_selection.convolution.columns import product, product_guard
from qdialect.kernel_selection.convolution.conversions import WriteAsConvolution, WriteAsPointwise
from qdialect.kernel_selection.convolution.layout import goes_channels_last, is_channels_last
from qdialect.kernel_selection.convolution.phases import spread_phases, spreading_cost
from qdialect.kernel_selection.convolution.search import (
    FORMS,
    Plan,
    Rejected,
    Search,
    float_kernel,
    kernel_cost,
)
from qdialect.kernel_selection.convolution.shuffle import ShuffleLast
from qdialect.kernel_selection.convolution.step import ConvolutionStep, ImageNodes, Spec
from qdialect.patterns.float_kernels import saved_behind
from qdialect.patterns.sums import LowerToSum
from qdialect.patterns.target_pattern import TargetPass
from qdialect.promises.window import Window
from qdialect.reasons import ACTIVATION_PER_AXIS, GROUPED, Blocked, unblocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import Role
from qdialect.rewriting.uses import goes_into_quantize
from qdialect.targets import Target
from qdialect.targets.pricing import PACKED, PRODUCT, SOME_IMAGES, SPREADING, SUM

STORAGE = Blocked("no-costs", "an operand or the result is not 8-bit, as the measured kernels require")
COMPUTED_CONSTANT = Blocked(
    "computed-parameter", "the weight, or a bias that is repeated, is computed at run time"
)
KERNELS = {"product": PRODUCT, "sum": SUM}
NAMES = (*dict(FORMS), "phases", *KERNELS)


class ChooseConvolutionForm(OnTrait[Window]):
    """A convolution of a quantized activation and a quantized weight."""

    def __init__(self, target: Target, form: str = "", by: tuple[int, ...] = ()):
        self._target, self._form, self._by = target, form, by
        self._search, self._parameters = Search(target.costs), Parameters()
        self._sum = LowerToSum(target)
        self._planned: dict[Operation, tuple[str, ...]] = {}

    def match(self, op: OnnxOp, promise: Window, rewriter: Rewriter) -> Blocked | None:
        x, w = quantized_of(op.operands[0].type), quantized_of(op.operands[1].type)
        if x is None or w is None:
            return None
        if not self._target.costs:
            return Blocked("no-costs", f"no kernel of a convolution was measured on {self._target.name}")
        spec = unblocked(self.spec_of(op, promise, x, w))
        plan = Plan(0.0)
        if op not in self._planned and w.storage.name == "i8":
            plan = unblocked(self._plan(op, spec, promise))
        if plan.steps:
            return self._take(op, plan.steps, promise, rewriter)
        if spec.is_float and self._form in ("", *KERNELS):
            return self._float_result(op, spec, rewriter)
        if plan.rejected is None:
            return None
        return _does_not_pay(plan.rejected, kernel_cost(spec, self._target.costs))

    def spec_of(self, op: OnnxOp, window: Window, x: UniformType, w: UniformType) -> Spec | Blocked:
        y, bias = quantized_of(op.results[0].type), op.input(2)
        if y is None and element_of(op.results[0].type) != Float32Type():
            return Blocked("expressed-type", "the result is neither quantized nor f32")
        kernels = [name for name in ("u8", "i8") if self._is_measured(name, y, window)]
        if not x.is_per_tensor:
            return ACTIVATION_PER_AXIS
        if x.storage.name != "u8" or w.storage.name not in kernels:
            return STORAGE
        if y is not None and window.gathers and bias is not None and quantized_of(bias.type) is None:
            return Blocked(
                "bias-scale", "the bias is float, which no integer kernel takes", "run rescale-bias"
            )
        geometry = unblocked(window.geometry(op))
        some = 1 if y is not None else SOME_IMAGES
        images = some if geometry.images == DYNAMIC else geometry.images
        spec = Spec(geometry, images, not w.zero_points.any(), y is None, onnx_opset(op))
        if not spec.is_float:
            return spec
        spec = replace(spec, kernels=self._kernels(op, spec), saved=saved_behind(op, self._target.costs))
        if SPREADING not in self._target.costs:
            return spec
        reads = geometry.inputs > 1 and is_channels_last(op.operands[0])
        makes = geometry.outputs > 1 and goes_channels_last(op.results[0])
        return replace(spec, reads_last=reads, makes_last=makes)

    def _kernels(self, op: OnnxOp, spec: Spec) -> tuple[str, ...]:
        """The kernels that may compute a float result; none with a float constant as weight if a quantize follows."""
        if op in self._planned:
            return self._planned[op]
        product = PRODUCT in self._target.costs and product_guard(op, spec, self._target) is None
        packs = not goes_into_quantize(op.results[0])
        refused = [name for name, allowed in ((PRODUCT, product), (PACKED, packs)) if not allowed]
        return tuple(name for name in spec.kernels if name not in refused)

    def _is_measured(self, weight: str, y: UniformType | None, window: Window) -> bool:
        """True if kernels were measured for a weight of that storage: i8 has all, u8 those with a float result."""
        if y is None:
            return weight == "i8" or window.gathers
        return (
            weight == "i8"
            and y.is_per_tensor
            and self._target.has_kernel("QLinearConv", ["u8", "i8"], y.storage.name)
        )

    def _plan(self, op: OnnxOp, spec: Spec, window: Window) -> Plan | Blocked:
        """The cheapest plan, without steps if `op` is cheapest as it is; `Blocked` if paying steps are impossible."""
        if not window.gathers:
            return self.spread_plan(op, spec)
        if self._form in NAMES:
            return self._asked(spec)
        plan = self._search.best(spec)
        if plan.steps:
            return plan
        return self._search.best(spec, blocked=True).blocked or plan

    def _asked(self, spec: Spec) -> Plan | Blocked:
        """The plan with the requested form, at any cost."""
        for name, steps in FORMS:
            for step in steps(spec, self._target.costs, float("inf")) if name == self._form else ():
                if self._by in ((), step.size):
                    return step.blocked or Plan(0.0, (step,))
        return Plan(0.0)

    def spread_plan(self, op: OnnxOp, spec: Spec) -> Plan | Blocked:
        costs = self._target.costs
        if SPREADING not in costs or self._form not in ("", "phases"):
            return Plan(0.0)
        padding = op.ints_attr("output_padding") or (0,) * spec.geometry.axes
        step = unblocked(spread_phases(spec, costs, padding))
        if self._form:
            return Plan(0.0, (step,))
        plan, now = self._search.best(step.after), spreading_cost(spec, step, costs)
        taken = step.cost + plan.cost
        if taken + step.saves >= now:
            unsure = f", and {step.saves / 1e3:.1f} us have to be gained" if taken < now else ""
            return Blocked(
                "float-faster",
                f"as a convolution it would take {taken / 1e3:.1f} us, transposed in float {now / 1e3:.1f} us{unsure}",
            )
        return Plan(taken, (step, *plan.steps))

    def _take(
        self, op: OnnxOp, steps: Sequence[ConvolutionStep], window: Window, rewriter: Rewriter
    ) -> Blocked | None:
        bias, copies = op.input(2), any(step.copies > 1 for step in steps)
        if constant(op.operands[1]) is None or (copies and bias is not None and constant(bias) is None):
            return COMPUTED_CONSTANT
        nodes = ImageNodes(op)
        left = written(op, window.gathering or op.op_type, steps, nodes)
        self._planned[left] = steps[-1].after.kernels
        rewriter.replace(op, nodes.ops)
        return None

    def _float_result(self, op: OnnxOp, spec: Spec, rewriter: Rewriter) -> Blocked | None:
        if spec.geometry.groups > 1:
            return GROUPED
        if constant(op.operands[1]) is None:
            return COMPUTED_CONSTANT
        blocked = product_guard(op, spec, self._target)
        cheapest, times = float_kernel(spec, self._target.costs)
        kernel = KERNELS.get(self._form, cheapest)
        if kernel == PRODUCT:
            if blocked is None:
                rewriter.replace(op, product(op, spec, self._parameters))
            return blocked
        if kernel == SUM:
            return self._sum.rewrite(op, rewriter)
        said = "with this number of channels the convolution is as fast in float"
        return Blocked("float-faster", said, expected=times)


def _does_not_pay(rejected: Rejected, now: float) -> Blocked | None:
    form, taken = rejected
    return Blocked(
        "does-not-pay",
        f"form '{form}' would take {taken / 1e3:.1f} us instead of {now / 1e3:.1f} us, which saves too little",
    )


@dataclass(frozen=True)
class ChooseConvolutionFormPass(TargetPass):
    name = "choose-convolution-form"
    exactness = Exactness.CLOSE
    role = Role.CHOOSING
    reasons = (
        "activation-per-axis bias-scale computed-parameter does-not-pay expressed-type float-faster "
        "float-result invalid-op no-costs opset unknown-shape window-form"
    )
    rewrite = "conv(x, w, b) -> after(conv(before(x), w', b')), or a product of columns: the same products, and zeros"

    form: str = ""
    """`groups`, `depth`, `width`, `phases`, `product` or `sum`, at any cost; empty: the form of least cost."""
    by: tuple[int, ...] = ()
    """For `groups` the number merged into one, for `width` the packed pixels of operand and result; empty: any."""

    def patterns(self) -> Sequence[Pattern]:
        if self.form and self.form not in NAMES:
            raise UserError(
                f"'{self.form}' is not a form of a convolution", f"choose from {', '.join(NAMES)}"
            )
        others = [
            FillBlocks(self.runtime),
            WriteAsConvolution(self.runtime),
            WriteAsPointwise(self.runtime),
            ShuffleLast(),
        ]
        return [*([] if self.form else others), ChooseConvolutionForm(self.runtime, self.form, self.by)]
