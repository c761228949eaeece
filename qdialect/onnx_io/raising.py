"""Models of old opsets brought to a newer one by onnx's own converter, behind which they are read anew."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp

from qdialect.onnx_io.exporter import export_model
from qdialect.onnx_io.importer import import_model
from qdialect.onnx_io.opsets import IMPORTS
from qdialect.reasons import Blocked

QUANTIZED_OPSET = 13
"""The first opset whose QuantizeLinear and DequantizeLinear know a scale for each channel."""


def opset_of_module(module: ModuleOp) -> int:
    """The version of ai.onnx that a module imports; 0 if nothing says."""
    imports = module.attributes.get(IMPORTS)
    version = imports.data.get("ai.onnx") if isinstance(imports, DictionaryAttr) else None
    return version.value.data if isinstance(version, IntegerAttr) else 0


def raise_opset(module: ModuleOp, to: int = QUANTIZED_OPSET) -> Blocked | None:
    """Bring a module of an older opset to opset `to`, in place; why it stays as it is, if onnx cannot."""
    version = opset_of_module(module)
    if not 0 < version < to:
        return None
    from onnx import version_converter

    try:
        model = export_model(module)
        raised = import_model(version_converter.convert_version(model, to))
    except Exception as error:  # the converter raises what it likes
        line = (str(error).strip().splitlines() or ["no message"])[0]
        return Blocked(
            "opset-stays", f"onnx cannot convert opset {version} to {to}: {line}", "export with a newer opset"
        )
    module.attributes = dict(raised.attributes)
    body = raised.detach_region(0)
    module.detach_region(0)
    module.add_region(body)
    return None
