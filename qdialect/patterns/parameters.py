"""Names of scales and zero points, which several passes write."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.ir.names import is_parameter, location, wish
from qdialect.ir.walking import operations
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.qoperator import QOperator, reading
from qdialect.reasons import Blocked

ROLES = {"s": "scale", "z": "zero_point"}


def _read_by(op: OnnxOp) -> Iterator[tuple[SSAValue, SSAValue, str]]:
    """Each scale and zero point that a node reads, the tensor that it belongs to, and which of the two it is."""
    if op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None:
        tensor = op.results[0] if op.get_trait(QuantizeForm) is not None else op.operands[0]
        yield from (
            (value, tensor, role) for value, role in zip(op.operands[1:], ROLES.values(), strict=False)
        )
    elif op.get_trait(QOperator) is not None and not isinstance(meaning := reading(op), Blocked):
        for (place, part), value in meaning.cells.items():
            tensor = op.results[0] if place is None else meaning.cells.get((place, "v"))
            if part in ROLES and value is not None and tensor is not None:
                yield value, tensor, ROLES[part]


def name_parameters(module: ModuleOp) -> None:
    """
    Name constant scales and zero points after the tensor of the first node that reads them, so that they get the same
    names when the written model is compiled again. The tensors' names must be settled.
    """
    named: set[Operation] = set()
    for op in operations(module):
        for value, tensor, role in _read_by(op) if isinstance(op, OnnxOp) else ():
            constant = value.owner
            if isinstance(constant, ConstantOp) and is_parameter(constant) and constant not in named:
                named.add(constant)
                constant.location = location("", [f"{wish(tensor)}_{role}"])
