"""`qdialect compare`: two models on the same data, output by output or tensor by tensor, and weight by weight."""

import argparse
import json
import math
from typing import TYPE_CHECKING

from qdialect.cli.display import progress, table
from qdialect.cli.inputs import model_file
from qdialect.cli.status import DONE
from qdialect.compiler.options import ImageOptions, options_of

if TYPE_CHECKING:
    from qdialect.measuring.layers import Layers, TensorNoise
    from qdialect.measuring.outputs import Comparison, Difference
    from qdialect.measuring.weights import Weights


def run(arguments: argparse.Namespace) -> int:
    """Prints the differences of the other model from the reference, and a verdict."""
    with model_file(arguments.reference) as reference, model_file(arguments.other) as other:
        from qdialect.data.preprocessing import given
        from qdialect.measuring.layers import compare_layers
        from qdialect.measuring.outputs import compare
        from qdialect.measuring.weights import compare_weights

        with progress() as show:
            images, layers = given(options_of(ImageOptions, arguments)), None
            comparison = compare(
                reference,
                other,
                arguments.data,
                images=images,
                labels=arguments.labels,
                metric=arguments.metric,
                show=show,
            )
            if arguments.layers:
                layers = compare_layers(reference, other, arguments.data, images=images, show=show)
            weights = compare_weights(reference, other) if arguments.weights else None
    if arguments.json:
        further = [part.as_json() for part in (layers, weights) if part is not None]
        print(
            json.dumps(comparison.as_json() | {k: v for part in further for k, v in part.items()}, indent=2)
        )
        return DONE
    lines = [*([*_layers(layers), ""] if layers else []), *([*_weights(weights), ""] if weights else [])]
    lines += [*_outputs(comparison), *([] if arguments.labels else comparison.record.offer())]
    lines += [f"layers: {layers.verdict()}"] if layers else []
    lines += [f"weights: {weights.verdict()}"] if weights else []
    print("\n".join([*lines, f"verdict: {comparison.verdict()}"]))
    return DONE


def _outputs(comparison: "Comparison") -> list[str]:
    """Lines with each output in three rows, against A with optimization off."""
    from qdialect.measuring.outputs import ROW_TITLES, shape_text

    rows: list[tuple[str, ...]] = [
        ("output", "shape", "against A, optimization off", "max abs diff", "SQNR dB", "argmax agrees")
    ]
    for k, name in enumerate(one.name for one in next(iter(comparison.differences.values()))):
        for number, (row, differences) in enumerate(comparison.differences.items()):
            one = differences[k]
            head = ("", "") if number else (name, shape_text(one.shape))
            rows.append((*head, ROW_TITLES[row], *_figures(one)))
    batches = f"{comparison.batches} batch{'' if comparison.batches == 1 else 'es'}"
    return [*table(rows), batches, comparison.record.line()]


def _figures(one: "Difference") -> tuple[str, str, str]:
    agreement = "-" if one.agreement is None else f"{100 * one.agreement:.2f} %"
    return f"{one.largest:.6g}", _sqnr(one.sqnr), agreement


def _sqnr(value: float) -> str:
    return "identical" if value == math.inf else f"{value:.2f}"


def _layers(layers: "Layers") -> list[str]:
    """Lines with each shared tensor, in the order of A's graph; both models with optimization off."""
    rows: list[tuple[str, ...]] = [
        ("tensor", "made by", "SQNR dB", "max diff", "in steps", "rms steps", "scale")
    ]
    rows += [_row(one, one.op) for one in layers.tensors]
    return table(rows)


def _row(one: "TensorNoise", source: str) -> tuple[str, ...]:
    steps = ("-", "-") if one.steps is None else (f"{one.steps:.4g}", f"{one.rms_steps:.3g}")
    return one.name, source, _sqnr(one.sqnr), f"{one.largest:.4g}", *steps, one.scale_text()


def _weights(weights: "Weights") -> list[str]:
    """Lines with each shared weight, in the order of A's graph."""
    rows: list[tuple[str, ...]] = [
        ("weight", "read by", "SQNR dB", "max diff", "in steps", "rms steps", "scale", "by channel")
    ]
    for one in weights.weights:
        rows.append((*_row(one.noise, one.layer), "times a factor" if one.is_scaled else ""))
    return table(rows)
