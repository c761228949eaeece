"""Command lines as people write them: the usage of the subcommand, and what a wrong word was meant to be."""

import argparse
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NoReturn

from qdialect.errors import nearest

_CHOICE = re.compile(r"invalid choice: '(?P<word>[^']*)' \(choose from (?P<choices>.*)\)$")
DATA = (".npz", ".npy")
"""What data is called."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'X'?`, whatever its case; empty if nothing is near."""
    by_case = {one.lower(): one for one in known}
    near = nearest(word.lower(), by_case)
    return f"; did you mean '{by_case[near[0]]}'?" if near else ""


class Parser(argparse.ArgumentParser):
    """A parser that says what a wrong word may have been meant to be."""

    def error(self, message: str) -> NoReturn:
        if (choice := _CHOICE.search(message)) is not None:
            message += did_you_mean(choice["word"], re.findall(r"[\w.-]+", choice["choices"]))
        super().error(message)

    def unrecognized(self, words: Sequence[str], hint: str = "") -> NoReturn:
        """Ends with the usage, what was not understood, and the nearest option or a hint."""
        options = self._option_string_actions
        first = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
        hint = hint or (did_you_mean(first, options) if first else "")
        self.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def bind_optional_values(argv: Sequence[str], option: str) -> list[str]:
    """An option takes its value behind `=` only, so that it never takes the file that follows it."""
    return [f"{word}=" if word == option else word for word in argv]


def misplaced_value(argv: Sequence[str], option: str) -> str:
    """What is wrong where data follows an option that takes its value behind `=`; empty if none does."""
    for word, value in pairwise(argv):
        if word == option and value.lower().endswith(DATA):
            return f"{option} takes its file behind '=': {option}={value}"
    return ""
