"""Lowering of operations to linalg, arith, math and tensor of upstream MLIR, with onnxruntime's arithmetic."""
