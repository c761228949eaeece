"""
What a compilation is asked for, said once: the command line makes its arguments from these fields.

Imports nothing heavy: a wrong word on the command line fails at once.
"""

from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any

from qdialect.exactness import Exactness

FORMS = ("qoperator", "qdq", "integer")
"""How integer ops are written."""
LEVELS = tuple(level.value for level in Exactness)
RESULT, MODEL = "the result", "the model"
"""The headings under which `--help` lists options."""


def _option(
    default: Any, group: str, help: str, *, choices: Sequence[str] | None = None, metavar: str | None = None
) -> Any:
    return field(
        default=default, metadata={"group": group, "help": help, "choices": choices, "metavar": metavar}
    )


@dataclass(frozen=True)
class Options:
    """What a compilation is asked for, besides the model."""

    target: str = _option("onnxruntime", RESULT, "what runs the result (default: %(default)s)")
    form: str | None = _option(
        None, RESULT, "how integer ops are written (default: the target's own form)", choices=FORMS
    )
    exactness: str = _option(
        Exactness.CLOSE.value,
        RESULT,
        "what rewrites may change: nothing, an integer by one step, or more (default: %(default)s)",
        choices=LEVELS,
    )
    integer_io: bool = _option(False, RESULT, "integer graph inputs and outputs, with no casts there")
    decompose: tuple[str, ...] = _option(
        (),
        MODEL,
        "split these ops into simpler ones: BatchNormalization, Gemm, GRU, LSTM, RNN",
        metavar="OP,...",
    )
    keep_float: tuple[str, ...] = _option(
        (), MODEL, "leave these nodes, or what computes these tensors, as they are", metavar="NAME,..."
    )
    float_weights: bool = _option(
        False, MODEL, "float constants for all weights of what stays in float: faster, and a larger file"
    )
    keep_overridable: bool = _option(
        False, MODEL, "keep initializers that are also graph inputs replaceable, not constant"
    )


def flag(one: Field[Any]) -> str:
    """How the command line spells a field: `keep_float` is `--keep-float`."""
    return f"--{one.name.replace('_', '-')}"


def options_of(values: object) -> Options:
    """Options from what has an attribute for each field, as parsed arguments do."""
    return Options(**{one.name: getattr(values, one.name) for one in fields(Options)})
