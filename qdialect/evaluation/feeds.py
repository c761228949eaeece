"""Random input data for a model: seeded, of the shapes, types and ranges that the model expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import (
    DYNAMIC,
    onnx_element,
    quantized_of,
    shape_of,
    stored_type,
    uniform_of,
)
from qdialect.dialects.quant import QuantizeOp
from qdialect.errors import UserError
from qdialect.evaluation.data import Input, batches, load_npz
from qdialect.evaluation.observing import input_names, observe
from qdialect.evaluation.oracle_form import MIN_OBSERVED_BITS
from qdialect.evaluation.session import Array
from qdialect.ir.insertion import end_of
from qdialect.ir.interface import attributes_of_inputs, interface_names, main_of, noted_interface
from qdialect.ir.values import constant_array
from qdialect.promises.casts import QuantizeForm

INTEGER_BOUND = 2
"""Exclusive bound of integer inputs of 16 bits and more: they are indices, lengths and masks."""
SIZES = (1, 8, 32, 224, 512)
"""Sizes tried in order for open dimensions; the first axis is the batch and stays 1."""
MAX_INPUT_ELEMENTS = 1 << 28
"""Most elements of an input: a model may state any size."""
OVERSHOOT = 1.1
"""Factor by which a float input exceeds the range of its quantize, to cover saturation."""
GIVE_INPUTS = "give inputs: --data for `quantize`, else --check-numerics=INPUTS.npz"


def random_feeds(module: ModuleOp, *, seed: int = 0, size: int = SIZES[0]) -> dict[str, Array]:
    """
    One array for each graph input, by name: floats over the range of the quantize that reads them, or normal; bytes
    over their whole range; wider integers 0 or 1; of quantized types any stored integer. Sizes left open are `size`,
    the first axis 1.

    Raises UserError for an input whose rank or element type is not known.
    """
    generator = np.random.default_rng(seed)
    func = main_of(module)
    rows = zip(input_names(module), func.body.block.args, attributes_of_inputs(func), strict=True)
    return {n: _array(n, v, size, generator) for n, v, row in rows if "onnx.default" not in row.data}


def _array(name: str, value: SSAValue, size: int, generator: np.random.Generator) -> Array:
    shape = shape_of(value.type)
    element = onnx_element(stored_type(value.type))
    if shape is None or element is None:
        raise UserError(
            f"the {'type' if element is None else 'shape'} of input '{name}' is not stated", GIVE_INPUTS
        )
    sizes = tuple((size if k else 1) if s == DYNAMIC else s for k, s in enumerate(shape))
    if prod(sizes) > MAX_INPUT_ELEMENTS:
        raise UserError(f"input '{name}' has {prod(sizes)} elements, too many for random data", GIVE_INPUTS)
    dtype = np.dtype(element.dtype)
    if 0 < element.bits < MIN_OBSERVED_BITS:
        raise UserError(f"input '{name}' holds integers of {element.bits} bits", "cast it inside the graph")
    if (type := quantized_of(value.type)) is not None:
        return generator.integers(type.storage.low, type.storage.high, sizes, endpoint=True).astype(dtype)
    match dtype.kind:
        case "b":
            return generator.integers(0, 2, sizes).astype(dtype)
        case "i" | "u":
            low, high = (
                (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.itemsize == 1 else (0, INTEGER_BOUND - 1)
            )
            return generator.integers(low, high, sizes, endpoint=True).astype(dtype)
        case "f" | "V":
            low, high = _range(value)
            if low == high:
                return generator.normal(size=sizes).astype(dtype)
            return generator.uniform(low * OVERSHOOT, high * OVERSHOOT, sizes).astype(dtype)
        case _:
            raise UserError(f"input '{name}' holds no numbers", GIVE_INPUTS)


def _range(value: SSAValue) -> tuple[float, float]:
    """The real range of the quantize that reads a value; (0, 0) if none does."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, QuantizeOp):
            type = uniform_of(op.results[0].type)
            steps = (type.storage.low - type.zero_points, type.storage.high - type.zero_points)
            return float((steps[0] * type.scales).min()), float((steps[1] * type.scales).max())
        if isinstance(op, OnnxOp) and op.get_trait(QuantizeForm) is not None and use.index == 0:
            scale, zero = constant_array(op.input(1)), constant_array(op.input(2))
            if scale is None or not scale.size:
                continue
            zero = np.zeros(1, np.uint8) if zero is None else zero
            return _steps(scale.astype(np.float64), zero)
    return 0.0, 0.0


