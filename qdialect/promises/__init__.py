"""What each operation promises to quantization, one file per family."""
from xdsl.traits import OpTrait
from qdialect.dialects.onnx_ops import OnnxOp
def promises_of(domain: str, name: str) -> tuple[OpTrait, ...]:
    return ()
def check_quantized(op: OnnxOp) -> None: ...
