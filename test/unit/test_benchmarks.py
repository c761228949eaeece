"""The commands of `benchmarks/` still fit the package, on the smallest models there are."""

import os
from pathlib import Path

import onnx

import compile_time
from models import catalog

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits_qdq.onnx"


def test_phases_of_a_compilation(tmp_path: Path):
    phases = compile_time.phases(EXAMPLE, tmp_path / "out.onnx", dict(os.environ))
    assert {"imports", "read", "passes", "verify", "write"} <= set(phases)
    onnx.checker.check_model(str(tmp_path / "out.onnx"))


def test_models_are_written_to_the_byte(tmp_path: Path):
    path = tmp_path / "chain.onnx"
    catalog.chain(path, 30)
    first = path.read_bytes()
    catalog.chain(path, 30)
    assert path.read_bytes() == first
    assert len(onnx.load(path).graph.node) >= 30
