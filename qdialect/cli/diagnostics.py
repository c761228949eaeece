"""`--verify-diagnostics`: expected diagnostics, `// expected-error@+1 {{text}}`, against actual ones."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp

from qdialect.rewriting.remarks import Remark, remarks_of
from qdialect.text.reading import Diagnostic


@dataclass
class Expectation:
    """`expected-error@... {{text}}`: a diagnostic of that severity on `line` (None: of unknown location)."""

    severity: str
    line: int | None
    pattern: re.Pattern[str]
    text: str
    at: int
    """The line of the comment itself."""
    met: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        same = (self.severity, self.line) == (diagnostic.severity, diagnostic.line)
        return same and self.pattern.search(diagnostic.message) is not None


_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)? *"
    r"(?:@(?P<at>[+-][0-9]+|above|below|unknown))? *(?P<count>[0-9]+)? *\{\{(?P<text>.*)\}\} *$"
)


def expectations(text: str) -> Iterator[Expectation]:
    """The diagnostics that `text` expects, in mlir-opt's notation, one for each occurrence."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if (expectation := _EXPECTED.search(line)) is None:
            continue
        place = _place(lines, number, expectation["at"])
        pattern = (
            _pattern(expectation["text"]) if expectation["re"] else re.compile(re.escape(expectation["text"]))
        )
        for _ in range(int(expectation["count"] or 1)):
            yield Expectation(expectation["severity"], place, pattern, expectation["text"], number)


def _place(lines: list[str], number: int, at: str | None) -> int | None:
    """The line that a comment on line `number` refers to (from one); consecutive comments refer to one line."""
    step = {"above": -1, "below": 1}.get(at or "")
    if step is None:
        return None if at == "unknown" else number + int(at or 0)
    place = number + step
    while 1 <= place <= len(lines) and _EXPECTED.search(lines[place - 1]):
        place += step
    return place


def _pattern(text: str) -> re.Pattern[str]:
    """`-re`: plain text with regular expressions in inner braces."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(part if k % 2 else re.escape(part) for k, part in enumerate(parts)))


@dataclass
class Verifier:
    """Matches diagnostics with expectations; mismatches are written to `stream`, one line each."""

    file: str
    stream: TextIO
    mismatches: int = field(default=0, init=False)

    def check(self, text: str, produced: Iterable[Diagnostic]) -> None:
        """Compares one chunk. Each expectation matches one diagnostic, and each diagnostic one expectation."""
        expected = list(expectations(text))
        for diagnostic in produced:
            met = next((one for one in expected if not one.met and one.matches(diagnostic)), None)
            if met is not None:
                met.met = True
            else:
                self._report(str(diagnostic).replace(": ", ": error: unexpected ", 1))
        for one in (one for one in expected if not one.met):
            self._report(
                f'{self.file}:{one.at}: error: expected {one.severity} "{one.text}" was not produced'
            )

    def _report(self, line: str) -> None:
        self.mismatches += 1
        print(line, file=self.stream)


def remark_diagnostics(module: ModuleOp, file: str) -> list[Diagnostic]:
    """Remarks as diagnostics, each at the line of its op, if known."""
    return [_remark_diagnostic(remark, file) for remark in remarks_of(module)]


def _remark_diagnostic(remark: Remark, file: str) -> Diagnostic:
    message = str(remark).removeprefix("remark: ")
    match getattr(remark, "location", None):
        case FileLineColLoc() as place:
            return Diagnostic("remark", message, place.filename.data, place.line.data, place.column.data)
        case _:
            return Diagnostic("remark", message, file)
