"""
`Labels`: what a model should have answered, for each sample: from class folders, an array, a key of .npz files, a CSV.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from qdialect.data.images import IMAGE_ENDINGS
from qdialect.data.reading import Sample, data_files
from qdialect.errors import UserError
from qdialect.evaluation.data import Arrays, Input
from qdialect.files import reason
from qdialect.numerics import Array

KINDS_OF_LABELS = "folders, FILE.npy, FILE.csv, or key:NAME of .npz data"
HEADS = {"file", "filename", "image", "path", "name", "id"}
"""First cells of a CSV's line of titles."""
BOX = 6
"""Cells of a CSV's line with a box: file, class, x1, y1, x2, y2."""


def class_folders(folder: Path) -> list[str]:
    """The names of the subfolders that hold images, sorted as text."""
    files, _ = data_files(folder)
    parts = [one.relative_to(folder).parts for one in files if one.suffix.lower() in IMAGE_ENDINGS]
    return sorted({part[0] for part in parts if len(part) > 1})


def _length(array: Any) -> int:
    shape = np.shape(array)
    return shape[0] if shape else 1


class Labels:
    """Labels of samples, in the order of the data. Raises UserError for a source that has none."""

    def __init__(self, source: str | Sequence[Any] | Array, data: Sequence[str] = ()):
        """source: as `--labels` has it, or the labels themselves. data: the paths of the data."""
        self.classes: list[str] = []
        """Names of classes by number, if labels were names."""
        self._array: Sequence[Any] | Array | None = None
        self._key: str | None = None
        self._files: Mapping[str, Any] = {}
        self._at = 0
        self._source = source if isinstance(source, str) else "the labels"
        if not isinstance(source, str):
            self._array = source
        elif source == "folders":
            self._of_folders(data)
        elif source.startswith("key:"):
            self._key = source.removeprefix("key:")
        elif source.lower().endswith(".npy"):
            self._array = _read_array(Path(source))
        elif source.lower().endswith(".csv"):
            self._files = self._read_table(Path(source))
        else:
            raise UserError(f"'{source}' names no labels", f"give {KINDS_OF_LABELS}")

    def _of_folders(self, data: Sequence[str]) -> None:
        folders = [Path(one) for one in data]
        self.classes = sorted({name for one in folders if one.is_dir() for name in class_folders(one)})
        if len(self.classes) < 2:
            raise UserError(
                "the data has no class folders: subfolders of --data, one for each class, that hold images",
                f"give {KINDS_OF_LABELS}",
            )

    def of(self, sample: Sample, rows: int) -> Sequence[Any] | Array:
        """The labels of a sample of `rows` rows. Raises UserError if it has none, or another number."""
        if self._key is not None:
            if self._key not in sample.arrays:
                where = f"'{sample.file}'" if sample.file else "the data"
                raise UserError(
                    f"{where} has no array '{self._key}', it has {', '.join(sample.arrays)}",
                    "name the array of labels: --labels key:NAME",
                )
            found: Sequence[Any] | Array = np.atleast_1d(sample.arrays[self._key])
        elif self._array is not None:
            found = self._array[self._at : self._at + rows]
            self._at += rows
            if len(found) < rows:
                raise UserError(
                    f"{self._named()} has {len(self._array)} labels, the data more samples",
                    "give one for each",
                )
        elif sample.file is None:
            raise UserError(
                f"the data has no files, {self._named()} has labels of files", "give key:NAME or a .npy"
            )
        elif self._files:
            found = [self._of_file(sample.file, sample.folder)]
        else:
            found = [self._class_of(sample.file, sample.folder)]
        if len(found) != rows:
            raise UserError(
                f"{self._named()} has {len(found)} labels for {rows} samples of '{sample.file or 'the data'}'",
                "give one for each sample",
            )
        return found

    def finish(self) -> None:
        """Raise UserError if the data had fewer samples than there are labels."""
        if self._array is not None and self._at < len(self._array):
            raise UserError(
                f"{self._named()} has {len(self._array)} labels, the data {self._at} samples",
                "give one for each",
            )

    def _named(self) -> str:
        return f"'{self._source}'" if self._source != "the labels" else self._source

    def _class_of(self, file: Path, folder: Path | None) -> int:
        parts = () if folder is None else file.relative_to(folder).parts[:-1]
        if not parts or parts[0] not in self.classes:
            raise UserError(f"'{file}' is in no class folder", "move it, or give labels in a CSV")
        return self.classes.index(parts[0])

    def _of_file(self, file: Path, folder: Path | None) -> Any:
        names = [] if folder is None else [file.relative_to(folder).as_posix()]
        for name in (*names, file.as_posix(), file.name):
            if name in self._files:
                return self._files[name]
        raise UserError(f"'{file}' has no label in {self._named()}", "add a line FILE,LABEL")

    def _read_table(self, path: Path) -> Mapping[str, Any]:
        """Labels by file of a CSV with lines of file and label, or of file, class and corners of a box."""
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                rows = [[cell.strip() for cell in row] for row in csv.reader(file) if any(row)]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            said = reason(error) if isinstance(error, OSError) else str(error)
            raise UserError(f"cannot read labels '{path}', {said}", f"give {KINDS_OF_LABELS}") from None
        rows = rows[1:] if rows and rows[0][0].lower() in HEADS else rows
        widths = {len(row) for row in rows}
        if widths == {BOX}:
            return self._boxes(path, rows)
        if widths != {2}:
            raise UserError(
                f"'{path}' has lines of {' and '.join(map(str, sorted(widths))) or 'no'} cells",
                "a line is FILE,LABEL, or FILE,CLASS,X1,Y1,X2,Y2 for a box",
            )
        texts = {name: text for name, text in rows}
        if len(texts) < len(rows):
            raise UserError(f"'{path}' has two labels of one file", "give one for each")
        numbers = {name: _number(text, path.parent) for name, text in texts.items()}
        if all(number is None for number in numbers.values()):
            self.classes = sorted(set(texts.values()))
            return {name: self.classes.index(text) for name, text in texts.items()}
        if wrong := next((name for name, number in numbers.items() if number is None), None):
            raise UserError(f"'{path}': the label '{texts[wrong]}' is no number, others are", "give one kind")
        return numbers

    def _boxes(self, path: Path, rows: Sequence[Sequence[str]]) -> Mapping[str, Array]:
        names = {row[1] for row in rows}
        is_named = not all(name.isdecimal() for name in names)
        self.classes = sorted(names) if is_named else []
        found: dict[str, list[list[float]]] = {}
        for row in rows:
            try:
                number = self.classes.index(row[1]) if is_named else int(row[1])
                found.setdefault(row[0], []).append([number, *map(float, row[2:])])
            except ValueError:
                raise UserError(
                    f"'{path}': {','.join(row)} is no box", "a line is FILE,CLASS,X1,Y1,X2,Y2"
                ) from None
        return {name: np.array(boxes, np.float64) for name, boxes in found.items()}


