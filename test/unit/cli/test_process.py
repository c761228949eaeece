"""The process of a command is like any other for the code that a user brings into it by `--data module:function`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import helper, save
from onnx_models import onnx_model

SAMPLES = """
import atexit, collections, dataclasses, gc, inspect, os, sys, typing
import numpy as np

@dataclasses.dataclass
class Config:
    rate: float = 0.1

Pair = collections.namedtuple("Pair", "one other")

class Typed(typing.NamedTuple):
    one: "int"

def samples():
    print(inspect.signature(Config), inspect.signature(Pair), inspect.signature(Typed), Config.__doc__)
    print(gc.isenabled(), gc.get_threshold(), "OPENBLAS_NUM_THREADS" in os.environ)
    print(type(sys.modules["pickle"]).__name__, eval is collections.__dict__.get("eval", eval))
    atexit.register(print, "atexit")
    return [{"x": np.full((1, 4), k, np.float32)} for k in range(8)]
"""


def test_user_code_sees_another_standard_library_in_a_command(tmp_path: Path):
    (tmp_path / "user_samples.py").write_text(SAMPLES)
    w = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    save(onnx_model(nodes, {"x": [1, 4]}, {"y": [1, 3]}, {"w": w}), tmp_path / "model.onnx")
    environment = {"PATH": "", "PYTHONPATH": str(tmp_path), "SYSTEMROOT": ""}
    before = "import sys, pickle; sys.path.insert(0, ''); import qdialect; from qdialect.cli import main; "
    run = "import user_samples; user_samples.samples()"
    command = "main()"
    words = ["quantize", "model.onnx", "--data", "user_samples:samples", "-o", "out.onnx", "--quiet"]
    plain, within = (
        subprocess.run(
            [sys.executable, "-c", before + code, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for code in (run, command)
    )
    assert within[:3] == plain[:3]
    assert within[-1] == plain[-1] == "atexit"
