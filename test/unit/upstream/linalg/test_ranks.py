"""Forms in linalg of what is no image: vectors, rows and volumes, and what only some ranks and layouts reach."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from geometries import ROW
from guard_cases import Case, last_op, parsed, text
from linalg_functions import NEEDS_MLIR, drawn, lowered

from qdialect.rewriting.remarks import remarks_of
from qdialect.transforms.lower_to_linalg import LowerToLinalgPass
from qdialect.upstream.linalg.site import LinalgSite
from qdialect.upstream.linalg.sums import narrow
from qdialect.upstream.linalg.windows import Loops
from qdialect.upstream.site import Lowered, Values
from upstream import layers
from upstream.layers import Exposed

pytestmark = NEEDS_MLIR


def numbers(count: int) -> list[int]:
    """Weights of 8 bits, no two in a row alike."""
    return np.random.default_rng(count).integers(-120, 121, count).tolist()


TRANSPOSED = "strides = array<i64: 3>, dilations = array<i64: 2>, pads = array<i64: 2, 1>"
VOLUME = "strides = array<i64: 1, 2, 1>, pads = array<i64: 0, 1, 2, 1, 0, 0>"
CASES = {
    "a convolution of a row": f"""
        x: 2x4x9x!s
        w = {numbers(36)} : 6x2x3xi8 as 6x2x3x!t
        b = [1.5, -2.5, 3.5, 40.0, -5.0, 6.0] : 6xf32
        y = Conv(x, w, b) {{group = 2 : i64, pads = array<i64: 2, 1>, dilations = array<i64: 2>}} : 2x6x8x!s""",
    "a convolution of a row of floats": f"""
        x: 2x3x9xf32
        w = {numbers(24)} : 4x3x2xf32
        b = [1.5, -2.5, 3.5, 40.0] : 4xf32
        y = Conv(x, w, b) {{pads = array<i64: 0, 2>, strides = array<i64: 3>}} : 2x4x4xf32""",
    "a convolution of a volume": f"""
        x: 1x2x3x6x4x!s
        w = {numbers(72)} : 3x2x2x3x2xi8 as 3x2x2x3x2x!t
        y = Conv(x, w) {{{VOLUME}}} : 1x3x3x3x5x!s""",
    "a convolution of each channel of a row": f"""
        x: 2x4x9x!s
        w = {numbers(12)} : 4x1x3xi8 as 4x1x3x!t
        y = Conv(x, w) {{group = 4 : i64}} : 2x4x7x!s""",
    "a convolution of stored integers of a row, no zero points": f"""
        x: 2x3x7xui8
        w = {numbers(24)} : 4x3x2xi8
        y = ConvInteger(x, w) {{pads = array<i64: 1, 0>}} : 2x4x7xi32""",
    "a transposed convolution of a row": f"""
        x: 2x4x5x!s
        w = {numbers(36)} : 4x3x3xi8 as 4x3x3x!t
        y = ConvTranspose(x, w) {{group = 2 : i64, {TRANSPOSED}}} : 2x6x14x!s""",
    "a transposed convolution of a volume": f"""
        x: 1x2x3x2x4xf32
        w = {numbers(36)} : 2x1x3x2x3xf32
        y = ConvTranspose(x, w) {{{VOLUME}}} : 1x1x4x3x4xf32""",
    "a transposed convolution whose shape is stated beside what is added": """
        x: 1x1x3x4xf32
        w = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] : 1x1x3x3xf32
        y = ConvTranspose(x, w)
        {output_shape = array<i64: 7, 8>, output_padding = array<i64: 1, 1>, strides = array<i64: 2, 2>} : 1x1x7x8xf32
        """.replace("\n        {", " {"),
    **{f"the greatest of a {name} of {x}, and where": f"""
        x: {sizes}{x}
        y, i = MaxPool(x) {{{how}}} : {result}{x}, {result}i64
        r = Cast(i) {{to = 1 : i64}} : {result}f32"""
       for x in ("f32", "!s") for name, sizes, result, how in (
           ("row", "2x3x9x", "2x3x5x",
            "kernel_shape = array<i64: 3>, pads = array<i64: 2, 1>, strides = array<i64: 2>"),
           ("row, far apart", "2x3x9x", "2x3x6x", "kernel_shape = array<i64: 2>, dilations = array<i64: 3>"),
           ("image", "2x3x5x4x", "2x3x3x4x",
            "kernel_shape = array<i64: 3, 2>, pads = array<i64: 1, 1, 1, 0>, strides = array<i64: 2, 1>"),
           ("volume", "2x3x3x4x5x", "2x3x2x4x3x",
            "kernel_shape = array<i64: 2, 3, 2>, pads = array<i64: 0, 1, 1, 0, 1, 0>, strides = array<i64: 1, 1, 2>"))},
    "the mean of a row": """
        x: 2x3x9x!s
        y = AveragePool(x) {kernel_shape = array<i64: 3>, pads = array<i64: 2, 0>, strides = array<i64: 2>} : 2x3x5x!t
    """,
    "the mean of a volume": """
        x: 1x2x3x4x5xf32
        y = AveragePool(x) {kernel_shape = array<i64: 2, 3, 2>, pads = array<i64: 1, 0, 1, 0, 1, 0>} : 1x2x3x3x5xf32""",
    **{f"a reduction over axis {k} of what a pool computed, rank {kept}": f"""
        x: 2x3x5x4xf32
        p = MaxPool(x) {{kernel_shape = array<i64: 2, 3>}} : 2x3x4x2xf32
        k = [{k}] : 1xi64
        y = ReduceMean(p, k) {{keepdims = {kept} : i64}} : {"x".join(str(1 if a == k else n) for a, n in sizes)}xf32"""
       for k in range(4) for kept in (0, 1)
       for sizes in [[(a, n) for a, n in enumerate((2, 3, 4, 2)) if kept or a != k]]},
    "a reshape to the shape that a pool computed": """
        x: 1x2x5x4xf32
        p = MaxPool(x) {kernel_shape = array<i64: 2, 3>} : 1x2x4x2xf32
        k = [0, 0, 4, -1] : 4xi64
        r = Reshape(p, k) : 1x2x4x2xf32
        y = MaxPool(r) {kernel_shape = array<i64: 3, 1>} : 1x2x2x2xf32""",
    "a reshape of what a pool computed": """
        x: 1x2x5x4xf32
        p = MaxPool(x) {kernel_shape = array<i64: 2, 3>} : 1x2x4x2xf32
        k = [1, 4, 2, 2] : 4xi64
        y = Reshape(p, k) : 1x4x2x2xf32""",
    "parts of several types joined": """
        a: 2x3x!s
        b: 2x1x!t
        c: 2x4x!u
        y = Concat(a, b, c) {axis = 1 : i64} : 2x8x!u""",
    "an edge and a cut behind": """
        p: 2x3x4x!s
        k = [1, 0, 0, 0, -1, -3] : 6xi64
        y = Pad(p, k) {mode = "edge"} : 3x2x1x!s""",
    "an expansion to the same shape": """
        p: 2x3x4x!s
        k = [2, 1, 4] : 3xi64
        y = Expand(p, k) : 2x3x4x!s""",
    "rows backwards": """
        p: 4x5x!s
        a = [-1] : 1xi64
        b = [-9] : 1xi64
        k = [1] : 1xi64
        s = [-2] : 1xi64
        y = Slice(p, a, b, k, s) : 4x3x!s""",
    "a normalization whose statistics nothing reads": """
        x: 2x3x4xf32
        s = [1.5, -2.0, 0.5, 3.0] : 4xf32
        y, m, d = LayerNormalization(x, s) : 2x3x4xf32, 2x3x1xf32, 2x3x1xf32""",
    "a batch normalization of stored integers": """
        x: 1x2x5x3x!s
        a = [0.5, -3.0] : 2xf32
        b = [1.0, 2.0] : 2xf32
        v = [0.25, 0.75] : 2xf32
        y = BatchNormalization(x, a, b, v, v) : 1x2x5x3x!t""",
    "a product of floats by a vector": """
        x: 2x3x5xf32
        w: 5xf32
        y = MatMul(x, w) : 2x3xf32""",
    "a product of a vector of floats by matrices": """
        x: 5xf32
        w: 2x5x3xf32
        y = MatMul(x, w) : 2x3xf32""",
    "a product of two vectors of floats": """
        x: 5xf32
        w: 5xf32
        y = MatMul(x, w) : f32""",
    "a product of integers by a vector": f"""
        x: 2x3x5x!s
        w = {numbers(5)} : 5xi8 as 5x!t
        y = MatMul(x, w) : 2x3x!s""",
    "a product of integers by several matrices": f"""
        x: 2x3x5x!s
        w = {numbers(20)} : 2x5x2xi8 as 2x5x2x!t
        y = MatMul(x, w) : 2x3x2x!s""",
    "a product of integers, transposed": f"""
        x: 5x3x!s
        w = {numbers(10)} : 2x5xi8 as 2x5x!pair
        y = Gemm(x, w) {{transA = 1 : i64, transB = 1 : i64}} : 3x2x!s""",
    "a product of floats with one number added": f"""
        x: 3x5xf32
        w = {numbers(20)} : 5x4xf32
        b = [2.5] : 1xf32
        y = Gemm(x, w, b) : 3x4xf32""",
    "a product of integers with one number added": f"""
        x: 3x5x!s
        w = {numbers(20)} : 5x4xi8 as 5x4x!t
        b = [20.5] : 1xf32
        y = Gemm(x, w, b) : 3x4x!s""",
    "a product of stored integers, no zero points": """
        a: 3x5xi8
        b: 5x2xui8
        y = MatMulInteger(a, b) : 3x2xi32""",
    **{f"{a} as {b}": f"x: 2x3xf32\ny = Cast(x) {{to = {a} : i64}} : 2x3x{b}\nz = Cast(y) {{to = 1 : i64}} : 2x3xf32"
       for a, b in ((1, "f32"), (11, "f64"))},
    **{f"a range {sign} zero": f"""
        x: 3x4xf32
        k = [{factor}] : f32
        s = Softmax(x) : 3x4xf32
        n = Mul(s, k) : 3x4xf32
        q, e, p = DynamicQuantizeLinear(n) : 3x4xui8, f32, ui8
        c = Cast(q) {{to = 1 : i64}} : 3x4xf32
        z = Cast(p) {{to = 1 : i64}} : f32
        d = Sub(c, z) : 3x4xf32
        y = Mul(d, e) : 3x4xf32"""
       for sign, factor in (("above", 0.5), ("below", -0.5), ("of", 0.0))},
    "one-hot rows along the last axis": """
        v: 2xf32
        e = [5] : i32
        i = [4, 0, -1, 2, -5, 3] : 2x3xi32
        y = OneHot(i, e, v) : 2x3x5xf32""",
    "a normalization of each channel of an image": """
        x: 2x3x4x5x!s
        s = [1.5, -2.0, 0.5] : 3xf32
        b = [1.0, 7.0, -3.0] : 3xf32
        y = InstanceNormalization(x, s, b) {epsilon = 0.5 : f32} : 2x3x4x5x!t""",
    "a product of one row with a number added to each": f"""
        x: 1x5xf32
        w = {numbers(20)} : 5x4xf32
        b = [2.5, -1.5, 30.0, 4.0] : 4xf32
        y = Gemm(x, w, b) : 1x4xf32""",
    "a convolution of pairs of channels": f"""
        x: 2x6x5x4x!s
        w = {numbers(72)} : 6x2x3x2xi8 as 6x2x3x2x!t
        y = Conv(x, w) {{group = 3 : i64}} : 2x6x3x3x!s""",
    "true and false as numbers, and back": """
        x: 2x3xi1
        a = Cast(x) {to = 6 : i64} : 2x3xi32
        b = Cast(a) {to = 9 : i64} : 2x3xi1
        c = Cast(b) {to = 1 : i64} : 2x3xf32
        d = Cast(c) {to = 9 : i64} : 2x3xi1
        y = Cast(d) {to = 1 : i64} : 2x3xf32""",
    "steps of 16 bits": """
        x: 3x4xf32
        q = qcast x : 3x4x!short
        y = dcast q : 3x4xf32""",
}  # fmt: skip


@pytest.fixture(scope="module")
def functions() -> dict[str, Exposed]:
    """Each case lowered."""
    return {name: lowered(body) for name, body in CASES.items()}


@pytest.fixture(scope="module")
def library(functions: dict[str, Exposed], tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All cases in one shared object, f0, f1, ... in order."""
    named = {f"f{k}": graph for k, graph in enumerate(functions.values())}
    return layers.library(named, tmp_path_factory.mktemp("linalg") / "ranks.so", level=0)


