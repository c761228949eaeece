"""
Write `schemas.jsonl`, the schemas that op classes are generated from, so that parsing text needs no import of onnx.

    python -m qdialect.dialects.snapshot

Takes every version of every operator of ai.onnx and ai.onnx.ml from the installed onnx, and com.microsoft from the
installed onnxruntime. A test holds the file against the installed onnx.
"""

import importlib
import json
from pathlib import Path
from typing import Any

from qdialect.dialects.schemas import AttributeKind

SNAPSHOT = Path(__file__).with_name("schemas.jsonl")
MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""
DOMAINS = ("", "ai.onnx.ml", MICROSOFT)
OPTION_LETTERS = {"Single": "S", "Optional": "O", "Variadic": "V"}


def _option(parameter: Any) -> str:
    name = str(parameter.option).rpartition(".")[2]
    return OPTION_LETTERS[name]


def _parameters(parameters: Any, constraints: dict[str, list[str]]) -> list[list[Any]]:
    rows: list[list[Any]] = []
    for p in parameters:
        # onnx and onnxruntime name the same fields in two styles.
        type_str: str = p.type_str if hasattr(p, "type_str") else p.typeStr
        homogeneous: bool = p.is_homogeneous if hasattr(p, "is_homogeneous") else p.isHomogeneous
        if type_str not in constraints:  # a type written in place of a type variable
            constraints[type_str] = sorted(map(str, p.types)) or [type_str]
        rows.append([p.name, _option(p), type_str, int(homogeneous)])
    return rows


def _attributes(schema: Any) -> list[list[Any]]:
    return [
        [a.name, int(AttributeKind[str(a.type).rpartition(".")[2]]), int(a.required)]
        for a in sorted(schema.attributes.values(), key=lambda a: a.name)
    ]


def snapshot() -> list[list[Any]]:
    """
    The installed schemas, in lines: `[[type, ...], ...]`, then for each operator `[domain, name, versions]`.

    A version is [since, deprecated, inputs, outputs, attributes, {type variable: index into types}]; a parameter
    [name, S|O|V, type variable, homogeneous]; an attribute [name, AttributeProto.AttributeType, required].
    """
    import onnx.defs

    runtime = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")

    schemas: list[Any] = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS[:2]]
    schemas += [s for s in runtime.get_all_operator_schema() if s.domain == DOMAINS[2]]
    types: dict[tuple[str, ...], int] = {}
    ops: dict[tuple[str, str], list[Any]] = {}
    for s in sorted(schemas, key=lambda s: (s.domain, s.name, s.since_version)):
        constraints = {c.type_param_str: sorted(map(str, c.allowed_type_strs)) for c in s.type_constraints}
        inputs, outputs = _parameters(s.inputs, constraints), _parameters(s.outputs, constraints)
        indices = {k: types.setdefault(tuple(v), len(types)) for k, v in constraints.items()}
        version = [s.since_version, int(s.deprecated), inputs, outputs, _attributes(s), indices]
        ops.setdefault((s.domain, s.name), []).append(version)
    return [[list(t) for t in types], *([*key, versions] for key, versions in ops.items())]


if __name__ == "__main__":
    SNAPSHOT.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in snapshot()))
