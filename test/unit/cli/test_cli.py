"""The commands: every mistake ends in one line and no file, and what they print is what was asked for."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_files import MODULE, files, folder

from qdialect.cli import main
from qdialect.cli.opt import main as opt

assert folder  # the fixture

# Each command line, and what its one line on stderr must say.
COULD_NOT: list[tuple[Callable[[list[str]], int], str, str]] = [
    (opt, "missing.mlir", "cannot open 'missing.mlir'"),
    (opt, "missing.onnx", "cannot open 'missing.onnx'"),
    (opt, "folder.mlir", "is a folder"),
    (opt, "model.txt", "neither a .mlir nor a .onnx"),
    (opt, "empty.mlir", "empty.mlir:1:1: error: the input is empty"),
    (opt, "binary.mlir", "is not UTF-8"),
    (opt, "syntax.mlir -o out.mlir", "syntax.mlir:1:"),
    (opt, "unknown-op.mlir -o out.mlir", "unknown-op.mlir:2:3: error: operation 'foo.bar' is not known"),
    (opt, "invalid.mlir -o out.mlir", "invalid.mlir:2:3: error: 'func.return' op: "),
    (opt, "elided.mlir -o out.mlir", "--print-constants"),
    (opt, "deep.mlir -o out.mlir", "nested too deeply"),
    (opt, "outside.mlir -o out.mlir", "is not inside the folder of the file that names it"),
    (opt, "short.mlir -o out.mlir", "bytes 8 to 107 are not in 'short.weights', which has 99"),
    (opt, "good.mlir -o out.txt", "neither a .mlir nor a .onnx"),
    (opt, "good.mlir -o missing/out.mlir", "cannot write 'missing/out.mlir'"),
    (opt, "good.mlir -o folder.mlir", "it is a folder"),
    (opt, "good.mlir -t onnx", "name a file with -o"),
    (opt, "good.onnx --verify-diagnostics", "no comments to verify"),
    (opt, "truncated.onnx -o out.mlir", "truncated.onnx"),
    (opt, "empty.onnx -o out.mlir", "empty.onnx"),
    (opt, "noise.onnx -o out.mlir", "noise.onnx"),
    (main, "compile missing.onnx -o out.onnx", "cannot open 'missing.onnx'"),
    (main, "compile good.mlir -o out.onnx", "is not a .onnx file"),
    (main, "compile folder.mlir -o out.onnx", "is a folder"),
    (main, "compile good.onnx -o out.mlir", "is not a .onnx file"),
    (main, "compile empty.onnx -o out.onnx", "'empty.onnx' is empty"),
    (main, "compile truncated.onnx -o out.onnx", "truncated.onnx"),
    (main, "compile noise.onnx -o out.onnx", "noise.onnx"),
    (main, "compile good.onnx -o out.onnx --check-numerics=missing.npz", "cannot open 'missing.npz'"),
    (main, "quantize good.onnx --data missing.npz -o out.onnx", "cannot read data 'missing.npz'"),
    (main, "explain missing.onnx", "cannot open 'missing.onnx'"),
    (main, "compare good.onnx missing.onnx --data good.npz", "cannot open 'missing.onnx'"),
    (main, "compare good.onnx truncated.onnx --data good.npz", "truncated.onnx"),
    (main, "compare good.onnx good.onnx --data missing.npz", "missing.npz"),
    (main, "compare good.onnx good.onnx --data bad.npz", "is not an .npz file"),
    (main, "compare good.onnx good.onnx --data pickle.npz", "is not an .npz file of plain arrays"),
    (main, "compare good.onnx good.onnx --data key.npz", "no array for input 'x', it has wrong"),
    (main, "compare good.onnx good.onnx --data rank.npz", "has shape 4x3x1, the model takes 2x3"),
]

WRONG_USAGE: list[tuple[Callable[[list[str]], int], str, str]] = [
    (opt, "good.mlir --no-such-option", "unrecognized arguments: --no-such-option"),
    (opt, "good.mlir -t text", "invalid choice: 'text'"),
    (opt, "good.mlir -p no-such-pass -o out.mlir", "unknown pass 'no-such-pass'"),
    (opt, "good.mlir -p canonicalise", "did you mean 'canonicalize'?"),
    (opt, "good.mlir -p cse{", "bad pass pipeline"),
    (opt, "good.mlir -p cse,", "expected a pass name"),
    (opt, "good.mlir -p cse) -o out.mlir", "bad pass pipeline"),
    (opt, "good.mlir --pass-pipeline builtin.module(cse", "expected ')'"),
    (opt, "good.mlir --pass-pipeline func.func(cse)", "cannot nest under 'func.func'"),
    (opt, "good.mlir -p cse{size=1}", "pass 'cse' has no option 'size'"),
    (opt, "good.mlir -p cse --pass-pipeline builtin.module(cse)", "not allowed with"),
    (opt, "good.mlir good.mlir", "unrecognized arguments"),
    (opt, "good.mlir --verify-diagnostics -o out.mlir", "-o has no use"),
    (main, "", "COMMAND"),
    (main, "optimize good.onnx", "invalid choice: 'optimize'"),
    (main, "compile good.onnx", "-o OUT.onnx"),
    (main, "compile good.onnx -o out.onnx --target tpu", "there is no target 'tpu'"),
    (main, "compile good.onnx -o out.onnx --form float", "invalid choice: 'float'"),
    (main, "compile good.onnx -o out.onnx --exactness roughly", "invalid choice: 'roughly'"),
    (main, "compile good.onnx -o out.onnx --report out.pdf", "neither a .html nor a .json"),
    (main, "compile good.onnx -o out.onnx --keep-float a,,b", "is not a list of names"),
    (main, "quantize good.onnx -o out.onnx", "--data"),
    (main, "compare good.onnx good.onnx", "--data"),
]


@pytest.mark.parametrize(("command", "line", "says"), COULD_NOT, ids=[line for _, line, _ in COULD_NOT])
def test_a_mistake_is_one_line_and_no_file(
    command: Callable[[list[str]], int], line: str, says: str, folder: Path, capfd: pytest.CaptureFixture[str]
):
    before = files(folder)
    assert command(line.split()) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "error: " in err
    assert says in err
    assert "internal error" not in err
    assert files(folder) == before


@pytest.mark.parametrize(("command", "line", "says"), WRONG_USAGE, ids=[line for _, line, _ in WRONG_USAGE])
def test_wrong_usage_ends_in_its_reason(
    command: Callable[[list[str]], int], line: str, says: str, folder: Path, capfd: pytest.CaptureFixture[str]
):
    before = files(folder)
    assert command(line.split()) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("usage: ")
    assert says in err.splitlines()[-1]
    assert files(folder) == before


@pytest.mark.parametrize("command", [opt, main])
def test_help_and_version_are_done(command: Callable[[list[str]], int], capfd: pytest.CaptureFixture[str]):
    assert command(["--help"]) == 0
    assert command(["--version"]) == 0
    assert "qdialect" in capfd.readouterr().out


def test_help_lists_passes_with_their_class(capfd: pytest.CaptureFixture[str]):
    opt(["--help"])
    out = capfd.readouterr().out
    assert "cse exact Merge ops that compute the same." in [
        " ".join(line.split()) for line in out.splitlines()
    ]


def test_the_input_may_be_the_output(folder: Path):
    assert opt(["good.mlir", "-o", "good.mlir"]) == 0
    first = Path("good.mlir").read_text()
    assert first.startswith("builtin.module {")
    assert opt(["good.mlir", "-o", "good.mlir"]) == 0
    assert Path("good.mlir").read_text() == first


def test_check_numerics_does_not_take_the_input(folder: Path, capfd: pytest.CaptureFixture[str]):
    opt(["--check-numerics", "missing.mlir"])
    assert "cannot open 'missing.mlir'" in capfd.readouterr().err


def test_a_bug_names_the_variable_that_shows_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def broken(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("qdialect.text.assembly.print_module", broken)
    monkeypatch.delenv("QDIALECT_DEBUG", raising=False)
    assert opt(["good.mlir"]) == 1
    quiet = capfd.readouterr().err
    assert quiet.count("\n") == 1
    assert "QDIALECT_DEBUG=1" in quiet
    monkeypatch.setenv("QDIALECT_DEBUG", "1")
    assert opt(["good.mlir"]) == 1
    loud = capfd.readouterr().err
    assert loud.startswith("Traceback")
    assert "this is a bug" in loud.splitlines()[-1]


def run(*words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, *words], input=text, capture_output=True, text=True, env=environment, check=False
    )


def test_text_needs_neither_onnx_nor_onnxruntime():
    code = (
        "import sys; from qdialect.cli.opt import main; status = main(['-', '-p', 'cse,canonicalize,dce']);"
        "loaded = {name.split('.')[0] for name in sys.modules};"
        "print(sorted(loaded & {'onnx', 'onnxruntime'}), file=sys.stderr);"
        "sys.exit(status)"
    )
    ended = run("-c", code, text=MODULE)
    assert (ended.returncode, ended.stderr) == (0, "[]\n")
    assert "func.func @main" in ended.stdout


@pytest.mark.parametrize("module", ["qdialect", "qdialect.cli", "qdialect.cli.opt"])
def test_modules_run_as_commands(module: str):
    ended = run("-m", module, "--no-such-option")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Traceback" not in ended.stderr


def test_a_closed_pipe_is_no_error():
    code = "from qdialect.cli.opt import main; import sys; sys.exit(main(['-']))"
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=MODULE.encode(),
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment,
    )
    os.close(writer)
    assert ended.stderr == b""
