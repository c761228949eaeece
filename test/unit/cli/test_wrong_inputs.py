"""
What can be wrong with a command line, a model and data, beside what `test_cli` has: one line each, nothing written, no
traceback; status 1, or 2 for usage.
"""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from command_files import files, folder, scale_model
from onnx import TensorProto, helper, numpy_helper

from qdialect.cli import main
from qdialect.cli.opt import main as opt
from qdialect.files import Outputs
from qdialect.measuring.timing import alternate

assert folder  # the fixture

Command = Callable[[list[str]], int]


def changed(change: Callable[[onnx.ModelProto], object]) -> bytes:
    """The good model with something changed."""
    model = scale_model(1.5)
    change(model)
    return model.SerializeToString()


def external(location: str) -> bytes:
    """The good model, its factor outside of it."""

    def change(model: onnx.ModelProto) -> None:
        [tensor] = model.graph.initializer
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=location)

    return changed(change)


def circle(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[0] = "z"
    model.graph.node.append(helper.make_node("Neg", ["y"], ["z"]))


def twice(model: onnx.ModelProto) -> None:
    model.graph.node.append(model.graph.node[0])


MODELS: dict[str, tuple[bytes, str]] = {
    "html.onnx": (b"<!DOCTYPE html><html>not found</html>", "'html.onnx' is not an ONNX model"),
    "zip.onnx": (b"PK\x03\x04" + bytes(40), "'zip.onnx' is not an ONNX model"),
    "text.onnx": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n",
        "'text.onnx' is not an ONNX model",
    ),
    "noise.pb": (bytes(range(1, 200)), "'noise.pb' is not an ONNX model"),
    "newer.onnx": (changed(lambda m: setattr(m.opset_import[0], "version", 99)), "imports opset 99"),
    "circle.onnx": (changed(circle), "node 'Neg' is part of a cycle"),
    "twice.onnx": (changed(twice), "tensor 'y' is the output of two nodes"),
    "unmade.onnx": (
        changed(lambda m: m.graph.node[0].input.__setitem__(1, "nobody")),
        "takes tensor 'nobody', which no earlier node computes; export the model again",
    ),
    "no-graph.onnx": (changed(lambda m: m.ClearField("graph")), "has no graph"),
    "no-output.onnx": (
        changed(lambda m: m.graph.output[0].__setattr__("name", "nobody")),
        "graph output 'nobody' takes tensor",
    ),
    "absolute.onnx": (external("/etc/passwd"), "'/etc/passwd' is not inside the folder"),
    "above.onnx": (external("../secret.bin"), "'../secret.bin' is not inside the folder"),
    "absent.onnx": (external("absent.bin"), "external data file 'absent.bin' does not exist"),
}

