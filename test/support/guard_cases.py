"""Modules that are short to write, and what a pass says of them: for tests of guards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from qdialect.dialects.onnx_base import ConstantOp, OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp, StorageCastOp
from qdialect.ops import get_all_dialects
from qdialect.rewriting.remarks import remarks_of
from qdialect.text.assembly import parse_module

ALIASES = """
!u = !quant.uniform<u8:f32, 0.02:13>
!s = !quant.uniform<i8:f32, 0.5:-3>
!t = !quant.uniform<i8:f32, 0.25>
!one = !quant.uniform<u8:f32, 1.0>
!rows = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>
!others = !quant.uniform<i8:f32:0, {0.5:3,0.75:-7,0.125}>
!columns = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>
!like = !quant.uniform<i8:f32:1, {0.5:9,2.0:9}>
!four = !quant.uniform<u4:f32, 0.25:7>
!fours = !quant.uniform<u4:f32:0, {0.5:3,0.25:7,0.125}>
!apart = !quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>
!huge = !quant.uniform<u8:f32, 1.0e+20:13>
!half = !quant.uniform<u8:f16, 0.25:7>
!pair = !quant.uniform<i8:f32:0, {0.5,0.25}>
!shared = !quant.uniform<u8:f32:0, {0.02:13,0.03:13}>
!unsigned = !quant.uniform<u8:f32:0, {0.5,0.25}>
!wide = !quant.uniform<u16:f32, 0.002:31000>
!short = !quant.uniform<i16:f32, 0.004:-300>
!sum = !quant.uniform<i32:f32, 0.0005>
"""


MICROSOFT = (
    "DynamicQuantizeMatMul", "FusedConv", "FusedGemm", "FusedMatMul", "GatherBlockQuantized", "MatMulNBits",
    "NhwcMaxPool", "QAttention", "QGemm", "QLinearAdd", "QLinearConcat", "QLinearLeakyRelu",
    "QLinearSigmoid", "QLinearSoftmax", "QLinearWhere", "SkipLayerNormalization",
)  # fmt: skip


class Case(NamedTuple):
    """
    What a pass gives `reason` for.

    The body is that of a function: inputs `x: 3x4xf32`, constants `k = [1.0] : f32`, ops `y = Add(x, k) : 3x4xf32`, and
    casts `q = qcast x : 3x4x!u`. Its last line makes the result.
    """

    rewrite: str
    reason: str
    body: str
    options: dict[str, Any] = {}
    opset: int = 17


def tensor(spec: str) -> str:
    return f"tensor<{spec.strip()}>"


def text(case: Case) -> str:
    """The case as a module."""
    inputs, lines, types = list[str](), list[str](), dict[str, str]()
    last = ""
    for line in filter(None, (line.strip() for line in case.body.splitlines())):
        if "=" not in line.split(":", maxsplit=1)[0]:
            name, spec = line.split(":", maxsplit=1)
            inputs.append(f"%{name}: {tensor(spec)}")
            types[name] = tensor(spec)
            continue
        names, definition = (part.strip() for part in line.split("=", maxsplit=1))
        what, spec = definition.rsplit(" : ", maxsplit=1)
        results = [tensor(one) for one in spec.split(",")]
        last = ", ".join(names.split(", ")[:1])
        results_text = ", ".join(f"%{n}" for n in names.split(", "))
        types |= dict(zip(names.split(", "), results, strict=True))
        if what.startswith("["):
            plain, _, typed = spec.partition(" as ")
            value = f"#onnx.tensor<{what} : {tensor(plain)}>"
            types[names] = tensor(typed or plain)
            lines.append(f"{results_text} = onnx.Constant() {{value = {value}}} : () -> {types[names]}")
        elif what.split()[0] in ("qcast", "dcast", "scast"):
            kind, operand = what.split()
            lines.append(f"{results_text} = quant.{kind} %{operand} : {types[operand]} to {results[0]}")
        else:
            called = re.fullmatch(r"(\w+)\(([^)]*)\)(.*)", what)
            assert called is not None, line
            operands = [o.strip() for o in called[2].split(",") if o.strip()]
            taken = ", ".join("_" if o == "_" else f"%{o}" for o in operands)
            signature = ", ".join(types[o] for o in operands if o != "_")
            result_text = results[0] if len(results) == 1 else f"({', '.join(results)})"
            dialect = "onnx_ms" if called[1] in MICROSOFT else "onnx"
            lines.append(
                f"{results_text} = {dialect}.{called[1]}({taken}){called[3]} : ({signature}) -> {result_text}"
            )
    body = "\n    ".join([*lines, f"func.return %{last} : {types[last]}"])
    opsets = f"onnx.opset_import = {{ai.onnx = {case.opset} : i64, com.microsoft = 1 : i64}}"
    return (
        f"{ALIASES}builtin.module attributes {{{opsets}}} {{\n"
        f"  func.func @f({', '.join(inputs)}) -> {types[last]} {{\n    {body}\n  }}\n}}"
    )


def full_context() -> Context:
    """A context with every dialect."""
    context = Context()
    for name, dialect in get_all_dialects().items():
        context.register_dialect(name, dialect)
    return context


def parsed(source: str) -> tuple[Context, ModuleOp]:
    """A module of text, and the context that it was read in."""
    context = full_context()
    return context, parse_module(context, source, "test", Path())


def check_unmoved(source: str, rewrite: ModulePass, reason: str):
    """The pass leaves the module as it is, and says why."""
    context, module = parsed(source)
    before = str(module)
    rewrite.apply(context, module)
    assert str(module) == before
    assert reason in [r.blocked.id for r in remarks_of(module)]


def last_op(body: str, opset: int = 18, mine: str = "!quant.uniform<i8:f32, 1.0>") -> OnnxOp:
    """The last ONNX op of a function, as `Case` writes it. mine: the type `!mine`."""
    _, module = parsed(f"!mine = {mine}\n{text(Case('', '', body, opset=opset))}")
    return [op for op in module.walk() if isinstance(op, OnnxOp)][-1]


CASTS: dict[type[Operation], str] = {QuantizeOp: "qcast", DequantizeOp: "dcast", StorageCastOp: "scast"}


def ops_of(module: ModuleOp) -> str:
    """The ops but constants, in order."""
    names = (
        op.op_type if isinstance(op, OnnxOp) and not isinstance(op, ConstantOp) else CASTS.get(type(op))
        for op in module.walk()
    )
    return " ".join(name for name in names if name)


def module_named(body: str) -> ModuleOp:
    context = full_context()
    imports = "{ai.onnx = 23 : i64, com.microsoft = 1 : i64}"
    text = f"builtin.module attributes {{onnx.ir_version = 9 : i64, onnx.opset_import = {imports}}} {{\n{body}}}\n"
    return parse_module(context, text, "test", None)


def first_op(body: str, arguments: str, opset: int = 17) -> OnnxOp:
    """The first op of a function that has operands."""
    context = full_context()
    text = (
        f"builtin.module attributes {{onnx.opset_import = {{ai.onnx = {opset} : i64}}}} {{\n"
        f"func.func @f({arguments}) {{\n{body}\nfunc.return\n}}\n}}"
    )
    module = parse_module(context, text, "test", Path())
    return next(op for op in module.walk() if isinstance(op, OnnxOp) and op.operands)