@pytest.mark.parametrize("name", CASES)
def test_what_is_no_image_computes_what_the_oracle_does(
    name: str, functions: dict[str, Exposed], library: ctypes.CDLL
):
    graph, function = functions[name], library[f"f{list(CASES).index(name)}"]
    for seed in range(3):
        feeds = drawn(graph, seed)
        _, tensors = layers.results(graph, function, feeds)
        assert layers.differences(graph, feeds, tensors) == []


@pytest.mark.parametrize(
    ("groups", "inputs", "outputs", "channels", "reduced"),
    [(1, 1, 1, "o", "c"), (1, 2, 2, "o", "c"), (2, 1, 1, "g", ""), (2, 2, 1, "g", "c"), (2, 1, 2, "go", ""),
     (3, 2, 3, "go", "c")],
)  # fmt: skip
@pytest.mark.parametrize("last", [False, True])
def test_one_channel_of_a_group_has_no_loop(
    groups: int, inputs: int, outputs: int, channels: str, reduced: str, last: bool
):
    loops = Loops(replace(ROW, groups=groups, inputs=inputs, outputs=outputs), last=last)
    pixels = ["p0", "p1"]
    assert loops.results == ["n", *pixels, *channels] if last else ["n", *channels, *pixels]
    assert loops.reduced == ["k0", "k1", *reduced]
    weight = np.arange(groups * outputs * inputs * 9).reshape(groups, outputs, inputs, 3, 3)
    names = ["g", "o", "c", "k0", "k1"]
    order = ["k0", "k1", "g", "c", "o"] if last else names
    laid = loops.laid_out(weight)
    assert laid.ravel().tolist() == weight.transpose([names.index(name) for name in order]).ravel().tolist()
    sizes = dict(zip(names, weight.shape, strict=True))
    assert laid.shape == tuple(sizes[name] for name in order if name in loops.loop)


