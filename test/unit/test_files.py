"""Output files appear whole or not at all; weights are shared, aligned, and come from one folder only."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from xdsl.dialects.builtin import i8

from qdialect.dialects.onnx_tensor import TensorData, resolve_slice
from qdialect.dialects.onnx_types import tensor_type
from qdialect.errors import UserError
from qdialect.files import Outputs, atomic_write, atomic_writes
from qdialect.text.weights import ALIGNMENT, WeightsFile


def write_new(paths: Sequence[Path], then: Callable[[], object] = bool):
    """Writes `new` to every path, then does one more thing before the files appear."""
    with atomic_writes(paths) as files:
        for file in files:
            file.write(b"new")
        then()


def test_a_file_appears_when_it_is_whole(tmp_path: Path):
    with atomic_write(tmp_path / "a") as file:
        file.write(b"half")
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"half"
    assert os.listdir(tmp_path) == ["a"]


def test_an_exception_leaves_what_was_there(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError):
        write_new([tmp_path / "a", tmp_path / "b"], then=lambda: 1 // 0)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_if_the_second_rename_fails_the_first_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a").write_bytes(b"old")
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        if target.name == "c":
            raise OSError("disk on fire")
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OSError, match="disk on fire"):
        write_new([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_several_files_replace_old_ones(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"old")
    write_new([tmp_path / "a", tmp_path / "b"])
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {
        "a": b"new",
        "b": b"new",
    }


def test_a_link_and_a_mode_stay(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_mode_that_open_gives(tmp_path: Path):
    (tmp_path / "plain").touch()
    with atomic_write(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_device_is_not_replaced(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with atomic_write(tmp_path / "pipe") as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", [".", "missing/file"])
def test_what_cannot_be_written_is_the_users_mistake(name: str, tmp_path: Path):
    with pytest.raises(UserError, match="cannot write"), atomic_write(tmp_path / name):
        pass


def tensor(raw: bytes) -> TensorData:
    return TensorData(tensor_type(i8, (len(raw),)), raw)


def test_weights_are_aligned_and_written_once(tmp_path: Path):
    with Outputs() as outputs:
        weights = WeightsFile(outputs, tmp_path / "x.weights")
        first = weights.append(tensor(b"abc"))
        second = weights.append(tensor(bytes(range(100))))
        assert weights.append(tensor(b"abc")) == first
        third = weights.append(tensor(b"abd"))
    # 100 bytes from 64 on end at 164; the next multiple of 64 is 192.
    assert (first, second, third) == ((0, 3), (ALIGNMENT, 100), (3 * ALIGNMENT, 3))
    assert (tmp_path / "x.weights").stat().st_size == 3 * ALIGNMENT + 3
    assert bytes(resolve_slice(tmp_path, "x.weights", *second).view()) == bytes(range(100))


def test_no_weights_make_no_file(tmp_path: Path):
    with Outputs() as outputs:
        WeightsFile(outputs, tmp_path / "x.weights")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "name",
    [
        "/etc/hostname",
        "../x",
        "in/../../x",
        "..\\x",
        "C:\\x",
        "\\\\host\\x",
        "",
        ".",
        "in",
        "link",
        "links/x",
        "no",
        "a\0b",
    ],
)
def test_weights_come_from_the_folder_only(name: str, tmp_path: Path):
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    for file in (tmp_path / "x", folder / "x", folder / "in" / "x"):
        file.write_bytes(b"0123456789")
    (folder / "link").symlink_to(tmp_path / "x")
    (folder / "links").symlink_to(tmp_path)
    assert bytes(resolve_slice(folder, "in/x", 2, 3).view()) == b"234"
    with pytest.raises(UserError):
        resolve_slice(folder, name, 2, 3)


@pytest.mark.parametrize(("offset", "length"), [(0, 11), (10, 1), (-1, 3), (3, -1), (2**70, 1)])
def test_weights_outside_of_the_file_are_refused(offset: int, length: int, tmp_path: Path):
    (tmp_path / "x").write_bytes(b"0123456789")
    assert resolve_slice(tmp_path, "x", 0, 10).length == 10
    with pytest.raises(UserError, match="are not in 'x', which has 10"):
        resolve_slice(tmp_path, "x", offset, length)
