"""MLIR's own mlir-opt reads what we print, and we read what it prints. Skipped where it is not installed."""

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.printer import Printer

import qdialect
from qdialect.dialects.quant import Quant
from qdialect.text.assembly import parse_module, print_module
from qdialect.transforms.raise_qdq import RaiseQdqPass

DIALECT_TESTS = Path(__file__).parents[2] / "dialects/quant"
MLIR_OPT = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")

pytestmark = pytest.mark.skipif(MLIR_OPT is None, reason="no mlir-opt: apt-get install mlir-22-tools")

TYPES = """
<i8:f32, 0.02> <i8:f32, 0.02:-3> <u8:f32, 0.02:128> <i8<-127:127>:f32, 0.02> <u16<0:1023>:f32, 1.23:512>
<i8:f32:1, {2.0,3.0:1}> <i8<-127:127>:f32:0, {2.0,3.0}> <i8:f32:{0:1, 1:1}, {{2.0:120, 3.0:127}, {4.0, 5.0}}>
<i8:f32:{1:1}, {{2.0, 3.0}}> <i8:f32:{}, {{2.0}}> <u4:f16, 0.5:8> <i32:f32:0, {0.0004,1.0e-05}>
<i1:bf16, 0.5:-1> <u32:f32, 3.0e+38:7> <i8:f32, 1.5e-41>
""".replace("\n", " ")


def mlir_opt(text: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Unregistered: our tests use `test.op`."""
    command = [MLIR_OPT or "", "--allow-unregistered-dialect", "--mlir-print-op-generic", *flags, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Test, Quant):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def generic(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=True).print_op(module)
    return stream.getvalue()


def through_mlir(module: ModuleOp) -> ModuleOp:
    result = mlir_opt(generic(module))
    assert result.returncode == 0, result.stderr
    return parse(result.stdout)


@pytest.mark.parametrize("parameters", re.findall(r"(?<= )<.*?>(?= )", TYPES))
def test_types_survive_mlir(parameters: str):
    module = parse(f'"test.op"() : () -> tensor<2x2x!quant.uniform{parameters}>')
    assert f"!quant.uniform{parameters}>" in generic(module)
    assert through_mlir(module).is_structurally_equivalent(module)


@pytest.mark.parametrize("name", ["types", "ops", "canonicalize"])
def test_our_test_files_survive_mlir(name: str):
    text = (DIALECT_TESTS / f"{name}.mlir").read_text()
    # Upstream takes signless integers only.
    module = parse(text.replace("xui8>", "xi8>"))
    assert through_mlir(module).is_structurally_equivalent(module)


UNSIGNED = """
func.func @both(%x: tensor<2x3xui8>) -> (tensor<2x3xui8>, tensor<2x3xi8>) {
  %q = quant.scast %x : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:7>>
  %p = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xui8>
  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.25:7>> to tensor<2x3xi8>
  func.return %p, %s : tensor<2x3xui8>, tensor<2x3xi8>
}
"""


@pytest.mark.parametrize("flags", [(), ("--cse",)], ids=["as it is", "merged"])
def test_unsigned_integers_survive_mlir(flags: tuple[str, ...]):
    """Upstream's `quant.scast` takes signless integers only: the generic form says it in two ops, read as one."""
    module = parse(UNSIGNED)
    stream = StringIO()
    print_module(module, stream, generic=True)
    result = mlir_opt(stream.getvalue(), *flags)
    assert result.returncode == 0, result.stderr
    context = Context()
    for dialect in (Builtin, Func, Quant):
        context.load_dialect(dialect)
    for text in (stream.getvalue(), result.stdout):
        again = parse_module(context, text, "text", None)
        again.verify()
        casts = [op.name for op in again.walk() if "cast" in op.name]
        assert casts == ["quant.scast"] * 3
        if not flags:
            assert again.is_structurally_equivalent(module)


def test_compiled_models_pass_mlir(tmp_path: Path):
    """With unsigned integers at both ends, where casts of storage stay."""
    x, y = (helper.make_tensor_value_info(name, 2, [2, 3]) for name in "xy")
    numbers = {"s": np.float32(0.25), "z": np.uint8(7), "t": np.float32(0.3), "v": np.uint8(9)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("QuantizeLinear", ["b", "t", "v"], ["y"]),
    ]
    model = onnx_model(nodes, [x], [y], numbers)
    onnx.save(model, tmp_path / "m.onnx")
    module = qdialect.load(tmp_path / "m.onnx")
    RaiseQdqPass().apply(Context(), module)
    stream = StringIO()
    print_module(module, stream, generic=True)
    assert "xui8>) -> tensor<2x3xi8>" in stream.getvalue()
    result = mlir_opt(stream.getvalue())
    assert result.returncode == 0, result.stderr


INVALID = (DIALECT_TESTS / "invalid.mlir").read_text().split("// -----")


@pytest.mark.parametrize("case", INVALID, ids=range(len(INVALID)))
def test_upstream_rejects_what_we_reject(case: str):
    """Except what is marked as ours: the mark is true, too."""
    ours = re.search(r"^// C\d+.* \(ours\)$", case, re.MULTILINE) is not None
    assert mlir_opt(case).returncode == (0 if ours else 1)
