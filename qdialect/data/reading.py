"""
Readers of data: .npz and .npy files, folders of them, of images or of ONNX test data, a Python function,
any iterable of dictionaries. At most one file is in memory at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from qdialect.data.images import IMAGE_ENDINGS, read_image
from qdialect.data.preprocessing import IMAGE_FLAGS, PLAIN, Preprocessing
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input, batches, load_npz
from qdialect.files import reason
from qdialect.numerics import Array

KINDS_OF_DATA = "an .npz or .npy file, a folder of .npz, .npy, .pb or image files, or module:function"

Data = str | Path | Sequence[str | Path] | Iterable[Mapping[str, Array]]


class Sample(NamedTuple):
    """What one file, or one step of a function, holds: one or several samples."""

    arrays: Mapping[str, Array]
    """By input name, or other keys of the file."""
    file: Path | None = None
    folder: Path | None = None
    """The folder of `--data` that the file was found in; None for a file that was named."""


def checked(
    feeds: Iterable[Mapping[str, Array]],
    inputs: Sequence[Input],
    *,
    strict: bool = False,
    record: Record | None = None,
) -> Iterator[Arrays]:
    """
    Feeds of the model's shapes, split if a first axis is longer than the model's. strict: no value is rounded, no
    integer converted to float. record: counts what is read. Raises UserError for wrong keys, shapes and types, for NaN,
    and without samples.
    """
    count, record = 0, record or Record()
    if isinstance(feeds, Mapping):
        raise UserError("the data is one dictionary", "give a list of them, one for each sample or batch")
    for number, sample in enumerate(feeds):
        if not isinstance(sample, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UserError(
                f"sample {number} of the data is {type(sample).__name__}, not a dictionary",
                "give dictionaries from input name to array",
            )
        arrays = {name: np.asarray(array) for name, array in sample.items()}
        record.look(arrays, inputs)
        for feed in batches(arrays, inputs, strict=strict):
            for name, array in feed.items():
                if array.dtype.kind == "f" and not np.isfinite(array).all():
                    raise UserError(
                        f"input '{name}' holds NaN or infinity in sample {number}", "check the data"
                    )
            count += 1
            record.count_feed(feed, inputs)
            yield feed
    if not count:
        raise UserError("the data is empty", "give at least one sample")


def paths_of(data: Data | None) -> list[str]:
    """The paths, or `module:function`, that data are read from; none if they are feeds."""
    if isinstance(data, str | Path):
        return [str(data)]
    paths = [one for one in data if isinstance(one, str | Path)] if isinstance(data, list | tuple) else []
    return [str(one) for one in paths]


def feeds_of(data: Data | None) -> Iterable[Mapping[str, Array]]:
    """The caller's feeds, of data that are read from no path."""
    return () if data is None or isinstance(data, str | Path) else cast("Iterable[Mapping[str, Array]]", data)


def load_data(
    source: str | Sequence[str],
    inputs: Sequence[Input],
    images: Preprocessing = PLAIN,
    record: Record | None = None,
) -> Iterable[Sample]:
    """
    Samples from a path or `module:function`, or from several of them one after the other, not checked yet. record:
    counts files. Raises UserError for other sources.
    """
    record = record or Record()
    if not isinstance(source, str):
        return chain.from_iterable([load_data(one, inputs, images, record) for one in source])
    path = Path(source)
    if path.is_dir():
        return _folder(path, inputs, images, record)
    if path.is_file():
        if path.suffix.lower() not in IMAGE_ENDINGS:
            _check_is_plain(images, source, record)
        return _file(path, inputs, images, record)
    if ":" in source and not path.exists():
        _check_is_plain(images, source, record)
        return _function(source, inputs)
    raise UserError(f"cannot read data '{source}', no such file or folder", f"give {KINDS_OF_DATA}")


def _check_is_plain(options: Preprocessing, source: str, record: Record) -> None:
    """UserError for preprocessing that is asked for, and not stated by a file: arrays do not go through it."""
    if options != PLAIN and not record.stated:
        raise UserError(
            f"{IMAGE_FLAGS} apply to image files only, not to '{source}'", "prepare the arrays themselves"
        )


def _only(inputs: Sequence[Input], what: str) -> Input:
    if len(inputs) != 1:
        raise UserError(
            f"{what} holds one array, the model has {len(inputs)} inputs",
            "give .npz files keyed by input name",
        )
    return inputs[0]


def _file(
    path: Path, inputs: Sequence[Input], images: Preprocessing, record: Record, folder: Path | None = None
) -> Iterator[Sample]:
    suffix = path.suffix.lower()
    record.files += 1
    arrays: Mapping[str, Array]
    if suffix in IMAGE_ENDINGS:
        only = _only(inputs, f"'{path}'")
        arrays = {only.name: read_image(path, only, images, record)}
    elif suffix == ".npz":
        arrays = load_npz(str(path))
    elif suffix == ".npy":
        arrays = _npy(path, inputs)
    elif suffix == ".pb":
        arrays = _test_set([path], inputs)
    else:
        raise UserError(f"'{path}' is not a supported kind of data", f"give {KINDS_OF_DATA}")
    record.arrays += suffix not in IMAGE_ENDINGS
    yield Sample(arrays, path, folder)


