"""
Quantize graph inputs that hold integers already, as implied by weights of scale 1.

    linear(x, dcast(w))  ->  linear(dcast(qcast(x)), dcast(w))      w and qcast of scale 1, x a float graph input

Weights of no more than signs (-1, 0, 1) say nothing: their scale is 1 for any input.

Lossy: the model does not state that x holds integers of that range; fractions are rounded, other values saturate.
Exporters that scale weights but not inputs (Aidge) rely on this.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import quantized_of
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, Storage, UniformType
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.ir.names import value_name
from qdialect.ir.values import constant_array, is_float32, under
from qdialect.promises.linear import Linear
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Pattern, Rewriter
from qdialect.rewriting.matching import OnTrait
from qdialect.rewriting.passes import RewritePass
from qdialect.rewriting.remarks import remarks_of

STORAGES = ("i8", "u8")


MAX_TERNARY_WEIGHT = 1
"""Greatest weight of a binary or ternary layer, whose scale is 1 whatever its inputs are."""


def _is_integers(value: SSAValue) -> bool:
    """True if `value` is a constant quantized with scale 1 and zero point 0, of more than signs."""
    source = under(value, DequantizeOp)
    type = None if source is None else quantized_of(source.type)
    is_one = type is not None and type.is_per_tensor and (type.scale, type.zero_point) == (1, 0)
    array = constant_array(source) if is_one else None
    return array is not None and bool((np.abs(array.astype(np.int64)) > MAX_TERNARY_WEIGHT).any())


def _rounded(func: FuncOp) -> list[SSAValue]:
    """The inputs of a graph that are quantized."""
    return [v for v in func.body.block.args if any(isinstance(use.operation, QuantizeOp) for use in v.uses)]


def _rounds(names: Sequence[str], storage: str) -> Blocked:
    of = Storage.of(storage)
    return Blocked(
        "input-rounded",
        f"float inputs are rounded to integers from {of.low} to {of.high}: {', '.join(names)}",
        "use --exactness close to keep fractions",
    )


class QuantizeInput(OnTrait[Linear]):
    """A linear op between a float graph input and a weight of scale 1."""

    def __init__(self, storage: Storage):
        self._type = UniformType.per_tensor(storage, np.float32(1.0))

    def match(self, op: OnnxOp, promise: Linear, rewriter: Rewriter, /) -> Blocked | None:
        x = op.operands[0]
        if not isinstance(x, BlockArgument) or not is_float32(x):
            return None
        if not _is_integers(op.operands[1]):
            return None
        users = [use.operation for use in x.uses]
        if any(u.get_trait(Linear) is None or u.operands[0] is not x for u in users):
            return Blocked("second-consumer", "the graph input is also used in float")
        quantize = QuantizeOp(x, self._type)
        real = DequantizeOp(quantize.results[0])
        rewriter.insert_at_start(x.owner, [quantize, real])
        for user in users:
            rewriter.set_operand(user, 0, real.results[0])
        return None


@dataclass(frozen=True)
class QuantizeInputsPass(RewritePass):
    name = "quantize-inputs"
    exactness = Exactness.LOSSY
    reasons = "input-rounded second-consumer"
    rewrite = "linear(x, dcast(w)) -> linear(dcast(qcast(x)), dcast(w)), scale 1: fractions are rounded"

    storage: str = "i8"
    """Storage type of the inputs: `i8` or `u8`."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        before = {func: _rounded(func) for func in op.ops if isinstance(func, FuncOp)}
        super().apply(ctx, op)
        for func, known in before.items():
            if names := [value_name(value) for value in _rounded(func) if value not in known]:
                remarks_of(op).add(self.name, func, _rounds(names, self.storage))

    def patterns(self) -> Sequence[Pattern]:
        if self.storage not in STORAGES:
            raise UserError(
                f"inputs cannot be stored in '{self.storage}'", f"choose from {', '.join(STORAGES)}"
            )
        return [QuantizeInput(Storage.of(self.storage))]
