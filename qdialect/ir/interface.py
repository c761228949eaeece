"""
Quantization parameters of a graph's integer inputs and outputs: real = scale * (integer - zero point).

The caller of a model with integer inputs or outputs applies them, so they are in the model's metadata, an entry
for each tensor: `qdialect.quantization.NAME` = `{"scale": 0.02, "zero_point": 13}`, lists and an `"axis"` where they
are per axis.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import AnyFloat, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from qdialect import numerics
from qdialect.dialects import quant_text
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import element_of, quantized_of
from qdialect.dialects.quant import StorageCastOp, UniformType
from qdialect.errors import UserError
from qdialect.ir.names import called
from qdialect.ir.values import under
from qdialect.numerics import Array

METADATA = "onnx.metadata"
"""The attribute of a module that becomes ONNX's `metadata_props`."""
PREFIX = "qdialect.quantization."
"""Prefix of an entry's key; the tensor's name follows."""


@dataclass(frozen=True)
class IntegerInterface:
    """Scales and zero points of one integer graph input or output."""

    scales: npt.NDArray[np.float32]
    """Shape (), or (n,) for the n slices along `axis`."""
    zero_points: npt.NDArray[np.int32]
    axis: int | None = None

    def quantize(self, real: Array, dtype: np.dtype[Any]) -> Array:
        """The integers of `dtype`, an integer type, that represent real numbers; their shape must fit the axis."""
        info = np.iinfo(dtype.name)
        return numerics.quantize(
            real.astype(np.float32), self.scales, self.zero_points, info.min, info.max, dtype, self.axis
        )

    def dequantize(self, stored: Array) -> Array:
        """The real numbers, float32, that integers represent."""
        return numerics.dequantize(stored, self.scales, self.zero_points, axis=self.axis)

    def as_json(self) -> dict[str, object]:
        """Scale and zero point, as lists with their axis where they are per axis."""
        scales = [float(text) for text in quant_text.scale_texts(self.scales)]
        if self.axis is None:
            return {"scale": scales[0], "zero_point": int(self.zero_points)}
        return {"scale": scales, "zero_point": self.zero_points.tolist(), "axis": self.axis}

    def __str__(self) -> str:
        if self.axis is None:
            return f"scale {quant_text.scale_texts(self.scales)[0]}, zero point {int(self.zero_points)}"
        return f"{self.scales.size} scales along axis {self.axis}"


def only_module(value: ModuleOp) -> ModuleOp:
    """The module itself. Raises TypeError for another type, as of a report or a path."""
    if not isinstance(value, ModuleOp):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a module is needed, not {type(value).__name__}; `load` reads one, reports have one")
    return value


def main_of(module: ModuleOp) -> FuncOp:
    """The graph. Raises UserError if there is none, or several."""
    mains = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(mains) != 1:
        raise UserError(f"an ONNX model is one func.func, this module has {len(mains)}")
    return mains[0]


def attributes_of_inputs(func: FuncOp) -> list[DictionaryAttr]:
    """The attributes of each input of a graph."""
    rows = list(func.arg_attrs or ())
    return rows + [DictionaryAttr({})] * (len(func.body.block.args) - len(rows))


def interface_names(rows: Iterable[DictionaryAttr] | None, count: int, prefix: str) -> list[str]:
    """ONNX names of a graph's inputs or outputs; `prefix` and the index for one without."""
    names = [f"{prefix}_{k}" for k in range(count)]
    for k, row in enumerate(rows or ()):
        if isinstance(name := row.data.get("onnx.name"), StringAttr):
            names[k] = name.data
    return names


def _reading(value: SSAValue) -> UniformType | None:
    """The one quantized type that an integer input is read as by all its users; None if there is none."""
    types = {
        quantized_of(use.operation.results[0].type) if isinstance(use.operation, StorageCastOp) else None
        for use in value.uses
    }
    return types.pop() if len(types) == 1 else None


def _written(value: SSAValue) -> UniformType | None:
    """The quantized type of the stored integers that an output returns; None if it returns none."""
    source = under(value, StorageCastOp)
    return None if source is None else quantized_of(source.type)


