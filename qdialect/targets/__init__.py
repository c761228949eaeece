"""
Targets are data: one TOML file each, beside this one, says which ops on which types have a kernel and what form a model
takes there.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast, get_type_hints

from qdialect.errors import UserError, did_you_mean
from qdialect.targets.pricing import scaled

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Placed:
    """A pass that a target adds to the pipeline."""

    run: str
    """The pass, as `qdialect-opt -p` takes it; `pass` in the file."""
    phase: str = ""
    """`raise`, `move` or `lower`."""
    because: str = ""
    """What it is for, which `--print-pipeline` shows."""
    before: str = ""
    """The pass in front of the first occurrence of which it runs."""
    after: str = ""
    """The pass behind the last occurrence of which it runs; with neither, it is the last of the phase."""
    needs: Sequence[str] = ()
    """Passes that it may not change places with."""


@dataclass(frozen=True)
class Target:
    """What a runtime takes."""

    name: str
    summary: str
    form: str
    """The form a model takes by default: `qoperator` or `qdq`."""
    activations: str | None = None
    """The storage type that 8-bit activations take, `u8` or `i8`; None: as they are."""
    unsigned_windows: bool = False
    """Whether 8-bit activations of convolutions must be u8 if their zero point is not 0, or they are concatenated."""
    weights: str | None = None
    """The storage type that 8-bit constant weights take; None: as they are."""
    symmetric_activations: bool = False
    """Whether an activation's zero point must be 0."""
    symmetric_weights: bool = False
    """Whether a weight's zero points must be 0."""
    symmetric_spreads: bool = False
    """Whether a transposed convolution is in integers only if its activation has zero point 0."""
    per_tensor_windows: bool = False
    """Whether a convolution is in integers only if its activation has one scale, or no sum mixes two channels."""
    symmetric_pairs: bool = False
    """Whether a product of two activations is in integers only if both have zero point 0."""
    output_scales_only: bool = False
    """Whether the scales of a weight must run along its output channels, of a product of floats too."""
    least_bits: int = 1
    """The bits of the narrowest weights that products of integers take."""
    clamps_wide: bool = False
    """Whether integers of more than 8 bits saturate only by a clamp in front: such pairs are left out."""
    sums_skip_rounding: bool = False
    """
    Whether an addition that reads the quantized result of a convolution in integers is merged into it, and the rounding
    between the two is left out.
    """
    float_sums: bool = False
    """Whether sums of integers that are quantized at run time are computed in float, behind conversions."""
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
    no_pair_behind: Sequence[str] = ()
    """Ops that move or select past which the runtime moves a dequantize: no pair stands behind one of them."""
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
    spelled: Sequence[str] = ()
    """Ops that are written with others, bit for bit the same, as these are faster."""
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
    stages: Sequence[Placed] = ()
    """Passes besides those of every target."""
    factors: dict[str, float] = field(default_factory=dict[str, float])
    """Kernel -> what it takes on one machine, of what the costs of the target say that this one is like."""

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """What the forms of a convolution with a float result cost, by kernel; none where nobody measured."""
        own = _costs(self.name)
        if own or self.like is None:
            return own
        base = target(self.like).costs
        return scaled(base, self.factors) if self.factors else base

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
    """The targets that there are without a file of one's own."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def target(name: str | Path) -> Target:
    """
    A target by name, or by the path of a file that ends in `.toml`, whose path is then its name.

    Raises UserError if there is none of that name, and for a file that cannot be read or does not say what a target is.
    """
    text = str(name)
    if text.endswith(".toml"):
        try:
            status = os.stat(text)
        except OSError as error:
            raise UserError(
                f"cannot read target '{text}', {(error.strerror or '').lower()}", "check the path"
            ) from None
        return _own_target(text, status.st_mtime_ns, status.st_size)
    if text not in target_names():
        every = f"choose from {', '.join(target_names())}, or PATH.toml"
        fix = did_you_mean(text.lower(), target_names(), every)
        raise UserError(f"there is no target '{text}'", fix)
    return _known_target(text)


@cache
def _known_target(name: str) -> Target:
    own = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    base = own.get("like")
    return _like(target(base), own) if base is not None else Target(**own)


def _like(base: Target, own: Mapping[str, Any]) -> Target:
    """Another target, but for what is said: of a table, row by row."""
    tables = {key: {**getattr(base, key), **said} for key, said in own.items() if isinstance(said, dict)}
    return replace(base, **{**own, **tables})


@cache
def _own_target(path: str, time: int, size: int) -> Target:
    """The target of a file outside, as it was at that time."""
    try:
        own = tomllib.loads(Path(path).read_bytes().decode())
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read target '{path}': {error}", "write TOML, in UTF-8") from None
    base = own.get("like")
    if isinstance(base, str) and base.endswith(".toml"):
        raise UserError(f"target '{path}' is like '{base}'", f"choose from {', '.join(target_names())}")
    own["stages"] = [_placed(path, one) for one in own.get("stages", ())]
    own["name"] = path
    _check_fields(f"target '{path}'", Target, own)
    if isinstance(base, str):
        return _like(target(base), own)
    if missing := {"form", "summary"} - set(own):
        raise UserError(
            f"target '{path}' does not say its {min(missing)}", "write it, or the target that it is like"
        )
    return Target(**own)


def _placed(path: str, said: object) -> Placed:
    where = f"a stage of target '{path}'"
    if not isinstance(said, dict):
        raise UserError(f"{where} is {said!r}", "write a table [[stages]]")
    row = {str(key): value for key, value in cast("dict[object, object]", said).items()}
    row["run"] = row.pop("pass", None)
    _check_fields(where, Placed, row)
    if not row.get("phase") or not row.get("because"):
        raise UserError(f"{where} says no phase, or not what it is for", "write `phase` and `because`")
    if "before" in row and "after" in row:
        raise UserError(f"{where} stands before one pass and after another", "write one of the two")
    return Placed(**cast("dict[str, Any]", row))


def _check_fields(where: str, kind: type[Target | Placed], said: Mapping[str, object]) -> None:
    """Raise UserError for a word that is no field of a class, or whose value is not of the field's type."""
    from xdsl.utils.hints import isa, type_repr  # a wrong word on the command line does not wait for xDSL

    hints = get_type_hints(kind)
    for key, value in said.items():
        word = "pass" if key == "run" else key
        if key not in hints:
            fix = did_you_mean(key, hints, f"it has {', '.join(sorted(hints))}")
            raise UserError(f"{where} says '{word}', which nothing reads", fix)
        if not isa(value, hints[key]):
            raise UserError(f"{where}: '{word}' is {value!r}", f"it takes {type_repr(hints[key])}")


@cache
def _costs(name: str) -> dict[str, dict[str, float]]:
    path = FOLDER / "costs" / f"{name}.toml"
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return tomllib.load(file)
