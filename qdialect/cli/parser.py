"""`Parser`: an argument parser with suggestions for unknown words, and options with optional values."""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from qdialect.errors import did_you_mean

_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<choices>.*)\)$")
DATA_ENDINGS = (".npz", ".npy")
"""Extensions of data files."""


def _hint(word: str, known: Iterable[str]) -> str:
    """`did_you_mean`, to append to a message."""
    near = did_you_mean(word, known)
    return f"; {near}" if near else ""


def _columns() -> int:
    """Columns of the terminal, as `shutil.get_terminal_size`, whose import takes longer than parsing arguments."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # pyright: ignore
    except (AttributeError, ValueError, OSError):
        return 80


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str):
        super().__init__(prog, width=_columns() - 2)  # as the base class, which asks `shutil`


class _Once(argparse.Action):
    """Action that stores the one value of an option: of two, the second would replace the first in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        space: argparse.Namespace,
        value: Any,
        option_string: str | None = None,
    ) -> None:
        seen: frozenset[str] = getattr(space, "seen", frozenset())
        if option_string is not None and self.dest in seen:
            raise argparse.ArgumentError(self, "is given twice: give one value")
        space.seen = seen | {self.dest}
        setattr(space, self.dest, value)


class Parser(argparse.ArgumentParser):
    """An argument parser that suggests the most similar word for an unknown one, and refuses a second value."""

    def __init__(self, *arguments: Any, **named: Any):
        super().__init__(*arguments, formatter_class=_Formatter, **named)
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        if (choice := _CHOICE.search(message)) is not None:
            message += _hint(choice["word"], re.findall(r"[\w.-]+", choice["choices"]))
        super().error(message)

    def unrecognized(self, words: Sequence[str], hint: str = "") -> NoReturn:
        """Exit with the usage, the unknown words, and the most similar option or a hint."""
        options = self._option_string_actions
        first = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
        hint = hint or (_hint(first, options) if first else "")
        self.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def bind_optional_values(argv: Sequence[str], option: str) -> list[str]:
    """Arguments in which `option` takes its value after `=` only, never the file that follows it."""
    return [f"{word}=" if word == option else word for word in argv]


def misplaced_value(argv: Sequence[str], option: str) -> str:
    """Error message for a data file that follows an option instead of `=`; empty if there is none."""
    for word, value in pairwise(argv):
        if word == option and value.lower().endswith(DATA_ENDINGS):
            return f"{option} takes its file behind '=': {option}={value}"
    return ""
