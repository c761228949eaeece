"""
Binaries from upstream MLIR: a shared object by mlir-opt and gcc, an IREE module by iree-compile, TOSA's flatbuffer by
tosa-opt.

The tools are programs found on PATH or beside this Python; nothing of them is imported.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from platform import machine
from shutil import which
from tempfile import TemporaryDirectory

from qdialect.errors import UserError
from qdialect.files import Outputs

TEXT, SHARED, IREE, SERIALIZED = ".mlir", ".so", ".vmfb", ".tosa"
VALIDATE = (
    "--tosa-attach-target=profiles=pro_int level=8k",
    "--tosa-validate=strict-op-spec-alignment",
)
"""Upstream's check of TOSA's integer profile."""
MODEL = "model"
"""Name of the function `main` in a shared object, where `main` is reserved for programs."""

_BUFFERS = (
    "func.func(linalg-generalize-named-ops),canonicalize,linalg-fuse-elementwise-ops,eliminate-empty-tensors,"
    "empty-tensor-to-alloc-tensor,one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions},buffer-deallocation-pipeline"
)
_MACHINE = (
    "convert-linalg-to-affine-loops,lower-affine,math-expand-ops{ops=roundeven},expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv},convert-cf-to-llvm,"
    "reconcile-unrealized-casts"
)
PIPELINE = f"builtin.module({_BUFFERS},{_MACHINE})"
"""From linalg to LLVM's dialect: plain loops, a pointer for each input, then for each output."""
NOTHING = """
"func.func"() <{sym_name = "nothing", function_type = () -> ()}> ({ "func.return"() : () -> () }) : () -> ()
"""
"""Entry point that mlir-runner requires for writing an object file."""
IREE_FLAGS = (
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=generic",
    *(("--iree-llvmcpu-target-cpu-features=+avx2",) if machine() in ("x86_64", "AMD64") else ()),
    "--iree-input-type=none",
)
"""
Without FMA: if available, IREE contracts float operations, and last bits differ. With AVX2, which
x86 has had since 2013, integer products take a third of the time of baseline x86-64.
"""


def tool(*names: str) -> str | None:
    """The path of the first program of these names that is installed; None if none is."""
    beside = str(Path(sys.executable).parent)
    paths = (which(name) or which(name, path=beside) for name in names)
    return next((path for path in paths if path), None)


def _wanted(what: str, *names: str) -> str:
    path = tool(*names)
    if path is None:
        raise UserError(f"{what} is made by {names[0]}, which is not installed", "docs/mlir.md says how")
    return path


def _run(command: Sequence[str], text: str | None = None) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), "it says nothing")
        raise UserError(f"{Path(command[0]).name} refuses the text: {said[:300]}")


def write_binary(text: str, path: Path, level: int = 3) -> None:
    """
    Compile text of linalg or tosa to the format of the extension of `path`, written atomically.

    A shared object exports `void model(inputs..., outputs...)` of pointers to row-major tensors and wants the C library
    alone; other functions than `main` keep their names. level: of LLVM's optimizations of it, 0 to 3.
    Raises UserError if a tool is not there or refuses the text.
    """
    with TemporaryDirectory() as folder, Outputs() as outputs:
        binary = Path(folder) / f"out{path.suffix}"
        write = {SHARED: partial(_shared, level=level), SERIALIZED: _serialized}.get(path.suffix, _iree)
        write(text, binary)
        outputs.create(path).write(binary.read_bytes())


def _shared(text: str, path: Path, *, level: int) -> None:
    optimizer = _wanted("a shared object", "mlir-opt-22", "mlir-opt")
    runner, compiler = _wanted("a shared object", "mlir-runner-22", "mlir-runner"), _wanted("it", "gcc", "cc")
    source, lowered, object_file = (path.with_name(name) for name in ("in.mlir", "llvm.mlir", "model.o"))
    named = text.replace('sym_name = "main"', f'sym_name = "{MODEL}"', 1)
    head, _, tail = named.rpartition("}) ")
    source.write_text(f"{head}{NOTHING}}}) {tail}")
    _run([optimizer, str(source), f"--pass-pipeline={PIPELINE}", "-o", str(lowered)])
    copies, library = Path(__file__).with_name("memref_copy.c"), path.with_name("libcopies.so")
    shared = [compiler, "-shared", "-fPIC", "-O2"]
    _run([*shared, "-o", str(library), str(copies)])
    entry = ["-e", "nothing", "--entry-point-result=void", f"-O{level}", "--dump-object-file"]
    _run([runner, str(lowered), *entry, f"--object-filename={object_file}", f"--shared-libs={library}"])
    _run([*shared, "-o", str(path), str(object_file), str(copies), "-lm"])


def _serialized(text: str, path: Path) -> None:
    """Write TOSA's flatbuffer, for Vela and the reference model, of a module that is valid in the integer profile."""
    optimizer = _wanted("a .tosa file", "tosa-opt")
    write = f"--tosa-serialize=tosa-flatbuffer-filename={path}"
    _run([optimizer, "-", *VALIDATE, write, "-o", str(path.with_name("out.mlir"))], text)


def _iree(text: str, path: Path) -> None:
    compiler = _wanted("an IREE module", "iree-compile")
    source = path.with_name("in.mlir")
    source.write_text(text)
    _run([compiler, str(source), *IREE_FLAGS, "-o", str(path)])
