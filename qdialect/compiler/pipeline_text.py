"""
Textual pass pipelines, `a,b{x=1 y="s" l=1,2 flag}` or `builtin.module(a,b)`: parser, runner, printer.

`a + b` is one step: the patterns of both as one greedy set.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes as xdsl_passes
from xdsl.utils.arg_spec import ArgSpec, ParameterListType, ParameterType
from xdsl.utils.hints import isa, type_repr

from qdialect.errors import UserError, did_you_mean
from qdialect.ir.interface import only_module
from qdialect.ops.outside import outside_passes
from qdialect.rewriting.manager import PassManager, Verified
from qdialect.rewriting.passes import Composed, Pass, RewritePass, Role, classes_of, composable, parts_of
from qdialect.rewriting.remarks import Remark, remarks_of
from qdialect.text.reading import make_context
from qdialect.transforms import get_all_passes

Passes = Mapping[str, Callable[[], type[ModulePass]]]


class PipelineError(UserError):
    """Invalid pipeline text: an error on the command line, not in the input."""


def get_available_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Factories of our passes, and of xDSL's that pipelines need, by name; `outside_passes` has more."""
    theirs = xdsl_passes()
    return {**{name: theirs[name] for name in _XDSL_SUMMARIES}, **get_all_passes()}


@cache
def role_of(name: str) -> Role:
    """The role of a pass, by its name: the default one of a pass that states none."""
    factory = get_all_passes().get(name) or outside_passes().get(name)
    role = Pass.role if factory is None else getattr(factory(), "role", Pass.role)
    assert isinstance(role, Role)
    return role


def summarize(pass_type: type[ModulePass]) -> tuple[str, str]:
    """A pass's one-line summary and its exactness class, for `--help`."""
    doc = _XDSL_SUMMARIES.get(pass_type.name, pass_type.__doc__ or "").strip()
    summary = " ".join(re.split(r"\n\s*\n", doc)[0].split())
    return summary, classes_of(pass_type)


SHOWN_CHARACTERS = 32
"""Number of characters in front of a mistake that its message shows."""
_XDSL_SUMMARIES = {
    "canonicalize": "Apply every op's own simplifications.",
    "cse": "Merge ops that compute the same.",
    "dce": "Remove ops whose results nobody uses.",
}


# --- text to passes


_TOKEN = re.compile(
    r'(?:\s|//[^\n]*\n)*(?:(?P<mark>[(){},=]|\+(?![\d.i]))|"(?P<string>(?:\\.|[^"\\])*)"|'
    r'(?P<word>(?:[^\s(){},="+]|\+(?=[\d.i]))+))'
)


class _Token(NamedTuple):
    kind: str  # "mark", "string", "word" or "end"
    text: str
    start: int = 0


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    text = re.sub(r"\s*(//[^\n]*)?$", "", text)
    while position < len(text):
        if (token := _TOKEN.match(text, position)) is None:
            raise PipelineError(f"bad pass pipeline at '{text[position:].strip()}'", "close the quotes")
        kind = str(token.lastgroup)
        yield _Token(kind, token[kind], token.start(kind))
        position = token.end()
    yield _Token("end", "", start=len(text))


class _Reader:
    """A recursive descent over the tokens of a pipeline."""

    def __init__(self, text: str):
        self._text, self._tokens = text, list(_tokens(text))
        self._next = 0

    @property
    def token(self) -> _Token:
        return self._tokens[self._next]

    def take(self, kind: str, text: str | None = None) -> str | None:
        if self.token.kind != kind or (text is not None and self.token.text != text):
            return None
        self._next += 1
        return self._tokens[self._next - 1].text

    def expect(self, kind: str, text: str | None = None, what: str = "") -> str:
        taken = self.take(kind, text)
        if taken is None:
            there = f"'{self.token.text}'" if self.token.text else "the end"
            before = self._text[: self.token.start].rstrip()[-SHOWN_CHARACTERS:]
            raise PipelineError(
                f"bad pass pipeline: expected {what or repr(text)} but found {there}"
                + (f" behind '{before}'" if before else ""),
                "write 'a,b{option=1}' or 'builtin.module(a,b{option=1})'",
            )
        return taken

    def pipeline(self) -> list[list[ArgSpec]]:
        """`pass (+ pass)* (, ...)*`; `builtin.module(...)` is equivalent to its contents."""
        steps: list[list[ArgSpec]] = []
        while True:
            name = self.expect("word", what="a pass name")
            if self.take("mark", "("):
                if name not in ("builtin.module", "module"):
                    raise PipelineError(
                        f"bad pass pipeline: cannot nest under '{name}'", "passes run on builtin.module"
                    )
                steps += [] if self.token[:2] == ("mark", ")") else self.pipeline()
                self.expect("mark", ")")
            else:
                steps.append([self.spec(name)])
            while self.take("mark", "+"):
                steps[-1].append(self.spec(self.expect("word", what="a pass name")))
            if not self.take("mark", ","):
                return steps

    def spec(self, name: str) -> ArgSpec:
        """A pass with its options, if any follow."""
        return ArgSpec(name, self.options() if self.take("mark", "{") else {})

    def options(self) -> dict[str, ParameterListType]:
        """`key` or `key=value(,value)*`, separated by blanks, up to `}`; values stay text."""
        options: dict[str, ParameterListType] = {}
        while not self.take("mark", "}"):
            key = self.expect("word", what="an option").replace("-", "_")
            if key in options:
                raise PipelineError(f"bad pass pipeline: option '{key}' is given twice", "give it once")
            values: list[ParameterType] = []
            if self.take("mark", "="):
                values.append(self.value())
                while self.take("mark", ","):
                    values.append(self.value())
            options[key] = tuple(values)
        return options

    def value(self) -> ParameterType:
        if (text := self.take("string")) is not None:
            return _Quoted(re.sub(r"\\(.)", r"\1", text))
        return self.expect("word", what="a value")


