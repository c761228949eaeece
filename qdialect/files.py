"""
File access: reads confined to the input's folder, atomic writes of outputs.

A model's external files are read from its own folder only. Outputs appear whole or not at all: written beside the
target, then renamed over it.
"""

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from typing import BinaryIO, Self

from qdialect.errors import UserError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full file system or an exhausted quota."""


class Outputs:
    """
    Several files that appear together. `create` opens a temporary file in the target's own folder; leaving
    the `with` block renames all of them, or removes all of them if it was left by an exception.

    A rename within one folder is atomic, so no reader sees half a file, and an input that is also the output
    is read to its end before it is replaced.
    """

    def __init__(self) -> None:
        self._pending: list[tuple[Path, Path]] = []
        self._files: list[BinaryIO] = []
        self._named = ""

    def create(self, path: Path | str) -> BinaryIO:
        """Opens `path` for writing. UserError if its folder does not exist or it is a folder itself."""
        self._named = self._named or str(path)
        # A link stays a link: its target is replaced.
        target = Path(os.path.realpath(path))
        mode = _mode(target)
        if mode is not None and stat.S_ISDIR(mode):
            raise UserError(f"cannot write '{path}', it is a folder", "name a file")
        if mode is not None and not stat.S_ISREG(mode):
            self._files.append(file := target.open("wb"))  # a pipe or a device such as /dev/null
            return file
        try:
            name = target.with_name(f".{target.name[:200]}.{os.urandom(8).hex()}.tmp")
            file = open(name, "xb", opener=_private)
        except OSError as error:
            raise UserError(f"cannot write '{path}', {reason(error)}", "choose another output") from error
        self._files.append(file)
        self._pending.append((name, target))
        os.chmod(name, _default_mode() if mode is None else stat.S_IMODE(mode))
        return file

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *_details: object
    ) -> None:
        try:
            for file in self._files:
                file.close()  # which flushes
            if kind is None:
                self._commit()
            elif isinstance(error, OSError) and error.filename is None:
                raise error
        except OSError as full:  # of a write, which does not know its file
            if full.errno not in FULL:
                raise
            what = f"cannot write '{self._named}', {reason(full)}"
            raise UserError(what, "make room there, or choose another output") from full
        finally:
            for temporary, _ in self._pending:
                temporary.unlink(missing_ok=True)

    def _commit(self) -> None:
        """Renames every file; if one rename fails, the files that were there before come back."""
        with ExitStack() as undo:
            for temporary, target in self._pending:
                backup = temporary.with_suffix(".old") if target.exists() and len(self._pending) > 1 else None
                if backup is not None:
                    _keep(target, backup)
                    undo.callback(os.replace, backup, target)
                elif len(self._pending) > 1:
                    undo.callback(target.unlink, missing_ok=True)
                os.replace(temporary, target)
            undo.pop_all()
        for temporary, _ in self._pending:
            temporary.with_suffix(".old").unlink(missing_ok=True)


@contextmanager
def atomic_writes(paths: Sequence[Path | str]) -> Generator[list[BinaryIO]]:
    """Binary files for `paths`, which appear together when the block ends, or not at all if it raises."""
    with Outputs() as outputs:
        yield [outputs.create(path) for path in paths]


@contextmanager
def atomic_write(path: Path | str) -> Generator[BinaryIO]:
    """A binary file that appears at `path` when the block ends, or not at all if it raises."""
    with atomic_writes([path]) as [file]:
        yield file


def inside(folder: Path, name: str) -> Path:
    """
    The file that an input in `folder` calls `name`, a relative path.

    A link may stand on the way as long as it ends in `folder`. Raises UserError for an absolute path of any system,
    `..`, a backslash, a link out of `folder`, and a file that does not exist.
    """
    windows = PureWindowsPath(name)  # so that a name means the same wherever it is read
    if not name or "\0" in name or "\\" in name or windows.anchor or ".." in windows.parts:
        raise UserError(f"'{name}' is not inside the folder of the file that names it", "move it there")
    path, root = folder / name, os.path.realpath(folder)
    if os.path.commonpath((root, os.path.realpath(path))) != root:
        raise UserError(f"'{name}' leads out of folder '{folder}' by a link", "copy the file there")
    if not path.is_file():
        raise UserError(f"file '{name}' does not exist in folder '{folder}'", "copy it there")
    return path


def reason(error: OSError) -> str:
    """An OSError in plain words, without its number."""
    return (error.strerror or str(error)).lower()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _keep(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup)
    except OSError:  # not every file system has hard links
        import shutil  # takes longer than all else here

        shutil.copy2(target, backup)


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except OSError:
        return None


def _default_mode() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask
