"""
`Preprocessing`: how the pixels of an image become a model's input; presets, TOML files, and the form in metadata.

The presets are those of torchvision's ImageNet models (`imagenet`) and of `keras.applications` (`tf`, `caffe`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr

from qdialect.errors import UserError
from qdialect.files import reason
from qdialect.ir.interface import METADATA

if TYPE_CHECKING:
    from qdialect.compiler.options import ImageOptions

KEY = "qdialect.preprocessing"
"""Key of the metadata of a file that was calibrated on images."""
IMAGE_FLAGS = "--preprocess, --resize, --crop, --mean, --std, --layout and --bgr"
LAYOUTS = ("NCHW", "NHWC")


@dataclass(frozen=True)
class Preprocessing:
    """
    An image is resized, cut, and its pixels of 0 to 255 become (pixel * range / 255 - mean) / std.

    Without `resize`, `crop` and `ratio` an image is stretched to the size of the model's input. Otherwise its shorter
    side becomes `resize` pixels, its sides in proportion (bilinear), and the centre is cut out, `crop` pixels high and
    wide, by default as large as the model's input. Raises UserError for numbers that cannot be meant.
    """

    mean: tuple[float, ...] = (0.0,)
    """One number, or one for each channel of the model's input, in its order."""
    std: tuple[float, ...] = (1.0,)
    range: int = 1
    """Largest value of a pixel before mean and std: 1 or 255."""
    resize: int | None = None
    crop: int | None = None
    ratio: float | None = None
    """The cut as a fraction of the resized shorter side, in place of `resize`: 0.875 cuts 224 out of 256."""
    bgr: bool = False
    """True for channels in the order blue, green, red."""
    layout: str | None = None
    """`NCHW` or `NHWC`; None: by the axis on which the model's input has 1 or 3 channels."""

    def __post_init__(self) -> None:
        if self.range not in (1, 255):
            raise UserError(f"the range of pixels is {self.range}", "give 1 or 255")
        if self.layout is not None and self.layout not in LAYOUTS:
            raise UserError(f"the layout is {self.layout!r}", f"choose from {', '.join(LAYOUTS)}")
        if not all(one > 0 for one in self.std):
            raise UserError(f"std is {self.std}", "pixels are divided by std: give numbers above 0")
        if self.range == 1 and any(abs(one) > 1 for one in self.mean):
            raise UserError(
                f"a mean of {_numbers(self.mean)} does not fit pixels of 0 to 1",
                "divide mean and std by 255, or add --preprocess bytes, pixels of 0 to 255",
            )
        for name in ("resize", "crop"):
            if (size := getattr(self, name)) is not None and size < 1:
                raise UserError(f"{name} is {size}", "give a number of pixels from 1 on")
        if self.ratio is not None and not 0 < self.ratio <= 1:
            raise UserError(f"ratio is {self.ratio}", "give a fraction from 0 to 1")

    @property
    def keeps_aspect(self) -> bool:
        """True if images are cut, not stretched."""
        return (self.resize, self.crop, self.ratio) != (None, None, None)

    def __str__(self) -> str:
        """Mean, std and order of channels, as the line on the data has them."""
        text = f"mean {_numbers(self.mean)}, std {_numbers(self.std)} of pixels of 0 to {self.range}"
        return text + (", in the order BGR" if self.bgr else "")

    def as_text(self) -> str:
        """As metadata holds it: JSON of what differs from the default."""
        rows = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps({k: v for k, v in rows.items() if v != getattr(PLAIN, k)}, sort_keys=True)


PLAIN = Preprocessing()
PRESETS = {
    "imagenet": Preprocessing((0.485, 0.456, 0.406), (0.229, 0.224, 0.225), ratio=0.875),
    "tf": Preprocessing((0.5,), (0.5,)),
    "unit": PLAIN,
    "bytes": Preprocessing(range=255),
    "caffe": Preprocessing((103.939, 116.779, 123.68), range=255, bgr=True),
}
"""Preprocessing by name: ImageNet's with a cut of 224 of 256, -1 to 1, 0 to 1, 0 to 255, and means of BGR pixels."""
VALUE_TYPES: Mapping[str, tuple[type, ...]] = {
    "mean": (int, float, list),
    "std": (int, float, list),
    "range": (int, float),
    "resize": (int,),
    "crop": (int,),
    "ratio": (int, float),
    "bgr": (bool,),
    "layout": (str,),
}
"""The keys of a file, with the types of their values."""