def _npy(path: Path, inputs: Sequence[Input]) -> Mapping[str, Array]:
    only = _only(inputs, f"'{path}'")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise UserError(f"cannot read data '{path}', {reason(error)}", "check the path") from None
    except ValueError:
        raise UserError(f"'{path}' is not a .npy file of plain numbers", "save it with numpy.save") from None
    if array.ndim == len(only.shape) - 1:
        array = array[None]
    return {only.name: array}


def data_files(path: Path) -> tuple[list[Path], int]:
    """The files of a folder and its subfolders by name, without hidden ones, whose number is the second."""
    files = sorted(p for p in path.rglob("*") if p.is_file())
    seen = [p for p in files if not any(part.startswith(".") for part in p.relative_to(path).parts)]
    return seen, len(files) - len(seen)


def _folder(path: Path, inputs: Sequence[Input], images: Preprocessing, record: Record) -> Iterator[Sample]:
    """Samples of a folder's files in the order of their names; subfolders with .pb files are one sample each."""
    files, hidden = data_files(path)
    sets: dict[Path, list[Path]] = {}
    known = [p for p in files if p.suffix.lower() in (".npz", ".npy", *IMAGE_ENDINGS)]
    for one in files:
        if one.suffix.lower() == ".pb" and one.name.startswith("input"):
            sets.setdefault(one.parent, []).append(one)
    if not known and not sets:
        raise UserError(f"there is no data in folder '{path}'", f"give {KINDS_OF_DATA}")
    if not any(p.suffix.lower() in IMAGE_ENDINGS for p in known):
        _check_is_plain(images, str(path), record)
    within = [p.relative_to(path).parts for p in known if p.suffix.lower() in IMAGE_ENDINGS]
    record.class_folders |= {parts[0] for parts in within if len(parts) > 1}
    record.hidden += hidden
    record.unknown += sum(one.suffix.lower() != ".pb" for one in files) - len(known)
    for one in known:
        yield from _file(one, inputs, images, record, path)
    for parts in sets.values():
        record.files += len(parts)
        yield Sample(_test_set(parts, inputs), parts[0], path)


def _test_set(files: Sequence[Path], inputs: Sequence[Input]) -> Mapping[str, Array]:
    """Serialized tensors `input_0.pb`, `input_1.pb`, ..., by the order of the model's inputs or by name."""
    import onnx
    from onnx import numpy_helper

    arrays: dict[str, Array] = {}
    order = sorted(files, key=lambda p: (len(p.stem), p.stem))
    for k, file in enumerate(order):
        tensor = onnx.TensorProto()
        try:
            tensor.ParseFromString(file.read_bytes())
            array = numpy_helper.to_array(tensor)
        except OSError as error:
            raise UserError(f"cannot read data '{file}', {reason(error)}", "check the path") from None
        except Exception:  # protobuf's errors share no base class
            raise UserError(f"'{file}' is not a serialized tensor", "see ONNX's test data sets") from None
        by_name = tensor.name if any(tensor.name == one.name for one in inputs) else None
        arrays[by_name or (inputs[k].name if k < len(inputs) else tensor.name)] = array
    return arrays


def _function(source: str, inputs: Sequence[Input]) -> Iterable[Sample]:
    """Samples of `module:function`: it gives an iterable of dictionaries, or of arrays for a model of one input."""
    module, _, name = source.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"cannot import data '{source}': {error}", f"give {KINDS_OF_DATA}") from None
    with _blamed(source):
        samples: Any = function() if callable(function) else function
    if not isinstance(samples, Iterable) or isinstance(samples, str | bytes):
        raise UserError(
            f"'{source}' returns {type(samples).__name__}, which is not an iterable of samples",
            "return an iterable of dictionaries",
        )
    return _samples(samples, inputs, source)


def _samples(samples: Iterable[Any], inputs: Sequence[Input], source: str) -> Iterator[Sample]:
    rest = iter(samples)
    while True:
        with _blamed(source):
            try:
                one = next(rest)
            except StopIteration:
                return
        is_named = isinstance(one, Mapping)
        yield Sample(one if is_named else {_only(inputs, f"'{source}'").name: np.asarray(one)})


@contextmanager
def _blamed(source: str) -> Generator[None]:
    """Context for the user's code: its exceptions become UserErrors with their location."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        import traceback  # only for errors: keeps start-up short

        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        raise UserError(
            f"data '{source}' raises {type(error).__name__}: {error} at {place}", "correct the function"
        ) from error
