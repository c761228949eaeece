"""Argument parser of the `qdialect` command. Imports nothing heavy, so that usage errors are reported at once."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from qdialect import __version__
from qdialect.cli.conflicts import note_unused, refuse_conflicts
from qdialect.cli.parser import Parser, bind_optional_values, misplaced_value
from qdialect.compiler.options import (
    ACCURACY,
    ALGORITHMS,
    CALIBRATION,
    IMAGES,
    MODEL,
    RESULT,
    Calibration,
    ImageOptions,
    LabelOptions,
    Options,
    flag,
)
from qdialect.errors import UserError
from qdialect.targets import target

COMMANDS = {
    "compile": "compile a quantized ONNX model to integer arithmetic",
    "quantize": "quantize a float ONNX model with calibration data",
    "explain": "list the layers that stay in float, by cost, with reasons; or explain one reason",
    "compare": "run two models on the same data and compare their outputs",
    "bench": "measure the latency of models, side by side",
    "targets": "list the targets, or measure kernel costs on this machine",
}

DEFAULT_CALIBRATION_RUNS = 31
"""How often `targets --calibrate` runs each kernel by default."""
MAX_THREADS_PER_CORE = 16
"""More threads than this on each core do nothing but wait for each other, for minutes."""

_EPILOG = "`%(prog)s COMMAND --help` says more. `qdialect-opt` runs single passes."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; `command` is the subcommand. SystemExit: 0 after --help, 2 for wrong usage."""
    parser = _make_parser(argv)
    wrong = misplaced_value(argv, "--check-numerics")
    parsed, unknown = parser.parse_known_args(bind_optional_values(argv, "--check-numerics"))
    own: Parser = parsed.parser
    if wrong:
        own.error(wrong)
    if unknown:
        own.unrecognized(unknown)
    if parsed.command == "targets" and parsed.runs is not None and not parsed.calibrate:
        own.error("--runs says how often --calibrate runs each kernel")
    if parsed.command == "targets" and parsed.output is not None:
        if not parsed.calibrate:
            own.error("-o says where the costs go that --calibrate measures")
        if not parsed.output.endswith((".toml", "-")):
            own.error("-o FILE ends in .toml, by which --costs knows it")
    if parsed.command in ("compile", "quantize") and parsed.output is None and not parsed.print_pipeline:
        own.error("there is no output file: name it with -o OUT.onnx")
    if parsed.command == "quantize" and not (
        parsed.data or parsed.profiles or parsed.random or parsed.print_pipeline
    ):
        own.error("there is nothing to calibrate on: give --data, a saved --profile, or --random")
    refuse_conflicts(own, parsed)
    note_unused(own, parsed)
    return parsed


class Version(argparse.Action):
    """`--version`."""

    def __init__(self, option_strings: Sequence[str], dest: str):
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(parser.prog, __version__)
        parser.exit()


def _make_parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """The parser; to save time, with the command alone that `argv` begins with, if it begins with one."""
    parser = Parser(
        "qdialect",
        "%(prog)s COMMAND ...",
        "A quantization compiler: ONNX in, integer arithmetic out.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="qdialect")
    begins = bool(argv) and argv[0] in COMMANDS
    for (name, help_), add in zip(COMMANDS.items(), _ADD, strict=True):
        if begins and name != argv[0]:
            continue
        own = commands.add_parser(
            name,
            help=help_,
            description=f"{help_[0].upper()}{help_[1:]}.",
            usage=_USAGE[name],
            allow_abbrev=False,
        )
        own.set_defaults(parser=own)
        if name in argv:
            add(own)
    return parser


_USAGE = {
    "compile": "%(prog)s IN.onnx -o OUT.onnx [options]",
    "quantize": "%(prog)s IN.onnx --data DATA -o OUT.onnx [options]",
    "explain": "%(prog)s IN.onnx [--target TARGET] [--all] [--json] [options of compile]\n       %(prog)s ID",
    "compare": "%(prog)s A.onnx B.onnx --data DATA [--labels L] [--layers] [--weights] [--json] [options of images]",
    "bench": "%(prog)s A.onnx [B.onnx ...] [--data DATA] [--threads N] [--batch N] [--profile] [--json]",
    "targets": "%(prog)s [--calibrate [-o FILE.toml] [--runs N]]",
}


Group = argparse._ActionsContainer  # pyright: ignore[reportPrivateUsage]
"""A parser, or a group of its arguments."""


def _add_option(parser: Group, one: Field[Any]) -> None:
    """Add the argument for a field of options."""
    metavar = one.metadata["metavar"]
    extra: dict[str, Any] = {"help": one.metadata["help"], "dest": one.name}
    default = one.default if one.default_factory is MISSING else one.default_factory()
    if isinstance(default, bool):
        extra |= {"action": "store_true"}
    elif metavar in _REPEATED:
        extra |= {"action": _REPEATED[metavar], "metavar": metavar, "default": default}
        extra["type"] = _READERS.get(metavar, str)
    else:
        extra |= {"choices": one.metadata["choices"], "metavar": metavar, "default": default}
        extra["type"] = _READERS.get(metavar, str)
    parser.add_argument(flag(one), **extra)


def _add_options(parser: Group, kind: type[Options | ImageOptions | LabelOptions], group: str) -> None:
    for one in fields(kind):
        if one.metadata["group"] == group:
            _add_option(parser, one)


def _add_named(parser: Group, *names: str) -> None:
    for one in fields(Options):
        if one.name in names:
            _add_option(parser, one)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input",
        metavar="IN.onnx",
        help="the model, or - for standard input; not modified, unless it is also the output",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT.onnx",
        help="output file, written completely or not at all; - for standard output",
    )


