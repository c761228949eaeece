"""
Let groups of channels be one group, where a convolution has too few channels in each to be fast.

    conv(x, w, b), g groups  ->  conv(x, w', b), g / m groups,   w' = w, and zeros between the channels of m groups

No value moves: w' has m times the inputs, and zeros where an output does not see one. Close: the sums have the same
products and zeros, so integers come out the same; a float oracle adds them in another order.

An integer kernel of groups gathers what is under the window for each group by itself, which takes longer than the
products if there are few. Which m pays is looked up in what was measured, up to a bound: the weight grows m times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.exactness import Exactness
from qdialect.forms.casts import wish
from qdialect.ir.values import constant, static_shape
from qdialect.patterns.convolution import MOVES, WORTH, is_measured, shape_of_fold, tiled
from qdialect.promises.linear import Linear
from qdialect.promises.padding import ZeroPads
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.passes import RewritePass
from qdialect.targets import Target, target
from qdialect.targets.pricing import GROUPED, Convolution, best_cost

LARGEST = 1 << 18
"""Elements of a weight with its zeros, at most: 256 KiB."""


def merged_weight(
    weight: npt.NDArray[Any], zero_points: npt.NDArray[Any], groups: int, merged: int
) -> npt.NDArray[Any]:
    """
    The weight (outputs, inputs of a group, ...) for `merged` groups in one, its zeros stored as `zero_points`.

    zero_points: () or (outputs,).
    """
    outputs, inputs, *kernel = weight.shape
    shape = (groups // merged, merged, outputs // groups, merged, inputs, *kernel)
    zeros = np.broadcast_to(np.asarray(zero_points).astype(weight.dtype).reshape(-1), (outputs,))
    result = np.array(np.broadcast_to(zeros.reshape(*shape[:3], *[1] * (len(shape) - 3)), shape))
    parts = weight.reshape(groups // merged, merged, outputs // groups, inputs, *kernel)
    for k in range(merged):
        result[:, k, :, k] = parts[:, k]
    return result.reshape(outputs, merged * inputs, *kernel)


def merged_shape(shape: Convolution, merged: int) -> Convolution:
    """What the convolution is with that many groups in one."""
    return shape._replace(
        inputs=shape.inputs * merged, outputs=shape.outputs * merged, groups=shape.groups // merged
    )


class FoldGroups(Pattern):
    """A convolution in groups, of quantized operands into a quantized result."""

    def __init__(self, target: Target, asked: int = 0):
        self._target, self._asked = target, asked
        self._folded: set[Operation] = set()

    def accepts(self, op_class: type[Operation]) -> bool:
        linear = op_class.get_trait(Linear)
        return linear is not None and linear.has_bias and op_class.get_trait(ZeroPads) is not None

    def rewrite(self, op: Operation, rewriter: Rewriter) -> Blocked | None:
        assert isinstance(op, OnnxOp)
        groups, weight = op.int_attr("group", 1), static_shape(op.operands[1])
        if op in self._folded or groups == 1 or weight is None or not is_measured(op, self._target, GROUPED):
            return None
        if len(weight) < 3 or groups < 1 or weight[0] % groups or quantized_of(op.results[0].type) is None:
            return None
        merged = self._best(op, weight, groups)
        if merged == 1:
            return None
        tensor, w = constant(op.operands[1]), quantized_of(op.operands[1].type)
        if tensor is None:
            return Blocked("computed-weight", "the weight is computed at run time")
        assert w is not None
        array = merged_weight(tensor.array(), w.zero_points, groups, merged)
        name = wish(op.operands[1]) or "weight"
        made = tiled(op.operands[1], np.ascontiguousarray(array), 1, f"{name}_merged")
        operands = [op.input(0), made.results[0], *(op.input(k) for k in range(2, len(op.operands)))]
        attributes = op.onnx_attributes | {"group": int_attr(groups // merged)}
        conv = op.__class__.build(operands, list(op.result_types), attributes)
        conv.location = op.location
        self._folded.add(conv)
        rewriter.replace(op, [made, conv])
        return None

    def _best(self, op: OnnxOp, weight: tuple[int, ...], groups: int) -> int:
        """How many groups in one cost least, if that is enough less than each by itself."""
        if self._asked:
            return self._asked if groups % self._asked == 0 else 1
        w, costs = quantized_of(op.operands[1].type), self._target.costs
        assert w is not None
        plain = shape_of_fold(op, weight, symmetric=not w.zero_points.any())
        now = best_cost(costs, plain)
        best = (min(WORTH * now, now - MOVES), 1)
        for merged in range(2, min(groups, LARGEST // max(prod(weight), 1)) + 1):
            if groups % merged == 0:
                best = min(best, (best_cost(costs, merged_shape(plain, merged)), merged))
        return best[1]


@dataclass(frozen=True)
class FoldGroupsPass(RewritePass):
    """Convolutions of few channels in each group take several groups as one."""

    name = "fold-groups"
    exactness: ClassVar[Exactness] = Exactness.CLOSE
    rewrite: ClassVar[str] = (
        "conv(x, w), g groups -> conv(x, w'), g / m groups, w' with zeros between: the same integers"
    )

    target: str = "onnxruntime"
    merged: int = 0
    """How many groups become one; 0: what costs least."""

    def patterns(self) -> Sequence[Pattern]:
        return [FoldGroups(target(self.target), self.merged)]
