"""
Which layers OpenVINO's CPU plugin runs on 8-bit integers: of the original, and of what `--target openvino` writes.

    python benchmarks/openvino_layers.py MODEL.onnx ...     # needs OpenVINO: pip install '.[openvino]'

Two counts, each as integer + float: convolutions and products alone, then all layers but the plugin's own (inputs,
constants, reorders). Status 1 if a model has fewer convolutions and products in integers than before.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import openvino  # pyright: ignore[reportMissingImports]

import qdialect

HEAVY = ("Convolution", "Deconvolution", "FullyConnected", "MatMul")
OWN = ("Const", "Input", "Output", "Parameter", "Reorder", "Result")
INT8 = ("i8", "u8")
REFUSED = "refused"


class Count(NamedTuple):
    """Layers in integers and in float."""

    integer: int
    floating: int

    def __str__(self) -> str:
        return f"{self.integer} + {self.floating}"


def network(path: Path) -> Any:
    """A network for the CPU that computes floats as floats: OpenVINO would take bf16 where the CPU has it."""
    core: Any = openvino.Core()
    return core.compile_model(core.read_model(os.fspath(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def layers(compiled: Any) -> list[tuple[str, str]]:
    """
    Type of each layer as the plugin runs it, and the precision that its kernel computes in.

    That is the end of its kernel's name: a convolution that is called i8, as its result is, may run `brgconv_f32`.
    """
    infos: list[Mapping[str, Any]] = [op.get_rt_info() for op in compiled.get_runtime_model().get_ops()]
    return [(i["layerType"].value, i["primitiveType"].value.rpartition("_")[2].lower()) for i in infos]


def counts(path: Path) -> tuple[Count, Count] | None:
    """Of convolutions and products, and of all layers; None if OpenVINO refuses the model."""
    try:
        computed = layers(network(path))
    except RuntimeError:
        return None
    heavy = [p in INT8 for t, p in computed if t in HEAVY]
    every = [p in INT8 for t, p in computed if t not in OWN]
    return Count(sum(heavy), len(heavy) - sum(heavy)), Count(sum(every), len(every) - sum(every))


def main(paths: list[str]) -> int:
    """Print a line for each model."""
    if not paths:
        sys.exit("usage: python benchmarks/openvino_layers.py MODEL.onnx ...")
    fewer = False
    print(f"{'':36} {'convolutions, products':>24}   {'all layers':>20}")
    print(f"{'integer + float':36} {'before':>12} {'after':>11}   {'before':>10} {'after':>9}")
    for model in map(Path, paths):
        module = qdialect.load(model)
        qdialect.compile(module, target="openvino")
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "openvino.onnx"
            qdialect.save(module, written)
            before, after = counts(model), counts(written)
        heavy, every = [[str(c[k]) if c else REFUSED for c in (before, after)] for k in (0, 1)]
        name = model.stem if model.stem != "model" else model.parent.name
        print(f"{name[:36]:36} {heavy[0]:>12} {heavy[1]:>11}   {every[0]:>10} {every[1]:>9}")
        fewer |= before is not None and (after is None or after[0].integer < before[0].integer)
    return int(fewer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
