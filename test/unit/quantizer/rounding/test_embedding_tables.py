"""Tables that rows are taken from at run time are in 8 bits where the file shrinks enough for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.parser import parse_model
from onnx_models import onnx_model
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.compiler.options import Calibration, Options
from qdialect.dialects.quant import DequantizeOp, UniformType
from qdialect.evaluation.session import session
from qdialect.ir.interface import main_of
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.quantizer.preparing import prepare
from qdialect.quantizer.quantize import quantize_module
from qdialect.quantizer.rounding.embedding_tables import quantize_tables, tables_of
from qdialect.targets import target
from qdialect.transforms import get_all_passes
from qdialect.transforms.infer_shapes import InferShapesPass

ROWS, WIDTH, WORDS = 6000, 64, 12


def embedding(
    *, rows: int = ROWS, axis: int = 0, tied: bool = False, fixed: bool = False, name: str = "take"
) -> ModuleOp:
    """Rows of a table whose columns are of different sizes, a hidden layer and a result."""
    draw = np.random.default_rng(1)
    table = (draw.normal(size=(rows, WIDTH)) * draw.uniform(0.05, 4, WIDTH)).astype(np.float32)
    weights = {
        "table": table if axis == 0 else np.ascontiguousarray(table.T),
        "w0": (draw.normal(size=(WIDTH, 256)) / 16).astype(np.float32),
        "w1": (draw.normal(size=(256, WIDTH)) / 16).astype(np.float32),
        "ids": np.arange(WORDS),
    }
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["e"], name, axis=axis),
        *([helper.make_node("Transpose", ["e"], ["rows"], perm=[1, 2, 0])] if axis else []),
        helper.make_node("MatMul", ["rows" if axis else "e", "w0"], ["h"], "hidden"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("MatMul", ["r", "w1"], ["y"], "out"),
    ]
    outputs = ["y"]
    if tied:
        nodes += [
            helper.make_node("Transpose", ["table"], ["back"], perm=[1, 0]),
            helper.make_node("MatMul", ["y", "back"], ["z"], "tied"),
        ]
        outputs = ["z"]
    proto = onnx_model(
        nodes,
        [] if fixed else [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n", WORDS])],
        {outputs[0]: None},
        {k: a for k, a in weights.items() if k != "ids" or fixed},
    )
    return import_model(onnx.shape_inference.infer_shapes(proto))


def samples(count: int = 24) -> list[dict[str, npt.NDArray[Any]]]:
    draw = np.random.default_rng(2)
    return [{"ids": draw.integers(0, ROWS, (1, WORDS))} for _ in range(count)]


def test_the_file_shrinks_and_integers_are_taken() -> None:
    module = embedding()
    before = export_model(module)
    feed = {"ids": np.random.default_rng(3).integers(0, ROWS, (4, WORDS))}
    (wanted,) = session(before).run(None, feed)
    done = quantize_module(module, samples(), Calibration(), Options())
    after = export_model(done.module)
    assert done.choice.tables
    assert "tables in 8 bits" in done.summary()[0]
    assert after.ByteSize() < 0.3 * before.ByteSize()
    types = {i.name: i.data_type for i in after.graph.initializer}
    taken = next(n for n in after.graph.node if n.op_type == "Gather")
    assert types[taken.input[0]] in (TensorProto.INT8, TensorProto.UINT8)
    (result,) = session(after, optimize=True).run(None, feed)
    noise = np.asarray(result, np.float64) - wanted
    assert 10 * np.log10(np.square(wanted, dtype=np.float64).sum() / np.square(noise).sum()) > 30


@pytest.mark.parametrize(
    ("options", "name", "count"),
    [
        ({}, "onnxruntime", 1),
        ({"rows": 5000}, "onnxruntime", 0),
        ({"tied": True}, "onnxruntime", 0),
        ({"fixed": True}, "onnxruntime", 0),
        ({}, "tensorrt", 0),
    ],
)
def test_what_is_a_table(options: dict[str, Any], name: str, count: int) -> None:
    module = embedding(**options)
    assert len(tables_of(module, target(name))) == count


def test_a_table_that_is_kept_in_float() -> None:
    module = embedding()
    prepare(module, Options(keep_float=("take",)))
    assert not tables_of(module, target("onnxruntime"))


@pytest.mark.parametrize(("axis", "scales"), [(0, WIDTH), (1, 1)])
def test_a_scale_for_each_column_where_it_moves_past(axis: int, scales: int) -> None:
    module = embedding(axis=axis)
    quantize_tables(tables_of(module, target("onnxruntime")))
    (cast,) = (op for op in main_of(module).body.block.ops if isinstance(op, DequantizeOp))
    type = cast.operands[0].type.get_element_type()  # pyright: ignore
    assert isinstance(type, UniformType)
    assert type.scales.size == scales


def test_no_table_without_kernels_for_integers() -> None:
    done = quantize_module(embedding(), samples(), Calibration(), Options(form="qdq"))
    assert not done.choice.tables


def test_nodes_of_a_computed_table_keep_their_names() -> None:
    """The lookup its own, and what shapes its rows that of the last op that is now done on the table."""
    text = """<ir_version: 8, opset_import: ["" : 17]> g (int64[N,4] i) => (float[M,2] y)
        <float[3,2] t = {1, 2, 5, 6, 9, 10}, int64[2] s = {-1, 2}, float k = {0.5}>
        { [take] r = Gather(t, i)  [flat] f = Reshape(r, s)  [last] y = Mul(f, k) }"""
    module = import_model(parse_model(text))
    for one in (InferShapesPass(), get_all_passes()["fold-constants"]()()):
        one.apply(Context(), module)
    named = {node.op_type: node.name for node in export_model(module).graph.node}
    assert named == {"Gather": "take", "Reshape": "last"}
