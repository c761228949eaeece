"""
Hostile files: mutants of good models, through the commands, each in a process of its own under limits.

    python test/fuzz.py [--count N] [--seed S] [--parents FOLDER] [--keep FOLDER]
    python test/fuzz.py FILE...      # these files: text is printed, models compiled; prints JSON, one line each

Each must end with status 0 or 1, with at most three lines on standard error, none of them a traceback or an internal
error, within 10 seconds and 6 GB of address space, and without a file opened outside the folder that it is in. Parents
are the .onnx files of up to 300 kB under FOLDER, or generated ones. The same seed makes the same mutants. Prints what
fails and keeps those files in --keep.
"""

import argparse
import importlib
import json
import os
import pkgutil
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError, Message
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.cli import main as compile_main
from qdialect.cli.opt import main as opt_main

SECONDS, ADDRESS_SPACE, LARGEST_PARENT, LINES = 10, 6 << 30, 300_000, 3

# --- parents


def _info(name: str, shape: Sequence[int | str] | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _constants(**values: Any) -> list[onnx.TensorProto]:
    return [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]


def _model(graph: onnx.GraphProto, functions: Sequence[onnx.FunctionProto] = ()) -> onnx.ModelProto:
    imports = [
        helper.make_opsetid("", 17),
        helper.make_opsetid("com.microsoft", 1),
        helper.make_opsetid("f", 1),
    ]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, functions=list(functions))


def _convolution() -> onnx.ModelProto:
    q, d = "QuantizeLinear", "DequantizeLinear"
    nodes = [
        helper.make_node(q, ["x", "s", "z"], ["xq"], name="q"),
        helper.make_node(d, ["xq", "s", "z"], ["xd"], name="d"),
        helper.make_node(d, ["w", "ws", "wz"], ["wd"], name="dw", axis=0),
        helper.make_node(
            "Conv", ["xd", "wd", ""], ["c"], name="conv", kernel_shape=[3, 3], pads=[1, 0, 1, 0]
        ),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node(q, ["r", "s2", "z"], ["rq"], name="q2"),
        helper.make_node(d, ["rq", "s2", "z"], ["rd"], name="d2"),
        helper.make_node("Transpose", ["rd"], ["t"], name="t", perm=[0, 2, 3, 1]),
        helper.make_node("Reshape", ["t", "shape"], ["y"], name="reshape"),
    ]
    rng = np.random.default_rng(3)
    tensors = _constants(
        s=np.float32(0.04),
        s2=np.float32(0.07),
        z=np.uint8(117),
        w=rng.integers(-90, 90, (5, 3, 3, 3), np.int8),
        ws=rng.uniform(0.01, 0.02, 5).astype(np.float32),
        wz=np.zeros(5, np.int8),
        shape=np.array([-1, 5], np.int64),
    )
    return _model(helper.make_graph(nodes, "g", [_info("x", ["n", 3, 8, 7])], [_info("y", None)], tensors))


def _foldable() -> onnx.ModelProto:
    nodes = [
        helper.make_node(
            "ConstantOfShape", ["shape"], ["filled"], value=helper.make_tensor("v", 1, [1], [2.5])
        ),
        helper.make_node("Expand", ["row", "shape"], ["expanded"]),
        helper.make_node("Tile", ["row", "times"], ["tiled"]),
        helper.make_node("Resize", ["image", "", "scales"], ["resized"], mode="nearest"),
        helper.make_node("Range", ["zero", "limit", "one"], ["range"]),
        helper.make_node("Add", ["filled", "expanded"], ["sum"]),
        helper.make_node("Concat", ["sum", "x"], ["y"], axis=0),
        helper.make_node("ReduceSum", ["tiled"], ["t"]),
        helper.make_node("Shape", ["resized"], ["r"]),
    ]
    tensors = _constants(
        shape=np.array([3, 4], np.int64),
        row=np.arange(4, dtype=np.float32),
        times=np.array([7], np.int64),
        image=np.ones((1, 1, 2, 3), np.float32),
        scales=np.array([1, 1, 2, 3], np.float32),
        zero=np.int64(0),
        limit=np.int64(9),
        one=np.int64(1),
    )
    outputs = [_info("y", None), _info("t", None), _info("r", None, 7), _info("range", None, 7)]
    return _model(helper.make_graph(nodes, "g", [_info("x", [2, 4])], outputs, tensors))


