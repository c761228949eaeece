"""Uniform types: equality, hashing, copying, text, and what the costly steps are done how often."""

import pickle

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, Builtin, TensorType, bf16, f16, f32, i8
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken

from qdialect.dialects import quant_text
from qdialect.dialects.quant import (
    DequantizeOp,
    Quant,
    QuantizeOp,
    Storage,
    StorageCastOp,
    UniformType,
    verify_quantized_tensor,
)

U8, I8 = Storage.of("u8"), Storage.of("i8")


def parse(text: str) -> Attribute:
    context = Context()
    for dialect in (Builtin, Test, Quant):
        context.load_dialect(dialect)
    parser = Parser(context, text)
    result = parser.parse_attribute()
    if parser.pos != len(text):
        parser.raise_error("something is left")
    return result


def wide(channels: int = 4096, seed: int = 0) -> UniformType:
    rng = np.random.default_rng(seed)
    scales = (10 ** rng.uniform(-12, 6, channels)).astype(np.float32)
    return UniformType.per_axis(I8, 1, scales, rng.integers(-128, 128, channels))


# --- Storage ---


@pytest.mark.parametrize(
    ("name", "low", "high", "dtype"),
    [
        ("i8", -128, 127, np.int8),
        ("u8", 0, 255, np.uint8),
        ("u4", 0, 15, np.uint8),
        ("i9", -256, 255, np.int16),
        ("u16", 0, 65535, np.uint16),
        ("i32", -(2**31), 2**31 - 1, np.int32),
        ("u17", 0, 2**17 - 1, np.uint32),
    ],
)
def test_a_storage_has_the_bounds_of_its_name(name: str, low: int, high: int, dtype: npt.DTypeLike):
    storage = Storage.of(name)
    assert (storage.low, storage.high, storage.dtype, storage.name) == (low, high, dtype, name)
    assert storage.is_full_range
    narrow = Storage.of(name, low + 1)
    assert not narrow.is_full_range
    assert str(narrow) == f"{name}<{low + 1}:{high}>"


# --- Equality and hashing ---

SAME = UniformType.per_axis(I8, 1, [0.5, 0.25], [3, -4])


@pytest.mark.parametrize(
    "other",
    [
        UniformType.per_axis(U8, 1, [0.5, 0.25], [3, 4]),
        UniformType.per_axis(Storage.of("i8", -127), 1, [0.5, 0.25], [3, -4]),
        UniformType.per_axis(I8, 0, [0.5, 0.25], [3, -4]),
        UniformType.per_axis(I8, 1, [0.5, np.nextafter(np.float32(0.25), 1)], [3, -4]),
        UniformType.per_axis(I8, 1, [0.5, 0.25], [3, -5]),
        UniformType.per_axis(I8, 1, [0.5, 0.25], [3, -4], f16),
        UniformType.per_axis(I8, 1, [0.5, 0.25, 0.5], [3, -4, 3]),
        UniformType.sub_channel(I8, [(1, 1)], [[0.5, 0.25]], [[3, -4]]),
        UniformType.per_tensor(I8, 0.5, 3),
    ],
    ids=str,
)
def test_any_difference_is_a_difference(other: UniformType):
    assert SAME != other
    assert parse(str(other)) == other


def test_equal_by_value():
    other = UniformType.per_axis(I8, 1, np.array([0.5, 0.25]), np.array([3, -4], np.int8))
    assert other is not SAME
    assert other == SAME
    assert hash(other) == hash(SAME)
    assert TensorType(other, [3, 2]) == TensorType(SAME, [3, 2])
    assert pickle.loads(pickle.dumps(SAME.scales)).tolist() == [0.5, 0.25]


def test_scales_are_equal_as_float32():
    assert UniformType.per_tensor(I8, 0.02) == UniformType.per_tensor(I8, np.float32(0.02))
    assert parse("!quant.uniform<i8:f32, 0.02>") == parse("!quant.uniform<i8:f32, 0.019999999552965164>")


def test_parameters_cannot_be_written_to():
    for values in (SAME.scales, SAME.zero_points, UniformType.per_tensor(I8, 0.5).scales):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 1


def test_the_givers_array_stays_its_own():
    scales = np.array([0.5, 0.25], np.float32)
    element = UniformType.per_axis(I8, 0, scales, [1, 2])
    scales[0] = 9
    assert element.scales[0] == 0.5


# --- Text ---


@pytest.mark.parametrize("seed", range(5))
def test_text_reads_back_to_the_same_bits(seed: int):
    bits = np.random.default_rng(seed).integers(1, 0x7F800000, 3000).astype(np.uint32)
    element = UniformType.per_axis(I8, 0, bits.view(np.float32), 7)
    again = parse(str(element))
    assert isinstance(again, UniformType)
    np.testing.assert_array_equal(again.scales.view(np.uint32), bits)
    assert again == element


@pytest.mark.parametrize(
    ("expressed", "least", "greatest", "text"),
    [
        (f16, 2.0**-24, 65504.0, "5.9604645e-08,65504.0"),
        (bf16, 2.0**-133, 3.3895313892515355e38, "9.1835e-41,3.3895314e+38"),
        (f32, 2.0**-149, 3.4028234663852886e38, "1.0e-45,3.4028235e+38"),
    ],
)
def test_extreme_scales_read_back(expressed: Attribute, least: float, greatest: float, text: str):
    """(mlir-opt refuses some: their shortest decimal lies beyond the bound that it rounds to.)"""
    element = UniformType.per_axis(I8, 0, [least, greatest], 0, expressed)
    assert f"{{{text}}}" in str(element)
    assert parse(str(element)) == element
    for beyond in (least / 2, greatest * 1.01):
        with pytest.raises(VerifyException, match="out of expressed type range"):
            UniformType.per_tensor(I8, beyond, 0, expressed)


