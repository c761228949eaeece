"""What `Requant` of the domain `acme` promises: it rounds to multiples of its attribute `step`, and clips to 8 bits."""

import numpy as np

from qdialect.dialects.onnx_base import OnnxOp
from qdialect.dialects.quant import Storage
from qdialect.promises.fake_quantize import FakeQuantization, FakeQuantizes
from qdialect.reasons import SCALE_VALUE, Blocked


def _requant(op: OnnxOp) -> FakeQuantization | Blocked:
    """clip(rint(x / step), -128, 127) * step, ties to even: bit for bit what a quantize gives."""
    step = np.float32(op.float_attr("step", 0.0))
    if step <= 0:
        return SCALE_VALUE
    return FakeQuantization(np.asarray(step), 0.0, Storage.make(8, True, -128, 127), exact=True)


QUANTIZERS = {("acme", "Requant"): FakeQuantizes(_requant)}