COULD_NOT: list[tuple[Command, str, str]] = [
    *((main, f"compile {name} -o out.onnx", says) for name, (_, says) in MODELS.items()),
    (main, "compile good.onnx -o missing/out.onnx", "cannot write 'missing/out.onnx'"),
    (main, "compile good.onnx -o model.txt", "is not a .onnx file; name it OUT.onnx\n"),
    (main, "compile good.onnx -o out.tosa", "name it OUT.onnx, or choose --target tosa"),
    (main, "compile good.onnx -o out.onnx --costs good.npz", "is not a .toml file of kernel costs"),
    (main, "compile good.onnx -o out.onnx --sizes width=4", "no size of an input is called 'width'"),
    (main, "compile open.onnx -o out.onnx --sizes row=4", "did you mean 'rows'?"),
    (main, "compile good.onnx -o folder.onnx", "it is a folder"),
    (main, "compile model.txt -o out.onnx", "neither a .mlir nor a .onnx"),
    (main, "compile '' -o out.onnx", "cannot open '', no such file"),
    (main, "compile - -o out.onnx", "standard input is empty"),
    (main, "compile good.onnx -o out.onnx --report missing/out.html", "missing/out.html"),
    (main, "compile good.onnx -o out.onnx --keep-float yy", "near are y"),
    (main, "compile good.onnx -o out.onnx --keep-float nobody*", "no node or tensor is called 'nobody*'"),
    (main, "compile good.onnx -o out.onnx --keep-float x", "is a graph input"),
    (main, "compile good.onnx -o out.onnx --keep-float f", "is a constant"),
    (main, "compile good.onnx -o out.onnx --decompose Conv", "'Conv' is not decomposed"),
    (main, "compile good.onnx -o out.onnx --form qoperator --target openvino", "takes no integer nodes"),
    *(
        (main, f"compile good.onnx -o out.onnx --check-numerics={data}", says)
        for data, says in (
            ("folder.npz", "it is a folder"), ("bad.npz", "is not an .npz file"), ("key.npz", "no array for input"),
            ("rank.npz", "the model takes 2x3"), ("nan.npz", "holds NaN"), ("none.npz", "has shape 0x3"),
            ("bytes.npz", "is uint8, the model takes float32"), ("one.npy", "holds one array without a name"),
            ("pickle.npz", "plain arrays"),
        )
    ),
    *(
        (main, f"quantize good.onnx -o out.onnx --data {data}", says)
        for data, says in (
            ("bad.npz", "is not an .npz file"), ("key.npz", "no array for input"), ("rank.npz", "takes 2x3"),
            ("nan.npz", "holds NaN"), ("none.npz", "has shape 0x3"), ("empty", "there is no data in folder"),
            ("model.txt", "is not a supported kind of data"), ("nothing:samples", "cannot import data"),
            ("os:nothing", "cannot import data"), ("os:name", "returns str"),
            ("own_data:fails", "raises ValueError: nothing there at own_data.py:2; correct the function"),
            ("own_data:ends", "raises KeyError: 'x' at own_data.py:5"), ("good.npz --profile good.npz", "good.npz"),
            ("good.npz --profile no.p", "cannot open 'no.p'"), ("good.npz --weights int7", "int7"),
            ("good.npz --max-drop much", "much"), ("good.npz --range wide", "wide"),
            ("good.npz --save-profile missing/p", "missing/p"), ("good.npz --keep-float nobody", "'nobody'"),
            ("good.npz --state y=nobody", "nobody"), ("good.npz --target openvino --form integer", "takes no integer"),
        )
    ),
    (main, "explain model.txt", "neither a .mlir nor a .onnx"),
    (main, "explain -", "standard input is empty"),
    (main, "compile open.onnx -o out.onnx --check-numerics=none.npz", "'none.npz' holds no sample"),
    (main, "quantize texts.onnx -o out.onnx --random", "holds no numbers; give inputs: --data"),
    (main, "compare good.onnx good.onnx --data nan.npz", "holds NaN"),
    (main, "compare good.onnx good.onnx --data bytes.npz", "array.astype('float32')"),
    (main, "compare - - --data good.npz", "standard input"),
    *(
        (main, line, "whose numbers of rows differ: 4 for 'x', 3 for 'f'; give every input the same number")
        for line in (
            "quantize sum.onnx -o out.onnx --data sum.npz", "compare sum.onnx sum.onnx --data sum.npz",
            "bench sum.onnx --data sum.npz", "compile sum.onnx -o out.onnx --check-numerics=sum.npz",
        )
    ),
    (main, "compare good.onnx wide.onnx --data good.npz", "2x3"),
    (main, "compare open.onnx good.onnx --data good.npz", "is 4x3, the other model takes 2x3"),
    (main, "bench good.onnx --batch 8", "has batch 2, not 8"),
    (main, "bench good.onnx --data nan.npz", "holds NaN"),
    (opt, "good.mlir -p raise-qdq --check-numerics=good.npz -o model.txt", "neither a .mlir nor a .onnx"),
    (opt, "good.onnx --check-numerics=none.npz", "has shape 0x3"),
    (opt, "good.onnx -p raise-opset{to=99} -o out.onnx", "opset 99 is not supported; choose one up to 26"),
    (opt, "good.onnx -p fix-shapes{batch=0} -o out.onnx", "the batch is 0"),
    (opt, "good.onnx -p decompose{ops=Foo} -o out.onnx", "'Foo' is not decomposed; choose from"),
    (opt, "good.onnx --check-numerics=one.npy", "holds one array without a name"),
]  # fmt: skip