def _read_array(path: Path) -> Array:
    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise UserError(f"cannot read labels '{path}', {reason(error)}", f"give {KINDS_OF_LABELS}") from None
    except ValueError:
        raise UserError(f"'{path}' is not a .npy file of plain numbers", "save it with numpy.save") from None
    if not np.ndim(array):
        raise UserError(f"'{path}' is one number", "give a label for each sample")
    return array


def _number(text: str, folder: Path) -> Any:
    """A label of a CSV: a number, a mask from a .png or .npy file, or None for the name of a class."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if text.lower().endswith(".npy"):
        return _read_array(folder / text)
    if text.lower().endswith(".png"):
        try:
            with import_module("PIL.Image").open(folder / text) as image:
                return np.asarray(image)
        except ImportError:
            raise UserError("masks need Pillow", "pip install pillow, or save them as arrays") from None
        except OSError:
            raise UserError(
                f"'{folder / text}' is not an image that Pillow reads", "check the file"
            ) from None
    return None


def rows_of(arrays: Mapping[str, Array], inputs: Sequence[Input]) -> int:
    """The number of samples of a feed: the first axis of the model's first input."""
    return _length(arrays[inputs[0].name]) if inputs and inputs[0].name in arrays else 1


def labelled(
    sample: Sample, feeds: Iterator[Arrays], inputs: Sequence[Input], labels: Labels
) -> Iterator[tuple[Arrays, Sequence[Any] | Array]]:
    """The feeds that a sample is cut into, each with the labels of its rows. Raises UserError as `Labels.of`."""
    every = labels.of(sample, rows_of(sample.arrays, inputs))
    at = 0
    for feed in feeds:
        count = rows_of(feed, inputs)
        yield feed, every[at : at + count]
        at += count
