"""
How far models come in TOSA's integer profile: what lowers whole, whether it is valid and right, what Vela makes of it.

Each model: whether it lowers whole, else what stays and why; whether `mlir-opt` finds it valid in pro_int, strict; then
over all of its data: the outputs of Arm's reference model against `upstream/tosa_interpreter.py`, which computes with
`numerics` alone, and those against onnxruntime on the model as compiled for it, whole and in front of each Softmax
(the part of elements that are identical and the largest difference; either counts); then the share of NPU operators in
Vela's report. `--graphs`: random graphs, each op judged by itself within one step, and those that lower whole by the
validator and the reference model.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from xdsl.dialects.builtin import ModuleOp

import qdialect
from graphs.quantized import random_case
from qdialect.compiler.options import Options
from qdialect.dialects.onnx_types import known_shape
from qdialect.errors import UserError
from qdialect.evaluation.feeds import fitting_feeds
from qdialect.evaluation.session import session
from qdialect.ir.interface import main_of, noted_interface
from qdialect.report.compilation import compile_as
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.upstream import refused
from qdialect.upstream.binaries import VALIDATE, tool, write_binary
from qdialect.upstream.tosa_interpreter import run_integer
from upstream.models import Agreement, Array, Feeds, agreement, feeds_of, inputs_of, name_of
from upstream.tools import environment, mlir_tools

PACKAGES = ("tosa-tools==2026.8.0", "ethos-u-vela==5.2.0")
NPUS = ("ethos-u85-256", "ethos-u55-128")
LEAST = 0.998
LIKE = f"are identical to onnxruntime in {LEAST} of their elements, whole or up to Softmax, and a step apart at most"
WELL = ("whole", "in part")
SHARE = re.compile(r"NPU operators = \d+ \(([\d.]+)%\)")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `benchmarks/mlir.py tosa`."""
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz, keyed by graph input")
    parser.add_argument("--inputs", type=int, default=8, help="random inputs of a model without data")
    parser.add_argument("--graphs", type=int, default=0, help="random graphs")
    parser.add_argument("--start", type=int, default=0, help="the first seed")


def random_graph(seed: int, folder: Path) -> str:
    """What became of a random graph of integers: `whole`, `in part`, or what is wrong with it."""
    model = random_case(seed, integer=True).model
    module = qdialect.load(model, keep_functions=False)
    options = Options(target="tosa", integer_io=True, batch=1)
    try:
        compile_as(module, options, [fitting_feeds(module, seed=seed)])
    except UserError as error:
        return str(error)
    if refused(module):
        return "in part"
    text, serialized = folder / "model.mlir", folder / "model.tosa"
    qdialect.save(module, text)
    write_binary(text.read_text(), serialized)
    draw, args = np.random.default_rng(seed), main_of(module).body.block.args
    feed = {f"{k}": draw.integers(-128, 128, known_shape(a.type)).astype(np.int8) for k, a in enumerate(args)}
    got = run_integer(module, list(feed.values()))
    same = agreement([(through_reference(serialized, feed, len(got)), got)])
    return "whole" if same.is_identical else f"the reference model: {same}"


def lowered(model: Path) -> tuple[ModuleOp, Counter[str]]:
    """A model in TOSA with integer inputs and outputs; and what stays, with why."""
    module = qdialect.load(model, keep_functions=False)
    qdialect.compile(module, target="tosa", integer_io=True, batch=1)
    left = [(op, remarks_of(module).on(op)) for op in refused(module) if "unrealized" not in op.name]
    return module, Counter(f"{op.name}: {rows[-1].blocked.message if rows else '?'}" for op, rows in left)


def stored(module: ModuleOp, feeds: Sequence[Feeds], like: Feeds) -> list[Feeds]:
    """Feeds as a module takes them whose inputs are integers. like: an input of each type."""
    known = noted_interface(module)
    return [
        {
            name: known[name].quantize(array, like[name].dtype)
            if name in known and array.dtype.kind == "f"
            else array
            for name, array in feed.items()
        }
        for feed in feeds
    ]


def cut_at_softmax(model: Path, target: Path) -> bool:
    """Write the model up to each Softmax, and outputs that none is above as they are; whether there is a Softmax."""
    proto: Any = onnx.load(str(model))
    behind, scores = set[str](), list[str]()
    for node in proto.graph.node:
        if node.op_type == "Softmax" and node.input[0] not in behind:
            scores.append(node.input[0])
        if node.op_type == "Softmax" or behind.intersection(node.input):
            behind.update(node.output)
    kept = [one for one in proto.graph.output if one.name not in behind and one.name not in scores]
    del proto.graph.output[:]
    proto.graph.output.extend(kept)
    proto.graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
        for name in dict.fromkeys(scores)
    )
    onnx.save(proto, str(target))
    return bool(scores)


def through_reference(serialized: Path, feed: Feeds, count: int) -> list[Array]:
    """The `count` outputs of Arm's reference model."""
    folder = serialized.parent
    ends = {"ifm": ("TosaInput", len(feed)), "ofm": ("TosaOutput", count)}
    names = {f"{end}_name": [f"{name}_{k}" for k in range(n)] for end, (name, n) in ends.items()}
    files = {f"{end}_file": [f"{end}{k}.npy" for k in range(n)] for end, (_, n) in ends.items()}
    for name, array in zip(files["ifm_file"], feed.values(), strict=True):
        np.save(folder / name, array.view(np.int8))
    description = {"tosa_file": str(serialized), **names, **files, "expected_failure": False}
    (folder / "desc.json").write_text(json.dumps({**description, "variable_name": [], "variable_file": []}))
    command = [str(tool("tosa_reference_model")), "--test_desc", str(folder / "desc.json")]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return [np.load(folder / name).astype(np.int8) for name in files["ofm_file"]]