def _nested() -> onnx.ModelProto:
    """An If in a Loop's body, which takes values from around it; a call of a function; a sequence; strings."""
    then = helper.make_graph([helper.make_node("Mul", ["v", "k"], ["a"])], "then", [], [_info("a", None)])
    other = helper.make_graph([helper.make_node("Neg", ["v"], ["b"])], "else", [], [_info("b", None)])
    body = helper.make_graph(
        [
            helper.make_node("If", ["go"], ["next"], then_branch=then, else_branch=other),
            helper.make_node("Identity", ["go"], ["on"]),
        ],
        "body",
        [_info("i", [], 7), _info("go", [], 9), _info("v", None)],
        [_info("on", [], 9), _info("next", None)],
    )
    function = helper.make_function(
        "f",
        "twice",
        ["p"],
        ["r"],
        [helper.make_node("Add", ["p", "p"], ["r"])],
        [helper.make_opsetid("", 17)],
    )
    nodes = [
        helper.make_node("Loop", ["trips", "yes", "x"], ["looped"], body=body),
        helper.make_node("twice", ["looped"], ["doubled"], domain="f"),
        helper.make_node("SequenceConstruct", ["doubled", "x"], ["sequence"]),
        helper.make_node("ConcatFromSequence", ["sequence"], ["y"], axis=0),
        helper.make_node("Split", ["y"], ["l", ""], axis=0),
    ]
    tensors = _constants(trips=np.int64(3), yes=np.bool_(True), k=np.float32(0.5))
    tensors.append(TensorProto(name="words", data_type=8, dims=[2], string_data=[b"a", b"\xff"]))
    outputs = [_info("y", None), _info("l", None), _info("words", None, 8)]
    return _model(helper.make_graph(nodes, "g", [_info("x", [2, 4])], outputs, tensors), [function])


def generated_parents() -> list[bytes]:
    return [m().SerializeToString(deterministic=True) for m in (_convolution, _foldable, _nested)]


def parents_in(folder: Path) -> list[bytes]:
    files = [p for p in sorted(folder.rglob("*.onnx")) if 0 < p.stat().st_size <= LARGEST_PARENT]
    return [p.read_bytes() for p in files]


# --- mutants


def _bytes_mutant(raw: bytes, rng: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at = rng.randrange(len(data))
        match rng.randrange(6):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                del data[at : at + rng.choice((1, 2, 8, 64))]
            case 3:
                data[at:at] = data[at : at + rng.choice((1, 8, 64))]
            case 4:
                other = rng.randrange(len(data))
                data[at : at + 16] = data[other : other + 16]
            case _:
                del data[at:]
    return bytes(data)


NUMBERS = (
    -(1 << 63),
    -(1 << 31),
    -2,
    -1,
    0,
    1,
    2,
    7,
    99,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 40,
    (1 << 63) - 1,
)


def _messages(message: Message) -> list[Message]:
    messages, stack = [], [message]
    while stack:
        one = stack.pop()
        messages.append(one)
        for field, value in one.ListFields():
            if field.type == field.TYPE_MESSAGE:
                stack += list(value) if _repeated(field) else [value]
    return messages


def _repeated(field: Any) -> bool:
    return bool(field.is_repeated)


def _value(field: Any, old: Any, rng: random.Random, texts: Sequence[str]) -> Any:
    if field.type == field.TYPE_STRING:
        return rng.choice((*texts, "", "../x", "/etc/passwd", 'a"\\\n', "\0", "é" * 50))
    if field.type == field.TYPE_BYTES:
        return _bytes_mutant(old, rng) if old else b"\xff\x00"
    if field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
        return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e-45, 3e38))
    if field.type == field.TYPE_ENUM:
        return rng.randrange(-1, 30)
    return rng.choice(NUMBERS)


def _field_mutant(raw: bytes, rng: random.Random) -> bytes:
    """The message with a few fields changed, taken out, repeated or copied from elsewhere."""
    model = onnx.ModelProto.FromString(raw)
    messages = _messages(model)
    texts = sorted({v for m in messages for _, v in m.ListFields() if isinstance(v, str)}) or ["x"]
    for _ in range(rng.choice((1, 1, 2, 4))):
        one = rng.choice(messages)
        fields = one.ListFields()
        if not fields:
            continue
        field, value = rng.choice(fields)
        try:
            _change(one, field, value, rng, texts, messages)
        except (ValueError, TypeError, DecodeError):
            pass  # what the message itself refuses is no mutant
    return model.SerializeToString(deterministic=True)


def _change(
    one: Any, field: Any, value: Any, rng: random.Random, texts: Sequence[str], messages: Sequence[Message]
) -> None:
    if rng.randrange(4) == 0:
        one.ClearField(field.name)
    elif field.type == field.TYPE_MESSAGE:
        same = [m for m in messages if m.DESCRIPTOR is field.message_type]
        target = (
            value if not _repeated(field) else rng.choice((value.add(), value[rng.randrange(len(value))]))
        )
        copy: Any = type(target)()
        copy.CopyFrom(rng.choice(same))  # it may hold the target, or be held by it
        target.CopyFrom(copy)
    elif _repeated(field):
        at = rng.randrange(len(value))
        match rng.randrange(3):
            case 0:
                del value[at]
            case 1:
                value.append(_value(field, value[at], rng, texts))
            case _:
                value[at] = _value(field, value[at], rng, texts)
    else:
        setattr(one, field.name, _value(field, value, rng, texts))


