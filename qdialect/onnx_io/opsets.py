"""Opset and IR versions newer than onnxruntime supports, lowered as far as the operators in use have not changed."""

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
from qdialect.ir.walking import operations
from qdialect.promises.casts import DequantizeForm, QuantizeForm
from qdialect.promises.defaults import MeansMore

MAX_OPSET = 26
"""The opset that models are lowered to: the newest that onnxruntime 1.31 reads."""
MAX_IR_VERSION = 13
"""Greatest IR version that onnxruntime 1.31 reads."""
RUNS_28 = (1, 32)
"""The first onnxruntime that reads opsets 27 and 28."""
CASTS_REFUSED = 28
"""The opset of whose QuantizeLinear and DequantizeLinear no release of onnxruntime has a kernel."""

IMPORTS = "onnx.opset_import"
OWN = "ai.onnx"
"""ONNX's own domain, as a module's imports name it."""


@cache
def newest_known() -> int:
    """The newest opset of ai.onnx in which an operator of the snapshot came or changed."""
    return snapshot().newest("")


def version_of(imports: Attribute | None) -> int:
    """The opset of ai.onnx among a module's imports; 0 if there is none."""
    version = imports.data.get("ai.onnx") if isinstance(imports, DictionaryAttr) else None
    return version.value.data if isinstance(version, IntegerAttr) else 0


@cache
def newest_run() -> int:
    """The newest opset that the installed onnxruntime reads."""
    import onnxruntime

    release = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    return 28 if release >= RUNS_28 else MAX_OPSET


def _lowered(imports: Attribute, opset: int) -> DictionaryAttr:
    assert isinstance(imports, DictionaryAttr)
    return DictionaryAttr({**imports.data, "ai.onnx": IntegerAttr(opset, i64)})


def _same(op: OnnxOp, ours: Version, theirs: Version, opset: int) -> bool:
    """True if the newer version only adds types or attributes that `op` does not use."""
    for old, new in ((ours.inputs, theirs.inputs), (ours.outputs, theirs.outputs)):
        if [(p.name, p.option) for p in old] != [(p.name, p.option) for p in new]:
            return False
    if (newer := op.get_trait(MeansMore)) is not None and opset < newer.since and newer.applies(op):
        return False
    try:
        verify_at(op, opset)
    except VerifyException:
        return False
    return True


def _changed(op: OnnxOp, opset: int) -> int | None:
    """The opset after `opset` with which `op`, of a newer one, came or changed; None if it is the same in both."""
    own = opset_of(op, "")
    if own is None or own <= opset or op.SCHEMA is None or op.domain:
        return None
    ours, theirs = op.SCHEMA.at(opset), op.SCHEMA.at(own)
    if ours is None or theirs is None or not (ours.since == theirs.since or _same(op, ours, theirs, opset)):
        return op.SCHEMA.versions[-1].since if theirs is None else theirs.since
    return None


def _least_opset(module: ModuleOp) -> int:
    """
    The opset, from `MAX_OPSET` on, of which all ops are that came or changed since. Raises UserError if the installed
    onnxruntime does not read it, or does not run it with a cast of the model.
    """
    needed: dict[int, OnnxOp] = {}
    for op in operations(module):
        since = _changed(op, MAX_OPSET) if isinstance(op, OnnxOp) else None
        if since is not None and isinstance(op, OnnxOp):
            needed.setdefault(since, op)
    if not needed:
        return MAX_OPSET
    opset = max(needed)
    first = needed[opset]
    what = f"{first.op_type} '{called(first)}' changed in opset {opset}"
    if opset > newest_run():
        raise UserError(
            f"{what}, but the installed onnxruntime reads opsets up to {newest_run()}",
            f"export the model with opset {newest_run()}, or install onnxruntime 1.32 or later",
        )
    casts = (op for op in operations(module) if isinstance(op, OnnxOp) and not op.domain and _is_cast(op))
    if opset >= CASTS_REFUSED and (cast := next(casts, None)) is not None:
        raise UserError(
            f"{what}, but onnxruntime does not run {cast.op_type} '{called(cast)}' in that opset",
            f"export the model with opset {CASTS_REFUSED - 1}",
        )
    return opset


def _is_cast(op: OnnxOp) -> bool:
    return op.get_trait(QuantizeForm) is not None or op.get_trait(DequantizeForm) is not None


def lower_opsets(module: ModuleOp) -> None:
    """
    Lower the module's opset to the least one, from `MAX_OPSET` on, that has all of its ops, and its IR version to
    `MAX_IR_VERSION`, if they are newer.

    Raises UserError if the installed onnxruntime reads no opset that has an op in use, or if the model imports an
    opset newer than the snapshot.
    """
    scopes: list[Operation] = [module, *(op for op in module.ops if isinstance(op, FunctionOp))]
    newest = max(
        version_of(scope.attributes.get(IMPORTS) or scope.properties.get(IMPORTS)) for scope in scopes
    )
    if newest > MAX_OPSET:
        if newest > newest_known():
            raise UserError(
                f"the model imports opset {newest}; the newest supported one is {newest_known()}",
                f"export it with opset {MAX_OPSET}, the newest that onnxruntime 1.31 reads",
            )
        opset = _least_opset(module)
        for scope in scopes:
            for attributes in (scope.attributes, scope.properties):
                if version_of(imports := attributes.get(IMPORTS)) > opset and imports is not None:
                    attributes[IMPORTS] = _lowered(imports, opset)
    version = module.attributes.get("onnx.ir_version")
    if isinstance(version, IntegerAttr) and version.value.data > MAX_IR_VERSION:
        module.attributes["onnx.ir_version"] = IntegerAttr(MAX_IR_VERSION, i64)


def import_domains(module: ModuleOp) -> None:
    """Import the domains of all ops, of those of functions too, and no others: passes write and remove nodes."""
    imports = module.attributes.get(IMPORTS)
    if not isinstance(imports, DictionaryAttr):
        return
    used = {op.domain for op in module.walk() if isinstance(op, OnnxOp)} - {"", OWN}
    kept = {domain: version for domain, version in imports.data.items() if domain in {OWN, *used}}
    added = {domain: IntegerAttr(1, i64) for domain in sorted(used - set(kept))}
    if added or len(kept) < len(imports.data):
        module.attributes[IMPORTS] = DictionaryAttr({**kept, **added})