def _add_compile(parser: argparse.ArgumentParser) -> None:
    _add_files(parser)
    data = (
        "samples, as for quantize: float ops between integer ops are quantized with ranges from them where that is"
        " faster; with --report, also measure noise and time of each layer"
    )
    parser.add_argument("--data", metavar="DATA", action=_Append, default=(), help=data)
    _add_images(parser)
    _add_result(parser.add_argument_group(RESULT))
    _add_model(parser.add_argument_group(MODEL))
    _add_report(parser.add_argument_group("what is shown"))


def _add_quantize(parser: argparse.ArgumentParser) -> None:
    _add_files(parser)
    calibration = parser.add_argument_group(CALIBRATION)
    calibration.add_argument("--data", metavar="DATA", action=_Append, default=(), help=_DATA)
    _add_options(calibration, Calibration, CALIBRATION)
    _add_images(parser)
    _add_accuracy(parser)
    _add_options(parser.add_argument_group(ALGORITHMS), Calibration, ALGORITHMS)
    _add_result(parser.add_argument_group(RESULT))
    _add_model(parser.add_argument_group(MODEL))
    _add_report(parser.add_argument_group("what is shown"))


def _add_images(parser: argparse.ArgumentParser) -> None:
    _add_options(parser.add_argument_group(IMAGES), ImageOptions, IMAGES)


def _add_accuracy(parser: argparse.ArgumentParser) -> None:
    _add_options(parser.add_argument_group(ACCURACY), LabelOptions, ACCURACY)


def _add_result(group: Group) -> None:
    _add_options(group, Options, RESULT)
    external = "write large tensors to OUT.onnx.data (default: only if they do not fit into OUT.onnx)"
    group.add_argument("--external-data", action="store_const", const=True, help=external)
    strict = "write nothing, with status 1, if the target cannot read all of the result"
    group.add_argument("--strict", action="store_true", help=strict)


def _add_model(group: Group) -> None:
    _add_options(group, Options, MODEL)
    group.add_argument(
        "--keep-functions", action="store_true", help="do not inline the model's own functions"
    )


def _add_report(group: Group) -> None:
    check = (
        "run the model before and after each pass, and name the first pass that exceeds its exactness class"
    )
    group.add_argument("--check-numerics", nargs="?", metavar="=INPUTS.npz", help=check)
    group.add_argument(
        "--print-pipeline",
        action="store_true",
        help="print the passes, with the reasons for their order, and exit",
    )
    group.add_argument(
        "--report",
        type=_report,
        metavar="FILE",
        help="write a report of the compilation to FILE.html or FILE.json",
    )
    group.add_argument("--remarks", action="store_true", help="print which rewrites did not apply, and why")
    either = group.add_mutually_exclusive_group()
    either.add_argument("--quiet", action="store_true", help="print errors only")
    either.add_argument("--verbose", action="store_true", help="print each pass and what it changed")


