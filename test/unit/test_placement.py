"""The minimum cut, against all divisions of small graphs, and placements by costs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import qdialect
from qdialect.calibration.cut import Cut
from qdialect.calibration.expected import elements_of, expected
from qdialect.dialects.onnx_base import OnnxOp
from qdialect.targets import target


def brute_force(
    costs: list[tuple[int, int]], edges: list[tuple[int, int, int]]
) -> tuple[int, tuple[bool, ...]]:
    """The least cost of all divisions, and one that has it."""

    def total(sides: tuple[bool, ...]) -> int:
        own = sum(c[0] if side else c[1] for c, side in zip(costs, sides, strict=True))
        return own + sum(c for a, b, c in edges if sides[a] and not sides[b])

    best = min(product((False, True), repeat=len(costs)), key=total)
    return total(best), best


@pytest.mark.parametrize("seed", range(40))
def test_the_cut_costs_least(seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 8))
    costs = [(int(a), int(b)) for a, b in draw.integers(0, 20, (count, 2))]
    edges = [
        (int(a), int(b), int(draw.integers(1, 15)))
        for a, b in draw.integers(0, count, (2 * count, 2))
        if a != b
    ]
    cut = Cut()
    nodes = [cut.node() for _ in range(count)]
    for node, (first, second) in zip(nodes, costs, strict=True):
        cut.prefer(node, first, second)
    for a, b, cost in edges:
        cut.divide(nodes[a], nodes[b], cost)
    sides = cut.solve()
    chosen = tuple(sides[node] for node in nodes)
    own = sum(c[0] if side else c[1] for c, side in zip(costs, chosen, strict=True))
    cut_cost = own + sum(c for a, b, c in edges if chosen[a] and not chosen[b])
    assert cut_cost == brute_force(costs, edges)[0]


def test_a_tie_falls_on_the_second_side() -> None:
    cut = Cut()
    node = cut.node()
    cut.prefer(node, 3, 3)
    assert not cut.solve()[node]


def test_a_bias_behind_a_product_is_an_op_more() -> None:
    """Of a float result: QGemm takes none but of integers. For a quantized result it is among them."""
    floats, wholes = zip(*(_costs_of_gemm(bias) for bias in (False, True)), strict=True)
    costs = target("onnxruntime").costs
    assert wholes[0] == wholes[1]
    added = costs["Placement"]["call"] + costs["Elementwise"]["Add"] * 2 * 10
    assert floats[1] - floats[0] == pytest.approx(added)


def _costs_of_gemm(bias: bool) -> tuple[float, float]:
    """Nanoseconds of two rows with a float result, and with a quantized one."""
    w = numpy_helper.from_array(np.ones((24, 10), np.float32), "w")
    b = numpy_helper.from_array(np.ones(10, np.float32), "b")
    ends = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, size]) for n, size in (("x", 24), ("y", 10))
    ]
    node = helper.make_node("Gemm", ["x", "w", "b"][: 2 + bias], ["y"])
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [w, b])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    gemm = next(op for op in qdialect.load(model).walk() if isinstance(op, OnnxOp) and op.op_type == "Gemm")
    cost = expected(gemm, target("onnxruntime"), elements_of, kernels=True)
    assert cost.float_result is not None
    assert cost.integer is not None
    return cost.float_result, cost.integer
