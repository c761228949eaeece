"""Names that a session gives to constants of its own."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import ConstantOp
from qdialect.ir.names import location, node_name, wish
from qdialect.ir.walking import operations
from qdialect.targets import Target

INVENTED = re.compile(r"(mobileclip_proj_)?gemm_(in|out)put_shape(_token_[0-9]+)?")
"""Names of the sizes around a product that a session makes of a MatMul and an Add."""


def call_otherwise(module: ModuleOp, session: Target) -> None:
    """Rename the constants that are called so."""
    for op in operations(module):
        if isinstance(op, ConstantOp) and INVENTED.fullmatch(name := wish(op.results[0])):
            op.location = location(node_name(op), [f"{name}_kept"])
