"""The arguments of the `qdialect` command. Nothing heavy is imported here: a wrong word must fail at once."""

import argparse
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any

from qdialect.compiler.options import MODEL, RESULT, Options, flag
from qdialect.targets import target_names

COMMANDS = {
    "compile": "compile a quantized ONNX model to integer arithmetic",
    "quantize": "not there yet: quantize a float ONNX model with calibration data",
    "explain": "say which ops stay float, and why",
    "compare": "run two models on the same data and compare their outputs",
    "targets": "list the targets",
}

_EPILOG = "`%(prog)s COMMAND --help` says more. `qdialect-opt` runs single passes."


def bind_optional_values(argv: Sequence[str], *options: str) -> list[str]:
    """`--check-numerics` takes its value behind `=` only, so that it never takes the file that follows it."""
    return [f"{word}=" if word in options else word for word in argv]


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; `command` tells which command. SystemExit: 0 after --help, 2 if wrong."""
    parsed = _make_parser().parse_args(bind_optional_values(argv, "--check-numerics"))
    if parsed.command in ("compile", "quantize") and parsed.output is None and not parsed.print_pipeline:
        parsed.parser.error("there is no output file: name it with -o OUT.onnx")
    return parsed


def version_text(program: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{program} {version('qdialect')}"
    except PackageNotFoundError:
        return f"{program}, not installed"


class Version(argparse.Action):
    """`--version`, which looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str):
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(version_text(parser.prog))
        parser.exit()


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "qdialect",
        "%(prog)s COMMAND ...",
        "A quantization compiler: ONNX in, integer arithmetic out.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="qdialect")
    made = {
        name: commands.add_parser(
            name,
            help=help_,
            description=f"{help_[0].upper()}{help_[1:]}.",
            usage=_USAGE[name],
            allow_abbrev=False,
        )
        for name, help_ in COMMANDS.items()
    }
    for one in made.values():
        one.set_defaults(parser=one)
    _add_compile(made["compile"], data_required=False)
    _add_compile(made["quantize"], data_required=True)
    _add_explain(made["explain"])
    _add_compare(made["compare"])
    return parser


_USAGE = {
    "compile": "%(prog)s IN.onnx -o OUT.onnx [options]",
    "quantize": "%(prog)s IN.onnx --data INPUTS.npz -o OUT.onnx [options]",
    "explain": "%(prog)s IN.onnx [--target TARGET] [--json]",
    "compare": "%(prog)s A.onnx B.onnx --data INPUTS.npz [--json]",
    "targets": "%(prog)s",
}


Parser = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]
"""A parser, or a group of its arguments."""


def _add_option(parser: Parser, one: Field[Any]) -> None:
    """The argument that gives a field of `Options`."""
    extra: dict[str, Any] = {"help": one.metadata["help"], "default": one.default}
    if isinstance(one.default, bool):
        extra["action"] = "store_true"
    elif isinstance(one.default, tuple):
        extra |= {"type": _list, "metavar": one.metadata["metavar"]}
    else:
        extra["choices"] = target_names() if one.name == "target" else one.metadata["choices"]
    parser.add_argument(flag(one), **extra)


def _add_options(parser: Parser, group: str) -> None:
    for one in fields(Options):
        if one.metadata["group"] == group:
            _add_option(parser, one)


def _add_target(parser: Parser) -> None:
    _add_option(parser, next(one for one in fields(Options) if one.name == "target"))


def _add_compile(parser: argparse.ArgumentParser, data_required: bool) -> None:
    parser.add_argument(
        "input", metavar="IN.onnx", help="the model; never changed, unless it is also the output"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT.onnx", help="where the result goes, whole or not at all"
    )
    data = (
        "calibration inputs"
        if data_required
        else "inputs that show which ranges occur, to decide what is safe"
    )
    parser.add_argument(
        "--data", metavar="INPUTS.npz", required=data_required, help=f"{data}, keyed by input name"
    )
    _add_result(parser.add_argument_group(RESULT))
    _add_model(parser.add_argument_group(MODEL))
    _add_report(parser.add_argument_group("what is shown"))


def _add_result(group: Parser) -> None:
    _add_options(group, RESULT)
    external = "put large tensors into OUT.onnx.data (default: if they do not fit into OUT.onnx)"
    group.add_argument("--external-data", action="store_const", const=True, help=external)


def _add_model(group: Parser) -> None:
    _add_options(group, MODEL)
    group.add_argument(
        "--keep-functions", action="store_true", help="do not inline the model's own functions"
    )


def _add_report(group: Parser) -> None:
    check = "run the model before and after each pass, name the first pass beyond its class"
    group.add_argument("--check-numerics", nargs="?", metavar="=INPUTS.npz", help=check)
    group.add_argument(
        "--print-pipeline",
        action="store_true",
        help="print the passes that run, with the reasons for their order, and stop",
    )
    group.add_argument(
        "--report", type=_report, metavar="FILE", help="write what was done to FILE.html or FILE.json"
    )
    group.add_argument("--remarks", action="store_true", help="say which rewrites did not fire, and why")
    group.add_argument("--quiet", action="store_true", help="print nothing but errors")
    group.add_argument("--verbose", action="store_true", help="print each pass and what it changed")


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN.onnx", help="the model")
    _add_target(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("reference", metavar="A.onnx", help="the reference; runs with optimization off")
    parser.add_argument("other", metavar="B.onnx", help="the other model; runs as onnxruntime runs it")
    parser.add_argument(
        "--data", metavar="INPUTS.npz", required=True, help="inputs, keyed by graph input name"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _list(text: str) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(","))
    if not all(items):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names separated by commas")
    return items


def _report(text: str) -> str:
    if not text.lower().endswith((".html", ".json")):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a .html nor a .json file")
    return text
