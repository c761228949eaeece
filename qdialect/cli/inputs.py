"""Input and output files of the commands: formats by extension, checks, standard input and output."""

import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from qdialect.compiler.options import UPSTREAM_FORMS
from qdialect.errors import UserError
from qdialect.targets import target


def read_text(path: str) -> str:
    """A text file, or standard input for "-". UserError if it is not UTF-8."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode()
    except UnicodeDecodeError as error:
        name = "standard input" if path == "-" else f"'{path}'"
        raise UserError(
            f"{name} is not text, byte {error.start} is not UTF-8", "name ONNX files .onnx and text .mlir"
        ) from error


def input_format(path: str) -> str:
    """The format of an input, "mlir" or "onnx", by the extension. UserError for any other."""
    if path == "-":
        return "mlir"
    check_readable(path)
    return "onnx" if Path(path).suffix.lower() in MODEL_ENDINGS else _format(path, "input")


def check_readable(path: str) -> None:
    """UserError unless `path` is an existing file."""
    if not path or not Path(path).exists():
        raise UserError(f"cannot open '{path}', no such file", "check the path")
    if Path(path).is_dir():
        raise UserError(f"cannot read '{path}', it is a folder", "name a file")


def check_writable(path: str) -> None:
    """UserError for an output whose folder does not exist, or that is a folder."""
    if Path(path).is_dir():
        raise UserError(f"cannot write '{path}', it is a folder", "name a file")
    if not Path(path).parent.is_dir():
        raise UserError(f"cannot write '{path}', no such file or directory", "choose another output")


def output_format(path: str) -> str:
    """The format of an output, "mlir" or "onnx", by the extension; standard output and devices get text."""
    device = Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
    return "mlir" if path == "-" or device else _format(path, "output")


def _format(path: str, what: str) -> str:
    extension = Path(path).suffix.lower()
    if extension not in (".mlir", ".onnx"):
        raise UserError(
            f"the {what} '{path}' is neither a .mlir nor a .onnx file", "name it by what it holds"
        )
    return extension[1:]


MODEL_ENDINGS = (".onnx", ".pb")
"""Extensions of ONNX models."""


def check_model(path: str) -> None:
    """UserError unless `path` is a readable .onnx file, or - for standard input."""
    if path == "-":
        return
    check_readable(path)
    if Path(path).suffix.lower() not in MODEL_ENDINGS:
        _format(path, "input")
        raise UserError(f"'{path}' is not a .onnx file", "qdialect-opt reads text; name ONNX models .onnx")
    if Path(path).stat().st_size == 0:
        raise UserError(f"'{path}' is empty", "export the model again")


_SPOOLED: list[str] = []
"""Path of the file to which standard input has been copied, if it has been."""


@contextmanager
def model_file(path: str) -> Generator[str]:
    """
    The path of a readable model; standard input is copied to a temporary file.

    UserError unless `path` is a readable .onnx file, or if standard input is used twice.
    """
    check_model(path)
    if path != "-":
        yield path
        return
    if _SPOOLED:
        raise UserError("standard input can hold only one model", "give a file for the other")
    from tempfile import TemporaryDirectory  # for streams alone: keeps start-up short

    with TemporaryDirectory(prefix="qdialect-") as folder:
        name = str(Path(folder) / "stdin.onnx")
        _SPOOLED.append(name)
        try:
            data = sys.stdin.buffer.read()
            if not data:
                raise UserError("standard input is empty", "pipe a model into it, or name a file")
            Path(name).write_bytes(data)
            yield name
        except UserError as error:
            text = str(error).replace(name, "-")
            if folder in text:  # where external data was looked for
                raise UserError("a model on standard input has no folder of data", "name its file") from None
            raise UserError(text) from None
        finally:
            _SPOOLED.clear()


def output_endings(name: str) -> tuple[str, ...]:
    """Valid extensions of the output for a target, the usual one first."""
    form = target(name).form
    if form not in UPSTREAM_FORMS:
        return (".onnx",)
    binaries = {"linalg": (".so", ".vmfb"), "tosa": (".tosa",)}
    return (".mlir", *binaries.get(form, ()))


def targets_of(ending: str) -> list[str]:
    """The targets of upstream MLIR whose output may have an extension."""
    return [name for name in UPSTREAM_FORMS if ending in output_endings(name)]


@contextmanager
def streams(arguments: Namespace) -> Generator[None]:
    """
    Temporary files in place of `-`: a copy of standard input, and one that is copied to standard output.

    The arguments name the files while the block runs. UserError if there is no model on standard input.
    """
    with ExitStack() as stack:
        if getattr(arguments, "input", None) == "-":
            arguments.input = stack.enter_context(model_file("-"))
        if getattr(arguments, "output", None) == "-":
            from tempfile import TemporaryDirectory  # likewise

            folder = Path(stack.enter_context(TemporaryDirectory(prefix="qdialect-")))
            arguments.output = str(folder / f"stdout{output_endings(arguments.target)[0]}")
            yield
            written = sorted(folder.iterdir())
            if len(written) > 1:
                raise UserError("external data does not go to standard output", "name a file with -o")
            for file in written:
                sys.stdout.buffer.write(file.read_bytes())
        else:
            yield
