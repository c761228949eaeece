"""The commands of `benchmarks/` still fit the package, on the smallest models there are."""

import gc
import os
from pathlib import Path

import numpy as np
import onnx
import pytest

import compile_time
import zoo
from architectures.quantizers import tensorrt
from models import catalog
from mutants import ROOT, equal, identity
from mutation.changes import Live, mutants
from mutation.inline import LitItem
from qdialect import numerics

EXAMPLE = Path(__file__).parents[3] / "examples" / "digits_qdq.onnx"


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


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("name", zoo.ARCHITECTURES)
def test_networks_of_the_zoo_are_valid(name: str, normalized: bool):
    _, model = zoo.network(name, normalized)
    onnx.checker.check_model(model, full_check=True)
    assert any(node.op_type in ("Conv", "MatMul", "Gemm") for node in model.graph.node)


def test_a_network_of_the_zoo_is_quantized(tmp_path: Path):
    net, model = zoo.network("pointnet", True)
    onnx.save(model, tmp_path / "float.onnx")
    tensorrt(tmp_path / "float.onnx", [net.feed(1, 3)], tmp_path / "quantized.onnx")
    done, feed = onnx.load(tmp_path / "quantized.onnx"), net.feed(2, 4)
    assert sum(node.op_type == "QuantizeLinear" for node in done.graph.node) > 6
    first, second = (
        zoo.session(tmp_path / f"{each}.onnx").run(None, feed)[0] for each in ("float", "quantized")
    )
    assert 0 < np.abs(first - second).max() < 0.2 * np.abs(first).max()


def test_each_mutant_that_is_said_to_be_equal_is_there():
    every: set[tuple[str, str, str, str]] = set()
    for path in {row[0] for row in equal()}:
        every |= {identity(mutant) for mutant in mutants(ROOT / path, ROOT)[1].values()}
    assert equal().keys() <= every


def test_mutants_have_names_of_their_own():
    every = list(mutants(ROOT / "qdialect/numerics/__init__.py", ROOT)[1].values())
    assert len({mutant.key for mutant in every}) == len(every) > 100


def test_what_was_imported_before_can_be_changed():
    """`test/conftest.py` freezes it, so that no search for garbage sees it."""
    gc.freeze()
    try:
        live = Live()
    finally:
        gc.freeze()
    assert numerics.rescale_reach in live.functions[numerics.__name__]


def test_mutants_are_judged_by_lits_files_too(request: pytest.FixtureRequest):
    item = LitItem.from_parent(request.session, name="lit", path=ROOT / "test/dialects/quant/types.mlir")
    item.runtest()
