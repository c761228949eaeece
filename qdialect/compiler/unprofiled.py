"""Why products of a float model have no ranges although it was profiled."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from qdialect.dialects.onnx_base import OnnxOp, promise_of
from qdialect.dialects.onnx_types import element_of
from qdialect.dialects.quant import Half
from qdialect.ir.values import is_constant
from qdialect.promises.linear import Linear


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