def mutant(parents: Sequence[bytes], seed: int, number: int) -> bytes:
    rng = random.Random(f"{seed}:{number}")
    parent = rng.choice(parents)
    return (_bytes_mutant if rng.randrange(3) == 0 else _field_mutant)(parent, rng)


# --- running


def _allowed(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith((folder, *_LIBRARIES, "/dev/null", "/proc/", "/sys/"))


_LIBRARIES = tuple({os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, Path(__file__).parents[1])})


def _child(run: Callable[[], int], folder: str, log: str) -> None:
    """Never returns: limits, then the command, then its status as this process's."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stderr = open(2, "w", closefd=False)
    sys.stdout = open(1, "w", closefd=False)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and not _allowed(arguments[0], folder):
            os.write(2, f"opened '{arguments[0]}'\nTraceback: outside of the folder\n".encode())

    sys.addaudithook(watch)
    status = 99
    try:
        status = run()
    finally:
        sys.stderr.flush()
        os._exit(status)


@dataclass
class End:
    """How a command ended."""

    status: int
    """Its exit status; the negative signal number if it was killed."""
    text: str
    """What it wrote to standard error."""
    seconds: float

    def wrong(self) -> str:
        """What must not be so; empty if nothing."""
        if self.seconds > SECONDS:
            return f"takes more than {SECONDS} s"
        if self.status < 0:
            return f"killed by {signal.Signals(-self.status).name} {self.text[-200:]}"
        if self.status not in (0, 1):
            return f"status {self.status}: {self.text[-200:]}"
        if "Traceback" in self.text or "internal error" in self.text:
            return self.text
        if self.text.count("\n") > LINES:
            return f"{self.text.count(chr(10))} lines: {self.text}"
        return "status 1 without a word" if self.status == 1 and not self.text.strip() else ""


def supervised(run: Callable[[], int], folder: Path) -> End:
    """Runs a command in a child process, under limits; it may use `folder` and nothing else."""
    log = folder / ".stderr"
    start, pause = time.monotonic(), 0.001
    if (child := os.fork()) == 0:
        _child(run, os.path.realpath(folder), str(log))
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
        if time.monotonic() - start > SECONDS:
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    seconds = time.monotonic() - start
    text = log.read_text(errors="replace") if log.exists() else ""
    log.unlink(missing_ok=True)
    return End(os.waitstatus_to_exitcode(ended[1]), text, seconds)


def commands(source: Path) -> list[Callable[[], int]]:
    """The ways in."""
    path, out = str(source), str(source.parent / "out")
    ways = [
        lambda: opt_main([path, "-o", f"{out}.mlir"]),
        lambda: opt_main([path, "-o", f"{out}.onnx"]),
    ]
    if source.suffix == ".onnx":
        ways += [
            lambda: compile_main(["compile", "--quiet", path, "-o", f"{out}.onnx", "--target", "generic"]),
            lambda: compile_main(["compile", "--quiet", path, "-o", f"{out}.onnx", "--keep-functions"]),
            lambda: compile_main(["explain", path]),
            lambda: compile_main(["compile", "--quiet", path, "-o", f"{out}.onnx"]),
        ]
    return ways


def run_files(files: Sequence[Path]) -> int:
    """Runs every command on each file and prints how each ended."""
    import_everything()
    wrong = 0
    for file in files:
        ways = commands(file)
        ends = [supervised(way, file.parent) for way in (ways[:1] if file.suffix == ".mlir" else ways[-1:])]
        wrong += any(end.wrong() for end in ends)
        rows = [{"status": e.status, "text": e.text, "seconds": e.seconds, "wrong": e.wrong()} for e in ends]
        print(json.dumps({"file": str(file), "ends": rows}), flush=True)
    return wrong


def import_everything() -> None:
    """Once here, not once per child."""
    importlib.import_module("onnxruntime")
    for module in pkgutil.walk_packages(qdialect.__path__, "qdialect."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def fuzz(parents: Sequence[bytes], count: int, seed: int, keep: Path | None) -> int:
    """How many of `count` mutants end wrongly."""
    import_everything()
    failures: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz.") as root:
        for number in range(count):
            folder = Path(root) / str(number)
            folder.mkdir()
            source = folder / "in.onnx"
            source.write_bytes(mutant(parents, seed, number))
            ways = commands(source)
            if what := supervised(ways[number % len(ways)], folder).wrong():
                failures[what] += 1
                print(f"FAILED {number}: {what.strip()}", flush=True)
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(source, keep / f"{seed}-{number}.onnx")
            shutil.rmtree(folder)
    print(f"{count} mutants of {len(parents)} parents, seed {seed}: {failures.total()} failed")
    return failures.total()


def main() -> int:
    parser = argparse.ArgumentParser(description="Mutants of good models through the commands.")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parents", type=Path)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if arguments.files:
        return 1 if run_files(arguments.files) else 0
    parents = parents_in(arguments.parents) if arguments.parents else generated_parents()
    return 1 if fuzz(parents, arguments.count, arguments.seed, arguments.keep) else 0


if __name__ == "__main__":
    sys.exit(main())
