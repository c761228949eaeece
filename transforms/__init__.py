"""Registry of the passes by name, each imported on first use."""

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

NAMES = (
    "choose-convolution-form",
    "collapse-transpose",
    "compose",
    "decompose",
    "decompose-dynamic",
    "fix-shapes",
    "fold-activation",
    "fold-batch-norm",
    "fold-branches",
    "fold-casts",
    "fold-constants",
    "fold-float-weights",
    "fold-identity",
    "fold-layout",
    "fold-one-hot",
    "fold-pad",
    "fold-requantize",
    "fold-scales",
    "fold-shapes",
    "fold-zeros",
    "freeze",
    "fuse-quantized",
    "hoist-quantize",
    "infer-shapes",
    "insert-casts",
    "integer-io",
    "keep-half",
    "legalize",
    "legalize-expressed",
    "legalize-operands",
    "legalize-sums",
    "legalize-weights",
    "lower-to-integer",
    "lower-to-linalg",
    "lower-to-matmul",
    "lower-to-qdq",
    "lower-to-qoperator",
    "lower-to-table",
    "lower-to-tosa",
    "quantize-branches",
    "quantize-inputs",
    "quantize-recurrent",
    "raise-arithmetic",
    "raise-fake-quantize",
    "raise-integer",
    "raise-opset",
    "raise-qdq",
    "raise-qoperator",
    "rescale-bias",
    "sink-dequantize",
    "unify-scales",
    "unroll",
)


def _load(name: str) -> type[ModulePass]:
    module = import_module(f"qdialect.transforms.{name.replace('-', '_')}")
    pass_class = getattr(module, "".join(word.capitalize() for word in name.split("-")) + "Pass")
    assert issubclass(pass_class, ModulePass)
    return pass_class


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Factories of the passes by flag, which is also the name of the pass's file and test."""
    return {name: lambda name=name: _load(name) for name in NAMES}
