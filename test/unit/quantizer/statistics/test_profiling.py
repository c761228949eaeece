"""Ctrl-C while profiling: what was counted is whole samples, is saved, and is gone on from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model

from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.statistics.profiling import Profiler

Array = npt.NDArray[Any]
DATA = """
import os, signal, time
import numpy as np

def whole():
    return iter(np.load("x.npy")[:, None])

def rest():
    return iter(np.load("x.npy")[5:, None])

def interrupted():
    for k, row in enumerate(whole()):
        if k == 5:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        yield row
"""


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Children inherit that SIGINT is ignored from a shell that runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def model() -> onnx.ModelProto:
    w = np.random.default_rng(1).normal(size=(6, 5)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Relu", ["p"], ["y"])]
    return onnx_model(nodes, {"x": ["n", 6]}, {"y": ["n", 5]}, {"w": w})


def samples() -> Array:
    return np.random.default_rng(2).normal(size=(12, 6)).astype(np.float32)


def profile(x: Array, **options: Any) -> bytes:
    profiler = Profiler(import_model(model()), **options)
    profiler.add([{"x": x}])
    return profiler.profile.to_bytes()


@pytest.mark.parametrize("memory", [1, 1 << 20], ids=["waves", "one-wave"])
def test_a_sample_counts_whole_or_not_at_all(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal comes while one of a sample's tensors has been looked at, and others have not."""
    monkeypatch.setattr("qdialect.quantizer.statistics.observer.CHUNK_BYTES", 3 * samples()[:1].nbytes)
    profiler = Profiler(import_model(model()), memory=memory)
    looked: list[str] = []
    look = profiler.look

    def disturbed(value: Any, array: Array) -> None:
        looked.append("")
        if len(looked) == 11:
            os.kill(os.getpid(), signal.SIGINT)
        look(value, array)

    monkeypatch.setattr(profiler, "look", disturbed)
    with pytest.raises(KeyboardInterrupt):
        profiler.add([{"x": samples()}])
    count = profiler.profile.samples
    assert 0 < count < 12
    assert profiler.profile.to_bytes() == profile(samples()[:count], memory=memory)


def test_reading_is_interrupted_at_once() -> None:
    def rows() -> Iterator[dict[str, Array]]:
        yield {"x": samples()[:1]}
        os.kill(os.getpid(), signal.SIGINT)
        yield {"x": samples()[1:2]}

    profiler = Profiler(import_model(model()))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        profiler.add(rows())
    assert profiler.profile.samples == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_the_command_leaves_a_profile_that_is_gone_on_from(tmp_path: Path) -> None:
    onnx.save(model(), str(tmp_path / "m.onnx"))
    np.save(tmp_path / "x.npy", samples())
    (tmp_path / "counted_samples.py").write_text(DATA)

    def quantize(out: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "qdialect.cli",
            "quantize",
            "m.onnx",
            "--save-profile",
            out,
            "-o",
            "o.onnx",
        ]
        path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
        environment = os.environ | {"PYTHONPATH": path}
        return subprocess.run(
            [*command, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    broken = quantize("half", "--data", "counted_samples:interrupted")
    assert broken.returncode == 130
    assert broken.stderr == "error: interrupted; 5 samples are counted in 'half', go on with --profile\n"
    assert not (tmp_path / "o.onnx").exists()
    assert quantize("sum", "--profile", "half", "--data", "counted_samples:rest").returncode == 0
    assert quantize("all", "--data", "counted_samples:whole").returncode == 0
    assert (tmp_path / "sum").read_bytes() == (tmp_path / "all").read_bytes()