def _add_targets(parser: argparse.ArgumentParser) -> None:
    calibrate = (
        "measure onnxruntime's kernels on this machine, on one thread; `compile --costs FILE` uses the result"
    )
    parser.add_argument("--calibrate", action="store_true", help=calibrate)
    output = "file for the costs, with the ending .toml (default: standard output)"
    parser.add_argument("-o", "--output", metavar="FILE.toml", help=output)
    runs = f"runs of each kernel, of which the fastest counts (default: {DEFAULT_CALIBRATION_RUNS})"
    parser.add_argument("--runs", type=_positive, metavar="N", help=runs)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input",
        metavar="IN.onnx",
        help="the model, - for standard input, or the id of a reason, such as float-operand",
    )
    _add_named(parser, "target", "form", "exactness", "costs", "integer_io", "batch", "sizes")
    parser.add_argument("--all", action="store_true", help="also list layers without multiply-adds")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "reference", metavar="A.onnx", help="the reference, which runs with onnxruntime's optimizer off"
    )
    parser.add_argument(
        "other", metavar="B.onnx", help="the other model, which runs with onnxruntime's optimizer off and on"
    )
    parser.add_argument("--data", metavar="DATA", required=True, action=_Append, default=(), help=_DATA)
    _add_images(parser)
    _add_accuracy(parser)
    parser.add_argument(
        "--layers", action="store_true", help="compare every tensor whose name both models have"
    )
    parser.add_argument(
        "--weights", action="store_true", help="compare the weights of every layer that both models have"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "models",
        metavar="A.onnx",
        nargs="+",
        help="models with the same inputs; the others are compared with the first",
    )
    parser.add_argument(
        "--data", metavar="DATA", action=_Append, default=(), help=f"{_DATA} (default: random numbers)"
    )
    _add_images(parser)
    _add_accuracy(parser)
    threads = "threads within an operator, 0 for all cores (default: %(default)s)"
    parser.add_argument("--threads", type=_threads, default=1, metavar="N", help=threads)
    batch = "batch size, if the model's first axis is open"
    parser.add_argument("--batch", type=_positive, metavar="N", help=batch)
    parser.add_argument("--profile", action="store_true", help="print time, kernel and types of each node")
    parser.add_argument("--json", action="store_true", help="print JSON")


_ADD = (_add_compile, _add_quantize, _add_explain, _add_compare, _add_bench, _add_targets)
"""What adds the arguments of each command, in the order of `COMMANDS`."""

_DATA = (
    "samples: an .npz file keyed by input name, a .npy file for one input, a folder of .npz, .npy, .pb or image files,"
    " or module:function; several are read one after the other"
)


def _list(text: str) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(","))
    if not all(items):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names separated by commas")
    return items


def _size(text: str) -> int:
    factors = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number, unit = text.rstrip("KMGBkmgb"), text.upper().rstrip("B").lstrip("0123456789.")
    try:
        size = int(float(number) * factors[unit])
    except (ValueError, KeyError):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 500M or 2G") from None
    if size <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size above 0")
    return size


def _count(text: str, least: int = 0) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, {least} or more")
    return int(text)


def _positive(text: str) -> int:
    return _count(text, 1)


def _threads(text: str) -> int:
    count, cores = _count(text), os.cpu_count() or 1
    if count > MAX_THREADS_PER_CORE * cores:
        raise argparse.ArgumentTypeError(f"{count} threads are too many for {cores} cores; 0 uses all cores")
    return count


def _target(text: str) -> str:
    try:
        target(text)
    except UserError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers separated by commas") from None


def _report(text: str) -> str:
    if not text.lower().endswith((".html", ".json")):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a .html nor a .json file")
    return text


def _divisors(text: str) -> tuple[float, ...]:
    numbers = _numbers(text)
    if not all(number > 0 for number in numbers):
        raise argparse.ArgumentTypeError(f"pixels are divided by '{text}': give numbers above 0")
    return numbers


class _Append(argparse.Action):
    """Action that appends a value without modifying the default."""

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, value: Any, *_: object
    ) -> None:
        setattr(space, self.dest, (*getattr(space, self.dest), value))


class _Feed(argparse.Action):
    """Action for `OUT=IN`: an output that is fed back to an input."""

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, value: Any, *_: object
    ) -> None:
        out, sign, into = value.partition("=")
        if not (out and sign and into):
            raise argparse.ArgumentError(self, f"'{value}' is not OUT=IN")
        if (other := getattr(space, self.dest).get(into)) is not None:
            raise argparse.ArgumentError(self, f"'{other}' and '{out}' are both fed to '{into}'")
        setattr(space, self.dest, {**getattr(space, self.dest), into: out})


class _Extend(argparse.Action):
    """Action that appends the values of a list."""

    def __call__(
        self, parser: argparse.ArgumentParser, space: argparse.Namespace, value: Any, *_: object
    ) -> None:
        setattr(space, self.dest, (*getattr(space, self.dest), *value))


_REPEATED: dict[str, type[argparse.Action]] = {
    "P": _Append, "OUT=IN": _Feed, "NAME,...": _Extend, "OP,...": _Extend, "NAME=N,...": _Extend,
}  # fmt: skip
_READERS: dict[str, Callable[[str], Any]] = {
    "NAME,...": _list, "OP,...": _list, "SIZE": _size, "N": _positive, "M,...": _numbers, "S,...": _divisors,
    "TARGET": _target, "ROWS": _positive, "NAME=N,...": _list,
}  # fmt: skip
"""Converters of option values, by their placeholder in `--help`."""
