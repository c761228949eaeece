"""Where a convolution gets another form, by opset, by size and by cost: each boundary from both sides."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from geometries import FREE, SPACE, costs, runtime
from guard_cases import Case, last_op, parsed, text

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.onnx_types import DYNAMIC, quantized_of, shape_of
from qdialect.ir.values import is_float32
from qdialect.kernel_selection.convolution import phases, search
from qdialect.kernel_selection.convolution.columns import product_guard
from qdialect.kernel_selection.convolution.depth import MAX_SLICES, _slices
from qdialect.kernel_selection.convolution.phases import SpreadPhases, spread_phases
from qdialect.kernel_selection.convolution.search import Plan, Search, _around, float_kernel
from qdialect.kernel_selection.convolution.step import BYTE_SLICES_OPSET, ConvolutionStep, ImageNodes, Spec
from qdialect.kernel_selection.convolution.width import Row, packed_widths, packings
from qdialect.promises.window import Window
from qdialect.reasons import Blocked
from qdialect.targets import target
from qdialect.targets.pricing import (
    ALIGNED,
    FLOAT,
    GATHERED,
    POINTWISE,
    PRODUCT,
    QUANTIZED,
    SPREADING,
    SUM,
)
from qdialect.transforms.choose_convolution_form import ChooseConvolutionForm, ChooseConvolutionFormPass


def reason(blocked: ConvolutionStep | Blocked | None) -> str | None:
    return blocked.id if isinstance(blocked, Blocked) else None


PLANE = replace(SPACE, **{
    name: getattr(SPACE, name)[1:] for name in ("kernel", "strides", "dilations", "pads", "sizes", "results")
})  # fmt: skip
POINT = replace(PLANE, kernel=(1, 1), strides=(1, 1), dilations=(1, 1), pads=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("depth", "opset", "expected"),
    [
        (2, BYTE_SLICES_OPSET, None),
        (2, BYTE_SLICES_OPSET - 1, "opset"),
        (MAX_SLICES, BYTE_SLICES_OPSET, None),
        (MAX_SLICES + 1, BYTE_SLICES_OPSET, "window-form"),
        (MAX_SLICES + 1, BYTE_SLICES_OPSET - 1, "window-form"),
    ],
)
def test_slices_are_channels_up_to_a_depth(depth: int, opset: int, expected: str | None):
    spec = Spec(replace(SPACE, kernel=(depth, 3, 5)), 2, True, False, opset)
    assert reason(_slices(spec, {GATHERED: FREE}).blocked) == expected


@pytest.mark.parametrize(
    ("geometry", "opset", "expected"),
    [
        (PLANE, BYTE_SLICES_OPSET, True),
        (PLANE, BYTE_SLICES_OPSET - 1, False),
        (POINT, BYTE_SLICES_OPSET - 1, True),
    ],
)
def test_a_product_of_gathered_elements_takes_slices(geometry: Any, opset: int, expected: bool):
    spec = Spec(geometry, 2, True, True, opset)
    assert spec.can_be_product is expected
    assert not replace(spec, kernels=(SUM,)).can_be_product
    conv = last_op("""
        x: 2x3x9x8x!u
        w = [1, 2, 3, 4, 5, 6] : 2x3x1x1xi8 as 2x3x1x1x!t
        y = Conv(x, w) : 2x2x9x8xf32""")  # fmt: skip
    for has, blocked in (
        (True, None if expected else "opset"),
        (False, "no-kernel" if expected else "opset"),
    ):

        def has_kernel(kernel: str, operands: list[str], result: str, has: bool = has) -> bool:
            return has and (kernel, operands, result) == (PRODUCT, ["u8", "i8"], "f32")

        target = runtime({}, name="any", has_kernel=has_kernel)
        assert reason(product_guard(conv, spec, target)) == blocked


@pytest.mark.parametrize(
    ("reads", "makes", "expected"),
    [(False, False, 0), (True, False, 12_288), (False, True, 25_600), (True, True, 37_888)],
)
def test_what_stands_around_a_float_kernel(reads: bool, makes: bool, expected: float):
    """3 channels, 16 results in 2 images, 1 of 2 rows read, 4 channels written."""
    spec = Spec(PLANE, 2, True, True, 17, reads_last=reads, makes_last=makes)
    prices = {SPREADING: FREE | {"move_byte": 64.0, "move_float": 200.0}}
    assert _around(spec, prices) == expected


@pytest.mark.parametrize(("price", "kernel"), [(85.0, SUM), (84.9, FLOAT)])
def test_a_float_kernel_takes_less_than_its_share(price: float, kernel: str):
    chosen, times = float_kernel(Spec(PLANE, 2, True, True, 17), costs(**{SUM: 100.0, FLOAT: price}))
    assert chosen == kernel
    assert times.integer > 0


class Fake(ConvolutionStep):
    """Any form."""

    def weight(self, weight: Any, zeros: Any) -> Any:
        return weight


@pytest.mark.parametrize(("outputs", "pays"), [(16, True), (17, False), (20, False)])
def test_a_step_that_costs_as_much_as_pays_at_most_is_not_taken(
    outputs: int, pays: bool, monkeypatch: pytest.MonkeyPatch
):
    """20 channels in 10 pixels cost 200, 17 are the 85 percent of it that it may cost."""
    geometry = replace(POINT, images=1, outputs=20, results=(2, 5))
    other = replace(geometry, outputs=outputs, dilations=(2, 2))

    def steps(spec: Spec, prices: Any, now: float) -> Iterator[ConvolutionStep]:
        if spec.geometry != other:
            assert now == 200.0
            yield Fake(spec.of(other))

    monkeypatch.setattr(search, "FORMS", (("fake", steps),))
    prices = {kernel: FREE | {"written": 1.0} for kernel in (QUANTIZED, POINTWISE, ALIGNED)}
    prices[ALIGNED] |= {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    plan = Search(prices).best(Spec(geometry, 1, True, False, 17))
    assert plan.cost == (10.0 * outputs if pays else 200.0)
    assert len(plan.steps) == pays
    assert isinstance(plan, Plan)


@pytest.mark.parametrize("inputs", [1, 2])
def test_what_a_plan_leaves_has_no_plan(inputs: int):
    """Of 640 samples packed by 16, the most in one step, 4 more would be packed by a second compilation."""
    row = replace(
        PLANE, inputs=inputs, outputs=258, kernel=(256,), strides=(64,), dilations=(1,), pads=((0, 0),)
    )
    best = Search(target("onnxruntime").costs).best
    plan = best(Spec(replace(row, sizes=(640,), results=(7,)), 1, True, False, 17))
    assert plan.steps
    assert best(plan.steps[-1].after).steps == ()


@pytest.mark.parametrize(
    ("inputs", "least", "tried"), [(1, 8500, True), (1, 8501, False), (3, 7000, True), (3, 7001, False)]
)
def test_rows_are_packed_where_the_least_cost_would_pay(inputs: int, least: int, tried: bool):
    """Of 10 microseconds, 15 percent, and one or two pairs of moves."""
    geometry = replace(POINT, images=1, inputs=inputs, outputs=1, sizes=(1, 2), results=(1, 2))
    prices = {kernel: FREE | {"written": least / 2} for kernel in (QUANTIZED, POINTWISE, ALIGNED)}
    prices[ALIGNED] |= {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    steps = list(packed_widths(Spec(geometry, 1, True, False, 17), prices, 10_000.0))
    assert bool(steps) is tried


@pytest.mark.parametrize("row", [Row(4, 2, 1, 1, 1, 0), Row(2, 2, 1, 1, 1, 2), Row(2, 1, 1, 2, 1, 1)])
def test_a_packing_adds_no_pixel(row: Row):
    """Elements beside the row that no result reads would be one."""
    assert list(packings(row)) == []


SPREAD = replace(
    PLANE, inputs=4, outputs=2, kernel=(2, 2), strides=(2, 2), dilations=(1, 1), pads=((0, 0), (0, 0)),
    sizes=(3, 5), results=(6, 10),
)  # fmt: skip
MOVED = {SPREADING: FREE | {"move_byte": 1.0, "move_float": 1.0}}


@pytest.mark.parametrize(
    ("change", "opset", "most", "expected"),
    [
        ({}, BYTE_SLICES_OPSET - 1, 4, None),
        ({}, BYTE_SLICES_OPSET - 1, 3, "window-form"),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET, 6, None),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET, 5, "window-form"),
        ({"kernel": (3, 2), "results": (7, 10)}, BYTE_SLICES_OPSET - 1, 6, "opset"),
        ({"strides": (2, 3), "results": (6, 14)}, BYTE_SLICES_OPSET, 6, None),
        ({"strides": (2, 3), "results": (6, 14)}, BYTE_SLICES_OPSET, 5, "window-form"),
        ({"pads": ((0, 0), (0, 2)), "results": (6, 8)}, BYTE_SLICES_OPSET, 12, None),
        ({"pads": ((0, 0), (0, 2)), "results": (6, 8)}, BYTE_SLICES_OPSET, 11, "window-form"),
        ({"results": (6, 11)}, BYTE_SLICES_OPSET, 4, "invalid-op"),
        ({"results": (DYNAMIC, 10), "sizes": (DYNAMIC, 5)}, BYTE_SLICES_OPSET, 4, None),
        ({"sizes": (3, DYNAMIC)}, BYTE_SLICES_OPSET, 4, "unknown-shape"),
        ({"pads": None}, BYTE_SLICES_OPSET, 4, "unknown-shape"),
    ],
)
def test_which_transposed_convolutions_are_spread(
    change: dict[str, Any], opset: int, most: int, expected: str | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(phases, "LARGEST_WINDOW", most)
    spec = Spec(replace(SPREAD, **change), 2, True, False, opset)
    assert reason(spread_phases(spec, MOVED, (0, 0))) == expected


@pytest.mark.parametrize(
    ("run", "is_float", "opset", "sliced"),
    [
        (128, False, BYTE_SLICES_OPSET, True),
        (129, False, BYTE_SLICES_OPSET, False),
        (128, False, BYTE_SLICES_OPSET - 1, False),
        (32, True, BYTE_SLICES_OPSET, True),
        (33, True, BYTE_SLICES_OPSET, False),
    ],
)
def test_short_runs_are_moved_by_slices(run: int, is_float: bool, opset: int, sliced: bool):
    spec = Spec(SPREAD, 2, True, is_float, opset)
    op = last_op(f"x: 2x3x5x{2 * run}xf32\ny = Relu(x) : 2x3x5x{2 * run}xf32")
    nodes = ImageNodes()
    last = SpreadPhases(spec)._rows(nodes, op.operands[0], 2, run)
    names = [one.op_type for one in nodes.ops if isinstance(one, OnnxOp) and one.op_type != "Constant"]
    assert names == (["Slice", "Slice", "Concat"] if sliced else ["Reshape", "Transpose"])
    assert shape_of(last.type) == ((2, 3, 10, run) if sliced else (2, 3, 2, 5, run))


PHASES = """
    x: 2x{0}x3x5x!u
    w = [1, 2, 3, 4, 5, 6, 7, 8] : 2x1x2x2xi8 as 2x1x2x2x!t
    y = ConvTranspose(x, w) {{group = 2 : i64, strides = array<i64: 2, 2>}} : 2x2x6x10x!u"""
PRODUCT_OF = """
    x: 2x{0}x5x6x!u
    w = [1, 2, 3, 4, 5, 6] : 1x2x1x3xi8 as 1x2x1x3x!t
    y = Conv(x, w) : 2x1x5x4xf32"""
CROPPED = """
    x: 2x1x{0}x5x!u
    w = [1, 2, 3, 4] : 1x1x2x2xi8 as 1x1x2x2x!t
    y = ConvTranspose(x, w) {{pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>}} : 2x1x{1}x9x!u"""


@pytest.mark.parametrize(
    ("form", "body", "sizes", "op", "shapes"),
    [
        ("product", PRODUCT_OF, "?", "Concat", ["2x5x4x?"]),
        ("product", PRODUCT_OF, "2", "Concat", ["2x5x4x6"]),
        ("phases", PHASES, "?", "Concat", ["2x?x3x5", "2x3x10x4"]),
        ("phases", PHASES, "2", "Concat", ["2x8x3x5", "2x3x10x4"]),
        ("phases", CROPPED, "??", "Slice", ["2x?x5x2", "2x?x5x2", "2x?x9x1"]),
        ("phases", CROPPED, "35", "Slice", ["2x3x5x2", "2x3x5x2", "2x5x9x1"]),
    ],
)
def test_sizes_that_are_not_known_stay_so(form: str, body: str, sizes: str, op: str, shapes: list[str]):
    context, module = parsed(text(Case("", "", body.format(*sizes))))
    ChooseConvolutionFormPass(form=form).apply(context, module)
    built = [one for one in module.walk() if isinstance(one, OnnxOp) and one.op_type == op]
    known = [shape_of(one.results[0].type) or () for one in built]
    assert ["x".join("?" if n == DYNAMIC else str(n) for n in shape) for shape in known] == shapes


@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_a_tensor_of_one_channel_is_channels_last_as_it_is(inputs: int, outputs: int):
    _, module = parsed(
        text(
            Case(
                "",
                "",
                f"""
        x: 1x{inputs}x5x3x!u
        v: {inputs}x{inputs}x1x1x!t
        w: {outputs}x{inputs}x1x1x!t
        z: 2x{outputs}x1x1x!t
        p = Conv(x, v) : 1x{inputs}x5x3x!u
        f = Conv(p, w) : 1x{outputs}x5x3xf32
        q = qcast f : 1x{outputs}x5x3x!u
        y = Conv(q, z) : 1x2x5x3x!u""",
            )
        )
    )
    op = next(
        op for op in module.walk() if isinstance(op, OnnxOp) and len(op.results) and is_float32(op.results[0])
    )
    window, (x, w) = op.get_trait(Window), (quantized_of(value.type) for value in op.operands[:2])
    assert window is not None
    assert x is not None
    assert w is not None
    spec = ChooseConvolutionForm(target("onnxruntime"))._spec(op, window, x, w)
    assert not isinstance(spec, Blocked)
    assert (spec.reads_last, spec.makes_last) == (inputs > 1, outputs > 1)
