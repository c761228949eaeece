"""How many multiply-adds ops take: what a sum of ones says, as each product is one."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from guard_cases import first_op, last_op, module_named, parsed
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.evaluation.session import run
from qdialect.onnx_io.importer import import_model
from qdialect.promises.work import Numbers, SumsProducts
from qdialect.report.provenance import nodes_of

MICROSOFT = "com.microsoft"


class Case(NamedTuple):
    op: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any] = {}
    domain: str = ""


CASES = (
    Case("Conv", ((2, 6, 9, 7), (4, 3, 3, 2)), {"group": 2, "strides": [2, 1], "dilations": [1, 2]}),
    Case("Conv", ((1, 3, 11), (5, 3, 4))),
    Case("ConvTranspose", ((2, 6, 4, 5), (6, 2, 3, 2)), {"group": 2, "strides": [2, 3]}),
    Case("Gemm", ((5, 3), (4, 5)), {"transA": 1, "transB": 1}),
    Case("Gemm", ((3, 5), (5, 4))),
    Case("MatMul", ((2, 1, 3, 5), (7, 5, 4))),
    Case("MatMul", ((5,), (5, 4))),
    Case("FusedMatMul", ((2, 5, 3), (2, 5, 4)), {"transA": 1}, MICROSOFT),
    Case("Einsum", ((2, 3, 5), (7, 5, 3)), {"equation": "bij,kji->bk"}),
    Case("Einsum", ((1, 3), (3, 4)), {"equation": "ij,jk->ik"}),
)


def model_of(case: Case) -> ModelProto:
    """One node that takes graph inputs."""
    names = [f"x{k}" for k in range(len(case.shapes))]
    node = helper.make_node(case.op, names, ["y"], "node", domain=case.domain, **case.attributes)
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in zip(names, case.shapes, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(
        helper.make_graph([node], "g", inputs, [output]), opset_imports=opsets, ir_version=8
    )


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.op}-{len(c.shapes[0])}")
def test_the_count_is_the_sum_of_products_of_ones(case: Case):
    model = model_of(case)
    ones = {f"x{k}": np.ones(s, np.float32) for k, s in enumerate(case.shapes)}
    [y] = run(model.SerializeToString(), ones)
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, y.shape))
    [op] = nodes_of(import_model(model))
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == y.sum()
    assert work.numbers(op) is Numbers.FLOAT


INTEGERS: dict[str, tuple[str, tuple[int, ...], dict[str, Any], str]] = {
    "QLinearConv": ("xu8 2,6,9,7; s; z; wi8 4,3,3,2; s; w0; s; z", (2, 4, 7, 6), {"group": 2}, ""),
    "ConvInteger": ("xu8 2,6,9,7; wi8 4,3,3,2; z", (2, 4, 7, 6), {"group": 2}, ""),
    "MatMulInteger": ("xu8 2,3,5; wi8 5,4; z", (2, 3, 4), {}, ""),
    "QLinearMatMul": ("xu8 2,3,5; s; z; wi8 5,4; s; w0; s; z", (2, 3, 4), {}, ""),
    "QGemm": ("xu8 3,5; s; z; wi8 4,5; s; w0", (3, 4), {"transB": 1}, MICROSOFT),
    "MatMulIntegerToFloat": ("xu8 2,3,5; wi8 5,4; s; s; z; w0", (2, 3, 4), {}, MICROSOFT),
    "DynamicQuantizeMatMul": ("xf32 2,3,5; wi8 5,4; s; w0", (2, 3, 4), {}, MICROSOFT),
}
"""Inputs, the result's shape, attributes, domain; the weight is shaped as the float op's."""
LINEAR = {
    "QLinearConv": 2 * 4 * 7 * 6 * 3 * 3 * 2,
    "ConvInteger": 2 * 4 * 7 * 6 * 3 * 3 * 2,
    "QGemm": 3 * 4 * 5,
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_ops_count_as_the_float_ones(name: str):
    inputs, result, attributes, domain = INTEGERS[name]
    types = {"u8": TensorProto.UINT8, "i8": TensorProto.INT8, "f32": TensorProto.FLOAT}
    infos, names = dict[str, ValueInfoProto](), list[str]()
    for text in inputs.split("; "):
        word, _, shape = text.partition(" ")
        names.append(word[0] if shape else word)
        element = types[word[1:]] if shape else {"s": 1, "z": TensorProto.UINT8, "w0": TensorProto.INT8}[word]
        sizes = [int(size) for size in shape.split(",")] if shape else []
        infos[names[-1]] = helper.make_tensor_value_info(names[-1], element, sizes)
    node = helper.make_node(name, names, ["y"], domain=domain, **attributes)
    kind = "UINT8" if name.startswith("QL") else "INT32" if name.endswith("Integer") else "FLOAT"
    output = helper.make_tensor_value_info("y", getattr(TensorProto, kind), result)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    graph = helper.make_graph([node], "g", list(infos.values()), [output])
    [op] = nodes_of(import_model(helper.make_model(graph, opset_imports=opsets, ir_version=8)))
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == LINEAR.get(name, 2 * 3 * 4 * 5)
    assert work.numbers(op) is Numbers.INTEGER


SPELLED: dict[str, tuple[str, str, str, dict[str, int], int | None]] = {
    # X (steps 7, batch 3, inputs 5), W (2 directions, 4 gates of 6, 5), R (2, 24, 6)
    "lstm": (
        "onnx.LSTM",
        "7x3x5xf32 2x24x5xf32 2x24x6xf32",
        "7x2x3x6xf32",
        {"hidden_size": 6},
        7 * 3 * (2 * 24 * 5 + 2 * 24 * 6),
    ),
    # Q (2, 4 heads, 5, 8), K (2, 4, 9, 8), V (2, 4, 9, 10): scores and their product with V
    "attention": (
        "onnx.Attention",
        "2x4x5x8xf32 2x4x9x8xf32 2x4x9x10xf32",
        "2x4x5x10xf32",
        {},
        2 * 4 * 5 * 9 * (8 + 10),
    ),
    # Q (2, 5, 4 heads of 8) and K, V (2, 9, 32)
    "flat-attention": (
        "onnx.Attention",
        "2x5x32xf32 2x9x32xf32 2x9x40xf32",
        "2x5x40xf32",
        {},
        2 * 5 * 9 * (32 + 40),
    ),
    # with the past's K and V (2, 4, 3, 8): queries meet keys of both
    "attention-behind-a-past": (
        "onnx.Attention",
        "2x4x5x8xf32 2x4x9x8xf32 2x4x9x8xf32 5x12xf32 2x4x3x8xf32 2x4x3x8xf32",
        "2x4x5x8xf32",
        {},
        2 * 4 * 5 * (9 + 3) * (8 + 8),
    ),
    # X (2, 5, 12) by weights of Q and K (4 heads of 8) and V (4 of 10), then scores of 5 with 5 and their product with V
    "attention-of-one-input": (
        "onnx_ms.Attention",
        "2x5x12xf32 12x104xf32 104xf32",
        "2x5x40xf32",
        {"num_heads": 4},
        2 * 5 * 12 * 104 + 2 * 5 * 5 * (32 + 40),
    ),
    "attention-of-unknown-rank": ("onnx_ms.Attention", "*xf32 12x96xf32 96xf32", "*xf32", {}, None),
    "open": ("onnx.Conv", "?x3x?x6xf32 4x3x3x3xf32", "?x4x?x4xf32", {}, 4 * 4 * 27),
    "unknown-shape": ("onnx.Conv", "*xf32 4x3x3x3xf32", "*xf32", {}, 4 * 27),
    "product-of-unknown-rank": ("onnx.MatMul", "3x5xf32 5x4xf32", "*xf32", {}, 5 * 4),
    "einsum-of-three": ("onnx.Einsum", "2x3xf32 3x4xf32 4x5xf32", "2x5xf32", {}, None),
}


@pytest.mark.parametrize("name", SPELLED)
def test_counts_that_the_definition_gives(name: str):
    op_type, operands, result, attributes, count = SPELLED[name]
    types = [f"tensor<{one}>" for one in operands.split()]
    arguments = ", ".join(f"%{k} : {one}" for k, one in enumerate(types))
    names = ", ".join(f"%{k}" for k in range(len(types)))
    all_attributes = {**attributes, **({"equation": '"ab,bc,cd->ad"'} if op_type == "onnx.Einsum" else {})}
    words = ", ".join(
        f"{k} = {v}" + (" : i64" if isinstance(v, int) else "") for k, v in all_attributes.items()
    )
    body = f"func.func @main({arguments}) {{\n%y = {op_type}({names}) {{{words}}} : ({', '.join(types)}) -> tensor<{result}>\nreturn\n}}\n"
    [op] = nodes_of(module_named(body))
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


PAIRS = """
func.func @main(%x : tensor<2x3xf32>, %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:131>>, %w : tensor<3x2xi8>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>} : () -> tensor<i8>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:131>> to tensor<2x3xf32>
  %v = onnx.DequantizeLinear(%w, %s, %z) : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %t = onnx.Transpose(%v) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %0 = onnx.MatMul(%d, %v) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = onnx.Gemm(%d, %t) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  %2 = onnx.MatMul(%x, %v) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %3 = onnx.Gemm(%d, %x) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
