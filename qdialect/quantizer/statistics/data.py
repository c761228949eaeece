"""
Readers of calibration data: .npz and .npy files, folders of them, of images or of ONNX test data, a Python function,
any iterable of dictionaries. At most one file is in memory at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input, batches, load_npz
from qdialect.files import reason
from qdialect.numerics import Array
from qdialect.quantizer.statistics.data_warnings import Doubts

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
KINDS_OF_DATA = "an .npz or .npy file, a folder of .npz, .npy, .pb or image files, or module:function"


@dataclass(frozen=True)
class ImageOptions:
    """Preprocessing of images: value = (pixel / 255 - mean) / std."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    layout: str | None = None
    """`NCHW` or `NHWC`; None: by the axis on which the model's input has 1 or 3 channels."""


def checked(
    feeds: Iterable[Mapping[str, Array]],
    inputs: Sequence[Input],
    *,
    strict: bool = False,
    doubts: Doubts | None = None,
) -> Iterator[Arrays]:
    """
    Feeds of the model's shapes, split if a first axis is longer than the model's. strict: no value is rounded, no
    integer converted to float. doubts: collects warnings. Raises UserError for wrong keys, shapes and types, for NaN,
    and without samples.
    """
    count = 0
    if isinstance(feeds, Mapping):
        raise UserError("the data is one dictionary", "give a list of them, one for each sample or batch")
    for number, sample in enumerate(feeds):
        if not isinstance(sample, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UserError(
                f"sample {number} of the data is {type(sample).__name__}, not a dictionary",
                "give dictionaries from input name to array",
            )
        arrays = {name: np.asarray(array) for name, array in sample.items()}
        if doubts is not None:
            doubts.look(arrays, inputs)
        for feed in batches(arrays, inputs, strict=strict):
            for name, array in feed.items():
                if array.dtype.kind == "f" and not np.isfinite(array).all():
                    raise UserError(
                        f"input '{name}' holds NaN or infinity in sample {number}", "check the data"
                    )
            count += 1
            yield feed
    if not count:
        raise UserError("the data is empty", "give at least one sample")


def load_data(
    source: str | Sequence[str], inputs: Sequence[Input], images: ImageOptions | None = None
) -> Iterable[Mapping[str, Array]]:
    """
    Feeds from a path or `module:function`, or from several of them one after the other, not checked yet. Raises
    UserError for other sources.
    """
    if not isinstance(source, str):
        return chain.from_iterable([load_data(one, inputs, images) for one in source])
    path = Path(source)
    if path.is_dir():
        return _folder(path, inputs, images or ImageOptions())
    if path.is_file():
        return _file(path, inputs, images or ImageOptions())
    if ":" in source and not path.exists():
        _check_is_plain(images or ImageOptions(), source)
        return _function(source, inputs)
    raise UserError(f"cannot read data '{source}', no such file or folder", f"give {KINDS_OF_DATA}")


def _check_is_plain(options: ImageOptions, source: str) -> None:
    """UserError for a normalization, which arrays do not go through."""
    if options != ImageOptions():
        raise UserError(
            f"--mean, --std and --layout apply to image files only, not to '{source}'",
            "prepare the arrays themselves",
        )


def _only(inputs: Sequence[Input], what: str) -> Input:
    if len(inputs) != 1:
        raise UserError(
            f"{what} holds one array, the model has {len(inputs)} inputs",
            "give .npz files keyed by input name",
        )
    return inputs[0]


def _file(path: Path, inputs: Sequence[Input], images: ImageOptions) -> Iterator[Mapping[str, Array]]:
    suffix = path.suffix.lower()
    if suffix not in IMAGE_ENDINGS:
        _check_is_plain(images, str(path))
    if suffix == ".npz":
        yield load_npz(str(path))
    elif suffix == ".npy":
        yield _npy(path, inputs)
    elif suffix in IMAGE_ENDINGS:
        yield _image(path, _only(inputs, f"'{path}'"), images)
    elif suffix == ".pb":
        yield _test_set([path], inputs)
    else:
        raise UserError(f"'{path}' is not a supported kind of data", f"give {KINDS_OF_DATA}")


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


def _folder(path: Path, inputs: Sequence[Input], images: ImageOptions) -> Iterator[Mapping[str, Array]]:
    """Feeds of a folder's files in the order of their names; subfolders with .pb files are one feed each."""
    files = sorted(p for p in path.rglob("*") if p.is_file())
    sets: dict[Path, list[Path]] = {}
    known = [p for p in files if p.suffix.lower() in (".npz", ".npy", *IMAGE_ENDINGS)]
    for one in files:
        if one.suffix.lower() == ".pb" and one.name.startswith("input"):
            sets.setdefault(one.parent, []).append(one)
    if not known and not sets:
        raise UserError(f"there is no data in folder '{path}'", f"give {KINDS_OF_DATA}")
    for one in known:
        yield from _file(one, inputs, images)
    for parts in sets.values():
        yield _test_set(parts, inputs)


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


def _image(path: Path, entry: Input, options: ImageOptions) -> Mapping[str, Array]:
    try:
        Image = import_module("PIL.Image")  # typed alike with and without Pillow
    except ImportError:
        raise UserError("images need Pillow", "pip install pillow, or save them as arrays") from None
    layout = options.layout or ("NHWC" if entry.shape[-1] in (1, 3) else "NCHW")
    if len(entry.shape) != 4 or layout not in ("NCHW", "NHWC"):
        raise UserError(
            f"input '{entry.name}' does not have four axes, or the layout is neither NCHW nor NHWC",
            "save arrays",
        )
    place = {name: entry.shape[layout.index(name)] for name in "CHW"}
    _check_normalization(options, 1 if place["C"] == 1 else 3)
    try:
        with Image.open(path) as image:
            image = image.convert("L" if place["C"] == 1 else "RGB")
            if place["H"] and place["W"]:
                image = image.resize((place["W"], place["H"]))
            pixels = np.asarray(image, np.float32)
    except OSError:
        raise UserError(f"'{path}' is not an image that Pillow reads", "check the file") from None
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if entry.dtype == np.uint8:
        values = pixels
    else:
        values = (pixels / 255 - np.array(options.mean, np.float32)) / np.array(options.std, np.float32)
    values = values.transpose(2, 0, 1) if layout == "NCHW" else values
    return {entry.name: values[None].astype(entry.dtype)}


def _check_normalization(options: ImageOptions, channels: int) -> None:
    for name, values in (("mean", options.mean), ("std", options.std)):
        if len(values) not in (1, channels):
            raise UserError(
                f"--{name} has {len(values)} numbers, the images have {channels} channels",
                "give one, or one for each channel",
            )


def _function(source: str, inputs: Sequence[Input]) -> Iterable[Mapping[str, Array]]:
    """Feeds of `module:function`, which returns an iterable of dictionaries, or of arrays for a model of one input."""
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


def _samples(samples: Iterable[Any], inputs: Sequence[Input], source: str) -> Iterator[Mapping[str, Array]]:
    rest = iter(samples)
    while True:
        with _blamed(source):
            try:
                one = next(rest)
            except StopIteration:
                return
        yield one if isinstance(one, Mapping) else {_only(inputs, f"'{source}'").name: np.asarray(one)}


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
