"""What layout and monotone promises say, as cases and as modules of every stored value and many scales."""

# ruff: noqa: E501 -- a case a line, so that the table can be read down

import re
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from guard_cases import full_context
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import DequantizeOp, QuantizeOp
from qdialect.evaluation.session import run
from qdialect.onnx_io.exporter import export_model
from qdialect.promises.layout import FILLING, LAYOUT
from qdialect.promises.monotone import MONOTONE
from qdialect.rewriting.driver import apply_patterns
from qdialect.rewriting.remarks import remarks_of
from qdialect.targets import Target
from qdialect.text.assembly import parse_module
from qdialect.transforms.hoist_quantize import HoistQuantizePass
from qdialect.transforms.lower_to_qdq import LowerToQdqPass
from qdialect.transforms.lower_to_qoperator import LowerToStorage
from qdialect.transforms.sink_dequantize import SinkDequantizePass

Shape = tuple[int, ...]


Feeds = dict[str, npt.NDArray[Any]]


SCALES = (1e-6, 6 / 37, 0.02, 1.0, 37.5, 1e4)


ZERO_POINTS = (("u8", 0), ("u8", 13), ("u8", 255), ("i8", -128), ("i8", -3), ("i8", 127))


PROMISES = (*LAYOUT, *FILLING, *MONOTONE)


EIGHT_BITS: dict[str, Sequence[str]] = {name: ["u8", "i8"] for _, name in PROMISES}


ANYWHERE = Target("anywhere", "", "qoperator", storage=EIGHT_BITS)


class Case(NamedTuple):
    """One op: its text with `{x}`, `{y}` for what is quantized, the shapes, and along which axes scales may run."""

    op: str
    text: str
    shapes: Sequence[Shape]
    result: Shape
    sinks: Sequence[int] = ()
    hoists: Sequence[int] = ()
    """Axes of the result."""
    constants: str = ""
    others: str = ""
    """Types of the operands that are not quantized, behind the others or, for Where, in front."""
    integers: bool = True
    """Whether onnxruntime runs the op on 8-bit integers."""
    shrinks: bool = False
    """Whether hoisting wants an op above with outputs integers."""
    element: str = "f32"
    """Of the result: where it is another, it says something of the elements and carries none."""
    opset: int = 18
    dialect: str = "onnx"

    @property
    def spelled(self) -> str:
        """The op in text."""
        return f"{self.dialect}.{self.op}"


def ints(name: str, *values: int, shape: str = "") -> str:
    t = f"tensor<{shape or len(values)}xi64>"
    return f"%{name} = onnx.Constant() {{value = #onnx.tensor<{list(values)} : {t}>}} : () -> {t}\n"


def floats(name: str, *values: float, shape: str | None = None) -> str:
    t = f"tensor<{len(values) if shape is None else shape}xf32>".replace("<x", "<")
    return f"%{name} = onnx.Constant() {{value = #onnx.tensor<{list(values)} : {t}>}} : () -> {t}\n"


I64 = "tensor<{}xi64>".format


BOOLS = "%m = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3xi1>>} : () -> tensor<3xi1>\n"


FALSE = "%m = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i1>>} : () -> tensor<i1>\n"


DIAGONAL = "%c = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<i64>>} : () -> tensor<i64>\n"


PLACES = [(2 * r + c % 2) * 32 + 2 * c for r in range(16) for c in range(16)]


GRID = floats("g", *np.linspace(-1.2, 1.2, 256).round(3).tolist(), shape="2x8x8x2")