def test_a_list_is_not_lexed_token_by_token(monkeypatch: pytest.MonkeyPatch):
    """Reading the type of 4096 channels lexes a dozen tokens; printing it again formats nothing."""
    element = wide()
    text = str(element)
    tokens = formats = 0
    lex, scale_texts = MLIRLexer.lex, quant_text.scale_texts

    def counted_lex(self: MLIRLexer) -> MLIRToken:
        nonlocal tokens
        tokens += 1
        return lex(self)

    def counted_format(scales: npt.NDArray[np.float32]) -> list[str]:
        nonlocal formats
        formats += 1
        return scale_texts(scales)

    monkeypatch.setattr(MLIRLexer, "lex", counted_lex)
    monkeypatch.setattr(quant_text, "scale_texts", counted_format)
    again = parse(text)
    assert again == element
    assert tokens < 20
    assert str(again) == str(again) == text
    assert formats == 1


def test_a_repeated_list_is_read_once():
    text = str(wide(seed=1))
    quant_text.read_parameters.cache_clear()
    for _ in range(3):
        parse(text)
    assert quant_text.read_parameters.cache_info().misses == 1


@pytest.mark.parametrize("text", ["{0.5,0.25:3}", "{ {2.0 : 120,3.0},\n{4.0, 5.} }", "{{{1.0e-05}}}"])
def test_both_readers_agree(text: str):
    """A comment sends the list to the reader of tokens."""
    fast = quant_text.read_parameters(text)
    assert fast is not None
    layout = ":0" if text.count("{") == 1 else ":{0:1}"
    slow = parse(f"!quant.uniform<i8:f32{layout}, {text.replace(',', ', // }}}' + chr(10))}>")
    assert isinstance(slow, UniformType)
    assert slow == parse(f"!quant.uniform<i8:f32{layout}, {text}>")
    assert slow.scales.shape == fast.shape
    assert slow.scales.reshape(-1).tolist() == fast.scales.astype(np.float32).tolist()


@pytest.mark.parametrize(
    "text", ["{0.5,}", "{,0.5}", "{0.5 0.25}", "{{0.5},0.25}", "{}", "{{0.5}{0.5}}", "{1}"]
)
def test_the_fast_reader_leaves_errors_to_the_other(text: str):
    assert quant_text.read_parameters(text) is None


@pytest.mark.parametrize("seed", range(200))
def test_damaged_text_is_an_error_of_parsing(seed: int):
    """Nothing else is ever raised, and what is accepted prints and reads back."""
    rng = np.random.default_rng(seed)
    texts = [
        "i8<-127:127>:f32:1, {0.5:3,1.0e-05}",
        "u4:f16:{0:2, 1:1}, {{2.0:12, 3.0}, {4.0, 5.0:1}}",
        "i8:f32, 2.5:-3",
    ]
    text = list(f"!quant.uniform<{texts[seed % 3]}>")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(15, len(text) - 1))
        text[at : at + int(rng.integers(2))] = str(rng.choice(list("{}<>:,-.0159eiuf x")))
    try:
        element = parse("".join(text))
    except ParseError:
        return
    assert parse(str(element)) == element


# --- Deriving ---


def test_replace_changes_what_it_names():
    assert str(SAME.replace(axis=0)) == "!quant.uniform<i8:f32:0, {0.5:3,0.25:-4}>"
    assert (
        str(SAME.replace(scales=[2, 4, 8], zero_points=1)) == "!quant.uniform<i8:f32:1, {2.0:1,4.0:1,8.0:1}>"
    )
    assert str(SAME.replace(storage=Storage.of("i16"))) == "!quant.uniform<i16:f32:1, {0.5:3,0.25:-4}>"
    assert str(SAME.replace(expressed=f16)) == "!quant.uniform<i8:f16:1, {0.5:3,0.25:-4}>"
    assert SAME.replace(scales=[2], zero_points=1) == UniformType.per_tensor(I8, 2, 1)
    with pytest.raises(VerifyException, match="out of storage range"):
        SAME.replace(storage=U8)


def test_the_one_scale():
    element = UniformType.per_tensor(U8, 0.02, 128)
    assert (element.scale, element.zero_point, element.is_per_tensor) == (np.float32(0.02), 128, True)
    assert not SAME.is_per_tensor
    with pytest.raises(ValueError, match="no one scale"):
        _ = SAME.scale


# --- Ops ---


def test_casts_are_built_with_their_types():
    x = TestOp(result_types=[TensorType(f16, [3, 2])])
    q = QuantizeOp(x, SAME.replace(expressed=f16))
    r = DequantizeOp(q)
    s = StorageCastOp(q, TensorType(i8, [3, 2]))
    for op in (q, r, s):
        op.verify()
        assert op.element_type == SAME.replace(expressed=f16)
    assert r.result.type == TensorType(f16, [3, 2])
    assert StorageCastOp(s, q.result.type).element_type is q.element_type
    assert q.clone().is_structurally_equivalent(q)


def test_tensors_of_other_elements_pass():
    for type in (f32, TensorType(f32, [2]), TensorType(SAME, [3, 2]), TensorType(SAME, [3, DYNAMIC_INDEX])):
        verify_quantized_tensor(type)
    with pytest.raises(VerifyException, match="number of scales"):
        verify_quantized_tensor(TensorType(SAME, [2, 3]))
