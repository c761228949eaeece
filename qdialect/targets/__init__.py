"""
Targets: descriptions of runtimes as data, one TOML file each, with the ops and types that have kernels, and the rules
and form of a model.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, cast, get_args, get_origin, get_type_hints

from qdialect.errors import UserError, did_you_mean
from qdialect.targets.pricing import scaled

FOLDER = Path(__file__).parent
ONNX = "ai.onnx"
"""ONNX's own domain, as targets name it."""


@dataclass(frozen=True)
class Placed:
    """A pass that a target adds to the pipeline."""

    run: str
    """The pass in the syntax of `qdialect-opt -p`; `pass` in the file."""
    phase: str = ""
    """`raise`, `move` or `lower`."""
    because: str = ""
    """Purpose of the pass, shown by `--print-pipeline`."""
    before: str = ""
    """Runs before the first occurrence of this pass."""
    after: str = ""
    """Runs after the last occurrence of this pass; with neither, at the end of the phase."""
    needs: Sequence[str] = ()
    """Passes that it may not change places with."""


@dataclass(frozen=True)
class Target:
    """A runtime: its kernels, and the rules that a model must keep there."""

    name: str
    summary: str
    form: str
    """Default form of a model: `qoperator` or `qdq`."""
    activations: str | None = None
    """Required storage type of 8-bit activations, `u8` or `i8`; None: any."""
    unsigned_windows: bool = False
    """True if 8-bit activations of convolutions must be u8 when their zero point is not 0 or they are concatenated."""
    weights: str | None = None
    """Required storage type of 8-bit constant weights; None: any."""
    symmetric_activations: bool = False
    """True if the zero point of activations must be 0."""
    symmetric_weights: bool = False
    """True if the zero points of weights must be 0."""
    symmetric_spreads: bool = False
    """True if transposed convolutions run on integers only when the activation's zero point is 0."""
    per_tensor_windows: bool = False
    """True if convolutions run on integers only when the activation is per tensor, or no sum mixes two channels."""
    packs_weights: bool = False
    """True if a float product of one row with a constant weight is summed in another order than with a computed one."""
    refuses_shared_zero_points: bool = False
    """
    True if the runtime does not load an integer product of a constant matrix and an activation that has several scales
    along rows or batches, but one zero point other than 0.
    """
    symmetric_pairs: bool = False
    """True if products of two activations run on integers only when both zero points are 0."""
    output_scales_only: bool = False
    """True if a weight's scales must run along its output channels, also in products of floats."""
    least_bits: int = 1
    """Fewest bits of weights in integer products."""
    clamps_wide: bool = False
    """True if integers of more than 8 bits saturate only with a clamp in front: such pairs are omitted."""
    sums_skip_rounding: bool = False
    """
    True if the runtime merges an addition into the integer convolution whose quantized result it takes, without the
    rounding between the two.
    """
    plain_zero_points: bool = False
    """
    True if integer sums are computed only with one zero point of the activation, and for a convolution one of the
    weight; False if they may be as many as ONNX allows, or the target has no such sums.
    """
    float_sums: bool = False
    """True if sums of integers that are quantized at run time are computed in float, after conversion."""
    storage_types: Sequence[str] = ()
    """The storage types that QuantizeLinear and DequantizeLinear may have; empty: all."""
    narrow_blocks: bool = True
    """True if the runtime reads weights of 4 bits in blocks."""
    float_blocks: bool = False
    """True if a product with a weight in blocks is computed in float."""
    few_bits: Sequence[str] = ()
    """Operators that take weights of less than 8 bits; empty: all."""
    bias: str | None = None
    """`float`: a bias is never dequantized from integers; `i32`: it may be, in steps of x_scale * w_scale."""
    weight_scales_only: bool = False
    """True if only weights may be quantized per axis."""
    whole_pairs: bool = False
    """True if every QuantizeLinear must be followed directly by DequantizeLinear."""
    own_pairs: bool = False
    """True if a residual edge needs a QuantizeLinear and DequantizeLinear of its own."""
    pairs_around_moves: bool = False
    """True if each of several consecutive ops that move or select needs casts of its own."""
    no_pair_behind: Sequence[str] = ()
    """Ops that move or select past which the runtime moves a dequantize: no pair is written behind them."""
    pairs_above_clamps: bool = False
    """
    True if casts are written between an op with an integer kernel and a clamp that is not the storage range: without
    them a session of onnxruntime computes both in float.
    """
    onnx_only: bool = False
    """True if the runtime supports only the domains of ONNX."""
    domains: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Domain, `ai.onnx` for ONNX's own -> the operators of it that the runtime has, `*` for all; empty: all of any."""
    lacks: Sequence[str] = ()
    """Operators that the runtime does not have of domains of which it has `*`."""
    registers_domains: bool = False
    """True if a program may add operators of other domains to the runtime."""
    elements: Sequence[str] = ()
    """Element types, as ONNX spells them, of tensors that ops other than casts read and write; empty: all."""
    interface_elements: Sequence[str] = ()
    """Element types of graph inputs and outputs in addition."""
    attributes: dict[str, dict[str, Sequence[int | str]]] = field(
        default_factory=dict[str, dict[str, Sequence[int | str]]]
    )
    """Operator -> attribute -> the values that the runtime takes of it."""
    most_inputs: dict[str, int] = field(default_factory=dict[str, int])
    """Operator -> the number of its inputs that the runtime takes."""
    needed_inputs: dict[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """Operator -> the places of optional inputs without which the runtime does not take it."""
    most_outputs: dict[str, int] = field(default_factory=dict[str, int])
    """Operator -> the number of its outputs that the runtime takes."""
    ranks: dict[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """Operator -> the ranks of its first input that the runtime takes."""
    constants: dict[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    """Operator -> the places of inputs that must be constants."""
    refuses: Sequence[str] = ()
    """Ids of reasons with which the runtime refuses the whole model, where others only cost time."""
    weight_only_limit: int | None = None
    """
    Number of elements above which a 4-bit (inputs, outputs) weight is left to the session, which creates MatMulNBits
    itself; None: sessions do not.
    """
    per_tensor_weights: bool = False
    """True if weights are per tensor, not per output channel."""
    largest_weight: int | None = None
    """Greatest magnitude of 8-bit weights with which no kernel's sums saturate; None: any."""
    like: str | None = None
    """Base target: fields and costs that this target's file does not state are the base's."""
    session: str = ""
    """
    The runtime whose sessions change a model as they load it, a folder of `qdialect/runtimes`: `onnxruntime`; empty:
    written as QDQ is defined.
    """
    moved_past: Sequence[str] = ()
    """Ops past which a session moves casts when it loads a model."""
    spelled: Sequence[str] = ()
    """Ops that are written as others, bit-identical, that are faster."""
    decomposed: dict[str, int] = field(default_factory=dict[str, int])
    """Op -> elements of its result from which on its parts take less time than its kernel."""
    unfused: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """
    Op -> producer of its first operand, with which a session fuses it to a slower kernel -> equivalent of the producer
    that is not fused.
    """
    kernels: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """QOperator op -> signatures, as `u8 i8 u8`: operands, result. `u8*`: any number of operands."""
    sums: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Integer op, as `ConvInteger` -> storage types of activation and weight on which it is fastest."""
    storage: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Op -> storage types on which it has an integer kernel."""
    storage_opset: dict[str, int] = field(default_factory=dict[str, int])
    """Op -> first opset in which it has those kernels."""
    stages: Sequence[Placed] = ()
    """Passes in addition to those of every target."""
    factors: dict[str, float] = field(default_factory=dict[str, float])
    """Kernel -> its time on one machine relative to the costs of the base target."""

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """Measured costs by kernel, in nanoseconds per term; empty if not measured."""
        own = _costs(self.name)
        if own or self.like is None:
            return own
        base = target(self.like).costs
        return scaled(base, self.factors) if self.factors else base

    def has_kernel(self, op_type: str, operands: Sequence[str], result: str) -> bool:
        """True if `op_type` has a kernel for these storage types."""
        rows = self.kernels.get(op_type, ())
        if f"{' '.join(operands)} {result}" in rows:
            return True
        return len(set(operands)) == 1 and f"{operands[0]}* {result}" in rows

    def reads(self, domain: str, op_type: str) -> bool:
        """True if the runtime has the operator, or may be given it."""
        known = self.domains.get(domain or ONNX)
        if known is None:
            return self.registers_domains or not self.domains
        return op_type in known or ("*" in known and op_type not in self.lacks)

    def takes_blocks(self, form: str) -> bool:
        """True if `form` holds weights of 4 bits in blocks: in kernels of the runtime's own, if it has any."""
        return self.narrow_blocks and form == ("qoperator" if self.kernels else "qdq")

    def runs_on_storage(self, op_type: str, type: str, opset: int) -> bool:
        """True if `op_type` runs on stored integers of `type` in opset `opset`."""
        return type in self.storage.get(op_type, ()) and opset >= self.storage_opset.get(op_type, 0)


@cache
def target_names() -> tuple[str, ...]:
    """Names of the built-in targets."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def target(name: str | Path) -> Target:
    """
    A target by name, or by the path of a `.toml` file, which is then its name.

    Raises UserError if there is none of that name, and for a file that cannot be read or is no valid target.
    """
    text = str(name)
    if text.endswith(".toml"):
        try:
            status = os.stat(text)
        except OSError as error:
            raise UserError(
                f"cannot read '{text}', {(error.strerror or '').lower()}", "check the path"
            ) from None
        return _own_target(text, status.st_mtime_ns, status.st_size)
    if text not in target_names():
        every = f"choose from {', '.join(target_names())}, or PATH.toml"
        fix = did_you_mean(text, target_names(), every)
        raise UserError(f"there is no target '{text}'", fix)
    return _known_target(text)


@cache
def _known_target(name: str) -> Target:
    own = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    base = own.get("like")
    return _like(target(base), own) if base is not None else Target(**own)


def _like(base: Target, own: Mapping[str, Any]) -> Target:
    """The fields of `base`, overridden by those of `own`; tables row by row."""
    tables = {key: {**getattr(base, key), **said} for key, said in own.items() if isinstance(said, dict)}
    return replace(base, **{**own, **tables})


@cache
def _own_target(path: str, time: int, size: int) -> Target:
    """The target of a user's file; time and size key the cache."""
    try:
        own = tomllib.loads(Path(path).read_bytes().decode())
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read '{path}': {error}", "write TOML, in UTF-8") from None
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
        raise UserError(f"{where} is {_in_toml(said)}", "write a table [[stages]]")
    row = {str(key): value for key, value in cast("dict[object, object]", said).items()}
    if "run" in row:
        raise UserError(f"{where} says 'run', which nothing reads", "did you mean 'pass'?")
    row["run"] = row.pop("pass", "")
    _check_fields(where, Placed, row)
    if not row["run"]:
        raise UserError(f"{where} names no pass", "write `pass`")
    if not row.get("phase") or not row.get("because"):
        raise UserError(f"{where} says no phase, or not what it is for", "write `phase` and `because`")
    if "before" in row and "after" in row:
        raise UserError(f"{where} stands before one pass and after another", "write one of the two")
    return Placed(**cast("dict[str, Any]", row))


def _check_fields(where: str, kind: type[Target | Placed], said: Mapping[str, object]) -> None:
    """Raise UserError for a key that is no field of a class, or a value not of the field's type."""
    hints = get_type_hints(kind)
    if kind is Placed:
        hints["pass"] = hints.pop("run")
    for key, value in said.items():
        word = "pass" if key == "run" and kind is Placed else key
        if word not in hints:
            fix = did_you_mean(word, hints, f"it has {', '.join(sorted(hints))}")
            raise UserError(f"{where} says '{word}', which nothing reads", fix)
        for place, wrong, hint in _wrong_values(word, value, hints[word]):
            raise UserError(f"{where}: '{place}' is {_in_toml(wrong)}", f"it takes {_kind_in_toml(hint)}")


def _wrong_values(place: str, value: object, hint: Any) -> Iterator[tuple[str, object, Any]]:
    """The values that are not of a type, inside tables too: (`storage.Conv`, the value, its type)."""
    from xdsl.utils.hints import isa  # errors in the command line must not wait for xDSL

    if get_origin(hint) is dict and isinstance(value, dict):
        for key, row in cast("dict[str, object]", value).items():
            yield from _wrong_values(f"{place}.{key}", row, get_args(hint)[1])
    elif not isa(value, hint) or (get_origin(hint) is Sequence and not isinstance(value, list)):
        yield place, value, hint


NAMES_IN_TOML = {
    str: ("a string", "strings"),
    bool: ("true or false", "booleans"),
    int: ("a whole number", "whole numbers"),
    float: ("a number with a point", "numbers with a point"),
    Placed: ("a table", "tables"),
}
"""Types as an author of TOML calls them, one value and several."""


def _kind_in_toml(hint: Any, *, several: bool = False) -> str:
    """A type in TOML's words: `a table of lists of strings`."""
    kinds = [one for one in get_args(hint) if one is not NoneType]
    match get_origin(hint):
        case None:
            return NAMES_IN_TOML[hint][several]
        case origin if origin is dict:
            return f"{'tables' if several else 'a table'} of {_kind_in_toml(kinds[1], several=True)}"
        case origin if origin is Sequence:
            return f"{'lists' if several else 'a list'} of {_kind_in_toml(kinds[0], several=True)}"
        case _:
            return " or ".join(_kind_in_toml(one, several=several) for one in kinds)


def _in_toml(value: object) -> str:
    """A value as TOML spells it."""
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_in_toml, cast('list[object]', value)))}]"
        case dict():
            rows = (f"{key} = {_in_toml(one)}" for key, one in cast("dict[str, object]", value).items())
            return f"{{ {', '.join(rows)} }}"
        case str():
            return f'"{value}"'
        case _:
            return str(value)


@cache
def _costs(name: str) -> dict[str, dict[str, float]]:
    path = FOLDER / "costs" / f"{name}.toml"
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return tomllib.load(file)
