"""
How far models come in upstream MLIR: what is lowered, whether it computes what onnxruntime does, how long it takes.

    python benchmarks/mlir.py [MODEL.onnx ...] [--inputs 8] [--graphs 100] [--start 0] [--large]

For each model: whether it lowers whole to `linalg`, else what stays and why; the text's size and the seconds to write
it; then, with mlir-opt, mlir-runner and gcc, a shared object against onnxruntime on the model as compiled for it, on
random inputs: the part of elements that are identical and the largest difference. With iree-compile and iree-run-module
on PATH, the same through IREE. `--graphs`: random integer graphs, each against onnxruntime likewise. `--large`: a text
of 25 MB of weights, as of ResNet-50.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

import qdialect
from graphs.quantized import random_case
from qdialect.compiler.binaries import tool, write_binary
from qdialect.errors import UserError
from qdialect.oracle.session import session
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.upstream import refused

Array = npt.NDArray[Any]
HAS_TOOLS = all(
    tool(*names) for names in (("mlir-opt-22", "mlir-opt"), ("mlir-runner-22", "mlir-runner"), ("gcc",))
)
HAS_IREE = all(tool(name) for name in ("iree-compile", "iree-run-module"))


class Agreement(NamedTuple):
    """Elements that are as onnxruntime's, of how many, and the largest difference of the others."""

    same: int
    total: int
    worst: float

    def __str__(self) -> str:
        return f"{self.same / max(self.total, 1):.6f} identical, largest difference {self.worst:g}"


def inputs_of(model: Path, seed: int) -> dict[str, Array]:
    """Random inputs, one row where the model leaves it open."""
    draw, feeds = np.random.default_rng(seed), dict[str, Array]()
    for one in session(str(model)).get_inputs():
        shape = [size if isinstance(size, int) else 1 for size in one.shape]
        kind = one.type.removeprefix("tensor(").removesuffix(")")
        dtype: np.dtype[Any] = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
        if dtype.kind == "f":
            feeds[one.name] = draw.normal(0, 1, shape).astype(dtype)
        else:
            low, high = {"b": (0, 2), "u": (0, 256)}.get(dtype.kind, (-128, 128))
            feeds[one.name] = draw.integers(low, high, shape).astype(dtype)
    return feeds


def called(library: Path, feeds: dict[str, Array], like: list[Array]) -> list[Array]:
    """The outputs of a shared object."""
    outs = [np.zeros_like(one) for one in like]
    every = [np.ascontiguousarray(a) for a in (*feeds.values(), *outs)]
    ctypes.CDLL(str(library)).model(*(a.ctypes.data_as(ctypes.c_void_p) for a in every))
    return every[len(feeds) :]


def through_iree(module: Path, feeds: dict[str, Array], like: list[Array]) -> list[Array]:
    """The outputs of an IREE module."""
    with tempfile.TemporaryDirectory() as folder:
        runner, words = tool("iree-run-module"), list[str]()
        for k, array in enumerate(feeds.values()):
            path = f"{folder}/i{k}.npy"
            np.save(path, array.view(np.int8) if array.dtype == np.uint8 else array)
            words.append(f"--input=@{path}")
        words += [f"--output=@{folder}/o{k}.npy" for k in range(len(like))]
        command = [str(runner), f"--module={module}", "--device=local-sync", "--function=main", *words]
        subprocess.run(command, check=True, capture_output=True)
        return [np.load(f"{folder}/o{k}.npy").view(one.dtype) for k, one in enumerate(like)]


def agreement(rows: Iterator[tuple[list[Array], list[Array]]]) -> Agreement:
    """How alike outputs are."""
    same, count, worst = 0, 0, 0.0
    for got, expected in rows:
        for a, b in zip(got, expected, strict=True):
            equal = (a == b) | ((a != a) & (b != b))
            same, count = same + int(equal.sum()), count + b.size
            if not equal.all():
                worst = max(worst, float(np.abs(a.astype(np.float64) - b.astype(np.float64))[~equal].max()))
    return Agreement(same, count, worst)


def compiled(model: Path, folder: Path) -> tuple[Path, Path] | Counter[str]:
    """The model as text of linalg and as compiled for onnxruntime; or what stays, with why."""
    module = qdialect.load(model, keep_functions=False)
    qdialect.compile(module, target="linalg", batch=1)
    left = [op for op in refused(module) if "unrealized" not in op.name]
    if left:
        said = [(op.name, remarks_of(module).on(op)) for op in left]
        return Counter(f"{name}: {remarks[-1].blocked.message if remarks else '?'}" for name, remarks in said)
    qdialect.save(module, folder / "m.mlir")
    other = qdialect.load(model, keep_functions=False)
    qdialect.compile(other)
    qdialect.save(other, folder / "m.onnx")
    return folder / "m.mlir", folder / "m.onnx"


