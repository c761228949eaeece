"""`load` and `save`: models from and to ONNX files, messages and MLIR text."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from xdsl.dialects.builtin import ModuleOp

from qdialect.errors import UserError
from qdialect.files import Outputs, reason
from qdialect.ir.interface import only_module
from qdialect.onnx_io.export_attributes import LargeAside
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.external import (
    MAX_INTERNAL_BYTES,
    ExternalWriter,
    check_sources,
    note_sources,
    tensor_bytes,
)
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.messages import Model, inline_functions, read_message, read_model
from qdialect.onnx_io.wire import join
from qdialect.text import assembly, reading, weights
from qdialect.text.upstream import is_upstream, write_upstream

if TYPE_CHECKING:
    from onnx import ModelProto


class Message(Protocol):
    """An `onnx.ModelProto`: stated by what is asked of it, so that types are known without importing onnx."""

    def SerializeToString(self) -> bytes: ...


Source = str | Path | bytes | Message
"""Source of a model."""

TEXT = ".mlir"


def load(source: Source, *, folder: str | Path | None = None, keep_functions: bool = True) -> ModuleOp:
    """
    Read a model into a module, whose `func.func @main` is the graph.

    source: the path of an ONNX model, or of a text file `.mlir`; the bytes of an ONNX model; or a message, which
        is not modified.
    folder: where the external data of bytes and messages lies; None if they may have none.
    keep_functions: whether model-local functions stay; else they are inlined. Text is read as it is.

    Raises UserError for a file that cannot be read, for an invalid ONNX model, and,
    with its place, for text that is no module or does not verify. Raises TypeError for a source of another type.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        if path.suffix.lower() == TEXT:
            return _load_text(path)
        module = _imported(read_model(path), path.parent, keep_functions)
        note_sources(module, path)
        return module
    raw = source if isinstance(source, bytes) else _serialized(source)
    return _imported(
        read_message(raw, "the message"), None if folder is None else Path(folder), keep_functions
    )


def module_of(source: ModuleOp | Source) -> ModuleOp:
    """The module itself, or that of a model, with its functions inlined. Raises as `load` does."""
    return source if isinstance(source, ModuleOp) else load(source, keep_functions=False)


def _imported(model: Model, folder: Path | None, keep_functions: bool) -> ModuleOp:
    if not keep_functions and model.proto.functions:
        return import_model(inline_functions(model.whole()), folder)
    return import_model(model.proto, folder, large=model.large)


def _serialized(source: Message) -> bytes:
    if not hasattr(source, "SerializeToString"):
        raise TypeError(
            f"a model is loaded from a path, bytes or an onnx.ModelProto, not from {type(source).__name__}"
        )
    try:
        return source.SerializeToString()
    except Exception as error:  # ValueError, or protobuf's own, whatever its implementation
        raise UserError("the model does not fit into one message of 2 GiB", "load it from a file") from error


def _load_text(path: Path) -> ModuleOp:
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise UserError(f"cannot read '{path}', {reason(error)}", "check the path") from None
    except UnicodeDecodeError as error:
        raise UserError(f"'{path}' is not text, byte {error.start} is not UTF-8") from None
    return reading.read_text(text, str(path), path.parent)


def to_model(module: ModuleOp) -> ModelProto:
    """
    The ONNX message of a module, with all tensors in it.

    Raises UserError if ONNX cannot express the module, or if a file with its tensors cannot be read.
    """
    return export_model(only_module(module))


def save(module: ModuleOp, path: str | Path, *, external_data: bool | None = None) -> None:
    """
    Write a module: as text, with locations, if the path ends in `.mlir`, else as an ONNX model; a module compiled for a
    target of upstream MLIR in generic form. The file is written atomically.

    external_data: whether large tensors go to `<path>.data` beside the model; None: if they would not fit into one
        message. Both files appear or neither. Beside text, constants of more than 64 elements go to `<stem>.weights`.

    Raises UserError if ONNX cannot express the module, if a file cannot be read or written, or if the output
    holds tensors of the model that the module was read from.
    """
    path = Path(path)
    if not path.name:
        raise UserError(f"cannot write '{path}', it is a folder", "name a file")
    if is_upstream(only_module(module)):
        _save_upstream(module, path)
        return
    if path.suffix.lower() == TEXT:
        save_text([module], path)
        return
    if external_data is None:
        external_data = tensor_bytes(module) > MAX_INTERNAL_BYTES
    with Outputs() as outputs:
        aside = LargeAside()
        external = ExternalWriter(outputs, path)
        check_sources(module, path, *([external.path] if external_data else []))
        model = export_model(module, external if external_data else aside)
        try:
            message = model.SerializeToString(deterministic=True)
            pieces = join(message, {place: data.nbytes for place, data in aside.large.items()})
        except Exception as error:  # ValueError, or protobuf's own, whatever its implementation
            raise UserError(
                "the model does not fit into one message of 2 GiB", "write external data"
            ) from error
        file = outputs.create(path)
        for piece in pieces:
            for block in aside.large[piece].blocks() if isinstance(piece, int) else (piece,):
                file.write(block)


def _save_upstream(module: ModuleOp, path: Path) -> None:
    if path.suffix.lower() != TEXT:
        raise UserError(
            f"the module is upstream MLIR, not ONNX, and '{path}' is not a .mlir file", "name it OUT.mlir"
        )
    check_sources(module, path)
    text = StringIO()
    write_upstream(module, text)
    with Outputs() as outputs:
        outputs.create(path).write(text.getvalue().encode())


def save_text(
    modules: Sequence[ModuleOp], path: Path, *, generic: bool = False, inline: bool = False
) -> None:
    """
    Write modules as text, `// -----` between them, with locations, and with their large constants in `<stem>.weights`
    beside it, or, `inline`, as hex in it.

    Raises UserError if a file cannot be written or holds tensors of the model that a module was read from.
    """
    beside = path.with_suffix(".weights")
    for module in modules:
        check_sources(module, path, beside)
    text = StringIO()
    with Outputs() as outputs:
        large = weights.WeightsFile(outputs, beside)
        for number, module in enumerate(modules):
            text.write("// -----\n" if number else "")
            constants = "inline" if inline else large
            assembly.print_module(module, text, generic=generic, locations=True, constants=constants)
        outputs.create(path).write(text.getvalue().encode())
