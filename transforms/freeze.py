"""
Turn initializers that are also graph inputs into constants.

    main(%x, %w = default)  ->  main(%x), %w a constant

Exact for every caller that leaves the default alone; an input that only old exporters listed is no input. onnxruntime
packs a constant weight unless told not to, and then sums a product of one row in another order.
"""
# Around the driver: arguments and signatures are no operations; their users change through the driver.

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from qdialect.dialects.onnx_attributes import int_attr
from qdialect.dialects.onnx_base import ConstantOp
from qdialect.dialects.onnx_tensor import TensorAttr
from qdialect.exactness import Exactness
from qdialect.reasons import Blocked
from qdialect.rewriting.driver import Rewriter, rewriting
from qdialect.rewriting.passes import Pass, Role

FROZEN = Blocked(
    "frozen-input",
    "initializers that are also graph inputs became constants",
    "keep them with --keep-overridable",
)
CONSTANT_INITIALIZERS = 4
"""First IR version in which an initializer need not be an input."""


class FreezePass(Pass):
    name = "freeze"
    exactness = Exactness.EXACT
    role = Role.SIMPLIFYING
    reasons = "frozen-input"
    rewrite = "main(%x, %w = default) -> main(%x), %w constant: the default is what everybody uses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with rewriting(op, self.name) as rewriter:
            for func in op.ops:
                if isinstance(func, FuncOp) and rewriter.attempt(func, "Freeze", _freeze):
                    version = op.attributes.get("onnx.ir_version", int_attr(CONSTANT_INITIALIZERS))
                    if version.value.data < CONSTANT_INITIALIZERS:  # pyright: ignore
                        op.attributes["onnx.ir_version"] = int_attr(CONSTANT_INITIALIZERS)


def _freeze(func: FuncOp, rewriter: Rewriter) -> Blocked | None:
    block, rows = func.body.block, list(func.arg_attrs or ())
    inputs: list[DictionaryAttr] = []
    for argument, row in zip(list(block.args), rows, strict=False):
        default = row.data.get("onnx.default")
        if not isinstance(default, TensorAttr):
            inputs.append(row)
            continue
        constant = ConstantOp.of(default)
        constant.location = argument.location
        rewriter.insert_at_start(block, [constant])
        rewriter.replace_uses(argument, constant.results[0])
        block.erase_arg(argument)
    if len(inputs) == len(rows):
        return None
    func.properties["arg_attrs"] = ArrayAttr(inputs)
    return FROZEN