"""


def test_what_is_multiplied_is_told_by_what_stands_above():
    ops = [op for op in nodes_of(module_named(PAIRS)) if op.get_trait(SumsProducts)]
    kinds = [work.numbers(op) for op in ops if (work := op.get_trait(SumsProducts))]
    assert kinds == [Numbers.PAIRS, Numbers.PAIRS, Numbers.WEIGHTS, Numbers.FLOAT]


@pytest.mark.parametrize(("result", "count"), [("*", 5 * 64), ("2x3x5", 2 * 3 * 5 * 64)])
def test_a_packed_weight_is_multiplied_once_if_no_shape_says_more(result: str, count: int):
    op = first_op(
        f"%y = onnx_ms.MatMulNBits(%x, %w, %s) {{K = 64 : i64, N = 5 : i64, bits = 4 : i64, block_size = 32 : i64}}"
        f" : (tensor<*xf32>, tensor<5x2x16xui8>, tensor<10xf32>) -> tensor<{result}xf32>",
        "%x: tensor<*xf32>, %w: tensor<5x2x16xui8>, %s: tensor<10xf32>",
    )
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


@pytest.mark.parametrize(
    ("call", "x", "w", "result", "count"),
    [
        ("Gemm(x, w) {transA = 1 : i64}", "3x5", "3x4", "5x4", 5 * 4 * 3),
        ("Gemm(x, w)", "5x3", "3x4", "5x4", 5 * 4 * 3),
        ("MatMul(x, w)", "3", "3x4", "4", 4 * 3),
        ("MatMul(x, w)", "*", "3x4", "5x4", 3 * 4),
        ("MatMul(x, w)", "*", "*", "5x4", None),
    ],
)
def test_products_of_matrices(call: str, x: str, w: str, result: str, count: int | None):
    op = last_op(f"x: {x}xf32\nw: {w}xf32\ny = {call} : {result}xf32")
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


@pytest.mark.parametrize(
    ("query", "key", "result", "count"),
    [
        ("2x3x5xf32", "2x7x5xf32", "2x3x11xf32", (30 + 66) * 7),
        ("2x4x3x5xf32", "2x4x7x5xf32", "2x4x3x11xf32", (120 + 264) * 7),
        ("3x5xf32", "7x5xf32", "3x11xf32", None),
        ("2x3x5xf32", "2x4x7x5xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "2x7x5xf32", "2x4x3x11xf32", None),
        ("*xf32", "2x7x5xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "*xf32", "2x3x11xf32", None),
        ("2x3x5xf32", "2x7x5xf32", "*xf32", None),
    ],
)
def test_products_of_an_attention(query: str, key: str, result: str, count: int | None):
    op = last_op(f"q: {query}\nk: {key}\nv: {key}\ny = Attention(q, k, v) : {result}", 23)
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == count


def test_the_last_of_a_few_products():
    """Of a vector by a matrix there is a count; a packed weight's block may be one element."""
    (op,) = (
        one
        for one in module_named(
            "func.func @main(%x : tensor<5xf32>, %w : tensor<5x4xf32>) {\n"
            "%y = onnx_ms.FusedMatMul(%x, %w) {transA = 1 : i64} : (tensor<5xf32>, tensor<5x4xf32>) -> tensor<4xf32>\nreturn\n}\n"
        ).walk()
        if isinstance(one, OnnxOp)
    )
    work = op.get_trait(SumsProducts)
    assert work is not None
    assert work.count(op) == 20


def test_integers_out_of_a_cast_are_no_dequantized_values():
    _, module = parsed(
        "!u = !quant.uniform<u8:f32, 0.02:13>\n"
        "builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {\n"
        "func.func @f(%q: tensor<2x3x!u>, %x: tensor<2x3xf32>) {\n"
        "%s = quant.scast %q : tensor<2x3x!u> to tensor<2x3xui8>\n"
        "%d = quant.dcast %q : tensor<2x3x!u> to tensor<2x3xf32>\n"
        "%c = onnx.Concat(%d, %d) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>\n"
        "%0 = onnx.Gemm(%x, %s) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xui8>) -> tensor<2x2xf32>\n"
        "%1 = onnx.Gemm(%x, %x) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
        "%2 = onnx.Gemm(%x, %c) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>\n"
        "%3 = onnx.Gemm(%x, %d) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>\n"
        "func.return\n}\n}"
    )
    products = [op for op in module.walk() if isinstance(op, OnnxOp) and op.get_trait(SumsProducts)]
    kinds = [work.numbers(op) for op in products if (work := op.get_trait(SumsProducts))]
    assert kinds == [Numbers.FLOAT, Numbers.FLOAT, Numbers.FLOAT, Numbers.WEIGHTS]
