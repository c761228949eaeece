"""
Explanations of reasons, for `qdialect explain ID` and docs/remarks.md: `remarks.toml` has the entries, `fixes.toml` the
fixes in the tools that produce models, `former_ids.toml` the ids of earlier versions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from qdialect.errors import UserError, did_you_mean

TOOLS = {
    "torch": "torch",
    "onnxruntime": "onnxruntime",
    "modelopt": "Model Optimizer",
    "nncf": "NNCF",
    "tf2onnx": "tf2onnx, TFLite",
    "any": "any tool",
}
"""Tools that produce quantized models, by key in `fixes.toml`; `any` applies to all."""


class Entry(NamedTuple):
    """Explanation of one reason."""

    id: str
    means: str
    example: str
    fix: str
    """The fix in short."""
    tools: Mapping[str, str]
    """The fix by name of the tool that produced the model."""

    def lines(self) -> list[str]:
        """The lines that `qdialect explain ID` prints."""
        width = max(len(name) for name in self.tools)
        return [
            f"{self.id}: {self.means}",
            f"example: {self.example}",
            f"fix: {self.fix}",
            *(f"  {name:{width}}  {text}" for name, text in self.tools.items()),
        ]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


@cache
def former_ids() -> dict[str, str]:
    """The id that has the meaning of one of an earlier version, by the earlier one."""
    return {old: id for id, olds in _read("former_ids.toml").items() for old in olds.split()}


@cache
def entries() -> dict[str, Entry]:
    """Every entry, by the id of its reason."""
    fixes = _read("fixes.toml")
    kept: dict[str, Entry] = {}
    for id_, (means, example, kind) in _read("remarks.toml").items():
        fix = fixes[kind]
        tools = {name: fix[key] for key, name in TOOLS.items() if key in fix}
        kept[id_] = Entry(id_, means, example, fix["text"], tools)
    return kept


def entry(id: str) -> Entry:
    """The entry of a reason, also by an id of an earlier version. UserError for an unknown id."""
    id = former_ids().get(id, id)
    if id in entries():
        return entries()[id]
    fix = did_you_mean(id, entries(), "docs/remarks.md lists all")
    raise UserError(f"there is no reason '{id}', nor a model of that name", fix)


class Said(Protocol):
    """A reason, alone or of an operator."""

    @property
    def id(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def fix(self) -> str: ...


def advice(blocked: Said) -> str:
    """The fix of a reason: its own, else that of its entry; empty if it has none."""
    known = entries().get(blocked.id)
    return blocked.fix or ("" if known is None else known.fix)
