"""The API in many threads of a process that also forks: byte-identical results, no hang, no process left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing, os, sys, threading
import numpy as np, onnx
from onnx import TensorProto as T, helper as h, numpy_helper as nh
import qdialect
from qdialect.evaluation.session import run

THREADS, WORK, FOLDER = 32, sys.argv[1], sys.argv[2]
rng = np.random.default_rng(0)
tensors = {"s": np.float32(0.05), "z": np.uint8(120), "ws": np.float32(0.02), "wz": np.int8(0)}
tensors["c"] = np.array([0, -1])


def model(k):
    n = h.make_node
    nodes = [n("QuantizeLinear", ["x", "s", "z"], ["q"]), n("DequantizeLinear", ["q", "s", "z"], ["d"]),
             n("DequantizeLinear", ["w", "ws", "wz"], ["e"]), n("MatMul", ["d", "e"], ["m"]), n("Relu", ["m"], ["r"]),
             n("Shape", ["r"], ["sh"]), n("Reshape", ["r", "sh"], ["t"]), n("Reshape", ["t", "c"], ["y"])]
    weight = rng.integers(-127, 127, (6 + k, 5)).astype(np.int8)
    inits = [nh.from_array(np.asarray(v), k) for k, v in {**tensors, "w": weight}.items()]
    g = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, ["b", 6 + k])],
                     [h.make_tensor_value_info("y", T.FLOAT, ["b", 5])], inits)
    return h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def floats(k):
    n, r = h.make_node, np.random.default_rng(k)
    shapes = {"w": (8, 16), "v": (16, 4)}
    inits = [nh.from_array(r.standard_normal(s).astype(np.float32), name) for name, s in shapes.items()]
    nodes = [n("MatMul", ["x", "w"], ["m"]), n("Relu", ["m"], ["r"]), n("MatMul", ["r", "v"], ["y"])]
    g = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, [4, 8])],
                     [h.make_tensor_value_info("y", T.FLOAT, [4, 4])], inits)
    return h.make_model(g, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


for k in range(4):
    onnx.save(model(k), f"{FOLDER}/{k}.onnx")
onnx.save(floats(0), f"{FOLDER}/float.onnx")
data = [{"x": rng.standard_normal((4, 8)).astype(np.float32)} for _ in range(6)]


def load(name):
    return qdialect.to_model(qdialect.load(f"{FOLDER}/{name % 4}.onnx")).SerializeToString(deterministic=True)


def compile(name):
    module = qdialect.load(f"{FOLDER}/{name % 4}.onnx")
    report = qdialect.compile(module, target=("onnxruntime", "tensorrt", "openvino", "generic")[name // 4 % 4])
    return qdialect.to_model(module).SerializeToString(deterministic=True) + str(len(report.remarks)).encode()


def checked(name):
    module = qdialect.load(f"{FOLDER}/{name % 4}.onnx")
    qdialect.compile(module, feeds=[{"x": np.ones((2, 6 + name % 4), np.float32)}])
    return qdialect.to_model(module).SerializeToString(deterministic=True)


def quantize(name):
    module = qdialect.load(f"{FOLDER}/float.onnx")
    qdialect.quantize(module, data)
    return qdialect.to_model(module).SerializeToString(deterministic=True)


def save(name):
    module = qdialect.load(f"{FOLDER}/{name % 4}.onnx")
    qdialect.compile(module)
    path = f"{FOLDER}/out{threading.get_ident()}.onnx"
    qdialect.save(module, path, external_data=bool(name % 2))
    with open(path, "rb") as file:
        return file.read().replace(os.path.basename(path).encode(), b"")


def text(name):
    module = qdialect.load(f"{FOLDER}/{name % 4}.onnx")
    path = f"{FOLDER}/out{threading.get_ident()}.mlir"
    qdialect.save(module, path)
    return str(qdialect.load(path)).replace(path, "").encode()


def session(name):
    module = qdialect.load(f"{FOLDER}/{name % 4}.onnx")
    qdialect.compile(module)
    return run(qdialect.to_model(module), {"x": np.ones((2, 6 + name % 4), np.float32)})[0].tobytes()


work = globals()[WORK]
expected = {k: work(k) for k in range(16)}
wrong, start = [], threading.Barrier(THREADS + 1)


def many(k):
    start.wait()
    for j in range(2):
        try:
            if work((k + j) % 16) != expected[(k + j) % 16]:
                wrong.append(("differs", k))
        except BaseException as error:
            wrong.append((k, repr(error)))


def nothing():
    os._exit(0)


threads = [threading.Thread(target=many, args=[k]) for k in range(THREADS)]
for one in threads:
    one.start()
start.wait()
fork = multiprocessing.get_context("fork")
for _ in range(8):
    child = fork.Process(target=nothing)
    child.start()
    child.join(60)
    assert child.exitcode == 0, child.exitcode
for one in threads:
    one.join()
with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
    print(wrong, file.read().split())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lists child processes as Linux does")
@pytest.mark.parametrize("work", ["load", "compile", "checked", "quantize", "save", "text", "session"])
def test_threads_give_what_one_gives(work: str, tmp_path: Path):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, work, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr[-2000:]) == ("[] []\n", "")
