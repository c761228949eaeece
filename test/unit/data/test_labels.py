"""Where labels come from, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from image_classifier import SIZE
from PIL import Image

from qdialect.data.labels import Labels, class_folders, labelled
from qdialect.data.preprocessing import PLAIN
from qdialect.data.reading import Sample, checked, load_data
from qdialect.errors import UserError
from qdialect.evaluation.data import Input

IMAGES = [Input("x", (None, 3, SIZE, SIZE), np.dtype(np.float32))]
ROWS = [Input("x", (2, 3), np.dtype(np.float32))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with images `d/cat/1.png`, `d/cat/2.png`, `d/ant/deep/1.png`."""
    monkeypatch.chdir(tmp_path)
    for name in ("cat/1", "cat/2", "ant/deep/1"):
        path = tmp_path / "d" / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.zeros((SIZE, SIZE, 3), np.uint8)).save(path)
    (tmp_path / "d/.hidden").mkdir()
    (tmp_path / "d/.hidden/1.png").write_bytes(b"")
    (tmp_path / "d/empty").mkdir()
    return tmp_path


def of_images(source: str, *data: str) -> list[object]:
    """The labels of the images of folders, in the order in which they are read."""
    names = list(data or ("d",))
    labels = Labels(source, names)
    found = [labels.of(one, 1)[0] for one in load_data(names, IMAGES, PLAIN)]
    labels.finish()
    return found


def test_class_folders_sorted_by_name_are_the_classes(folder: Path):
    assert class_folders(Path("d")) == ["ant", "cat"]
    assert of_images("folders") == [0, 1, 1]


def test_the_classes_of_two_folders_are_counted_together(folder: Path):
    Path("e/bee").mkdir(parents=True)
    Image.fromarray(np.zeros((SIZE, SIZE, 3), np.uint8)).save("e/bee/1.png")
    assert of_images("folders", "d", "e") == [0, 2, 2, 1]


@pytest.mark.parametrize("head", ["", "file,label\n"])
def test_a_csv_of_files_and_numbers_or_names(head: str, folder: Path):
    Path("a.csv").write_text(f"{head}cat/1.png,3\ncat/2.png, 4\nant/deep/1.png,-1\n")
    assert of_images("a.csv") == [-1, 3, 4]
    Path("a.csv").write_text(f"{head}cat/1.png,b\ncat/2.png,c\nant/deep/1.png,b\n")
    assert of_images("a.csv") == [0, 0, 1]


def test_a_csv_of_boxes_and_of_masks(folder: Path):
    Path("a.csv").write_text(
        "ant/deep/1.png,7,0,1,2,3\n2.png,8,1,1,4,4\n2.png,9,0,0,1,1\ncat/1.png,7,0,0,1,1\n"
    )
    boxes = of_images("a.csv")
    assert np.array_equal(np.asarray(boxes[2]), [[8, 1, 1, 4, 4], [9, 0, 0, 1, 1]])
    mask = np.arange(4, dtype=np.uint8).reshape(2, 2)
    Image.fromarray(mask).save("m.png")
    np.save("m.npy", mask)
    Path("a.csv").write_text("cat/1.png,m.png\ncat/2.png,m.npy\nant/deep/1.png,m.npy\n")
    assert all(np.array_equal(np.asarray(one), mask) for one in of_images("a.csv"))


def test_an_array_in_the_order_of_the_data(folder: Path):
    np.save("l.npy", np.array([5, 6, 7]))
    assert of_images("l.npy") == [5, 6, 7]
    for wrong in ([5, 6], [5, 6, 7, 8]):
        np.save("l.npy", np.array(wrong))
        with pytest.raises(UserError, match=f"'l.npy' has {len(wrong)} labels"):
            of_images("l.npy")


@pytest.mark.parametrize("source", ["key:y", "array"])
def test_labels_follow_their_rows_into_batches(source: str):
    """Seven rows for a model of two: three batches, and the remainder is not used."""
    sample = Sample({"x": np.zeros((7, 3), np.float32), "y": np.arange(7)})
    labels = Labels(np.arange(7) if source == "array" else source)
    found = [tuple(right) for _, right in labelled(sample, checked([sample.arrays], ROWS), ROWS, labels)]
    assert found == [(0, 1), (2, 3), (4, 5)]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("folder", "'folder' names no labels; give folders, FILE.npy, FILE.csv, or key:NAME"),
        ("none.csv", "cannot read labels 'none.csv', no such file"),
        ("none.npy", "cannot read labels 'none.npy', no such file"),
        ("key:y", "has no array 'y', it has x; name the array of labels"),
        ("one.csv", "'d/cat/1.png' has no label in 'one.csv'"),
        ("wide.csv", "'wide.csv' has lines of 3 cells"),
        ("twice.csv", "'twice.csv' has two labels of one file"),
        ("mixed.csv", "the label 'b' is no number, others are"),
        ("box.csv", "1.png,7,0,1,2,c is no box"),
    ],
)
def test_what_are_no_labels(source: str, says: str, folder: Path):
    Path("one.csv").write_text("ant/deep/1.png,1\n")
    Path("wide.csv").write_text("1.png,1,2\n")
    Path("twice.csv").write_text("1.png,1\n1.png,2\n")
    Path("mixed.csv").write_text("1.png,1\n2.png,b\n")
    Path("box.csv").write_text("1.png,7,0,1,2,c\n")
    with pytest.raises(UserError) as caught:
        of_images(source)
    assert says in str(caught.value)


def test_data_without_class_folders(folder: Path):
    with pytest.raises(UserError, match="the data has no class folders"):
        of_images("folders", "d/cat")
    Image.fromarray(np.zeros((SIZE, SIZE, 3), np.uint8)).save("d/1.png")
    with pytest.raises(UserError, match=r"'d/1.png' is in no class folder"):
        of_images("folders")
