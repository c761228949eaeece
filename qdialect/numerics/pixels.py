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


def nearest_pixels(old: int, new: int, scale: float, mode: str, rule: str) -> npt.NDArray[np.int64]:
    """Index of the pixel nearest to each of `new`, in [0, old). rule: nearest_mode. KeyError as `coordinates`."""
    rounded = _ROUNDINGS[rule](coordinates(old, new, scale, mode))
    return np.clip(rounded, 0, old - 1).astype(np.int64)
