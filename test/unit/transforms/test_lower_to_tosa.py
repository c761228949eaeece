"""Each form in the integer profile computes what the op between casts does: one step apart at most, all bytes tried."""

# ruff: noqa: E501

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from tosa_cases import CASES, ROOT, case, compared, constant, digits_int8, lowered, parsed, weights
from upstream_tools import VALIDATE, run, tool

from qdialect.cli import main
from qdialect.ir.interface import main_of
from qdialect.text.upstream import write_upstream

GAMMA = "  %g = onnx.Constant() {value = #onnx.tensor<[0.9, -1.1, 0.02, 1.3, 0.0, 1.0] : tensor<6xf32>>} : () -> tensor<6xf32>\n"
SLOPES = "  %g = onnx.Constant() {value = #onnx.tensor<[0.9, -1.1, 0.02, 1.3, 0.0, 1.0] : tensor<6x1x1xf32>>} : () -> tensor<6x1x1xf32>\n"
MASK = "  %c = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3x1xi1>>} : () -> tensor<3x1xi1>\n"
CASES.update(
    {
        "layer_norm": case(
            "%x: tensor<9x6x!x>",
            GAMMA
            + "  %y = onnx.LayerNormalization(%x, %g, %g) : (tensor<9x6x!x>, tensor<6xf32>, tensor<6xf32>) -> tensor<9x6x!m>\n",
            "tensor<9x6x!m>",
        ),
        "layer_norm_long": case(
            "%x: tensor<3x2x350x!x>",
            constant("g", "2x350", "!m", weights(700))
            + "  %y = onnx.LayerNormalization(%x, %g) {axis = 1 : i64, epsilon = 0.03 : f32} : (tensor<3x2x350x!x>, tensor<2x350x!m>) -> tensor<3x2x350x!y>\n",
            "tensor<3x2x350x!y>",
        ),
        "prelu": case(
            "%x: tensor<2x6x3x2x!x>",
            SLOPES
            + "  %y = onnx.PRelu(%x, %g) : (tensor<2x6x3x2x!x>, tensor<6x1x1xf32>) -> tensor<2x6x3x2x!y>\n",
            "tensor<2x6x3x2x!y>",
        ),
        "where": case(
            "%x: tensor<2x3x5x!x>, %z: tensor<3x5x!z>",
            MASK
            + "  %y = onnx.Where(%c, %x, %z) : (tensor<3x1xi1>, tensor<2x3x5x!x>, tensor<3x5x!z>) -> tensor<2x3x5x!y>\n",
            "tensor<2x3x5x!y>",
        ),
        "real_constants": case(
            "%x: tensor<2x3x6x!x>",
            GAMMA + "  %a = onnx.Add(%g, %x) : (tensor<6xf32>, tensor<2x3x6x!x>) -> tensor<2x3x6x!z>\n"
            "  %y = onnx.Max(%a, %g) : (tensor<2x3x6x!z>, tensor<6xf32>) -> tensor<2x3x6x!z>\n",
            "tensor<2x3x6x!z>",
        ),
        "real_factors": case(
            "%x: tensor<2x6x3x2x!x>",
            SLOPES
            + "  %y = onnx.Mul(%x, %g) : (tensor<2x6x3x2x!x>, tensor<6x1x1xf32>) -> tensor<2x6x3x2x!y>\n",
            "tensor<2x6x3x2x!y>",
        ),
        "real_bias": case(
            "%x: tensor<1x4x4x5x!x>",
            constant("w", "4x2x3x2", "!v", weights(48))
            + "  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.25, 0.0, 3.1] : tensor<4xf32>>} : () -> tensor<4xf32>\n"
            "  %y = onnx.ConvTranspose(%x, %w, %b) {group = 2 : i64} : (tensor<1x4x4x5x!x>, tensor<4x2x3x2x!v>, tensor<4xf32>) -> tensor<1x4x6x6x!y>\n",
            "tensor<1x4x6x6x!y>",
        ),
        "sum": case(
            "%x: tensor<2x3x!x>, %z: tensor<2x3x!z>",
            "  %y = onnx.Sum(%x, %z, %x, %z, %z) : (tensor<2x3x!x>, tensor<2x3x!z>, tensor<2x3x!x>, tensor<2x3x!z>, tensor<2x3x!z>) -> tensor<2x3x!y>\n",
            "tensor<2x3x!y>",
        ),
        "pad_reflect": case(
            "%x: tensor<1x2x4x3x!x>",
            "  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 2] : tensor<8xi64>>} : () -> tensor<8xi64>\n"
            '  %y = onnx.Pad(%x, %p) {mode = "reflect"} : (tensor<1x2x4x3x!x>, tensor<8xi64>) -> tensor<1x2x7x6x!x>\n',
            "tensor<1x2x7x6x!x>",
        ),
        "conv_unsigned_weight": case(
            "%x: tensor<1x3x4x5x!x>",
            constant("w", "2x3x2x3", "!q", weights(36)).replace("xi8>", "xui8>")
            + "  %y = onnx.Conv(%x, %w) : (tensor<1x3x4x5x!x>, tensor<2x3x2x3x!q>) -> tensor<1x2x3x3x!y>\n",
            "tensor<1x2x3x3x!y>",
        ),
        "repeated_often": case(
            "%x: tensor<2x3x!x>",
            f"  %i = onnx.Constant() {{value = #onnx.tensor<{[0, 1] * 100} : tensor<200xi64>>}} : () -> tensor<200xi64>\n"
            "  %y = onnx.Gather(%x, %i) : (tensor<2x3x!x>, tensor<200xi64>) -> tensor<200x3x!x>\n",
            "tensor<200x3x!x>",
        ),
        "constant_term": case(
            "%x: tensor<2x3x!x>",
            constant("w", "2x3", "!z", weights(6))
            + "  %y = onnx.Add(%x, %w) : (tensor<2x3x!x>, tensor<2x3x!z>) -> tensor<2x3x!y>\n",
            "tensor<2x3x!y>",
        ),
        "mean_of_pixels": case(
            "%x: tensor<2x3x5x4x!x>",
            "  %a = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>} : () -> tensor<2xi64>\n"
            "  %m = onnx.ReduceMean(%x, %a) : (tensor<2x3x5x4x!x>, tensor<2xi64>) -> tensor<2x3x1x1x!z>\n"
            "  %y = onnx.Add(%x, %m) : (tensor<2x3x5x4x!x>, tensor<2x3x1x1x!z>) -> tensor<2x3x5x4x!y>\n",
            "tensor<2x3x5x4x!y>",
        ),
        "nearest_of_fewer": case(
            "%x: tensor<1x2x8x4x!x>",
            "  %k = onnx.Constant() {value = #onnx.tensor<[1, 2, 5, 7] : tensor<4xi64>>} : () -> tensor<4xi64>\n"
            "  %y = onnx.Resize(%x, _, _, %k) : (tensor<1x2x8x4x!x>, tensor<4xi64>) -> tensor<1x2x5x7x!x>\n",
            "tensor<1x2x5x7x!x>",
        ),
        "pad_and_cut": case(
            "%x: tensor<1x2x4x3x!x>",
            "  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, -2, 1, 0, 0, 1, -1] : tensor<8xi64>>} : () -> tensor<8xi64>\n"
            "  %y = onnx.Pad(%x, %p) : (tensor<1x2x4x3x!x>, tensor<8xi64>) -> tensor<1x3x3x3x!x>\n",
            "tensor<1x3x3x3x!x>",
        ),
    }
)
SQUARE = {
    name: case(
        "%x: tensor<256x1x!x>, %z: tensor<1x256x!z>",
        f"  %y = onnx.{name}(%x, %z) : (tensor<256x1x!x>, tensor<1x256x!z>) -> tensor<256x256x!{'n' if name == 'Sub' else 'y'}>\n",
        f"tensor<256x256x!{'n' if name == 'Sub' else 'y'}>",
    )
    for name in ("Add", "Sub", "Mul", "Div", "Max", "Min")
}
BYTES = np.arange(-128, 128).astype(np.int8)


