"""
Targets are data: one TOML file each, beside this one, says which ops on which types have a kernel and what form a model
takes there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from qdialect.errors import UserError

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Target:
    """What a runtime takes."""

    name: str
    summary: str
    form: str
    """The form a model takes by default: `qoperator` or `qdq`."""
    activations: str | None = None
    """The storage type that 8-bit activations take, `u8` or `i8`; None: as they are."""
    weights: str | None = None
    """The storage type that 8-bit constant weights take; None: as they are."""
    symmetric_activations: bool = False
    """Whether an activation's zero point must be 0."""
    symmetric_weights: bool = False
    """Whether a weight's zero points must be 0."""
    storage_types: Sequence[str] = ()
    """The storage types that QuantizeLinear and DequantizeLinear may have; empty: all."""
    bias: str | None = None
    """`float`: a bias is never dequantized from integers; `i32`: it may be, in steps of x_scale * w_scale."""
    weight_scales_only: bool = False
    """Whether only weights may have a scale for each channel."""
    whole_pairs: bool = False
    """Whether every QuantizeLinear is read by DequantizeLinear, with nothing between."""
    own_pairs: bool = False
    """Whether a residual edge wants a QuantizeLinear and DequantizeLinear of its own."""
    pairs_around_moves: bool = False
    """Whether each of several ops in a row that move or select wants casts of its own around it."""
    pairs_above_clamps: bool = False
    """
    Whether casts stand between an op with an integer kernel and a clamp behind it that the storage range is not:
    without them a session of onnxruntime computes both in float.
    """
    onnx_only: bool = False
    """Whether it reads ONNX's own operators and no other domain's."""
    weight_only_limit: int | None = None
    """
    A 4-bit (inputs, outputs) weight of more elements than this is left to the session, which makes MatMulNBits of it
    itself; None: no session does.
    """
    per_tensor_weights: bool = False
    """Whether a weight has one scale, not one for each output channel."""
    largest_weight: int | None = None
    """The largest magnitude of an 8-bit weight that no kernel's sums saturate with; None: any."""
    like: str | None = None
    """The target that this one is but for what its file says; its costs are this one's too."""
    moved_past: Sequence[str] = ()
    """Ops past which a session moves casts itself when it loads a model."""
    unfused: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """
    Op -> op that makes its first operand, with which a session makes a slower kernel of it, -> op that computes the
    same as the latter and is left alone.
    """
    kernels: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """QOperator op -> signatures, as `u8 i8 u8`: operands, result. `u8*`: any number of operands."""
    sums: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Op that sums integers -> the storage types of activation and weight on which it is the fastest."""
    storage: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Op -> storage types that it runs on as integers."""
    storage_opset: dict[str, int] = field(default_factory=dict[str, int])
    """Op -> the first opset in which it does."""

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """What the forms of a convolution with a float result cost, by kernel; none where nobody measured."""
        return _costs(self.like or self.name)

    def has_kernel(self, op_type: str, operands: Sequence[str], result: str) -> bool:
        """Whether `op_type` has a kernel for these storage types."""
        rows = self.kernels.get(op_type, ())
        if f"{' '.join(operands)} {result}" in rows:
            return True
        return len(set(operands)) == 1 and f"{operands[0]}* {result}" in rows

    def runs_on_storage(self, op_type: str, type: str, opset: int) -> bool:
        """Whether `op_type` runs on integers of `type` in that opset."""
        return type in self.storage.get(op_type, ()) and opset >= self.storage_opset.get(op_type, 0)


def target_names() -> list[str]:
    """The targets there are."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def target(name: str) -> Target:
    """A target by name. Raises UserError if there is none of that name."""
    path = FOLDER / f"{name}.toml"
    if name not in target_names():
        raise UserError(f"there is no target '{name}'", f"choose from {', '.join(target_names())}")
    with path.open("rb") as file:
        own = tomllib.load(file)
    base = own.get("like")
    return replace(target(base), **own) if base is not None else Target(**own)


@cache
def _costs(name: str) -> dict[str, dict[str, float]]:
    path = FOLDER / "costs" / f"{name}.toml"
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return tomllib.load(file)