CASES = (
    Case("Transpose", "({x}) {{perm = array<i64: 1, 2, 0>}}", [(3, 16, 16)], (16, 16, 3), (0, 1, 2), (0, 1, 2)),
    Case("Transpose", "({x})", [(3, 16, 16)], (16, 16, 3), (0, 1, 2), (0, 1, 2)),
    Case("Reshape", "({x}, %c)", [(4, 3, 64)], (2, 2, 3, 8, 8), (1,), (2,), ints("c", 2, 2, 3, 8, 8), I64(5)),
    Case("Flatten", "({x}) {{axis = 1 : i64}}", [(3, 16, 16)], (3, 256), (0,), (0,)),
    Case("Unsqueeze", "({x}, %c)", [(2, 256)], (1, 2, 1, 256), (0, 1), (0, 1, 3), ints("c", 0, 2), I64(2)),
    Case("Squeeze", "({x}, %c)", [(1, 2, 1, 256)], (2, 256), (0, 1, 3), (0, 1), ints("c", 0, 2), I64(2)),
    Case("Identity", "({x})", [(3, 256)], (3, 256), (0, 1), (0, 1)),
    Case("Slice", "({x}, %s, %e, %a, %t)", [(7, 256)], (3, 256), (0, 1), (1,), ints("s", -1) + ints("e", -7) + ints("a", 0) + ints("t", -2), ", ".join([I64(1)] * 4), shrinks=True),
    Case("Slice", "({x}, %s, %e, %a, %t)", [(7, 256)], (4, 256), (0, 1), (1,), ints("s", 6) + ints("e", -(2**63)) + ints("a", 0) + ints("t", -2), ", ".join([I64(1)] * 4), shrinks=True),
    Case("Gather", "({x}, %c) {{axis = 1 : i64}}", [(256, 4)], (256, 5), (0, 1), (0,), ints("c", 3, 0, -1, 1, 1), I64(5)),
    Case("Gather", "({x}, %c) {{axis = 1 : i64}}", [(256, 4, 2)], (256, 2, 2, 2), (0, 2), (0, 3), ints("c", 3, 0, -2, 1, shape="2x2"), I64("2x2")),
    Case("Expand", "({x}, %c)", [(3, 1, 128)], (2, 3, 4, 128), (0, 1, 2), (1, 3), ints("c", 2, 3, 4, 128), I64(4)),
    Case("Tile", "({x}, %c)", [(3, 128)], (6, 128), (0, 1), (1,), ints("c", 2, 1), I64(2)),
    Case("Concat", "({x}, {y}) {{axis = 1 : i64}}", [(3, 128), (3, 256)], (3, 384), (0, 1), (0, 1)),
    Case("Concat", "({x}) {{axis = 1 : i64}}", [(3, 256)], (3, 256), (0, 1), (0, 1)),
    Case("Pad", "({x}, %c)", [(3, 256)], (3, 261), (0,), (0,), ints("c", 0, 2, 0, 3), I64(4)),
    Case("Pad", '({x}, %c) {{mode = "reflect"}}', [(3, 256)], (3, 261), (0,), (), ints("c", 0, 2, 0, 3), I64(4), integers=False),
    Case("Resize", "({x}, _, %s)", [(1, 1, 16, 16)], (1, 1, 32, 32), constants=floats("s", 1.0, 1.0, 2.0, 2.0), others="tensor<4xf32>"),
    Case("DepthToSpace", "({x}) {{blocksize = 2 : i64}}", [(1, 4, 8, 8)], (1, 1, 16, 16)),
    Case("SpaceToDepth", "({x}) {{blocksize = 2 : i64}}", [(1, 1, 16, 16)], (1, 4, 8, 8)),
    Case("Resize", "({x}, _, %s)", [(2, 3, 8, 16)], (2, 3, 16, 32), (0, 1), (0, 1), floats("s", 1.0, 1.0, 2.0, 2.0), "tensor<4xf32>"),
    Case("Resize", "({x}, _, _, %s) {{axes = array<i64: 3, 2>}}", [(2, 3, 8, 16)], (2, 3, 8, 32), (0, 1, 2), (0, 1, 2), ints("s", 32, 8), I64(2)),
    Case("Dropout", "({x}, %r, %m)", [(3, 256)], (3, 256), (0, 1), (0, 1), floats("r", 0.5, shape="") + FALSE, "tensor<f32>, tensor<i1>", integers=False),
    Case("Dropout", "({x}) {{ratio = 0.5 : f32}}", [(3, 256)], (3, 256), integers=False, opset=10),
    Case("Trilu", "({x})", [(3, 16, 16)], (3, 16, 16), (0, 1, 2), (0, 1, 2)),
    Case("Trilu", "({x}, %c) {{upper = 0 : i64}}", [(3, 16, 16)], (3, 16, 16), (0, 1, 2), (0, 1, 2), DIAGONAL, "tensor<i64>"),
    Case("MaxUnpool", "({x}, %c) {{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}}", [(1, 1, 16, 16)], (1, 1, 32, 32), (0, 1), (0, 1), ints("c", *PLACES, shape="1x1x16x16"), I64("1x1x16x16"), integers=False),
    Case("GridSample", '({x}, %g) {{mode = "nearest"}}', [(2, 3, 8, 8)], (2, 3, 8, 8), (0, 1), (0, 1), GRID, "tensor<2x8x8x2xf32>", integers=False),
    Case("OneHot", "(%c, %d, {x})", [(2,)], (4, 3), constants=ints("c", 1, 0, 2, 1) + ints("d", 3), others=f"{I64(4)}, {I64(1)}", integers=False),
    Case("Scatter", "({x}, %c, {y})", [(128, 2), (3, 2)], (128, 2), constants=ints("c", 3, 100, 17, 0, 1, 6, shape="3x2"), others=I64("3x2"), shrinks=True, opset=10),
    Case("TensorScatter", "({x}, {y}, %c) {{axis = 1 : i64}}", [(2, 8, 16), (2, 3, 16)], (2, 8, 16), constants=ints("c", 1, 5), others=I64(2), shrinks=True, opset=24),
    Case("Shape", "({x})", [(3, 256)], (2,), (0, 1), element="i64"),
    Case("Size", "({x})", [(3, 256)], (), (0, 1), element="i64"),
    Case("GatherElements", "({x}, %c)", [(256, 2)], (3, 2), constants=ints("c", 3, 250, 17, 0, 1, -1, shape="3x2"), others=I64("3x2"), shrinks=True),
    Case("GatherND", "({x}, %c)", [(256, 2)], (3, 2), constants=ints("c", 3, 250, 17, shape="3x1"), others=I64("3x1"), shrinks=True),
    Case("ReverseSequence", "({x}, %c)", [(256, 3)], (256, 3), (1,), (1,), ints("c", 1, 200, 77), I64(3)),
    Case("Compress", "({x}, %m) {{axis = 1 : i64}}", [(256, 3)], (256, 2), (0, 1), (0,), constants=BOOLS, others="tensor<3xi1>", shrinks=True),
    Case("ScatterElements", "({x}, %c, {y})", [(128, 2), (3, 2)], (128, 2), constants=ints("c", 3, 100, 17, 0, 1, -1, shape="3x2"), others=I64("3x2"), shrinks=True),
    Case("ScatterND", "({x}, %c, {y})", [(128, 2), (3, 2)], (128, 2), constants=ints("c", 3, 100, 17, shape="3x1"), others=I64("3x1"), shrinks=True),
    Case("Where", "(%m, {x}, {y})", [(128, 3), (3,)], (128, 3), constants=BOOLS, others="tensor<3xi1>", integers=False, shrinks=True),
    Case("MaxPool", "({x}) {{kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>}}", [(2, 3, 16, 16)], (2, 3, 16, 16), (0, 1), (0, 1), shrinks=True),
    Case("GlobalMaxPool", "({x})", [(2, 3, 16, 16)], (2, 3, 1, 1), (0, 1), (0, 1), integers=False, shrinks=True),
    Case("ReduceMax", "({x}, %c)", [(4, 64, 2)], (4, 1, 2), sinks=(0, 2), hoists=(0, 2), constants=ints("c", 1), others=I64(1), shrinks=True),
    Case("ReduceMin", "({x}, %c) {{keepdims = 0 : i64}}", [(4, 64, 2)], (4, 2), sinks=(0, 2), hoists=(0, 1), constants=ints("c", 1), others=I64(1), shrinks=True),
    Case("TopK", "({x}, %c)", [(3, 256)], (3, 5), (0,), (0,), constants=ints("c", 5), others=I64(1), shrinks=True),
    Case("Unique", "({x})", [(256,)], (256,), integers=False, shrinks=True),
    Case("MaxRoiPool", "({x}, %r) {{pooled_shape = array<i64: 2, 2>}}", [(1, 3, 8, 8)], (2, 3, 2, 2), constants=floats("r", 0, 1, 1, 5, 6, 0, 9, 9, 9, 9, shape="2x5"), others="tensor<2x5xf32>", integers=False, shrinks=True),
    Case("ArgMax", "({x}) {{axis = -1 : i64}}", [(3, 256)], (3, 1), (0,), element="i64"),
    Case("ArgMax", "({x}) {{axis = -1 : i64, keepdims = 0 : i64, select_last_index = 1 : i64}}", [(2, 3, 600)], (2, 3), (0, 1), element="i64"),
    Case("ArgMin", "({x}) {{axis = 1 : i64}}", [(3, 256)], (3, 1), (0,), element="i64"),
    Case("ArgMin", "({x})", [(256, 3)], (1, 3), (1,), element="i64", integers=False),
    Case("Equal", "({x}, {y})", [(128, 3), (3,)], (128, 3), element="i1"),
    Case("Less", "({x}, {y})", [(128, 3), (3,)], (128, 3), element="i1"),
    Case("LessOrEqual", "({x}, {y})", [(128, 3), (3,)], (128, 3), element="i1"),
    Case("Greater", "({x}, {y})", [(128, 3), (3,)], (128, 3), element="i1"),
    Case("GreaterOrEqual", "({x}, {y})", [(128, 3), (3,)], (128, 3), element="i1"),
    Case("Max", "({x}, {y})", [(128, 3), (3,)], (128, 3), shrinks=True),
    Case("Min", "({x}, {y})", [(128, 3), (3,)], (128, 3), shrinks=True),
    Case("Relu", "({x})", [(3, 256)], (3, 256), (0, 1), (0, 1), shrinks=True),
    Case("PRelu", "({x}, %c)", [(3, 256)], (3, 256), (0, 1), (0, 1), floats("c", 0.0), "tensor<1xf32>", shrinks=True),
)  # fmt: skip


