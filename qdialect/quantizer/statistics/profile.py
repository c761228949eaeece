"""
Profiles: the statistics of every observed tensor, with the identity of model, data and software; their file format.

Profiles of one model merge exactly: counts and sums are added, extremes compared. A file is bytes that depend on the
values alone.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from qdialect.errors import UserError
from qdialect.files import atomic_write, reason
from qdialect.quantizer.statistics.statistics import Channels, Statistics

PROFILE_FORMAT = 1
"""The version of the file's layout."""
HASH_MODULUS = 1 << 128
"""Modulus of the sum of sample hashes, which does not depend on their order."""


@dataclass
class Profile:
    """Statistics of tensors by name, and their origin."""

    model: str = ""
    """A hash of the lowered model."""
    data: int = 0
    """Sum of the hashes of all samples, modulo `HASH_MODULUS`."""
    samples: int = 0
    """Number of samples run."""
    random: bool = False
    """True if the samples were random numbers, which is no calibration."""
    versions: str = ""
    """Versions of the software that ran the model."""
    preprocessing: str = ""
    """How images became samples, as `Preprocessing.as_text` says it; empty if no sample was an image."""
    tensors: dict[str, Statistics] = field(default_factory=dict[str, Statistics])

    def merge(self, other: Profile) -> None:
        """Add the statistics of `other`. Raises UserError if its model or versions differ."""
        if self.model and self.model != other.model:
            raise UserError("the profiles are of different models", "make a new profile")
        if self.versions and self.versions != other.versions:
            raise UserError(
                f"one profile was made by {self.versions}, another by {other.versions}", "make a new profile"
            )
        if self.preprocessing and other.preprocessing not in ("", self.preprocessing):
            raise UserError(
                f"one profile has images with {self.preprocessing}, another with {other.preprocessing}",
                "give the same options of images, or make a new profile",
            )
        self.preprocessing = self.preprocessing or other.preprocessing
        self.model, self.versions = other.model, other.versions
        self.data = (self.data + other.data) % HASH_MODULUS
        self.samples += other.samples
        self.random = self.random or other.random
        for name, statistics in other.tensors.items():
            self.tensors.setdefault(name, Statistics()).merge(statistics)

    def save(self, path: str) -> None:
        """Write the profile to a file, whole or not at all."""
        with atomic_write(path) as file:
            file.write(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The file of this profile: an .npz archive of `header`, `counts`, `extremes`."""
        names = sorted(self.tensors)
        rows = [self.tensors[name] for name in names]
        header = {
            "format": PROFILE_FORMAT,
            "model": self.model,
            "data": f"{self.data:032x}",
            "samples": self.samples,
            "random": self.random,
            "versions": self.versions,
            "tensors": [_described(n, s) for n, s in zip(names, rows, strict=True)],
        }
        if self.preprocessing:
            header["preprocessing"] = self.preprocessing
        text = json.dumps(header, sort_keys=True, separators=(",", ":"))
        counts = np.concatenate([s.counts for s in rows]) if rows else np.zeros(0, np.int64)
        channels = [s.channels for s in rows if s.channels is not None]
        extremes = [a for c in channels for a in (c.low, c.high)]
        buffer = io.BytesIO()
        arrays: dict[str, npt.NDArray[Any]] = {
            "header": np.frombuffer(text.encode(), np.uint8),
            "counts": counts.astype(np.uint32) if counts.max(initial=0) < 1 << 32 else counts,
            "extremes": np.concatenate(extremes) if extremes else np.zeros(0, np.float32),
        }
        np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
        return buffer.getvalue()


def _described(name: str, statistics: Statistics) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": name,
        "count": statistics.count,
        "low": float(statistics.low).hex(),
        "high": float(statistics.high).hex(),
        "exponent": statistics.exponent,
        "first": statistics.first,
        "bins": statistics.counts.size,
    }
    if (channels := statistics.channels) is not None:
        row |= {
            "axis": channels.axis,
            "each": channels.count,
            "sums": [format(s, "x") for s in channels.sums],
        }
    return row


def load_profile(path: str) -> Profile:
    """Read a profile. Raises UserError if the file cannot be read or is no profile."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            header = json.loads(bytes(archive["header"]).decode())
            counts, extremes = archive["counts"].astype(np.int64), archive["extremes"]
        if header["format"] != PROFILE_FORMAT:
            raise UserError(f"'{path}' is a profile of another version", "make a new profile")
        return _read(header, counts, extremes)
    except OSError as error:
        raise UserError(
            f"cannot read profile '{path}', {reason(error)}", "make one with --save-profile"
        ) from None
    except (ValueError, KeyError, TypeError, EOFError, IndexError, zipfile.BadZipFile):
        raise UserError(f"'{path}' is not a profile", "make one with --save-profile") from None


def _read(
    header: Mapping[str, Any], counts: npt.NDArray[np.int64], extremes: npt.NDArray[np.float32]
) -> Profile:
    profile = Profile(
        header["model"], int(header["data"], 16), header["samples"], header["random"], header["versions"]
    )
    profile.preprocessing = str(header.get("preprocessing", ""))
    place = at = 0
    for row in header["tensors"]:
        statistics = Statistics(
            row["count"],
            float.fromhex(row["low"]),
            float.fromhex(row["high"]),
            row["exponent"],
            row["first"],
            counts[place : place + row["bins"]].copy(),
        )
        if statistics.counts.size != row["bins"]:
            raise ValueError("cut short")
        place += row["bins"]
        if "axis" in row:
            sums = [int(s, 16) for s in row["sums"]]
            n = len(sums)
            low, high = extremes[at : at + n].copy(), extremes[at + n : at + 2 * n].copy()
            statistics.channels = Channels(row["axis"], low, high, sums, row["each"])
            at += 2 * n
        profile.tensors[row["name"]] = statistics
    return profile
