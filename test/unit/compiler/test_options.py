"""Options are fields of one class: the command line, the API and what runs have the same, with the same defaults."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import onnx
import onnx.helper as oh
import pytest
from onnx_models import onnx_model

import qdialect
from qdialect.cli.arguments import parse
from qdialect.compiler.options import (
    Calibration,
    CompileOptions,
    Options,
    QuantizeOptions,
    described,
    options_of,
)
from qdialect.errors import UserError
from qdialect.exactness import Exactness
from qdialect.onnx_io.importer import import_model
from qdialect.text.assembly import print_module
from qdialect.transforms.fold_batch_norm import FoldBatchNormPass
from qdialect.transforms.lower_to_qoperator import LowerToQoperatorPass

BESIDE = {"model", "data"}
"""What `compile` and `quantize` take besides options."""


@pytest.mark.parametrize(
    ("function", "kind", "result"),
    [
        (qdialect.compile, CompileOptions, "Report"),
        (qdialect.explain, CompileOptions, "tuple[Layer, ...]"),
        (qdialect.quantize, QuantizeOptions, "Quantized"),
    ],
    ids=["compile", "explain", "quantize"],
)
def test_functions_take_and_explain_the_options(
    function: Callable[..., Any], kind: type[Options], result: str
):
    """`help` shows each with its default, and says what it is."""
    parameters = inspect.signature(function).parameters
    assert inspect.signature(function).return_annotation == result
    own, words = (
        [n for n in names if n not in BESIDE] for names in (parameters, inspect.signature(kind).parameters)
    )
    assert own == words
    for one in fields(kind):
        if one.default_factory is MISSING:
            assert parameters[one.name].default == one.default
        assert f"{one.name}: {described(one)}" in (function.__doc__ or "")


def test_one_name_is_a_list_of_one():
    assert Options(keep_float="relu", decompose=["Gemm"]) == Options(
        keep_float=("relu",), decompose=("Gemm",)
    )


CALIBRATED = Calibration(
    profiles=("a", "b"), memory=2 << 20, state={"h": "h_new", "c": "c_new"}, mean=(0.5, 1.0), workers=3
)


def test_the_command_line_gives_a_calibration():
    words = "--data x.npz --profile a --profile b --memory 2M --state h_new=h --state c_new=c --mean 0.5,1 --workers 3"
    for _ in range(2):  # what is added to a list does not stay in it
        parsed = parse(["quantize", "in.onnx", "-o", "out.onnx", *words.split()])
        assert options_of(Calibration, parsed) == CALIBRATED


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", Options()),
        ("--target tensorrt --form qdq --exactness exact", Options("tensorrt", "qdq", "exact")),
        ("--integer-io --float-weights", Options(integer_io=True, float_weights=True)),
        ("--keep-float a,b --decompose Gemm", Options(keep_float=("a", "b"), decompose=("Gemm",))),
        ("--keep-overridable", Options(keep_overridable=True)),
    ],
)
def test_the_command_line_gives_options(words: str, expected: Options):
    assert options_of(Options, parse(["compile", "in.onnx", "-o", "out.onnx", *words.split()])) == expected


@pytest.mark.parametrize(
    "options", [{"keep_float": ["nobody"]}, {"target": "nobody"}, {"form": "nothing"}, {"exactness": "some"}]
)
def test_a_mistake_leaves_the_module_as_it_was(options: dict[str, Any]):
    """Opset 27 is lowered first of all; the file is not read again, so nothing may have changed."""
    from io import StringIO

    x, y = (oh.make_tensor_value_info(name, 1, [2, 3]) for name in "xy")
    model = onnx_model(
        [oh.make_node("Relu", ["x"], ["y"], "relu")], [x], [y], opset=27, ir_version=onnx.IR_VERSION
    )
    module = import_model(model)

    def text() -> str:
        print_module(module, stream := StringIO(), locations=True)
        return stream.getvalue()

    before = text()
    with pytest.raises(UserError):
        qdialect.compile(module, **options)
    assert text() == before
    qdialect.compile(module, keep_float=["relu"])
    assert text() != before


def test_exactness_is_that_of_the_application():
    assert FoldBatchNormPass().level is FoldBatchNormPass.exactness is Exactness.CLOSE
    assert FoldBatchNormPass(lossy=True).level is Exactness.LOSSY
    assert LowerToQoperatorPass(exact=True).level is Exactness.EXACT


def test_a_command_line_is_read_without_anything_heavy():
    code = """
import sys
from qdialect.cli.arguments import parse
parse("compile in.onnx -o out.onnx --target tensorrt".split())
assert not {name.split(".")[0] for name in sys.modules} & {"numpy", "onnx", "onnxruntime", "xdsl"}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
