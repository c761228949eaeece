"""
Latency in onnxruntime, original against compiled, and how far the outputs moved.

    python benchmarks/speed.py [MODEL.onnx ...]     # default: ResNet-50 in four dialects, generated

Needs about 10 s a model. A model of another input than our image gets random numbers of its type.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from models.catalog import write_resnets
from models.resnet50 import IMAGE, image
from qdialect.measuring import outputs
from qdialect.measuring.runner import Runner, translate
from qdialect.measuring.timing import inputs_for, measure
from qdialect.numerics import Array


def sqnr(expected: Sequence[Array], actual: Sequence[Array]) -> float:
    """Signal to quantization noise of all outputs together, in dB; infinite where no element differs."""
    pairs = [(a.astype("f8"), b.astype("f8")) for a, b in zip(expected, actual, strict=True)]
    return outputs.sqnr(
        sum(float((a**2).sum()) for a, _ in pairs), sum(float(((a - b) ** 2).sum()) for a, b in pairs)
    )


def compare(original: Path, folder: Path) -> bool:
    """Print the row of one model; False if it was not compiled."""
    compiled = folder / "compiled.onnx"
    command = [sys.executable, "-m", "qdialect.cli", "compile", original, "-o", compiled, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{original.stem:28}{done.stderr.strip()}")
        return False
    paths = [str(original), str(compiled)]
    reference = Runner(paths[0], optimize=False)
    ours = [one.name for one in reference.inputs if tuple(one.shape) == IMAGE and one.dtype == "f4"]
    feed = inputs_for(reference, None, None) | {name: image() for name in ours}
    runs = measure(paths, data=feed)
    before, after = (1000 * one.median for one in runs if one.engine.startswith("onnxruntime"))
    expected = reference.run(feed)
    optimized = [Runner(path, optimize=True) for path in paths]
    moved = [sqnr(expected, one.run(translate(feed, reference, one))) for one in optimized]
    row = "".join(f"{one:>12.1f}" for one in moved)
    print(f"{original.stem:28}{before:>10.2f}{after:>10.2f}{before / after:>9.2f}x{row}", flush=True)
    return True


def main(paths: Sequence[Path]) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{'':28}{'before':>10}{'after':>10}{'':>10}{'SQNR, dB':>24}")
        print(f"{'':28}{'ms':>10}{'ms':>10}{'speedup':>10}{'before':>12}{'after':>12}", flush=True)
        done = [compare(path, folder) for path in paths or write_resnets(folder)]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
