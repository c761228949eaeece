"""Where a convolution gets another form, by opset, by size and by cost: each boundary from both sides."""

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
from qdialect.kernel_selection.convolution import search
from qdialect.kernel_selection.convolution.search import Plan, Search, float_kernel, moves_around
from qdialect.kernel_selection.convolution.step import ConvolutionStep, Spec
from qdialect.promises.window import Window
from qdialect.reasons import Blocked
from qdialect.targets import target
from qdialect.targets.pricing import (
    ALIGNED,
    FLOAT,
    POINTWISE,
    QUANTIZED,
    SPREADING,
    SUM,
)
from qdialect.transforms.choose_convolution_form import ChooseConvolutionForm, ChooseConvolutionFormPass

PLANE = replace(SPACE, **{
    name: getattr(SPACE, name)[1:] for name in ("kernel", "strides", "dilations", "pads", "sizes", "results")
})  # fmt: skip
POINT = replace(PLANE, kernel=(1, 1), strides=(1, 1), dilations=(1, 1), pads=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("reads", "makes", "expected"),
    [(False, False, 0), (True, False, 12_288), (False, True, 25_600), (True, True, 37_888)],
)
def test_what_stands_around_a_float_kernel(reads: bool, makes: bool, expected: float):
    """3 channels, 16 results in 2 images, 1 of 2 rows read, 4 channels written."""
    spec = Spec(PLANE, 2, True, True, 17, reads_last=reads, makes_last=makes)
    prices = {SPREADING: FREE | {"move_byte": 64.0, "move_float": 200.0}}
    assert moves_around(spec, prices) == expected


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
    spec = ChooseConvolutionForm(target("onnxruntime")).spec_of(op, window, x, w)
    assert not isinstance(spec, Blocked)
    assert (spec.reads_last, spec.makes_last) == (inputs > 1, outputs > 1)


@pytest.mark.parametrize(
    ("price", "spread", "unsure"),
    [(6999.0, True, False), (7000.0, False, True), (9999.0, False, True), (10_000.0, False, False)],
)
def test_a_transposed_convolution_is_spread_if_that_saves_its_moves(price: float, spread: bool, unsure: bool):
    """Of 10 microseconds, 3."""
    geometry = replace(
        SPACE, groups=1, kernel=(2, 2), strides=(2, 2), dilations=(1, 1), pads=((0, 0), (0, 0)), sizes=(3, 5),
        results=(6, 10),
    )  # fmt: skip
    aligned = {"least_outputs": 1000.0, "inputs_multiple": 4.0, "outputs_multiple": 16.0}
    prices: dict[str, Any] = costs(**dict.fromkeys((QUANTIZED, POINTWISE, ALIGNED), price))
    prices |= {SPREADING: FREE | {"call": 10_000.0, "move_byte": 0.0, "quantize": 0.0}}
    prices[ALIGNED] |= aligned
    op = last_op("x: 2x3x3x5xf32\nw: 3x4x2x2xf32\ny = ConvTranspose(x, w) : 2x4x6x10xf32")
    plan = ChooseConvolutionForm(runtime(prices)).spread_plan(op, Spec(geometry, 2, True, False, 17))
    assert isinstance(plan, Plan) is spread
    if isinstance(plan, Blocked):
        assert ("have to be gained" in plan.message) is unsure
