"""`--report`: what a command did, and what it read and wrote."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qdialect.compiler.page.data import File
    from qdialect.compiler.report import Report


def files_read(arguments: argparse.Namespace) -> "list[File]":
    """The model as it is in front of the work, which may end in its place; nothing if no report was asked for."""
    return [] if arguments.report is None else _files("input", arguments.input)


def _files(role: str, path: str) -> "list[File]":
    from qdialect.compiler.page.data import File

    return [File.of(role, path)] if Path(path).is_file() else []


def write_report(arguments: argparse.Namespace, report: "Report", read: "list[File]") -> None:
    """Write the report that was asked for, if any, behind the model."""
    if arguments.report is None:
        return
    from qdialect.compiler.page.data import Circumstances, write_json
    from qdialect.compiler.page.html import write_html
    from qdialect.files import atomic_write

    files = (*read, *_files("output", arguments.output))
    around = Circumstances(shlex.join(["qdialect", *arguments.words]), files)
    write = write_json if arguments.report.lower().endswith(".json") else write_html
    with atomic_write(arguments.report) as file:
        file.write(write(report, around).encode())