def _typed(func: FuncOp, end: ReturnOp) -> Iterator[tuple[str, UniformType | None]]:
    """The inputs and outputs of a graph, each with the quantized type of its integers."""
    args, results = func.body.block.args, end.operands
    for name, value in zip(interface_names(func.arg_attrs, len(args), "input"), args, strict=True):
        yield name, _reading(value)
    for name, value in zip(interface_names(func.res_attrs, len(results), "output"), results, strict=True):
        yield name, _written(value)


def integer_interface(module: ModuleOp) -> dict[str, IntegerInterface]:
    """Parameters of each graph input and output that holds stored integers of a quantized type, by name."""
    return {
        name: IntegerInterface(type.scales, type.zero_points, type.axis)
        for func in module.ops
        if isinstance(func, FuncOp) and isinstance(end := func.body.block.last_op, ReturnOp)
        for name, type in _typed(func, end)
        if type is not None and type.blocks is None
    }


def note_interface(module: ModuleOp, before: Iterable[str] = ()) -> None:
    """
    Write the parameters of the integer inputs and outputs of a module with one graph into its metadata.

    before: names of those that the model had as integers: what its metadata states of them stays, since scales that
    were folded do not change how the caller quantizes.
    """
    if sum(isinstance(op, FuncOp) for op in module.ops) != 1:
        return
    entries = {
        f"{PREFIX}{name}": StringAttr(json.dumps(one.as_json()))
        for name, one in integer_interface(module).items()
    }
    if entries:
        metadata = module.attributes.get(METADATA)
        rows = metadata.data if isinstance(metadata, DictionaryAttr) else {}
        stated = {key: rows[key] for name in before if (key := PREFIX + name) in rows}
        module.attributes[METADATA] = DictionaryAttr({**rows, **entries, **stated})


def noted_interface(module: ModuleOp) -> dict[str, IntegerInterface]:
    """Parameters of inputs and outputs in a module's metadata. UserError for an entry that cannot be read."""
    rows = module.attributes.get(METADATA)
    entries = rows.data.items() if isinstance(rows, DictionaryAttr) else ()
    return read_interface({key: value.data for key, value in entries if isinstance(value, StringAttr)})


def read_interface(metadata: Mapping[str, str]) -> dict[str, IntegerInterface]:
    """Parameters of inputs and outputs in a model's metadata. UserError for an entry that cannot be read."""
    interface: dict[str, IntegerInterface] = {}
    for key, text in metadata.items():
        if key.startswith(PREFIX):
            try:
                entry = json.loads(text)
                scales, zeros = np.array(entry["scale"], np.float32), np.array(entry["zero_point"], np.int32)
                axis = entry.get("axis")
                interface[key.removeprefix(PREFIX)] = IntegerInterface(
                    scales, zeros, None if axis is None else int(axis)
                )
            except (ValueError, TypeError, KeyError, OverflowError, AttributeError) as error:
                raise UserError(
                    f"the model's metadata '{key}' is not scale and zero point: {text[:80]}",
                    "compile it again with --integer-io",
                ) from error
    return interface


def float_ends(module: ModuleOp) -> Iterator[tuple[str, str]]:
    """The inputs and outputs of a graph that are float, each with the node that reads or computes it in float."""
    func = main_of(module)
    end = func.body.block.last_op
    args, results = func.body.block.args, end.operands if isinstance(end, ReturnOp) else ()
    for name, value in zip(interface_names(func.arg_attrs, len(args), "input"), args, strict=True):
        if _is_float(value):
            yield name, _read_by(value, end)
    for name, value in zip(interface_names(func.res_attrs, len(results), "output"), results, strict=True):
        if _is_float(value):
            owner = value.owner
            yield name, f"{_text(owner)} computes it" if isinstance(owner, Operation) else "it is an input"


def _is_float(value: SSAValue) -> bool:
    return isinstance(element_of(value.type), AnyFloat)


def _read_by(value: SSAValue, end: Operation | None) -> str:
    """What reads an input in float: an op, if there is one beside casts."""
    users = [use.operation for use in value.uses if use.operation is not end]
    floats = [op for op in users if not any(quantized_of(result.type) for result in op.results)]
    if not users:
        return "no op reads it"
    return f"{_text(floats[0])} reads it" if floats else "it is quantized in more than one way"


def _text(op: Operation) -> str:
    return f"{op.op_type} '{called(op)}'" if isinstance(op, OnnxOp) else called(op)