def _steps(scale: npt.NDArray[Any], zero: npt.NDArray[Any]) -> tuple[float, float]:
    if zero.dtype.kind not in "iu" or zero.dtype.itemsize > 2:
        return 0.0, 0.0
    info, at = np.iinfo(zero.dtype), zero.astype(np.int64)
    return float(((info.min - at) * scale).min()), float(((info.max - at) * scale).max())


def fitting_feeds(module: ModuleOp, *, seed: int = 0) -> dict[str, Array]:
    """
    Random feeds of the first open size with which the oracle runs the module.

    Raises UserError if there is none, with onnxruntime's message for the first.
    """
    first: UserError | None = None
    for size in SIZES if _is_open(module) else SIZES[:1]:
        feeds = random_feeds(module, seed=seed, size=size)
        try:
            observe(module, feeds)
        except UserError as error:
            first = first or error
            continue
        return feeds
    raise UserError(f"the model does not run on random inputs: {first}", GIVE_INPUTS) from first


def retyped_feeds(module: ModuleOp, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Feeds for a module whose inputs have become integers (`integer-io`), quantized with its recorded parameters."""
    noted, taken = noted_interface(module), dict(feeds)
    for name, value in zip(input_names(module), main_of(module).body.block.args, strict=True):
        element = onnx_element(value.type)
        if name in noted and name in feeds and element is not None and feeds[name].dtype.kind == "f":
            taken[name] = noted[name].quantize(feeds[name], np.dtype(element.dtype))
    return taken


def retyped_outputs(module: ModuleOp, outputs: Sequence[Array]) -> list[Array]:
    """Outputs of a module in order, real numbers again where `integer-io` made them integers."""
    noted, func = noted_interface(module), main_of(module)
    return [
        noted[name].dequantize(array) if name in noted and array.dtype.kind in "iu" else array
        for name, array in zip(interface_names(func.res_attrs, len(outputs), "output"), outputs, strict=True)
    ]


def _is_open(module: ModuleOp) -> bool:
    return any(DYNAMIC in (shape_of(a.type) or ()) for a in main_of(module).body.block.args)


def model_inputs(module: ModuleOp) -> list[Input]:
    """The graph inputs that need data. Raises UserError for one of unknown type."""
    func = main_of(module)
    inputs: list[Input] = []
    names, rows = input_names(module), attributes_of_inputs(func)
    for name, value, row in zip(names, func.body.block.args, rows, strict=True):
        if "onnx.default" in row.data:
            continue
        element = onnx_element(stored_type(value.type))
        shape = shape_of(value.type)
        if element is None or shape is None:
            what = "type" if element is None else "shape"
            raise UserError(
                f"the {what} of input '{name}' is not stated",
                f"state its {what} in the model, open sizes by a name: no inference can find it",
            )
        inputs.append(_described(name, shape, element.dtype))
    return inputs


def model_outputs(module: ModuleOp) -> list[Input]:
    """The graph outputs, described like inputs; unknown types count as float32, an unknown rank as no axes."""
    func = main_of(module)
    values = end_of(func.body.block, ReturnOp).operands
    outputs: list[Input] = []
    for name, value in zip(interface_names(func.res_attrs, len(values), "output"), values, strict=True):
        element = onnx_element(value.type)
        outputs.append(_described(name, shape_of(value.type) or (), element.dtype if element else np.float32))
    return outputs


def _described(name: str, shape: Sequence[int], dtype: npt.DTypeLike) -> Input:
    return Input(name, [None if size == DYNAMIC else size for size in shape], np.dtype(dtype))


def fitted(module: ModuleOp, feeds: Iterable[Mapping[str, Array]]) -> Iterator[Mapping[str, Array]]:
    """The caller's feeds. Raises UserError for one that is no dictionary, or does not fit the graph's inputs."""
    inputs = model_inputs(module)
    for number, feed in enumerate(feeds):
        if not isinstance(feed, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UserError(
                f"feed {number} is {type(feed).__name__}, not a dictionary", "give a list of dictionaries"
            )
        yield from batches(dict(feed), inputs, strict=True)


def given_feeds(module: ModuleOp, path: str) -> Iterator[dict[str, Array]]:
    """The batches of an .npz file. Raises UserError if it does not fit the graph's inputs."""
    for feed in batches(load_npz(path), model_inputs(module), strict=True):
        for name, array in feed.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise UserError(f"input '{name}' holds NaN or infinity", "check the data")
        yield feed
