"""
How far models come in linalg: what lowers whole, whether it computes what onnxruntime does, how fast IREE runs it.

Each model: whether it lowers whole, else what stays and why; then against onnxruntime on the model as compiled for it,
over all of its data: through IREE, and as a shared object called by ctypes (mlir-opt, mlir-runner, gcc), and of these
two against each other, the part of elements that are identical and the largest difference. `--large`: ResNet-50 with
26 MB of weights: seconds for its text, for LLVM to read it, and whether IREE gives the right numbers. `--speed`: one
call of each convolutional net through IREE, against IREE on its own import of the same model, twice: both compiled with
the flags of `-o OUT.vmfb`, and both for this machine's CPU, FMA included.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import qdialect
from models.catalog import resnet50_qdq
from qdialect.errors import UserError
from qdialect.evaluation.session import session
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.upstream import refused
from qdialect.upstream.binaries import IREE_FLAGS, tool, write_binary
from upstream import kernels, layers
from upstream.models import Array, Feeds, agreement, feeds_of, name_of
from upstream.running import called, iree_milliseconds, through_iree
from upstream.tools import environment, mlir_tools

IREE = ("iree-base-compiler[onnx]==3.13.0", "iree-base-runtime==3.13.0")
FLAGS = {
    "the flags of -o OUT.vmfb": [flag for flag in IREE_FLAGS if "input-type" not in flag],
    "the host's CPU": [IREE_FLAGS[0], "--iree-llvmcpu-target-cpu=host"],
}
"""What both are compiled with for `--speed`."""
LEAST_GAIN = 3
SHARED_ROWS = 100
"""Rows that shared objects are run on: their loops are plain."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `benchmarks/mlir.py linalg`."""
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz, keyed by graph input")
    parser.add_argument("--inputs", type=int, default=8, help="random inputs of a model without data")
    parser.add_argument("--large", action="store_true", help="ResNet-50")
    parser.add_argument("--speed", action="store_true", help="IREE against IREE on its own import")


def lowered(model: Path, text: Path) -> Counter[str]:
    """Write a model in linalg; or what stays, with why."""
    module = qdialect.load(model, keep_functions=False)
    qdialect.compile(module, target="linalg", batch=1)
    left = [op for op in refused(module) if "unrealized" not in op.name]
    if not left:
        qdialect.save(module, text)
    remarks = [(op.name, remarks_of(module).on(op)) for op in left]
    return Counter(f"{name}: {rows[-1].blocked.message if rows else '?'}" for name, rows in remarks)


def expected(model: Path, feeds: Sequence[Feeds], folder: Path) -> list[list[Array]]:
    """What onnxruntime computes of the model as compiled for it."""
    module, path = qdialect.load(model, keep_functions=False), folder / "reference.onnx"
    qdialect.compile(module)
    qdialect.save(module, path)
    runner = session(str(path), optimize=True)
    return [list(runner.run(None, feed)) for feed in feeds]


class Judge:
    """Models in linalg against onnxruntime, by the tools that there are."""

    def __init__(self, python: Path, *, shared: bool):
        self._python, self._shared = python, shared
        self.counts = Counter[str]()

    def judge(self, model: Path, feeds: Sequence[Feeds], folder: Path) -> str:
        """One model in one line; `counts` gets what is true of it."""
        text = folder / "model.mlir"
        if left := lowered(model, text):
            return "; ".join(f"{count} x {what}" for what, count in left.items())
        self.counts["lower whole"] += 1
        rows = expected(model, feeds, folder)
        binary = text.with_suffix(".vmfb")
        write_binary(text.read_text(), binary)
        through = through_iree(self._python, binary, feeds, rows[0])
        ways = {"iree": agreement(zip(through, rows, strict=True))}
        if self._shared:
            library, few = text.with_suffix(".so"), slice(SHARED_ROWS)
            write_binary(text.read_text(), library)
            results = called(library, feeds[few], rows[0])
            ways["shared object"] = agreement(zip(results, rows[few], strict=True))
            ways["shared object against iree"] = agreement(zip(results, through[few], strict=True))
        for name, one in ways.items():
            self.counts[f"are identical: {name}"] += one.is_identical
        return f"{len(rows)} rows; " + "; ".join(f"{name}: {one}" for name, one in ways.items())


def _spoken(feed: Feeds) -> list[str]:
    """Inputs of a feed's shapes as `iree-benchmark-module` wants them said."""
    kinds = {"f": "f", "i": "i", "u": "i", "b": "i"}
    return [
        f"{'x'.join(map(str, a.shape))}x{kinds[a.dtype.kind]}{8 * a.itemsize}" if a.shape else "0"
        for a in feed.values()
    ]


def fixed(model: Path, target: Path) -> bool:
    """
    Write the model with one row where its inputs leave sizes open: IREE's import wants them known. Whether there is a
    convolution.
    """
    import onnx

    proto: Any = onnx.load(str(model))
    for value in proto.graph.input:
        for size in value.type.tensor_type.shape.dim:
            if not size.HasField("dim_value"):
                size.dim_value = 1
    del proto.graph.value_info[:]
    onnx.save(proto, str(target))
    return any("Conv" in node.op_type for node in proto.graph.node)


