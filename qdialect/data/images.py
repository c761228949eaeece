"""Images as a model's input: decoded, resized or cut, and normalized as `Preprocessing` says."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from qdialect.data.preprocessing import PLAIN, Preprocessing
from qdialect.data.record import Record
from qdialect.errors import UserError
from qdialect.evaluation.data import Input
from qdialect.numerics import Array

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
"""Endings of the names of files that are read as images."""
GREY_16_BIT_MODES = ("I", "I;16", "I;16B", "I;16L", "I;16N")
"""Pillow's modes of grey images of 16 bits; `I` has 32."""
ALPHA_MODES = ("RGBA", "LA", "PA", "RGBa", "La")


class Place(NamedTuple):
    """What an input wants of an image."""

    layout: str
    channels: int
    height: int | None
    width: int | None


def place_of(entry: Input, wanted: str | None) -> Place:
    """What an input takes, in the layout `wanted` if one is given. Raises UserError if it is none of images."""
    layout = wanted or ("NHWC" if entry.shape[-1:] in ([1], [3], (1,), (3,)) else "NCHW")
    if len(entry.shape) != 4:
        raise UserError(
            f"input '{entry.name}' has {len(entry.shape)} axes, that of images has four", "save arrays"
        )
    sizes = {axis: entry.shape[layout.index(axis)] for axis in "CHW"}
    channels = 3 if sizes["C"] is None else sizes["C"]
    if channels not in (1, 3):
        raise UserError(
            f"input '{entry.name}' has {channels} channels in layout {layout}, images have 1 or 3",
            "give --layout, or save arrays",
        )
    return Place(layout, channels, sizes["H"], sizes["W"])


def _check(options: Preprocessing, entry: Input, place: Place) -> None:
    """UserError for a normalization that does not fit the input."""
    for name, values in (("mean", options.mean), ("std", options.std)):
        if len(values) not in (1, place.channels):
            raise UserError(
                f"--{name} has {len(values)} numbers, the images have {place.channels} channels",
                "give one, or one for each channel",
            )
    if entry.dtype == np.uint8 and (options.mean, options.std) != (PLAIN.mean, PLAIN.std):
        raise UserError(
            f"input '{entry.name}' takes bytes, which have no mean and std", "leave --mean and --std out"
        )
    if options.bgr and place.channels == 1:
        raise UserError(f"input '{entry.name}' has one channel, --bgr is for three", "leave --bgr out")


def read_image(path: Path, entry: Input, options: Preprocessing, record: Record) -> Array:
    """
    An image as an input of shape (1, C, H, W), or as the layout says, and the input's type; `record` counts it.

    Raises UserError for a file that Pillow does not read, a size or normalization that does not fit the input, and
    without Pillow.
    """
    try:
        Image = import_module("PIL.Image")  # typed alike with and without Pillow
    except ImportError:
        raise UserError("images need Pillow", "pip install pillow, or save them as arrays") from None
    place = place_of(entry, options.layout)
    _check(options, entry, place)
    try:
        with Image.open(path) as image:
            decoded, how = _decoded(Image, image, place.channels, path)
            size = decoded.size
            fitted = _fitted(decoded, place, options, path)
            record.count_image(how, size, fitted.size, options)
            pixels = np.asarray(fitted, np.float32)
    except OSError:
        raise UserError(f"'{path}' is not an image that Pillow reads", "check the file") from None
    except Image.DecompressionBombError:
        raise UserError(f"'{path}' has too many pixels to be an image of data", "check the file") from None
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], place.channels, axis=2)
    if options.bgr:
        pixels = pixels[:, :, ::-1]
    if entry.dtype == np.uint8:
        values = np.rint(pixels)
    else:
        unit = pixels / 255 if options.range == 1 else pixels
        values = (unit - np.array(options.mean, np.float32)) / np.array(options.std, np.float32)
    values = values.transpose(2, 0, 1) if place.layout == "NCHW" else values
    return values[None].astype(entry.dtype)


def _decoded(Image: Any, image: Any, channels: int, path: Path) -> tuple[Any, str]:
    """The image in the mode of the input's channels, and how it was made; in mode F if it has 16 bits."""
    mode, wanted = image.mode, "L" if channels == 1 else "RGB"
    if mode == "F":
        raise UserError(f"'{path}' holds floats, whose range is not known", "save it as an array")
    if mode in GREY_16_BIT_MODES:
        values = np.asarray(image, np.int64)
        if values.min(initial=0) < 0 or values.max(initial=0) > 0xFFFF:
            raise UserError(f"'{path}' has more than 16 bits", "save it as an array")
        return Image.fromarray((values / 257).astype(np.float32)), f"16-bit grey as {wanted}"
    raw_modes = [str(tile) for tile in getattr(image, "tile", ())]
    is_cut = any(";16" in one for one in raw_modes)
    if "transparency" in image.info and mode not in ALPHA_MODES:
        image = image.convert("RGBA")
        dropped = ", transparency dropped"
    else:
        dropped = ", alpha dropped" if mode in ALPHA_MODES else ""
    how = mode if mode == wanted else f"{mode} as {wanted}"
    return image.convert(wanted), f"{how}{dropped}" + (", 16 bits cut to 8" if is_cut else "")


def _fitted(image: Any, place: Place, options: Preprocessing, path: Path) -> Any:
    """The image in the size of the input, stretched or cut."""
    height, width = place.height, place.width
    if not options.keeps_aspect:
        return image.resize((width, height)) if height and width else image
    cut = (options.crop, options.crop) if options.crop else (height, width)
    if options.crop and (height or options.crop, width or options.crop) != cut:
        raise UserError(
            f"--crop {options.crop} does not give the model's {height}x{width}", "leave --crop out"
        )
    if options.ratio and not all(cut):
        raise UserError(
            "the model takes images of any size, so the preset does not say which", "give --crop, such as 224"
        )
    if options.resize or options.ratio:
        image = image.resize(_resized(image.size, cut, options), import_module("PIL.Image").BILINEAR)
    if not (cut[0] and cut[1]):
        return image
    left, top = round((image.width - cut[1]) / 2), round((image.height - cut[0]) / 2)
    if left < 0 or top < 0:
        raise UserError(
            f"'{path}' is {image.height}x{image.width} before {cut[0]}x{cut[1]} are cut out of it",
            "give a larger --resize, or leave --resize and --crop out to stretch images",
        )
    return image.crop((left, top, left + cut[1], top + cut[0]))


def _resized(
    size: tuple[int, int], cut: tuple[int | None, int | None], options: Preprocessing
) -> tuple[int, int]:
    """Width and height in proportion: the shorter side is `resize`, or the cut is `ratio` of what is left of it."""
    width, height = size
    if options.resize:
        side = options.resize
        # The longer side is cut to whole pixels, as torchvision does.
        return (side, int(side * height / width)) if width <= height else (int(side * width / height), side)
    factor = max((cut[1] or 0) / width, (cut[0] or 0) / height) / (options.ratio or 1.0)
    return round(width * factor), round(height * factor)
