"""
Every model of a folder through qdialect and back: what onnxruntime computes must not differ by one bit.

    python benchmarks/roundtrip.py FOLDER [NAME]     # every *.onnx under FOLDER whose path contains NAME

Twice: through memory (load, save), and through text (`qdialect-opt m.onnx -o m.mlir`, the model deleted,
then `qdialect-opt m.mlir -o m.onnx` in a new process). The two results must be the same file, too. Inputs come
from the .npz beside a model (keys `in:NAME` or `NAME`), or from seeded random numbers. onnxruntime runs with
optimization off; what it cannot run as it is, and what differs between two runs of its own, is listed and left
out.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime as ort
from onnx.external_data_helper import uses_external_data

Feeds = dict[str, npt.NDArray[Any]]

NUMPY = {
    "float": "f4", "double": "f8", "float16": "f2", "bool": "?", "string": "O",
    "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
    "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip


class CannotRun(Exception):
    """onnxruntime refuses the original, so there is nothing to compare with."""


def session(path: Path) -> Any:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(runner: Any, path: Path, size: int) -> Feeds:
    """Arrays from the .npz beside the model, else random ones, `size` where the model leaves that open."""
    rng = np.random.default_rng(7)
    stored = path.with_suffix(".npz")
    data = np.load(stored, allow_pickle=False) if stored.exists() else {}
    feeds: Feeds = {}
    for info in runner.get_inputs():
        known = next((key for key in (f"in:{info.name}", info.name) if key in data), None)
        feeds[info.name] = random_input(info, size, rng) if known is None else data[known]
    return feeds


def random_input(info: Any, unknown: int, rng: np.random.Generator) -> npt.NDArray[Any]:
    spelling = info.type.removeprefix("tensor(").removesuffix(")")
    if spelling not in NUMPY:
        raise CannotRun(f"no values for input '{info.name}' of type {info.type}")
    shape = [size if isinstance(size, int) and size > 0 else unknown for size in info.shape]
    dtype = np.dtype(NUMPY[spelling])
    if dtype.hasobject:
        return np.full(shape, "text", dtype=object)
    values = rng.normal(size=shape) if dtype.kind == "f" else rng.integers(0, 2, shape)
    return np.asarray(values).astype(dtype)


def computed(path: Path, feeds: Feeds | None = None, size: int = 1) -> tuple[list[str], list[Any], Feeds]:
    """The names and values of the outputs, and the inputs that gave them."""
    runner = session(path)
    feeds = inputs_of(runner, path, size) if feeds is None else feeds
    return [o.name for o in runner.get_outputs()], list(runner.run(None, feeds)), feeds


def same(a: Any, b: Any) -> bool:
    """Whether two outputs are the same bits: arrays, and sequences, maps and optionals of them."""
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if not isinstance(a, np.ndarray):
        return type(a) is type(b) and bool(a == b)
    if not isinstance(b, np.ndarray) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype.hasobject else a.tobytes() == b.tobytes()


def difference(original: tuple[list[str], list[Any], Feeds], back: Path) -> str:
    """What is not the same in `back`; empty if nothing."""
    names, values, feeds = original
    try:
        others, results, _ = computed(back, feeds)
    except Exception as error:  # onnxruntime's exceptions share no base class
        return f"onnxruntime refuses it: {str(error).splitlines()[0]}"
    if names != others:
        return f"outputs {names} became {others}"
    wrong = [name for name, a, b in zip(names, values, results, strict=True) if not same(a, b)]
    return f"outputs differ: {wrong}" if wrong else ""


def reference(path: Path) -> tuple[list[str], list[Any], Feeds]:
    """The original's outputs. CannotRun if onnxruntime does not run it, or not twice alike."""
    original, why = None, ""
    for size in (1, 64, 512):
        try:
            original = computed(path, size=size)
            break
        except Exception as error:
            why = str(error).splitlines()[0]
    if original is None:
        raise CannotRun(why)
    if difference(original, path):
        raise CannotRun("two runs of the original differ")
    return original


def copy_model(path: Path, folder: Path) -> Path:
    """The model with the files it names, in a folder of its own."""
    folder.mkdir(parents=True)
    shutil.copy(path, folder / "in.onnx")
    for tensor in _tensors(onnx.load(str(path), load_external_data=False).graph):
        if uses_external_data(tensor):
            place = next(e.value for e in tensor.external_data if e.key == "location")
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path.parent / place, folder / place)
    return folder / "in.onnx"


def _tensors(graph: onnx.GraphProto) -> Iterable[onnx.TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("g"):
                yield from _tensors(attribute.g)


_WORKER = """
import sys, traceback
from qdialect.cli.opt import main
for pair in sys.stdin.read().splitlines():
    source, target = pair.split("\\t")
    print(f"{source}\\t{main([source, '-o', target])}", flush=True)
"""


def translate(pairs: list[tuple[Path, Path]], log: Path) -> None:
    """`qdialect-opt SOURCE -o TARGET` for each pair, all in one new process; what they say goes to `log`."""
    lines = "".join(f"{source}\t{target}\n" for source, target in pairs)
    with log.open("a") as file:
        subprocess.run([sys.executable, "-c", _WORKER], input=lines, text=True, stdout=file, stderr=file)


def through_memory(path: Path, target: Path) -> str:
    import qdialect

    try:
        qdialect.save(qdialect.load(path), target)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def check(folder: Path, name: str, work: Path) -> int:
    models = [p for p in sorted(folder.rglob("*.onnx")) if name in str(p)]
    folders = [work / f"{k}" for k in range(len(models))]
    failures: dict[Path, str] = {}
    skipped: dict[Path, str] = {}
    originals: dict[Path, tuple[list[str], list[Any], Feeds]] = {}
    for path, place in zip(models, folders, strict=True):
        copy_model(path, place)
        try:
            originals[path] = reference(path)
        except CannotRun as error:
            skipped[path] = str(error)
    translate([(f / "in.onnx", f / "text.mlir") for f in folders], work / "log")
    for path, place in zip(models, folders, strict=True):
        if what := through_memory(path, place / "memory.onnx"):
            failures[path] = f"memory: {what}"
        elif path in originals and (what := difference(originals[path], place / "memory.onnx")):
            failures[path] = f"memory: {what}"
        for file in place.iterdir():  # the source and its data are gone
            if file.is_dir():
                shutil.rmtree(file)
            elif file.name not in ("text.mlir", "text.weights", "memory.onnx"):
                file.unlink()
    translate([(f / "text.mlir", f / "back.onnx") for f in folders], work / "log")
    for path, place in zip(models, folders, strict=True):
        if path in failures:
            continue
        if not (place / "back.onnx").exists():
            failures[path] = "text: not written"
        elif path in originals and (what := difference(originals[path], place / "back.onnx")):
            failures[path] = f"text: {what}"
        elif (place / "back.onnx").read_bytes() != (place / "memory.onnx").read_bytes():
            failures[path] = "text: not the file that memory gives"
    for path, what in skipped.items():
        print(f"not compared  {path.relative_to(folder)}: {what}")
    for path, what in failures.items():
        print(f"FAILED        {path.relative_to(folder)}: {what}")
    if failures:
        print((work / "log").read_text(), file=sys.stderr)
    print(f"{len(models)} models, {len(skipped)} not compared, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python benchmarks/roundtrip.py FOLDER [NAME]")
    with tempfile.TemporaryDirectory(prefix="roundtrip.", dir=os.environ.get("TMPDIR")) as folder:
        sys.exit(check(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else "", Path(folder)))
