"""The arguments of the `qdialect` command. Nothing heavy is imported here: a wrong word must fail at once."""

import argparse
from collections.abc import Sequence

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


def _add_target(parser: argparse._ActionsContainer) -> None:  # pyright: ignore[reportPrivateUsage]
    from qdialect.cli.targets import target_names

    parser.add_argument(
        "--target",
        default="onnxruntime",
        choices=target_names(),
        help="what runs the result (default: %(default)s)",
    )


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
    _add_result(parser.add_argument_group("the result"))
    _add_model(parser.add_argument_group("the model"))
    _add_report(parser.add_argument_group("what is shown"))


def _add_result(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    _add_target(group)
    forms = ("qoperator", "qdq", "integer")
    group.add_argument(
        "--form", choices=forms, help="how integer ops are written (default: the target's own form)"
    )
    levels = ("exact", "close", "lossy")
    exactness = "what rewrites may change: nothing, an integer by one step, or more (default: %(default)s)"
    group.add_argument("--exactness", default="close", choices=levels, help=exactness)
    group.add_argument(
        "--integer-io", action="store_true", help="integer graph inputs and outputs, with no casts there"
    )
    external = "put large tensors into OUT.onnx.data (default: if they do not fit into OUT.onnx)"
    group.add_argument("--external-data", action="store_const", const=True, help=external)


def _add_model(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    names, ops = "NAME,...", "OP,..."
    group.add_argument(
        "--decompose", type=_list, default=[], metavar=ops, help="split these ops: Gemm, BatchNormalization"
    )
    group.add_argument(
        "--keep-float", type=_list, default=[], metavar=names, help="leave these nodes as they are"
    )
    weights = "float constants for all weights of what stays in float: faster, and a larger file"
    group.add_argument("--float-weights", action="store_true", help=weights)
    overridable = "keep initializers that are also graph inputs replaceable, not constant"
    group.add_argument("--keep-overridable", action="store_true", help=overridable)
    group.add_argument(
        "--keep-functions", action="store_true", help="do not inline the model's own functions"
    )


def _add_report(group: argparse._ArgumentGroup) -> None:  # pyright: ignore[reportPrivateUsage]
    check = "run the model before and after each pass, name the first pass beyond its class"
    group.add_argument("--check-numerics", nargs="?", metavar="=INPUTS.npz", help=check)
    group.add_argument("--print-pipeline", action="store_true", help="print the passes that run, and stop")
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


def _list(text: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of names separated by commas")
    return items


def _report(text: str) -> str:
    if not text.lower().endswith((".html", ".json")):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a .html nor a .json file")
    return text