def npu_share(serialized: Path, accelerator: str) -> float:
    """Percent of operators that Vela gives to the NPU; 0 if it cannot compile the model."""
    words = [
        str(serialized),
        "--accelerator-config",
        accelerator,
        "--output-dir",
        str(serialized.parent / "vela"),
    ]
    done = subprocess.run([str(tool("vela")), *words], capture_output=True, text=True, check=False)
    share = SHARE.search(done.stdout)
    return 0.0 if done.returncode or share is None else float(share[1])


class Judge:
    """Models in TOSA, by the tools that there are."""

    def __init__(self, *, validates: bool):
        self._validates = validates
        self.counts = Counter[str]()

    def judge(self, model: Path, feeds: Sequence[Feeds], folder: Path) -> str:
        """One model in one line; `counts` gets what is true of it."""
        module, left = lowered(model)
        if left:
            return "; ".join(f"{count} x {what}" for what, count in left.items())
        self.counts["lower whole"] += 1
        text, serialized = folder / "model.mlir", folder / "model.tosa"
        qdialect.save(module, text)
        write_binary(text.read_text(), serialized)
        said = [f"{len(feeds)} rows", *self._valid(text)]
        lines, *compared = self._against_onnxruntime(model, module, feeds, serialized)
        said += lines
        scores = folder / "scores.onnx"
        if cut_at_softmax(model, scores):
            other, left = lowered(scores)
            if not left:
                lines, before = self._against_onnxruntime(scores, other, feeds, None)
                compared.append(before)
            said += [f"up to Softmax {line}" for line in (("not whole",) if left else lines)]
        self.counts[LIKE] += any(one.same >= LEAST * one.total and one.worst <= 1 for one in compared)
        for npu in NPUS:
            share = npu_share(serialized, npu)
            self.counts[f"are 100 % NPU operators on {npu}"] += share == 100
            said.append(f"{npu} {share:g} %")
        return "; ".join(said)

    def _valid(self, text: Path) -> list[str]:
        if not self._validates:
            return []
        command = [str(tool("mlir-opt-22", "mlir-opt")), str(text), *VALIDATE, "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, check=False)
        self.counts["are valid, pro_int, strict"] += not done.returncode
        return ["invalid" if done.returncode else "valid"]

    def _against_onnxruntime(
        self, model: Path, module: ModuleOp, feeds: Sequence[Feeds], serialized: Path | None
    ) -> tuple[list[str], Agreement]:
        """`module` against the model as compiled for onnxruntime; if serialized, Arm's reference model too."""
        path = (
            model.with_name("reference.onnx")
            if serialized is None
            else serialized.with_name("reference.onnx")
        )
        reference = qdialect.load(model, keep_functions=False)
        qdialect.compile(reference, integer_io=True, batch=1)
        qdialect.save(reference, path)
        runner = session(str(path), optimize=True)
        like = {one.name: np.zeros((), one.dtype) for one in inputs_of(path)}
        rows = stored(reference, feeds, like)
        expected = [list(runner.run(None, row)) for row in rows]
        got = [run_integer(module, list(row.values())) for row in rows]
        typed = [
            [a.view(b.dtype) for a, b in zip(x, y, strict=True)] for x, y in zip(got, expected, strict=True)
        ]
        apart = agreement(zip(typed, expected, strict=True))
        if serialized is None:
            return [f"onnxruntime {apart}"], apart
        arm = agreement(
            (through_reference(serialized, row, len(one)), one) for row, one in zip(rows, got, strict=True)
        )
        self.counts["are as the reference model computes"] += arm.is_identical
        self.counts["are identical to onnxruntime"] += apart.is_identical
        return [f"reference model {arm}", f"onnxruntime {apart}"], apart


def main(options: argparse.Namespace) -> int:
    """Print the figures; 1 if a random graph is wrong."""
    environment("tosa", PACKAGES)
    validates = mlir_tools()
    if not validates:
        print("left out: mlir-opt's validation, for there is none")
    judge = Judge(validates=validates)
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                feeds = feeds_of(model, options.data, options.inputs)
                print(f"{name_of(model)}: {judge.judge(model, feeds, Path(folder))}", flush=True)
            except (UserError, subprocess.CalledProcessError) as error:
                print(f"{name_of(model)}: {error}", flush=True)
    for what, count in judge.counts.items():
        print(f"{count} of {len(options.models)} {what}")
    outcomes = Counter[str]()
    for seed in range(options.start, options.start + options.graphs):
        with tempfile.TemporaryDirectory() as folder:
            outcome = random_graph(seed, Path(folder))
        outcomes[outcome if outcome in WELL else "wrong"] += 1
        if outcome not in WELL:
            print(f"graph {seed}: {outcome}", flush=True)
    if options.graphs:
        print(f"{options.graphs} graphs: {', '.join(f'{count} {what}' for what, count in outcomes.items())}")
    return 1 if outcomes["wrong"] else 0