def judged(model: Path, inputs: int) -> tuple[dict[str, Agreement], str]:
    """By tool, how alike what is computed is to onnxruntime's; or what stays, as text."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = compiled(model, folder)
        if isinstance(found, Counter):
            return {}, "; ".join(f"{count} x {what}" for what, count in found.items())
        text, reference = found
        runner, feeds = (
            session(str(reference), optimize=True),
            [inputs_of(reference, k) for k in range(inputs)],
        )
        expected = [list(runner.run(None, one)) for one in feeds]
        results: dict[str, Agreement] = {}
        for ending, there, run in ((".so", HAS_TOOLS, called), (".vmfb", HAS_IREE, through_iree)):
            if there:
                write_binary(text.read_text(), folder / f"m{ending}")
                rows = ((run(folder / f"m{ending}", f, e), e) for f, e in zip(feeds, expected, strict=True))
                results[ending] = agreement(rows)
        return results, ""


def large_model(channels: int = 512, layers: int = 10) -> onnx.ModelProto:
    """Convolutions with 25 MB of weights, a dequantize in front of each and a quantize behind."""
    draw = np.random.default_rng(1)
    parts = [
        onh.from_array(np.array(0.02, np.float32), "s"),
        onh.from_array(np.array(3, np.int8), "z"),
        onh.from_array(np.array(0, np.int8), "o"),
    ]
    nodes, value = [oh.make_node("QuantizeLinear", ["x", "s", "z"], ["q"])], "q"
    for k in range(layers):
        parts.append(onh.from_array(draw.integers(-20, 20, (channels, channels, 3, 3), np.int8), f"w{k}"))
        nodes += [
            oh.make_node("DequantizeLinear", [value, "s", "z"], [f"a{k}"]),
            oh.make_node("DequantizeLinear", [f"w{k}", "s", "o"], [f"v{k}"]),
            oh.make_node("Conv", [f"a{k}", f"v{k}"], [f"c{k}"], pads=[1, 1, 1, 1]),
            oh.make_node("QuantizeLinear", [f"c{k}", "s", "z"], [f"q{k}"]),
        ]
        value = f"q{k}"
    nodes.append(oh.make_node("DequantizeLinear", [value, "s", "z"], ["y"]))
    shape = [1, channels, 4, 4]
    ends = [oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT, shape) for n in ("x", "y")]
    graph = oh.make_graph(nodes, "g", ends[:1], ends[1:], parts)
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=9)


def large() -> None:
    """Print how long a large text takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.onnx"
        onnx.save(large_model(), path)
        start = time.process_time()
        module = qdialect.load(path)
        qdialect.compile(module, target="linalg")
        lowered = time.process_time()
        qdialect.save(module, path.with_suffix(".mlir"))
        written, size = time.process_time(), path.with_suffix(".mlir").stat().st_size
        print(
            f"large: {lowered - start:.2f} s to compile, {written - lowered:.2f} s to write {size / 1e6:.1f} MB"
        )


def graphs(count: int, start: int) -> None:
    """Random graphs: how many lower whole, and how many of these are as onnxruntime's to the bit."""
    outcomes, reasons = Counter[str](), Counter[str]()
    for seed in range(start, start + count):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "g.onnx"
            path.write_bytes(random_case(seed).model.SerializeToString())
            try:
                found, why = judged(path, 1)
            except (UserError, subprocess.CalledProcessError) as error:
                print(f"graph {seed}: {error}")
                outcomes["failed"] += 1
                continue
        if why:
            outcomes["not whole"] += 1
            reasons.update(part.split(" x ", 1)[1] for part in why.split("; "))
        for ending, one in found.items():
            outcomes[f"{ending} {'identical' if one.same == one.total else 'differs'}"] += 1
            if one.same != one.total:
                print(f"graph {seed} {ending}: {one}")
    print(dict(outcomes))
    for reason, number in reasons.most_common(12):
        print(f"  {number} {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    for there, what in (
        (HAS_TOOLS, "mlir-opt, mlir-runner or gcc"),
        (HAS_IREE, "iree-compile or iree-run-module"),
    ):
        if not there:
            print(f"left out: there is no {what}")
    whole = 0
    for model in options.models:
        found, why = judged(model, options.inputs)
        whole += not why
        print(
            f"{model}: {why or '; '.join(f'{ending} {one}' for ending, one in found.items()) or 'whole'}",
            flush=True,
        )
    if options.models:
        print(f"{whole} of {len(options.models)} lower whole")
    if options.large:
        large()
    if options.graphs:
        graphs(options.graphs, options.start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