def tensor(shape: Shape, element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def quantized(storage: str, axis: int | None, shape: Shape, scale: float, zero_point: int) -> str:
    """A type's text; along an axis, scales and zero points that differ, the given ones first."""
    if axis is None:
        return f"!quant.uniform<{storage}:f32, {scale:.9e}:{zero_point}>"
    low, high = (0, 255) if storage == "u8" else (-128, 127)
    entries = [
        f"{scale / (1 + 3 * k):.9e}:{low + (zero_point - low + 37 * k) % (high - low + 1)}"
        for k in range(shape[axis])
    ]
    return f"!quant.uniform<{storage}:f32:{axis}, {{{','.join(entries)}}}>"


def parameters(axis: int | None) -> list[tuple[str, int, float]]:
    scales = SCALES if axis is None else SCALES[::3]  # along an axis each choice makes many scales
    return [(storage, zero_point, scale) for storage, zero_point in ZERO_POINTS for scale in scales]


def op_line(case: Case, name: str, operands: Sequence[str]) -> str:
    """`%name = onnx.Op(...)` in float; TopK's indices are not looked at."""
    attributes = case.text.format(x=operands[0], y=operands[-1])
    kinds = [tensor(s, "f32") for s in case.shapes]
    if case.op in ("Where", "OneHot"):
        kinds = [case.others, *kinds]
    elif case.op.startswith("Scatter"):
        kinds.insert(1, case.others)
    elif case.others:
        kinds.append(case.others)
    float_type = tensor(case.result, case.element)
    if case.op == "TopK":
        return f"%{name}, %{name}i = onnx.TopK{attributes} : ({', '.join(kinds)}) -> ({float_type}, {tensor(case.result, 'i64')})\n"
    return f"%{name} = {case.spelled}{attributes} : ({', '.join(kinds)}) -> {float_type}\n"


def module(arguments: dict[str, str], body: str, results: dict[str, str], opset: int = 18) -> ModuleOp:
    context = full_context()
    inputs = ", ".join(f'%{n}: {t} {{onnx.name = "{n}"}}' for n, t in arguments.items())
    outputs = ", ".join(f'{t} {{onnx.name = "o{k}"}}' for k, t in enumerate(results.values()))
    values = ", ".join(f"%{n}" for n in results)
    imports = f"{{ai.onnx = {opset} : i64, com.microsoft = 1 : i64}}"
    text = (
        f"builtin.module attributes {{onnx.ir_version = 9 : i64, onnx.opset_import = {imports}}} {{\n"
        f"func.func @main({inputs}) -> ({outputs}) {{\n{body}"
        f"func.return {values} : {', '.join(results.values())}\n}}\n}}"
    )
    return parse_module(context, with_aliases(text), "case", None)


def with_aliases(text: str) -> str:
    """The text with each tensor type spelled once: most of the time goes into reading types."""
    names: dict[str, str] = {}
    short = re.sub(
        r"(?<!\.)tensor<[^<>]*(<[^<>]*>)?>", lambda m: names.setdefault(m[0], f"!t{len(names)}"), text
    )
    return "".join(f"{name} = {type}\n" for type, name in names.items()) + short


def stored_values(storage: str, shape: Shape, seed: int) -> npt.NDArray[Any]:
    values = np.resize(np.arange(256), prod(shape)).astype(np.uint8)
    np.random.default_rng(seed).shuffle(values)
    return values.reshape(shape).view(np.uint8 if storage == "u8" else np.int8)


def sink_module(case: Case, axis: int | None) -> tuple[ModuleOp, Feeds]:
    """op(dcast(q)) for every choice of parameters."""
    arguments: dict[str, str] = {}
    feeds: Feeds = {}
    for storage, element in (("u8", "ui8"), ("i8", "i8")):
        for k, shape in enumerate(case.shapes):
            arguments[f"{storage}_{k}"] = tensor(shape, element)
            feeds[f"{storage}_{k}"] = stored_values(storage, shape, k)
    body, results = case.constants, dict[str, str]()
    for n, (storage, zero_point, scale) in enumerate(parameters(axis)):
        operands: list[str] = []
        for k, shape in enumerate(case.shapes):
            type = tensor(shape, quantized(storage, axis, shape, scale, zero_point))
            plain = arguments[f"{storage}_{k}"]
            body += f"%q{n}_{k} = quant.scast %{storage}_{k} : {plain} to {type}\n"
            body += f"%r{n}_{k} = quant.dcast %q{n}_{k} : {type} to {tensor(shape, 'f32')}\n"
            operands.append(f"%r{n}_{k}")
        body += op_line(case, f"y{n}", operands)
        results[f"y{n}"] = tensor(case.result, case.element)
    return module(arguments, body, results, case.opset), feeds


def hoist_module(case: Case, axis: int | None) -> tuple[ModuleOp, Feeds]:
    """qcast(op(x)) for every choice of parameters, x from below the type's range to above it, ties included."""
    arguments: dict[str, str] = {}
    feeds: Feeds = {}
    body, results = case.constants, dict[str, str]()
    for n, (storage, zero_point, scale) in enumerate(parameters(axis)):
        operands: list[str] = []
        for k, shape in enumerate(case.shapes):
            steps = np.resize(np.arange(-600, 600) / 2, prod(shape)).reshape(shape)
            x = np.random.default_rng(n).permuted(steps * np.float32(scale)).astype(np.float32)
            name, type = f"x{n}_{k}", tensor(shape, "f32")
            arguments[name], feeds[name] = type, x
            if case.shrinks:  # a cast above makes the integers, in other steps
                other = tensor(shape, f"!quant.uniform<i16:f32, {scale / 3:.9e}:5>")
                body += f"%p{name} = quant.qcast %{name} : {type} to {other}\n"
                body += f"%d{name} = quant.dcast %p{name} : {other} to {type}\n"
                name = f"d{name}"
            operands.append(f"%{name}")
        body += op_line(case, f"y{n}", operands)
        type = tensor(case.result, quantized(storage, axis, case.result, scale, zero_point))
        plain = tensor(case.result, "ui8" if storage == "u8" else "i8")
        body += f"%q{n} = quant.qcast %y{n} : {tensor(case.result, 'f32')} to {type}\n"
        body += f"%z{n} = quant.scast %q{n} : {type} to {plain}\n"
        results[f"z{n}"] = plain
    return module(arguments, body, results, case.opset), feeds


def outputs(before: ModuleOp, feeds: Feeds, integers: bool) -> list[npt.NDArray[Any]]:
    if integers:
        apply_patterns(before, "lower", [LowerToStorage(ANYWHERE)])
    LowerToQdqPass().apply(Context(), before)
    before.verify()
    return run(export_model(before), feeds)


Maker = Callable[[Case, int | None], tuple[ModuleOp, Feeds]]


def bits_of(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What is compared: every bit, but -0 is 0."""
    return (values + np.float32(0)).view(np.uint32) if values.dtype == np.float32 else values


def check(case: Case, axis: int | None, make: Maker, one: type[SinkDequantizePass] | type[HoistQuantizePass]):
    """AssertionError if the pass leaves an op alone or changes a bit."""
    before, feeds = make(case, axis)
    after = before.clone()
    one().apply(Context(), after)
    remarks = [str(r) for r in remarks_of(after)]
    assert not remarks, remarks[0]
    float_side = DequantizeOp if one is SinkDequantizePass else QuantizeOp
    for op in after.walk():
        if isinstance(op, OnnxOp) and case.spelled == op.name:
            neighbours = (
                [o.owner for o in op.operands]
                if float_side is DequantizeOp
                else [u.operation for r in op.results for u in r.uses]
            )
            assert not any(isinstance(n, float_side) for n in neighbours), "the pass left the op alone"
    after.verify()
    expected, actual = outputs(before, feeds, False), outputs(after, feeds, case.integers)
    for n, (a, b) in enumerate(zip(expected, actual, strict=True)):
        wrong = bits_of(a) != bits_of(b)
        assert not wrong.any(), (
            f"{int(wrong.sum())} of {wrong.size} elements differ with {parameters(axis)[n]}"
        )


def case_of(op: str) -> Case:
    return next(case for case in CASES if case.op == op)


def single(case: Case, type: str) -> tuple[ModuleOp, Feeds]:
    """op(dcast(q)) for one type."""
    shape = case.shapes[0]
    body = case.constants + f"%q = quant.scast %x : {tensor(shape, 'i8')} to {tensor(shape, type)}\n"
    body += f"%r = quant.dcast %q : {tensor(shape, type)} to {tensor(shape, 'f32')}\n"
    body += op_line(case, "y", ["%r"])
    built = module({"x": tensor(shape, "i8")}, body, {"y": tensor(case.result, "f32")})
    return built, {"x": stored_values("i8", shape, 0)}


def agree(case: Case, before: ModuleOp, feeds: Feeds, one: type[SinkDequantizePass]) -> None:
    after = before.clone()
    one().apply(Context(), after)
    assert not list(remarks_of(after))
    casts = [op for op in after.walk() if isinstance(op, DequantizeOp)]
    owners = [cast.operands[0].owner for cast in casts]
    assert [o.name for o in owners if isinstance(o, OnnxOp)] == [case.spelled]
    np.testing.assert_array_equal(outputs(before, feeds, False)[0], outputs(after, feeds, case.integers)[0])