def speed(model: Path, folder: Path) -> dict[str, float]:
    """
    How many times as long IREE takes for its own import of a convolutional net as for our text, by the flags of both.

    Nothing of a net without convolutions, or one that IREE does not take.
    """
    lowered(model, folder / "ours.mlir")
    if not fixed(model, folder / "fixed.onnx"):
        return {}
    own = [str(tool("iree-import-onnx")), str(folder / "fixed.onnx"), "-o", str(folder / "own.mlir")]
    if subprocess.run([*own, "--opset-version", "17"], check=False, capture_output=True).returncode:
        print(f"  {name_of(model)}: IREE does not import it")
        return {}
    entry = (folder / "own.mlir").read_text().partition("func.func @")[2].partition("(")[0]
    spoken, ratios = _spoken(feeds_of(folder / "fixed.onnx", None, 1)[0]), dict[str, float]()
    for what, flags in FLAGS.items():
        for name, kind in (("ours", "none"), ("own", "auto")):
            words = [
                str(tool("iree-compile")),
                *flags,
                f"--iree-input-type={kind}",
                str(folder / f"{name}.mlir"),
            ]
            done = subprocess.run(
                [*words, "-o", str(folder / f"{name}.vmfb")], check=False, capture_output=True
            )
            if done.returncode:
                print(f"  {name_of(model)}: IREE does not compile {name}")
                return {}
        pair = [(folder / "ours.vmfb", "main", spoken), (folder / "own.vmfb", entry, spoken)]
        ours, theirs = iree_milliseconds(pair)
        ratios[what] = theirs / ours
        print(f"  {name_of(model)}, {what}: {ours:.3f} ms, IREE's own import {theirs:.3f} ms", flush=True)
    return ratios


def large(judge: Judge, folder: Path, *, shared: bool) -> None:
    """
    Print how long ResNet-50's text takes, and whether it is right, whole and op by op: 16 sums of residuals round a few
    elements otherwise than onnxruntime's on x86, and fifty layers of random weights multiply them.
    """
    model, text = folder / "resnet50.onnx", folder / "model.mlir"
    resnet50_qdq(model)
    start = time.process_time()
    left = lowered(model, text)
    written, size = time.process_time() - start, text.stat().st_size / 1e6
    start = time.perf_counter()
    reader = str(tool("mlir-opt-22", "mlir-opt"))
    subprocess.run([reader, str(text), "-o", "/dev/null"], check=True, capture_output=True)
    read = time.perf_counter() - start
    print(
        f"ResNet-50: {written:.2f} s of processor time to compile and write {size:.1f} MB, "
        f"{read:.2f} s for LLVM to read it; {sum(left.values())} ops stay"
    )
    feeds = feeds_of(model, None, 1)
    print(f"  {judge.judge(model, feeds, folder)}", flush=True)
    if not shared:
        return
    graph = layers.exposed(qdialect.load(model, keep_functions=False))
    assert isinstance(graph, layers.Exposed)
    function = layers.library({"resnet50": graph}, folder / "layers.so")["resnet50"]
    _, tensors = layers.results(graph, function, feeds[0])
    beyond = layers.differences(graph, feeds[0], tensors)
    print(f"  op by op: {len(tensors)} ops judged, {len(beyond)} beyond their class", flush=True)
    for kind, one in kernels.by_kind(graph, feeds[0], tensors, folder).items():
        print(f"  {kind} against onnxruntime's kernel: {one.same} of {one.total} elements identical, {one}")


def main(options: argparse.Namespace) -> int:
    """Print the figures; 0."""
    python = environment("iree", IREE) / "python"
    shared = mlir_tools()
    if not shared:
        print("left out: shared objects, for there is no mlir-opt, mlir-runner or gcc")
    judge, ratios = Judge(python, shared=shared), dict[str, dict[str, float]]()
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                feeds = feeds_of(model, options.data, options.inputs)
                said = judge.judge(model, feeds, Path(folder))
                print(f"{name_of(model)}: {said}", flush=True)
                if options.speed and "iree" in said:
                    ratios[name_of(model)] = speed(model, Path(folder))
            except (UserError, subprocess.CalledProcessError) as error:
                print(f"{name_of(model)}: {error}", flush=True)
    for what, count in judge.counts.items():
        print(f"{count} of {len(options.models)} {what}")
    for what in FLAGS:
        of = {name: row[what] for name, row in ratios.items() if what in row}
        if of:
            fast = sum(ratio >= LEAST_GAIN for ratio in of.values())
            said = ", ".join(f"{name} {ratio:.1f}" for name, ratio in of.items())
            print(
                f"With {what}, IREE's own import takes these times as long: {said}; {fast} of {len(of)} 3 or more"
            )
    if options.large:
        with tempfile.TemporaryDirectory() as folder:
            large(Judge(python, shared=False), Path(folder), shared=shared)
    return 0