def test_a_batch_normalization_of_constants_is_a_product_and_a_sum():
    body = "x: 1x2x5x3xf32\n{} = [0.5, 3.0] : 2xf32\ny = BatchNormalization(x, a, a, a, {}) : 1x2x5x3xf32"
    for name, roots in (("a", 0), ("v: 2xf32\na", 1)):
        module = str(lowered(body.format(name, name[0])).function)
        assert module.count("math.sqrt") == roots
        assert module.count("arith.divf") == roots


@pytest.mark.parametrize(
    ("values", "kind"),
    [([-128, 127], np.int8), ([-129, 127], np.int16), ([-128, 128], np.int16), ([], np.int8)],
)
def test_a_weight_that_bytes_hold_is_of_bytes(values: list[int], kind: type):
    narrowed = narrow(np.array(values, np.int16))
    assert narrowed.dtype == kind
    assert narrowed.tolist() == values


@pytest.mark.parametrize(
    ("left", "right", "legal"), [(1, 1, True), (2, 1, False), (3, 1, False), (1, 2, False), (1, 4, False)]
)
def test_zero_points_that_are_computed_are_one_for_each_operand(left: int, right: int, legal: bool):
    body = f"""
        a: 3x5xi8
        b: 5x4xi8
        c: {left}xi8
        d: {right}xi8
        y = MatMulInteger(a, b, c, d) : 3x4xi32"""
    context, module = parsed(text(Case("", "", body, opset=21)))
    LowerToLinalgPass().apply(context, module)
    assert ("zero-point" not in {remark.blocked.id for remark in remarks_of(module)}) is legal


def test_values_lie_as_most_of_what_is_computed():
    op = last_op("a: 1x2x3x4xf32\nb: 1x2x3x4xf32\nc = [1.0] : 1x1x1x1xf32\ny = Sum(a, b, c) : 1x2x3x4xf32")
    a, b, c = op.operands
    for first, second, last in ((False, False, False), (True, False, False), (True, True, True)):
        site = LinalgSite(op, Values({a: Lowered(a, first), b: Lowered(b, second)}))
        assert site.alike(a, b)[1] is last
        assert site.alike(a, b, c)[1] is last
        assert site.alike(a)[1] is first
