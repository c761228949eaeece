"""The textual form: what is printed reads back to the same, whatever the types, constants and places."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.test import TestOp
from xdsl.utils.exceptions import ParseError

from qdialect.dialects.quant import Storage, UniformType
from qdialect.ops import get_all_dialects
from qdialect.text.assembly import ModuleParser, parse_module, print_module


@pytest.fixture
def ctx() -> Context:
    complete = Context()
    for name, factory in get_all_dialects().items():
        complete.register_dialect(name, factory)
    return complete


def text_of(module: ModuleOp, *, generic: bool = False, locations: bool = False, aliases: bool = True) -> str:
    stream = StringIO()
    print_module(module, stream, generic=generic, locations=locations, constants="inline", aliases=aliases)
    return stream.getvalue()


def many_channels(seed: int, count: int) -> UniformType:
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.001, 3, count).astype(np.float32)
    return UniformType.per_axis(Storage.of("u8"), 0, scales, rng.integers(0, 256, count).astype(np.int32))


def test_a_long_type_is_written_once_however_often_it_occurs(ctx: Context):
    types = [TensorType(many_channels(seed, 1000), [1000, 3]) for seed in range(2)]
    ops = [TestOp(result_types=[types[k % 2]]) for k in range(500)]
    text = text_of(ModuleOp(ops))
    assert text.count("!quant.uniform") == 2
    assert len(text) < 2 * 30_000 + 500 * 60
    again = parse_module(ctx, text, "x.mlir", None)
    assert [op.result_types[0] for op in again.ops] == [types[k % 2] for k in range(500)]
    assert text_of(again) == text


def test_equal_types_that_are_two_objects_share_an_alias():
    ops = [TestOp(result_types=[TensorType(many_channels(3, 9), [9, 2])]) for _ in range(2)]
    text = text_of(ModuleOp(ops))
    assert text.count("!q0 =") == 1
    assert "!q1" not in text


def test_aliases_can_be_left_out():
    text = text_of(ModuleOp([TestOp(result_types=[TensorType(many_channels(3, 9), [9, 2])])]), aliases=False)
    assert "!q0" not in text
    assert "!quant.uniform<u8:f32:0, {" in text


PLACES = """builtin.module {
  func.func @main(%x: tensor<2x3xf32> loc("x")) -> tensor<2x3xf32> {
    %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(fused["node", "a b"])
    %z = onnx.Neg(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    func.return %z : tensor<2x3xf32>
  } loc("main")
}
"""


def test_known_places_are_printed_and_unknown_ones_are_not(ctx: Context):
    module = parse_module(ctx, PLACES, "x.mlir", None)
    assert text_of(module, locations=True) == PLACES
    assert "loc(" not in text_of(module)
    generic = text_of(module, locations=True, generic=True)
    assert text_of(parse_module(ctx, generic, "x.mlir", None), locations=True) == PLACES


def test_ops_without_a_place_get_their_line(ctx: Context):
    parser = ModuleParser(ctx, PLACES, "x.mlir", None, locate=True)
    places = {op.name: op.location for op in parser.parse_module().walk()}
    assert places["onnx.Neg"] == FileLineColLoc(StringAttr("x.mlir"), IntAttr(4), IntAttr(5))
    assert not isinstance(places["onnx.Relu"], FileLineColLoc)


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", "x.mlir:1:1", "the input is empty"),
        ("\n  foo.bar", "x.mlir:2:3", "operation 'foo.bar' is not known"),
        ('"test.op"() : () -> tensor<2x!quant.uniform<i8:f32, 0.0>>', "x.mlir:1:", "scale"),
        (
            '"test.op"() {a = #onnx.tensor<elided : tensor<2xi8>>} : () -> ()',
            "x.mlir:1:",
            "--print-constants",
        ),
        ('"test.op"() {a = #onnx.tensor<"w"[0, 2] : tensor<2xi8>>} : () -> ()', "x.mlir:1:", "name the file"),
        ('\n"' + "\\\\\\n" * 40 + "\n", "x.mlir:2:1", "closing string literal"),
        ('\n%x"' + "a" * 99, "x.mlir:2:3", "closing string literal"),
        ("func.func @f() {\n  func.return\n", "x.mlir:3:1", "expected an operation"),
    ],
)
def test_mistakes_in_text_have_a_place(ctx: Context, text: str, place: str, says: str):
    with pytest.raises(ParseError) as raised:
        parse_module(ctx, text, "x.mlir", None)
    assert str(raised.value.span.get_location()).startswith(place)
    assert says in raised.value.msg


def test_a_file_beside_is_found_from_the_texts_folder(ctx: Context, tmp_path: Path):
    (tmp_path / "w").write_bytes(bytes(range(200)))
    text = '"test.op"() {a = #onnx.tensor<"w"[64, 99] : tensor<9x11xi8>>} : () -> ()'
    module = parse_module(ctx, text, "x.mlir", tmp_path)
    assert bytes(range(64, 163)).hex().upper() in text_of(module)
