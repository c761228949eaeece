"""Opset and IR versions newer than onnxruntime supports, lowered if no operator in use has changed since."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from qdialect.dialects.onnx_base import FunctionOp, OnnxOp, opset_of
from qdialect.dialects.onnx_verify import verify_at
from qdialect.dialects.schemas import Version, snapshot
from qdialect.errors import UserError
from qdialect.ir.names import called

MAX_OPSET = 26
MAX_IR_VERSION = 13
"""Greatest IR version that onnxruntime 1.31 reads."""

IMPORTS = "onnx.opset_import"


@cache
def newest_known() -> int:
    """The newest opset of ai.onnx in which an operator of the snapshot came or changed."""
    return snapshot().newest("")


def version_of(imports: Attribute | None) -> int:
    """The opset of ai.onnx among a module's imports; 0 if there is none."""
    version = imports.data.get("ai.onnx") if isinstance(imports, DictionaryAttr) else None
    return version.value.data if isinstance(version, IntegerAttr) else 0


def _lowered(imports: Attribute) -> DictionaryAttr:
    assert isinstance(imports, DictionaryAttr)
    return DictionaryAttr({**imports.data, "ai.onnx": IntegerAttr(MAX_OPSET, i64)})


def _same(op: OnnxOp, ours: Version, theirs: Version) -> bool:
    """True if the newer version only adds types or attributes that `op` does not use."""
    for old, new in ((ours.inputs, theirs.inputs), (ours.outputs, theirs.outputs)):
        if [(p.name, p.option) for p in old] != [(p.name, p.option) for p in new]:
            return False
    try:
        verify_at(op, MAX_OPSET)
    except VerifyException:
        return False
    return True


def _check(op: OnnxOp) -> None:
    opset = opset_of(op, "")
    if opset is None or opset <= MAX_OPSET or op.SCHEMA is None or op.domain:
        return
    ours, theirs = op.SCHEMA.at(MAX_OPSET), op.SCHEMA.at(opset)
    if ours is None or theirs is None or not (ours.since == theirs.since or _same(op, ours, theirs)):
        since = op.SCHEMA.versions[-1].since if theirs is None else theirs.since
        raise UserError(
            f"{op.op_type} '{called(op)}' changed in opset {since}, but onnxruntime reads opsets up to {MAX_OPSET}",
            f"export the model with opset {MAX_OPSET}",
        )


def lower_opsets(module: ModuleOp) -> None:
    """
    Lower the module's opset to `MAX_OPSET` and its IR version to `MAX_IR_VERSION` if they are newer.

    Raises UserError if an op in use has changed since, or may have, in an opset newer than the snapshot.
    """
    scopes: list[Operation] = [module, *(op for op in module.ops if isinstance(op, FunctionOp))]
    newest = max(
        version_of(scope.attributes.get(IMPORTS) or scope.properties.get(IMPORTS)) for scope in scopes
    )
    if newest > MAX_OPSET:
        if newest > newest_known():
            raise UserError(
                f"the model imports opset {newest}; the newest supported one is {newest_known()}",
                f"export it with opset {MAX_OPSET}, the newest that onnxruntime reads",
            )
        for op in module.walk():
            if isinstance(op, OnnxOp):
                _check(op)
        for scope in scopes:
            for attributes in (scope.attributes, scope.properties):
                if version_of(imports := attributes.get(IMPORTS)) > MAX_OPSET and imports is not None:
                    attributes[IMPORTS] = _lowered(imports)
    version = module.attributes.get("onnx.ir_version")
    if isinstance(version, IntegerAttr) and version.value.data > MAX_IR_VERSION:
        module.attributes["onnx.ir_version"] = IntegerAttr(MAX_IR_VERSION, i64)


def import_domains(module: ModuleOp) -> None:
    """Add imports for the domains of all ops: passes write nodes of domains that the model did not import."""
    imports = module.attributes.get(IMPORTS)
    if not isinstance(imports, DictionaryAttr):
        return
    used = {op.SCHEMA.domain for op in module.walk() if isinstance(op, OnnxOp) and op.SCHEMA is not None}
    missing = sorted(domain for domain in used if domain and domain not in imports.data)
    if missing:
        module.attributes[IMPORTS] = DictionaryAttr(
            {**imports.data, **{d: IntegerAttr(1, i64) for d in missing}}
        )