@pytest.mark.parametrize("name", CASES)
def test_one_step_at_most(name: str):
    module, rng = parsed(CASES[name]), np.random.default_rng(7)
    shapes = [a.type.get_shape() for a in main_of(module).body.block.args]  # pyright: ignore
    for _ in range(8):
        feeds = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
        assert compared(CASES[name], feeds).max() <= 1


def test_means_tie_as_in_onnxruntime():
    """Where every scale is a power of two, float32 has the means without error, and so half of them tie."""
    body = "  %y = onnx.GlobalAveragePool(%x) : (tensor<8x64x1x2x!e>) -> tensor<8x64x1x1x!e>\n"
    text = case("%x: tensor<8x64x1x2x!e>", body, "tensor<8x64x1x1x!e>")
    feeds = np.random.default_rng(3).integers(-128, 128, (8, 64, 1, 2)).astype(np.int8)
    assert (feeds.sum(3) % 2).mean() > 0.4
    assert compared(text, [feeds]).max() == 0


EVEN = {
    "conv": case(
        "%x: tensor<1x3x9x8x!e>",
        constant("w", "4x3x2x3", "!d", weights(72) // 8)
        + "  %y = onnx.Conv(%x, %w) : (tensor<1x3x9x8x!e>, tensor<4x3x2x3x!d>) -> tensor<1x4x8x6x!f>\n",
        "tensor<1x4x8x6x!f>",
    ),
    "conv_transpose": case(
        "%x: tensor<1x3x5x4x!e>",
        constant("w", "3x2x2x3", "!d", weights(36) // 8)
        + "  %y = onnx.ConvTranspose(%x, %w) : (tensor<1x3x5x4x!e>, tensor<3x2x2x3x!d>) -> tensor<1x2x6x6x!f>\n",
        "tensor<1x2x6x6x!f>",
    ),
    "matmul": case(
        "%x: tensor<8x5x!e>, %z: tensor<5x7x!d>",
        "  %y = onnx.MatMul(%x, %z) : (tensor<8x5x!e>, tensor<5x7x!d>) -> tensor<8x7x!f>\n",
        "tensor<8x7x!f>",
    ),
    "mul": case(
        "%x: tensor<8x9x!e>, %z: tensor<8x9x!d>",
        "  %y = onnx.Mul(%x, %z) : (tensor<8x9x!e>, tensor<8x9x!d>) -> tensor<8x9x!d>\n",
        "tensor<8x9x!d>",
    ),
    "concat": case(
        "%x: tensor<8x16x!e>, %z: tensor<8x16x!d>",
        "  %y = onnx.Concat(%x, %z) {axis = 0 : i64} : (tensor<8x16x!e>, tensor<8x16x!d>) -> tensor<16x16x!f>\n",
        "tensor<16x16x!f>",
    ),
    "clip": case(
        "%x: tensor<8x32x!e>",
        "  %y = onnx.Relu(%x) : (tensor<8x32x!e>) -> tensor<8x32x!f>\n",
        "tensor<8x32x!f>",
    ),
}


@pytest.mark.parametrize("name", EVEN)
def test_ties_go_to_even_between_scales_of_powers_of_two(name: str):
    shapes = [a.type.get_shape() for a in main_of(parsed(EVEN[name])).body.block.args]  # pyright: ignore
    rng = np.random.default_rng(13)
    for _ in range(6):
        feeds = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
        assert compared(EVEN[name], feeds).max() == 0


def test_layer_normalization_hardly_differs():
    """Five of 120,000 results at most; with a root that is 2^-15 off, 15 are on the other side of a tie."""
    body = GAMMA + (
        "  %y = onnx.LayerNormalization(%x, %g) : (tensor<20000x6x!x>, tensor<6xf32>) -> tensor<20000x6x!m>\n"
    )
    text = case("%x: tensor<20000x6x!x>", body, "tensor<20000x6x!m>")
    feeds = np.random.default_rng(5).integers(-40, 40, (20000, 6)).astype(np.int8)
    assert np.count_nonzero(compared(text, [feeds])) <= 5


@pytest.mark.parametrize("name", SQUARE)
def test_all_pairs_of_bytes(name: str):
    steps = compared(SQUARE[name], [BYTES[:, None], BYTES[None, :]])
    if name == "Div":  # 0 / 0 is 0, not what a NaN becomes
        steps[np.ix_(BYTES == 3, BYTES == -20)] = 0
    assert steps.max() <= 1


@pytest.mark.parametrize("name", [*CASES, *SQUARE])
def test_upstream_validates(name: str):
    validator, text = tool("mlir-opt-22", "mlir-opt"), StringIO()
    write_upstream(lowered({**CASES, **SQUARE}[name]), text)
    done = run(validator, [*VALIDATE, "-", "-o", "/dev/null"], text.getvalue())
    assert done.returncode == 0, done.stderr


def test_docs_from_onnx_to_the_report_of_vela(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tool("tosa-opt")
    vela = tool("vela")
    monkeypatch.chdir(tmp_path)
    digits_int8(tmp_path)
    page = (ROOT / "docs" / "mlir.md").read_text()
    commands = re.search(r"<!-- run with tosa-tools -->\n\n((?:    .*\n)+)", page)
    assert commands is not None
    for line in commands[1].splitlines():
        program, *words = line.split()
        if program == "qdialect":
            assert main(words) == 0
        else:
            done = run(vela, words)
            assert "NPU operators" in done.stdout
            assert "CPU operators = 0 (0.0%)" in done.stdout


def test_a_flatbuffer_without_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    digits_int8(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["--target", "tosa", "--integer-io", "--batch", "1", "--quiet", "-o", str(tmp_path / "o.tosa")]
    assert main(["compile", str(tmp_path / "digits_int8.onnx"), *words]) == 1
    said = "error: a .tosa file is made by tosa-opt, which is not installed; docs/mlir.md says how\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "o.tosa").exists()
