"""Input and output files of the commands: their formats and their text."""

import sys
from pathlib import Path

from qdialect.errors import UserError


def read_text(path: str) -> str:
    """A text file, or standard input for "-". UserError if it is not UTF-8."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode()
    except UnicodeDecodeError as error:
        raise UserError(
            f"'{path}' is not text, byte {error.start} is not UTF-8", "name ONNX files .onnx and text .mlir"
        ) from error


def input_format(path: str) -> str:
    """The format of an input, "mlir" or "onnx", by the extension. UserError for any other."""
    if path == "-":
        return "mlir"
    check_readable(path)
    return _format(path, "input")


def check_readable(path: str) -> None:
    """UserError unless `path` is a file that is there."""
    if not Path(path).exists():
        raise UserError(f"cannot open '{path}', no such file", "check the path")
    if Path(path).is_dir():
        raise UserError(f"cannot read '{path}', it is a folder", "name a file")


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


def check_model(path: str) -> None:
    """UserError unless `path` is a readable .onnx file."""
    check_readable(path)
    if _format(path, "input") != "onnx":
        raise UserError(f"'{path}' is not a .onnx file", "qdialect-opt reads text; name ONNX models .onnx")
    if Path(path).stat().st_size == 0:
        raise UserError(f"'{path}' is empty", "export the model again")
