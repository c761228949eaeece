"""How operations are written in linalg, arith, math and tensor of upstream MLIR, with onnxruntime's arithmetic."""
