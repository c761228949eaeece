"""ONNX operation classes: one per operator of the snapshot, with its promises as traits, built on first use."""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.ir import OpTraits
from xdsl.traits import OpTrait, Pure

from qdialect.dialects.onnx_base import RANDOM, ConstantOp, OnnxOp
from qdialect.dialects.schemas import snapshot
from qdialect.dialects.snapshot import MICROSOFT
from qdialect.ops.outside import custom_class as custom_class
from qdialect.promises.table import promises_of

DIALECT_DOMAINS = {"onnx": "", "onnx_ml": "ai.onnx.ml", "onnx_ms": MICROSOFT}
DOMAIN_DIALECTS = {domain: dialect for dialect, domain in DIALECT_DOMAINS.items()}

WRITTEN: dict[tuple[str, str], type[OnnxOp]] = {("", "Constant"): ConstantOp}


@cache
def op_class(domain: str, name: str) -> type[OnnxOp] | None:
    """The class of an operator with its promises; None if the snapshot has no such operator."""
    schema = snapshot().find(domain, name)
    if schema is None:
        return None
    if (written := WRITTEN.get((domain, name))) is not None:
        written.SCHEMA = schema
        return written

    def traits() -> tuple[OpTrait, ...]:
        purity: tuple[OpTrait, ...] = () if name in RANDOM else (Pure(),)
        return (*purity, *promises_of(domain, name))

    body: dict[str, Any] = {
        "name": f"{DOMAIN_DIALECTS[domain]}.{name}",
        "SCHEMA": schema,
        "traits": OpTraits(traits),
        "__module__": __name__,
    }
    return type(f"{name}Op", (OnnxOp,), body)


def op_named(domain: str, name: str) -> type[OnnxOp]:
    """The class of an operator. LookupError if the snapshot has no such operator."""
    if (named := op_class(domain, name)) is None:
        raise LookupError(f"no operator {domain}::{name}")
    return named