WRONG_USAGE: list[tuple[Command, str, str]] = [
    (main, "compiel good.onnx -o out.onnx", "did you mean 'compile'?"),
    (main, "--compile good.onnx", "COMMAND"),
    (main, "compile good.onnx -o out.onnx --targte openvino", "did you mean '--target'?"),
    (main, "compile good.onnx -o out.onnx --keep-flaot=a", "did you mean '--keep-float'?"),
    (main, "compile good.onnx -o out.onnx --target tensorRT", "did you mean 'tensorrt'?"),
    (main, "compile good.onnx -o out.onnx --target missing.toml", "cannot read 'missing.toml'"),
    (main, "compile good.onnx -o out.onnx --target empty.toml", "empty.toml"),
    (main, "compile good.onnx -o out.onnx --exactness exacct", "did you mean 'exact'?"),
    (main, "compile good.onnx -o out.onnx --form QDQ", "did you mean 'qdq'?"),
    (main, "compile good.onnx -o out.onnx --check-numerics good.npz", "--check-numerics=good.npz"),
    (main, "compile --check-numerics good.npz good.onnx -o out.onnx", "--check-numerics=good.npz"),
    (main, "compile good.onnx more.onnx -o out.onnx", "unrecognized arguments: more.onnx"),
    (main, "compile good.onnx -o", "expected one argument"),
    (main, "compile good.onnx -o out.onnx --report out.htm", "neither a .html nor a .json"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --memory 0", "not a size above 0"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --memory lots", "not a size such as 500M or 2G"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --state x", "is not OUT=IN"),
    (
        main,
        "quantize good.onnx -o out.onnx --data good.npz --state y=x --state z=x",
        "'y' and 'z' are both fed to 'x'",
    ),
    (main, "quantize good.onnx -o out.onnx --data good.npz --mean a", "not a list of numbers"),
    (
        main,
        "quantize good.onnx -o out.onnx --data good.npz --workers two",
        "'two' is not a whole number, 1 or more",
    ),
    (main, "quantize good.onnx -o out.onnx --data good.npz --workers 0", "'0' is not a whole number"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --random", "leave --data out"),
    (main, "quantize good.onnx -o out.onnx --random --state y=x", "leave --state out"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --std 1,0", "give numbers above 0"),
    (main, "targets --runs 3", "--calibrate"),
    (main, "compile good.onnx -o out.onnx --quiet --verbose", "not allowed with argument --quiet"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --layout NCWH", "did you mean 'NCHW'?"),
    (main, "quantize good.onnx -o out.onnx --data good.npz --rounding gpt", "did you mean 'gptq'?"),
    (main, "compare good.onnx good.onnx --data good.npz --layer", "did you mean '--layers'?"),
    (main, "bench good.onnx --profil", "did you mean '--profile'?"),
    (main, "targets --all", "unrecognized arguments: --all"),
    (opt, "good.mlir --sink-dequantize", "passes are given as -p sink-dequantize"),
    (opt, "good.mlir --cse --canonicalize", "passes are given as -p cse,canonicalize"),
    (opt, "good.mlir --print-ir-after", "did you mean '--print-ir-after-all'?"),
    (opt, "good.mlir --check-numerics good.npz", "--check-numerics=good.npz"),
    (opt, "good.mlir -p sink-dequantise", "did you mean 'sink-dequantize'?"),
    (opt, "good.mlir -p cse,dce,,cse", "expected a pass name but found ',' behind 'cse,dce,'"),
    (opt, "good.mlir -p cse,", "expected a pass name but found the end behind 'cse,'"),
    (opt, "good.mlir -p ,cse", "expected a pass name but found ','; write"),
]


OWN_DATA = """def fails():
    raise ValueError("nothing there")
def ends():
    yield {"x": [[1.0] * 3] * 2}
    raise KeyError("x")
"""


@pytest.fixture
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `test_cli`, with more that is wrong; nothing on standard input."""
    for name, (data, _) in MODELS.items():
        (folder / name).write_bytes(data)
    wide = scale_model(1.5)
    wide.graph.output[0].type.tensor_type.ClearField("shape")
    wide.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.ones((4, 2, 3), np.float32), "f"))
    onnx.save(wide, "wide.onnx")
    free = scale_model(1.5)
    for one in (free.graph.input[0], free.graph.output[0]):
        one.type.tensor_type.shape.dim[0].dim_param = "rows"
    onnx.save(free, "open.onnx")
    two = scale_model(1.5)
    del two.graph.initializer[:]
    two.graph.input.append(helper.make_tensor_value_info("f", 1, ["n", 3]))
    two.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    two.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(two, "sum.onnx")
    text = '<ir_version: 8, opset_import: ["": 17]> g (string[2] x) => (string[2] y) { y = Identity(x) }'
    onnx.save(onnx.parser.parse_model(text), "texts.onnx")
    np.savez("sum.npz", x=np.ones((4, 3), np.float32), f=np.ones((3, 3), np.float32))
    (folder / "own_data.py").write_text(OWN_DATA)
    for name in ("folder.npz", "folder.onnx", "empty"):
        (folder / name).mkdir()
    (folder / "empty.toml").touch()
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save("one.npy", x)
    np.savez("none.npz", x=x[:0])
    np.savez("nan.npz", x=np.where(x > 3, np.nan, x))
    np.savez("bytes.npz", x=x.astype(np.uint8))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    monkeypatch.setattr("sys.dont_write_bytecode", True)  # of own_data.py
    return folder


@pytest.mark.parametrize(("command", "line", "says"), COULD_NOT, ids=[line for _, line, _ in COULD_NOT])
def test_one_line_and_no_file(
    command: Command, line: str, says: str, place: Path, capfd: pytest.CaptureFixture[str]
):
    before = files(place)
    assert command([word.strip("'") for word in line.split()]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("error: ")
    assert says in err
    assert "internal error" not in err
    assert files(place) == before


@pytest.mark.parametrize(("command", "line", "says"), WRONG_USAGE, ids=[line for _, line, _ in WRONG_USAGE])
def test_usage_of_the_command_and_what_was_meant(
    command: Command, line: str, says: str, place: Path, capfd: pytest.CaptureFixture[str]
):
    before = files(place)
    assert command(line.split()) == 2
    out, err = capfd.readouterr()
    assert out == ""
    word = line.split()[0]
    program = (
        "qdialect-opt"
        if command is opt
        else f"qdialect {word}"
        if word in ("compile", "bench")
        else "qdialect"
    )
    assert err.startswith(f"usage: {program}")
    assert says in err.splitlines()[-1]
    assert files(place) == before


# --- what is right


def test_standard_input_to_standard_output(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("good.onnx").read_bytes())))
    before = files(place)
    assert main(["compile", "-", "-o", "-", "--quiet"]) == 0
    model = onnx.ModelProto.FromString(capfdbinary.readouterr().out)
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    assert files(place) == before


@pytest.mark.parametrize("line", ["compile - -o out.onnx", "bench -", "compare - good.onnx --data good.npz"])
def test_a_model_on_standard_input_is_called_as_the_user_calls_it(
    line: str, place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    for data, says in ((external("absent.bin"), "has no folder of data"), (b"none", "error: ")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert main(line.split()) == 1
        err = capfd.readouterr().err
        assert says in err
        assert "stdin" not in err


def test_bench_names_a_model_on_standard_input(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("good.onnx").read_bytes())))
    monkeypatch.setattr(alternate, "__kwdefaults__", {"seconds": 0.0, "rounds": (3, 3)})
    assert main(["bench", "-", "--profile"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines() if line.startswith("-")] == [
        "-",
        "-",
    ]


def test_text_tools_read_an_onnx_model_called_pb(place: Path, capfd: pytest.CaptureFixture[str]):
    Path("good.pb").write_bytes(Path("good.onnx").read_bytes())
    assert opt(["good.pb"]) == 0
    assert "onnx.Mul" in capfd.readouterr().out


def test_a_model_may_be_called_pb(place: Path, capfd: pytest.CaptureFixture[str]):
    Path("good.pb").write_bytes(Path("good.onnx").read_bytes())
    assert main(["compile", "good.pb", "-o", "out.onnx", "--keep-float", "?"]) == 0
    assert main(["compare", "good.pb", "out.onnx", "--data", "good.npz"]) == 0
    assert "verdict: identical" in capfd.readouterr().out


def test_a_check_that_finds_nothing_says_so(place: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["compile", "good.onnx", "-o", "out.onnx", "--check-numerics=good.npz"]) == 0
    assert "each within its class on 2 inputs" in capfd.readouterr().err


def test_an_interrupt_is_130(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("qdialect.onnx_io.models.read_model", interrupted)
    before = files(place)
    assert main(["compile", "good.onnx", "-o", "out.onnx"]) == 130
    assert capfd.readouterr().err == "error: interrupted; nothing was written\n"
    assert files(place) == before


def test_a_full_disk_names_the_file(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    right = Outputs.create

    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def broken(self: Outputs, path: Any) -> Any:
        right(self, path)
        return Full()

    monkeypatch.setattr(Outputs, "create", broken)
    before = files(place)
    assert main(["compile", "good.onnx", "-o", "out.onnx"]) == 1
    err = capfd.readouterr().err
    assert (
        err
        == "error: cannot write 'out.onnx', no space left on device; make room there, or choose another output\n"
    )
    assert files(place) == before


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--mlir-print-op-generic", '"func.return"'),
        ("--mlir-print-ir-before-all", "// ----- IR before cse"),
        ("--print-ir-after-all", "// ----- IR after cse"),
    ],
)
def test_what_mlir_opt_takes(option: str, says: str, place: Path, capfd: pytest.CaptureFixture[str]):
    assert opt(["good.mlir", "-p", "cse", option]) == 0
    out, err = capfd.readouterr()
    assert says in out + err


QUANTIZED = """
!x = !quant.uniform<u8:f32, 0.02:13>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3x!x> {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  func.return %q : tensor<2x3x!x>
}
"""


def test_a_location_without_a_name_is_not_printed(place: Path):
    """The cast that `integer-io` puts behind an input has neither a node's name nor a tensor's."""
    Path("in.mlir").write_text(QUANTIZED)
    assert opt(["in.mlir", "-p", "integer-io", "-o", "out.mlir"]) == 0
    text = Path("out.mlir").read_text()
    assert "quant.scast" in text
    assert 'fused[""]' not in text


@pytest.mark.parametrize("command", ["main", "main_of_opt"])
def test_an_interrupt_while_a_command_loads_is_130(command: str):
    code = f"""
import builtins, sys
real = builtins.__import__
def interrupted(name, *rest):
    if name == "argparse":
        raise KeyboardInterrupt
    return real(name, *rest)
builtins.__import__ = interrupted
sys.argv = ["it", "--version"]
from qdialect.cli import {command}
sys.exit({command}())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "error: interrupted; nothing was written\n")


def test_a_transpose_that_means_nothing(place: Path, capsys: pytest.CaptureFixture[str]):
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]> g (float[4,5] x) => (float[N,M] y)
        { y = Transpose<perm = [0, 0]>(x) }""")
    onnx.save(model, "in.onnx")
    assert main(["compile", "in.onnx", "-o", "out.onnx"]) == 1
    assert "Transpose with outputs ['y']: perm [0, 0] is no permutation of 2 axes" in capsys.readouterr().err
    assert not Path("out.onnx").exists()
