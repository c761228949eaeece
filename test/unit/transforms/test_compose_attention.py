"""Attention as one op: views of heads on numbers, and compiled models against what they were, without optimization."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model
from xdsl.ir import OpResult

import qdialect
from graphs.structure import difference
from qdialect.api import compile
from qdialect.evaluation.session import run
from qdialect.ir.walking import operations
from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.promises.views import View, view_of

Array = npt.NDArray[Any]
STEPS = 2e-6
"""Greatest difference of sums of 40 products in another order, of the largest result: float32 has steps of 6e-8."""


def listed(view: View, shape: Sequence[int]) -> Array:
    """The numbers of the elements, in the order of a source of `shape`, that a view lists."""
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sizes = [[part.size for part in axis] for axis in view.axes]
    numbers = np.full((1,), sum(at * step for at, step in zip(view.offsets, steps, strict=True)))
    for one in (part for axis in view.axes for part in axis):
        numbers = np.add.outer(numbers, np.arange(one.size) * one.stride * steps[one.axis])
    return numbers.reshape([prod(one) for one in sizes])


def moved(nodes: Sequence[onnx.NodeProto], shape: Sequence[int], **tensors: Any) -> tuple[View | None, Array]:
    """The view that ops make of a tensor, and the elements that onnxruntime lists."""
    proto = onnx_model(nodes, {"x": (1, shape)}, {nodes[-1].output[0]: None}, tensors)
    proto = onnx.shape_inference.infer_shapes(proto, strict_mode=True)
    module = import_model(proto)
    last = [one for one in operations(module) if one.results][-1].results[0]
    source = next(one for one in operations(module) if one.name == "func.func").regions[0].block.args[0]
    assert isinstance(last, OpResult)
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    return view_of(last, source), run(proto, {"x": x})[0]


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


CHAINS: dict[str, tuple[list[onnx.NodeProto], dict[str, Any]]] = {
    "transposed": ([oh.make_node("Transpose", ["x"], ["y"], perm=[2, 0, 1])], {}),
    "split_axis": ([oh.make_node("Reshape", ["x", "s"], ["y"])], {"s": ints(3, 5, 2, 3, 4)}),
    "merged": ([oh.make_node("Reshape", ["x", "s"], ["y"])], {"s": ints(15, 24)}),
    "regrouped": ([oh.make_node("Reshape", ["x", "s"], ["y"])], {"s": ints(3, 5, 1, 4, 6)}),
    "copied": ([oh.make_node("Reshape", ["x", "s"], ["y"])], {"s": ints(0, -1, 8)}),
    "flat": ([oh.make_node("Flatten", ["x"], ["y"], axis=2)], {}),
    "every_other": (
        [oh.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"])],
        {"a": ints(2), "b": ints(-3), "c": ints(-1), "d": ints(2)},
    ),
    "backwards": (
        [oh.make_node("Slice", ["x", "a", "b", "c", "d"], ["y"])],
        {"a": ints(4), "b": ints(-6), "c": ints(1), "d": ints(-2)},
    ),
    "one_index": ([oh.make_node("Gather", ["x", "i"], ["y"], axis=1)], {"i": np.int64(-2)}),
    "indices": ([oh.make_node("Gather", ["x", "i"], ["y"], axis=2)], {"i": ints(3, 10, 17)}),
    "merged_turned": (
        [oh.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), oh.make_node("Reshape", ["t", "s"], ["y"])],
        {"s": ints(3, 4, 30)},
    ),
    "part": (
        [
            oh.make_node("Split", ["x", "s"], ["a", "b"], axis=2),
            oh.make_node("Unsqueeze", ["b", "u"], ["c"]),
            oh.make_node("Transpose", ["c"], ["y"], perm=[3, 0, 1, 2]),
        ],
        {"s": ints(7, 17), "u": ints(1)},
    ),
    "part_of_part": (
        [
            oh.make_node("Reshape", ["x", "s"], ["r"]),
            oh.make_node("Transpose", ["r"], ["t"], perm=[2, 0, 3, 1, 4]),
            oh.make_node("Slice", ["t", "a", "b", "c"], ["p"]),
            oh.make_node("Squeeze", ["p", "c"], ["y"]),
        ],
        {"s": ints(0, 0, 3, 2, 4), "a": ints(1), "b": ints(2), "c": ints(0)},
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_views_list_the_elements(name: str) -> None:
    nodes, tensors = CHAINS[name]
    view, expected = moved(nodes, (3, 5, 24), **tensors)
    assert view is not None
    np.testing.assert_array_equal(listed(view, (3, 5, 24)), expected)


NO_VIEWS: dict[str, tuple[list[onnx.NodeProto], dict[str, Any]]] = {
    "other_axes": ([oh.make_node("Reshape", ["x", "s"], ["y"])], {"s": ints(5, 3, 24)}),
    "across_parts": (
        [oh.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), oh.make_node("Reshape", ["t", "s"], ["y"])],
        {"s": ints(3, 10, 12)},
    ),
    "uneven": ([oh.make_node("Gather", ["x", "i"], ["y"], axis=2)], {"i": ints(0, 1, 3)}),
    "repeated": ([oh.make_node("Gather", ["x", "i"], ["y"], axis=2)], {"i": ints(2, 2)}),
    "table": ([oh.make_node("Gather", ["x", "i"], ["y"], axis=2)], {"i": ints(0, 1, 2, 3).reshape(2, 2)}),
    "computed": ([oh.make_node("Relu", ["x"], ["y"])], {}),
    "slice_of_merged": (
        [
            oh.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
            oh.make_node("Reshape", ["t", "s"], ["r"]),
            oh.make_node("Slice", ["r", "a", "b"], ["y"]),
        ],
        {"s": ints(15, 24), "a": ints(1), "b": ints(9)},
    ),
}


@pytest.mark.parametrize("name", NO_VIEWS)
def test_what_is_no_view_is_none(name: str) -> None:
    nodes, tensors = NO_VIEWS[name]
    assert moved(nodes, (3, 5, 24), **tensors)[0] is None


def attention(
    form: str,
    *,
    batch: int | str = 2,
    rows: int | str = 5,
    mask: Sequence[int | str] | None = None,
    opset: int = 17,
) -> onnx.ModelProto:
    """Self-attention of 3 heads of width 4 behind one product. form: how query, key and value are parts of it."""
    draw = np.random.default_rng(5)
    tensors: dict[str, Any] = {
        "w": draw.normal(size=(10, 36)).astype(np.float32),
        "o": draw.normal(size=(12, 6)).astype(np.float32),
        "scale": np.float32(0.4),
        "packed": ints(0, 0, 3, 3, 4),
        "heads": ints(0, 0, 3, 4),
        "joined": ints(0, 0, 12),
        "parts": ints(12, 12, 12),
    }
    nodes = [oh.make_node("MatMul", ["x", "w"], ["p"], "project")]
    parts = ["q", "k", "v"]
    if form == "split":
        nodes.append(oh.make_node("Split", ["p", "parts"], ["pq", "pk", "pv"], axis=2))
        for part in parts:
            nodes.append(oh.make_node("Reshape", [f"p{part}", "heads"], [f"r{part}"]))
            nodes.append(
                oh.make_node("Transpose", [f"r{part}"], [f"{part}0"], f"turn_{part}", perm=[0, 2, 1, 3])
            )
    else:
        nodes.append(oh.make_node("Reshape", ["p", "packed"], ["r"]))
        nodes.append(oh.make_node("Transpose", ["r"], ["t"], "turn", perm=[2, 0, 3, 1, 4]))
        for k, part in enumerate(parts):
            tensors[f"i{part}"] = np.int64(k)
            result = f"{part}4" if form == "matrices" else f"{part}0"
            nodes.append(oh.make_node("Gather", ["t", f"i{part}"], [result], axis=0))
    joined = form == "matrices"
    if joined:
        tensors |= {"whole": ints(3 * int(batch), -1, 4), "apart": ints(int(batch), 3, -1, 4)}
        nodes += [oh.make_node("Reshape", [f"{part}4", "whole"], [f"{part}0"]) for part in parts]
    nodes += [
        oh.make_node("Transpose", ["k0"], ["kt"], "turn_key", perm=[0, 2, 1] if joined else [0, 1, 3, 2]),
        oh.make_node("MatMul", ["q0", "kt"], ["s0"], "scores"),
        oh.make_node("Div" if form == "split" else "Mul", ["s0", "scale"], ["s1"], "scaled"),
        *([oh.make_node("Add", ["s1", "m"], ["s2"], "masked")] if mask is not None else []),
        oh.make_node("Softmax", ["s1" if mask is None else "s2"], ["a"], "weights", axis=-1),
        oh.make_node("MatMul", ["a", "v0"], ["y0"], "weighted"),
        *([oh.make_node("Reshape", ["y0", "apart"], ["y4"])] if joined else []),
        oh.make_node("Transpose", ["y4" if joined else "y0"], ["y1"], "turn_back", perm=[0, 2, 1, 3]),
        oh.make_node("Reshape", ["y1", "joined"], ["y2"], "join"),
        oh.make_node("MatMul", ["y2", "o"], ["y"], "out"),
    ]
    ends: dict[str, Any] = {"x": (1, [batch, rows, 10])} | ({} if mask is None else {"m": (1, mask)})
    proto = onnx_model(nodes, ends, {"y": (1, [batch, rows, 6])}, tensors, opset=opset)
    return onnx.shape_inference.infer_shapes(proto, strict_mode=True)


def compiled(proto: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    module = import_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    compile(module, **options)
    return export_model(module)


def operators(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in proto.graph.node)


def assert_alike(before: onnx.ModelProto, after: onnx.ModelProto, **feeds: Array) -> None:
    old, new = run(before, feeds)[0], run(after, feeds)[0]
    assert np.ptp(old) > 1
    np.testing.assert_allclose(new, old, rtol=0, atol=STEPS * np.abs(old).max())


def reals(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("opset", [13, 17, 23, 25])
@pytest.mark.parametrize("form", ["split", "packed"])
def test_an_attention_is_one_op(form: str, opset: int) -> None:
    proto = attention(form, batch="n", opset=opset)
    after = compiled(proto)
    assert operators(after) == {"MatMul": 2, "Split": 1, "Attention": 1}
    assert after.opset_import[0].version == max(opset, 23)
    assert [node.name for node in after.graph.node if node.op_type == "Attention"] == ["weighted"]
    for batch in (1, 3):
        assert_alike(proto, after, x=reals(batch, 5, 10))
    assert not difference(after, compiled(after))


@pytest.mark.parametrize(
    ("batch", "rows", "mask"),
    [
        (2, 5, (5, 5)),
        (2, 5, (5,)),
        (2, 5, (3, 1, 5)),
        (2, 5, (1, 3, 5, 5)),
        (2, 5, (2, 1, 1, 5)),
        ("n", "r", (1, 1, 1, "r")),
        ("n", "r", ("n", 1, 1, "r")),
        ("n", 5, ("n", 3, 5, 5)),
        ("n", "r", ("n", 3, "r", "r")),
        ("n", "r", ("r", "r")),
    ],
)
def test_masks_are_repeated_as_far_as_the_kernel_does_not(
    batch: int | str, rows: int | str, mask: Sequence[int | str]
) -> None:
    proto = attention("packed", batch=batch, rows=rows, mask=mask)
    after = compiled(proto)
    assert operators(after)["Attention"] == 1
    assert operators(after)["Expand"] == (mask[-2:-1] not in [(rows,)])
    sizes = {"n": 2, "r": 5}
    numbers = reals(*(sizes.get(str(size), size) for size in mask))  # pyright: ignore[reportArgumentType]
    for least in (-1e9, np.finfo(np.float32).min):
        numbers = np.where(numbers > 1, least, numbers).astype(np.float32)
        np.atleast_2d(numbers)[..., :1, :] = least  # every key is masked, for a query or for all
        assert_alike(proto, after, x=reals(2, 5, 10), m=numbers)
    assert not difference(after, compiled(after))


@pytest.mark.parametrize(
    ("batch", "mask"),
    [
        (1, ("r", "r")),
        (1, (1, "r", "r")),
        (1, (3, "r", "r")),
        (2, (1, 1, "r")),
        (2, (6, 1, "r")),
        (2, (6, "r", "r")),
    ],
)
def test_masks_of_batch_and_heads_in_one_axis(batch: int, mask: Sequence[int | str]) -> None:
    proto = attention("matrices", batch=batch, rows="r", mask=mask)
    after = compiled(proto)
    assert operators(after)["Attention"] == (
        mask != (6, "r", "r")
    )  # which no Reshape of constant sizes splits
    numbers = reals(*(5 if size == "r" else int(size) for size in mask))
    assert_alike(proto, after, x=reals(batch, 5, 10), m=numbers)
    assert not difference(after, compiled(after))


def test_what_an_exact_or_portable_result_keeps() -> None:
    proto = attention("packed")
    for options in ({"exactness": "exact"}, {"target": "generic"}, {"target": "openvino"}, {"form": "qdq"}):
        after = compiled(proto, **options)
        assert operators(after)["Softmax"] == 1
        assert after.opset_import[0].version == 17
    kept = compiled(proto, keep_float=["weights"])
    assert operators(kept)["Softmax"] == 1
    assert kept.opset_import[0].version == 17


def test_the_report_counts_both_products() -> None:
    module = import_model(attention("packed"))
    report = qdialect.compile(module)
    rows = {layer.node: layer for layer in report.layers}
    assert [rows[name].macs for name in ("scores", "weighted")] == [2 * 3 * 5 * 5 * 4] * 2
    assert not any(rows[name].is_gone or rows[name].integer_macs for name in ("scores", "weighted"))
