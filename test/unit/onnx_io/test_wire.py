"""Large initializers beside the message: what protobuf would have made, byte by byte."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from qdialect.onnx_io import wire
from qdialect.onnx_io.messages import read_model

LEAST = 100


def tensor(name: str, size: int) -> TensorProto:
    return numpy_helper.from_array(np.arange(size, dtype=np.uint8), name)


def model(*sizes: int) -> onnx.ModelProto:
    inner = helper.make_graph([], "inner", [], [], [tensor("inside", 500)])
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    graph = helper.make_graph([node], "g", [], [], [tensor(f"t{k}", size) for k, size in enumerate(sizes)])
    proto = helper.make_model(graph, producer_name="test")
    proto.metadata_props.add(key="k", value="v" * 300)
    return proto


def joined(message: bytes, large: dict[int, memoryview]) -> bytes:
    pieces = wire.join(message, {place: len(raw) for place, raw in large.items()})
    return b"".join(large[piece] if isinstance(piece, int) else piece for piece in pieces)


@pytest.mark.parametrize("sizes", [(), (5,), (101,), (5, 300, 100, 101, 20_000, 3)])
def test_joining_undoes_splitting(sizes: tuple[int, ...]):
    message = model(*sizes).SerializeToString(deterministic=True)
    small, large = wire.split(message, LEAST)
    assert {place: len(raw) for place, raw in large.items()} == {
        k: n for k, n in enumerate(sizes) if n > LEAST
    }
    read = onnx.ModelProto.FromString(small)
    assert [len(t.raw_data) for t in read.graph.initializer] == [n if n <= LEAST else 0 for n in sizes]
    assert len(read.graph.node[0].attribute[0].g.initializer[0].raw_data) == 500
    assert joined(small, large) == message


def test_a_graph_in_two_parts_is_one_graph():
    message = model(300, 5).SerializeToString() + model(400).SerializeToString()
    small, large = wire.split(message, LEAST)
    names = [t.name for t in onnx.ModelProto.FromString(small).graph.initializer]
    assert names == ["t0", "t1", "t0"]
    assert {place: len(raw) for place, raw in large.items()} == {0: 300, 2: 400}


def test_raw_data_given_twice_is_left_to_protobuf():
    twice = tensor("t", 300).SerializeToString() + TensorProto(raw_data=b"last").SerializeToString()
    graph = b"\x2a" + bytes([len(twice) & 0x7F | 0x80, len(twice) >> 7]) + twice
    message = b"\x3a" + bytes([len(graph) & 0x7F | 0x80, len(graph) >> 7]) + graph
    small, large = wire.split(message, LEAST)
    assert (small, large) == (message, {})
    assert onnx.ModelProto.FromString(small).graph.initializer[0].raw_data == b"last"


def test_what_is_no_message_is_left_to_protobuf():
    message = model(300, 400).SerializeToString()
    for cut in range(len(message)):
        small, large = wire.split(message[:cut], LEAST)
        whole = True
        try:
            expected = onnx.ModelProto.FromString(message[:cut])
        except Exception:
            whole = False
        if whole:
            assert onnx.ModelProto.FromString(joined(small, large)) == expected  # pyright: ignore
        else:
            assert (small, large) == (message[:cut], {})
    for bad in (
        b"\x3b\x00",
        b"\x3f\x00",
        b"\xff" * 11,
        b"\x3a\x80",
        b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    ):
        assert wire.split(bad, LEAST) == (bad, {})


def test_a_whole_that_no_message_holds():
    message = model(5).SerializeToString()
    with pytest.raises(ValueError, match="bytes"):
        wire.join(message, {0: 1 << 31})


def test_the_whole_message_can_be_had(tmp_path: Path):
    original = model(5, 30_000)
    onnx.save(original, tmp_path / "m.onnx")
    read = read_model(tmp_path / "m.onnx")
    assert list(read.large) == [1]
    assert read.whole() == original
