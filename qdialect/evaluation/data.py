"""Input data for a model: `.npz` files keyed by graph input name, split into batches of the model's size."""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect.dialects.onnx_types import BY_NUMPY
from qdialect.errors import UserError
from qdialect.files import reason

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Input:
    """A graph input: its shape, None where an axis may have any size, and the numpy type of its elements."""

    name: str
    shape: Sequence[int | None]
    dtype: np.dtype[Any]


def load_npz(path: str) -> Arrays:
    """All arrays of an .npz file. UserError if it is not an .npz file, is damaged, or holds Python objects."""
    if not Path(path).is_file():
        raise UserError(f"cannot read data '{path}', no such file", "give an .npz file")
    try:
        # An open file instead of the path: numpy would leave the file open if it is no archive.
        with open(path, "rb") as file:
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):  # a .npy file under another name
                raise UserError(
                    f"'{path}' holds one array without a name", "save it with numpy.savez(path, input=...)"
                )
            arrays: Arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise UserError(f"cannot read data '{path}', {reason(error)}", "give an .npz file") from error
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise UserError(
            f"'{path}' is not an .npz file of plain arrays", "save it with numpy.savez"
        ) from error
    return arrays


def batches(arrays: Arrays, inputs: Sequence[Input], *, strict: bool = False) -> Iterator[Arrays]:
    """
    One feed after the other: an array whose first axis is longer than the model's is cut along it, an array
    that fits goes into every feed, and a remainder at the end is not used; none if an array has no rows where the model
    takes any number. strict: nothing is rounded, and no integer taken for a real number.

    UserError if an input has no array, or one of another rank, shape or kind of number.
    """
    fitted = {one.name: _fit(arrays, one, strict) for one in inputs}
    if any(one.shape and one.shape[0] is None and not len(fitted[one.name]) for one in inputs):
        return
    counts = {_count(fitted[one.name], one) for one in inputs} - {1}
    if len(counts) > 1:
        raise UserError(
            f"the data makes {' and '.join(map(str, sorted(counts)))} batches, depending on the input",
            "give every input the same number",
        )
    count = counts.pop() if counts else 1
    for k in range(count):
        yield {one.name: _cut(fitted[one.name], one, k, count) for one in inputs}


def unlike_rows(feeds: Mapping[str, npt.NDArray[Any]]) -> UserError | None:
    """The error if a model does not run on `feeds` with different numbers of rows; None if the numbers are equal."""
    rows = {name: array.shape[0] for name, array in feeds.items() if array.ndim}
    if len(set(rows.values()) - {1}) < 2:
        return None
    counts = ", ".join(f"{count} for '{name}'" for name, count in rows.items())
    return UserError(
        f"the model does not run on the data, whose numbers of rows differ: {counts}",
        "give every input the same number",
    )


def one_line(error: Exception) -> str:
    """onnxruntime's message as one line, truncated."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) < 300 else f"{text[:297]}..."


def does_not_run(error: Exception, feeds: Mapping[str, npt.NDArray[Any]]) -> UserError:
    """The error if onnxruntime does not run a model on `feeds`, each of which fits its input."""
    if (unlike := unlike_rows(feeds)) is not None:
        return unlike
    fix = "check the shapes and the numbers of the data"
    if any(array.ndim and len(array) == 1 for array in feeds.values()):
        fix += "; samples run one by one where the batch is open, --batch N if the model needs N together"
    return UserError(f"the model does not run on the data: {one_line(error)}", fix)


def _converts(have: np.dtype[Any], wanted: np.dtype[Any], strict: bool) -> bool:
    """
    True if data of dtype `have` may feed an input of `wanted`; strict: bytes of an image are not converted to floats.
    """
    if not strict or have == wanted:
        return have == wanted or np.can_cast(have, wanted, "same_kind")
    return np.can_cast(have, wanted, "safe") and (have.kind == "f") == (wanted.kind == "f")


def _fit(arrays: Arrays, entry: Input, strict: bool) -> npt.NDArray[Any]:
    if entry.name not in arrays:
        keys = ", ".join(arrays) or "nothing"
        raise UserError(
            f"the data has no array for input '{entry.name}', it has {keys}", "name arrays like the inputs"
        )
    array = arrays[entry.name]
    wanted = "x".join("?" if size is None else str(size) for size in entry.shape) or "()"
    fits = array.ndim == len(entry.shape) and all(
        size in (None, have) for size, have in zip(entry.shape[1:], array.shape[1:], strict=True)
    )
    first = entry.shape[0] if fits and array.ndim else None
    if not fits or (first is not None and array.shape[0] < first):
        have = "x".join(map(str, array.shape)) or "()"
        raise UserError(
            f"the array for input '{entry.name}' has shape {have}, the model takes {wanted}",
            _way_to_fit(array.shape, entry),
        )
    if not _converts(array.dtype, entry.dtype, strict):
        raise UserError(
            f"the array for input '{entry.name}' is {array.dtype}, the model takes {entry.dtype}",
            f"convert the data: array.astype('{entry.dtype}')",
        )
    return array.astype(entry.dtype, copy=False)


def _way_to_fit(shape: Sequence[int], entry: Input) -> str:
    """The fix for an array whose shape the model does not accept."""
    sizes = [size for size in entry.shape[1:] if size is not None]
    if len(shape) == len(entry.shape) and len(sizes) == len(shape) - 1:
        if tuple(sizes) == tuple(shape[1:]):
            return f"give at least {entry.shape[0]} along the first axis"
        if sorted(sizes) == sorted(shape[1:]):
            return "transpose the data: the order of its axes is another one"
    return "reshape the data"


def _count(array: npt.NDArray[Any], entry: Input) -> int:
    first = entry.shape[0] if array.ndim else None
    return array.shape[0] // first if first else 1


def _cut(array: npt.NDArray[Any], entry: Input, k: int, count: int) -> npt.NDArray[Any]:
    first = entry.shape[0] if array.ndim else None
    if first is None and array.ndim and count > 1 and array.shape[0] == count:
        return array[k : k + 1]  # one per batch of another input
    if first is None or array.shape[0] == first:
        return array
    return array[k * first : (k + 1) * first]


def read_inputs(described: Mapping[str, tuple[Sequence[Any], str]]) -> list[Input]:
    """Inputs as onnxruntime describes them, `{name: (shape, "tensor(float)")}`."""
    return [
        Input(
            name,
            [size if isinstance(size, int) else None for size in shape],
            DTYPES.get(type_, np.dtype(object)),
        )
        for name, (shape, type_) in described.items()
    ]


DTYPES = {
    f"tensor({BY_NUMPY[name].spelling})": np.dtype(name)
    for name in "float32 float64 float16 bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
}
"""numpy's types of tensors of numbers of 8 bits or more, by onnxruntime's name."""
