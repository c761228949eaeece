"""
Options that would have no effect beside others: one line refuses each, so that none is ignored in silence.

An option counts as given if its value is not the default. `compiler.options` refuses the same of the API.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from qdialect.cli.parser import Parser
from qdialect.compiler.options import IMAGE_OPTIONS


class Conflict(NamedTuple):
    """Options that have no effect beside others."""

    when: Callable[[argparse.Namespace], bool]
    """True for arguments of which these options are without effect."""
    others: tuple[str, ...]
    """Destinations of the options."""
    because: str
    """The line, without what to leave out."""


UPSTREAM_ENDINGS = ".mlir", ".so", ".vmfb", ".tosa"
"""Endings of outputs that are no ONNX model."""


def _is_random(parsed: argparse.Namespace) -> bool:
    return parsed.random


def _has_no_data(parsed: argparse.Namespace) -> bool:
    return not parsed.data


def _has_no_labels(parsed: argparse.Namespace) -> bool:
    return parsed.labels is None


def _has_labels(parsed: argparse.Namespace) -> bool:
    return parsed.labels is not None


def _has_no_samples(parsed: argparse.Namespace) -> bool:
    return not (parsed.data or parsed.random)


def _has_scheduler(parsed: argparse.Namespace) -> bool:
    return parsed.scheduler is not None


def _is_measured(arguments: argparse.Namespace) -> bool:
    return arguments.measure


def _is_weights_alone(parsed: argparse.Namespace) -> bool:
    return parsed.weights != "int8"


def _is_upstream(parsed: argparse.Namespace) -> bool:
    return parsed.output is not None and parsed.output.lower().endswith(UPSTREAM_ENDINGS)


NO_MODEL = Conflict(
    _is_upstream, ("external_data",), "the output is no ONNX model, which has tensors in a file of their own"
)
NO_IMAGES = Conflict(
    _has_no_data,
    (*IMAGE_OPTIONS, "labels"),
    "without --data there are no samples that this applies to",
)
NO_LABELS = Conflict(_has_no_labels, ("metric",), "without --labels there is nothing to measure by")
CONFLICTS = {
    "compile": (NO_IMAGES, NO_MODEL),
    "bench": (NO_IMAGES, NO_LABELS),
    "compare": (NO_LABELS,),
    "quantize": (
        Conflict(_is_random, ("data", "profiles"), "--random takes the place of --data and --profile"),
        Conflict(
            _is_random, ("state",), "--state goes from one sample to the next, of which --random has none"
        ),
        Conflict(_is_random, (*IMAGE_OPTIONS, "labels"), "--random reads no samples"),
        Conflict(
            _has_no_data,
            (*IMAGE_OPTIONS, "labels", "state"),
            "without --data there are no samples that this applies to",
        ),
        Conflict(_has_no_samples, ("workers", "scheduler"), "without --data there are no samples to profile"),
        NO_LABELS,
        Conflict(
            _has_labels,
            ("state",),
            "--labels measures accuracy on samples on their own, not on those of a sequence",
        ),
        Conflict(_has_scheduler, ("workers",), "--scheduler has workers of its own"),
        Conflict(
            _is_weights_alone,
            ("range", "integer_io", "float_weights", "prefer", "measure"),
            "--weights int4 leaves activations in float, and writes the weights of products as integers",
        ),
        Conflict(_is_measured, ("max_drop",), "--measure decides by time, --max-drop by noise"),
        NO_MODEL,
    ),
}
"""The conflicts of each command's options, the most telling first."""
WITHOUT_PASSES = (
    "output", "report", "check_numerics", "remarks", "quiet", "verbose", "external_data", "keep_functions",
    "keep_float", "profiles", "random", "save_profile", "memory", "state", "workers", "scheduler", *IMAGE_OPTIONS,
    "range", "rounding", "weights", "prefer", "measure", "max_drop", "labels", "metric",
)  # fmt: skip
"""Options that change no pass: without effect where the passes are printed, and nothing else is done."""
MODEL_OPTIONS = "target", "form", "exactness", "costs", "integer_io", "batch", "sizes", "all"
"""Options of `explain` that apply to a model, and not to the id of a reason."""


def flags(parser: argparse.ArgumentParser, parsed: argparse.Namespace, names: Sequence[str]) -> list[str]:
    """The options of these destinations whose values are not the defaults, as they are written."""
    actions = {one.dest: one.option_strings for one in parser._actions}
    given = [name for name in names if name in actions and getattr(parsed, name) != parser.get_default(name)]
    return [max(actions[name], key=len) for name in given]


def refuse_conflicts(parser: Parser, parsed: argparse.Namespace) -> None:
    """Exit with a line if an option was given that would have no effect beside another."""
    for one in CONFLICTS.get(parsed.command, ()):
        idle = flags(parser, parsed, one.others) if one.when(parsed) else []
        if idle:
            parser.error(f"{one.because}: leave {', '.join(idle)} out")
    if parsed.command == "explain" and is_reason(parsed.input):
        if idle := flags(parser, parsed, MODEL_OPTIONS):
            parser.error(f"'{parsed.input}' is the id of a reason: leave {', '.join(idle)} out")


def is_reason(name: str) -> bool:
    """True for an argument of `explain` that is the id of a reason, not the path of a model."""
    return name != "-" and not {"/", os.sep, "."} & set(name) and not os.path.exists(name)


def note_unused(parser: Parser, parsed: argparse.Namespace) -> None:
    """With --print-pipeline, say on stderr which options have no effect."""
    if getattr(parsed, "print_pipeline", False) and (idle := flags(parser, parsed, WITHOUT_PASSES)):
        print(f"note: the passes are printed and nothing is done, without {', '.join(idle)}", file=sys.stderr)
