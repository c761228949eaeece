"""docs/quantize-walk.md: its blocks are one session that prints what they say, and what it names is where it says."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "quantize-walk.md").read_text()
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`(\w+)`(?: \|)?\s\(?`((?:\w+/)*\w+)\.py`")
FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")
FOLDERS = ("", "qdialect/quantizer/")


def without_numbers(text: str) -> list[str]:
    """The lines, with each number as N: noise and times differ from machine to machine."""
    return re.sub(r"-?\d+(\.\d+)?", "N", text).splitlines()


def test_the_walk_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.syspath_prepend("examples")
    names: dict[str, Any] = {}
    printed: list[str] = []
    for kind, text in BLOCK.findall(PAGE):
        if kind == "python":
            with redirect_stdout(StringIO()) as out:
                exec(compile(text, "docs/quantize-walk.md", "exec"), names)
            printed = without_numbers(out.getvalue())
        else:
            for line in without_numbers(text):
                assert line in printed
    assert names["found"].best.integer


@pytest.mark.parametrize("file", sorted({*FILE.findall(PAGE)}))
def test_a_file_of_the_walk_exists(file: str) -> None:
    assert any((ROOT / folder / file).is_file() for folder in FOLDERS)


@pytest.mark.parametrize(("name", "file"), NAMED.findall(PAGE))
def test_a_function_of_the_walk_is_in_its_file(name: str, file: str) -> None:
    module = next(folder for folder in FOLDERS if (ROOT / folder / f"{file}.py").is_file()) + file
    dotted = module.replace("/", ".")
    dotted = f"qdialect.{dotted}" if dotted.startswith("transforms.") else dotted
    assert hasattr(import_module(dotted), name)
