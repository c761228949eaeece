"""
Read initializers that are also graph inputs as constants.

    main(%x, %w = default)  ->  main(%x), %w a constant

Exact for every caller that leaves the default alone; an input that only old exporters listed is no input.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import refresh_signatures
from qdialect.rewriting.passes import Exactness
from qdialect.rewriting.remarks import remarks_of

FROZEN = Blocked(
    "frozen-input",
    "initializers that are also graph inputs became constants",
    "keep them with --keep-overridable",
)
CONSTANT_INITIALIZERS = 4
"""The IR version from which on an initializer need not be an input."""


@dataclass(frozen=True)
class FreezePass(ModulePass):
    """Overridable initializers become constants."""

    name = "freeze"
    exactness: ClassVar[Exactness] = Exactness.EXACT
    rewrite: ClassVar[str] = (
        "main(%x, %w = default) -> main(%x), %w constant: the default is what everybody uses"
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and _freeze(func):
                remarks_of(op).add(self.name, func, FROZEN)
                version = op.attributes.get("onnx.ir_version", int_attr(CONSTANT_INITIALIZERS))
                if version.value.data < CONSTANT_INITIALIZERS:  # pyright: ignore
                    op.attributes["onnx.ir_version"] = int_attr(CONSTANT_INITIALIZERS)
        refresh_signatures(op)


def _freeze(func: FuncOp) -> bool:
    if func.arg_attrs is None:
        return False
    block = func.body.block
    rows = list(func.arg_attrs.data)
    kept: list[DictionaryAttr] = []
    for argument, row in zip(list(block.args), rows, strict=True):
        default = row.data.get("onnx.default")
        if not isinstance(default, TensorAttr):
            kept.append(row)
            continue
        constant = ConstantOp.of(default)
        constant.location = argument.location
        first = block.first_op
        assert first is not None
        block.insert_op_before(constant, first)
        argument.replace_all_uses_with(constant.results[0])
        block.erase_arg(argument)
    func.properties["arg_attrs"] = ArrayAttr(kept)
    return len(kept) != len(rows)
