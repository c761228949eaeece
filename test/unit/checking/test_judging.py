"""`--check-numerics` behind a lowering to TOSA: each op is judged with what it became, in integer-only arithmetic."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tosa_cases import CASES, digits_int8, parsed
from xdsl.passes import ModulePass

import qdialect
from graphs.quantized import random_case
from qdialect.checking.judging import Finding
from qdialect.checking.numerics_check import check_passes
from qdialect.cli import main
from qdialect.compiler.options import Options
from qdialect.dialects.onnx_types import known_shape
from qdialect.evaluation.feeds import fitting_feeds, random_feeds, retyped_feeds
from qdialect.ir.interface import main_of
from qdialect.report.compilation import compile_as
from qdialect.text.upstream import refused
from qdialect.transforms.lower_to_tosa import LowerToTosaPass
from qdialect.upstream.tosa.site import TosaSite
from qdialect.upstream.tosa_interpreter import run_integer


def judged(name: str, *passes: ModulePass) -> Finding | None:
    module = parsed(CASES[name])
    return check_passes(module, passes or [LowerToTosaPass()], [random_feeds(module, seed=k) for k in (1, 2)])


@pytest.mark.parametrize("name", ["conv_groups", "average_pool", "concat", "softmax", "matmul_two"])
def test_a_right_lowering_is_silent(name: str):
    assert judged(name) is None


def test_a_wrong_lowering_is_named(monkeypatch: pytest.MonkeyPatch):
    right: Callable[..., Any] = TosaSite.requantized_sum

    def wrong(site: TosaSite, sum: Any, ratio: Any, type: Any, largest: int) -> Any:
        return right(site, sum, ratio * np.float32(1.05), type, largest)

    monkeypatch.setattr(TosaSite, "requantized_sum", wrong)
    finding = judged("conv")
    assert finding is not None
    assert (finding.pass_name, finding.exactness) == ("lower-to-tosa", "close")
    assert finding.difference.op == "tosa.rescale"
    assert "integers differ, by up to" in finding.difference.detail


def test_a_compilation_is_judged_with_integers_at_its_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    digits_int8(tmp_path)
    words = [
        "compile",
        "digits_int8.onnx",
        "--integer-io",
        "--batch",
        "1",
        "--check-numerics",
        "-o",
        "o.mlir",
    ]
    assert main([*words, "--target", "tosa"]) == 0
    said = capsys.readouterr().err
    assert "each within its class on 1 input; 1 lossy on purpose, not judged\n" in said
    assert main([*words, "--target", "linalg"]) == 0
    assert "not judged: lower-to-linalg, whose ops no oracle runs" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--batch", "3"], ["--sizes", "N=3"]])
def test_a_compilation_is_judged_on_inputs_of_the_sizes_asked_for(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    digits_int8(tmp_path)
    source, target = str(tmp_path / "digits_int8.onnx"), str(tmp_path / "o.mlir")
    options = ["--integer-io", "--target", "tosa", "--check-numerics", "-o", target]
    assert main(["compile", source, *words, *options]) == 0
    assert "each within its class on 1 input" in capsys.readouterr().err
    assert "tensor<3x" in Path(target).read_text()


def test_feeds_follow_inputs_that_become_integers(tmp_path: Path):
    digits_int8(tmp_path)
    module = qdialect.load(tmp_path / "digits_int8.onnx")
    feeds = random_feeds(module)
    qdialect.compile(module, integer_io=True)
    (name,) = feeds
    retyped = retyped_feeds(module, feeds)[name]
    assert retyped.dtype.kind in "iu"
    assert retyped.std() > 1


@pytest.mark.parametrize("seed", range(3, 15))
def test_random_graphs_are_within_a_step_op_by_op(seed: int):
    module = qdialect.load(random_case(seed, integer=True).model, keep_functions=False)
    feeds = fitting_feeds(module, seed=seed)
    compile_as(module, Options(target="tosa", integer_io=True, batch=1), [feeds])
    module.verify()
    if not refused(module):
        args = main_of(module).body.block.args
        draw = np.random.default_rng(seed)
        run_integer(module, [draw.integers(-128, 128, known_shape(a.type)).astype(np.int8) for a in args])