class _Quoted(str):
    """Text in quotes: never a number."""


def parse_pipeline(text: str, available: Passes) -> list[ModulePass]:
    """The passes that `text` names, with their options. PipelineError for invalid text."""
    if not text.strip():
        return []
    reader = _Reader(text)
    steps = reader.pipeline()
    reader.expect("end", what="','")
    return [_composed([_make(spec, available) for spec in step]) for step in steps]


def _composed(passes: list[ModulePass]) -> ModulePass:
    parts = [one for one in passes if isinstance(one, RewritePass) and composable(one)]
    if len(passes) == 1:
        return passes[0]
    if len(parts) < len(passes):
        alone = next(one for one in passes if one not in parts)
        raise PipelineError(
            f"pass '{alone.name}' does more than apply patterns", "put ',' around it, not '+'"
        )
    return Composed(tuple(parts))


def run(module: ModuleOp, pipeline: str) -> list[Remark]:
    """
    Run passes on a module in place, which verifies after each.

    pipeline: as `qdialect-opt -p` takes it: `raise-qdq,lower-to-qdq{target=tensorrt}`, or `builtin.module(...)`.

    Returns the remarks, in the order in which they arose. Raises UserError for text that is no
    pipeline, an unknown pass or option, and a pass that fails on the user's input.
    """
    passes = parse_pipeline(pipeline, get_available_passes())
    PassManager(Verified(), context=make_context()).run(passes, only_module(module))
    return list(remarks_of(module))


def pipeline_text(passes: Iterable[ModulePass]) -> str:
    """The text that `parse_pipeline` reads back to equal passes."""
    return f"builtin.module({','.join(map(step_text, passes))})"


def step_text(step: ModulePass) -> str:
    """One pass with its options, or several with `+` between them."""
    return " + ".join(_spec_text(part.spec()) for part in parts_of(step))


def _spec_text(spec: ArgSpec) -> str:
    options = [f"{k}={','.join(map(_value_text, v))}" if v else k for k, v in spec.parameters.items()]
    return f"{spec.name}{{{' '.join(options)}}}" if options else spec.name


def _value_text(value: ParameterType) -> str:
    if isinstance(value, str):
        return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _make(spec: ArgSpec, available: Passes) -> ModulePass:
    factory = available.get(spec.name) or outside_passes().get(spec.name)
    if factory is None:
        near = did_you_mean(spec.name, [*available, *outside_passes()], "--help lists the passes")
        raise PipelineError(f"unknown pass '{spec.name}'", near)
    pass_type = factory()
    known = [f.name for f in fields(pass_type) if f.init]
    types = get_type_hints(pass_type)
    for key in spec.parameters:
        if key not in known:
            help_ = f"its options: {', '.join(known)}" if known else "it has none"
            raise PipelineError(f"pass '{spec.name}' has no option '{key}'", did_you_mean(key, known, help_))
    typed = {key: _typed(spec.name, key, values, types[key]) for key, values in spec.parameters.items()}
    try:
        return pass_type.from_pass_spec(ArgSpec(spec.name, typed))
    except ValueError as error:
        raise PipelineError(f"pass '{spec.name}': {error}", "--help lists the passes") from error


def _typed(pass_name: str, key: str, values: ParameterListType, hint: Any) -> ParameterListType:
    """The option's values converted to its field's type: `1` is a float for a float field, no value is true."""
    accepted = _leaves(hint)
    if not values and bool in accepted:
        return (True,)
    if not values and (NoneType in accepted or isa((), hint)):
        return ()
    for read in _READINGS if values else []:
        candidate = tuple(typed for value in values if (typed := read(value)) is not None)
        if len(candidate) != len(values) or (bool not in accepted and isinstance(candidate[0], bool)):
            continue
        if isa(candidate, hint) or (len(candidate) == 1 and isa(candidate[0], hint)):
            return candidate
    text = ",".join(str(value) for value in values) or "nothing"
    raise PipelineError(f"pass '{pass_name}': option '{key}' is {text}", f"it takes {type_repr(hint)}")


def _leaves(hint: Any) -> set[Any]:
    """The plain types in a type expression: of `tuple[int, ...] | None`, int, ... and None's."""
    return set[Any]().union(*map(_leaves, arguments)) if (arguments := get_args(hint)) else {hint}


def _read_bool(value: ParameterType) -> bool | None:
    return {"true": True, "false": False}.get(str(value)) if not isinstance(value, _Quoted) else None


def _read_int(value: ParameterType) -> int | None:
    plain = not isinstance(value, _Quoted) and re.fullmatch(r"[-+]?[0-9]+", str(value))
    return int(value) if plain else None


def _read_float(value: ParameterType) -> float | None:
    number = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?inf|nan"
    plain = not isinstance(value, _Quoted) and re.fullmatch(number, str(value))
    return float(value) if plain else None


_READINGS: list[Callable[[ParameterType], ParameterType | None]] = [_read_bool, _read_int, _read_float, str]
