"""
Files made to hurt: each, through each command, ends with status 0 or 1, a word of why, in time, in bounded memory, and
touches nothing outside of its folder. `test/fuzz.py` does the running; here are the files, and what is said of them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

FUZZ = Path(__file__).parents[2] / "fuzz.py"
HUGE = 1 << 40

Node = onnx.NodeProto
node = helper.make_node


def info(name: str, shape: Sequence[int | str] | None = None, kind: int = 1) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def tensor(name: str, dims: Sequence[int], raw: bytes, kind: int = 1) -> onnx.TensorProto:
    return TensorProto(name=name, dims=dims, raw_data=raw, data_type=kind)


def constant(name: str, value: Any) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def model(
    nodes: Sequence[Node],
    tensors: Sequence[onnx.TensorProto] = (),
    outputs: Sequence[onnx.ValueInfoProto] = (info("y"),),
    opset: int = 17,
    ir: int = 8,
    functions: Sequence[onnx.FunctionProto] = (),
) -> bytes:
    graph = helper.make_graph(list(nodes), "g", [info("x", [2, 3])], list(outputs), list(tensors))
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("f", 1)]
    proto = helper.make_model(graph, opset_imports=imports, ir_version=ir, functions=list(functions))
    return proto.SerializeToString()


def plus_w(w: onnx.TensorProto) -> bytes:
    return model([node("Add", ["x", "w"], ["y"])], [w])


def external(location: str, offset: int = 0, length: int = 24) -> bytes:
    w = TensorProto(name="w", dims=[2, 3], data_type=1, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, "offset": str(offset), "length": str(length)}.items():
        w.external_data.add(key=key, value=value)
    return plus_w(w)


def field(number: int, content: bytes) -> bytes:
    """A field of a message, as it is written; protobuf itself writes none that it would not read."""
    size, length = b"", len(content)
    while True:
        length, low = length >> 7, length & 127
        size += bytes([low | (128 if length else 0)])
        if not length:
            return bytes([number << 3 | 2]) + size + content


def nested(depth: int) -> bytes:
    graph = helper.make_graph([node("Identity", ["x"], ["y0"])], "g", [], [info("y0")]).SerializeToString()
    for k in range(1, depth + 1):
        # NodeProto.attribute is field 5, AttributeProto.g 6, GraphProto.node 1.
        branches = [
            field(5, onnx.AttributeProto(name=name, type="GRAPH").SerializeToString() + field(6, body))
            for name, body in (("then_branch", graph), ("else_branch", graph if k < 3 else b""))
        ]
        inner = node("If", ["c"], [f"y{k}"]).SerializeToString() + b"".join(branches)
        frame = helper.make_graph([], "g", [], [info(f"y{k}")]).SerializeToString()
        graph = frame + field(1, inner)
    whole = helper.make_graph([], "g", [info("x", [2, 3]), info("c", [], 9)], []).SerializeToString() + graph
    imports = helper.make_opsetid("", 17).SerializeToString()
    return onnx.ModelProto(ir_version=8).SerializeToString() + field(8, imports) + field(7, whole)


def doubling_functions(count: int) -> bytes:
    def one(k: int) -> onnx.FunctionProto:
        call = [node(f"f{k + 1}", ["a"], ["b"], domain="f"), node(f"f{k + 1}", ["b"], ["c"], domain="f")]
        last = [node("Identity", ["a"], ["c"])]
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
        return helper.make_function("f", f"f{k}", ["a"], ["c"], call if k < count - 1 else last, imports)

    return model([node("f0", ["x"], ["y"], domain="f")], functions=[one(k) for k in range(count)])


def recursive_function() -> bytes:
    imports = [helper.make_opsetid("f", 1)]
    a = helper.make_function("f", "a", ["p"], ["r"], [node("b", ["p"], ["r"], domain="f")], imports)
    b = helper.make_function("f", "b", ["p"], ["r"], [node("a", ["p"], ["r"], domain="f")], imports)
    return model([node("a", ["x"], ["y"], domain="f")], functions=[a, b])


def bomb(op: str, *inputs: Any, **attributes: Any) -> bytes:
    """One op with outputs a lot from constants."""
    names = [f"c{k}" if value is not None else "" for k, value in enumerate(inputs)]
    tensors = [constant(f"c{k}", value) for k, value in enumerate(inputs) if value is not None]
    large = node(op, names, ["big"], **attributes)
    return model([large, node("ReduceMax", ["big"], ["m"]), node("Add", ["x", "m"], ["y"])], tensors)


def doubling(count: int) -> bytes:
    nodes = [node("Concat", [f"t{k}", f"t{k}"], [f"t{k + 1}"], axis=0) for k in range(count)]
    nodes += [node("ReduceMax", [f"t{count}"], ["m"]), node("Add", ["x", "m"], ["y"])]
    return model(nodes, [constant("t0", np.ones(8, np.float32))])


def long_shape() -> bytes:
    """A tensor of 2^40 dimensions."""
    limits = [constant(name, np.int64(v)) for name, v in (("a", 0), ("b", HUGE), ("c", 1))]
    nodes = [node("Range", ["a", "b", "c"], ["r"]), node("ConstantOfShape", ["r"], ["big"])]
    return model([*nodes, node("Add", ["x", "big"], ["y"])], limits)


def lying() -> bytes:
    """A tensor of 1 TB that says it is small."""
    proto = onnx.ModelProto.FromString(bomb("ConstantOfShape", np.array([HUGE >> 2], np.int64)))
    proto.graph.value_info.append(info("big", [4]))
    proto.graph.value_info.append(info("m", [1]))
    return proto.SerializeToString()


def endless_loop() -> bytes:
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"]), node("Add", ["v", "v"], ["w"])],
        "body",
        [info("i", [], 7), info("go", [], 9), info("v")],
        [info("on", [], 9), info("w")],
    )
    loop = node("Loop", ["n", "c", "one"], ["big"], body=body)
    tensors = [
        constant("n", np.int64(1 << 62)),
        constant("c", np.bool_(True)),
        constant("one", np.float32(1)),
    ]
    return model([loop, node("Add", ["x", "big"], ["y"])], tensors)


def quantized(scale: float, axis: int = 1, kind: int = TensorProto.UINT8) -> bytes:
    zero = tensor("z", [], b"\x07", kind)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
        node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis),
    ]
    return model(nodes, [constant("s", np.float32(scale)), zero])


def changed(edit: Callable[[onnx.ModelProto], object]) -> bytes:
    proto = onnx.ModelProto.FromString(model([node("Relu", ["x"], ["y"])]))
    edit(proto)
    return proto.SerializeToString()


def mlir(body: str) -> bytes:
    return f"builtin.module {{\n{body}\n}}\n".encode()


def text_constant(payload: str, type: str) -> bytes:
    """Text with one constant."""
    return mlir(f"  %0 = onnx.Constant() {{value = #onnx.tensor<{payload} : {type}>}} : () -> {type}")


relu = [node("Relu", ["x"], ["y"])]
FLOAT = np.float32

OK = ""
"""Nothing to complain of: status 0."""

# name: content, what is said (a part of it; "" if nothing is; None if either may be)
ONNX: dict[str, tuple[bytes | Callable[[], bytes], str | None]] = {
    "empty": (b"", "empty"),
    "zeros": (bytes(1000), "not an ONNX model"),
    "text": (b"builtin.module {}\n", "not an ONNX model"),
    "truncated": (model(relu)[:-3], "not an ONNX model"),
    "no graph": (changed(lambda m: m.ClearField("graph")), "no graph"),
    "no op type": (changed(lambda m: m.graph.node[0].ClearField("op_type")), None),
    "cycle": (
        model([node("Add", ["x", "b"], ["a"]), node("Neg", ["a"], ["b"])], outputs=[info("b")]),
        "cycle",
    ),
    "takes its own output": (model([node("Add", ["x", "y"], ["y"])]), "cycle"),
    "dangling input": (model([node("Add", ["x", "gone"], ["y"])]), "'gone', which no earlier node computes"),
    "dangling output": (model(relu, outputs=[info("gone")]), "'gone'"),
    "repeated output": (model([*relu, *relu]), "the output of two nodes"),
    "output that is an input": (model([node("Relu", ["x"], ["x"])], outputs=[info("x")]), None),
    "opset 99": (model(relu, opset=99), None),
    "opset -1": (model(relu, opset=-1), None),
    "IR version 99": (model(relu, ir=99), None),
    "negative size": (plus_w(tensor("w", [-2, -3], bytes(24))), "negative size"),
    "absurd sizes": (plus_w(tensor("w", [HUGE, HUGE], bytes(24))), "takes"),
    "sizes that overflow": (plus_w(tensor("w", [1 << 62, 4], b"")), "takes"),
    "many sizes": (plus_w(tensor("w", [1] * 5000, bytes(4))), "5000 dimensions"),
    "short raw data": (plus_w(tensor("w", [2, 3], bytes(23))), "23 bytes"),
    "long raw data": (plus_w(tensor("w", [2, 3], bytes(25))), "25 bytes"),
    "element type 99": (plus_w(tensor("w", [2, 3], bytes(24), 99)), "99"),
    "absurd input": (changed(lambda m: m.graph.input[0].CopyFrom(info("x", [HUGE, HUGE, HUGE]))), OK),
    "negative input": (changed(lambda m: m.graph.input[0].CopyFrom(info("x", [-5, 3]))), OK),
    "nested in branches": (nested(20), None),
    "nested too deeply": (nested(60), "nested too deeply"),
    "recursive function": (recursive_function(), "calls itself"),
    "functions that double": (doubling_functions(40), "expand to more than"),
    "attribute of no kind": (changed(lambda m: m.graph.node[0].attribute.add(name="a", type=0)), None),
    "ConstantOfShape": (bomb("ConstantOfShape", np.array([HUGE, 7], np.int64)), OK),
    "Expand": (bomb("Expand", FLOAT(1), np.array([1 << 16, 1 << 17], np.int64)), OK),
    "Tile": (bomb("Tile", np.ones(9, FLOAT), np.array([1 << 33], np.int64)), OK),
    "Range": (bomb("Range", np.int64(0), np.int64(HUGE), np.int64(1)), OK),
    "Range of floats": (bomb("Range", FLOAT(0), FLOAT(HUGE), FLOAT(1)), OK),
    "Range as a shape": (long_shape(), OK),
    "OneHot": (bomb("OneHot", np.arange(9), np.int64(HUGE), np.array([0, 1], FLOAT)), OK),
    "Pad": (bomb("Pad", np.ones(9, FLOAT), np.array([0, HUGE], np.int64)), OK),
    "Resize": (bomb("Resize", np.ones((1, 1, 3, 3), FLOAT), None, np.array([1, 1, 1e5, 1e5], FLOAT)), OK),
    "negative Tile": (bomb("Tile", np.ones(9, FLOAT), np.array([-3], np.int64)), None),
    "MatMul": (lambda: bomb("MatMul", np.ones((65536, 1), FLOAT), np.ones((1, 65536), FLOAT)), OK),
    "doubling": (doubling(60), OK),
    "sizes that lie": (lying(), OK),
    "name that is not UTF-8": (model(relu).replace(b"Relu", b"Re\xf6u"), "not UTF-8"),
    "endless loop": (endless_loop(), OK),
    "scale zero": (quantized(0.0), OK),
    "scale NaN": (quantized(float("nan")), OK),
    "absurd axis": (quantized(0.5, axis=1 << 40), None),
    "perm out of range": (model([node("Transpose", ["x"], ["y"], perm=[5, -9])]), None),
    "external absolute": (external("/etc/passwd"), "not inside"),
    "external upwards": (external("../outside.bin"), "not inside"),
    "external upwards inside": (external("sub/../../outside.bin"), "not inside"),
    "external backslashes": (external("..\\outside.bin"), "not inside"),
    "external link": (external("link.bin"), "leads out"),
    "external through a link": (external("linked/outside.bin"), "leads out"),
    "external pipe": (external("pipe"), "does not exist"),
    "external folder": (external("sub"), "does not exist"),
    "external past the end": (external("inside.bin", offset=1), "does not hold"),
    "external negative": (external("inside.bin", offset=-1), "does not hold"),
    "external number": (external("inside.bin", offset=10**30), "does not hold"),
}

MLIR: dict[str, tuple[bytes, str | None]] = {
    "no end of a string": (mlir('  func.func @main() -> () attributes {a = "' + "a" * 60), "before closing string"),
    "no end of a name": (mlir('  func.func @"' + "a" * 60), "before closing string"),
    "backslashes": (mlir('  "' + "\\" * 3001), "error"),
    "elided": (text_constant("elided", "tensor<99xf32>"), "--print-constants"),
    "outside": (text_constant('"../outside.bin"[0, 8]', 'tensor<2xf32>'), "not inside"),
    "link": (text_constant('"link.bin"[0, 8]', 'tensor<2xf32>'), "link"),
    "short": (text_constant('"inside.bin"[0, 8]', 'tensor<1099511627776xf32>'), "takes"),
    "dense": (mlir('  %0 = "t.t"() {value = dense<1> : tensor<1099511627776xi8>} : () -> ()'), "error"),
    "regions": (mlir('  "builtin.module"() ({' * 5000), "error"),
    "brackets": (mlir("  func.func @f() -> () attributes {a = " + "[" * 20000), "nested too deeply"),
    "types": (mlir('  "a.b"() : () -> (' + "tuple<" * 20000), "error"),
    "not UTF-8": (b"builtin.module {\xff}\n", "not UTF-8"),
    "zero bytes": (mlir("\0\0\0"), "error"),
    "numbers": (mlir("  func.func @f() -> () attributes {a = " + "9" * 6000 + " : i64}"), "error"),
}  # fmt: skip

CASES = [
    (f"{kind}: {name}", said)
    for kind, group in (("onnx", ONNX), ("mlir", MLIR))
    for name, (_, said) in group.items()
]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """How each command ended on each file, by the file's name."""
    base = tmp_path_factory.mktemp("hostile")
    (base / "outside.bin").write_bytes(b"secret!!" * 3)
    files: list[Path] = []
    for kind, group in (("onnx", ONNX), ("mlir", MLIR)):
        for name, (content, _) in group.items():
            folder = base / f"{kind}: {name}"
            (folder / "sub").mkdir(parents=True)
            (folder / "link.bin").symlink_to(base / "outside.bin")
            (folder / "linked").symlink_to(base)
            (folder / "inside.bin").write_bytes(bytes(24))
            os.mkfifo(folder / "pipe")
            files.append(folder / f"in.{kind}")
            files[-1].write_bytes(content() if callable(content) else content)
    done = subprocess.run([sys.executable, str(FUZZ), *map(str, files)], capture_output=True, text=True)
    assert done.stderr == ""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {p.name for p in base.iterdir()} == {"outside.bin", *(f.parent.name for f in files)}
    return {Path(row["file"]).parent.name: row["ends"] for row in rows}


@pytest.mark.parametrize(("name", "said"), CASES, ids=[name for name, _ in CASES])
def test_ends_well(name: str, said: str | None, ends: dict[str, list[dict[str, Any]]]):
    assert ends[name]
    for end in ends[name]:
        assert end["wrong"] == "", end
        if said is not None:
            assert end["status"] == (1 if said else 0), end
            assert said in end["text"], end


def test_a_slice_of_the_fuzzer():
    done = subprocess.run([sys.executable, str(FUZZ), "--count", "30"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