def _numbers(numbers: tuple[float, ...]) -> str:
    return ",".join(f"{one:g}" for one in numbers)


def _of_table(rows: Mapping[str, Any], what: str) -> Preprocessing:
    """Preprocessing of the keys of a file. Raises UserError for other keys and types."""
    values: dict[str, Any] = {}
    for key, value in rows.items():
        if key not in VALUE_TYPES:
            raise UserError(f"{what} has the key '{key}'", f"its keys are {', '.join(VALUE_TYPES)}")
        is_wrong = not isinstance(value, VALUE_TYPES[key]) or (
            isinstance(value, bool) and bool not in VALUE_TYPES[key]
        )
        if isinstance(value, list):
            is_wrong = not value or not all(type(one) in (int, float) for one in value)
        if is_wrong:
            raise UserError(f"{what}: {key} is {json.dumps(value)}", "see docs/quantization.md")
        if key in ("mean", "std"):
            value = tuple(map(float, value)) if isinstance(value, list) else (float(value),)
        values[key] = value
    return Preprocessing(**values)


def named(name: str) -> Preprocessing:
    """A preset, or what a TOML file states. Raises UserError if it is neither."""
    if name in PRESETS:
        return PRESETS[name]
    known = f"choose from {', '.join(PRESETS)}, or name a .toml file"
    if not name.endswith(".toml"):
        raise UserError(f"there is no preprocessing '{name}'", known)
    try:
        return _of_table(tomllib.loads(Path(name).read_text(encoding="utf-8")), f"'{name}'")
    except OSError as error:
        raise UserError(f"cannot read '{name}', {reason(error)}", known) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"'{name}' is not a TOML file: {error}", "see docs/quantization.md") from None


def from_text(text: str, where: str) -> Preprocessing:
    """Preprocessing that metadata or a profile states. Raises UserError for a text that does not."""
    try:
        rows = json.loads(text)
    except ValueError:
        rows = None
    if not isinstance(rows, dict):
        raise UserError(f"the preprocessing stated in {where} cannot be read", "give --preprocess")
    return _of_table(rows, f"the preprocessing stated in {where}")


def given(options: ImageOptions) -> Preprocessing | None:
    """Preprocessing of options, the single ones in place of a preset's; None if none is given."""
    base = None if options.preprocess is None else named(str(options.preprocess))
    said: dict[str, Any] = {
        "mean": None if options.mean is None else tuple(map(float, options.mean)),
        "std": None if options.std is None else tuple(map(float, options.std)),
        "resize": options.resize,
        "crop": options.crop,
        "bgr": options.bgr or None,
        "layout": options.layout,
    }
    said = {key: value for key, value in said.items() if value is not None}
    if base is None and not said:
        return None
    if "resize" in said:
        said["ratio"] = None
    return replace(base or PLAIN, **said)


def stated(module: ModuleOp, where: str = "the model") -> Preprocessing | None:
    """Preprocessing that a module's metadata states; None if it states none. UserError if it cannot be read."""
    rows = module.attributes.get(METADATA)
    text = rows.data.get(KEY) if isinstance(rows, DictionaryAttr) else None
    return from_text(text.data, where) if isinstance(text, StringAttr) else None


def state(module: ModuleOp, text: str) -> None:
    """Write preprocessing, as `as_text` gives it, into a module's metadata."""
    rows = module.attributes.get(METADATA)
    before = rows.data if isinstance(rows, DictionaryAttr) else {}
    module.attributes[METADATA] = DictionaryAttr({**before, KEY: StringAttr(text)})
