"""Source coordinates of Resize, in float32 as onnxruntime computes them: ONNX's operators.md, "Resize"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.float32]
_HALF = np.float32(0.5)
_ROUNDINGS: dict[str, Callable[[Pixels], Pixels]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda at: np.ceil(at - _HALF),
    "round_prefer_ceil": lambda at: np.floor(at + _HALF),
}


def coordinates(old: int, new: int, scale: float, mode: str) -> Pixels:
    """
    Source coordinate, float32, of each of `new` pixels in a row of `old`. mode: coordinate_transformation_mode.

    Raises KeyError for a mode without a formula here.
    """
    at = np.arange(new, dtype=np.float32)
    if mode == "pytorch_half_pixel" and new == 1:
        return at
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (at + _HALF) / np.float32(scale) - _HALF
    if mode == "asymmetric":
        return at / np.float32(scale)
    if mode == "align_corners":
        return at * np.float32(old - 1) / np.float32(max(new - 1, 1))
    raise KeyError(mode)


def size_factor(old: int, new: int) -> float | None:
    """
    The float32 scale by which Resize, which rounds sizes down, makes `new` of `old` pixels; None if none does.

    The product is exact: onnx's inference does not round it, as onnxruntime does.
    """
    factor = float(np.float32(new) / np.float32(old))
    return factor if np.floor(factor * old) == new else None


def nearest_pixels(old: int, new: int, scale: float, mode: str, rule: str) -> npt.NDArray[np.int64]:
    """Index of the pixel nearest to each of `new`, in [0, old). rule: nearest_mode. KeyError as `coordinates`."""
    rounded = _ROUNDINGS[rule](coordinates(old, new, scale, mode))
    return np.clip(rounded, 0, old - 1).astype(np.int64)


def interpolation(
    old: int, new: int, scale: float, mode: str, cubic: float | None = None, *, excludes: bool = False
) -> Pixels:
    """
    The matrix (new, old) by which `old` pixels in a row give `new` ones, as Resize has it.

    cubic: cubic_coeff_a, Keys' a, for a polynomial through four pixels; without, a line through two. excludes:
    exclude_outside, whether pixels beyond the border have no weight; else they are what the border is. The polynomial
    is that of R. Keys, Cubic convolution interpolation for digital image processing, 1981. Raises KeyError as
    `coordinates`.
    """
    at = coordinates(old, new, scale, mode)
    if cubic is None:
        at = np.clip(at, 0, old - 1)
    first = np.floor(at)
    places = (0, 1) if cubic is None else (-1, 0, 1, 2)
    away = np.abs((at - first)[:, None] - np.array(places, np.float32))
    weights = 1 - away if cubic is None else _keys(away, np.float32(cubic))
    pixels = first.astype(np.int64)[:, None] + places
    if excludes and cubic is not None:
        weights = np.where((pixels >= 0) & (pixels < old), weights, 0)
        weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((new, old), np.float32)
    np.add.at(matrix, (np.arange(new)[:, None], np.clip(pixels, 0, old - 1)), weights)
    return matrix


def fraction_digits(weights: Pixels, most: int) -> int | None:
    """Binary digits behind the point that all of `weights` can be written with; None if those are more than `most`."""
    scaled = (weights * np.float32(2**digits) for digits in range(most + 1))
    return next((digits for digits, each in enumerate(scaled) if (each == np.rint(each)).all()), None)


def _keys(away: Pixels, a: np.float32) -> Pixels:
    """Keys' polynomial at distances below 2."""
    near = ((a + 2) * away - (a + 3)) * away * away + 1
    far = ((a * away - 5 * a) * away + 8 * a) * away - 4 * a
    return np.where(away <= 1, near, far)
